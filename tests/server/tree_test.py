"""The format "tree" of /api/v1/profile and /api/v1/diff: all nodes with exact sums."""
import collections
import gzip
import json
import time
import unittest
import urllib.parse

import messages
import serving

DEEP = "a;b;c;d;e;f;g;h;i;j"


def ingest(server, name, text, at_s=None):
    """Upload folded stacks, whose values count 10 ms each."""
    at_s = at_s or int(time.time()) - 5
    query = urllib.parse.urlencode({"name": name, "format": "folded", "from": at_s, "until": at_s + 1,
                                    "sampleRate": 100})
    status, body = server.send("/ingest?" + query, text.encode())
    assert status == 200, body


def call_api(server, path, **parameters):
    status, body = server.send(f"/api/v1/{path}?" + urllib.parse.urlencode(parameters), method="GET")
    return status, json.loads(body)


def stacks(tree, column="self"):
    """Return {"a;b": value} for the nodes with own values."""
    paths, found = [""], collections.Counter()
    nodes = tree["nodes"]
    assert nodes["parent"][0] == 0 and nodes["function"][0] == -1
    for node in range(1, len(nodes["parent"])):
        parent = nodes["parent"][node]
        assert parent < node, "parents come first"
        name = tree["functions"]["name"][nodes["function"][node]]
        paths.append(f"{paths[parent]};{name}" if parent else name)
        if nodes[column][node]:
            found[paths[node]] += nodes[column][node]
    return dict(found)


def folded(server, **parameters):
    status, body = server.send("/api/v1/profile?" + urllib.parse.urlencode(dict(parameters, format="folded")),
                               method="GET")
    assert status == 200, body
    pairs = (line.rsplit(" ", 1) for line in body.decode().splitlines())
    return {stack: int(value) for stack, value in pairs}


class TreeTest(unittest.TestCase):
    def test_sums_are_those_of_the_folded_stacks(self):
        lines = "".join(f"main;f{i % 7};g{i % 31};h{i} {i + 1}\n" for i in range(500)) + "main 4\nmain;main;main 2\n"
        with serving.Server() as server:
            ingest(server, "shop.cpu", lines)
            status, tree = call_api(server, "profile", query="shop.cpu", format="tree")
            self.assertEqual(200, status)
            self.assertEqual(("cpu", "nanoseconds", 1), (tree["type"], tree["unit"], tree["profiles"]))
            self.assertEqual(folded(server, query="shop.cpu"), stacks(tree))
            self.assertEqual({"parent", "function", "self", "samples"}, set(tree["nodes"]))
            self.assertEqual({stack: value // 10_000_000 for stack, value in stacks(tree).items()},
                             stacks(tree, "samples"), "a sample stands for 10 ms")
            children = list(zip(tree["nodes"]["parent"], tree["nodes"]["function"]))
            self.assertEqual(len(children), len(set(children)), "a function has several nodes under one parent")

    def test_functions_of_different_files_are_different(self):
        now = time.time_ns()
        with serving.Server() as server:
            for file in ("a.rb", "b.rb"):
                body = messages.push({"service_name": "shop", "__name__": "process_cpu"},
                                     messages.pprof([(("run", "main"), (30_000_000,), {})], now - 10**9, file=file))
                status, reply = server.send("/push.v1.PusherService/Push", body, {"Content-Type": "application/proto"})
                self.assertEqual(200, status, reply)
            _, tree = call_api(server, "profile", query='{service_name="shop"}', format="tree")
            names = sorted(zip(tree["functions"]["name"], tree["functions"]["file"]))
            self.assertEqual([("main", "a.rb"), ("main", "b.rb"), ("run", "a.rb"), ("run", "b.rb")], names)
            self.assertEqual(len(tree["functions"]["line"]), 4)
            self.assertEqual(2, tree["profiles"])
            self.assertEqual(60_000_000, sum(tree["nodes"]["self"]))

    def test_a_comparison_has_a_value_for_each_side(self):
        with serving.Server() as server:
            ingest(server, "old.cpu", "main;work 5\nmain;gone 1\n")
            ingest(server, "new.cpu", "main;work 7\nmain;came 2\n")
            status, diff = call_api(server, "diff", leftQuery="old.cpu", rightQuery="new.cpu", format="tree")
            self.assertEqual((200, [1, 1]), (status, diff["profiles"]))
            self.assertEqual({"main;work": 50_000_000, "main;gone": 10_000_000}, stacks(diff, "left"))
            self.assertEqual({"main;work": 70_000_000, "main;came": 20_000_000}, stacks(diff, "right"))
            self.assertEqual({"main;work": 5, "main;gone": 1}, stacks(diff, "leftSamples"))
            self.assertEqual({"main;work": 7, "main;came": 2}, stacks(diff, "rightSamples"))
            status, reply = call_api(server, "diff", leftQuery="old.cpu", rightQuery="new.cpu", format="trees")
            self.assertEqual((400, 'format must be one of flamegraph, tree: "trees"'), (status, reply["detail"]))

    def test_samples_are_missing_if_a_profile_does_not_count_them(self):
        counted = (("samples", "count"), ("inuse_space", "bytes"))
        with serving.Server() as server:
            for name, types, values in (("go", (("inuse_space", "bytes"),), (4096,)), ("counted", counted, (3, 4096))):
                body = messages.push({"service_name": name, "__name__": "memory"},
                                     messages.pprof([(("run", "main"), values, {})], time.time_ns() - 10**9, types))
                status, reply = server.send("/push.v1.PusherService/Push", body, {"Content-Type": "application/proto"})
                self.assertEqual(200, status, reply)
            heap = "memory:inuse_space:bytes:cpu:nanoseconds"
            for query, samples in (('{service_name="go"}', None), ('{service_name="counted"}', {"main;run": 3}), ("", None)):
                status, tree = call_api(server, "profile", query=query, type=heap, format="tree")
                self.assertEqual(200, status, tree)
                self.assertEqual(samples, stacks(tree, "samples") if "samples" in tree["nodes"] else None)
            _, diff = call_api(server, "diff", leftQuery='{service_name="go"}', rightQuery='{service_name="counted"}',
                          leftType=heap, rightType=heap, format="tree")
            self.assertEqual({"parent", "function", "left", "right", "rightSamples"}, set(diff["nodes"]))

    def test_an_empty_selection_is_a_root(self):
        with serving.Server() as server:
            status, tree = call_api(server, "profile", query="none.cpu", format="tree")
            self.assertEqual((200, 0), (status, tree["profiles"]))
            self.assertEqual({"parent": [0], "function": [-1], "self": [0], "samples": [0]}, tree["nodes"])
            self.assertEqual({"name": [], "file": [], "line": []}, tree["functions"])

    def test_all_nodes_are_sent_and_compressed_if_the_client_accepts_gzip(self):
        lines = "".join(f"main;a{i};{DEEP} 1\n" for i in range(10_000))
        with serving.Server() as server:
            ingest(server, "big.cpu", lines)
            path = "/api/v1/profile?format=tree&query=big.cpu"
            _, plain = server.send(path, method="GET")
            _, packed = server.send(path, method="GET", headers={"Accept-Encoding": "gzip"})
            self.assertLess(len(packed), len(plain) / 2)
            self.assertEqual(json.loads(plain), json.loads(gzip.decompress(packed)))
            tree = json.loads(plain)
            self.assertEqual(folded(server, query="big.cpu"), stacks(tree))
            self.assertGreater(len(tree["nodes"]["self"]), 100_000)

    def test_names_are_returned_unchanged(self):
        names = ["</script><b>", "a\"b\\c", "\u202eevil", "x" * 60_000, "t\tb"]
        with serving.Server() as server:
            body = messages.push({"service_name": "shop", "__name__": "process_cpu"},
                                 messages.pprof([((name, "main"), (1,), {}) for name in names], time.time_ns() - 10**9))
            self.assertEqual(200, server.send("/push.v1.PusherService/Push", body,
                                              {"Content-Type": "application/proto"})[0])
            _, tree = call_api(server, "profile", format="tree")
            self.assertEqual(sorted(["main", *names]), sorted(tree["functions"]["name"]))

    def test_nodes_above_the_limit_are_merged_with_exact_sums(self):
        # A hundred inlined calls at one location make a hundred nodes below each caller.
        part, number, callers, calls, now = messages.part, messages.number, 10_600, 100, time.time_ns() - 10**9
        texts = ["", "cpu", "nanoseconds", *(f"c{i}" for i in range(calls)), *(f"n{i}" for i in range(callers))]
        places = [range(1, calls + 1), *([calls + i] for i in range(1, callers + 1))]
        profile = b"".join([
            part(1, number(1, 1) + number(2, 2)), part(11, number(1, 1) + number(2, 2)), number(12, 10**7),
            *(part(4, number(1, i) + b"".join(part(4, number(1, function)) for function in functions))
              for i, functions in enumerate(places, 1)),
            *(part(5, number(1, i) + number(2, i + 2)) for i in range(1, calls + callers + 1)),
            *(part(6, text) for text in texts), number(9, now)])
        with serving.Server() as server:
            samples = b"".join(part(2, number(1, 1) + number(1, i) + part(2, b"\x01")) for i in range(2, 2 + callers))
            body = messages.push({"service_name": "huge", "__name__": "process_cpu"}, profile + samples)
            status, reply = server.send("/push.v1.PusherService/Push", body, {"Content-Type": "application/proto"})
            self.assertEqual(200, status, reply)
            status, reply = call_api(server, "profile", query='{service_name="huge"}', format="tree")
            self.assertEqual(200, status, reply)
            nodes, names = reply["nodes"], reply["functions"]["name"]
            self.assertLessEqual(len(nodes["self"]), 1_048_576)
            self.assertEqual(callers, sum(nodes["self"]))
            others = [node for node, function in enumerate(nodes["function"]) if function >= 0 and names[function] == "(other)"]
            self.assertEqual(callers * (calls + 1) + 1, len(nodes["self"]) - len(others) + reply["merged"])
            self.assertFalse(set(others) & set(nodes["parent"]), "a merged node has children")


if __name__ == "__main__":
    serving.main()
