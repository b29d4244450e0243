"""/api/v1/series: values over time. A step without profiles differs from one with the value 0."""
import json
import time
import unittest
import urllib.parse

import serving

BASE_S = int(time.time()) // 60 * 60 - 600


def ingest(server, name, samples, from_s, until_s, **more):
    query = urllib.parse.urlencode({"name": name, "format": "folded", "from": from_s, "until": until_s,
                                    "sampleRate": 100, **more})
    status, body = server.send("/ingest?" + query, f"main;work {samples}".encode())
    assert status == 200, body


def series(server, **parameters):
    given = {"query": "shop.cpu", "from": BASE_S, "until": BASE_S + 120, **parameters}
    status, body = server.send("/api/v1/series?" + urllib.parse.urlencode(given), method="GET")
    return status, json.loads(body)


class SeriesTest(unittest.TestCase):
    def test_a_value_is_spread_exactly_over_its_time_and_gaps_are_not_covered(self):
        with serving.Server() as server:
            ingest(server, "shop.cpu{host=a}", 1001, BASE_S + 5, BASE_S + 15)
            ingest(server, "shop.cpu{host=b}", 500, BASE_S + 5, BASE_S + 15)
            ingest(server, "shop.cpu{host=a}", 7, BASE_S + 100, BASE_S + 110)
            ingest(server, "mail.cpu", 9, BASE_S + 50, BASE_S + 60)
            status, got = series(server, step=10000)
            self.assertEqual(200, status, got)
            self.assertEqual(("nanoseconds", "sum", BASE_S * 1000, 10000),
                             (got["unit"], got["kind"], got["start"], got["step"]))
            self.assertEqual([5000, 5000], got["covered"][:2])
            self.assertEqual(15010 * 10**6, got["values"][0] + got["values"][1])
            self.assertAlmostEqual(got["values"][0], got["values"][1], delta=1)
            self.assertEqual([0] * 8, got["values"][2:10])
            self.assertEqual([0] * 8, got["covered"][2:10])
            self.assertEqual((7 * 10**7, 10000), (got["values"][10], got["covered"][10]))
            status, got = series(server, step=10000, query="{service_name=~\".*\"}")
            self.assertEqual(9 * 10**7, got["values"][5])

    def test_simultaneous_profiles_cover_their_time_once(self):
        with serving.Server() as server:
            for host, start in (("a", 0), ("b", 4), ("c", 8)):
                ingest(server, f"shop.cpu{{host={host}}}", 100, BASE_S + start, BASE_S + start + 10)
            status, got = series(server, step=60000)
            self.assertEqual((200, [18000, 0, 0]), (status, got["covered"]))
            self.assertEqual(3 * 10**9, sum(got["values"]))

    def test_levels_are_averages_and_not_sums_over_time(self):
        with serving.Server() as server:
            for start in (0, 10, 20):
                ingest(server, "shop.inuse_space", 4096, BASE_S + start, BASE_S + start + 10,
                       units="bytes", aggregationType="average")
            status, got = series(server, query='{service_name="shop"}', type="memory:inuse_space:bytes::", step=20000)
            self.assertEqual((200, "level", "bytes"), (status, got["kind"], got["unit"]))
            self.assertEqual([4096, 2048], got["values"][:2])
            self.assertEqual([20000, 10000], got["covered"][:2])

    def test_steps_fit_the_range_and_begin_at_multiples(self):
        with serving.Server() as server:
            for hours, step in ((1, 10000), (24, 300000), (24 * 30, 7200000)):
                until = BASE_S + 7
                status, got = series(server, **{"from": until - hours * 3600, "until": until})
                self.assertEqual((200, step), (status, got["step"]))
                self.assertEqual(0, got["start"] % step)
                self.assertLessEqual(got["start"], (until - hours * 3600) * 1000)
                self.assertGreater(got["start"] + step * len(got["values"]), until * 1000)
                self.assertEqual(len(got["values"]), len(got["covered"]))

    def test_steps_before_1970_begin_at_multiples(self):
        with serving.Server() as server:
            status, got = series(server, **{"from": "now-100y", "until": "now"})
            self.assertEqual(200, status)
            self.assertEqual(0, got["start"] % got["step"])
            self.assertLess(got["from"], 0)
            self.assertTrue(got["start"] <= got["from"] < got["start"] + got["step"], got["start"])

    def test_an_unknown_id_does_not_change_the_range(self):
        with serving.Server() as server:
            ingest(server, "shop.cpu", 9, BASE_S + 50, BASE_S + 60)
            _, all = series(server, step=10000)
            status, none = series(server, step=10000, span="0" * 16)
            self.assertEqual(200, status)
            self.assertEqual({**all, "values": [0] * len(all["values"]), "covered": [0] * len(all["covered"])}, none)
            given = urllib.parse.urlencode({"from": "now-1s", "span": "0" * 16})
            status, body = server.send("/api/v1/gaps?" + given, method="GET")
            self.assertEqual((200, {"ranges": [], "before": None, "after": None}), (status, json.loads(body)))

    def test_time_lost_at_a_kill_is_a_gap(self):
        def ranges(**given):
            status, body = server.send("/api/v1/gaps?" + urllib.parse.urlencode(given), method="GET")
            self.assertEqual(200, status)
            return [((one["from"] - BASE_S * 1000) // 1000, (one["until"] - BASE_S * 1000) // 1000, one["profiles"])
                    for one in json.loads(body)["ranges"]]
        with serving.Server() as server:
            # The gap of 6 s is longer than half of a profile, that of 5 s is not.
            for begin, end in ((0, 10), (10, 20), (26, 36), (41, 51)):
                ingest(server, "shop.cpu", 9, BASE_S + begin, BASE_S + end)
            self.assertEqual([(0, 20, 2), (26, 51, 2)],
                             ranges(**{"query": "shop.cpu", "from": BASE_S - 1, "until": BASE_S + 60}))

    def test_invalid_parameters_are_refused_with_a_reason(self):
        with serving.Server() as server:
            for given, reason in (({"step": 0}, "step must be from 1 to"), ({"step": "1s"}, "step"), ({"step": 1}, "too short"),
                                ({"query": "{x"}, "unexpected end")):
                status, got = series(server, **given)
                self.assertEqual(400, status)
                self.assertIn(reason, got["detail"])


if __name__ == "__main__":
    serving.main()
