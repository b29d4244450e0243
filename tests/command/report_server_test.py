#!/usr/bin/env python3
"""`spanprof report --server`: a report of a server equals the report of the files that were uploaded
to it.
"""

import collections
import glob
import http.server
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

from html_page import Page, stacks
from made_profile import Profile

COMMAND = os.environ["SPANPROF_COMMAND"]
BURN = os.environ["SPANPROF_BURN"]

# The parent of each span that burn.c starts if it nests spans; "" for the root.
NESTED = {"fe00000000000001": "", "fe00000000000002": "fe00000000000001", "fe00000000000003": "fe00000000000002",
          "fe00000000000004": "fe00000000000003", "fe00000000000005": "fe00000000000001"}


def run(*arguments, status=0, **environment):
    done = subprocess.run([COMMAND, *arguments], text=True, capture_output=True, timeout=60,
                          env={"PYROSCOPE_" + name: value for name, value in environment.items()})
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done


class Server:
    def __init__(self, *options):
        self.data = tempfile.mkdtemp(prefix="spanprof-served-")
        self.process = subprocess.Popen([COMMAND, "serve", "--listen", "127.0.0.1:0", "--data", self.data, *options],
                                        stdout=subprocess.PIPE, text=True)
        self.address = re.search(r"http://[^,]+", self.process.stdout.readline())[0]

    def close(self):
        self.process.terminate()
        code = self.process.wait(30)
        self.process.stdout.close()
        shutil.rmtree(self.data)
        assert code == 0, f"the server ended with {code}"

    def report(self, *arguments, **more):
        return run("report", "--server", self.address, *arguments, **more)

    def json(self, *arguments):
        return json.loads(self.report("--json", *arguments).stdout)


def without_files(found):
    """Removes what a server does not store: modules, which distinguish functions of one name, and
    comments, which have the number of ticks per signal. Without the comments, numbers of samples
    differ, too; other checks compare those of the server.
    """
    if isinstance(found, list):
        return [without_files(one) for one in found]
    if not isinstance(found, dict):
        return found
    kept = {key: without_files(value) for key, value in found.items()
            if key not in ("file", "comments", "functions") and not key.endswith("samples")}
    if "functions" in found:
        kept["functions"] = collections.Counter()
        for row in found["functions"]:
            kept["functions"][row["name"]] += row.get("self", 0)
    return kept


def folded(text):
    stacks = collections.Counter()
    for line in text.splitlines():
        stack, value = line.rsplit(" ", 1)
        stacks[stack] += int(value)
    return stacks


def tree(text):
    """Returns the calls without modules and numbers of samples, and without clock_gettime, which is
    in two modules."""
    text = re.sub(r"  (\S+\.so\S*|\[vdso\]|command_burn)$", "", text, flags=re.M)
    return sorted(re.sub(r"(%) +\d+ +(\d+%|\?)? ", r"\1 ", line) for line in text.splitlines()
                  if "clock_gettime" not in line and "samples" not in line)


class ReportServerTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="spanprof-report-")
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        done = subprocess.run([BURN, cls.directory, "nested"], text=True, timeout=60, check=True,
                              capture_output=True, env={"PYROSCOPE_LABELS": "region=eu"})
        names = dict(line.split(" ", 1) for line in done.stdout.splitlines())
        cls.server = Server()
        cls.addClassCleanup(cls.server.close)
        run("upload", "--server", cls.server.address, cls.directory)
        now = time.time_ns()
        spans = [{"traceId": "0a" * 16, "spanId": span, "parentSpanId": NESTED[span], "name": name,
                  "startTimeUnixNano": str(now), "endTimeUnixNano": str(now + 10**9)} for span, name in names.items()]
        body = {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": spans}]}]}
        urllib.request.urlopen(urllib.request.Request(
            cls.server.address + "/v1/traces", json.dumps(body).encode(), {"Content-Type": "application/json"})).close()

    def files(self, *arguments):
        return json.loads(run("report", "--json", *arguments, self.directory).stdout)

    def assert_same(self, *arguments):
        """Checks that each number in the report of the server equals that in the report of the
        files."""
        ours = self.server.json(*arguments)
        self.assertEqual(without_files(self.files(*arguments)), without_files(ours))
        self.assertEqual(ours["value"], ours["samples"] * 10**7)  # The sample rate is 100 Hz.
        for row in ours.get("span_names", []):
            self.assertEqual((row["total"], row["self"]),
                             (row["total_samples"] * 10**7, row["self_samples"] * 10**7))
        return ours

    def test_spans_equal_those_of_the_files(self):
        found = self.assert_same()
        self.assertGreater(found["profiles"], 1)
        totals = {row["name"]: row for row in found["span_names"]}
        self.assertGreater(totals["outer"]["total"], totals["outer"]["self"])
        self.assertLess(totals["wrapper"]["self"], totals["wrapper"]["total"] / 10)

    def test_every_filter_selects_the_same_as_with_files(self):
        for filter in (["--span", "fe00000000000003"], ["--span", "fe00000000000003", "--self"],
                       ["--span-name", "wrapper"], ["--label", "region=eu"], ["--label", "region=us"],
                       ["--focus", "burn_nested"], ["--ignore", "burn_nested"], ["--application", "burn"],
                       ["--type", "cpu"], ["--peek", "burn_leaf"], ["--group-by", "region"],
                       ["--group-by", "service_name"], ["--sort", "total"]):
            with self.subTest(filter):
                found = self.assert_same(*filter)
                self.assertEqual(filter != ["--label", "region=us"], found["samples"] > 0)

    def test_folded_stacks_and_the_tree_are_the_same(self):
        for shape, read in (("--folded", folded), ("--tree", tree)):
            ours, theirs = self.server.report(shape).stdout, run("report", shape, self.directory).stdout
            self.assertEqual(read(theirs), read(ours))
            self.assertGreaterEqual(len(read(ours)), 5)  # stacks of four nested spans, and of no span

    def test_a_query_selects_series_and_a_diff_compares_two_queries(self):
        server = Server()
        self.addCleanup(server.close)
        path = os.path.join(server.data, "base.pb")
        now = time.time_ns()
        Profile(time_ns=now - 600 * 10**9, duration_ns=10**10).add(
            100, "main", "slow", span_name="outer", profile_id="ab" * 8).comment(
                "label __name__=process_cpu").comment("label service_name=base").write(path)
        run("upload", "--server", server.address, self.directory, path)
        found = server.json("--query", "base.cpu")
        self.assertEqual((1, 10**9, 100), (found["profiles"], found["total"], found["samples"]))
        outer = self.files("--span-name", "outer", "--self")["value"]
        self.assertEqual(outer, server.json("--query", 'burn.cpu{span_name="outer"}')["value"])
        diff = server.json("--query", "burn.cpu", "--diff", "base.cpu")
        row = next(row for row in diff["span_names"] if row["name"] == "outer")
        self.assertEqual(10**9, row["base"])
        earlier = server.json("--query", '{service_name=~"burn|base"}', "--from", "-1m", "--diff-from", "-20m",
                              "--diff-until", "-5m")
        self.assertEqual(10**9, earlier["base"]["value"])
        server.report("--query", "burn.cpu", "--diff", "base.cpu", "--fail-above", "1%", "--normalize", status=3)

    def page(self, *arguments):
        """Writes a report as a page, and returns the data of the page."""
        path = os.path.join(self.directory, os.pardir, os.path.basename(self.directory) + ".html")
        done = subprocess.run([COMMAND, "report", "--html", path, *arguments], text=True, capture_output=True, timeout=60)
        if "this build has no page" in done.stderr:
            self.skipTest("this build has no page")
        self.assertEqual((0, "", ""), (done.returncode, done.stdout, done.stderr))
        with open(path, encoding="utf-8") as file:
            held = json.loads(Page(file.read()).data)
        os.remove(path)
        return held

    def test_the_page_equals_that_of_the_files(self):
        def compared(held):
            now = held["now"]
            # Compare spans by id.
            spans = {row["spanId"]: (row["name"], row["self"], row["total"]) for row in now["spans"]}
            names = {row["name"]: (row["self"], row["total"], sum(row["nodes"]["self"])) for row in now["spanNames"]}
            return stacks(now["tree"]), now["samples"] > 0, spans, names

        for filter in ([], ["--span", "fe00000000000003"], ["--span", "fe00000000000003", "--self"],
                       ["--span-name", "wrapper"], ["--label", "region=eu"], ["--label", "region=us"],
                       ["--focus", "burn_nested"], ["--ignore", "burn_nested"], ["--application", "burn"],
                       ["--type", "cpu"], ["--from", "-1h"], ["--until", "now"]):
            with self.subTest(filter):
                ours = self.page("--server", self.server.address, *filter)
                self.assertEqual(compared(self.page(*filter, self.directory)), compared(ours))
                self.assertEqual(filter != ["--label", "region=us"], ours["now"]["samples"] > 0)

    def test_the_page_of_a_server_compares_queries_and_times(self):
        server = Server()
        self.addCleanup(server.close)
        path = os.path.join(server.data, "base.pb")
        Profile(time_ns=time.time_ns() - 600 * 10**9, duration_ns=10**10).add(
            100, "main", "slow", span_name="outer", profile_id="ab" * 8).comment(
                "label __name__=process_cpu").comment("label service_name=base").write(path)
        run("upload", "--server", server.address, self.directory, path)
        asked = ["--server", server.address]
        times = ["--from", "-1m", "--diff-from", "-20m", "--diff-until", "-5m"]
        self.assertEqual("all applications", self.page(*asked)["title"])
        self.assertEqual("burn.cpu, outer", self.page(*asked, "--query", "burn.cpu", "--span-name", "outer")["title"])
        for title, arguments in (("burn.cpu compared with base.cpu", ["--query", "burn.cpu", "--diff", "base.cpu"]),
                                 ("all applications compared with another time", times),
                                 ("all applications, outer compared with another time", [*times, "--span-name", "outer"])):
            with self.subTest(title):
                held = self.page(*asked, *arguments)
                self.assertEqual(title, held["title"])
                self.assertEqual({("main", "slow"): 10**9}, stacks(held["base"]["tree"]))
                self.assertNotIn(("main", "slow"), stacks(held["now"]["tree"]))
                self.assertLess(held["base"]["untilMs"], held["now"]["fromMs"])

    def test_labels_of_a_server_are_listed(self):
        listed = run("labels", "--server", self.server.address, "--query", "burn.cpu").stdout
        self.assertIn("region", listed)
        self.assertIn("span_name", listed)

    def test_an_empty_result_names_the_nearest_profile(self):
        message = self.server.report("--query", "burn.cpu", "--from", "-3h", "--until", "-2h", status=1).stderr
        self.assertRegex(message, r"nothing found for burn\.cpu from .* to .*; the nearest profile is from \d{4}-")
        message = self.server.report("--query", "nobody.cpu", status=1).stderr
        self.assertIn("nothing found for nobody.cpu", message)
        self.assertNotIn("nearest", message)
        self.assertIn("to query an application, write burn.cpu", self.server.report("--query", "burn", status=1).stderr)
        message = self.server.report("--query", "{burn", status=1).stderr
        self.assertIn("answered 400: 1:", message)
        message = self.server.report("--query", '{pod-name="a"}', status=1).stderr
        self.assertIn('in quotes, as in {"pod-name"="VALUE"}', message)
        self.assertIn("type", self.server.report("--type", "lunch", status=1).stderr)

    def test_an_unreachable_or_other_server_is_reported(self):
        message = run("report", "--server", "http://127.0.0.1:1", status=1).stderr
        self.assertRegex(message, r"^spanprof report: no answer from http://127\.0\.0\.1:1: .*\n$")

        class Other(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b"<html>welcome")

            def log_message(self, *_):
                pass
        other = http.server.HTTPServer(("127.0.0.1", 0), Other)
        self.addCleanup(other.server_close)
        threading.Thread(target=other.handle_request, daemon=True).start()
        message = run("report", "--server", f"http://127.0.0.1:{other.server_port}", status=1).stderr
        self.assertRegex(message, "answered 200, but is not a `spanprof serve`")

    def test_the_token_comes_from_option_or_environment(self):
        server = Server("--token", "secret")
        self.addCleanup(server.close)
        run("upload", "--server", server.address, self.directory, AUTH_TOKEN="secret")
        for wrong in ({}, {"AUTH_TOKEN": "other"}):
            message = server.report(status=1, **wrong).stderr
            self.assertRegex(message, "refuses the token: set --token or PYROSCOPE_AUTH_TOKEN")
        whole = server.report("--folded", "--token", "secret").stdout
        self.assertEqual(whole, server.report("--folded", AUTH_TOKEN="secret").stdout)
        self.assertEqual(whole, run("report", "--query", "burn.cpu", "--folded", AUTH_TOKEN="secret",
                                    SERVER_ADDRESS=server.address).stdout)

    def test_conflicting_options_are_refused(self):
        some = glob.glob(self.directory + "/*")[0]
        for arguments, message in ((["--server", "http://a", some], "cannot be combined"),
                                (["--diff-from", "-1h", some], "--server"),
                                (["--token", "a", some], "--server"), (["--query", "a", "--process", "1"], "--process"),
                                (["--query", "a", "--application", "a"], "cannot be combined"),
                                (["--query", "a", "--diff", "a", "--diff", "b"], "possible only once"),
                                (["--query", "a"], "set --server or PYROSCOPE_SERVER_ADDRESS")):
            with self.subTest(arguments):
                done = subprocess.run([COMMAND, "report", *arguments], text=True, capture_output=True, env={}, timeout=60)
                self.assertIn(done.returncode, (1, 2))
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
