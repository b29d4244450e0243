"""If an option is wrong, one sentence is logged and the program runs without
profiling."""

from __future__ import annotations

import inspect
import os
import pathlib
import re
import tempfile
import typing
import unittest
from unittest import mock

import spanprof
from program import ProgramCase

WRONG = [
    # options, expected sentence
    ({"application_name": ""}, "application_name is empty"),
    ({"application_name": 7}, "application_name must be text, not int"),
    ({"application_name": "a\0b"}, "application_name contains a NUL byte"),
    ({"application_name": "\udc80"}, "application_name is not valid Unicode"),
    ({"sample_rate_hz": 0}, "sample_rate_hz is 0, not within 1 to 1000"),
    ({"sample_rate_hz": 1001}, "sample_rate_hz is 1001, not within"),
    ({"sample_rate_hz": "100"}, "sample_rate_hz must be a whole number, not str"),
    ({"sample_rate_hz": 99.5}, "sample_rate_hz must be a whole number, not float"),
    ({"sample_rate_hz": True}, "sample_rate_hz must be a whole number, not bool"),
    ({"sample_rate_hz": 1 << 70}, "sample_rate_hz is out of range"),
    ({"native_frames": True}, "native_frames must be none, libraries or all, not bool"),
    ({"native_frames": "some"}, 'native_frames is "some", not none, libraries or all'),
    ({"report_pid": 1}, "report_pid must be True or False, not int"),
    ({"server_address": "pyroscope:4040"}, "server_address"),
    ({"upload_protocol": "udp"}, 'upload_protocol is "udp", not push or ingest'),
    ({"upload_interval_ms": 5}, "upload_interval_ms is 5, not within"),
    ({"output_directory": "/proc/nowhere"}, "output_directory"),
    ({"output_directory": 3}, "output_directory must be a path, not int"),
    ({"labels": {"a b": "c"}}, 'labels has the label name "a b"'),
    ({"labels": {"a": "x\0y"}}, "labels contains a NUL byte"),
    ({"labels": 5}, "labels must be text or a mapping, not int"),
    ({"labels": {f"n{i}": "x" for i in range(30)}}, "labels "),
    ({"labels": {"long": "x" * 9999}}, "labels "),
    ({"http_headers": {"X Y": "z"}}, "http_headers"),
    ({"http_headers": ["a"]}, "http_headers must be text or a mapping, not list"),
    ({"resource_labels": {"a": 1}}, "resource_labels must be text or a list, not dict"),
    ({"resource_labels": ["a", 7]}, "resource_labels must be a list of texts, not int"),
    ({"no_proxy": ["a,b"]}, "no_proxy has the entry 'a,b', but an entry cannot contain a comma"),
    ({"log_level": "loud"}, 'log_level is "loud", not debug, info, warn, error or off'),
    ({"log_level": ["info"]}, "log_level must be text, not list"),
    ({"line_numbers": "last"}, "line_numbers is 'last', not one of executed, first, none"),
    ({"on_profile": 3}, "on_profile must be callable, not int"),
]

UNKNOWN = {
    # keyword, suggestion of the TypeError
    "sample_rate": "sample_rate_hz", "app_name": "application_name", "applicaton_name": "application_name",
    "line_number": "line_numbers", "tls": None,
}

PARAMETERS = inspect.signature(spanprof.start).parameters


class OptionsTest(unittest.TestCase):
    def test_a_wrong_option_logs_one_sentence_that_names_it(self) -> None:
        for options, sentence in WRONG:
            with self.subTest(options=options):
                with self.assertLogs("spanprof", "ERROR") as logs:
                    self.assertFalse(spanprof.start(**{"application_name": "x"} | options))
                self.assertEqual(len(logs.output), 1)
                self.assertIn(f"not profiled: {sentence}", logs.output[0])
                self.assertFalse(spanprof.running())

    def test_required_raises_the_sentence(self) -> None:
        with mock.patch.dict("os.environ", SPANPROF_REQUIRED="1"):
            with self.assertRaisesRegex(spanprof.Error, "^sample_rate_hz is 0"):
                spanprof.start(application_name="x", sample_rate_hz=0)

    def test_an_unknown_keyword_is_a_type_error_that_names_the_nearest(self) -> None:
        for name, near in UNKNOWN.items():
            suggestion = f". Did you mean '{near}'?" if near else ""
            with self.subTest(name), self.assertRaises(TypeError) as raised:
                spanprof.start(**{name: None})
            self.assertEqual(str(raised.exception), f"start() got an unexpected keyword argument '{name}'{suggestion}")
        with self.assertRaises(TypeError):
            spanprof.start("x")  # type: ignore[call-arg]

    def test_every_option_is_documented_and_has_a_hint_at_run_time(self) -> None:
        hints = typing.get_type_hints(spanprof.start)
        arguments = inspect.cleandoc(spanprof.start.__doc__ or "").partition("\nArgs:\n")[2].partition("\nReturns:\n")[0]
        documented = re.findall(r"^    (\w+): ", arguments, re.M)
        self.assertLessEqual({"application_name", "labels", "upload_interval_ms", "spool_max_age_s", "on_profile"},
                             PARAMETERS.keys())
        for name, parameter in PARAMETERS.items():
            self.assertIsNone(parameter.default, name)
            self.assertIn(type(None), typing.get_args(hints[name]), name)
        self.assertEqual(documented, [*PARAMETERS])

    def test_every_option_reaches_the_library(self) -> None:
        for name in PARAMETERS:
            with self.subTest(name), self.assertLogs("spanprof", "ERROR") as logs:
                self.assertFalse(spanprof.start(**{"application_name": "x", name: object()}))
            self.assertRegex(logs.output[0], f"not profiled: {name} (must be .*, not|is <)")

    def test_none_means_unset(self) -> None:
        nothing = {name: None for name in PARAMETERS}
        with mock.patch.dict("os.environ", PYROSCOPE_APPLICATION_NAME="from-environment"):
            self.addCleanup(spanprof.stop)
            with self.assertLogs("spanprof", "INFO") as logs:
                self.assertTrue(spanprof.start(**nothing))
        self.assertIn('profiling "from-environment" at 100 Hz', logs.output[0])


class ValuesTest(ProgramCase):
    def test_labels_headers_and_paths_accept_python_types(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            with self.assertLogs("spanprof", "INFO") as logs:
                self.assertTrue(spanprof.start(
                    application_name="x", labels={"zone": "a,b=c", "n": 3},
                    http_headers={"X-Zone": "a,b: c"},
                    output_directory=pathlib.Path(directory)))
                spanprof.stop()
            self.assertIn(f"to files in {directory}, labels zone=a,b=c, n=3", logs.output[0])

    def test_an_exception_of_a_value_becomes_one_sentence(self) -> None:
        class Bad(os.PathLike):  # type: ignore[type-arg]
            def __str__(self, *_: object) -> str:
                raise ValueError("no text")

            __fspath__ = __eq__ = __str__  # type: ignore[assignment]

        for name, value in (("labels", {"a": Bad()}), ("http_headers", {"a": Bad()}), ("line_numbers", Bad()),
                            ("output_directory", Bad())):
            with self.subTest(name), self.assertLogs("spanprof", "ERROR") as logs:
                self.assertFalse(spanprof.start(**{name: value}))
            self.assertIn(f"not profiled: {name} has a value that cannot be read: ValueError was raised", logs.output[0])

    def test_lists_are_accepted_for_comma_separated_texts(self) -> None:
        with mock.patch.dict("os.environ", OTEL_RESOURCE_ATTRIBUTES="service.version=7,host.name=a,os.name=b"):
            for names in (["service.version", "host.name"], ("service.version", "host.name"), "service.version,host.name"):
                with self.assertLogs("spanprof", "INFO") as logs:
                    self.assertTrue(spanprof.start(application_name="x", resource_labels=names, no_proxy=["a", "b"],
                                                   on_profile=print))
                    spanprof.stop()
                self.assertIn("labels service_version=7, host_name=a", logs.output[0])
                self.assertNotIn("os_name", logs.output[0])

    def test_the_callback_gets_profiles_as_bytes(self) -> None:
        self.run_source("""
            import gzip, spanprof
            received = []
            def receive(profile, start_ns, length_ns):
                received.append((gzip.decompress(profile), start_ns, length_ns))
                raise RuntimeError("failing callback")
            begin = time.time_ns()
            assert spanprof.start(on_profile=receive)
            burn(0.3)
            assert spanprof.flush()
            burn(0.3)
            spanprof.stop()
            assert len(received) == 2, received
            for profile, start_ns, length_ns in received:
                assert len(profile) > 100
                assert begin <= start_ns < time.time_ns()
                assert 2e8 < length_ns < 2e10, length_ns
        """)

    def test_a_callback_has_the_usual_recursion_limit(self) -> None:
        self.run_source("""
            import json, spanprof, sys
            sys.setrecursionlimit(10000)  # the limit of CPython 3.12 for C code
            received = []
            def receive(*profile):
                try:
                    json.loads("[" * 100000)
                except RecursionError:
                    received.append(profile)
            assert spanprof.start(on_profile=receive)
            burn(0.3)
            spanprof.stop()
            assert received
        """)

    def test_the_environment_can_disable_profiling(self) -> None:
        done = self.run_source("""
            import logging, spanprof
            logging.basicConfig(level=logging.INFO)
            print(spanprof.start(), spanprof.running())
        """, PYROSCOPE_AGENT_ENABLED="false", SPANPROF_REQUIRED="1")
        self.assertEqual(done.stdout, "False False\n")
        self.assertIn("INFO:spanprof:profiling is off", done.stderr)


if __name__ == "__main__":
    unittest.main()
