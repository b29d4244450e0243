#!/usr/bin/env python3
"""check_cost.py PROGRAM: counts the instructions of handler, labels and spans under callgrind, and
fails if one count is above its limit. Counts depend on the compiler, but not on the machine's load.
Each limit is some 10 % above the count of a release build by GCC 12. Lower a limit that has become
much too high. Tested with callgrind 3.19."""
import pathlib
import re
import subprocess
import sys
import tempfile

# Maximum number of instructions of one operation. The case "nothing" is subtracted first, because it
# counts the call itself.
LIMITS = {
    "label_push_pop_interned": 75,
    "label_push_pop_strings": 130,
    "span_enter_leave": 107,
    "span_start_end": 820,
    "handler_8_frames": 1620,
    "handler_28_frames": 1920,
    "handler_100_frames": 3000,
}


def counted(*command):
    """Runs a program under callgrind. Returns the number of instructions of one operation, by case."""
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(
            ["valgrind", "-q", "--tool=callgrind", "--separate-threads=yes", "--trace-children=yes",
             f"--callgrind-out-file={directory}/out", *command], check=True, timeout=240)
        found = {}
        for path in pathlib.Path(directory).glob("out.*-01"):  # files of the main thread
            text = path.read_text()
            name = re.search(r"^desc: Trigger: Client Request: (\w+)/(\d+)$", text, re.M)
            total = re.search(r"^totals: (\d+)", text, re.M)
            if name and total:
                found[name[1]] = int(total[1]) / int(name[2])
    return found


def main():
    found = counted(sys.argv[1])
    print(f"{'instructions of':28} {'counted':>8} {'at most':>8}")
    status = 0
    for name, limit in LIMITS.items():
        count = found[name] - found["handler_nothing" if name.startswith("handler") else "nothing"]
        status |= not 0 < count <= limit
        print(f"{name:28} {count:8.0f} {limit:8}{'' if 0 < count <= limit else '  no'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
