"""Calls of Pyroscope's clients that are not in the recordings."""
import gzip
import http.client
import json
import time
import unittest
import urllib.parse

import messages
import serving

BASE_S = int(time.time()) // 60 * 60 - 600
TYPE = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
SPAN = {"start": (BASE_S - 60) * 1000, "end": (BASE_S + 600) * 1000}
JSON = {"Content-Type": "application/json"}


def put(server, labels, count=1):
    """Upload profiles that are a second apart and have two samples each."""
    profiles = [messages.pprof([(["work", "main"], [10 + i], {}), (["main"], [5], {})], (BASE_S + i) * 10**9)
                for i in range(count)]
    body = messages.push(dict({"__name__": "process_cpu", "service_name": "shop"}, **labels), *profiles)
    status, reply = server.send("/push.v1.PusherService/Push", body, {"Content-Type": "application/proto"})
    assert status == 200, reply


def settings(server, method, **message):
    status, body = server.send("/settings.v1.SettingsService/" + method, json.dumps(message).encode(), JSON)
    return status, json.loads(body)


def answer(server, path, body=None, headers=()):
    """Send a request whose status must be 200. Return the headers and the body of the response as they were sent."""
    at = urllib.parse.urlsplit(server.base)
    connection = http.client.HTTPConnection(at.hostname, at.port, timeout=60)
    connection.putrequest("GET" if body is None else "POST", path, skip_accept_encoding=True)
    for name, value in dict(headers, **({} if body is None else {"Content-Length": str(len(body))})).items():
        connection.putheader(name, value)
    connection.endheaders(body)
    got = connection.getresponse()
    body = got.read()
    connection.close()
    assert got.status == 200, body
    return got.headers, body


class CallsTest(unittest.TestCase):
    def test_a_setting_without_a_time_gets_the_current_time(self):
        with serving.Server() as server:
            before = int(time.time() * 1000)
            status, got = settings(server, "Set", setting={"name": "a", "value": "1"})
            self.assertEqual(200, status, got)
            at = int(got["setting"].pop("modifiedAt"))
            self.assertTrue(before <= at <= int(time.time() * 1000), at)
            self.assertEqual({"name": "a", "value": "1"}, got["setting"])
            # A request may have a time. If the stored setting is newer, the request is refused.
            self.assertEqual(409, settings(server, "Set", setting={"name": "a", "value": "2", "modifiedAt": at - 1})[0])
            self.assertEqual(200, settings(server, "Set", setting={"name": "a", "value": "2", "modifiedAt": -1})[0])
            self.assertEqual("2", settings(server, "Get")[1]["settings"][0]["value"])

    def test_a_limited_heatmap_has_the_groups_with_the_most_points(self):
        with serving.Server() as server:
            for host, count in (("a", 1), ("b", 4), ("c", 2), ("e", 3), ("d", 3)):
                put(server, {"host": host}, count)
            for limit, expected in ((1, "b"), (3, "bde"), (4, "bdec"), (5, "bdeca"), (0, "bdeca"), (99, "bdeca")):
                got = server.call("SelectHeatmap", dict(
                    SPAN, profileTypeID=TYPE, labelSelector="{}", step=60, groupBy=["host"],
                    queryType="HEATMAP_QUERY_TYPE_INDIVIDUAL", limit=limit))["series"]
                self.assertEqual(expected, "".join(series["labels"][0]["value"] for series in got))
                self.assertEqual(4, sum(sum(slot["counts"]) for slot in got[0]["slots"]))

    def test_large_responses_are_compressed_if_the_client_accepts_it(self):
        with serving.Server() as server:
            profile = messages.pprof([([f"function{i}", "main"], [10], {}) for i in range(190)], BASE_S * 10**9)
            labels = {"__name__": "process_cpu", "service_name": "shop"}
            server.send("/push.v1.PusherService/Push", messages.push(labels, profile),
                        {"Content-Type": "application/proto"})
            query = json.dumps(dict(SPAN, profileTypeID=TYPE, labelSelector="{}")).encode()
            stacks = "/querier.v1.QuerierService/SelectMergeStacktraces"
            render = f"/pyroscope/render?query={TYPE}%7B%7D&from={BASE_S - 60}&until={BASE_S + 60}"
            for path, body, headers in ((stacks, query, JSON), (render, None, {}), (render + "&format=dot", None, {})):
                plain, text = answer(server, path, body, headers)
                self.assertIsNone(plain["Content-Encoding"])
                packed, bytes_ = answer(server, path, body, dict(headers, **{"Accept-Encoding": "deflate, gzip;q=0.5"}))
                self.assertEqual(("gzip", "Accept-Encoding"), (packed["Content-Encoding"], packed["Vary"]))
                self.assertEqual(len(bytes_), int(packed["Content-Length"]))
                self.assertLess(len(bytes_), len(text) / 2)
                self.assertEqual(text, gzip.decompress(bytes_))
                self.assertEqual(packed["Content-Type"], plain["Content-Type"])
                refused, same = answer(server, path, body, dict(headers, **{"Accept-Encoding": "gzip;q=0"}))
                self.assertEqual((None, text), (refused["Content-Encoding"], same))
            small, body = answer(server, "/querier.v1.QuerierService/ProfileTypes", b"{}",
                                 dict(JSON, **{"Accept-Encoding": "gzip"}))
            self.assertEqual((None, b"{"), (small["Content-Encoding"], body[:1]))

    def test_media_types_are_accepted_in_every_spelling(self):
        whole = "application/json; charset=utf-8"
        with serving.Server() as server:
            for given, expected in (
                    ("application/json;charset=utf-8", whole), ('APPLICATION/JSON ; Charset="UTF-8"', whole),
                    ("application/json;", "application/json"), ("Application/Json", "application/json"),
                    ("Application/Proto", "application/proto")):
                headers, _ = answer(server, "/querier.v1.QuerierService/GetProfileStats",
                                    b"" if expected.endswith("proto") else b"{}", {"Content-Type": given})
                self.assertEqual(expected, headers["Content-Type"], given)
            body = messages.push({"__name__": "process_cpu", "service_name": "shop"},
                                 messages.pprof([(["main"], [1], {})], BASE_S * 10**9))
            headers, _ = answer(server, "/push.v1.PusherService/Push", body, {"Content-Type": "APPLICATION/PROTO"})
            self.assertEqual("application/proto", headers["Content-Type"])
            for given in ("application/json; charset=utf-16", "application/json; charset=utf-8; a=b", "application/jsonx",
                          "application/proto; charset=utf-8", 'application/json; charset="utf-8'):
                status, body = server.send("/querier.v1.QuerierService/GetProfileStats", b"{}", {"Content-Type": given})
                self.assertEqual(415, status, given)

    def test_profile_ids_are_accepted_in_every_form(self):
        with serving.Server() as server:
            put(server, {}, 2)
            select = {"profileTypeID": TYPE, "labelSelector": "{}"}
            points = server.call("SelectSeries", dict(SPAN, **select, step=1, exemplarType="EXEMPLAR_TYPE_INDIVIDUAL"))
            ids = [point["exemplars"][0]["profileId"] for point in points["series"][0]["points"]]
            self.assertEqual(2, len(ids))
            for given in (ids[1], ids[1].upper(), ids[1].replace("-", ""), "urn:uuid:" + ids[1], "{" + ids[1] + "}"):
                self.assertEqual(16, server.total(TYPE, "{}", SPAN, profileIdSelector=[given])[0], given)
            for given in ("", ids[1][1:], "urn:guid:" + ids[1], "(" + ids[1] + ")", ids[1].replace("-", "g"), "-" * 36):
                status, body = server.send("/querier.v1.QuerierService/SelectMergeStacktraces", json.dumps(dict(
                    SPAN, **select, profileIdSelector=[given])).encode(), JSON)
                self.assertEqual(400, status, given)
                self.assertIn("invalid UUID", json.loads(body)["message"])

    def test_missing_features_have_the_errors_that_clients_expect(self):
        with serving.Server() as server:
            debuginfo = "/debuginfo.v1alpha1.DebuginfoService/"
            file = {"file": {"gnuBuildId": "ab", "name": "x", "type": "TYPE_EXECUTABLE_FULL"}}
            _, body = answer(server, debuginfo + "ShouldInitiateUpload", json.dumps(file).encode(), JSON)
            self.assertEqual({"reason": "DebugInfo upload disabled"}, json.loads(body))
            _, body = answer(server, debuginfo + "ShouldInitiateUpload", messages.part(1, messages.part(1, "ab")),
                             {"Content-Type": "application/proto"})
            self.assertEqual(messages.part(2, "DebugInfo upload disabled"), body)
            status, body = server.send("/vcs.v1.VCSService/GithubApp", b"{}", JSON)
            self.assertEqual((501, "unimplemented"), (status, json.loads(body)["code"]))
            # Calls that do not exist have the status 404, which Connect clients treat as "unimplemented".
            for path in (debuginfo + "ListDebuginfo", "/vcs.v1.VCSService/GetFile",
                         "/querier.v1.QuerierService/AnalyzeQuery"):
                self.assertEqual(404, server.send(path, b"{}", JSON)[0], path)

    def test_series_can_be_requested_from_each_service_of_pyroscope(self):
        with serving.Server() as server:
            put(server, {"host": "a"})
            for service in ("querier.v1.Querier", "ingester.v1.Ingester", "storegateway.v1.StoreGateway"):
                _, body = answer(server, f"/{service}Service/Series", json.dumps(dict(
                    SPAN, matchers=["{}"], labelNames=["host"])).encode(), JSON)
                self.assertEqual({"labelsSet": [{"labels": [{"name": "host", "value": "a"}]}]}, json.loads(body))


if __name__ == "__main__":
    serving.main()
