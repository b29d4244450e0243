"""An interpreter that cannot be walked is left alone, and the reason told."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
import unittest

import spanprof
from program import ProgramCase

# The program's own functions cannot be replaced, those of a library can.
SHARED = ("libpython" in pathlib.Path("/proc/self/maps").read_text()
          and shutil.which("gcc") is not None)

PROGRAM = """
    import logging, spanprof
    logging.basicConfig(format="%(message)s")
    print(spanprof.available(), spanprof.start(), spanprof.running())
    print(spanprof.unavailable_reason())
    burn(0.05)
    print("went on")
"""


class StartTest(ProgramCase):
    """Where a start must succeed."""

    def started(self, source: str) -> None:
        done = self.run_source(source)
        self.assertIn("started True None", done.stdout)
        self.assertTrue([s for s in self.samples() if s.runs("burn")], done.stderr)

    def test_this_interpreter_can_be_profiled(self) -> None:
        self.assertTrue(spanprof.available(), spanprof.unavailable_reason())
        self.assertIsNone(spanprof.unavailable_reason())

    def test_deep_in_a_recursion(self) -> None:
        self.started("""
            import spanprof, sys
            sys.setrecursionlimit(3000)
            def down(depth):
                if depth:
                    return down(depth - 1)
                print("started", spanprof.start(), spanprof.unavailable_reason())
                burn(0.2)
            down(2000)
        """)

    def test_in_a_generator_and_a_thread(self) -> None:
        self.started("""
            import spanprof, threading
            def produce():
                print("started", spanprof.start(), spanprof.unavailable_reason())
                yield burn(0.2)
            thread = threading.Thread(target=lambda: list(produce()))
            thread.start()
            thread.join()
        """)

    def test_under_trace_and_profile_functions(self) -> None:
        self.started("""
            import spanprof, sys
            sys.settrace(lambda *arguments: None)
            sys.setprofile(lambda *arguments: None)
            print("started", spanprof.start(), spanprof.unavailable_reason())
            sys.setprofile(None)
            burn(0.2)
        """)

    def test_in_a_coroutine_and_with_development_mode(self) -> None:
        path = self.write("app.py", """
            import asyncio, spanprof
            async def main():
                print("started", spanprof.start(), spanprof.unavailable_reason())
                burn(0.2)
            asyncio.run(main(), debug=True)
        """)
        done = self.run_command([sys.executable, "-X", "dev", path])
        self.assertIn("started True None", done.stdout)
        self.assertTrue([s for s in self.samples() if s.runs("burn")])

    def test_with_a_broken_builtin(self) -> None:
        """The self-test needs `max`, `list` and `range`: a program that has
        replaced them is not profiled, and goes on."""
        done = self.run_source("""
            import builtins, logging, spanprof
            logging.basicConfig(format="%(message)s")
            max_before, builtins.max = max, None
            print("started", spanprof.start())
            builtins.max = max_before
            print("went on")
        """)
        self.assertIn("started False", done.stdout)
        self.assertIn("went on", done.stdout)
        self.assertIn("not profiled: ", done.stderr)


class RefusalTest(ProgramCase):
    def refused(self, replacement: str) -> str:
        """What is said where a function of the interpreter is another one."""
        source = self.directory / "other.c"
        source.write_text(replacement)
        library = self.directory / "other.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
        done = self.run_source(PROGRAM, LD_PRELOAD=str(library))
        self.assertIn("False False False", done.stdout)
        self.assertIn("went on", done.stdout)
        self.assertIn("not profiled: ", done.stderr)
        self.assertEqual(list(pathlib.Path(self.profiles).iterdir()), [])
        return done.stdout

    @unittest.skipUnless(SHARED, "the functions of this Python cannot be replaced")
    def test_another_version_than_compiled_for(self) -> None:
        said = self.refused('const char *Py_GetVersion(void) { return "3.99.1 (other)"; }')
        self.assertIn("3.99.1 loaded an extension compiled for "
                      f"{sys.version_info.major}.{sys.version_info.minor}", said)

    @unittest.skipUnless(SHARED and sys.version_info[:2] == (3, 11), "for 3.11")
    def test_the_version_that_frees_linked_frames(self) -> None:
        said = self.refused('const char *Py_GetVersion(void) { return "3.11.0 (main)"; }')
        self.assertIn("3.11.0 frees frames that are still linked", said)

    @unittest.skipUnless(SHARED, "the functions of this Python cannot be replaced")
    def test_a_thread_state_that_is_not_this_thread_s(self) -> None:
        said = self.refused("void *PyGILState_GetThisThreadState(void) { return 0; }")
        self.assertIn("another thread's state", said)

    @unittest.skipUnless(SHARED, "the functions of this Python cannot be replaced")
    def test_a_refusal_is_an_error_where_profiling_is_required(self) -> None:
        source = self.directory / "other.c"
        source.write_text("void *PyGILState_GetThisThreadState(void) { return 0; }")
        library = self.directory / "other.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
        done = self.run_source("""
            import spanprof
            try:
                spanprof.start()
            except spanprof.Error as error:
                print("raised", error)
        """, LD_PRELOAD=str(library), SPANPROF_REQUIRED="1")
        self.assertIn("raised Python ", done.stdout)


class SignalTest(ProgramCase):
    def test_no_handler_for_faults_is_ours(self) -> None:
        self.run_source("""
            import ctypes, spanprof
            def handlers():
                libc = ctypes.CDLL(None)
                out = []
                for number in (4, 7, 8, 11):
                    action = (ctypes.c_char * 256)()
                    assert libc.sigaction(number, None, action) == 0
                    out.append(bytes(action)[:8])
                return out
            before = handlers()
            assert spanprof.start()
            burn(0.1)
            assert handlers() == before
            assert spanprof.stop()
            assert handlers() == before
        """)


if __name__ == "__main__":
    unittest.main()
