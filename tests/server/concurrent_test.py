"""All calls during uploads, traces, annotations and maintenance of the store:
each is answered, and includes everything that was accepted before it. Mainly for
ThreadSanitizer. SPANPROF_STRESS_SECONDS is the duration; 5 by default."""
import itertools
import json
import os
import threading
import time
import unittest
import urllib.parse

from messages import pprof, push
from serving import Server, main

CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
SECONDS = float(os.environ.get("SPANPROF_STRESS_SECONDS", "5"))
UPLOADERS, READERS = 3, 3
NS = 10_000_000  # value of each sample
SHOP = '{service_name="shop"}'


class Concurrent(unittest.TestCase):
    def setUp(self):
        self.ends = time.monotonic() + SECONDS
        self.wrong, self.lock, self.begun, self.accepted = [], threading.Lock(), 0, 0
        self.start_ms = time.time_ns() // 10**6 - 3_600_000
        self.span = {"start": self.start_ms, "end": self.start_ms + 7_200_000}

    def each(self):
        """Return the numbers from 0 on, until SECONDS are over or an error has occurred."""
        return itertools.takewhile(lambda _: time.monotonic() < self.ends and not self.wrong, itertools.count())

    def guarded(self, work, number):
        try:
            work(number)
        except Exception as error:  # any exception fails the test
            self.wrong.append(repr(error))

    def ask(self, path, **given):
        given = {name.rstrip("_"): value for name, value in given.items()}
        status, body = self.server.send(path + "?" + urllib.parse.urlencode(given), method="GET")
        if status != 200:
            raise AssertionError(f"{path} {given}: {status} {body[:200]}")
        return body

    def upload(self, number):
        for i in self.each():
            span, trace = f"{number + 1:08x}{i:08x}", f"{number + 1:016x}{i // 10:016x}"
            stack = (f"part_{i % 101}", f"work_{i % 7}", "main")
            profile = pprof(((stack, (NS,), {"span_id": span, "trace_id": trace, "span_name": f"GET /{i % 5}"}),),
                            (self.start_ms + i) * 10**6 + number)
            body = push({"__name__": "process_cpu", "service_name": "shop", "host": f"web-{number}"}, profile)
            with self.lock:
                self.begun += NS
            status, text = self.server.send("/push.v1.PusherService/Push", body, {"Content-Type": "application/proto"})
            self.assertEqual(200, status, text)
            with self.lock:
                self.accepted += NS

    def trace(self, _):
        for i in self.each():
            start = self.start_ms * 10**6 + i * 10**6
            span = {"traceId": f"{1:016x}{i // 10:016x}", "spanId": f"{1:08x}{i:08x}", "name": f"GET /{i % 5}",
                    "kind": 2, "startTimeUnixNano": str(start), "endTimeUnixNano": str(start + 5 * 10**6)}
            resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
            body = {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [span]}]}]}
            status, text = self.server.send("/v1/traces", json.dumps(body).encode(), {"Content-Type": "application/json"})
            self.assertEqual(200, status, text)
            self.ask(f"/api/v1/trace/{span['traceId']}")

    def annotate(self, _):
        for i in self.each():
            status, text = self.server.send("/api/v1/annotations", b'{"text":"deployed"}')
            self.assertEqual(201, status, text)
            self.assertIn(b"deployed", self.ask("/api/v1/annotations"))
            if i % 2:
                status, text = self.server.send(f"/api/v1/annotations/{json.loads(text)['id']}", method="DELETE")
                self.assertEqual(204, status, text)

    def read(self, number):
        past = {"from_": self.start_ms, "until": self.span["end"]}
        graph = dict(self.span, profileTypeID=CPU, labelSelector=SHOP)
        # Each reader begins at a different call, so that different calls run at the same time.
        asks = (
            lambda i: self.ask("/api/v1/applications", **past),
            lambda i: self.ask("/api/v1/labels", label="host", **past),
            lambda i: self.ask("/api/v1/spans", by="name", **past),
            lambda i: self.ask("/api/v1/spans", by="id", sort="duration", **past),
            lambda i: self.ask("/api/v1/traces", sort="dearest", **past),
            lambda i: self.ask("/api/v1/gaps", **past),
            lambda i: self.ask("/api/v1/series", **past),
            lambda i: self.ask("/api/v1/profile", format="tree", query=SHOP, **past),
            lambda i: self.ask("/api/v1/profile", format="pprof", labels=1, span=f"{number + 1:08x}{i:08x}", **past),
            lambda i: self.ask("/api/v1/diff", leftQuery='shop.cpu{host="web-0"}', rightQuery='shop.cpu{host="web-1"}',
                               leftFrom=self.start_ms, rightFrom=self.start_ms),
            lambda i: self.ask("/pyroscope/render", query="shop.cpu", **past),
            lambda i: self.ask("/exported-metrics"),
            lambda i: self.ask("/metrics"),
            lambda i: self.ask("/ready"),
            lambda i: self.server.call("ProfileTypes", self.span),
            lambda i: self.server.call("LabelNames", dict(self.span, matchers=[SHOP])),
            lambda i: self.server.call("LabelValues", dict(self.span, name="host", matchers=[SHOP])),
            lambda i: self.server.call("Series", dict(self.span, matchers=[SHOP], labelNames=["host"])),
            lambda i: self.server.call("SelectSeries", dict(graph, groupBy=["host"], step=15)),
            lambda i: self.server.call("SelectMergeSpanProfile", dict(graph, spanSelector=[f"{1:08x}{i:08x}"])),
            lambda i: self.server.call("Diff", {"left": graph, "right": graph}),
            lambda i: self.server.call("GetProfileStats", {}),
            self.whole,
        )
        for i in self.each():
            asks[(i + number * len(asks) // READERS) % len(asks)](i)

    def whole(self, _):
        """Check that the total includes all uploads that were accepted before, and none that has not begun."""
        with self.lock:
            accepted = self.accepted
        total = self.server.total(CPU, SHOP, self.span)[0]
        with self.lock:
            begun = self.begun
        self.assertTrue(accepted <= total <= begun, (accepted, total, begun))

    def test_concurrent_calls_are_answered_completely(self):
        rule = 'name=cpu,query=shop.cpu{},node=main,group_by=host'
        with Server("--ingest-window", "off", "--metric", rule) as self.server:
            works = [(self.upload, i) for i in range(UPLOADERS)] + [(self.read, i) for i in range(READERS)]
            threads = [threading.Thread(target=self.guarded, args=work)
                       for work in [*works, (self.trace, 0), (self.annotate, 0)]]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual([], self.wrong)
            self.assertEqual((self.accepted, self.begun), (self.server.total(CPU, SHOP, self.span)[0],) * 2)
            self.assertGreater(self.accepted, 0)


if __name__ == "__main__":
    main()
