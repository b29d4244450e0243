"""Uploads of real Pyroscope clients, byte for byte.

SPANPROF_REAL_CLIENTS names the directory of the recorded uploads. Without this
variable the test is skipped (exit status 77). The uploads are old, so the server accepts
profiles of any time.
"""
import json
import os
import pathlib
import sys

from serving import Server

EVER = {"start": 1_577_836_800_000, "end": 4_102_444_800_000}


def selector(labels):
    return "{%s}" % ",".join(f'"{name}"={json.dumps(value, ensure_ascii=False)}' if not name.isidentifier()
                             else f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in labels.items())


def differ(name, what, got, expected):
    rights = expected if isinstance(expected, list) else [expected]
    if got in rights:
        return 0
    print(f"{name}: {what} is {got}, expected {expected}")
    return 1


def check_series(server, name, series):
    labels, bad = series["labels"], 0
    for kind, total in series["types"].items():
        bad += differ(name, kind, server.total(kind, selector(labels), EVER)[0], total)
    for entry in series.get("by_label", []):
        got = server.total(entry["type"], selector({**labels, **entry["labels"]}), EVER)[0]
        bad += differ(name, entry["labels"], got, entry["sum"])
    for entry in series.get("by_span", []):
        got = server.total(entry["type"], selector(labels), EVER, spanSelector=[entry["span_id"]])[0]
        bad += differ(name, entry["span_id"], got, entry["sum"])
    if "all_labels" in series:
        found = server.series(selector(labels), EVER)
        has = any(series["all_labels"].items() <= one.items() for one in found)
        bad += differ(name, f"a series with {series['all_labels']}", has, True)
    return bad


def main():
    directory = os.environ.get("SPANPROF_REAL_CLIENTS")
    if not directory:
        print("skipped: SPANPROF_REAL_CLIENTS is not set")
        return 77
    bad = sent = 0
    for path in sorted(pathlib.Path(directory).glob("*.json")):
        upload = json.loads(path.read_text())
        drop = ("host", "content-length", "transfer-encoding")
        headers = {key: value for key, value in upload["headers"] if key.lower() not in drop}
        with Server("--ingest-window", "off", "--retention", "0") as server:
            status, _ = server.send(upload["path"], path.with_suffix(".body").read_bytes(), headers, upload["method"])
            bad += differ(path.stem, "status", status, upload["expect"]["status"])
            for series in upload["expect"]["series"]:
                bad += check_series(server, path.stem, series)
        sent += 1
    print(f"{sent} uploads sent, {bad} differences")
    return 1 if bad or not sent else 0


if __name__ == "__main__":
    sys.exit(main())
