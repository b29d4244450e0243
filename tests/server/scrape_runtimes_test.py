"""Scraping of programs in other languages: Node with its own profiler, and Ruby and Python
with spanprof's gem and package, with spans."""
import contextlib
import glob
import json
import os
import re
import shutil
import subprocess
import time
import unittest
import urllib.parse

from scraping import HERE, Recorder, Target, go_top, has_go, jobs, metrics, wait_for
from serving import Server, main

TOP = HERE.parents[1]
BUILD = TOP / "build"


@contextlib.contextmanager
def program(*command, **environment):
    """Start a program. Yields the address that the first line of its output contains."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}) as process:
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def works(*command, **environment):
    return shutil.which(command[0]) and subprocess.run(
        command, capture_output=True, env={**os.environ, **environment}, check=False, timeout=60).returncode == 0


def ruby():
    """Return (command, environment) of a Ruby with the gem that the tests have installed or compiled, or None."""
    version = subprocess.run(["ruby", "-e", "print RUBY_VERSION[/\\d+\\.\\d+/]"], capture_output=True, text=True,
                             check=False).stdout if shutil.which("ruby") else ""
    gems = f"{BUILD}/gems/{version}"
    for paths in ({"GEM_PATH": f"{BUILD}/ruby-{version}:{gems}"},
                  {"GEM_PATH": gems, "RUBYLIB": f"{TOP}/ruby/lib:{BUILD}/ruby/lib"}):
        if works("ruby", "-e", "require 'spanprof'; require 'opentelemetry/sdk'; exit Spanprof.available?", **paths):
            return ["ruby"], paths
    return None


def python():
    """Return (command, environment) of a Python with spanprof's package, or None."""
    candidates = [(path, {}) for path in sorted(glob.glob(f"{BUILD}/python-3.*/bin/python"))]
    candidates += [("/usr/bin/python3", {"PYTHONPATH": f"{TOP}/python/src:{path}"})
                   for path in sorted(glob.glob(f"{BUILD}/python-packages/3.*"))]
    for path, paths in candidates:
        if works(path, "-c", "import sys, spanprof, opentelemetry.sdk; sys.exit(not spanprof.available())", **paths):
            return [path], paths
    return None


class Node(unittest.TestCase):
    @unittest.skipUnless(shutil.which("node") and has_go(), "node or golang-go is not installed")
    def test_wall_time_equals_that_of_go(self):
        # Run Node without the JIT compiler, because V8 sometimes counts the time of compiled code for its caller.
        with program("node", "--jitless", str(HERE / "scraped" / "node.js")) as address:
            recorder = Recorder(address)
            with Target(recorder) as target, jobs(("node", target.address, {}, {}), scrape_interval="2s") as file, \
                    Server("--scrape-config", file.name) as server:
                wait_for(lambda: len(recorder.kept.get("profile", ())) >= 2)
                found = metrics(server)
                self.assertGreater(found["spanprof_scrapes_total", "node", "memory"][0], 0)
                # The program has no heap profile, which does not count as a failure.
                self.assertNotIn(("spanprof_scrape_up", "node", "memory"), found)
                recorder.closed = True
                wait_for(lambda: metrics(server).get(
                    ("spanprof_scrape_failures_total", "node", "process_cpu"), (0,))[0] > 0)
                query = urllib.parse.urlencode({"format": "pprof", "from": "now-1h",
                                                "query": 'wall:wall:nanoseconds:wall:nanoseconds{job="node"}'})
                status, body = server.send("/api/v1/profile?" + query, method="GET")
            self.assertEqual(200, status, body)
            wanted = go_top(recorder.kept["profile"], "wall")
            self.assertIn("burnInNode", wanted)
            self.assertEqual(wanted, go_top([body], "wall"))


class Ours(unittest.TestCase):
    def check(self, function, command, environment):
        with program(*command, **environment) as address, jobs(
                ("shop", address, {}, {}), scrape_interval="2s") as file, Server("--scrape-config", file.name) as server:
            wait_for(lambda: metrics(server).get(("spanprof_scrapes_total", "shop", "process_cpu"), (0,))[0] >= 2)
            found = metrics(server)
            self.assertEqual(1, found["spanprof_scrape_up", "shop", "process_cpu"][0], found)
            self.assertEqual({"process_cpu"}, {kind for name, _, kind in found if name == "spanprof_scrape_up"})
            status, body = server.send("/api/v1/spans?from=now-1h", method="GET")
            self.assertEqual(200, status, body)
            (row,) = json.loads(body)["spans"]
            self.assertEqual(("GET /orders", "shop"), (row["name"], row["service"]))
            self.assertGreater(row["total"], 0)
            self.assertGreater(row["spans"], 1)
            span = {"start": int(time.time() * 1000) - 600_000, "end": int(time.time() * 1000) + 60_000}
            total, names = server.total("process_cpu:cpu:nanoseconds:cpu:nanoseconds",
                                        '{service_name="shop",span_name="GET /orders"}', span)
            self.assertEqual(row["total"], total)
            self.assertTrue(any(re.search(rf"\b{function}$", name) for name in names), names)

    def test_ruby_by_rack(self):
        found = ruby()
        if not found:
            self.skipTest("run `tests/run ruby` or `rake compile` first; OpenTelemetry is required")
        self.check("burn_in_ruby", [*found[0], str(HERE / "scraped" / "rack.rb")], found[1])

    def test_python_by_wsgi(self):
        found = python()
        if not found:
            self.skipTest("run `tests/run python` first; OpenTelemetry is required")
        self.check("burn_in_python", [*found[0], str(HERE / "scraped" / "wsgi.py")], found[1])


if __name__ == "__main__":
    main()
