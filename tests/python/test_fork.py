"""A forked child is profiled, independently of its parent."""

from __future__ import annotations

import sys
import unittest

from program import ProgramCase


class ForkTest(ProgramCase):
    def assert_children_covered(self, children: list[int], true: float) -> None:
        cpu = self.cpu_s("burn")
        self.assertTrue(children)
        for pid in children:
            self.assertIn(pid, cpu)
            self.assert_covered(cpu[pid], true, f"child {pid} of {cpu}", alone=True)

    def test_parent_and_forked_children_are_profiled(self) -> None:
        done = self.run_source("""
            import os, spanprof
            spanprof.start()
            burn(0.4)
            for _ in range(3):
                pid = os.fork()
                if pid == 0:
                    burn(0.3)
                    os._exit(0)
                print(pid)
                assert os.waitpid(pid, 0)[1] == 0
            burn(0.4)
        """)
        children = [int(pid) for pid in done.stdout.split()]
        self.assert_children_covered(children, 0.3)
        cpu = self.cpu_s("burn")
        self.assertEqual(len(cpu), 4)
        self.assert_covered(sum(cpu.values()) - sum(cpu[pid] for pid in children), 0.8)

    def test_grandchildren_and_a_child_that_exits_normally(self) -> None:
        done = self.run_source("""
            import os, spanprof
            spanprof.start()
            for _ in range(3):
                pid = os.fork()
                if pid:
                    assert os.waitpid(pid, 0)[1] == 0
                    break
                print(os.getpid(), flush=True)
                burn(0.3)
        """)
        self.assert_children_covered([int(pid) for pid in done.stdout.split()], 0.3)

    def test_a_child_forked_by_a_thread_exits_when_the_thread_returns(self) -> None:
        done = self.run_source("""
            import os, spanprof, threading
            spanprof.start()
            def fork():
                pid = os.fork()
                if pid == 0:
                    print(os.getpid(), flush=True)
                    burn(0.3)
                else:
                    assert os.waitpid(pid, 0)[1] == 0
            thread = threading.Thread(target=fork)
            thread.start()
            thread.join()
        """)
        self.assert_children_covered([int(pid) for pid in done.stdout.split()], 0.3)

    @unittest.skipIf(sys.version_info < (3, 12), "before 3.12, CPython allows this fork")
    def test_a_fork_during_finalization_is_still_refused(self) -> None:
        done = self.run_source("""
            import os, spanprof
            class Last:
                def __del__(self):
                    os.fork()
            spanprof.start()
            last = Last()
        """)
        self.assertIn("can't fork at interpreter shutdown", done.stderr)

    def test_a_child_may_start_again_or_stop(self) -> None:
        self.run_source("""
            import os, spanprof
            spanprof.start()
            pid = os.fork()
            if pid == 0:
                assert spanprof.running()
                assert spanprof.start(application_name="child")
                burn(0.5)
                assert spanprof.stop()
                assert not spanprof.running()
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
            assert spanprof.running()
        """)
        names = {path.name.split("-")[0] for path in self.profiles.iterdir()}
        self.assertIn("child", names)

    def test_forks_during_logging_and_flushing_do_not_hang(self) -> None:
        self.run_source("""
            import logging, os, spanprof, threading
            logging.basicConfig(filename="lines", level=logging.DEBUG)
            spanprof.start(on_profile=lambda *profile: time.sleep(0.001))
            stopped = []
            def forever(call):
                while not stopped:
                    call()
            for call in (spanprof.flush, spanprof.start, lambda: burn(0.01)):
                threading.Thread(target=forever, args=(call,), daemon=True).start()
            until = time.monotonic() + 3
            while time.monotonic() < until:
                pid = os.fork()
                if pid == 0:
                    burn(0.01)
                    os._exit(0)
                assert os.waitpid(pid, 0)[1] == 0
            stopped.append(True)
        """, timeout=90, PYROSCOPE_SERVER_ADDRESS="http://127.0.0.1:9",
             PYROSCOPE_UPLOAD_INTERVAL="100ms")

    def test_a_child_forked_during_a_flush_can_log(self) -> None:
        self.run_source("""
            import logging, os, socket, spanprof, threading
            silent = socket.create_server(("127.0.0.1", 0))
            spanprof.start(server_address=f"http://127.0.0.1:{silent.getsockname()[1]}")
            burn(0.3)
            threading.Thread(target=spanprof.flush, args=(10,), daemon=True).start()
            connection, _ = silent.accept()
            pid = os.fork()
            if pid == 0:
                records = []
                class Handler(logging.Handler):
                    def emit(self, record):
                        records.append(record)
                logging.getLogger("spanprof").addHandler(Handler())
                silent.close()
                connection.close()
                burn(0.3)
                wait_for(lambda: records)
                os._exit(0)
            # From here on, the uploads of the child are refused, which it logs.
            silent.close()
            connection.close()
            assert os.waitpid(pid, 0)[1] == 0
            os._exit(0)
        """, PYROSCOPE_UPLOAD_INTERVAL="2s")

    def test_children_of_an_unprofiled_parent_are_not_profiled(self) -> None:
        self.run_source("""
            import os, spanprof
            pid = os.fork()
            if pid == 0:
                burn(0.3)
                os._exit(spanprof.running())
            assert os.waitpid(pid, 0)[1] == 0
        """)
        self.assertEqual(self.cpu_s(), {})

    def test_python_warns_only_about_threads_of_the_program(self) -> None:
        done = self.run_source("""
            import os, spanprof, threading, warnings
            spanprof.start()
            def fork():
                pid = os.fork()
                if pid == 0:
                    os._exit(0)
                assert os.waitpid(pid, 0)[1] == 0
            warnings.simplefilter("error")
            fork()
            warnings.simplefilter("always")
            done = threading.Event()
            threading.Thread(target=done.wait, daemon=True).start()
            fork()
        """)
        warned = done.stderr.count("use of fork() may lead to deadlocks")
        self.assertEqual(warned, sys.version_info >= (3, 12), done.stderr)

    def test_python_warns_about_threads_that_it_does_not_know(self) -> None:
        done = self.run_source("""
            import ctypes, os, spanprof, time, warnings
            spanprof.start()
            libc = ctypes.CDLL(None)
            thread = ctypes.c_ulong()
            # The thread runs pause() of C, which sleeps for ever. It takes no argument,
            # so it can be a thread function.
            assert libc.pthread_create(ctypes.byref(thread), None, libc.pause, None) == 0
            warnings.simplefilter("always")
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
        """)
        warned = done.stderr.count("use of fork() may lead to deadlocks")
        self.assertEqual(warned, sys.version_info >= (3, 12), done.stderr)

    def test_subprocesses_run_as_before(self) -> None:
        self.run_source("""
            import spanprof, subprocess
            spanprof.start(sample_rate_hz=1000)
            for _ in range(50):
                assert subprocess.run(["/bin/echo", "x"], capture_output=True).stdout == b"x\\n"
        """)


if __name__ == "__main__":
    unittest.main()
