"""Programs that are profiled without a call of spanprof.start: by `spanprof exec`, by
`python -m spanprof`, and by spanprof.pth with an environment variable."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import unittest

from program import PACKAGES, ProgramCase, environment

COMMAND = [sys.executable, "-m", "spanprof"]
BURN = """
import time
until = time.thread_time() + 0.5
while (left := until - time.thread_time()) > 0:
    end = time.monotonic() + left
    while time.monotonic() < end: pass
"""


class ExecTest(ProgramCase):
    def assert_profiled(self, command: list[str], seconds: float = 0.5, **variables: str) -> str:
        done = self.run_command(command, **variables)
        self.assert_covered(sum(self.cpu_s().values()), seconds, str(command), extra=0.3)
        for path in self.profiles.iterdir():
            path.unlink()
        return done.stdout

    def test_exec_profiles_an_unchanged_program(self) -> None:
        path = self.write("app.py", "import sys\nburn(0.5)\nprint(sys.argv[1:])")
        for words in (["exec", "--"], ["exec"]):
            out = self.assert_profiled([*COMMAND, *words, sys.executable, str(path), "-x", "y"])
            self.assertEqual(out, "['-x', 'y']\n")

    def test_exec_profiles_interpreters_started_by_other_programs(self) -> None:
        path = self.write("app.py", "burn(0.5)")
        self.assert_profiled([*COMMAND, "exec", "sh", "-c", f"{sys.executable} {path}; true"])
        self.assert_profiled([*COMMAND, "exec", "env", f"PYTHONPATH={PACKAGES}", sys.executable,
                              "-B", str(path)])

    def test_a_file_a_module_and_code_run_as_by_the_interpreter(self) -> None:
        self.write("app.py", """
            import sys, __main__
            burn(0.5)
            print(sys.argv[1:], __name__, __main__.burn is burn, sys.flags.optimize)
        """)
        for way, optimize in ((["app.py"], 0), (["-m", "app"], 0)):
            out = self.assert_profiled([*COMMAND, *way, "a", "--b"])
            self.assertEqual(out, f"['a', '--b'] __main__ True {optimize}\n")
        out = self.assert_profiled([sys.executable, "-O", "-m", "spanprof", "app.py"])
        self.assertEqual(out, "[] __main__ True 1\n")
        self.assert_profiled([*COMMAND, "-c", BURN])

    def test_a_closed_pipe_ends_a_command_quietly(self) -> None:
        self.assert_profiled([*COMMAND, "exec", sys.executable, "-c", BURN])
        self.run_command([*COMMAND, "exec", sys.executable, "-c", BURN])
        reading, writing = os.pipe()
        os.close(reading)
        self.addCleanup(os.close, writing)
        for words in (["report", "profiles"], ["report", "--json", "profiles"], ["labels", "profiles"], ["report", "-h"],
                      ["help"], ["version"], ["--version"], ["check"], ["exec", "--help"], ["-h"]):
            with self.subTest(words):
                done = subprocess.run([*COMMAND, *words], stdout=writing, stderr=subprocess.PIPE, text=True,
                                      cwd=self.directory, env=environment(self.directory), check=False)
                self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, ""))

    def test_a_program_has_the_default_action_of_sigpipe(self) -> None:
        """Python ignores SIGPIPE, and a program that it starts would ignore it too.
        `spanprof exec` restores the default action, which a program has if a shell
        starts it."""
        self.run_command([*COMMAND, "exec", "sh", "-c", "kill -PIPE $$"], status=-signal.SIGPIPE)

    def test_the_exit_status_is_that_of_the_program(self) -> None:
        self.run_command([*COMMAND, "exec", "sh", "-c", "exit 7"], status=7)
        self.run_command([*COMMAND, "-c", "import sys; sys.exit(9)"], status=9)
        done = self.run_command([*COMMAND, "exec", "/nowhere/program"], status=127)
        self.assertEqual(done.stderr, "spanprof: /nowhere/program: No such file or directory\n")
        for words, status in (([], 2), (["exec"], 2), (["exec", "--help"], 0), (["-h"], 0)):
            self.run_command([*COMMAND, *words], status=status)

    def test_exec_opens_a_page_when_the_program_ends(self) -> None:
        opened, browser = self.directory / "opened", self.directory / "browser"
        browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}\n')
        browser.chmod(0o755)
        variables = {"BROWSER": str(browser), "TMPDIR": str(self.directory)}
        path = self.write("app.py", "import sys\nburn(0.3)\nsys.exit(7)")
        done = self.run_command([*COMMAND, "exec", "--open", "--", sys.executable, str(path)], status=7, **variables)
        if "this build has no page" in done.stderr:
            return
        page = done.stdout.strip()
        self.assertEqual(page, opened.read_text())
        with open(page, encoding="utf-8") as file:
            self.assertIn('"title":"CPU time of python', file.read())
        self.assertEqual([*self.profiles.iterdir()], [])
        done = self.run_command([*COMMAND, "exec", "--open", "true"], **variables)
        self.assertEqual(done.stderr, "spanprof: there is nothing to open: no CPU time was sampled\n")
        self.run_command([*COMMAND, "exec", "--open", "sh", "-c", "kill -TERM $$"], status=143, **variables)
        self.run_command([*COMMAND, "exec", "--open", "/nowhere/program"], status=127, **variables)
        self.assertEqual([str(path) for path in self.directory.glob("spanprof-*")], [page], "only the page is left")

    def test_an_unknown_word_is_refused_as_a_command(self) -> None:
        done = self.run_command([*COMMAND, "reprot"], status=2)
        self.assertIn('spanprof: unknown command "reprot"', done.stderr)
        done = self.run_command([*COMMAND, "nowhere.py"], status=2)
        self.assertIn("can't open file", done.stderr)

    def test_the_program_may_configure_again(self) -> None:
        self.write("app.py", """
            import pyroscope
            burn(0.3)
            assert pyroscope.configure(application_name="mine")
            burn(0.3)
        """)
        self.run_command([*COMMAND, "app.py"])
        names = sorted(path.name.split("-")[0] for path in self.profiles.iterdir())
        self.assertEqual(names, ["mine", "test"])

    def test_two_directories_of_packages_start_one_session(self) -> None:
        """sys.path has two directories with a spanprof.pth: that of the installation,
        and that which environment() creates."""
        self.write("app.py", "pass")
        done = self.run_command([*COMMAND, "app.py"], PYROSCOPE_OUTPUT_DIRECTORY="")
        self.assertEqual(done.stderr.count("profiles are neither sent nor stored"), 1, "one warning for each session")

    def test_the_users_own_sitecustomize_runs(self) -> None:
        (self.directory / "sitecustomize.py").write_text("print('mine')\n")
        out = self.assert_profiled([*COMMAND, "exec", sys.executable, "-c", BURN])
        self.assertEqual(out.splitlines()[-1], "mine")

    def test_wrong_options_do_not_disturb_the_program_unless_required(self) -> None:
        done = self.run_command([*COMMAND, "-c", "print('ran')"], PYROSCOPE_SAMPLE_RATE="0")
        self.assertEqual(done.stdout, "ran\n")
        self.assertIn("not profiled: sample_rate_hz (from PYROSCOPE_SAMPLE_RATE) is ", done.stderr)
        done = self.run_command([*COMMAND, "-c", "print('ran')"], status=1,
                                PYROSCOPE_SAMPLE_RATE="0", SPANPROF_REQUIRED="1")
        self.assertEqual(done.stdout, "")
        self.assertIn("not profiled: sample_rate_hz", done.stderr)

    def test_a_start_imports_only_modules_of_spanprof(self) -> None:
        """A start also imports `atexit`, `__future__` and SWIG's runtime module, which
        is named after SWIG's version."""
        source = "import sys; print(*sys.modules)"
        without, under = (set(self.run_command([sys.executable, "-c", source], **variables).stdout.split())
                          for variables in ({}, {"SPANPROF_AUTOSTART": "1"}))
        brought = {name for name in under - without if not name.startswith("spanprof")}
        self.assertEqual(brought - {"swig_runtime_data4", "swig_runtime_data5"}, {"atexit", "__future__"})

    def test_modules_are_hooked_when_the_program_imports_them(self) -> None:
        out = self.assert_profiled([sys.executable, "-c", """if True:
            import sys, time
            before = list(sys.meta_path)
            import threading, multiprocessing.spawn
            assert "_set_native_id" in threading.Thread._set_native_id.__qualname__
            assert "spanprof" in threading.Thread._set_native_id.__module__
            def burn():
                until = time.thread_time() + 0.03
                while (left := until - time.thread_time()) > 0:
                    end = time.monotonic() + left
                    while time.monotonic() < end: pass
            for _ in range(30):
                thread = threading.Thread(target=burn)
                thread.start()
                thread.join()
            print(multiprocessing.spawn.get_preparation_data.__name__,
                  type(multiprocessing.spawn.get_preparation_data("x")["spanprof"]).__name__)
        """], 0.9, SPANPROF_AUTOSTART="1")
        self.assertEqual(out, "get_preparation_data _Start\n")

    def test_without_the_variable_an_interpreter_does_not_load_spanprof(self) -> None:
        self.run_command([sys.executable, "-c",
                          "import sys; assert 'spanprof' not in sys.modules"])

    @unittest.skipUnless(importlib.util.find_spec("opentelemetry")
                         and importlib.util.find_spec("opentelemetry.sdk"),
                         "opentelemetry-sdk is not installed here")
    def test_opentelemetry_instrument_starts_profiling_and_adds_the_processor(self) -> None:
        source = """
            from opentelemetry import trace
            from opentelemetry.sdk.trace import TracerProvider
            trace.set_tracer_provider(TracerProvider())
            from spanprof import _autostart, running
            _autostart.opentelemetry()
            print(running())
            with trace.get_tracer("x").start_as_current_span("work"):
                burn(0.5)
        """
        self.assertEqual(self.run_source(source).stdout, "True\n")
        names = {sample.labels.get("span_name") for sample in self.samples()}
        self.assertIn("work", names)
        done = self.run_source(source, PYROSCOPE_OUTPUT_DIRECTORY="")
        self.assertEqual(done.stdout, "False\n")

    def test_the_command_has_the_subcommands_of_the_c_program(self) -> None:
        self.assert_profiled([*COMMAND, "-c", BURN])
        self.run_source("import spanprof\nspanprof.start()\nburn(0.5)")
        files = [str(path) for path in self.profiles.iterdir()]
        report = self.run_command([*COMMAND, "report", *files])
        self.assertIn("app.py", report.stdout)
        self.assertRegex(self.run_command([*COMMAND, "version"]).stdout, r"^spanprof \d+\.\d+\.\d+ ")
        self.run_command([*COMMAND, "report", "/nowhere"], status=1)


if __name__ == "__main__":
    unittest.main()
