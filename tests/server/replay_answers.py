#!/usr/bin/env python3
"""Send recorded requests to spanprof-server and compare the responses with Pyroscope's.

usage: replay_answers.py SERVER FOLDER INTENDED

SPANPROF_PYROSCOPE_ANSWERS is the directory of the recordings, which are not part of this
repository. It has a folder for queries and one for uploads (query, ingest), each with its
replay.py. If the variable is not set, the test is skipped. INTENDED lists the cases that differ on
purpose, each with a reason after " - ". The test fails if any other case differs, or if a listed
case does not differ.
"""
import os
import re
import subprocess
import sys
import tempfile

SKIPPED = 77


def intended_cases(path):
    cases = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            line = line.strip()
            if line and not line.startswith("#"):
                case, dash, reason = line.partition(" - ")
                if not dash:
                    sys.exit("%s: a case without a reason: %s" % (path, line))
                cases[case] = reason
    return cases


def start(server, data):
    child = subprocess.Popen(
        [server, "--listen", "127.0.0.1:0", "--data", data, "--ingest-window", "off"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    line = child.stdout.readline()
    address = re.search(r"http://\S+?(?=,|\s|$)", line)
    if not address:
        child.kill()
        sys.exit("the server did not start: " + line)
    return child, address.group()


def main():
    server, folder, intended_path = sys.argv[1:]
    answers = os.environ.get("SPANPROF_PYROSCOPE_ANSWERS")
    if not answers:
        print("skipped: SPANPROF_PYROSCOPE_ANSWERS is not set")
        sys.exit(SKIPPED)
    recorded = os.path.join(answers, folder)
    intended = intended_cases(intended_path)
    with tempfile.TemporaryDirectory() as data:
        child, address = start(server, data)
        try:
            replay = subprocess.run(
                [sys.executable, os.path.join(recorded, "replay.py"), address, recorded],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        finally:
            child.terminate()
            status = child.wait()
    if status != 0:
        sys.exit(f"the server exited with {status}")
    differing = set(re.findall(r"^DIFF (.+)$", replay.stdout, re.M))
    if not re.search(r"^\d+ cases, \d+ differ", replay.stdout, re.M):
        sys.exit("the replay was incomplete:\n" + replay.stdout)
    wrong = sorted(differing - set(intended))
    stale = sorted(set(intended) - differing)
    print(replay.stdout if wrong else replay.stdout.splitlines()[-1])
    for case in wrong:
        print("differs: " + case)
    for case in stale:
        print("no longer differs, remove it from %s: %s" % (intended_path, case))
    sys.exit(1 if wrong or stale else 0)


if __name__ == "__main__":
    main()
