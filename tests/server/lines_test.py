"""/api/v1/lines: the values of one function by line, which are those of `spanprof report --lines`."""
import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest
import urllib.parse

import messages
import serving

SPAN = "00000000000000a1"
# Innermost frame first.
SAMPLES = [
    ((("price", 12), ("total", 30), ("main", 3)), (30_000_000,), {}),
    ((("price", 14), ("total", 30), ("main", 3)), (20_000_000,), {}),
    ((("price", 12), ("price", 14), ("price", 12), ("main", 4)), (50_000_000,), {"span_id": SPAN}),
    ((("tax", 40), ("price", 14), ("price", 14), ("main", 4)), (10_000_000,), {"span_id": SPAN}),
    ((("price", 0), ("main", 4)), (5_000_000,), {}),
]


def push(server, file="/app/cart.rb", samples=SAMPLES):
    body = messages.push({"service_name": "shop", "__name__": "process_cpu"},
                         messages.pprof(samples, time.time_ns() - 10**9, file=file))
    status, reply = server.send("/push.v1.PusherService/Push", body, {"Content-Type": "application/proto"})
    assert status == 200, reply


def call_lines(server, **parameters):
    status, body = server.send("/api/v1/lines?" + urllib.parse.urlencode(parameters), method="GET")
    return status, json.loads(body)


def rows(reply):
    """Return {line: (self, total)}."""
    lines = reply["lines"]
    return dict(zip(lines["line"], zip(lines["self"], lines["total"])))


class LinesTest(unittest.TestCase):
    def test_a_line_counts_once_in_a_sample(self):
        with serving.Server() as server:
            push(server)
            status, reply = call_lines(server, query='{service_name="shop"}', function="price", file="/app/cart.rb")
            self.assertEqual((200, "cpu", "nanoseconds"), (status, reply["type"], reply["unit"]))
            self.assertEqual({0: (5_000_000, 5_000_000), 12: (80_000_000, 80_000_000), 14: (20_000_000, 80_000_000)},
                             rows(reply))
            self.assertEqual((105_000_000, 115_000_000, 115_000_000), (reply["self"], reply["total"], reply["all"]))
            _, reply = call_lines(server, query='{service_name="shop"}', function="price", file="/other.rb")
            self.assertEqual(({}, 0, 115_000_000), (rows(reply), reply["total"], reply["all"]))
            status, reply = call_lines(server, query='{service_name="shop"}')
            self.assertEqual((400, "function is missing"), (status, reply["detail"]))

    def test_a_selection_of_a_span(self):
        with serving.Server() as server:
            push(server)
            _, reply = call_lines(server, query='{service_name="shop"}', function="price", span=SPAN)
            self.assertEqual({12: (50_000_000, 50_000_000), 14: (0, 60_000_000)}, rows(reply))
            _, reply = call_lines(server, query='{service_name="shop",span_name="none"}', function="price")
            self.assertEqual(({}, 0), (rows(reply), reply["all"]))

    @unittest.skipUnless("SPANPROF_COMMAND" in os.environ, "SPANPROF_COMMAND is not set")
    def test_the_lines_are_those_of_the_report(self):
        with serving.Server() as server:
            push(server)
            push(server, "/app/tax.rb", SAMPLES[:2])
            done = subprocess.run([os.environ["SPANPROF_COMMAND"], "report", "--server", server.base, "--application", "shop",
                                   "--from", "-1h", "--json", "--lines", "--top", "0"],
                                  capture_output=True, text=True, check=True)
            found = {}
            for row in json.loads(done.stdout)["functions"]:
                found.setdefault((row["name"], row["file"]), {})[row["line"]] = row["self"], row["total"]
            self.assertEqual(7, len(found))
            for (name, file), expected in found.items():
                _, reply = call_lines(server, query='{service_name="shop"}', function=name, file=file)
                self.assertEqual(expected, rows(reply), name)


class SourceTest(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.shop = pathlib.Path(self.place.name, "shop")
        (self.shop / "models").mkdir(parents=True)
        self.file = self.shop / "models/cart.rb"

    def source(self, server, **parameters):
        status, reply = call_lines(server, query='{service_name="shop"}', function="price", **parameters)
        self.assertEqual(200, status, reply)
        return reply.get("source", "missing")

    def test_the_text_around_the_lines(self):
        text = [f"line {line}" for line in range(1, 31)]
        text[12] = "  \ttab <b>\u00e9\u202e"
        self.file.write_text("\n".join(text).replace("line 16", "line 16\r"), "utf-8")
        os.utime(self.file, (time.time() - 7200,) * 2)
        with serving.Server("--source", str(self.shop)) as server:
            push(server)
            source = self.source(server, file="/app/models/cart.rb")
            self.assertIsNone(source, "the function is not in this file")
            push(server, "/app/models/cart.rb")
            source = self.source(server, file="/app/models/cart.rb")
            self.assertEqual(("models/cart.rb", 9, text[8:19], False),
                             (source["file"], source["firstLine"], source["lines"], source["isNewer"]))
            self.assertEqual(int(self.file.stat().st_mtime_ns / 1e6), source["modifiedMs"])
            os.utime(self.file)
            self.assertTrue(self.source(server, file="/app/models/cart.rb")["isNewer"])
            self.assertEqual("missing", self.source(server), "without a file, there is no text")
            self.assertIsNone(self.source(server, file="/app/models/tax.rb"))

    def test_hostile_bytes_become_valid_json(self):
        self.file.write_bytes(b"\n" * 9 + b"\xff\xfe\x1b[31m\n" + "\u00e9".encode() * 2000 + b"\n")
        with serving.Server("--source", str(self.shop)) as server:
            push(server, "/app/models/cart.rb")
            lines = self.source(server, file="/app/models/cart.rb")["lines"]
            self.assertEqual(["", "???[31m", "\u00e9" * 500], lines)

    def test_no_text_by_default_or_outside(self):
        self.file.write_text("secret")
        hostile = ("/app/../models/cart.rb", "/etc/passwd", "../" * 20 + "etc/passwd", "/proc/self/environ")
        with serving.Server() as server:
            push(server, "/app/models/cart.rb")
            self.assertEqual("missing", self.source(server, file="/app/models/cart.rb"))
        with serving.Server("--source", str(self.shop)) as server:
            for path in hostile:
                push(server, path)
                self.assertIsNone(self.source(server, file=path), path)

    def test_the_token_is_needed(self):
        self.file.write_text("secret")
        with serving.Server("--token", "sesame", "--source", str(self.shop)) as server:
            query = urllib.parse.urlencode({"function": "price", "file": "/app/models/cart.rb"})
            self.assertEqual(401, server.send("/api/v1/lines?" + query, method="GET")[0])
            status, body = server.send("/api/v1/lines?" + query, headers={"Authorization": "Bearer sesame"}, method="GET")
            self.assertEqual((200, None), (status, json.loads(body)["source"]))

    def test_only_directories_are_accepted(self):
        self.file.write_text("text")
        for path in ("/", str(self.file), str(self.shop / "gone")):
            done = subprocess.run([serving.PROGRAM, "--source", path], capture_output=True, text=True)
            self.assertEqual((2, True), (done.returncode, "give a directory with source files, other than /" in done.stderr))


if __name__ == "__main__":
    serving.main()
