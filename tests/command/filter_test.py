#!/usr/bin/env python3
"""The profiles, samples and functions that `spanprof report` and `spanprof labels` select, with
profiles of known contents.
"""

import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest
import unittest.mock

from made_profile import Profile

COMMAND = os.environ["SPANPROF_COMMAND"]
SECOND = 1_000_000_000
MS10 = 10_000_000


def spanprof(*arguments):
    return subprocess.run([COMMAND, *arguments], text=True, timeout=60,
                          capture_output=True)


class FilterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.now = int(time.time())
        cls.directory = tempfile.mkdtemp(prefix="spanprof-filter-")
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        # Two applications, of which "cart" has two processes. Each profile lasts 10 s.
        for application, process, age, samples in (
                ("cart", 11, 7200, 1), ("cart", 11, 3600, 10),
                ("cart", 12, 60, 100), ("pay", 13, 60, 1000)):
            start = (cls.now - age) * SECOND
            profile = Profile(start, 10 * SECOND)
            profile.comment("spanprof 0.1.0")
            profile.comment("samples: taken %d, dropped full 2" % samples)
            profile.comment("label service_name=" + application)
            profile.comment("label env=test")
            profile.add(samples, "main", "work:7", "read", region="eu",
                        span_name="GET /")
            profile.add(samples, "main", "work:9", "write", region="us",
                        profile_id="%016x" % process)
            profile.add(samples, "main", "idle")
            profile.write(os.path.join(cls.directory, "%s-%d-%d.pb.gz" % (
                application, process, start)))

    def json(self, *arguments):
        done = spanprof("report", "--json", self.directory, *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def samples(self, *arguments):
        return self.json(*arguments)["samples"]

    def test_mine_keeps_only_functions_of_the_application(self):
        path = self.file()
        profile = Profile()
        flask = "/srv/shop/.venv/lib/python3.11/site-packages/flask/app"
        profile.add(5, flask, "/srv/shop/views", "/usr/lib/python3.11/json/decoder", "libz.so.1")
        profile.add(3, flask, "/srv/shop/views", "/srv/shop/models/cart")
        profile.add(2, flask, "libz.so.1")
        profile.write(path)
        done = spanprof("report", "--json", "--mine", path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = json.loads(done.stdout)
        self.assertEqual(found["samples"], 10)
        self.assertEqual({row["name"]: (row["self"] // MS10, row["total"] // MS10) for row in found["functions"]}, {
            "/srv/shop/views": (5, 8), "/srv/shop/models/cart": (3, 3), "[other code]": (2, 2)})
        self.assertEqual(spanprof("report", "--folded", "--mine", path).stdout.splitlines(), [
            "/srv/shop/views %d" % (5 * MS10), "/srv/shop/views;/srv/shop/models/cart %d" % (3 * MS10),
            "[other code] %d" % (2 * MS10)])

    def test_tables_have_short_paths(self):
        path = self.file()
        profile = Profile()
        profile.add(5, "/opt/gems/rack-2.2.8/lib/rack", "/srv/shop/app/cart", "/srv/shop/lib/tax", "libz.so.1")
        profile.write(path)
        rows = spanprof("report", path).stdout
        for short in ("  gem rack-2.2.8/lib/rack.c\n", "  app/cart.c\n", "  lib/tax.c\n", "libz.so.1\n"):
            self.assertIn(short, rows)

    @classmethod
    def file(cls):
        directory = tempfile.mkdtemp(prefix="spanprof-filter-")
        cls.addClassCleanup(shutil.rmtree, directory)
        return os.path.join(directory, "a.pb")

    def test_time_without_a_stack_is_printed(self):
        def heads(blocked, *more):
            path = os.path.join(tempfile.mkdtemp(dir=self.directory), "a.pb")
            self.addCleanup(shutil.rmtree, os.path.dirname(path))
            profile = Profile()
            profile.add(1000 - blocked, "main", "work", "[truncated]x")
            profile.add(blocked, "[signal blocked]")
            for frame in more:
                profile.add(20, frame)
            profile.write(path)
            done = spanprof("report", path)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return [line for line in done.stdout.splitlines()
                    if line.startswith("without a stack")]

        self.assertEqual(heads(10), [])
        self.assertEqual(heads(30), ["without a stack: 3.0% ([signal blocked] 3.0%)"])
        self.assertEqual(heads(980, "[no timer]"), [
            "without a stack: 98.0% ([signal blocked] 96.1%, [no timer] 2.0%)"])

    def test_profiles_are_selected_by_time(self):
        def date(age, format="%Y-%m-%dT%H:%M:%SZ"):
            return time.strftime(format, time.gmtime(self.now - age))

        for arguments, samples in (
                (["--from", "-1h30m"], 3330), (["--from", "now-300"], 3300),
                (["--until", "-30m"], 33), (["--until", date(7190)], 3),
                (["--from", date(3600)], 3330),
                (["--from", date(3591)], 3330),
                (["--from", date(3589)], 3300),
                (["--from=" + date(4000, "%Y-%m-%d %H:%M:%S"),
                  "--until=%d" % (self.now - 100)], 30)):
            self.assertEqual(self.samples(*arguments), samples, arguments)
        nothing = spanprof("report", "--until", "2001-01-01", self.directory)
        self.assertEqual(nothing.returncode, 0)
        self.assertIn("no profiles match", nothing.stdout)

    def test_times_without_a_zone_are_local(self):
        text = "%Y-%m-%d %H:%M:%S"
        clock = time.strftime(text, time.gmtime(self.now - 3585 + 19800))
        utc = time.strftime(text + " UTC", time.gmtime(self.now - 3585))

        for arguments, zone in ((["--from", clock], "IST-5:30"), (["--from", utc], "IST-5:30"),
                                (["--from", utc], "EST5")):
            with unittest.mock.patch.dict(os.environ, TZ=zone):
                self.assertEqual(self.samples(*arguments), 3300, (arguments, zone))

    def test_a_day_alone_is_the_whole_day(self):
        day = 1795392000  # 2026-11-23 00:00 UTC

        with tempfile.TemporaryDirectory(prefix="spanprof-day-") as folder, \
                unittest.mock.patch.dict(os.environ, TZ="UTC0"):
            for number, (start, samples) in enumerate(
                    ((day - 10, 1), (day, 10), (day + 86390, 100), (day + 86400, 1000))):
                profile = Profile(start * SECOND, 10 * SECOND)
                profile.add(samples, "main")
                profile.write(os.path.join(folder, "%d.pb" % number))
            for arguments, samples in (
                    (["--from", "2026-11-23"], 110),
                    (["--from", "2026-11-23", "--until", "2026-11-23"], 110),
                    (["--from", "2026-11-23", "--until", "2026-11-24"], 110),
                    (["--from", "20261123", "--until", "now+9y"], 1110)):
                done = spanprof("report", "--json", folder, *arguments)
                self.assertEqual(json.loads(done.stdout)["samples"], samples, arguments)

    def test_profiles_are_selected_by_application_and_process(self):
        self.assertEqual(self.samples("--application", "cart"), 333)
        self.assertEqual(self.samples("--process", "11"), 33)
        self.assertEqual(self.samples("--process", "13", "--application",
                                      "cart"), 0)

    def test_samples_are_selected_by_function(self):
        for arguments, samples in ((["--focus", "^read$"], 1111),
                                   (["--focus", "r(ead|ite)"], 2222),
                                   (["--focus", "write.c"], 1111),
                                   (["--ignore", "idle"], 2222),
                                   (["--focus", "work", "--ignore", "read"],
                                    1111),
                                   (["--focus", "nothing"], 0)):
            self.assertEqual(self.samples(*arguments), samples, arguments)
        names = {row["name"] for row in
                 self.json("--focus", "read")["functions"]}
        self.assertEqual(names, {"main", "work", "read"})

    def test_a_frame_of_a_module_is_named_once(self):
        path = os.path.join(self.directory, "module.pprof")
        self.addCleanup(os.remove, path)
        Profile().add(20, "main", "libz.so.1").write(path)
        rows = spanprof("report", path).stdout.splitlines()
        self.assertTrue(any(row.endswith("  libz.so.1") for row in rows), rows)
        self.assertFalse(any("libz.so.1  libz.so.1" in row for row in rows), rows)

    def test_labels_may_belong_to_samples_or_profiles(self):
        self.assertEqual(self.samples("--label", "region=eu"), 1111)
        self.assertEqual(self.samples("--label", "env=test"), 3333)
        self.assertEqual(self.samples("--label", "env=prod"), 0)
        groups = self.json("--group-by", "region")["groups"]
        self.assertEqual([(row["name"], row["total_samples"], row["total"])
                          for row in groups],
                         [("(none)", 1111, 1111 * MS10),
                          ("eu", 1111, 1111 * MS10),
                          ("us", 1111, 1111 * MS10)])
        groups = self.json("--group-by", "service_name")["groups"]
        self.assertEqual([(row["name"], row["total_samples"])
                          for row in groups], [("pay", 3000), ("cart", 333)])
        done = spanprof("report", "--group-by", "region", self.directory)
        self.assertRegex(done.stdout,
                         r"(?m)^ +CPU s +share +samples +± +region$")

    def test_labels_lists_values(self):
        done = spanprof("labels", "--json", self.directory)
        rows = json.loads(done.stdout)["labels"]
        self.assertEqual([(row["label"], row["name"], row["total_samples"])
                          for row in rows],
                         [("env", "test", 3333), ("region", "eu", 1111),
                          ("region", "us", 1111), ("service_name", "pay", 3000),
                          ("service_name", "cart", 333),
                          ("span_name", "GET /", 1111)])
        done = spanprof("labels", "--application", "cart", self.directory)
        self.assertRegex(done.stdout, r"(?m)^ +\d\.\d+ +\d+.\d% +111 +19%  eu$")
        self.assertEqual(spanprof("labels", "--tree", "x").returncode, 2)

    def test_functions_by_line_and_order(self):
        rows = self.json("--lines")["functions"]
        self.assertEqual({(row["line"], row["total_samples"]) for row in rows
                          if row["name"] == "work"}, {(7, 1111), (9, 1111)})
        rows = self.json("--sort", "total")["functions"]
        self.assertEqual([row["name"] for row in rows[:2]], ["main", "work"])
        self.assertEqual(rows[1]["total_samples"], 2222)
        folded = spanprof("report", "--folded", "--lines", self.directory)
        self.assertIn("main;work:9;write %d\n" % (1111 * MS10), folded.stdout)

    def test_callers_and_callees(self):
        peek = self.json("--peek", "work")["peek"]
        self.assertEqual(len(peek), 1)
        self.assertEqual((peek[0]["self"], peek[0]["total_samples"]), (0, 2222))
        self.assertEqual([(row["name"], row["samples"])
                          for row in peek[0]["callers"]], [("main", 2222)])
        self.assertEqual([(row["name"], row["samples"])
                          for row in peek[0]["callees"]],
                         [("read", 1111), ("write", 1111)])
        done = spanprof("report", "--peek", "^idle", self.directory)
        self.assertRegex(done.stdout, r"(?m)^ +11\.110 +33.3% +1111 +5.9%  main"
                         r"  main\.c\n +11\.110 11\.110  idle  idle\.c$")
        done = spanprof("report", "--peek", "nobody", self.directory)
        self.assertIn("no function matches", done.stdout)

    def test_the_tree_of_calls(self):
        done = spanprof("report", "--tree", "--application", "cart",
                        self.directory)
        lines = [line[56:] for line in done.stdout.splitlines()[4:]]
        self.assertEqual(lines, ["main  main.c", "  work  work.c",
                                 "    read  read.c", "    write  write.c",
                                 "  idle  idle.c"])

    def test_few_samples_are_marked(self):
        done = spanprof("report", "--until", "-30m", "--process", "11",
                        "--from", "-90m", self.directory)
        self.assertRegex(done.stdout, r"(?m)^ +0.100 +33.3% .* 10 +62%  idle")
        self.assertNotIn("?", done.stdout)
        done = spanprof("report", "--until", "-90m", self.directory)
        self.assertRegex(done.stdout, r"(?m)^ +0.010 +33.3% .* 1 +\?  idle")
        self.assertIn("?: fewer than 10 samples", done.stdout)

    def test_comments_are_added_up_by_process(self):
        # The counters of a process only grow. Those of process 11 are 1 and 10, so its latest, 10,
        # counts, not their sum.
        self.assertEqual(self.json()["comments"],
                         ["spanprof 0.1.0",
                          "samples: taken 1110, dropped full 6"])
        done = spanprof("report", self.directory)
        self.assertIn("  samples: taken 1110, dropped full 6\n", done.stdout)

    def test_a_profile_given_twice_counts_once(self):
        with tempfile.TemporaryDirectory() as folder:
            name = sorted(os.listdir(self.directory))[0]
            path = os.path.join(self.directory, name)
            link, copy = (os.path.join(folder, end) for end in ("a.pb", "b.pb"))
            os.symlink(path, link)
            shutil.copyfile(path, copy)
            done = spanprof("report", "--json", self.directory, path, link,
                            self.directory, copy)
            self.assertEqual(json.loads(done.stdout)["samples"], 3333)
            self.assertEqual(done.returncode, 0)
            self.assertEqual(done.stderr, "spanprof report: %s: skipped: has "
                             "the same content as an earlier profile\n" % copy)

    def test_a_cpu_profile_after_others_is_used(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a", "b"):
                Profile(1, type="wall").add(5, name).write(folder + "/%s.pb"
                                                           % name)
            Profile(1).add(7, "c").write(folder + "/c.pb")
            done = spanprof("report", "--json", folder)
            whole = json.loads(done.stdout)
            self.assertEqual((whole["type"], whole["samples"]), ("cpu", 7))
            self.assertEqual(done.stderr.count("skipped: has no values of type cpu"), 2)
            done = spanprof("report", "--folded", folder)
            self.assertEqual(done.stdout, "c %d\n" % (7 * MS10))
            os.unlink(folder + "/c.pb")
            done = spanprof("report", "--json", folder)
            self.assertEqual((json.loads(done.stdout)["samples"], done.stderr),
                             (10, ""))

    def test_wrong_usage_is_reported(self):
        for arguments, message in (
                (["--top", "99999999999999999999999"], "0 to 4294967295"),
                (["--from", "13:0"],
                 "--from: Can't read \"13:0\". Try 2026-11-26 13:00 or now-90m.\n"),
                (["--from", "20261399"], "There is no such day."),
                (["--until", "1969-12-31"], "after 1970"),
                (["--from", "-1h", "--until", "-2h"], "later time than --from"),
                (["--process", "0"], "a process id expected"),
                (["--focus", "("], "not a regular expression"),
                (["--sort", "name"], "self or total"),
                (["--fail-above", "10%"], "need --diff"),
                (["--tree", "--json"], "--json excludes --folded"),
                (["--grup-by", "x"], "did you mean --group-by?")):
            done = spanprof("report", *arguments, self.directory)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn(message, done.stderr)

    def test_every_command_has_help(self):
        for word in ("report", "labels", "upload", "check", "exec", "version"):
            for option in ("-h", "--help"):
                done = spanprof(word, option)
                self.assertEqual((done.returncode, done.stderr), (0, ""), word)
                self.assertIn("spanprof " + word, done.stdout)
        done = spanprof("reprot")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean report?", done.stderr)


if __name__ == "__main__":
    unittest.main()
