"""The package `pyroscope`: programs written for pyroscope-io run unchanged."""

from __future__ import annotations

import inspect
import unittest
import warnings

import profile_reader
import pyroscope
from attribution import AttributionCase, place

# The keywords of `configure` in pyroscope-io 1.4.0, as inspect.signature returns them.
CONFIGURE = [
    ("app_name", None), ("application_name", None),
    ("server_address", "http://localhost:4040"), ("basic_auth_username", ""),
    ("basic_auth_password", ""), ("enable_logging", False), ("sample_rate", 100),
    ("oncpu", True), ("native", None), ("gil_only", True), ("report_pid", False),
    ("report_thread_id", False), ("report_thread_name", False), ("tags", None),
    ("tenant_id", ""), ("http_headers", None), ("line_no", pyroscope.LineNo.LastInstruction),
    ("upload_interval", 10), ("mem_enabled", False), ("mem_max_nframe", 128),
    ("mem_heap_sample_size", 524288), ("mem_enable_mem_domain", True),
    ("cpu_enabled", True), ("cpu_implementation", pyroscope.ProfilerImplementation.PySpy),
]
STACK_PROFILER = [
    ("max_nframe", 128), ("max_threads", 25), ("adaptive_sampling", True),
    ("adaptive_target_overhead", 0.01), ("adaptive_max_interval_us", 100000),
    ("adaptive_baseline", 0.0), ("adaptive_p_stable_window_s", 600),
    ("adaptive_p_stable_percentile", 95.0), ("cpu_timer_enabled", True),
    ("cpu_timer_interval_ms", 10),
]


def defaults(function: object) -> list[tuple[str, object]]:
    return [(name, parameter.default)
            for name, parameter in inspect.signature(function).parameters.items()  # type: ignore
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD]


class SignatureTest(unittest.TestCase):
    def test_configure_has_the_keywords_and_defaults_it_had(self) -> None:
        self.assertEqual(defaults(pyroscope.configure), CONFIGURE)
        self.assertEqual(defaults(pyroscope.configure_experimental_stack_profiler),
                         STACK_PROFILER)

    def test_deprecated_names_warn_and_do_nothing(self) -> None:
        for name, arguments in (("stop", ()), ("change_name", ("x",)), ("tag", ({},)),
                                ("remove_tags", ("a", "b")), ("build_summary", ()),
                                ("test_logger", ()), ("add_global_tag", (1, "a", "b")),
                                ("remove_global_tag", ("a", "b"))):
            with self.subTest(name), self.assertWarns(DeprecationWarning) as caught:
                self.assertIsNone(getattr(pyroscope, name)(*arguments))
            self.assertEqual(caught.filename, __file__)

    def test_runtime_name_and_version_are_as_before(self) -> None:
        self.assertEqual(pyroscope.runtime_name(), "cpython")
        self.assertRegex(pyroscope.runtime_version(), r"^3\.\d+\.\d+")


class DropInTest(AttributionCase):
    def test_configure_profiles_to_the_old_default_server(self) -> None:
        done = self.run_source("""
            import logging, pyroscope
            logging.basicConfig(level=logging.INFO)
            assert pyroscope.configure(application_name="old", enable_logging=True) is True
            assert pyroscope.shutdown() is True
            assert pyroscope.shutdown() is False
            import os
            os.environ["PYROSCOPE_SERVER_ADDRESS"] = "http://127.0.0.1:9"
            pyroscope.configure(application_name="old", enable_logging=True)
        """)
        self.assertIn('profiling "old" at 100 Hz', done.stderr)
        self.assertIn("to http://localhost:4040 every 10 s", done.stderr)
        self.assertIn("to http://127.0.0.1:9 every 10 s", done.stderr)

    def test_configure_again_and_after_shutdown(self) -> None:
        self.run_source("""
            import pyroscope
            for name in ("one", "two"):
                assert pyroscope.configure(application_name=name)
                burn(1)
            pyroscope.shutdown()
            assert pyroscope.configure(application_name="three")
            burn(1)
        """)
        names = {path.name.split("-")[0] for path in self.profiles.iterdir()}
        self.assertEqual(names, {"one", "two", "three"})
        self.assert_covered(sum(self.cpu_s("burn").values()), 3, threads=3)

    def test_every_keyword_of_every_release_is_accepted(self) -> None:
        done = self.run_source("""
            import logging, pyroscope, warnings
            warnings.simplefilter("ignore")
            logging.basicConfig(level=logging.INFO, format="%(message)s")
            every = dict(
                app_name="every", application_name="other", server_address="http://127.0.0.1:9",
                auth_token="t", basic_auth_username="u", basic_auth_password="", tenant_id="me",
                enable_logging=False, sample_rate=99, detect_subprocesses=True, oncpu=False,
                native=True, gil_only=False, report_pid=True, report_thread_id=True,
                report_thread_name=True, tags={"region": "eu"}, http_headers={"X-A": "b"},
                line_no=pyroscope.LineNo.First, upload_interval=5, mem_enabled=True,
                mem_max_nframe=10, mem_heap_sample_size=1024, mem_enable_mem_domain=False,
                cpu_enabled=True, cpu_implementation=pyroscope.ProfilerImplementation.Stack)
            for _ in range(2):
                assert pyroscope.configure(**every) is True
                assert pyroscope.configure_experimental_stack_profiler(max_threads=3) is (_ == 0)
            assert pyroscope.configure(application_name="x", fancy=1) is True
            assert pyroscope.configure(application_name="x", cpu_enabled=False) is False
        """)
        lines = done.stderr.splitlines()
        for name in ("oncpu=False", "gil_only=False", "mem_enabled=True",
                     "cpu_implementation=", "detect_subprocesses=True",
                     "configure_experimental_stack_profiler() has no effect",
                     "configure() ignores the unknown keyword fancy", "cpu_enabled=False"):
            self.assertEqual(sum(name in line for line in lines), 1, (name, lines))

    def test_line_no_chooses_the_line(self) -> None:
        self.run_source("""
            import pyroscope
            for line_no in pyroscope.LineNo:
                pyroscope.configure(application_name=line_no.name, line_no=line_no)
                burn(0.3)
        """)
        for name, lines in (("First", {True}), ("NoLine", {False}), ("LastInstruction", {False})):
            with self.subTest(name):
                frames = [frame for path in self.profiles.glob(f"{name}-*")
                          for sample in profile_reader.read_file(path).samples
                          for frame in sample.stack if frame.function == "burn"]
                self.assertTrue(frames)
                self.assertEqual({frame.line == frame.start_line for frame in frames}, lines)
                self.assertEqual({frame.line == 0 for frame in frames}, {name == "NoLine"})

    def test_names_of_tags_are_made_valid(self) -> None:
        done = self.run_source("""
            import pyroscope, spanprof
            assert pyroscope.configure(application_name="x", tags={"pod-name": "web", 1: None})
            print(spanprof.stats()["labels_cleaned"])
        """)
        self.assertEqual(done.stdout, "2\n")
        self.assertIn('label "pod-name" becomes "pod_name"', done.stderr)

    def test_tags_keep_their_dots(self) -> None:
        done = self.run_source("""
            import pyroscope
            assert pyroscope.configure(application_name="x", tags={"host.name": "web"})
            with pyroscope.tag_wrapper({"http.route": "/x"}):
                burn(0.2)
        """, PYROSCOPE_LOG_LEVEL="")
        self.assertNotIn("host_name", done.stderr)
        self.assertIn("/x", {sample.labels.get("http.route") for sample in self.samples()})

    def test_numbers_out_of_range_become_the_nearest(self) -> None:
        done = self.run_source("""
            import pyroscope, spanprof
            for _ in range(2):
                assert pyroscope.configure(application_name="x", sample_rate=5000, upload_interval=0.01)
            burn(0.3)
        """)
        self.assertEqual({profile.period for profile in profile_reader.read_directory(self.profiles)}, {1_000_000})
        self.assertEqual([line for line in done.stderr.splitlines() if "is out of range" in line],
                         ["spanprof: sample_rate=5000 is out of range; 1000 is used",
                          "spanprof: upload_interval=0.01 is out of range; 0.1 is used"])

    def test_missing_kinds_of_profiles_are_logged_without_configured_logging(self) -> None:
        done = self.run_source("""
            import pyroscope
            pyroscope.configure(application_name="x", mem_enabled=True, oncpu=False)
        """)
        self.assertIn("mem_enabled=True has no effect: memory is not profiled", done.stderr)
        self.assertIn("oncpu=False has no effect: only CPU time is sampled", done.stderr)

    def test_without_opentelemetry_the_error_names_the_package_to_install(self) -> None:
        done = self.run_source("""
            import sys
            sys.modules["opentelemetry"] = None
            try:
                import pyroscope.otel
            except ModuleNotFoundError as error:
                print(error.name, error)
        """)
        self.assertRegex(done.stdout, r"^opentelemetry\S* .*; to install it: pip install 'spanprof\[otel\]'$")

    def test_wrong_values_do_not_disturb_the_program(self) -> None:
        done = self.run_source("""
            import pyroscope
            for wrong in ({"sample_rate": 0}, {"tags": [1]}, {"upload_interval": "ten"},
                          {"server_address": "localhost"}, {"application_name": b"x"},
                          {"line_no": [1]}):
                assert pyroscope.configure(**{"application_name": "x"} | wrong) is False
        """)
        self.assertEqual(len(done.stderr.splitlines()), 6, done.stderr)
        self.assertIn("not profiled: sample_rate is 0", done.stderr)
        self.assertIn("not profiled: tags must be text or a mapping, not list", done.stderr)
        self.assertIn("not profiled: line_no is [1], not one of", done.stderr)

    def test_tags_label_blocks_functions_threads_and_tasks(self) -> None:
        self.assert_right(self.judged("""
import asyncio, pyroscope, threading

@pyroscope.tag_wrapper({"endpoint": "function"})
def function():
    burn("function", 0.3)

def thread():
    pyroscope.add_thread_tag("endpoint", "thread")
    burn("thread", 0.3)
    pyroscope.remove_thread_tag("endpoint", "thread")
    burn("bare", 0.1)

def older():
    pyroscope.add_thread_tag(threading.get_ident(), "endpoint", "older")
    burn("older", 0.3)
    pyroscope.remove_thread_tag(threading.get_ident(), "endpoint", "older")
    assert pyroscope.add_thread_tag(1, "endpoint", "other") is False
    burn("bare", 0.1)

async def task(name):
    with pyroscope.tag_wrapper({"endpoint": name}):
        for _ in range(30):
            burn(name, 0.01)
            await asyncio.sleep(0)

async def tasks():
    await asyncio.gather(task("one"), task("two"))

pyroscope.configure(application_name="x", sample_rate=250)
with pyroscope.tag_wrapper({"endpoint": "block", "shard": 7}):
    burn("block", 0.3)
function()
for target in (thread, older):
    one = threading.Thread(target=target)
    one.start()
    one.join()
asyncio.run(tasks())
pyroscope.shutdown()
print_measured()
""", label="endpoint", bare="bare"))
        sharded = [place(s) for s in self.samples() if s.labels.get("shard") == "7"]
        self.assertEqual(set(filter(None, sharded)), {"block"})

    def test_samples_can_name_their_process_and_thread(self) -> None:
        done = self.run_source("""
            import os, pyroscope, threading
            pyroscope.configure(application_name="x", report_pid=True, report_thread_id=True,
                                report_thread_name=True)
            def work():
                print(threading.get_native_id())
                burn(0.5)
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            print(os.getpid())
        """)
        thread, process = done.stdout.split()
        labels = [s.labels for s in self.samples() if s.runs("work")]
        self.assertTrue(labels)
        for each in labels:
            self.assertEqual((str(each["pid"]), str(each["thread_id"])), (process, thread))
            self.assertTrue(each["thread_name"])

    def test_pyroscope_io_is_the_same_package(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            import pyroscope_io
        for name in pyroscope.__all__:
            self.assertIs(getattr(pyroscope_io, name), getattr(pyroscope, name))

    def test_an_interval_that_is_not_a_number_is_refused_by_name(self) -> None:
        for value in ("math.nan", "math.inf", "-1e400", "10**400"):
            done = self.run_source(f"""
                import math, pyroscope
                assert pyroscope.configure(application_name="x", upload_interval={value}) is False
            """)
            self.assertIn("not profiled: upload_interval_ms ", done.stderr, value)


if __name__ == "__main__":
    unittest.main()
