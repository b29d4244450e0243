"""Merged stacks with a StackTraceSelector, in every format that has stacks."""
import base64
import time
import unittest

import messages
import serving

BASE_S = int(time.time()) // 60 * 60 - 600
TYPE = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
SPAN = {"start": (BASE_S - 60) * 1000, "end": (BASE_S + 60) * 1000}
SHOP = [  # the outermost frame last
    (["sort", "query", "serve", "main"], 10), (["render", "serve", "main"], 5), (["serve", "main"], 1),
    (["loop", "idle", "main"], 900), (["sort", "query", "serve", "thread"], 80)]


def put(server, samples, service="shop"):
    profile = messages.pprof([(frames, [value], {}) for frames, value in samples], BASE_S * 10**9)
    body = messages.push({"__name__": "process_cpu", "service_name": service}, profile)
    status, reply = server.send("/push.v1.PusherService/Push", body, {"Content-Type": "application/proto"})
    assert status == 200, reply


def call_api(server, method, service="shop", **more):
    return server.call(method, dict(SPAN, profileTypeID=TYPE, labelSelector=f'{{service_name="{service}"}}', **more))


def pprofs(server, **more):
    """Call both methods and return their equal result."""
    return (call_api(server, "SelectMergeProfile", **more),
            call_api(server, "SelectMergeStacktraces", format="PROFILE_FORMAT_PPROF", **more)["pprof"]["profile"])


def names_of(profile):
    texts = profile["stringTable"]
    return sorted(texts[int(function["name"])] for function in profile.get("function", []))


def stacks_of(profile):
    """Return {(name:line, outermost last): value}. Each stack occurs once."""
    texts = profile["stringTable"]
    functions = {f["id"]: texts[int(f["name"])] for f in profile["function"]}
    places = {place["id"]: functions[place["line"][0]["functionId"]] + ":" + place["line"][0].get("line", "0")
              for place in profile["location"]}
    found = {}
    for sample in profile["sample"]:
        stack = tuple(places[at] for at in sample["locationId"])
        assert stack not in found, stack
        found[stack] = int(sample["value"][0])
    return found


def sites(*names):
    return {"callSite": [{"name": name} for name in names]}


class StacksTest(unittest.TestCase):
    def test_call_sites_select_stacks_in_every_format(self):
        with serving.Server() as server:
            put(server, SHOP)
            below = sites("main", "serve")
            for profile in pprofs(server, stackTraceSelector=below):
                self.assertEqual({("sort:7", "query:7", "serve:7", "main:7"): 10,
                                  ("render:7", "serve:7", "main:7"): 5, ("serve:7", "main:7"): 1}, stacks_of(profile))
                self.assertEqual(["main", "query", "render", "serve", "sort"], names_of(profile))
                self.assertEqual(5, len(profile["location"]))
            dot = call_api(server, "SelectMergeStacktraces", format="PROFILE_FORMAT_DOT", stackTraceSelector=below)["dot"]
            self.assertIn("render", dot)
            self.assertNotIn("idle", dot)
            self.assertNotIn("thread", dot)
            tree = base64.b64decode(call_api(server, "SelectMergeStacktraces", format="PROFILE_FORMAT_TREE",
                                        stackTraceSelector=below)["tree"])
            self.assertIn(b"render", tree)
            self.assertNotIn(b"idle", tree)
            self.assertEqual((16, ["main", "query", "render", "serve", "sort", "total"]),
                             self.sorted(server.total(TYPE, '{service_name="shop"}', SPAN, stackTraceSelector=below)))
            diff = server.call("Diff", {side: dict(SPAN, profileTypeID=TYPE, labelSelector="{}",
                                                   stackTraceSelector=sites("main", name))
                                        for side, name in (("left", "serve"), ("right", "idle"))})["flamegraph"]
            self.assertEqual(("16", "900"), (diff["leftTicks"], diff["rightTicks"]))

    @staticmethod
    def sorted(total):
        return total[0], sorted(total[1])

    def test_unselected_stacks_do_not_count_as_nodes(self):
        with serving.Server() as server:
            put(server, SHOP)
            for profile in pprofs(server, stackTraceSelector=sites("main", "serve", "render"), maxNodes=3):
                self.assertEqual({("render:7", "serve:7", "main:7"): 5}, stacks_of(profile))
            for profile in pprofs(server, stackTraceSelector=sites("main", "serve"), maxNodes=4):
                self.assertEqual({("sort:7", "query:7", "serve:7", "main:7"): 10, ("serve:7", "main:7"): 1,
                                  ("other:0", "serve:7", "main:7"): 5}, stacks_of(profile))
                self.assertEqual(["main", "other", "query", "serve", "sort"], names_of(profile))
            self.assertEqual(([], [], 0), (
                call_api(server, "SelectMergeProfile", stackTraceSelector=sites("main", "work")).get("sample", []),
                *self.nothing(server)))

    def nothing(self, server):
        total, names = server.total(TYPE, "{}", SPAN, stackTraceSelector=sites("main", "serve", "x"))
        return [name for name in names if name != "total"], total

    def test_go_pgo_gets_the_innermost_locations_of_stacks(self):
        with serving.Server() as server:
            put(server, [([("work", 3), ("handle", 8), "serve", "main"], 10),
                         ([("work", 4), ("handle", 8), "serve", "main"], 20),
                         ([("work", 4), ("handle", 9), "serve", "main"], 40),
                         ([("work", 4), ("handle", 8), "retry", "main"], 80),
                         ([("handle", 8), "serve", "main"], 160), ([("work", 5)], 320)])
            # With the selector for Go, call sites and the number of nodes are ignored.
            more = {"maxNodes": 1}
            for profile in pprofs(server, stackTraceSelector=dict(
                    sites("no"), goPgo={"keepLocations": 2, "aggregateCallees": True}), **more):
                self.assertEqual({("work:0", "handle:8"): 110, ("work:0", "handle:9"): 40,
                                  ("handle:0", "serve:7"): 160, ("work:0",): 320}, stacks_of(profile))
                self.assertEqual(["handle", "serve", "work"], names_of(profile))
            for profile in pprofs(server, stackTraceSelector={"goPgo": {"keepLocations": 2}}):
                self.assertEqual({("work:3", "handle:8"): 10, ("work:4", "handle:8"): 100,
                                  ("work:4", "handle:9"): 40, ("handle:8", "serve:7"): 160, ("work:5",): 320},
                                 stacks_of(profile))
            for profile in pprofs(server, stackTraceSelector={"goPgo": {}}):
                self.assertEqual(6, len(stacks_of(profile)))

    def test_pprofs_and_call_graphs_have_no_upper_limit_of_nodes(self):
        with serving.Server() as server:
            put(server, SHOP)
            for profile in pprofs(server, maxNodes=2_000_000):
                self.assertEqual(5, len(stacks_of(profile)))
            self.assertIn("loop", call_api(server, "SelectMergeStacktraces", format="PROFILE_FORMAT_DOT",
                                      maxNodes=2_000_000)["dot"])

    def test_a_call_graph_has_a_hundred_nodes_by_default(self):
        with serving.Server() as server:
            put(server, [([f"f{i}", "main"], 100) for i in range(150)])
            for nodes, expected in ((0, 100), (120, 120), (1000, 151)):
                dot = call_api(server, "SelectMergeStacktraces", format="PROFILE_FORMAT_DOT", maxNodes=nodes)["dot"]
                self.assertEqual(expected, dot.count('id="node'))
                status, reply = server.send("/pyroscope/render?format=dot&max-nodes=" + str(nodes) +
                                           f"&query={TYPE}%7B%7D&from={BASE_S - 60}&until={BASE_S + 60}", method="GET")
                self.assertEqual((200, expected), (status, reply.decode().count('id="node')))


if __name__ == "__main__":
    serving.main()
