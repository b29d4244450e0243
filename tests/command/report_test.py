#!/usr/bin/env python3
"""`spanprof report` on profiles of spanprof, compared with `go tool pprof`."""

import contextlib
import glob
import gzip
import json
import os
import pty
import re
import shutil
import subprocess
import tempfile
import unittest

COMMAND = os.environ["SPANPROF_COMMAND"]
BURN = os.environ["SPANPROF_BURN"]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def report(*arguments, **more):
    return subprocess.run([COMMAND, "report", *arguments], text=True,
                          capture_output=True, timeout=60, **more)


def report_json(*arguments):
    done = report("--json", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def values(rows):
    """Returns the rows without their numbers of samples, which are rounded for each profile."""
    return [{key: value for key, value in row.items()
             if not key.endswith("_samples")} for row in rows]


def pprof(*arguments):
    return subprocess.run(["go", "tool", "pprof", *arguments], timeout=60,
                          check=True, capture_output=True).stdout


class ReportTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="spanprof-report-")
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        done = subprocess.run([BURN, cls.directory], text=True, timeout=60,
                              check=True, capture_output=True)
        cls.spans = dict(line.split(" ", 1)
                         for line in done.stdout.splitlines())
        cls.files = sorted(glob.glob(cls.directory + "/*.pb.gz"))
        cls.whole = report_json(cls.directory)

    def broken(self, name, data):
        path = os.path.join(tempfile.mkdtemp(dir=self.directory), name)
        self.addCleanup(shutil.rmtree, os.path.dirname(path))
        with open(path, "wb") as file:
            file.write(data)
        return path

    def test_every_sample_counts_in_each_table(self):
        whole = self.whole
        self.assertGreater(len(self.files), 1)
        self.assertEqual(whole["profiles"], len(self.files))
        self.assertEqual((whole["type"], whole["unit"]), ("cpu", "nanoseconds"))
        self.assertGreater(whole["total"], 1e9)
        self.assertEqual(whole["value"], whole["total"])
        for table, field in (("span_names", "self"), ("span_names", "total"),
                             ("functions", "self")):
            self.assertEqual(sum(row[field] for row in whole[table]),
                             whole["total"], table)

    def test_spans_have_their_ids_and_names(self):
        found = {row["id"]: row["name"] for row in self.whole["spans"]}
        self.assertEqual(found, self.spans)
        counts = {row["name"]: row["spans"] for row in self.whole["span_names"]}
        self.assertEqual(counts, {"GET /cart": 2, "GET /": 1,
                                  'POST /pay "now"': 1, "(no span)": 0})

    def test_recursion_counts_once(self):
        functions = {row["name"]: row for row in self.whole["functions"]}
        again = functions["burn_again"]
        inside = sum(row["self"] for row in self.whole["spans"])
        self.assertLessEqual(again["total"], self.whole["total"])
        self.assertGreater(again["total"], 0.9 * inside)

    def test_filters_agree_with_the_whole(self):
        for row in self.whole["spans"]:
            some = report_json("--span", row["id"].upper(), self.directory)
            self.assertEqual(some["value"], row["total"])
            self.assertEqual(some["total"], self.whole["total"])
        for row in self.whole["span_names"][:3]:
            if row["name"] != "(no span)":
                some = report_json("--span-name", row["name"], self.directory)
                self.assertEqual(some["value"], row["total"])
        read = report_json("--label", "phase=read", self.directory)["value"]
        write = report_json("--label", "phase=write", self.directory)["value"]
        # A span has samples without the label if a signal arrives between the starts of the span
        # and of the label, or between their ends: at most two for each of the four spans.
        bare = sum(row["self"] for row in self.whole["spans"]) - read - write
        self.assertTrue(0 <= bare <= 8 * 10_000_000, bare)
        both = report_json("--label", "phase=read", "--label", "phase=write",
                           self.directory)
        self.assertEqual(both["value"], 0)

    def test_profiles_are_selected_by_time_application_and_process(self):
        alone = [report_json(path) for path in self.files]
        begin = alone[1]["start_ns"]
        some = report_json("--from", str(begin), self.directory)
        self.assertEqual(some["total"], sum(one["total"] for one in alone
                                            if one["end_ns"] > begin))
        self.assertLess(some["profiles"], len(self.files))
        process = os.path.basename(self.files[0]).split("-")[1]
        for arguments, profiles in ((["--application", "burn"], len(alone)),
                                    (["--application", "other"], 0),
                                    (["--process", process], len(alone)),
                                    (["--process", "1"], 0)):
            some = report_json(*arguments, self.directory)
            self.assertEqual(some["profiles"], profiles, arguments)

    def test_parts_agree_with_the_whole(self):
        groups = {row["name"]: row["total"] for row in report_json(
            "--group-by", "phase", self.directory)["groups"]}
        for phase in ("read", "write"):
            self.assertEqual(groups[phase], report_json(
                "--label", "phase=" + phase, self.directory)["value"])
        self.assertEqual(sum(groups.values()), self.whole["total"])
        parts = [report_json(option, "burn_again", self.directory)["value"]
                 for option in ("--focus", "--ignore")]
        self.assertEqual(sum(parts), self.whole["total"])
        peek = report_json("--peek", "^burn_again$", self.directory)["peek"][0]
        calls = {row["name"]: row["value"] for row in peek["callers"]}
        self.assertEqual(calls["burn_span"], peek["total"])
        # A sample has at least 10 ms: one signal may stand for several ticks of 10 ms.
        self.assertLessEqual(self.whole["samples"],
                             self.whole["total"] // 10_000_000)
        self.assertGreater(self.whole["samples"], 0)

    def test_a_comparison_of_a_run_with_itself_shows_no_growth(self):
        done = report("--diff", self.directory, "--fail-above", "0",
                      self.directory)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"(?m)^ +(\d\.\d{3}) +\1 +~ .*  GET /cart$")

    def test_folded_stacks_add_up(self):
        done = report("--folded", *self.files)
        self.assertEqual(done.returncode, 0)
        lines = done.stdout.splitlines()
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in lines),
                         self.whole["total"])
        self.assertTrue(any("burn_again;burn_again" in line for line in lines))

    def test_text_is_plain_and_limited_by_top(self):
        done = report("--top", "2", self.directory)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotRegex(done.stdout, "[\x00-\x09\x0b-\x1f]")
        self.assertRegex(done.stdout, r"\A\d+ profiles, \d{4}-\d\d-\d\d ")
        self.assertRegex(done.stdout, r"(?m)^CPU \d+\.\d{3} s, \d+ samples$")
        self.assertRegex(done.stdout,
                         r"(?m)^ +\d\.\d{3} +\d+\.\d% +\d+ +\d+% +2  GET /cart$")
        self.assertRegex(done.stdout,
                         r"(?m)^ +\d\.\d{3} +\d+\.\d% +\d+ +\d+% 0{15}3  GET")
        self.assertRegex(done.stdout, r"\(2 more spans\)")
        nothing = report("--span", "ffffffffffffffff", self.directory)
        self.assertEqual(nothing.returncode, 0)
        self.assertIn("no samples match", nothing.stdout)

    @unittest.skipUnless(shutil.which("go"), "no go tool pprof")
    def test_functions_agree_with_go(self):
        text = pprof("-top", "-unit=ns", "-nodecount=1000000",
                     "-nodefraction=0", *self.files).decode()
        theirs = {}
        for line in text.splitlines():
            match = re.match(r" *(\d+)(?:ns)? +\S+ +\S+ +(\d+)(?:ns)? +\S+  (.*)",
                             line)
            if match:
                name = match[3].removesuffix(" (inline)")
                theirs[name] = (int(match[1]), int(match[2]))
        ours = {}
        for row in self.whole["functions"]:
            ours.setdefault(row["name"], []).append((row["self"], row["total"]))
        alone = {name: rows[0] for name, rows in ours.items() if len(rows) == 1
                 and not name.startswith("[")}
        self.assertGreater(len(alone), 3)
        for name, sums in alone.items():
            self.assertEqual(theirs[name], sums, name)

    @unittest.skipUnless(shutil.which("go"), "no go tool pprof")
    def test_a_merged_profile_of_go_gives_the_same_report(self):
        merged = self.broken("merged", pprof("-proto", *self.files))
        plain = self.broken("plain.pb", gzip.decompress(read(merged)))
        for path in (merged, plain):
            theirs = report_json(path)
            self.assertEqual(theirs["profiles"], 1)
            for table in ("span_names", "spans"):
                self.assertEqual(values(theirs[table]),
                                 values(self.whole[table]))
            self.assertEqual(theirs["total"], self.whole["total"])

    def test_files_that_are_not_profiles_are_reported(self):
        whole = read(self.files[0])
        for name, data in {"notes.txt": b"not a profile\n", "empty": b"",
                           "cut.pb.gz": whole[:len(whole) // 2],
                           "other.pb.gz": gzip.compress(b"\xff" * 100)}.items():
            path = self.broken(name, data)
            done = report("--json", path, *self.files)
            self.assertEqual(done.returncode, 1, name)
            self.assertEqual(json.loads(done.stdout)["total"],
                             self.whole["total"])
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertTrue(done.stderr.startswith("spanprof report: " + path),
                            done.stderr)
            alone = report(path)
            self.assertEqual((alone.returncode, alone.stdout), (1, ""))
        gone = report("/nowhere", *self.files)
        self.assertEqual(gone.returncode, 1)
        self.assertIn("/nowhere: No such file", gone.stderr)
        self.assertIn("GET /cart", gone.stdout)

    def test_file_names_cannot_control_a_terminal(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "\x1b[2J\u009b\u202e.pb")
            with open(path, "wb") as file:
                file.write(b"no profile")
            done = report(path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("?[2J", done.stderr)
        for bad in "\x1b\u009b\u202e":
            self.assertNotIn(bad, done.stderr)

    def test_wrong_usage_is_reported(self):
        for arguments in ([], ["--span", "12", "x"], ["--label", "x", "x"],
                          ["--top", "many", "x"], ["--top", "-1", "x"],
                          ["--json", "--folded", "x"], ["--what", "x"],
                          ["--span"], ["--self", "x"]):
            done = report(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertNotEqual(done.stderr, "")
        self.assertEqual(report("--help").returncode, 0)

    def test_standard_input_is_read(self):
        with open(self.files[0], "rb") as file:
            done = subprocess.run([COMMAND, "report", "--json", "-"],
                                  stdin=file, capture_output=True, timeout=60)
        self.assertEqual(json.loads(done.stdout)["profiles"], 1)

    def test_a_full_disk_is_a_failure(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([COMMAND, "report", self.directory],
                                  stdout=full, stderr=subprocess.PIPE,
                                  text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left on device", done.stderr)

    def test_long_work_shows_progress_on_a_terminal(self):
        leader, follower = pty.openpty()
        done = subprocess.run(
            [COMMAND, "report", *self.files], timeout=60,
            stdout=subprocess.PIPE, stderr=follower,
            env={**os.environ, "SPANPROF_TEST_CLOCK_RATE": "100000"})
        os.close(follower)
        said = b""
        with contextlib.suppress(OSError):  # Raised when no writer has the terminal open.
            while True:
                said += os.read(leader, 4096)
        os.close(leader)
        self.assertIn(b"\r1 of %d files read" % len(self.files), said)
        self.assertTrue(said.endswith(b"\r\x1b[K"), said)
        self.assertNotIn(b"files read", done.stdout)

    def test_version_help_exec_and_unknown_commands(self):
        def run(*arguments):
            return subprocess.run([COMMAND, *arguments], text=True,
                                  capture_output=True, timeout=60)

        self.assertRegex(run("version").stdout, r"\Aspanprof \d+\.\d+\.\d+ \(")
        self.assertEqual(run("--help").returncode, 0)
        self.assertEqual(run().returncode, 2)
        self.assertIn('unknown command "repot"', run("repot").stderr)
        for language in ("gem install spanprof", "pip install spanprof"):
            self.assertIn(language, run("exec", "ruby", "x.rb").stderr)
        self.assertEqual(run("exec").returncode, 2)


class NestedTest(unittest.TestCase):
    """Reports of nested spans: a sample has the id of its innermost span, and labels that name the
    ancestors."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="spanprof-nested-")
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        subprocess.run([BURN, cls.directory, "nested"], timeout=60, check=True,
                       capture_output=True)
        cls.files = sorted(glob.glob(cls.directory + "/*.pb.gz"))
        cls.whole = report_json(cls.directory)
        cls.spans = {int(row["id"][2:], 16): row for row in cls.whole["spans"]}
        cls.names = {row["name"]: row for row in cls.whole["span_names"]}

    def test_totals_include_descendants(self):
        own = {number: row["self"] for number, row in self.spans.items()}
        self.assertEqual(set(own), {1, 2, 3, 4, 5})
        # The span "wrapper" has only the time between the work of its parent and of its child.
        self.assertLess(own[2], 3e7)
        for number in (1, 3, 4, 5):
            self.assertGreater(own[number], 1e8)
        for number, inside in ((1, (1, 2, 3, 4, 5)), (2, (2, 3, 4)),
                               (3, (3, 4)), (4, (4,)), (5, (5,))):
            self.assertEqual(self.spans[number]["total"],
                             sum(own[other] for other in inside))
        self.assertEqual([row["total"] for row in self.whole["spans"]],
                         sorted((row["total"] for row in self.whole["spans"]),
                                reverse=True))

    def test_nested_spans_of_one_name_count_once(self):
        own = {number: row["self"] for number, row in self.spans.items()}
        self.assertEqual(self.names["query"]["self"], own[3] + own[4] + own[5])
        self.assertEqual(self.names["query"]["total"],
                         self.names["query"]["self"])
        self.assertEqual(self.names["query"]["spans"], 3)
        self.assertEqual((self.names["wrapper"]["self"],
                          self.names["wrapper"]["spans"]), (own[2], 1))
        self.assertEqual(self.names["wrapper"]["total"], own[2] + own[3] + own[4])

    def test_filters_include_or_exclude_descendants(self):
        for row in self.whole["spans"]:
            for more, field in (((), "total"), (("--self",), "self")):
                some = report_json("--span", row["id"], *more, self.directory)
                self.assertEqual(some["value"], row[field])
        for name in ("outer", "wrapper", "query"):
            for more, field in (((), "total"), (("--self",), "self")):
                some = report_json("--span-name", name, *more, self.directory)
                self.assertEqual(some["value"], self.names[name][field])

    def test_tables_have_self_and_total(self):
        text = report(self.directory).stdout
        self.assertRegex(text, r"(?m)^ +total +share +self +share +samples +± "
                               r"+spans  span name \(CPU s\)$")
        self.assertRegex(text, r"(?m)^ +\d\.\d{3} +\d+\.\d% +0\.0[0-2]0 +\d\.\d% +"
                               r"\d+ +\d+% +1  wrapper$")
        self.assertRegex(text, r"(?m)^ +total +share +self +share +samples +± "
                               r"span id +spans with the most CPU \(CPU s\)\n"
                               r".* fe0{13}1  outer$")

    @unittest.skipUnless(shutil.which("go"), "no go tool pprof")
    def test_go_shows_the_ancestors(self):
        merged = os.path.join(self.directory, "merged")
        self.addCleanup(os.unlink, merged)
        with open(merged, "wb") as file:
            file.write(pprof("-proto", *self.files))
        theirs = report_json(merged)
        for table in ("span_names", "spans"):
            self.assertEqual(values(theirs[table]), values(self.whole[table]))
        raw = pprof("-raw", merged).decode()
        outer, query = (str(0xfe00000000000000 + number - 2**64)
                        for number in (1, 3))
        self.assertRegex(raw, r"ancestor:outer:\[%s\]" % outer)
        self.assertRegex(raw, r"ancestor:query:\[%s\]" % query)
        tags = pprof("-tags", merged).decode()
        self.assertIn("ancestor:wrapper", tags)
        self.assertRegex(tags, r"(?m)span_name: ")


if __name__ == "__main__":
    unittest.main()
