"""Interpreters exit without a crash while daemon threads use CPU time, log and call
functions of spanprof."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import unittest

from program import ProgramCase

RUNS = int(os.environ.get("SPANPROF_TEST_EXITS", "12"))

# A program that initializes and finalizes an interpreter for each of its arguments, a
# Python source.
TWO_LIVES = """
#include <Python.h>

int main(int count, char **sources) {
  int i, status = 0;

  for (i = 1; i < count; i++) {
    Py_Initialize();
    status |= PyRun_SimpleString(sources[i]);
    status |= Py_FinalizeEx();
  }
  return status != 0;
}
"""
LIBRARY = os.path.join(str(sysconfig.get_config_var("LIBDIR")), str(sysconfig.get_config_var("LDLIBRARY")))


class FinalizeTest(ProgramCase):
    def run_many(self, source: str, runs: int = RUNS, **variables: str) -> None:
        path = self.write("app.py", source)
        self.run_concurrently([[sys.executable, "-X", "faulthandler", str(path)]] * runs, **variables)

    def test_six_daemon_threads_burn_at_exit(self) -> None:
        self.run_many("""
            import spanprof, threading
            spanprof.start(sample_rate_hz=1000)
            def forever():
                while True:
                    burn(0.01)
            for _ in range(6):
                threading.Thread(target=forever, daemon=True).start()
            time.sleep(0.1)
        """)

    def test_daemon_threads_that_wait_for_the_gil_exit_before_the_interpreter_is_freed(self) -> None:
        """In CPython 3.10, a thread that waits for the GIL may read the interpreter
        after it was freed (take_gil()). Without spanprof, this program crashed in 12 of
        12 runs."""
        self.run_source("""
            import ctypes, spanprof, sys, threading
            spanprof.start()
            def forever():
                while True:
                    pass
            for _ in range(4):
                threading.Thread(target=forever, daemon=True).start()
            sys.setswitchinterval(0.05)  # no waiting thread checks while the interpreter ends
            time.sleep(0.3)
            libc = ctypes.CDLL(None)
            libc.on_exit(libc.sleep, None)  # sleeps as many seconds as the exit status, 1
            sys.exit(1)
        """, status=1)

    def test_daemon_threads_use_the_api_at_exit(self) -> None:
        self.run_many("""
            import logging, spanprof, threading
            logging.basicConfig(level=logging.INFO)
            spanprof.start()
            def forever(call):
                while True:
                    try:
                        call()
                    except spanprof.Error:
                        pass
            for call in (spanprof.start, spanprof.flush, spanprof.stats, spanprof.running,
                         lambda: spanprof.stop(0.01)):
                threading.Thread(target=forever, args=(call,), daemon=True).start()
            time.sleep(0.1)
        """)

    @unittest.skipIf(shutil.which("gcc") is None or not LIBRARY.endswith(".so") or not os.path.exists(LIBRARY),
                     "there is no C compiler, or no shared library of Python")
    def test_an_interpreter_after_the_first_was_finalized_is_refused(self) -> None:
        (self.directory / "lives.c").write_text(TWO_LIVES)
        lives = self.directory / "lives"
        subprocess.run(["gcc", f"-I{sysconfig.get_path('include')}", self.directory / "lives.c", LIBRARY,
                        f"-Wl,-rpath,{os.path.dirname(LIBRARY)}", "-o", lives], check=True)
        first = "import spanprof; assert spanprof.start() and spanprof.stop()"
        imported = "import spanprof; assert spanprof.available()"
        second = """
import spanprof
assert spanprof.start() is False and spanprof.stop() is False
assert "Py_Finalize() has ended it" in spanprof.unavailable_reason(), spanprof.unavailable_reason()
with spanprof.label(a="b"):
    pass
"""
        for life in (first, imported):
            self.run_command([lives, life, second, second])

    def test_library_threads_log_at_exit(self) -> None:
        self.run_many("""
            import logging, spanprof, threading
            logging.basicConfig()
            def receive(*profile):
                logging.getLogger("spanprof").warning("a profile")
            spanprof.start(on_profile=receive)
            burn(0.15)
        """, PYROSCOPE_SERVER_ADDRESS="http://127.0.0.1:9", PYROSCOPE_UPLOAD_INTERVAL="100ms")

    def test_with_cleared_exit_hooks_the_last_samples_are_written_without_a_crash(self) -> None:
        """The program removes spanprof's atexit hook. So the library stops its session
        only in C's exit handlers, when the interpreter is already finalized. The stop
        is slow, because the server refuses connections."""
        runs = max(RUNS // 3, 1)
        self.run_many("""
            import atexit, logging, spanprof, threading
            logging.basicConfig()
            def receive(*profile):
                logging.getLogger("spanprof").warning("a profile")
            spanprof.start(on_profile=receive)
            def forever():
                while True:
                    burn(0.01)
            for _ in range(2):
                threading.Thread(target=forever, daemon=True).start()
            def last():
                burn(0.15)
            last()
            atexit._clear()
        """, runs, PYROSCOPE_SERVER_ADDRESS="http://127.0.0.1:9", PYROSCOPE_UPLOAD_INTERVAL="100ms")
        cpu = self.cpu_s("last")
        self.assertEqual(len(cpu), runs)
        for seconds in cpu.values():
            self.assert_covered(seconds, 0.15, alone=True)


if __name__ == "__main__":
    unittest.main()
