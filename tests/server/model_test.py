"""A differential fuzzer. It sends random uploads, repeats some of them, kills the
server, lets the server compact and drop data, and compares every number in the
answers to random queries with that of a brute-force model (model.py).

SPANPROF_MODEL_SECONDS (60) is the length of a run. SPANPROF_MODEL_SEED repeats the
random choices of a run; only the times of compaction differ.
"""
import collections
import copy
import http.client
import json
import math
import os
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

import messages
import model
import serving

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sink"))
import protobuf  # noqa: E402

SECONDS = float(os.environ.get("SPANPROF_MODEL_SECONDS", "60"))
SEED = int(os.environ.get("SPANPROF_MODEL_SEED", time.time_ns() % 10**9))
KILL_SECONDS = 25  # the server compacts 20 s after its start
HOUR_NS = 3600 * 10**9
SPREAD_NS = 5 * HOUR_NS  # the largest age of an upload
RETENTION = "3h"
RETENTION_NS = 3 * HOUR_NS
RETIRES_AT = 0.75  # the part of the test after which the server begins to drop old profiles

SERVICES = ("shop", "mail", "shop-worker")
HOSTS = ("a", "b", "c.example")
NAMES = ("GET /cart", "GET /", "job")
FRAMES = ("main", "serve", "query", "sort", "render", "Ruby#each", "été")
KINDS = {
    "process_cpu": ((("cpu", "nanoseconds"),), (("samples", "count"), ("cpu", "nanoseconds"))),
    "memory": ((("alloc_objects", "count"), ("alloc_space", "bytes")),),
}


def differences(expected, got, path=""):
    """Return the parts in which nested lists, tuples and dictionaries differ, as text."""
    if isinstance(expected, (list, tuple)) and isinstance(got, (list, tuple)) and len(expected) == len(got):
        pairs = [(i, expected[i], got[i]) for i in range(len(got))]
    elif isinstance(expected, dict) and isinstance(got, dict):
        pairs = [(key, expected.get(key), got.get(key)) for key in {**expected, **got}]
    elif isinstance(expected, set):
        return f"missing {sorted(expected - got)}, too many {sorted(got - expected)}"
    else:
        return f"{path}: expected {expected}, got {got}"
    return "; ".join([differences(*pair, f"{path}/{key}") for key, *pair in pairs if pair[0] != pair[1]][:5])


PPROF = {
    1: ("types", [{1: ("kind", int), 2: ("unit", int)}]),
    2: ("samples", [{1: ("places", [int]), 2: ("values", [int]),
                     3: ("labels", [{1: ("key", int), 2: ("text", int), 3: ("number", int)}])}]),
    4: ("places", [{1: ("id", int), 4: ("lines", [{1: ("function", int), 2: ("line", int)}])}]),
    5: ("functions", [{1: ("id", int), 2: ("name", int)}]),
    6: ("texts", [str]),
}


class Near(float):
    """A floating-point number, whose last digits depend on the order of additions, so they are not compared."""

    def __eq__(self, other):
        return math.isclose(self, other, rel_tol=1e-9)

    def __ne__(self, other):
        return not self == other


class Server:
    """A server that can be killed and started again with other options."""

    def __init__(self, data):
        self.data = data
        self.process = None

    def start(self, *options):
        self.process = subprocess.Popen(
            [serving.PROGRAM, "--listen", "127.0.0.1:0", "--data", self.data, "--ingest-window", "off", *options],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        assert found, line
        self.port = int(found[1])
        self.connection = None
        self.output = []
        threading.Thread(target=self.output.extend, args=(self.process.stdout,), daemon=True).start()

    def end(self, how):
        self.process.send_signal(how)
        return self.process.wait(60)

    def ask(self, method, path, body=None, headers=None):
        if not self.connection:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            self.connection.request(method, path, body, headers or {})
            answer = self.connection.getresponse()
            return answer.status, answer.read()
        except (http.client.HTTPException, OSError):
            self.connection.close()
            self.connection = None
            raise

    def get(self, path, **parameters):
        status, body = self.ask("GET", f"/api/v1/{path}?" + urllib.parse.urlencode(parameters))
        assert status == 200, (status, body)
        return json.loads(body)

    def call(self, method, message):
        status, body = self.ask("POST", "/querier.v1.QuerierService/" + method, json.dumps(message),
                                {"Content-Type": "application/json", "Accept": "*/*; allow-utf8-labelnames=true"})
        assert status == 200, (status, body)
        return json.loads(body)

    def push(self, body):
        return self.ask("POST", "/push.v1.PusherService/Push", body, {"Content-Type": "application/proto"})

    def metric(self, name):
        text = self.ask("GET", "/metrics")[1].decode()
        return int(re.search(rf"^{name} (\d+)$", text, re.M)[1])


class Uploads:
    """Random profiles."""

    def __init__(self, dice, base_ns):
        self.dice, self.base_ns = dice, base_ns
        self.spans = [f"{dice.getrandbits(64):016x}" for _ in range(60)]
        self.traces = [f"{dice.getrandbits(128):032x}" for _ in range(8)]

    def time_ns(self):
        dice = self.dice
        ns = self.base_ns - dice.randrange(SPREAD_NS)
        shape = dice.randrange(6)
        if shape == 0:  # next to the end of an hour
            ns = ns // HOUR_NS * HOUR_NS + dice.choice((-1, 1, 999_999, 1_000_000))
        elif shape == 1:  # within one second, like those of prefork workers
            ns = ns // (60 * 10**9) * 60 * 10**9 + dice.randrange(1, 10**6)
        elif shape == 2:
            ns = ns // 10**9 * 10**9
        return ns

    def sample(self, types):
        dice = self.dice
        tags = {}
        if dice.random() < 0.5:
            number = dice.randrange(len(self.spans))
            tags["profile_id"] = self.spans[number]
            if dice.random() < 0.7:
                tags["span_name"] = NAMES[number % len(NAMES)]
            if dice.random() < 0.3:
                tags["trace_id"] = self.traces[number % len(self.traces)]
        if dice.random() < 0.3:
            tags["endpoint"] = dice.choice(("x", "y", "a \"quoted\" one"))
        frames = [(dice.choice(FRAMES), 7) for _ in range(dice.randrange(1, 6))]
        # Either all values of a sample are 0, or none of them is.
        values = [0] * len(types) if dice.random() < 0.1 else [self.value(kind) for kind in types]
        return frames, values, tags

    def value(self, kind):
        if kind == ("cpu", "nanoseconds"):
            return self.dice.choice((self.dice.randrange(1, 200) * 10**7, self.dice.randrange(1, 10**9)))
        return self.dice.randrange(1, 10**self.dice.randrange(1, 7))

    def profile(self):
        dice = self.dice
        labels = {"service_name": dice.choice(SERVICES)}
        if dice.random() < 0.8:
            labels["host"] = dice.choice(HOSTS)
        metric = dice.choice(("process_cpu", "process_cpu", "memory"))
        types = dice.choice(KINDS[metric])
        samples = [self.sample(types) for _ in range(dice.randrange(1, 12))]
        upload_id = f"{dice.getrandbits(128):x}" if dice.random() < 0.5 else ""
        return model.Profile(labels, metric, types, self.time_ns(), dice.choice((0, 10**10, 10**10, 15 * 10**9)),
                             samples, upload_id)

    @staticmethod
    def body(profile):
        return messages.push({"__name__": profile.metric, **profile.labels},
                             messages.pprof(profile.samples, profile.time_ns, profile.types,
                                            duration_ns=profile.duration_ns), id=profile.upload_id)


class ModelTest(unittest.TestCase):
    def setUp(self):
        self.data = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.data, ignore_errors=True)
        self.dice = random.Random(SEED)
        self.store = model.Store()
        self.uploads = Uploads(self.dice, time.time_ns() - 300 * 10**9)
        self.sent = []  # (profile, body) of uploads, of which some are repeated
        self.oldest_ns = 0  # no range of a query begins before this time
        self.queries = 0
        self.server = Server(self.data)
        self.counts = collections.Counter()

    def tearDown(self):
        if self.server.process.poll() is None:
            self.server.process.kill()
            self.server.process.wait()

    # Uploads

    def upload(self):
        if self.sent and self.dice.random() < 0.1:
            profile, body = self.dice.choice(self.sent[-200:])
            self.assertEqual(200, self.server.push(body)[0])
            self.counts["duplicates"] += 1
            if profile.is_whole_second and not profile.upload_id:  # the server counts it as another upload, not as a retry
                self.store.add(copy.copy(profile))
            return
        profile = self.uploads.profile()
        if self.sent and self.dice.random() < 0.05:  # other content for the series and time of another upload
            earlier = self.dice.choice(self.sent[-200:])[0]
            profile.labels, profile.metric, profile.types = earlier.labels, earlier.metric, earlier.types
            profile.time_ns = earlier.time_ns
            profile.samples = [self.uploads.sample(profile.types) for _ in range(3)]
        if profile.time_ns < self.oldest_ns:
            return
        body = self.uploads.body(profile)
        status, reply = self.server.push(body)
        self.assertEqual(200, status, reply)
        self.keep(profile, body)

    def keep(self, profile, body):
        self.store.add(profile)
        self.sent.append((profile, body))
        self.counts["uploads"] += 1

    def kill(self):
        """Kill the server during an upload, and check that the profile is stored completely or not at all."""
        profile = self.uploads.profile()
        while profile.time_ns < self.oldest_ns or all(not any(values) for _, values, _ in profile.samples):
            profile = self.uploads.profile()
        profile.labels = {"service_name": f"killed{self.counts['kills']}"}
        body = self.uploads.body(profile)
        with socket.create_connection(("127.0.0.1", self.server.port)) as connection:
            connection.sendall(b"POST /push.v1.PusherService/Push HTTP/1.1\r\nHost: localhost\r\n"
                               b"Content-Type: application/proto\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            time.sleep(self.dice.random() * 0.01)
            self.server.end(signal.SIGKILL)
        self.start()
        self.counts["kills"] += 1
        alone = model.Store()
        alone.add(profile)
        selector = model.Selector(model.CPU, 0, 10**14, [("service_name", "=", profile.labels["service_name"])])
        if self.server.get("applications", **self.range_of(selector), query=selector.text())["applications"]:
            self.assertEqual(alone.applications(selector), self.applications(selector))
            self.keep(profile, body)
            self.counts["kept at a kill"] += 1

    def start(self):
        self.server.start(*(["--retention", RETENTION] if self.oldest_ns else []))

    def retire(self):
        """Restart the server with a retention. Afterwards, queries only request profiles that
        stay within the retention until at least two minutes after the end of the test."""
        self.assertEqual(0, self.server.end(signal.SIGTERM))
        self.oldest_ns = time.time_ns() - RETENTION_NS + int((SECONDS * (1 - RETIRES_AT) + 120) * 10**9)
        self.store.drop_before(self.oldest_ns)
        self.sent = [(profile, body) for profile, body in self.sent if profile.time_ns >= self.oldest_ns]
        self.start()

    def wait_for_dropped_profiles(self):
        """Wait until the server has dropped all hours whose last profile is older than the retention."""
        until = (time.time_ns() - RETENTION_NS) // HOUR_NS * HOUR_NS // 10**6 - 1
        deadline = time.monotonic() + 90
        while self.server.get("applications", **{"from": 10**12, "until": until})["applications"]:
            self.assertLess(time.monotonic(), deadline, "profiles older than the retention are kept")
            time.sleep(0.5)

    # Queries

    def selector(self):
        dice = self.dice
        low = max(self.uploads.base_ns - SPREAD_NS, self.oldest_ns)
        ends = []
        for _ in range(2):
            if self.store.profiles and dice.random() < 0.4:  # a range that ends exactly at the time of a profile
                ends.append(dice.choice(self.store.profiles).time_ms)
            else:
                ends.append(dice.randrange(low, self.uploads.base_ns + HOUR_NS) // 10**6)
        if dice.random() < 0.3:
            ends = [low // 10**6, self.uploads.base_ns // 10**6 + 3600_000]
        ends.sort()
        ends[0] = max(ends[0], self.oldest_ns // 10**6 + 1)
        ends[1] = max(ends)
        matchers, spans = [], []
        if dice.random() < 0.7:
            matchers.append(("service_name", dice.choice(("=", "!=")), dice.choice(SERVICES)))
        if dice.random() < 0.2:
            matchers.append(("service_name", dice.choice(("=~", "!~")), "shop.*"))
        if dice.random() < 0.3:
            matchers.append(("host", dice.choice(("=", "!=", "=~")), dice.choice((*HOSTS, "", "nobody"))))
        if dice.random() < 0.2:
            matchers.append(("endpoint", dice.choice(("=", "!=")), dice.choice(("x", ""))))
        if dice.random() < 0.2:
            matchers.append((dice.choice(("profile_id", "span_id")), dice.choice(("=", "!=")),
                             dice.choice((*self.uploads.spans, ""))))
        if dice.random() < 0.2:
            spans = dice.sample(self.uploads.spans, dice.randrange(1, 4))
        return model.Selector(dice.choice(model.TYPES), *ends, matchers, spans)

    @staticmethod
    def range_of(selector):
        return {"from": selector.from_ms, "until": selector.until_ms}

    def given(self, selector):
        more = {"span": ",".join(sorted(selector.spans))} if selector.spans else {}
        return {"query": selector.text(), "type": selector.type, **self.range_of(selector), **more}

    def check(self):
        selector = self.selector()
        name = self.dice.choice(CHECKS)
        expected, got = getattr(self, "check_" + name)(selector)
        self.queries += 1
        self.counts[name] += 1
        if expected != got:
            self.fail(f"seed {SEED}, query {self.queries}, {name} of {self.given(selector)}: "
                      f"{differences(expected, got)}; so far {dict(self.counts)}, "
                      f"{self.server.metric('spanprof_store_blocks')} blocks of "
                      f"{self.server.metric('spanprof_store_profiles')} profiles")

    @staticmethod
    def tree_stacks(tree, columns):
        paths, found = [()], {}
        nodes = tree["nodes"]
        for node in range(1, len(nodes["parent"])):
            path = paths[nodes["parent"][node]] + (tree["functions"]["name"][nodes["function"][node]],)
            paths.append(path)
            numbers = tuple(nodes[column][node] for column in columns if column in nodes)
            if any(numbers):
                found[path] = numbers
        return found

    def expected_stacks(self, selector):
        stacks, profiles = self.store.stacks(selector)
        found = collections.defaultdict(lambda: (0, 0))
        for stack, (value, samples) in stacks.items():
            names = tuple(name for name, _ in stack)
            found[names] = found[names][0] + value, found[names][1] + samples
        return dict(found), profiles

    def check_tree(self, selector):
        expected, profiles = self.expected_stacks(selector)
        tree = self.server.get("profile", format="tree", **self.given(selector))
        counted = selector.type in (model.CPU, model.SAMPLES)
        if not counted:
            expected = {stack: (value,) for stack, (value, _) in expected.items()}
        return ((expected, profiles),
                (self.tree_stacks(tree, ("self", "samples") if counted else ("self",)), tree["profiles"]))

    def check_folded(self, selector):
        expected = {";".join(stack): value for stack, (value, _) in self.expected_stacks(selector)[0].items()}
        status, body = self.server.ask("GET", "/api/v1/profile?" + urllib.parse.urlencode(
            dict(self.given(selector), format="folded")))
        self.assertEqual(200, status, body)
        return expected, {stack: int(value) for stack, value in
                          (line.rsplit(" ", 1) for line in body.decode().splitlines())}

    def check_graph(self, selector):
        expected = sum(value for value, _ in self.expected_stacks(selector)[0].values())
        more = {"spanSelector": sorted(selector.spans)} if selector.spans else {}
        method = "SelectMergeSpanProfile" if selector.spans else "SelectMergeStacktraces"
        graph = self.server.call(method, dict(profileTypeID=selector.type, labelSelector=selector.text(),
                                              start=selector.from_ms, end=selector.until_ms, **more))
        return expected, int(graph.get("flamegraph", {}).get("total", 0))

    def check_pprof(self, selector):
        status, body = self.server.ask("GET", "/api/v1/profile?" + urllib.parse.urlencode(
            dict(self.given(selector), format="pprof", labels="1")))
        self.assertEqual(200, status, body)
        expected = {}
        for (labels, span, trace, stack), sums in self.store.samples(selector).items():
            ids = [(name, value) for name, value in (("profile_id", span), ("trace_id", trace)) if value]
            key = frozenset((*labels, *ids)), tuple(name for name, _ in stack)
            self.assertNotIn(key, expected)
            expected[key] = sums
        return expected, self.pprof_samples(body)

    @staticmethod
    def pprof_samples(body):
        """Return {(labels, stack): (value, samples)} of a pprof that has a type and the type samples/count."""
        profile = protobuf.message(body, PPROF)
        texts = profile["texts"]
        kinds = [texts[kind["kind"] or 0] for kind in profile["types"]]
        if not kinds:  # no profile is selected
            return {}
        at = 0 if kinds == ["samples"] else 1 - kinds.index("samples"), kinds.index("samples")
        functions = {function["id"]: texts[function["name"]] for function in profile["functions"]}
        places = {place["id"]: [functions[line["function"]] for line in place["lines"]]
                  for place in profile["places"]}
        found = {}  # sums, because a series that was uploaded with different sets of types has several rows
        for sample in profile["samples"]:
            names = [name for place in sample["places"] for name in places[place]]
            labels = frozenset((texts[label["key"]], texts[label["text"]]) for label in sample["labels"]
                               if label["text"])
            key = labels, tuple(reversed(names))
            sums = found.get(key, (0, 0))
            found[key] = tuple(total + sample["values"][i] for total, i in zip(sums, at))
        return found

    def check_diff(self, selector):
        other = self.selector()
        other.type = selector.type
        sides = {}
        for side, one in (("left", selector), ("right", other)):
            sides.update({side + key[0].upper() + key[1:]: value for key, value in self.given(one).items()})
        diff = self.server.get("diff", format="tree", **sides)
        expected = [self.expected_stacks(one) for one in (selector, other)]
        return ([({stack: (value,) for stack, (value, _) in stacks.items()}, profiles)
                 for stacks, profiles in expected],
                [(self.tree_stacks(diff, (side,)), diff["profiles"][i]) for i, side in enumerate(("left", "right"))])

    def check_spans(self, selector):
        by = self.dice.choice(("name", "id"))
        expected, rest = self.store.spans(selector, by == "id")
        got = self.server.get("spans", by=by, limit=10000, **self.given(selector))
        return ((expected, rest, len(expected)),
                ({row["spanId" if by == "id" else "name"]: (row["total"], row["samples"], row["spans"])
                  for row in got["spans"]}, got["rest"], got["count"]))

    def check_labels(self, selector):
        got = self.server.get("labels", **dict(self.given(selector), type=selector.type))
        wanted = {}
        for labels in self.store.series(selector, (selector.type,)):
            for name, value in labels:
                wanted.setdefault(name, set()).add(value)
        return ({name: len(values) for name, values in wanted.items()},
                {label["name"]: label["values"] for label in got["labels"]})

    def check_label(self, selector):
        label = self.dice.choice(("service_name", "host", "endpoint", "span_name", "none"))
        got = self.server.get("labels", label=label, limit=10000, **self.given(selector))
        expected = {}
        for value, profiles in self.store.label_values(selector, label).items():
            sums = list(profiles.values())
            expected[value] = (sum(sums), len(sums), statistics.fmean(sums),
                               statistics.stdev(sums) if len(sums) > 1 else 0)
        return ((sum(total for total, *_ in expected.values()), self.near(expected)),
                (got["total"], self.near({row["value"]: (row["total"], row["profiles"], row["average"], row["deviation"])
                                          for row in got["values"]})))

    @staticmethod
    def near(rows):
        return {key: (total, profiles, Near(average), Near(deviation))
                for key, (total, profiles, average, deviation) in rows.items()}

    def applications(self, selector):
        got = self.server.get("applications", query=selector.text(), **self.range_of(selector))
        return {row["name"]: sorted(row["types"]) for row in got["applications"]}

    def check_applications(self, selector):
        selector.spans = frozenset()
        return self.store.applications(selector), self.applications(selector)

    def check_timeline(self, selector):
        step = self.dice.choice((10_000, 60_000, 300_000, 3600_000, 7_777))
        while (selector.until_ms - selector.from_ms) // step > 9_000:
            step *= 10
        start, values, covered = self.store.timeline(selector, step)
        got = self.server.get("series", step=step, **self.given(selector))
        return (start, values, covered), (got["start"], got["values"], got["covered"])

    def check_steps(self, selector):
        selector.spans = frozenset()
        step = self.dice.choice((15, 60, 3600))
        selector.from_ms = max(selector.from_ms, self.oldest_ns // 10**6 + step * 1000 + 1)
        selector.until_ms = max(selector.until_ms, selector.from_ms)
        groups = self.dice.choice(([], ["service_name"], ["host", "service_name"]))
        got = self.server.call("SelectSeries", dict(
            profileTypeID=selector.type, labelSelector=selector.text(), start=selector.from_ms,
            end=selector.until_ms, groupBy=groups, step=step))
        found = {}
        for series in got.get("series", []):
            key = tuple((pair["name"], pair["value"]) for pair in series.get("labels", []))
            found[tuple(sorted(key))] = {int(point["timestamp"]): int(point["value"]) for point in series["points"]}
        return {key: points for key, points in self.store.steps(selector, step * 1000, groups).items() if points}, found

    def check_series(self, selector):
        got = self.server.call("Series", dict(start=selector.from_ms, end=selector.until_ms,
                                              matchers=[selector.text()], labelNames=[]))
        found = set()
        for entry in got.get("labelsSet", []):
            labels = {pair["name"]: pair["value"] for pair in entry["labels"]}
            found.add(tuple(sorted((name, value) for name, value in labels.items() if not name.startswith("__"))))
        selector.spans = frozenset()
        return self.store.series(selector), found

    def check_gaps(self, selector):
        ranges, before, after = self.store.gaps(selector)
        got = self.server.get("gaps", **self.given(selector))
        if self.oldest_ns:
            before, got["before"] = None, None  # "before" may be a profile that the server has not dropped yet
        return ((ranges, before, after),
                ([(one["from"], one["until"], one["profiles"]) for one in got["ranges"]], got["before"], got["after"]))

    def test_every_number_is_that_of_the_model(self):
        self.start()
        for _ in range(200):
            self.upload()
        begin = time.monotonic()
        kills, retires = begin + KILL_SECONDS, begin + SECONDS * RETIRES_AT
        while (now := time.monotonic()) < begin + SECONDS:
            if now > kills:
                kills = now + KILL_SECONDS
                self.kill()
            elif retires and now > retires:
                retires = None
                self.retire()
            elif self.dice.random() < (0.3 if len(self.store.profiles) < 2000 else 0.01):
                self.upload()
            else:
                self.check()
        self.wait_for_dropped_profiles()
        self.assertGreater(self.server.metric("spanprof_store_blocks"), 0, "nothing was compacted")
        for _ in range(100):
            self.check()
        self.assertEqual(0, self.server.end(signal.SIGTERM), self.server.output)
        print(f"seed {SEED}: {self.queries} queries, {dict(self.counts)}")


CHECKS = [name[6:] for name in dir(ModelTest) if name.startswith("check_")]

if __name__ == "__main__":
    serving.main()
