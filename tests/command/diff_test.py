#!/usr/bin/env python3
"""`spanprof report --diff`: growth by more than chance sets the exit status."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

from made_profile import Profile

COMMAND = os.environ["SPANPROF_COMMAND"]


def report(*arguments):
    return subprocess.run([COMMAND, "report", *arguments], text=True,
                          capture_output=True, timeout=60)


class DiffTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="spanprof-diff-")
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        cls.base = cls.profile("base", cart=1000, pay=500, rare=2)

    @classmethod
    def profile(cls, file, period=10_000_000, region="eu", **samples):
        profile = Profile(1, period=period)
        for name, count in samples.items():
            profile.add(count, "main", "do_" + name, span_name=name,
                        region=region)
        return profile.write(os.path.join(cls.directory, file + ".pb"))

    def compare(self, now, *arguments, base=None):
        return report("--diff", base or self.base, "--fail-above", "10%", now,
                      *arguments)

    def test_growth_sets_the_exit_status(self):
        now = self.profile("grown", cart=1400, pay=510, rare=3)
        done = self.compare(now)
        self.assertEqual((done.returncode, done.stderr), (3, ""))
        self.assertRegex(done.stdout, r"(?m)^ +10\.000 +14\.000 +\+40\.0% ! +"
                                      r"1000 +1400  cart$")
        # Rows within chance show no change and come last.
        self.assertRegex(done.stdout,
                         r"(?m)^ +5\.000 +5\.100 +~ +500 +510  pay$")
        self.assertRegex(done.stdout, r"(?m)^ .* \* +1000 +1400  do_cart$")
        self.assertIn("1 span name grew by more than 10%", done.stdout)
        whole = json.loads(self.compare(now, "--json").stdout)
        self.assertEqual(whole["grown"], 1)
        self.assertEqual([(row["name"], row["grew"])
                          for row in whole["span_names"]],
                         [("cart", True), ("pay", False), ("rare", False)])
        self.assertEqual(whole["span_names"][0]["change"], 0.4)

    def test_chance_and_small_growth_do_not_set_the_exit_status(self):
        for now in (self.base,
                    self.profile("chance", cart=1050, pay=560, rare=9),
                    self.profile("shrunk", cart=100, pay=5)):
            done = self.compare(now)
            self.assertEqual((done.returncode, done.stderr), (0, ""), now)
            self.assertIn("0 span names grew", done.stdout)
        base = self.profile("much", cart=1_000_000)
        now = self.profile("more", cart=1_090_000)
        self.assertEqual(self.compare(now, base=base).returncode, 0)
        self.assertEqual(report("--diff", base, "--fail-above", "8.5", now)
                         .returncode, 3)

    def test_new_names_count_and_grown_rows_are_always_printed(self):
        now = self.profile("new", cart=1000, pay=500, surprise=300)
        done = self.compare(now, "--top", "1")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stdout, r" new ! +0 +300  surprise\n")
        now = self.profile("two", cart=2000, pay=1000)
        done = self.compare(now, "--top", "1")
        self.assertIn("  pay\n", done.stdout)

    def test_sample_rates_and_totals_may_differ(self):
        # The same CPU time, sampled four times as often.
        now = self.profile("often", period=2_500_000, cart=4000, pay=2000)
        self.assertEqual(self.compare(now).returncode, 0)
        now = self.profile("longer", cart=3000, pay=1500)
        self.assertEqual(self.compare(now).returncode, 3)
        self.assertEqual(self.compare(now, "--normalize").returncode, 0)

    def test_shares_are_in_per_cent(self):
        now = self.profile("shares", cart=1000, pay=2500)
        done = report("--diff", self.base, now, "--normalize")
        self.assertRegex(done.stdout, r"(?m)^ +66\.6% +28\.6% +-57\.1% \* +"
                                      r"1000 +1000  cart$")
        self.assertIn("span name (share of CPU)", done.stdout)
        self.assertNotIn("multiplied", done.stdout)

    def test_significant_changes_come_first(self):
        for options in ([], ["--normalize"]):
            done = report("--diff", self.base, self.base, *options)
            self.assertNotRegex(done.stdout, r"(?m)[+-]\d[\d.]*%|^.* [!*] ")
        base = self.profile("wide", cart=100_000, pay=1000)
        now = self.profile("wider", cart=100_400, pay=1400)
        rows = json.loads(report("--diff", base, now, "--json").stdout)
        self.assertEqual([(row["name"], row["differs"])
                          for row in rows["span_names"]],
                         [("pay", True), ("cart", False)])

    def test_the_values_of_a_label_are_compared(self):
        now = self.profile("us", region="us", cart=1000, pay=500)
        done = self.compare(now, "--group-by", "region")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stdout, r" new ! +0 +1500  us\n")

    def test_an_empty_side_is_a_failure(self):
        for arguments in ([self.base, "--span-name", "nobody"],
                          ["/nowhere.pb"]):
            done = self.compare(*arguments)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertNotEqual(done.stderr, "")
        done = self.compare(self.base, base="/nowhere.pb")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing to compare: no samples match in the base",
                      done.stderr)
        for wrong in ("x", "-1", "", "10%%"):
            done = report("--diff", self.base, "--fail-above", wrong, self.base)
            self.assertEqual(done.returncode, 2, wrong)


if __name__ == "__main__":
    unittest.main()
