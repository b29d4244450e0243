"""spanprof.start, flush, stop and stats: their results, and that a failure raises no
exception in the program."""

from __future__ import annotations

import importlib.metadata
import inspect
import pathlib
import sys
import typing
import unittest

import spanprof
from program import ProgramCase


class ApiTest(ProgramCase):
    def test_a_program_of_three_lines_is_profiled(self) -> None:
        self.run_source("""
            import spanprof
            assert spanprof.start(application_name="three-lines")
            burn(1)
        """)
        self.assert_covered(sum(self.cpu_s("burn").values()), 1)
        self.assertTrue(all(p.name.startswith("three-lines-") for p in self.profiles.iterdir()))

    def test_flush_writes_and_the_session_goes_on(self) -> None:
        done = self.run_source("""
            import os, spanprof
            spanprof.start()
            burn(0.5)
            assert spanprof.flush() is True
            print(len(os.listdir(os.environ["PYROSCOPE_OUTPUT_DIRECTORY"])))
            assert spanprof.running()
            burn(0.5)
            assert spanprof.stop() is True
            assert not spanprof.running()
            assert spanprof.stop() is False
            assert spanprof.flush() is False
        """)
        self.assertEqual(done.stdout, "1\n")
        self.assert_covered(sum(self.cpu_s("burn").values()), 1)

    def test_cpu_time_during_a_pause_is_in_no_profile(self) -> None:
        self.run_source("""
            import os, threading, spanprof

            def left_out():
                burn(0.3)

            assert not spanprof.pause() and not spanprof.resume()
            spanprof.start(sample_rate_hz=250)
            burn(0.5)
            assert spanprof.pause() and spanprof.pause() and spanprof.running()
            left_out()
            thread = threading.Thread(target=left_out)
            thread.start()
            thread.join()
            if (child := os.fork()) == 0:
                left_out()
                os._exit(spanprof.stats()["samples_taken"])
            assert os.waitpid(child, 0)[1] == 0
            assert spanprof.flush() and spanprof.resume()
            burn(0.5)
            assert spanprof.stop() and not spanprof.pause()
        """)
        self.assertEqual(sum(self.cpu_s("left_out").values()), 0)
        self.assert_covered(sum(self.cpu_s("burn").values()), 1, threads=2)

    def test_start_again_changes_options_and_loses_nothing(self) -> None:
        self.run_source("""
            import spanprof
            for name in ("first", "second"):
                assert spanprof.start(application_name=name)
                burn(0.6)
            spanprof.stop()
            assert spanprof.start(application_name="third")
            burn(0.6)
        """)
        names = sorted({path.name.split("-")[0] for path in self.profiles.iterdir()})
        self.assertEqual(names, ["first", "second", "third"])
        self.assert_covered(sum(self.cpu_s("burn").values()), 1.8, threads=3)

    def test_very_short_threads_are_profiled(self) -> None:
        self.run_source("""
            import spanprof, threading
            spanprof.start()
            for _ in range(50):
                thread = threading.Thread(target=burn, args=(0.03,))
                thread.start()
                thread.join()
        """)
        self.assert_covered(sum(self.cpu_s("burn").values()), 1.5, threads=50)

    def test_a_thread_started_with_every_signal_blocked_is_profiled_under_a_label(self) -> None:
        self.run_source("""
            import _thread, signal, spanprof
            spanprof.start()
            ended = []
            def work():
                with spanprof.label(kind="blocked"):
                    burn(1)
                ended.append(True)
            before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            _thread.start_new_thread(work, ())
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            wait_for(lambda: ended)
        """)
        labelled = sum(s.value for s in self.samples() if s.labels.get("kind") == "blocked")
        self.assert_covered(labelled / 1e9, 1)

    def test_stats_count_samples(self) -> None:
        self.run_source("""
            import spanprof
            spanprof.start()
            burn(0.5)
            spanprof.stop()
            stats = spanprof.stats()
            assert stats["samples_taken"] > 20, stats
            assert stats["samples_pending"] == 0, stats
            assert stats["samples_exported"] == stats["samples_taken"], stats
            assert sum(stats["handler_histogram"]) >= stats["samples_taken"], stats
        """)

    def test_this_interpreter_is_available(self) -> None:
        self.assertIs(spanprof.available(), True)
        self.assertIsNone(spanprof.unavailable_reason())

    def test_import_starts_no_thread_and_needs_no_opentelemetry(self) -> None:
        self.run_source("""
            import os, sys
            import spanprof, pyroscope, pyroscope_io
            assert len(os.listdir("/proc/self/task")) == 1
            assert not any(name.startswith("opentelemetry") for name in sys.modules)
            assert pyroscope_io.configure is pyroscope.configure
        """)

    def test_the_version_is_known_with_and_without_the_extension(self) -> None:
        version = importlib.metadata.version("spanprof")
        self.assertEqual(spanprof.__version__, version)
        self.assertIn("__version__", dir(spanprof))
        without = "import sys; sys.modules['spanprof._native'] = None; import spanprof; from spanprof.__main__ import main; "
        done = self.run_command([sys.executable, "-c", without + "print(spanprof.__version__); main(['--version'])"])
        self.assertRegex(done.stdout, rf"^{version}\nspanprof {version} \(spanprof._native does not load: ")
        for words in (["-m", "spanprof", "--version"], ["-c", "from spanprof.__main__ import main; main(['--version'])"]):
            self.assertRegex(self.run_command([sys.executable, *words]).stdout, rf"^spanprof {version} ")

    def test_without_the_extension_the_program_runs_unprofiled(self) -> None:
        done = self.run_source("""
            import sys
            sys.modules["spanprof._native"] = None
            import spanprof, pyroscope
            assert not spanprof.available()
            assert "_native" in spanprof.unavailable_reason()
            assert spanprof.start(application_name="x") is False
            assert spanprof.flush() is False and spanprof.stop() is False
            assert spanprof.stats() == {} and not spanprof.running()
            assert pyroscope.configure(application_name="x") is False
            with pyroscope.tag_wrapper({"a": "b"}):
                pyroscope.add_thread_tag("c", "d")
                pyroscope.remove_thread_tag("c", "d")
            assert pyroscope.shutdown() is False
            print("went on")
        """)
        self.assertEqual(done.stdout, "went on\n")
        self.assertIn("spanprof._native does not load", done.stderr)

    def test_free_threaded_python_is_refused_before_the_extension_is_loaded(self) -> None:
        """The extension must not be loaded: free-threaded Python enables the GIL when
        an extension is loaded that does not declare that it works without it."""
        done = self.run_source("""
            import sys
            sys.abiflags += "t"
            import spanprof, pyroscope
            assert spanprof.start(application_name="x") is False
            assert "spanprof._native" not in sys.modules
            assert "free-threaded" in spanprof.unavailable_reason()
        """)
        self.assertIn("not profiled: ", done.stderr)

    def test_an_interrupted_self_test_raises_and_is_repeated_later(self) -> None:
        self.run_source("""
            import spanprof, sys
            def interrupted_by(error):
                def trace(frame, event, argument):
                    if frame.f_code.co_filename == "<spanprof self-test>":
                        sys.settrace(None)
                        raise error
                sys.settrace(trace)
            for call in (spanprof.available, spanprof.unavailable_reason, spanprof.start):
                for error in (KeyboardInterrupt, SystemExit):
                    interrupted_by(error())
                    try:
                        call()
                    except error:
                        continue
                    raise AssertionError(call)
            interrupted_by(RecursionError("deep"))
            assert spanprof.unavailable_reason() == (
                "the self-test was interrupted: RecursionError: deep")
            interrupted_by(RecursionError("deep"))
            assert spanprof.start() is False
            assert spanprof.start()
            assert spanprof.available()
            burn(0.5)
        """)
        self.assert_covered(sum(self.cpu_s().values()), 0.5)

    def test_a_timeout_of_nan_is_zero(self) -> None:
        self.run_source("""
            import math, spanprof
            spanprof.start()
            for timeout in (math.nan, -math.inf, -1, math.inf, 1e30):
                assert spanprof.flush(timeout) in (True, False)
            burn(0.2)
            assert spanprof.flush(math.inf)
            assert spanprof.stop(math.inf)
        """)

    def test_every_name_exists_without_opentelemetry(self) -> None:
        self.run_source("""
            import inspect, pydoc, sys, spanprof
            class Without:
                @staticmethod
                def find_spec(name, path=None, target=None):
                    if name.partition(".")[0] == "opentelemetry":
                        raise ModuleNotFoundError(name)
            finders = [*sys.meta_path]
            sys.meta_path.insert(0, Without)
            names = {}
            exec("from spanprof import *", names)
            assert "start" in names and "SpanProcessor" not in names, names
            assert "SpanProcessor" not in dict(inspect.getmembers(spanprof))
            assert "start" in pydoc.plaintext.document(spanprof)
            sys.meta_path[:] = finders
            assert "SpanProcessor" in spanprof.__all__ and "SpanProcessor" in dir(spanprof)
        """)

    def test_every_public_name_has_a_docstring_and_hints(self) -> None:
        for name in spanprof.__all__:
            if name == "SpanProcessor":
                continue
            thing = getattr(spanprof, name)
            self.assertTrue(thing.__doc__, name)
            if inspect.isfunction(thing):
                self.assertIn("return", typing.get_type_hints(thing), name)
        self.assertTrue((pathlib.Path(spanprof.__file__).parent / "py.typed").exists())


if __name__ == "__main__":
    unittest.main()
