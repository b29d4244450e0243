#!/usr/bin/env python3
"""check_binding_cost.py LANGUAGE VERSION MARKS_SO PROGRAM...: runs a program under
callgrind, counts how many instructions spanprof adds to a span and to a switch of
fibers, and fails if one count is above its limit (see tests/cost/check_cost.py).
MARKS_SO is the compiled marks.c. Exits with 77 if the version has no limits."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from check_cost import counted  # noqa: E402

# Maximum number of instructions that spanprof adds to one operation. A span is
# compared with a span whose processor does nothing. "switches" counts both switches
# of a resume. CPython's counts vary by some hundred with the addresses of objects:
# 48 hash seeds gave 10,730 to 10,960 for a root span and 5,950 to 6,600 for a child.
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
    print(f"{'instructions of spanprof in':28} {'counted':>8} {'at most':>8} {'without it':>11}")
    status = 0
    for name, limit in limits.items():
        without = found[f"{name}_without"]
        count = found[name] - without
        status |= not 0 < count <= limit
        print(f"{name:28} {count:8.0f} {limit:8} {without:11.0f}{'' if 0 < count <= limit else '  no'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
