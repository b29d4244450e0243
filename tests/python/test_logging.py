"""Log lines of the library's threads become records of the logger "spanprof", whatever
the program is doing."""

from __future__ import annotations

import sys
import unittest

from program import END_S, ProgramCase

# No server listens on this port, so that the uploader thread logs warnings.
NOBODY = {"PYROSCOPE_SERVER_ADDRESS": "http://127.0.0.1:9",
          "PYROSCOPE_UPLOAD_INTERVAL": "100ms"}


class LoggingTest(ProgramCase):
    def test_a_warning_of_a_library_thread_is_a_record(self) -> None:
        self.run_source("""
            import logging, spanprof, threading
            records = []
            class Handler(logging.Handler):
                def emit(self, record):
                    records.append((record.name, record.levelname, record.getMessage(),
                                    threading.get_ident()))
            logging.getLogger("spanprof").addHandler(Handler())
            spanprof.start()
            burn(0.3)
            wait_for(lambda: records)
            name, level, text, thread = records[0]
            assert (name, level) == ("spanprof", "WARNING"), records
            assert "http://127.0.0.1:9" in text, records
            assert thread != threading.get_ident()
        """, **NOBODY)

    def test_lines_are_logged_while_the_main_thread_sleeps_for_ever(self) -> None:
        self.run_source("""
            import logging, os, spanprof, threading
            class Handler(logging.Handler):
                def emit(self, record):
                    os._exit(7)
            logging.getLogger("spanprof").addHandler(Handler())
            spanprof.start()
            threading.Thread(target=burn, args=(0.3,), daemon=True).start()
            threading.Lock().acquire()
            lock = threading.Lock()
            lock.acquire()
            lock.acquire()
        """, status=7, **NOBODY)

    def test_a_handler_with_a_non_recursive_lock_does_not_deadlock(self) -> None:
        self.run_source("""
            import logging, logging.handlers, queue, spanprof
            lines = queue.Queue()
            logging.getLogger().addHandler(logging.handlers.QueueHandler(lines))
            spanprof.start()
            until = time.monotonic() + 20
            while time.monotonic() < until:
                lines.put(None)
                record = lines.get()
                if record is not None:
                    break
            assert "127.0.0.1" in record.getMessage()
        """, **NOBODY)

    def test_a_handler_that_raises_or_starts_again_does_no_harm(self) -> None:
        done = self.run_source("""
            import logging, spanprof
            calls = []
            class Handler(logging.Handler):
                def handle(self, record):
                    calls.append(spanprof.stats()["samples_taken"])
                    raise RuntimeError("failing handler")
            logging.getLogger("spanprof").addHandler(Handler())
            assert spanprof.start()
            burn(0.3)
            wait_for(lambda: calls)
            spanprof.stop()
            print("went on")
        """, **NOBODY)
        self.assertEqual(done.stdout, "went on\n")
        self.assertIn("http://127.0.0.1:9", done.stderr)
        self.assertIn("(logging it raised RuntimeError)", done.stderr)

    def test_a_handler_has_the_usual_recursion_limit(self) -> None:
        self.run_source("""
            import json, logging, spanprof, sys, threading
            sys.setrecursionlimit(10000)  # the limit of CPython 3.12 for C code
            deep = []
            class Handler(logging.Handler):
                def emit(self, record):
                    try:
                        json.loads("[" * 100000)
                    except RecursionError:
                        deep.append(threading.get_ident())
            logging.getLogger("spanprof").addHandler(Handler())
            spanprof.start(log_level="warn")
            burn(0.3)
            wait_for(lambda: deep)
            assert threading.get_ident() not in deep
        """, **NOBODY)

    def test_an_exception_of_a_signal_handler_ends_the_call_and_no_line_is_lost(self) -> None:
        path = self.write("app.py", """
            import builtins, logging, signal, socket, spanprof, sys
            records = []
            class Handler(logging.Handler):
                def emit(self, record):
                    records.append(record.getMessage())
            logging.getLogger("spanprof").addHandler(Handler())
            logging.getLogger("spanprof").setLevel(logging.INFO)
            deaf = socket.create_server(("127.0.0.1", 0))
            address = f"http://127.0.0.1:{deaf.getsockname()[1]}"
            raised = getattr(builtins, sys.argv[1])
            def interrupt(number, frame):
                raise raised
            signal.signal(signal.SIGALRM, interrupt)
            for end in (lambda: spanprof.stop(1), spanprof.start):
                assert spanprof.start(server_address=address)
                burn(0.3)
                records.clear()
                signal.setitimer(signal.ITIMER_REAL, 0.3)
                try:
                    end()
                    time.sleep(20)
                except raised:
                    pass
                else:
                    raise AssertionError(f"{raised} did not end {end}")
                wait_for(lambda: any("stopped" in text for text in records))
                assert spanprof.running() == (end is spanprof.start)
                spanprof.stop(0)
        """)
        self.run_concurrently([[sys.executable, str(path), error.__name__]
                         for error in (KeyboardInterrupt, SystemExit, TimeoutError)])

    def test_threading_does_not_list_threads_of_the_library(self) -> None:
        self.run_source("""
            import logging, spanprof, threading
            others = []
            class Handler(logging.Handler):
                def emit(self, record):
                    others.append(threading.current_thread())
            logging.getLogger("spanprof").addHandler(Handler())
            spanprof.start(log_level="warn", on_profile=lambda *profile: others.append(threading.current_thread()))
            burn(0.3)
            spanprof.flush(1)
            wait_for(lambda: len({thread.ident for thread in others}) > 1)
            wait_for(lambda: threading.enumerate() == [threading.main_thread()])
        """, **NOBODY)

    def test_a_handler_that_never_returns_does_not_delay_the_exit(self) -> None:
        done = self.run_source("""
            import atexit, logging
            calls = []
            class Handler(logging.Handler):
                def handle(self, record):
                    calls.append(record)
                    time.sleep(600)
            logging.getLogger("spanprof").addHandler(Handler())
            atexit.register(lambda: print(time.monotonic() - begun))
            import spanprof
            spanprof.start(log_level="warn")
            burn(0.3)
            wait_for(lambda: calls)
            begun = time.monotonic()
        """, **NOBODY)
        self.assertLess(float(done.stdout), END_S)

    def test_a_program_that_has_not_imported_logging_keeps_its_main_thread(self) -> None:
        done = self.run_source("""
            import sys, spanprof
            spanprof.start()
            burn(0.3)
            wait_for(lambda: spanprof.stats()["profiles_retried"])
            spanprof.flush(0.5)
            assert "logging" not in sys.modules and "threading" not in sys.modules
            import threading
            assert threading.current_thread() is threading.main_thread()
        """, **NOBODY)
        self.assertIn("http://127.0.0.1:9", done.stderr)

    def test_levels_follow_the_option(self) -> None:
        for level, expected in (("info", ["INFO"] * 2), ("warn", []), ("off", [])):
            done = self.run_source("""
                import logging, spanprof
                logging.basicConfig(format="%(levelname)s", level=logging.DEBUG)
                spanprof.start()
                spanprof.stop()
            """, PYROSCOPE_LOG_LEVEL=level)
            self.assertEqual(done.stderr.split(), expected, level)

    def test_a_program_without_configured_logging_sees_only_warnings(self) -> None:
        done = self.run_source("""
            import spanprof
            spanprof.start()
            spanprof.stop()
            spanprof.start(sample_rate_hz=-1)
        """)
        self.assertEqual(done.stderr, "spanprof: not profiled: sample_rate_hz is -1, not within 1 to 1000\n")


if __name__ == "__main__":
    unittest.main()
