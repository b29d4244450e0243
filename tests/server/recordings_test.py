"""Sends requests to the server that were recorded with the answers of a real Pyroscope.

SPANPROF_PYROSCOPE_ANSWERS names the directory of the recordings. Its folder
`ingest` has the uploads, and the replay.py that recorded them. Without the
variable the test is skipped (exit status 77). Each case must give the recorded
status, code and stored series. Cases in intended_upload_differences.json must give the
answers that this file contains.
"""
import importlib.util
import json
import os
import pathlib
import sys
import time

from serving import Server

FILES = ("push", "ingest", "otlp", "adhoc", "other")
HERE = pathlib.Path(__file__).parent


def recorder(directory):
    spec = importlib.util.spec_from_file_location("replay", directory / "replay.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def intended_answers():
    groups = json.loads((HERE / "intended_upload_differences.json").read_text())["groups"]
    return {case: group["answer"] for group in groups for case in group["cases"]}


def adjusted(case, answer):
    """Return the case with the intended answer instead of the recorded one."""
    case = json.loads(json.dumps(case))
    for key in ("status", "code"):
        if key in answer:
            case["answer"][key] = answer[key]
    if "continue" in answer:
        case["answer"].pop("continue")
    if "status" in answer and answer["status"] == 200:
        case["answer"].pop("code", None)
    if "stored" in answer:
        case["stored"] = answer["stored"]
    for key in ("total", "frames"):
        if key in answer:
            case["stored"][key] = {kind: answer[key] for kind in case["stored"][key]}
    return case


def compare(replay, server, case, run):
    context = replay.context(case, run)
    got = replay.send(server.base, case, context)
    found = replay.differences(case, got, context, False)
    if "stored" in case:
        have = replay.stored(server.base, case, context)
        if have != case["stored"]:
            found.append(f"stored {json.dumps(have)}, recorded {json.dumps(case['stored'])}")
    return found


def main():
    answers = os.environ.get("SPANPROF_PYROSCOPE_ANSWERS")
    if not answers:
        print("skipped: SPANPROF_PYROSCOPE_ANSWERS is not set")
        return 77
    directory = pathlib.Path(answers) / "ingest"
    replay, expected = recorder(directory), intended_answers()
    run = "%06x" % (time.time_ns() // 10**6 % 0xFFFFFF)
    sent, seen, bad = 0, set(), 0
    with Server("--limits", "pyroscope") as server:
        for name in FILES:
            for case in json.loads((directory / f"{name}.json").read_text())["cases"]:
                if case.get("server_flags"):
                    continue
                sent += 1
                if case["case"] in expected:
                    seen.add(case["case"])
                    case = adjusted(case, expected[case["case"]])
                for difference in compare(replay, server, case, run):
                    bad += 1
                    print(f"{case['case']}: {difference}")
    for case in expected.keys() - seen:
        bad += 1
        print(f"{case}: is in intended_upload_differences.json, but not among the recordings")
    print(f"{sent} cases sent, {len(seen)} differ on purpose, {bad} differences")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
