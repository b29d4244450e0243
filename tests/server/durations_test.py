"""Durations of requests at /metrics, under Pyroscope's name."""
import http.client
import re
import threading
import time
import unittest
import urllib.parse

from serving import Server, main

NAME = "pyroscope_request_duration_seconds"


def measured(server):
    """Return {(suffix, labels): value}. Each key must occur only once, as Prometheus requires."""
    status, body = server.send("/metrics", method="GET")
    assert status == 200, body
    found = {}
    for suffix, labels, value in re.findall(NAME + r"(_\w+)\{(.*?)\} (\S+)", body.decode()):
        key = suffix, labels
        assert key not in found, key
        found[key] = float(value)
    return found


class DurationsTest(unittest.TestCase):
    def labels(self, method, route, status):
        return f'method="{method}",route="{route}",status_code="{status}",ws="false"'

    def test_each_route_method_and_status_has_a_histogram(self):
        requests = (("GET", "/ready", 200, "ready"), ("GET", "/ready", 200, "ready"), ("POST", "/ready", 405, "other"),
                    ("GET", "/pyroscope/render?query=x", 400, "pyroscope_render"), ("GET", "/nothing", 404, "other"),
                    ("POST", "/querier.v1.QuerierService/Series", 415, "querier_v1_querierservice_series"),
                    ("GET", "/api/v1/annotations", 200, "api_v1_annotations"),
                    ("DELETE", "/api/v1/annotations/1", 404, "api_v1_annotations_any"),
                    ("GET", "/api/v1/trace/00000000000000000000000000000001", 404, "api_v1_trace_any"),
                    ("BREW", "/nothing", 404, "other"), ("POST", "/ingest?name=a", None, "ingest"))
        expected = {}
        with Server() as server:
            for method, path, status, route in requests:
                got = server.send(path, method=method)[0]
                self.assertEqual(status or got, got, path)
                key = self.labels(method if method != "BREW" else "other", route, got)
                expected[key] = expected.get(key, 0) + 1
            until = time.monotonic() + 10
            while True:  # a request is measured after its answer is sent, so the last one may be missing
                found = measured(server)
                counts = {labels: count for (suffix, labels), count in found.items()
                          if suffix == "_count" and 'route="metrics"' not in labels}
                if counts == expected or time.monotonic() > until:
                    break
            self.assertEqual(expected, counts)
            for labels, count in expected.items():
                buckets = [value for (suffix, key), value in found.items()
                           if suffix == "_bucket" and key.startswith(labels + ",le=")]
                self.assertEqual(15, len(buckets))
                self.assertEqual(sorted(buckets), buckets)
                self.assertEqual(count, buckets[-1])
                self.assertGreater(found["_sum", labels], 0)

    def test_a_slow_body_is_in_the_buckets_of_its_time(self):
        with Server() as server:
            at = urllib.parse.urlsplit(server.base)
            connection = http.client.HTTPConnection(at.hostname, at.port, timeout=30)
            connection.putrequest("POST", "/ingest?name=slow")
            connection.putheader("Content-Length", "2")
            connection.endheaders(b"x")
            while b"\npyroscope_inflight_requests 2\n" not in server.send("/metrics", method="GET")[1]:
                pass  # wait for the headers: two requests are in progress, including the one for /metrics
            threading.Event().wait(0.6)
            connection.send(b"y")
            status = connection.getresponse().status
            connection.close()
            labels = self.labels("POST", "ingest", status)
            until = time.monotonic() + 10
            while not (found := measured(server)).get(("_count", labels)) and time.monotonic() < until:
                pass
            self.assertEqual(0, found["_bucket", labels + ',le="0.5"'])
            self.assertEqual(1, found["_bucket", labels + ',le="+Inf"'])
            self.assertGreaterEqual(found["_sum", labels], 0.6)

    def test_a_refused_request_counts_for_its_route(self):
        with Server("--token", "secret") as server:
            self.assertEqual(401, server.send("/ingest")[0])
            until = time.monotonic() + 10
            wanted = (self.labels("POST", "ingest", 401) + "} 1").encode()
            while time.monotonic() < until:
                text = server.send("/metrics", method="GET", headers={"Authorization": "Bearer secret"})[1]
                if b"_count{" + wanted in text:
                    return
            self.fail(text)


if __name__ == "__main__":
    main()
