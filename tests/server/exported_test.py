"""Exported metrics: each value is equal to the sum of the query in the metric's rule."""
import json
import random
import re
import subprocess
import tempfile
import time
import unittest
import urllib.parse

from messages import pprof, push
from serving import PROGRAM, Server, main

HEADERS = {"Content-Type": "application/proto"}
SERVICES = ("shop", "mail", 'odd"\\name')
SPANS = (None, "GET /", "POST /pay")
FUNCTIONS = ("main", "work", "worker", "parse", "render")

RULES = (
    "name=all_total,query={}",
    "name=shop_cpu_total,query=shop.cpu,node=total",
    'name=shop_pay_total,query=shop.cpu{span_name="POST /pay",host=~"a|b"},node=total',
    'name=not_mail_total,query={service_name!="mail", span_name!~"GET.*"}',
    "name=work_total,query=shop.cpu,node=work",
    "name=works_total,query=shop.cpu,node=~work.*",
    "name=by_span_total,query=shop.cpu,group_by=span_name",
    'name=by_both_total,query={host="a"},node=parse,group_by=service_name;span_name,labels=team=web;host',
)


def exported(server):
    """Return the exported metrics as {name: {labels: text of the value}}."""
    status, body = server.send("/exported-metrics", method="GET")
    assert status == 200, body
    found = {}
    for line in body.decode().splitlines():
        if line.startswith("#"):
            continue
        name, labels, value = re.fullmatch(r"([a-zA-Z_:][\w:]*)(\{.*\})? (\S+)", line).groups()
        pairs = {key: json.loads(f'"{text}"') for key, text in re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or "")}
        assert found.setdefault(name, {}).setdefault(tuple(sorted(pairs.items())), value) is value, line
    return found


def query_sum(server, query, function=None):
    """Return the sum of the stacks of a query, or of those that contain a function."""
    parameters = {"query": query, "from": "now-1h", "until": "now+1h", "format": "folded"}
    status, body = server.send("/api/v1/profile?" + urllib.parse.urlencode(parameters), method="GET")
    assert status == 200, body
    stacks = [line.rsplit(" ", 1) for line in body.decode().splitlines()]
    return sum(int(value) for stack, value in stacks
               if function is None or any(re.search(function, frame) for frame in stack.split(";")))


def send(server, seed, service):
    chance = random.Random(seed)
    samples = []
    for _ in range(40):
        labels = {"host": chance.choice("abc"), "span_name": chance.choice(SPANS)}
        stack = tuple(chance.sample(FUNCTIONS[1:], 3)) + ("main",)
        samples.append((stack, (chance.randrange(1, 50) * 10_000_000,),
                        {name: value for name, value in labels.items() if value}))
    body = push({"__name__": "process_cpu", "service_name": service}, pprof(samples, time.time_ns() - seed * 10**9))
    return lambda: server.send("/push.v1.PusherService/Push", body, HEADERS)[0]


class ExportedTest(unittest.TestCase):
    def fill(self, server):
        for seed in range(24):
            upload = send(server, seed, SERVICES[seed % 3])
            self.assertEqual(200, upload())
            if seed % 5 == 0:
                self.assertEqual(200, upload())  # a retry counts once

    def check(self, server):
        found = exported(server)
        whole = {"all_total": ("{}", None), "shop_cpu_total": ("shop.cpu", None),
                 "shop_pay_total": ('shop.cpu{span_name="POST /pay",host=~"a|b"}', None),
                 "not_mail_total": ('{service_name!="mail", span_name!~"GET.*"}', None),
                 "work_total": ("shop.cpu", "^work$"), "works_total": ("shop.cpu", "work")}
        for name, (query, function) in whole.items():
            with self.subTest(name):
                value = query_sum(server, query, function)
                self.assertGreater(value, 0)
                self.assertEqual({(): str(value)}, found[name])
        groups = {}
        for span in SPANS:
            key = (("span_name", span),) if span else ()
            groups[key] = str(query_sum(server, f'shop.cpu{{span_name="{span or ""}"}}'))
        self.assertEqual(groups, found["by_span_total"])
        groups = {}
        for service in SERVICES:
            for span in SPANS:
                key = {"host": "a", "service_name": service, "team": "web", **({"span_name": span} if span else {})}
                query = '{service_name=%s,host="a",span_name="%s"}' % (json.dumps(service), span or "")
                groups[tuple(sorted(key.items()))] = str(query_sum(server, query, "parse"))
        self.assertEqual(groups, found["by_both_total"])
        self.assertEqual({"0"}, set(found["spanprof_exported_metrics_overflow_total"].values()))

    def test_each_value_is_the_sum_of_its_query(self):
        rules = [word for rule in RULES for word in ("--metric", rule)]
        with Server(*rules) as server:
            self.fill(server)
            self.check(server)

    def test_a_file_has_pyroscope_s_keys(self):
        rules = {
            "all_total": {"expr": "{}"}, "shop_cpu_total": {"expr": "shop.cpu", "node": "total"},
            "shop_pay_total": {"expr": 'shop.cpu{span_name="POST /pay",host=~"a|b"}'},
            "not_mail_total": {"expr": '{service_name!="mail", span_name!~"GET.*"}'},
            "work_total": {"expr": "shop.cpu", "node": "work"}, "works_total": {"expr": "shop.cpu", "node": "~work.*"},
            "by_span_total": {"expr": "shop.cpu", "labels": ["span_name"]},
            "by_both_total": {"expr": '{host="a"}', "node": "parse", "group_by": ["service_name", "span_name", "host"],
                              "labels": {"team": "web"}}}
        lines = ["# as classic Pyroscope had them", "metrics-export-rules:"]
        for name, rule in rules.items():
            lines += [f"  {name}:"] + [f"    {key}: {json.dumps(value)}" for key, value in rule.items() if key != "expr"]
            lines += [f"    expr: '{rule['expr']}'"]
        for whole in (json.dumps(rules), json.dumps({"metrics-export-rules": rules}, indent=1), "\n".join(lines)):
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(whole)
                file.flush()
                with Server("--metrics", file.name) as server:
                    self.fill(server)
                    self.check(server)

    def test_a_name_in_seconds_has_seconds_and_types_are_separate(self):
        with Server("--metric", "name=shop_cpu_seconds_total,query=shop.cpu",
                    "--metric", "name=shop_samples_total,query=shop.cpu,type=samples",
                    "--metric", "name=shop_wall_total,query=shop.wall") as server:
            for seed in range(3):
                self.assertEqual(200, send(server, seed, "shop")())
            value = query_sum(server, "shop.cpu")
            found = exported(server)
            self.assertEqual({(): f"{value // 10**9}.{value % 10**9:09}"}, found["shop_cpu_seconds_total"])
            self.assertEqual({(): "0"}, found["shop_wall_total"])
            self.assertEqual({(): "0"}, found["shop_samples_total"])

    def test_a_type_also_counts_by_its_former_name(self):
        with Server("--metric", "name=goroutines_total,query=shop.goroutines") as server:
            for metric, value in (("goroutine", 5), ("goroutines", 7), ("threads", 11)):
                body = pprof(((("main",), (value,), {}),), time.time_ns(), (("goroutine", "count"),),
                             period_type=("goroutine", "count"))
                body = push({"__name__": metric, "service_name": "shop"}, body)
                self.assertEqual(200, server.send("/push.v1.PusherService/Push", body, HEADERS)[0])
            self.assertEqual({(): "12"}, exported(server)["goroutines_total"])

    def test_refused_uploads_do_not_count_and_a_start_begins_at_zero(self):
        with tempfile.TemporaryDirectory() as data:
            with Server("--data", data, "--metric", "name=all_total,query={}") as server:
                self.assertEqual(200, send(server, 1, "shop")())
                value = exported(server)["all_total"][()]
                old = push({"__name__": "process_cpu", "service_name": "shop"},
                           pprof(((("main",), (10**7,), {}),), time.time_ns() - 7200 * 10**9))
                self.assertEqual(400, server.send("/push.v1.PusherService/Push", old, HEADERS)[0])
                self.assertEqual(value, exported(server)["all_total"][()])
            with Server("--data", data, "--metric", "name=all_total,query={}") as server:
                self.assertEqual({(): "0"}, exported(server)["all_total"])
                self.assertEqual(200, send(server, 2, "shop")())
                self.assertEqual(query_sum(server, "{}"), int(value) + int(exported(server)["all_total"][()]))

    def test_values_beyond_a_thousand_series_are_counted_together(self):
        with Server("--metric", "name=by_span_total,query={},group_by=span_name") as server:
            for piece in range(3):
                samples = [(("main",), (10_000_000,), {"span_name": f"{piece}-{i}"}) for i in range(400)]
                body = push({"__name__": "process_cpu", "service_name": "shop"}, pprof(samples, time.time_ns() - piece))
                self.assertEqual(200, server.send("/push.v1.PusherService/Push", body, HEADERS)[0])
            found = exported(server)
            self.assertEqual(1000, len(found["by_span_total"]))
            self.assertEqual("2000000000", found["spanprof_exported_metrics_overflow_total"][(("metric", "by_span_total"),)])
            self.assertEqual(query_sum(server, "{}"), 12_000_000_000)

    def test_a_token_is_required(self):
        with Server("--token", "secret", "--metric", "name=a,query={}") as server:
            self.assertEqual(401, server.send("/exported-metrics", method="GET")[0])
            self.assertEqual(200, server.send("/exported-metrics", method="GET",
                                              headers={"Authorization": "Bearer secret"})[0])

    def test_an_invalid_rule_has_one_message(self):
        for rule, says in (("query={}", "name is missing"), ("name=a", "query is missing"),
                           ("name=a-b,query={}", "not a valid name of a metric"),
                           ("name=a,query={x", "parse error"), ("name=a,query={},node=", "node is empty"),
                           ("name=a,query={},node=~(", "regexp"), ("name=a,query={},sort=b", 'unknown key "sort"'),
                           ("name=a,query={},name=b", "name is given twice"), ("name=a,query={},group_by=span_id", "each span"),
                           ('name=a,query={profile_id="1"}', "each span"), ("name=a,query={},group_by=b;b", "twice"),
                           ("name=a,query={},group_by=__name__", "label __name__"),
                           ("name=a,query={},labels=b.c=d", "Prometheus"), ("name=a,query={},type=lunch", "profile type"),
                           ("name=a,query={},node", "not KEY=VALUE")):
            with self.subTest(rule), tempfile.TemporaryDirectory() as data:
                done = subprocess.run([PROGRAM, "--data", data, "--listen", "127.0.0.1:0", "--metric", rule],
                                      capture_output=True, text=True, timeout=30)
                self.assertEqual(1, done.returncode)
                self.assertIn(says, done.stderr)
                self.assertEqual(1, done.stderr.count("\n"), done.stderr)
        for text, says in (("{", "the file is not valid YAML"), ("[]", "line 1: the file is not a map"),
                           ('{"a": 1}', "not a map"),
                           ('{"a": {}}', "no expr"), ("a:\n  expr: b.cpu\n  nodes: c\n", 'did you mean node?'),
                           ("a:\n  expr: b.cpu\n  group_by: b\n", "line 3: metric a: group_by must be a list"),
                           ("a: {expr: b.cpu}\nb: {expr: '{x'}\n", "line 2: "),
                           ("a: {expr: b.cpu, labels: {c: [d]}}", "c in labels is not a text")):
            with self.subTest(text), tempfile.NamedTemporaryFile("w") as file:
                file.write(text)
                file.flush()
                done = subprocess.run([PROGRAM, "--listen", "127.0.0.1:0", "--metrics", file.name],
                                      capture_output=True, text=True, timeout=30)
                self.assertEqual(1, done.returncode)
                self.assertIn(says, done.stderr)
                self.assertIn(file.name, done.stderr)


if __name__ == "__main__":
    main()
