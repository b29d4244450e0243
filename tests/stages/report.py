"""Reads the reports of the test runners: ctest, unittest, minitest and node."""
import re
import xml.etree.ElementTree

SUMMARY = re.compile(r"^(\d+ runs, .*|Ran \d+ tests? .*|OK \(skipped.*|NO TESTS RAN.*|FAILED \(.*|# (?:tests|fail) \d.*)$", re.M)
PASSED = re.compile(r"(?:^|\.\.\. )ok$| s = \.$|^ok \d", re.M)
SKIPPED = [
    re.compile(r"^ok .*# SKIP (.*)$", re.M),  # node
    re.compile(r"\.\.\. skipped ['\"](.*)['\"]$", re.M),  # unittest
    re.compile(r"^ +\d+\) Skipped:\n.*\n(.*)$", re.M),  # minitest
]
# From CPython 3.12 on, unittest exits with this status if it skipped every test.
UNITTEST_NOTHING_RAN = 5
# The exit status of a test program that cannot run on this machine.
SKIP_STATUS = 77


class Report:
    """The output of a test runner: its summary, the number of passed tests, and the reasons of
    skipped tests."""

    def __init__(self, text):
        self.summary = " ".join(SUMMARY.findall(text))
        self.passed = len(PASSED.findall(text))
        self.skipped = [reason for pattern in SKIPPED for reason in pattern.findall(text)]
        self.skipped_all = "NO TESTS RAN (skipped=" in text


def judge(status, text, needs_all=False):
    """Judge a check by its exit status and its output.

    Returns an error text (empty if the check passed), whether any test ran, the reasons of skipped
    tests, and the runner's summary. A check without any test fails. With `needs_all` a check also
    fails if it skips a test because a package is missing.
    """
    report = Report(text)
    if status == SKIP_STATUS:
        return "", False, [text.strip().rpartition("\n")[2]], report.summary
    if status == UNITTEST_NOTHING_RAN and report.skipped_all:
        status = 0
    ran = report.passed > 0 or not report.summary
    if status != 0:
        return f"status {status}", ran, report.skipped, report.summary
    if not ran and not report.skipped:
        return "it has no tests", ran, [], report.summary
    if needs_all and any("not installed" in reason for reason in report.skipped):
        return "it skips tests whose packages should be installed", ran, report.skipped, report.summary
    return "", ran, report.skipped, report.summary


def read_ctest(path):
    """Read the JUnit file of ctest. Yields the name of each test and the values of its Check."""
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        name, output = case.get("name"), case.findtext("system-out") or ""
        # A program of several tests reports each test that it skips (tests/core/check.h).
        skipped = re.findall(r"^SKIP (?:/\S+/)?(\S+ \S+: .*)$", output, re.M)
        error, ran = "", True
        if (whole := case.find("skipped")) is not None:
            ran, skipped = False, [f"{name}: {output.strip().rpartition(chr(10))[2] or whole.get('message')}"]
        elif case.get("status") != "run":
            failure = case.find("failure")
            error = (failure.get("message") if failure is not None else "") or "failed"
        yield name, {"error": error, "skipped": skipped, "ran": ran, "output": output}
