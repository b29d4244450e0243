"""If spanprof cannot read the frames of the interpreter, the program is not profiled,
and the reason is logged."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
import unittest

import spanprof
from program import PACKAGES, ProgramCase

PROGRAM = """
    import logging, spanprof
    logging.basicConfig(format="%(message)s")
    print(spanprof.available(), spanprof.start(), spanprof.running())
    print(spanprof.unavailable_reason())
    burn(0.05)
    print("went on")
"""


class StartTest(ProgramCase):
    """spanprof.start succeeds in each of these states of a program."""

    def started(self, source: str) -> None:
        done = self.run_source(source)
        self.assertIn("started True None", done.stdout)
        self.assertTrue([s for s in self.samples() if s.runs("burn")], done.stderr)

    def test_this_interpreter_can_be_profiled(self) -> None:
        self.assertTrue(spanprof.available(), spanprof.unavailable_reason())
        self.assertIsNone(spanprof.unavailable_reason())

    def test_a_start_deep_in_a_recursion(self) -> None:
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

    def test_a_start_in_a_generator_on_another_thread(self) -> None:
        self.started("""
            import spanprof, threading
            def produce():
                print("started", spanprof.start(), spanprof.unavailable_reason())
                yield burn(0.2)
            thread = threading.Thread(target=lambda: list(produce()))
            thread.start()
            thread.join()
        """)

    def test_a_start_under_trace_and_profile_functions(self) -> None:
        self.started("""
            import spanprof, sys
            sys.settrace(lambda *arguments: None)
            sys.setprofile(lambda *arguments: None)
            print("started", spanprof.start(), spanprof.unavailable_reason())
            sys.setprofile(None)
            burn(0.2)
        """)

    def test_a_start_in_a_coroutine_in_development_mode(self) -> None:
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

    def test_a_start_with_a_replaced_builtin_is_refused(self) -> None:
        """The self-test needs `max`, `list` and `range`. If the program has replaced
        one of them by an object that does not work, it runs without profiling."""
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


@unittest.skipIf(shutil.which("gcc") is None, "there is no C compiler")
class RefusalTest(ProgramCase):
    def start(self, source: str, function: str, body: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a program with a copy of the extension that calls another function
        instead of `function` of the interpreter; `body` is the C source of the other
        function. LD_PRELOAD cannot replace a function of a statically linked
        interpreter, so the copy imports a function with another name, which LD_PRELOAD
        adds."""
        other = "Xy" + function[2:]
        package = self.directory / "spanprof"
        shutil.copytree(PACKAGES / "spanprof", package)
        native = next(package.glob("_native.*.so"))
        code = native.read_bytes()
        self.assertIn(f"\0{function}\0".encode(), code)
        native.write_bytes(code.replace(f"\0{function}\0".encode(), f"\0{other}\0".encode()))
        library = self.directory / "other.so"
        (self.directory / "other.c").write_text(f"const void *{other}(void) {{ {body} }}")
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, self.directory / "other.c"], check=True)
        # The program imports the copy of the extension, because sys.path begins with the
        # folder of the program, which contains the copy.
        return self.run_source(source, LD_PRELOAD=str(library), **variables)

    def refused(self, function: str, body: str) -> str:
        """Assert that a program is not profiled if `function` is replaced. Return its
        output, which has the reason."""
        done = self.start(PROGRAM, function, body)
        self.assertIn("False False False", done.stdout)
        self.assertIn("went on", done.stdout)
        self.assertIn("not profiled: ", done.stderr)
        self.assertEqual(list(pathlib.Path(self.profiles).iterdir()), [])
        return done.stdout

    def test_an_extension_for_another_version_is_refused(self) -> None:
        reason = self.refused("Py_GetVersion", 'return "3.99.1 (other)";')
        self.assertIn("3.99.1 loaded an extension compiled for Python "
                      f"{sys.version_info.major}.{sys.version_info.minor}", reason)

    @unittest.skipUnless(sys.version_info[:2] == (3, 11), "for 3.11")
    def test_python_3_11_0_is_refused(self) -> None:
        reason = self.refused("Py_GetVersion", 'return "3.11.0 (main)";')
        self.assertIn("3.11.0 frees frames that are still linked", reason)

    def test_a_wrong_thread_state_is_refused(self) -> None:
        reason = self.refused("PyGILState_GetThisThreadState", "return 0;")
        self.assertIn("another thread's state", reason)

    def test_a_refusal_is_an_error_where_profiling_is_required(self) -> None:
        done = self.start("""
            import spanprof
            try:
                spanprof.start()
            except spanprof.Error as error:
                print("raised", error)
        """, "PyGILState_GetThisThreadState", "return 0;", SPANPROF_REQUIRED="1")
        self.assertIn("raised Python ", done.stdout)


class SignalTest(ProgramCase):
    def test_spanprof_installs_no_handlers_of_fault_signals(self) -> None:
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
