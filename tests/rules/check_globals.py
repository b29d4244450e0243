#!/usr/bin/env python3
"""check_globals.py LIST OBJECT...: checks that LIST contains exactly the writable
variables with static lifetime of the OBJECTs, each with a reason. Tested with
objdump 2.40."""
import re
import subprocess
import sys

# Writable sections. .data.rel.ro is not one, because it is read-only after relocation.
SECTIONS = re.compile(r"\.t?(data|bss)\b(?!\.rel\.ro)|sp_handler_data$")


def writable(path):
    """Yields the names of the object's writable variables, without the number that
    the compiler appends to a function's static variables."""
    table = subprocess.run(["objdump", "-t", path], check=True, capture_output=True, text=True).stdout
    for row in table.splitlines():
        left, tab, right = row.partition("\t")
        words = left.split()
        if tab and SECTIONS.match(words[-1]) and ("O" in words[1:-1] or words[-1].startswith(".t")):
            yield re.sub(r"\.\d+$", "", right.split()[-1])


def main():
    listed = {}
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                name, _, reason = line.partition(" ")
                listed[name] = reason.strip()
    found = {name for path in sys.argv[2:] for name in writable(path)}
    faults = [f"{name} has static lifetime, but {sys.argv[1]} gives no reason"
              for name in sorted(found - listed.keys())]
    faults += [f"{name} is listed, but no object has it" for name in sorted(listed.keys() - found)
               if "(where" not in listed[name]]
    faults += [f"{name} is listed without a reason" for name, reason in listed.items() if not reason]
    print(f"{len(found)} variables")
    print(*faults, sep="\n", file=sys.stderr)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
