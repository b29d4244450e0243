#!/usr/bin/env python3
"""check_binding_cost.py LANGUAGE VERSION MARKS_SO PROGRAM...: counts under
callgrind the instructions of our part of a span, and of a switch of fibers, in
the programs, and fails if one is above its limit (see tests/cost/check_cost.py).
Exits with 77 if the version has no limits."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from check_cost import counted  # noqa: E402

# Additional instructions of one operation compared with a program without us (a
# span: with a processor that does nothing), with the SDK of the tests. A resume
# switches twice. CPython's numbers vary by some hundred with the addresses of
# objects: 48 hash seeds gave 10,730 to 10,960 for the root and 5,950 to 6,600 for
# the child.
LIMITS = {
    ("ruby", "3.1"): {"root": 8600, "child": 4300, "switches": 808, "bare_switches": 808},
    ("python", "3.11"): {"root": 12000, "child": 7200},
}


def main():
    language, version, marks, *program = sys.argv[1:]
    limits = LIMITS.get((language, version))
    if not limits:
        print(f"there are no limits for {language} {version}")
        return 77
    os.environ["PYTHONHASHSEED"] = "0"
    found = counted(*program, marks)
    print(f"{'instructions of':28} {'counted':>8} {'at most':>8} {'without us':>11}")
    status = 0
    for name, limit in limits.items():
        without = found[f"{name}_without"]
        count = found[name] - without
        status |= not 0 < count <= limit
        print(f"{name:28} {count:8.0f} {limit:8} {without:11.0f}{'' if 0 < count <= limit else '  no'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
