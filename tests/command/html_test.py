#!/usr/bin/env python3
"""`spanprof report --html`: the page in one file, for any contents of a profile."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from html_page import Page, stacks
from made_profile import Profile

COMMAND = os.environ["SPANPROF_COMMAND"]
HOSTILE = ["</script><script>alert(1)</script>", "<!--<script>", "<img src=x onerror=alert(1)>", "]]>", "&lt;\"'\\",
           "\u202etxt.exe", "\u2028\u2029", "x" * 100_000]


def spanprof(*arguments, **environment):
    return subprocess.run([COMMAND, *arguments], text=True, capture_output=True, timeout=60,
                          env={**os.environ, **environment})


def shell(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return path


class HtmlTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="spanprof-html-")
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        cls.old = (Profile(1795435340 * 10**9, 10 * 10**9).add(60, "main", "work", span_name="cart")
                   .add(50, "main", "gone").write(cls.path("old.pb")))
        cls.new = (Profile(1795435347 * 10**9, 10 * 10**9)
                   .add(100, "main", "work", span_name="cart", profile_id="08d12e6b76c84d11")
                   .add(50, "main", "work", "deep", span_name="pay", profile_id="18d12e6b76c84d11")
                   .add(7, "main", "idle").comment("dropped: 7 samples").write(cls.path("new.pb")))
        done = spanprof("report", "--html", cls.path("probe.html"), cls.new)
        if "this build has no page" in done.stderr:
            print("skipped: this build has no page")
            sys.exit(77)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.directory, name)

    def page(self, *arguments):
        path = self.path("page.html")
        done = spanprof("report", "--html", path, *arguments)
        self.assertEqual((0, "", ""), (done.returncode, done.stdout, done.stderr))
        with open(path, encoding="utf-8") as file:
            return Page(file.read())

    def test_the_file_has_the_data_of_the_profiles(self):
        data = json.loads(self.page(self.new).data)
        self.assertEqual(("new.pb", None), (data["title"], data["base"]))
        now = data["now"]
        self.assertEqual((1795435347000, 1795435357000, 157, 1570000000),
                         (now["fromMs"], now["untilMs"], now["samples"], now["all"]))
        self.assertEqual(["dropped: 7 samples"], now["comments"])
        self.assertEqual(("cpu", "nanoseconds", 1), tuple(now["tree"][key] for key in ("type", "unit", "profiles")))
        self.assertEqual({("main", "work"): 10**9, ("main", "work", "deep"): 5 * 10**8, ("main", "idle"): 7 * 10**7},
                         stacks(now["tree"]))
        self.assertEqual(157, sum(now["tree"]["nodes"]["samples"]))
        self.assertEqual([(None, 70000000, 7, 0), ("cart", 10**9, 100, 1), ("pay", 5 * 10**8, 50, 1)],
                         [(each["name"], each["total"], each["samples"], each["spans"]) for each in now["spanNames"]])
        self.assertEqual(["08d12e6b76c84d11", "18d12e6b76c84d11"], [each["spanId"] for each in now["spans"]])
        for each in now["spanNames"]:
            self.assertEqual(each["total"], sum(each["nodes"]["self"]), "its nodes have all its time")

    def test_nodes_of_a_span_include_descendants(self):
        nested = (Profile(1).add(3, "main", "inner", span_name="query", profile_id="28d12e6b76c84d11",
                                 **{"ancestor:cart": 0x08d12e6b76c84d11})
                  .add(2, "main", "outer", span_name="cart", profile_id="08d12e6b76c84d11").write(self.path("nested.pb")))
        text = json.loads(spanprof("report", "--json", nested).stdout)
        self.assertEqual([50_000_000, 30_000_000], [row["total"] for row in text["span_names"]])
        named = {each["name"]: each for each in json.loads(self.page(nested).data)["now"]["spanNames"]}
        for row in text["span_names"]:
            self.assertEqual((row["self"], row["total"]), (named[row["name"]]["self"], named[row["name"]]["total"]))
            self.assertEqual(row["total"], sum(named[row["name"]]["nodes"]["self"]))

    def test_filters_and_lines_apply(self):
        now = json.loads(self.page("--span-name", "pay", self.new).data)
        self.assertEqual("new.pb, pay", now["title"])
        self.assertEqual({("main", "work", "deep"): 5 * 10**8}, stacks(now["now"]["tree"]))
        self.assertEqual(1570000000, now["now"]["all"])
        self.assertNotIn("idle", now["now"]["tree"]["functions"]["name"], "hidden functions are not included")
        none = json.loads(self.page("--span-name", "nothing", self.new).data)["now"]
        self.assertEqual(({"parent": [0], "function": [-1], "self": [0], "samples": [0]}, 0),
                         (none["tree"]["nodes"], none["samples"]))

    def test_a_base_makes_a_comparison(self):
        data = json.loads(self.page("--diff", self.old, self.new).data)
        self.assertEqual("new.pb compared with old.pb", data["title"])
        self.assertEqual({("main", "work"): 6 * 10**8, ("main", "gone"): 5 * 10**8}, stacks(data["base"]["tree"]))
        self.assertEqual(1570000000, sum(data["now"]["tree"]["nodes"]["self"]))
        done = spanprof("report", "--html", self.path("none.html"), "--diff", self.old, "--focus", "zzz", self.new)
        self.assertEqual(1, done.returncode)
        self.assertIn("nothing to compare", done.stderr)

    def test_no_text_closes_its_element(self):
        profile = Profile(1)
        for name in HOSTILE:
            profile.add(1, "main", name, span_name=name[:2000]).comment(name[:300])
        path = profile.write(self.path("hostile.pb"))
        plain, hostile = self.page(self.new), self.page("--title", HOSTILE[0] + HOSTILE[1], path)
        self.assertEqual(plain.elements, hostile.elements)
        self.assertNotRegex(hostile.data, "[<>&]")
        data = json.loads(hostile.data)
        self.assertEqual(HOSTILE[0] + HOSTILE[1], data["title"])
        names = data["now"]["tree"]["functions"]["name"]
        for name in HOSTILE[:5]:
            self.assertIn(name, names)

    def test_a_page_goes_to_standard_output(self):
        done = spanprof("report", "--html", "-", self.new)
        self.assertEqual(0, done.returncode)
        self.assertTrue(done.stdout.startswith("<!doctype html>"))
        self.assertTrue(done.stdout.endswith("</html>\n"))
        self.assertIn("http-equiv=\"Content-Security-Policy\"", done.stdout)
        self.assertIsNone(re.search(r"<(script|link|img)[^>]*\s(src|href)=\"?(https?:)?//", done.stdout))

    def test_the_page_is_opened_in_a_browser(self):
        address_file = self.path("opened")
        browser = shell(self.directory, "browser", f'printf %s "$1" > "{address_file}"\n')
        done = spanprof("report", "--open", self.new, BROWSER=browser, TMPDIR=self.directory)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        path = done.stdout.strip()
        self.assertTrue(path.startswith(self.directory) and path.endswith(".html"))
        with open(address_file) as file:
            self.assertEqual(path, file.read())
        self.assertEqual(0o600, os.stat(path).st_mode & 0o777)
        with open(path, encoding="utf-8") as file:
            self.assertEqual("new.pb", json.loads(Page(file.read()).data)["title"])
        done = spanprof("report", "--open", "--html", self.path("given.html"), self.new, BROWSER=browser)
        self.assertEqual((0, self.path("given.html")), (done.returncode, done.stdout.strip()))

    def test_failures_print_one_line(self):
        for arguments, environment, status, message in (
                (["--open", self.new], {"BROWSER": "false"}, 1, "the browser failed"),
                (["--open", self.new], {"BROWSER": "", "PATH": "/nowhere"}, 1,
                 "was written, but there is no browser to show the page: set BROWSER"),
                (["--html", "/nowhere/page.html", self.new], {}, 1, "/nowhere/page.html: No such file"),
                (["--html", "/dev/full", self.new], {}, 1, "cannot write /dev/full: "),
                (["--html", self.path("no.html"), self.path("missing.pb")], {}, 1, "No such file"),
                (["--html", "-", "--open", self.new], {}, 2, "--open needs a file"),
                (["--html", "-", "--json", self.new], {}, 2, "cannot be combined with --json"),
                (["--title", "x", self.new], {}, 2, "--title needs --html or --open")):
            with self.subTest(arguments):
                done = spanprof("report", *arguments, TMPDIR=self.directory, **environment)
                self.assertEqual(status, done.returncode)
                self.assertIn(message, done.stderr)
                self.assertEqual(1, done.stderr.count("\n"), done.stderr)
        self.assertFalse(os.path.exists(self.path("no.html")))


if __name__ == "__main__":
    unittest.main()
