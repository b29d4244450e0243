"""Limits of queries for memory and time, and parameters at the ends of their ranges, with any
uploaded data."""
import base64
import json
import os
import re
import threading
import time
import unittest
import urllib.parse

from messages import pprof, push
from serving import Server

SANITIZED = bool(os.environ.get("SPANPROF_SANITIZED"))
MEMORY_KB = 400_000  # maximum of the server's memory; one call may use 256 MiB of it
CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"


def upload(server, labels, *profiles):
    body = push({"__name__": "process_cpu", **labels}, *profiles)
    status, reply = server.send("/push.v1.PusherService/Push", body, {"Content-Type": "application/proto"})
    assert status == 200, reply


def call_api(server, path, **parameters):
    given = {name.rstrip("_"): value for name, value in parameters.items()}
    status, body = server.send(f"{path}?" + urllib.parse.urlencode(given), method="GET")
    try:
        return status, json.loads(body)
    except ValueError:
        return status, body


def send_traces(server, spans):
    """Send traces. `spans` has (trace id, span id, parent id, start in ns, duration in ns)."""
    message = {"resourceSpans": [{
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
        "scopeSpans": [{"spans": [
            {"traceId": f"{trace:032x}", "spanId": f"{span:016x}", "parentSpanId": f"{parent:016x}" if parent else "",
             "name": "GET /", "kind": 2, "startTimeUnixNano": str(start), "endTimeUnixNano": str(start + length)}
            for trace, span, parent, start, length in spans]}]}]}
    status, reply = server.send("/v1/traces", json.dumps(message).encode(), {"Content-Type": "application/json"})
    assert status == 200, reply


class BoundsTest(unittest.TestCase):
    def check_memory(self, server):
        if not SANITIZED:
            with open(f"/proc/{server.process.pid}/status") as file:
                self.assertLess(int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]), MEMORY_KB)

    def test_responses_have_a_size_limit(self):
        name = "deep" * 800
        samples = [((name,) * depth, (1,), {}) for depth in range(1, 501)]  # 400 MB as folded stacks
        with Server() as server:
            upload(server, {"service_name": "shop"}, pprof(samples, time.time_ns()))
            status, reply = call_api(server, "/api/v1/profile", query="{}", format="folded")
            self.assertEqual(429, status, reply)
            self.assertIn("shorter range", reply["detail"])
            self.check_memory(server)
            statuses, at_once = [], 3 if SANITIZED else 8  # with sanitizers, memory is not measured, so fewer queries suffice
            many = [threading.Thread(target=lambda: statuses.append(
                call_api(server, "/api/v1/profile", query="{}", format="folded")[0])) for _ in range(at_once)]
            for one in many:
                one.start()
            for one in many:
                one.join()
            self.assertEqual([429] * at_once, statuses)
            self.check_memory(server)
            status, _ = call_api(server, "/api/v1/profile", query="{}", format="flamegraph")
            self.assertEqual(200, status)

    def test_timelines_have_a_length_limit(self):
        with Server() as server:
            for host in range(30):
                upload(server, {"service_name": "shop", "host": str(host)},
                       pprof([(("main",), (1,), {})], time.time_ns()))
            given = {"query": CPU + "{}", "groupBy": "host"}
            status, reply = call_api(server, "/pyroscope/render", **given, from_="17000101", until="22600101")
            self.assertEqual(400, status, reply)
            status, reply = call_api(server, "/pyroscope/render", **given, from_="1", until="9999999999")
            self.assertEqual(200, status, reply)
            self.assertEqual(30, len(reply["groups"]))
            self.assertEqual(1, sum(reply["groups"]["7"]["samples"]))
            self.check_memory(server)

    def test_a_page_of_traces_has_up_to_ten_thousand_rows(self):
        now, ns = time.time_ns(), 10**6
        with Server() as server:
            send_traces(server, [(i + 1, i + 1, 0, now - i * ns, ns) for i in range(2500)])
            upload(server, {"service_name": "shop"},
                   pprof([(("main",), (7,), {"span_id": f"{2000:016x}", "trace_id": f"{2000:032x}"})], now - 10**10))
            status, reply = call_api(server, "/api/v1/traces", limit=10000)
            self.assertEqual(200, status, reply)
            self.assertEqual([f"{i + 1:032x}" for i in range(2500)], [one["traceId"] for one in reply["traces"]])
            self.assertEqual({f"{2000:032x}": 7}, {one["traceId"]: one["total"] for one in reply["traces"] if one["total"]})
            self.assertIsNone(reply["after"])
            status, reply = call_api(server, "/api/v1/traces", limit=700, after=1900)
            self.assertEqual((200, 600, None), (status, len(reply["traces"]), reply["after"]))
            self.assertEqual((f"{2000:032x}", 7), (reply["traces"][99]["traceId"], reply["traces"][99]["total"]))
            status, reply = call_api(server, "/api/v1/traces", limit=100, after=1950)
            self.assertEqual((200, 100, "2050"), (status, len(reply["traces"]), reply["after"]))
            status, reply = call_api(server, "/api/v1/traces", limit=1, sort="dearest", after=499)
            self.assertEqual((200, 1, None), (status, len(reply["traces"]), reply["after"]))
            for path in ("traces", "spans", "labels"):
                for sort in (None, "dearest") if path == "traces" else (None,):
                    given = {"after": 2**63 - 1, **({"sort": sort} if sort else {})}
                    status, reply = call_api(server, "/api/v1/" + path, **given, **({"label": "x"} if path == "labels" else {}))
                    self.assertEqual(200, status, (path, sort, reply))
                    self.assertIsNone(reply["after"])

    def test_chains_and_cycles_of_spans_are_summed_in_one_pass(self):
        now, long = time.time_ns(), 20000
        with Server() as server:
            for first in range(0, long, 5000):
                send_traces(server, [(1, i + 1, i, now + i, 1000) for i in range(first, first + 5000)])
            # Spans 1 and 2 are parents of each other. Span 3 is a child of 2, and 4 is a child of 3.
            send_traces(server, [(2, 1, 2, now, 10), (2, 2, 1, now, 10), (2, 3, 2, now, 10), (2, 4, 3, now, 10)])
            samples = [(("main",), (10 ** (i - 1),), {"span_id": f"{i:016x}", "trace_id": f"{2:032x}"}) for i in (1, 2, 3, 4)]
            upload(server, {"service_name": "shop"}, pprof(samples, now))
            status, reply = call_api(server, f"/api/v1/trace/{2:032x}")
            self.assertEqual(200, status, reply)
            self.assertEqual({1: 1, 2: 1110, 3: 1100, 4: 1000},
                             {int(span["spanId"], 16): span["total"] for span in reply["spans"]})
            status, reply = call_api(server, f"/api/v1/trace/{1:032x}")
            self.assertEqual((200, long), (status, len(reply["spans"])))
            self.assertEqual(1111, reply["spans"][0]["total"])
            self.assertEqual(0, reply["spans"][4]["total"])

    def test_times_and_steps_at_the_ends_of_their_range(self):
        far, now = 2**63 - 10**10, time.time_ns()
        with Server("--ingest-window", "off") as server:
            for at in (now, far):
                upload(server, {"service_name": "shop"}, pprof([(("main",), (5,), {})], at))
            status, reply = call_api(server, "/api/v1/profile", query="{}", format="folded", from_=0)
            self.assertEqual((200, b"main 5\n"), (status, reply))
            for given in ({"from_": "now-73000000y", "until": "now+73000000y"}, {"from_": 0, "until": 2**61}):
                for path in ("series", "gaps", "applications", "spans", "labels", "traces"):
                    with self.subTest(path, **given):
                        self.assertIn(call_api(server, "/api/v1/" + path, **given)[0], (200, 400))
                        self.assertIn(call_api(server, "/api/v1/" + path, step=10**15, **given)[0], (200, 400))
            self.assertEqual(400, call_api(server, "/api/v1/series", step=far)[0])
            self.assertEqual(400, call_api(server, "/api/v1/series", from_="now-73000000y73000000y73000000y73000000y")[0])
            message = {"profileTypeID": CPU, "labelSelector": "{}", "start": str(-far), "end": str(far), "step": 1}
            self.assertEqual([10], [sum(point["value"] for point in one["points"])
                                    for one in server.call("SelectSeries", message)["series"]])

    def test_weights_of_ad_hoc_profiles_above_64_bits(self):
        with Server() as server:
            for profile in ({"type": "sampled", "samples": [[0]], "weights": [1e300]},
                            {"type": "evented", "startValue": -1e300,
                             "events": [{"type": "O", "frame": 0, "at": 0}, {"type": "C", "frame": 0, "at": 1e300}]}):
                text = json.dumps({"$schema": "https://www.speedscope.app/file-format-schema.json",
                                   "shared": {"frames": [{"name": "main"}]},
                                   "profiles": [{"name": "x", "unit": "none", **profile}]}).encode()
                message = {"name": "x", "profile": base64.b64encode(text).decode()}
                status, reply = server.send("/adhocprofiles.v1.AdHocProfileService/Upload",
                                           json.dumps(message).encode(), {"Content-Type": "application/json"})
                self.assertEqual(200, status, reply)
                self.assertIn(str(2**63 - 1).encode(), reply)

    def test_settings_have_a_size_limit(self):
        with Server() as server:
            def change(method, name, value=None):
                setting = {"name": name} if value is None else {"setting": {"name": name, "value": value, "modifiedAt": "1"}}
                return server.send("/settings.v1.SettingsService/" + method, json.dumps(setting).encode(),
                                   {"Content-Type": "application/json"})
            large = "x" * 1_000_000
            answers = [change("Set", f"large-{i}", large)[0] for i in range(18)]
            self.assertEqual([200] * 16 + [429] * 2, answers)
            self.assertEqual(200, change("Set", "large-7", large)[0], "replaces a setting of the same size")
            self.assertEqual(200, change("Delete", "large-7")[0])
            status, reply = change("Set", "large-17", large)
            self.assertEqual(200, status, reply)


if __name__ == "__main__":
    unittest.main(verbosity=2)
