"""However a process exits, its samples are delivered, within a limited time."""

from __future__ import annotations

import os
import socket
import sys
import unittest

from program import END_S, ProgramCase

ENDS = {
    "the end of the program": "",
    "sys.exit": "import sys; sys.exit(0)",
    "os._exit": "import os; os._exit(0)",
    "from os import _exit, after the start": "from os import _exit; _exit(0)",
    "os._exit with a keyword": "import os; os._exit(status=0)",
    "os.execv": "import os, sys; os.execv(sys.executable, [sys.executable, '-c', ''])",
    "os.execve": "import os; os.execve('/bin/true', ['true'], {})",
    "os.execl": "import os; os.execl('/bin/true', 'true')",
    "os.execvp": "import os; os.execvp('true', ['true'])",
    "os.execlpe": "import os; os.execlpe('true', 'true', os.environ)",
}


class ExitTest(ProgramCase):
    def test_replaced_exit_functions_can_be_pickled(self) -> None:
        self.run_source("""
            import os, pickle, spanprof
            spanprof.start()
            for function in (os._exit, os.execv, os.execve, os.fork):
                assert pickle.loads(pickle.dumps(function)) is function
        """)

    def test_every_way_to_exit_delivers_the_current_window(self) -> None:
        directories = [self.directory / f"profiles-{number}" for number in range(len(ENDS))]
        self.run_sources([f"import spanprof\nspanprof.start(output_directory={str(directory)!r})\nburn(0.3)\n{end}\n"
                          for directory, end in zip(directories, ENDS.values(), strict=True)])
        for directory, name in zip(directories, ENDS, strict=True):
            with self.subTest(name):
                self.profiles = directory
                self.assert_covered(sum(self.cpu_s("burn").values()), 0.3, name)

    def test_an_uncaught_exception_keeps_its_status(self) -> None:
        done = self.run_source("""
            import spanprof
            spanprof.start()
            burn(0.5)
            raise ValueError("as before")
        """, status=1)
        self.assertIn("ValueError: as before", done.stderr)
        self.assert_covered(sum(self.cpu_s("burn").values()), 0.5)

    def test_an_exec_that_fails_keeps_the_session(self) -> None:
        self.run_source("""
            import os, spanprof
            spanprof.start()
            burn(0.3)
            try:
                os.execv("/nowhere", ["nowhere"])
            except FileNotFoundError:
                pass
            assert spanprof.running()
            burn(0.3)
        """)
        self.assert_covered(sum(self.cpu_s("burn").values()), 0.6, threads=2)

    def test_an_exit_waits_two_seconds_for_a_server_that_hangs(self) -> None:
        """Measures the time from the start of the exit to the call of `ended`. The
        program registers this function with atexit, and replaces `os._exit` and
        `os.execv` by it, before it imports spanprof. `os.execvp` calls `os.execv` for
        each directory of PATH, and all these calls together must take no longer."""
        entries = [self.directory / f"bin-{number}" for number in range(5)]
        for entry in entries:
            entry.mkdir()
        ends = ("", "os._exit(0)", "os.execv('/bin/true', ['true'])", "os.execvp('true', ['true'])")
        with socket.create_server(("127.0.0.1", 0)) as server:
            ended = self.run_sources([f"""
                import atexit, os
                leave = os._exit
                def ended(path="", *_):
                    if path and not os.path.exists(path):
                        raise FileNotFoundError(path)
                    print(time.monotonic() - begun, flush=True)
                    leave(0)
                atexit.register(ended)
                os._exit = os.execv = ended
                import spanprof
                spanprof.start()
                burn(0.3)
                open(f"burnt-{{os.getpid()}}", "w").close()
                wait_for(lambda: sum(name.startswith("burnt-") for name in os.listdir()) == {len(ends)})
                begun = time.monotonic()
                {end}
            """ for end in ends], PYROSCOPE_SERVER_ADDRESS=f"http://127.0.0.1:{server.getsockname()[1]}",
                PATH=os.pathsep.join([*map(str, entries), os.environ["PATH"]]))
        for end, done in zip(ends, ended, strict=True):
            with self.subTest(end):
                took = float(done.stdout)
                self.assertGreater(took, 1.5, "the exit did not wait for the server")
                self.assertLess(took, END_S)

    def test_exit_functions_registered_later_are_profiled(self) -> None:
        self.run_source("""
            import atexit, spanprof
            spanprof.start()
            atexit.register(burn, 0.5)
        """)
        self.assert_covered(sum(self.cpu_s("burn").values()), 0.5)

    def test_no_python_code_runs_after_c_exit_handlers_began(self) -> None:
        """The process calls C's exit(), as a program does that embeds Python and does not
        finalize it. The thread that calls it has the GIL (gil), or does not have it
        (free), or does not have it while another thread delivers a log line (busy)."""
        path = self.write("app.py", """
            import ctypes, logging, sys, threading
            class Handler(logging.Handler):
                def emit(self, record):
                    with open(f"{sys.argv[1]}.lines", "a") as file:
                        print(record.getMessage(), file=file)
                    if record.levelno >= logging.WARNING and sys.argv[1] == "busy":
                        delivering.set()
                        threading.Lock().acquire()
                        threading.Event().wait()
            delivering = threading.Event()
            logging.getLogger("spanprof").addHandler(Handler())
            logging.getLogger("spanprof").setLevel(logging.INFO)
            libc = (ctypes.PyDLL if sys.argv[1] == "gil" else ctypes.CDLL)(None)
            # The last exit handler lists the threads that still exist. A thread that
            # was joined can stay in /proc for a moment, so the handler lists again, for
            # up to 5 s, while there are too many.
            expected = 1 if sys.argv[1] == "busy" else 0
            threads = f'''for i in $(seq 50); do
                names=$(cat /proc/$PPID/task/*/comm)
                [ "$(echo "$names" | grep -c spanprof)" -gt {expected} ] || break
                sleep 0.1
            done
            echo "$names" > {sys.argv[1]}.threads'''.encode()
            libc.__cxa_atexit(ctypes.cast(libc.system, ctypes.c_void_p), threads, None)
            import spanprof
            if sys.argv[1] == "busy":
                spanprof.start(server_address="http://127.0.0.1:9", upload_interval_ms=100)
                burn(0.3)
                delivering.wait()
            else:
                spanprof.start()
                burn(0.3)
            libc.exit(0)
        """)
        kinds = ("free", "gil", "busy")
        self.run_concurrently([[sys.executable, str(path), kind] for kind in kinds])
        for kind in kinds:
            with self.subTest(kind):
                threads = (self.directory / f"{kind}.threads").read_text().split()
                self.assertEqual(threads[1:], ["spanprof-log"] if kind == "busy" else [])
                self.assertNotIn("profiling stopped", (self.directory / f"{kind}.lines").read_text())

    def test_signals_still_end_a_process(self) -> None:
        self.run_source("""
            import os, signal, spanprof
            spanprof.start()
            burn(0.1)
            os.kill(os.getpid(), signal.SIGTERM)
        """, status=-15)


if __name__ == "__main__":
    unittest.main()
