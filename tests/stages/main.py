#!/usr/bin/env python3
"""Runs the stages of tests/run, several at a time, and prints a summary."""
import collections
import importlib
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
import traceback

from execute import stop_all
from stage import BUILD, LOG, ROOT, STAGES, SUMMARY_LINES, Check, Failure, Run, setting

# Each of these modules registers its stages.
for module in ("lint", "native", "page", "python", "ruby", "debian"):
    importlib.import_module(module)

# Debian packages that every stage needs.
PACKAGES = """
    gcc g++ libc6-dev make clang cmake ninja-build pkg-config binutils protobuf-c-compiler libprotobuf-c-dev libprotobuf-dev
    libunwind-dev libcurl4-openssl-dev zlib1g-dev libssl-dev libsqlite3-dev libmicrohttpd-dev libpcre2-dev libjansson-dev
    libyaml-dev openssl ca-certificates python3 valgrind git
""".split()


def shell_function(function, *arguments):
    """Call a shell function of tests/packages.sh, which examples/run also uses."""
    subprocess.run(["bash", "-euc", f"source tests/packages.sh; {function} {shlex.join(arguments)}"], cwd=ROOT, check=True)


def install_packages(stages):
    print("== packages", flush=True)
    npm = subprocess.run(["bash", "-euc", "source tests/packages.sh; packages_npm"], cwd=ROOT, check=True,
                         capture_output=True, text=True)
    needed = dict.fromkeys(PACKAGES + [package for stage in stages for package in stage.packages] + npm.stdout.split())
    shell_function("packages_need", *needed)


def chosen(names):
    if not names:
        return sorted((stage for stage in STAGES.values() if not stage.by_name), key=lambda stage: -stage.cpu_seconds)
    if unknown := [name for name in names if name not in STAGES]:
        print(f"There is no stage {' or '.join(unknown)}.", usage(), sep="\n", file=sys.stderr)
        sys.exit(2)
    return [STAGES[name] for name in names]


def usage():
    return "\n".join(["Usage: tests/run [STAGE...]; without a name, all stages run except those marked with *.",
                      *(f"  {stage.name:8}{'*' if stage.by_name else ' '} {stage.about}" for stage in STAGES.values())])


class Stages:
    """Runs the stages, in this order, in several threads."""

    def __init__(self, stages):
        self.stages = stages
        self.at_once = 1 if len(stages) == 1 else setting("SPANPROF_AT_ONCE", 3)
        self.runs = {}
        self.seconds = {}
        self.next = iter(enumerate(stages, 1))
        self.lock = threading.Lock()

    def run_all(self):
        threads = [threading.Thread(target=self.work, daemon=True) for _ in range(self.at_once)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def work(self):
        while True:
            with self.lock:
                number, stage = next(self.next, (0, None))
            if stage is None:
                return
            print(f"\n== [{number}/{len(self.stages)}] {stage.name}: {stage.about}", flush=True)
            self.run(stage)

    def run(self, stage):
        run = Run(stage.name, f"{stage.name:6} | " if self.at_once > 1 else "")
        self.runs[stage.name], start = run, time.monotonic()
        try:
            stage.function(run)
        except Failure as failure:
            run.add(Check(f"{stage.name}-stage", str(failure)))
            run.print(f"CHECK failed {stage.name}-stage: {failure}")
        except Exception:
            run.add(Check(f"{stage.name}-stage", "an exception", output=traceback.format_exc()))
            run.print(traceback.format_exc())
        if not run.checks:
            run.add(Check(f"{stage.name}-stage", "no check ran"))
        self.seconds[stage.name] = time.monotonic() - start

    def checks(self):
        return [check for stage in self.stages for check in self.runs[stage.name].checks]


def counts(checks):
    """Return a text with the numbers of passed, failed and skipped checks."""
    failed = sum(bool(check.error) for check in checks)
    passed = sum(not check.error and check.ran for check in checks)
    return f"{passed} passed, {failed} failed, {sum(len(check.skipped) for check in checks)} skipped"


def summarize(stages, seconds):
    """Print a line for each stage, the reasons of skipped tests, and the last lines of failed checks."""
    checks = stages.checks()
    print(f"\n== summary ({seconds:.0f} s)")
    for stage in stages.stages:
        run = stages.runs[stage.name]
        print(f"{stage.name:8} {stages.seconds[stage.name]:6.0f} s, {run.cpu_seconds:6.0f} s of CPU  {counts(run.checks)}")
    reasons = collections.Counter(reason.partition(": ")[2] for check in checks for reason in check.skipped)
    if reasons:
        print("Skipped, by reason:", *(f"{number:7} {reason}" for reason, number in reasons.most_common()), sep="\n")
    failed = [check for check in checks if check.error]
    if failed:
        print("Failed checks, with the last lines of their output:")
    for check in failed:
        print(f"-- {check.name}: {check.error}", *(line[:300] for line in check.output.splitlines()[-SUMMARY_LINES:]), sep="\n")
    print(counts(checks))
    return not failed


def interrupt(number, _frame):
    stop_all()
    os._exit(128 + number)


def main():
    start = time.monotonic()
    if sys.argv[1:] and sys.argv[1] in ("help", "-h", "--help"):
        print(usage())
        return 0
    stages = Stages(chosen(sys.argv[1:]))
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, interrupt)
    LOG.mkdir(parents=True, exist_ok=True)
    install_packages(stages.stages)
    stages.run_all()
    shell_function("packages_give_back", str(BUILD))
    (LOG / "results.json").write_text(json.dumps([vars(check) for check in stages.checks()]))
    return 0 if summarize(stages, time.monotonic() - start) else 1


if __name__ == "__main__":
    sys.exit(main())
