"""However a process ends, what it had is written, in bounded time."""

from __future__ import annotations

import os
import socket
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
    def test_what_ends_a_process_pickles(self) -> None:
        self.run_source("""
            import os, pickle, spanprof
            spanprof.start()
            for function in (os._exit, os.execv, os.execve, os.fork):
                assert pickle.loads(pickle.dumps(function)) is function
        """)

    def test_every_end_hands_on_the_running_window(self) -> None:
        for number, (name, end) in enumerate(ENDS.items()):
            with self.subTest(name):
                self.profiles = self.directory / f"profiles-{number}"
                self.run_source(f"import spanprof\nspanprof.start()\nburn(0.3)\n{end}\n",
                                PYROSCOPE_OUTPUT_DIRECTORY=str(self.profiles))
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

    def test_an_exec_that_fails_leaves_the_session(self) -> None:
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

    def end_s(self, end: str, **variables: str) -> float:
        """Seconds that we hold up an end of a program whose server hangs: until
        what the end goes to, its own exit functions or its own _exit and execv."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            done = self.run_source(f"""
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
                begun = time.monotonic()
                {end}
            """, PYROSCOPE_SERVER_ADDRESS=f"http://127.0.0.1:{server.getsockname()[1]}", **variables)
        return float(done.stdout)

    def test_an_end_waits_two_seconds_for_a_server_that_hangs(self) -> None:
        for end in ("", "os._exit(0)", "os.execv('/bin/true', ['true'])"):
            with self.subTest(end):
                took = self.end_s(end)
                self.assertGreater(took, 1.5, "it was waited for")
                self.assertLess(took, END_S)

    def test_attempts_at_an_exec_that_follow_each_other_have_one_deadline(self) -> None:
        """As in `os.execvp`, which tries each directory of PATH."""
        entries = [self.directory / f"bin-{number}" for number in range(5)]
        for entry in entries:
            entry.mkdir()
        path = os.pathsep.join([*map(str, entries), os.environ["PATH"]])
        self.assertLess(self.end_s("os.execvp('true', ['true'])", PATH=path), END_S, "not 2 s for each of 6")

    def test_what_exit_functions_registered_later_burn_is_profiled(self) -> None:
        self.run_source("""
            import atexit, spanprof
            spanprof.start()
            atexit.register(burn, 0.5)
        """)
        self.assert_covered(sum(self.cpu_s("burn").values()), 0.5)

    def test_signals_end_a_process_as_before(self) -> None:
        self.run_source("""
            import os, signal, spanprof
            spanprof.start()
            burn(0.1)
            os.kill(os.getpid(), signal.SIGTERM)
        """, status=-15)


if __name__ == "__main__":
    unittest.main()
