"""However a process ends, what it had is handed on, in bounded time."""

from __future__ import annotations

import socket
import sys
import time
import unittest

from program import ProgramCase

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
    def test_every_end_hands_on_the_running_window(self) -> None:
        for number, (name, end) in enumerate(ENDS.items()):
            with self.subTest(name):
                self.profiles = self.directory / f"profiles-{number}"
                self.run_source(f"import spanprof\nspanprof.start()\nburn(0.5)\n{end}\n",
                                PYROSCOPE_OUTPUT_DIRECTORY=str(self.profiles))
                self.assert_covered(sum(self.cpu_s().values()), 0.5, name)

    def test_an_uncaught_exception_keeps_its_status(self) -> None:
        done = self.run_source("""
            import spanprof
            spanprof.start()
            burn(0.5)
            raise ValueError("as before")
        """, status=1)
        self.assertIn("ValueError: as before", done.stderr)
        self.assert_covered(sum(self.cpu_s().values()), 0.5)

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
        self.assert_covered(sum(self.cpu_s().values()), 0.6)

    def test_an_end_waits_at_most_two_seconds_for_a_server_that_hangs(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            address = f"http://127.0.0.1:{server.getsockname()[1]}"
            for end in ("", "os._exit(0)", "os.execv('/bin/true', ['true'])"):
                with self.subTest(end):
                    path = self.write("app.py", f"""
                        import os, spanprof
                        spanprof.start()
                        burn(0.3)
                        print(time.time(), flush=True)
                        {end}
                    """)
                    done = self.run_command([sys.executable, path],
                                            PYROSCOPE_SERVER_ADDRESS=address)
                    took = time.time() - float(done.stdout)
                    self.assertLess(took, 3.5, "2 s, and the end of an interpreter")

    def test_what_exit_functions_registered_later_burn_is_profiled(self) -> None:
        self.run_source("""
            import atexit, spanprof
            spanprof.start()
            atexit.register(burn, 0.5)
        """)
        self.assert_covered(sum(self.cpu_s().values()), 0.5)

    def test_signals_end_a_process_as_before(self) -> None:
        self.run_source("""
            import os, signal, spanprof
            spanprof.start()
            burn(0.1)
            os.kill(os.getpid(), signal.SIGTERM)
        """, status=-15)


if __name__ == "__main__":
    unittest.main()
