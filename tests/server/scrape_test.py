"""Scraping: profiles of real programs have the values that `go tool pprof` shows, and bad targets do not affect good ones."""
import gzip
import os
import re
import signal
import tempfile
import time
import unittest
import urllib.parse
import zlib

from messages import pprof
from scraping import (PREFIX, Recorder, Target, answer_with, go_program, go_top, has_go, jobs, metrics, wait_for)
from serving import Server, main

SANITIZED = bool(os.environ.get("SPANPROF_SANITIZED"))


def profile_of(server, profile_type, job):
    query = urllib.parse.urlencode({"format": "pprof", "query": f'{profile_type}{{job="{job}"}}', "from": "now-1h"})
    status, body = server.send("/api/v1/profile?" + query, method="GET")
    assert status == 200, body
    return body


def cpu(now_ns, ms=10):
    return pprof(((("leaf", "main"), (ms * 1_000_000,), {}),), now_ns)


@unittest.skipUnless(has_go(), "golang-go is not installed")
class GoProgram(unittest.TestCase):
    """Scrapes a Go program with net/http/pprof through a proxy, which records the program's answers."""

    TYPES = {("profile", "cpu"): "process_cpu:cpu:nanoseconds:cpu:nanoseconds",
             ("profile", "samples"): "process_cpu:samples:count:cpu:nanoseconds",
             ("goroutine", "goroutine"): "goroutine:goroutine:count:goroutine:count",
             ("heap", "inuse_space"): "memory:inuse_space:bytes:space:bytes",
             ("heap", "inuse_objects"): "memory:inuse_objects:count:space:bytes",
             ("heap", "alloc_space"): "memory:alloc_space:bytes:space:bytes",
             ("heap", "alloc_objects"): "memory:alloc_objects:count:space:bytes",
             ("mutex", "contentions"): "mutex:contentions:count:contentions:count",
             ("mutex", "delay"): "mutex:delay:nanoseconds:contentions:count",
             ("block", "contentions"): "block:contentions:count:contentions:count",
             ("block", "delay"): "block:delay:nanoseconds:contentions:count"}
    ADDED = ("alloc_space", "alloc_objects", "contentions", "delay")

    def test_stored_values_equal_those_of_go(self):
        with go_program() as address:
            recorder = Recorder(address)
            with Target(recorder) as target, \
                    jobs(("go", target.address, {"env": "test"}, {}), scrape_interval="2s") as file, \
                    Server("--scrape-config", file.name) as server:
                wait_for(lambda: len(recorder.kept) == 5 and min(map(len, recorder.kept.values())) >= 3)
                recorder.closed = True
                # A probe sends its next request after its last answer is stored. So when all five probes
                # have got the error of the closed proxy, all recorded answers are stored.
                wait_for(lambda: sum(value > 0 for (name, _, _), (value, _) in metrics(server).items()
                                     if name == "spanprof_scrape_failures_total") == 5)
                self.assertEqual("the target answered 503: no more",
                                 metrics(server)["spanprof_scrape_last_error_info", "go", "memory"][1]["error"])
                span = {"start": int(time.time() * 1000) - 600_000, "end": int(time.time() * 1000) + 60_000}
                self.assertEqual(
                    [{"__name__": "memory", "service_name": "go", "job": "go", "env": "test",
                      "instance": target.address}] * 4,
                    [{name: value for name, value in labels.items() if not name.startswith("__") or name == "__name__"}
                     for labels in server.series('{__name__="memory"}', span)])
                kept = {kind: profile_of(server, kind, "go") for kind in self.TYPES.values()}
            for (path, index), kind in self.TYPES.items():
                recorded = recorder.kept[path]
                with self.subTest(kind):
                    wanted = (go_top(recorded[-1:], index, base=recorded[0]) if index in self.ADDED
                              else go_top(recorded, index))
                    self.assertEqual(wanted, go_top([kept[kind]], index))
                    self.assertTrue(wanted)

    def test_one_url_of_one_profile(self):
        with go_program() as address, Server(
                "--scrape", f"http://{address}{PREFIX}profile?seconds=1,service_name=shop,team=b") as server:
            wait_for(lambda: metrics(server).get(("spanprof_scrape_up", address, "process_cpu"), (0,))[0])
            self.assertEqual({"process_cpu"}, {profile for _, _, profile in metrics(server)})
            span = {"start": int(time.time() * 1000) - 600_000, "end": int(time.time() * 1000) + 60_000}
            total, names = server.total("process_cpu:cpu:nanoseconds:cpu:nanoseconds",
                                        '{service_name="shop",team="b"}', span)
            self.assertGreater(total, 0)
            self.assertIn("main.burn", names)


class BadTargets(unittest.TestCase):
    """Targets with faults. A correct target is scraped at the same time."""

    @classmethod
    def setUpClass(cls):
        pack = zlib.compressobj(9, zlib.DEFLATED, 31)
        cls.BOMB = b"".join(pack.compress(bytes(1 << 20)) for _ in range(200)) + pack.flush()

    def hang(self, handler):
        time.sleep(30)

    def half(self, handler):
        answer_with(handler, 200, b"", {"Content-Length": "1000"})

    def drip(self, handler):
        handler.send_response(200)
        handler.end_headers()
        for _ in range(300):
            handler.wfile.write(b"\x0a")
            handler.wfile.flush()
            time.sleep(0.1)

    def flood(self, handler):
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(b"\0" * 65536)

    def headers(self, handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            handler.wfile.write(b"X-More: " + b"a" * 1000 + b"\r\n")

    def bomb(self, handler):
        answer_with(handler, 200, self.BOMB)

    def cut(self, handler):
        answer_with(handler, 200, gzip.compress(cpu(time.time_ns()))[:-20])

    def garbage(self, handler):
        answer_with(handler, 200, b"<html>\x1b[2Jhello</html>")

    def other(self, handler):
        answer_with(handler, 200, pprof(((("leaf",), (1,), {}),), time.time_ns(), (("goroutine", "count"),)))

    def old(self, handler):
        answer_with(handler, 200, cpu(time.time_ns() - 86_400 * 10**9))

    def redirect(self, handler):
        answer_with(handler, 302, b"", {"Location": f"http://{self.good.address}/secret"})

    def close(self, handler):
        handler.connection.close()

    def refuse(self, handler):
        answer_with(handler, 500, b"Could not enable \x1b[2J\xff CPU profiling\nat line 2\n")

    def absent(self, handler):
        answer_with(handler, 404, b"no such profile\n")

    ERRORS = {"hang": "timed out", "half": "transfer closed|timed out", "drip": "timed out",
              "flood": "larger than 2 MiB", "headers": "larger than 2 MiB, or its headers", "bomb": "more than 96 MiB",
              "cut": "refused: copy to buffer", "garbage": "refused", "other": "not a profile of the kind process_cpu",
              "old": "outside of ingestion window", "redirect": "a redirect, which is not followed",
              "close": "Empty reply|reset", "refuse": r"answered 500: Could not enable \?\[2J\? CPU profiling$",
              "absent": "answered 404"}

    def setUp(self):
        self.good = self.enter(Target(lambda handler: answer_with(handler, 200, cpu(time.time_ns()))))

    def enter(self, context):
        value = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return value

    def entries(self):
        only = {"profiling_config": {"pprof_config": {
            "process_cpu": {"path": "/pprof/profile"},
            **{name: {"enabled": False} for name in ("memory", "goroutine", "mutex", "block")}}}}
        yield "good", self.good.address, {}, only
        for name in self.ERRORS:
            yield name, self.enter(Target(getattr(self, name))).address, {}, only

    def test_bad_targets_do_not_affect_others(self):
        with tempfile.TemporaryFile("w+") as log, \
                jobs(*self.entries(), scrape_interval="1s", scrape_timeout="2s") as file:
            with Server("--scrape-config", file.name, "--upload-memory", "96M", log=log) as server:
                errors = {}

                def all_failed():
                    # Wait for the expected error, because on a busy machine any target may also time out.
                    found = metrics(server)
                    for name, error in self.ERRORS.items():
                        info = found.get(("spanprof_scrape_last_error_info", name, "process_cpu"))
                        shown = info[1]["error"].replace('\\"', '"') if info else ""
                        if re.search(error, shown):
                            errors[name] = shown
                    return len(errors) == len(self.ERRORS) and all(
                        found.get(("spanprof_scrape_failures_total", name, "process_cpu"), (0,))[0] >= 2 for name in self.ERRORS)

                begun = time.monotonic()
                wait_for(all_failed)
                took = time.monotonic() - begun
                found = metrics(server)
                for name, shown in errors.items():
                    with self.subTest(name):
                        self.assertEqual(0, found["spanprof_scrape_up", name, "process_cpu"][0])
                        self.assertLess(len(shown), 256)
                self.assertEqual(0, found["spanprof_scrape_failures_total", "good", "process_cpu"][0])
                # The good target was scraped once a second, so no bad target delayed it.
                self.assertGreaterEqual(found["spanprof_scrapes_total", "good", "process_cpu"][0], int(took) - 2)
                self.assertNotIn("/secret", self.good.paths)
                if not SANITIZED:
                    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
                        peak_kb = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
                    self.assertLess(peak_kb, 200 << 10)
                begun = time.monotonic()
                server.process.send_signal(signal.SIGTERM)
                self.assertEqual(0, server.process.wait(10))
                self.assertLess(time.monotonic() - begun, 2)
            log.seek(0)
            lines = log.read().splitlines()
            for name in self.ERRORS:
                said = [line for line in lines if f"(job {name})" in line]
                self.assertEqual(1, len(said), said)

    def test_a_missing_optional_profile_is_no_failure(self):
        def answer(handler):
            if handler.path.startswith(PREFIX + "profile"):
                answer_with(handler, 200, cpu(time.time_ns()))
            else:
                answer_with(handler, 404, b"404 page not found\n")

        with Target(answer) as target, Server("--scrape", f"http://{target.address}") as server:
            wait_for(lambda: ("spanprof_scrapes_total", target.address, "block") in metrics(server))
            found = wait_for(lambda: (lambda all_of: all_of if ("spanprof_scrape_up", target.address, "process_cpu")
                                      in all_of else None)(metrics(server)))
            self.assertEqual([("process_cpu", 1.0)], [(profile, value) for (name, _, profile), (value, _)
                                                      in found.items() if name == "spanprof_scrape_up"])
            self.assertEqual({0.0}, {value for (name, _, _), (value, _) in found.items()
                                     if name == "spanprof_scrape_failures_total"})
            self.assertIn(PREFIX + "profile?seconds=14", target.paths)


class Cumulative(unittest.TestCase):
    """Scrapes profiles whose values count from the start of the program."""

    def test_a_restart_counts_from_its_start(self):
        # The counts of two stacks in five profiles. The program restarts before the fourth one.
        counted = iter(((10, 100), (25, 100), (26, 130), (4, 7), (6, 7)))
        last = []

        def answer(handler):
            first, second = next(counted, None) or last.pop()
            last[:] = [(first, second)]
            answer_with(handler, 200, pprof(
                ((("lock", "a"), (first, 10 * first), {}), (("lock", "b"), (second, 10 * second), {})),
                time.time_ns(), (("contentions", "count"), ("delay", "nanoseconds"))))

        only = {"profiling_config": {"pprof_config": {
            "mutex": {"path": "/mutex"},
            **{name: {"enabled": False} for name in ("memory", "goroutine", "process_cpu", "block")}}}}
        with Target(answer) as target, jobs(("m", target.address, {}, only), scrape_interval="1s") as file, \
                Server("--scrape-config", file.name) as server:
            wait_for(lambda: metrics(server).get(("spanprof_scrapes_total", "m", "mutex"), (0,))[0] >= 7)
            span = {"start": int(time.time() * 1000) - 600_000, "end": int(time.time() * 1000) + 60_000}
            # The increases are 15 + 0, 1 + 30, after the restart 4 + 7, and 2 + 0. The equal profiles
            # that follow add nothing.
            self.assertEqual(15 + 31 + 11 + 2, server.total("mutex:contentions:count:cpu:nanoseconds",
                                                            '{service_name="m"}', span)[0])
            self.assertEqual(10 * (15 + 31 + 11 + 2), server.total("mutex:delay:nanoseconds:cpu:nanoseconds",
                                                                   '{service_name="m"}', span)[0])


class Access(unittest.TestCase):
    def test_credentials_are_sent_and_never_printed(self):
        credentials = []

        def answer(handler):
            credentials.append(handler.headers["Authorization"])
            answer_with(handler, 401, b"who are you?\n")

        with Target(answer) as target, tempfile.TemporaryFile("w+") as log, \
                jobs(("bearer", target.address, {}, {"authorization": {"credentials": "s3cret"}}),
                     ("basic", target.address, {}, {"basic_auth": {"username": "u", "password": "s3cret"}}),
                     scrape_interval="1s") as file:
            with Server("--scrape-config", file.name, "--scrape", f"http://u:s3cret@{target.address}/debug/pprof/",
                        log=log) as server:
                wait_for(lambda: len(credentials) >= 15)
                shown = server.send("/metrics", method="GET")[1].decode()
            log.seek(0)
            self.assertNotIn("s3cret", shown + log.read())
            self.assertEqual({"Bearer s3cret", "Basic dTpzM2NyZXQ="}, set(credentials))

    def test_a_renewed_secret_is_read_again(self):
        credentials = []

        def answer(handler):
            credentials.append(handler.headers["Authorization"])
            answer_with(handler, 401, b"who are you?\n")

        with Target(answer) as target, tempfile.NamedTemporaryFile("w+") as token:
            print("old", file=token, flush=True)
            with jobs(("job", target.address, {}, {"authorization": {"credentials_file": token.name}}),
                      scrape_interval="1s") as file, Server("--scrape-config", file.name):
                wait_for(lambda: "Bearer old" in credentials)
                token.seek(0)
                print("new", file=token, flush=True)
                wait_for(lambda: "Bearer new" in credentials)


if __name__ == "__main__":
    main()
