"""What one question may take: memory, time and numbers at the ends of their
range, whatever was uploaded."""
import json
import os
import re
import time
import unittest
import urllib.parse

from messages import pprof, push
from serving import Server

MEMORY_KB = 700_000  # of an answer of 256 MB, and the tree it is made of
CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"


def upload(server, labels, *profiles):
    body = push({"__name__": "process_cpu", **labels}, *profiles)
    status, said = server.send("/push.v1.PusherService/Push", body, {"Content-Type": "application/proto"})
    assert status == 200, said


def ask(server, path, **parameters):
    given = {name.rstrip("_"): value for name, value in parameters.items()}
    status, body = server.send(f"{path}?" + urllib.parse.urlencode(given), method="GET")
    try:
        return status, json.loads(body)
    except ValueError:
        return status, body


def send_traces(server, spans):
    """Of (trace, span, parent, start_ns, ns)."""
    message = {"resourceSpans": [{
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
        "scopeSpans": [{"spans": [
            {"traceId": f"{trace:032x}", "spanId": f"{span:016x}", "parentSpanId": f"{parent:016x}" if parent else "",
             "name": "GET /", "kind": 2, "startTimeUnixNano": str(start), "endTimeUnixNano": str(start + length)}
            for trace, span, parent, start, length in spans]}]}]}
    status, said = server.send("/v1/traces", json.dumps(message).encode(), {"Content-Type": "application/json"})
    assert status == 200, said


class BoundsTest(unittest.TestCase):
    def check_memory(self, server):
        if not os.environ.get("SPANPROF_SANITIZED"):
            with open(f"/proc/{server.process.pid}/status") as file:
                self.assertLess(int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]), MEMORY_KB)

    def test_no_answer_is_larger_than_its_limit(self):
        name = "deep" * 800
        samples = [((name,) * depth, (1,), {}) for depth in range(1, 501)]  # 400 MB as folded stacks
        with Server() as server:
            upload(server, {"service_name": "shop"}, pprof(samples, time.time_ns()))
            status, said = ask(server, "/api/v1/profile", query="{}", format="folded")
            self.assertEqual(429, status, said)
            self.assertIn("shorter range", said["detail"])
            self.check_memory(server)
            status, _ = ask(server, "/api/v1/profile", query="{}", format="flamegraph")
            self.assertEqual(200, status)

    def test_a_timeline_of_all_times_is_bounded(self):
        with Server() as server:
            for host in range(30):
                upload(server, {"service_name": "shop", "host": str(host)},
                       pprof([(("main",), (1,), {})], time.time_ns()))
            given = {"query": CPU + "{}", "groupBy": "host"}
            status, said = ask(server, "/pyroscope/render", **given, from_="1", until="10000000000000")
            self.assertEqual(400, status, said)
            status, said = ask(server, "/pyroscope/render", **given, from_="1", until="9999999999")
            self.assertEqual(200, status, said)
            self.assertEqual(30, len(said["groups"]))
            self.assertEqual(1, sum(said["groups"]["7"]["samples"]))
            self.check_memory(server)

    def test_a_page_of_traces_has_up_to_ten_thousand(self):
        now, ns = time.time_ns(), 10**6
        with Server() as server:
            send_traces(server, [(i + 1, i + 1, 0, now - i * ns, ns) for i in range(2500)])
            upload(server, {"service_name": "shop"},
                   pprof([(("main",), (7,), {"span_id": f"{2000:016x}", "trace_id": f"{2000:032x}"})], now - 10**10))
            status, said = ask(server, "/api/v1/traces", limit=10000)
            self.assertEqual(200, status, said)
            self.assertEqual([f"{i + 1:032x}" for i in range(2500)], [one["traceId"] for one in said["traces"]])
            self.assertEqual({f"{2000:032x}": 7}, {one["traceId"]: one["total"] for one in said["traces"] if one["total"]})
            self.assertIsNone(said["after"])
            status, said = ask(server, "/api/v1/traces", limit=700, after=1900)
            self.assertEqual((200, 600, None), (status, len(said["traces"]), said["after"]))
            self.assertEqual((f"{2000:032x}", 7), (said["traces"][99]["traceId"], said["traces"][99]["total"]))
            status, said = ask(server, "/api/v1/traces", limit=100, after=1950)
            self.assertEqual((200, 100, "2050"), (status, len(said["traces"]), said["after"]))
            status, said = ask(server, "/api/v1/traces", limit=1, sort="dearest", after=499)
            self.assertEqual((200, 1, None), (status, len(said["traces"]), said["after"]))
            for path in ("traces", "spans", "labels"):
                for sort in (None, "dearest") if path == "traces" else (None,):
                    given = {"after": 2**63 - 1, **({"sort": sort} if sort else {})}
                    status, said = ask(server, "/api/v1/" + path, **given, **({"label": "x"} if path == "labels" else {}))
                    self.assertEqual(200, status, (path, sort, said))
                    self.assertIsNone(said["after"])

    def test_a_chain_of_spans_and_a_cycle_add_up_in_one_pass(self):
        now, long = time.time_ns(), 20000
        with Server() as server:
            for first in range(0, long, 5000):
                send_traces(server, [(1, i + 1, i, now + i, 1000) for i in range(first, first + 5000)])
            # 1 and 2 are each other's parents, 3 is a child of 2, 4 of 3.
            send_traces(server, [(2, 1, 2, now, 10), (2, 2, 1, now, 10), (2, 3, 2, now, 10), (2, 4, 3, now, 10)])
            samples = [(("main",), (10 ** (i - 1),), {"span_id": f"{i:016x}", "trace_id": f"{2:032x}"}) for i in (1, 2, 3, 4)]
            upload(server, {"service_name": "shop"}, pprof(samples, now))
            status, said = ask(server, f"/api/v1/trace/{2:032x}")
            self.assertEqual(200, status, said)
            self.assertEqual({1: 1, 2: 1110, 3: 1100, 4: 1000},
                             {int(span["spanId"], 16): span["total"] for span in said["spans"]})
            status, said = ask(server, f"/api/v1/trace/{1:032x}")
            self.assertEqual((200, long), (status, len(said["spans"])))
            self.assertEqual(1111, said["spans"][0]["total"])
            self.assertEqual(0, said["spans"][4]["total"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
