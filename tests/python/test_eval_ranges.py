"""py_sp_eval_find() finds the code of an interpreter that has a function for each
instruction, as CPython from 3.14 on has if clang builds it. A C program imitates such
an interpreter."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import sysconfig
import unittest

from program import ProgramCase

CHECKOUT = pathlib.Path(__file__).resolve().parent.parent.parent
OPERATIONS = 220

PROGRAM = """
#include <stdio.h>
#include <spanprof/runtime.h>

size_t py_sp_eval_find(spanprof_range *ranges);  /* py_eval.h, without Python.h */

typedef int (*operation)(int);
operation table[256];

#define OTHER(n) \
  __attribute__((noinline, noclone)) static int other_##n(int a) { \
    return table[a & 255] ? a * n + 1 : 0; }
#define OPERATION(n) \
  OTHER(n) \
  __attribute__((noinline, noclone)) static int _TAIL_CALL_op_##n(int a) { \
    return a > 3 ? a : table[(a + n) & 255](other_##n(a) + 1) + 1; }
%(operations)s

int _PyEval_EvalFrameDefault(int a) {
  return table[a & 255](a) + 1;
}

operation table[256] = {[0 ... 255] = _TAIL_CALL_op_0, %(entries)s};
static const operation others[] = {%(others)s};

static spanprof_range ranges[SPANPROF_RUNTIME_RANGES_MAX];
static size_t count;

static int covered(operation function) {
  const uint64_t at = (uint64_t)(uintptr_t)function;
  size_t i;

  for (i = 0; i < count; i++)
    if (at >= ranges[i].start && at < ranges[i].end)
      return 1;
  return 0;
}

int main(void) {
  int operations = 0, others_covered = 0, i;

  count = py_sp_eval_find(ranges);
  for (i = 0; i < %(count)d; i++) {
    operations += covered(table[i]);
    others_covered += covered(others[i]);
  }
  printf("%%d %%d %%d\\n", covered(_PyEval_EvalFrameDefault), operations, others_covered);
  return 0;
}
"""


class EvalRangesTest(ProgramCase):
    def setUp(self) -> None:
        super().setUp()
        numbers = range(OPERATIONS)
        source = self.directory / "interpreter.c"
        source.write_text(PROGRAM % {
            "operations": "\n".join(f"OPERATION({n})" for n in numbers),
            "entries": ", ".join(f"[{n}] = _TAIL_CALL_op_{n}" for n in numbers),
            "others": ", ".join(f"other_{n}" for n in numbers), "count": OPERATIONS})
        self.program = self.directory / "interpreter"
        # This is the command of the build backend. The files that the backend has
        # generated in vendor/ are not used, because another process may rewrite them at
        # any time.
        subprocess.run(["protoc-c", f"--proto_path={CHECKOUT}/core/proto", f"--c_out={self.directory}",
                        "profile.proto", "push.proto"], check=True)
        include = [f"-I{CHECKOUT / folder}" for folder in (
            "core/include", "core/src", "bindings/python", self.directory)]
        subprocess.run(
            [*os.environ.get("CC", "gcc").split(), "-std=gnu11", "-O1", "-rdynamic",
             "-D_GNU_SOURCE", "-DSPANPROF_STATIC",
             *include, f"-I{sysconfig.get_path('include')}", source,
             CHECKOUT / "core/src/spanprof_unity.c", CHECKOUT / "bindings/python/vm/py_eval.c",
             "-o", self.program, "-lcurl", "-lprotobuf-c", "-lz", "-lpthread", "-ldl", "-lm"],
            check=True)

    def test_exactly_the_functions_of_instructions_are_found(self) -> None:
        right = f"1 {OPERATIONS} 0\n"
        self.assertEqual(subprocess.check_output([self.program], text=True), right)
        subprocess.run(["strip", "--strip-all", self.program], check=True)
        self.assertEqual(subprocess.check_output([self.program], text=True), right)


CONSTANTS = """
import re
import spanprof

def resident_kib():
    total, counts = 0, False
    for line in open("/proc/self/smaps"):
        first, *rest = line.split()
        if not first.endswith(":"):
            counts = rest[0] == "r--p" and re.search(r"/(lib)?python3[^/]*$", line)
        elif first == "Rss:" and counts:
            total += int(rest[0])
    return total

before = resident_kib()
assert before > 0
assert spanprof.start(application_name="constants")
print(resident_kib() - before)
spanprof.stop()
"""


# A search for the table reads all constants of the interpreter, which makes them
# resident. From 3.14 on, the compiler may move most of the eval loop out of its function.
# The rest is as small as the function of an interpreter that has a function for each
# instruction, so spanprof searches for the table of these functions.
@unittest.skipIf(sys.version_info >= (3, 14), "from 3.14 on, spanprof may search for the table")
class EvalConstantsTest(ProgramCase):
    def test_the_table_is_not_searched_for_if_there_is_one_loop(self) -> None:
        grown_kib = int(self.run_source(CONSTANTS).stdout)
        self.assertLessEqual(grown_kib, 128)


if __name__ == "__main__":
    unittest.main()
