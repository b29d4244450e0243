"""spanprof.profile: profiles of blocks and functions, as printed tables, as data and as
files."""

from __future__ import annotations

import json
import pathlib
import sys
import unittest

import profile_reader
import spanprof
from program import ProgramCase, importable

PRINT_PROFILE = """
import atexit, json, sys
import spanprof

def print_profile(p):
    print(json.dumps({"top": p.top(0), "spans": p.spans(0)}))
"""


class ProfileTest(ProgramCase):
    def profile_data(self, source: str, **variables: str) -> tuple[dict, str]:
        """Run a program. Return the data that it printed about its profile, and its
        log."""
        done = self.run_source(PRINT_PROFILE + source, **variables)
        self.assertEqual([*self.profiles.iterdir()], [], "the options of the environment are not used")
        return json.loads(done.stdout or "{}"), done.stderr

    def total(self, profile_data: dict, function: str) -> float:
        return sum(total for name, _, _, total, *_ in profile_data["top"] if name == function)

    def test_a_block_has_its_functions_and_spans_and_is_printed_and_saved(self) -> None:
        profile_data, log = self.profile_data("""
from opentelemetry.sdk.trace import TracerProvider
provider = TracerProvider()
provider.add_span_processor(spanprof.SpanProcessor())
tracer = provider.get_tracer("t")
burn(0.3)
with spanprof.profile("out.pb.gz") as p:
    with tracer.start_as_current_span("in a span"):
        burn(0.4)
    burn(0.2)
burn(0.3)
assert not spanprof.running()
print_profile(p)
""")
        self.assert_covered(self.total(profile_data, "burn"), 0.6, alone=True)
        spans = {name: total for name, _, _, total, *_ in profile_data["spans"]}
        self.assertGreater(min(samples for *_, samples in profile_data["spans"]), 10)
        self.assertEqual(spans.keys(), {"in a span", "(no span)"})
        self.assert_covered(spans["in a span"], 0.4, alone=True)
        samples = profile_reader.read_file(self.directory / "out.pb.gz").samples
        self.assertAlmostEqual(profile_reader.cpu_ns(samples, lambda s: s.runs("burn")) / 1e9,
                               self.total(profile_data, "burn"))
        self.assertRegex(log, r"(?s)^1 profile, .* CPU s [^\n]* span name\n.* in a span\n.* top functions .* burn ")

    def test_a_page_is_written_and_opened(self) -> None:
        opened, browser = self.directory / "opened", self.directory / "browser"
        browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}\n')
        browser.chmod(0o755)
        done = self.run_source("""
import spanprof
with spanprof.profile(show=False) as p:
    burn(0.2)
try:
    p.html("out.html", title="</script>\u00e9")
    print(p.open())
except spanprof.Error as error:
    print(error)
""", BROWSER=str(browser), TMPDIR=str(self.directory))
        if "this build has no page: install npm" in done.stdout:
            return
        shown = done.stdout.strip()
        self.assertEqual(shown, opened.read_text())
        self.assertIn('"title":"CPU time of ', pathlib.Path(shown).read_text(encoding="utf-8"))
        page = (self.directory / "out.html").read_text(encoding="utf-8")
        held = json.loads(page.split('id="page-data">')[1].split("</script>")[0])
        self.assertEqual(held["title"], "</script>\u00e9")
        self.assertIn("burn", held["now"]["tree"]["functions"]["name"])

    def test_a_failed_profile_raises_nothing(self) -> None:
        p = spanprof.profile()
        with self.assertLogs("spanprof", "WARNING") as logged:
            self.assertEqual((p.top(), p.spans(), p.save("nowhere"), p.html("nowhere"), p.open()),
                             ([], [], False, False, None))
        self.assertEqual(logged.output, ["WARNING:spanprof:no page: nothing was profiled yet"] * 2)
        self.assertEqual(p.unavailable_reason, "nothing was profiled yet")
        self.assertFalse(pathlib.Path("nowhere").exists())

    def test_wrong_native_frames_are_refused_with_a_sentence(self) -> None:
        for value, sentence in ((True, "native_frames must be none, libraries or all, not bool"),
                                ("some", 'native_frames is "some", not none, libraries or all')):
            with self.assertLogs("spanprof", "WARNING"), spanprof.profile(native_frames=value, show=False) as p:
                pass
            self.assertEqual(p.unavailable_reason, sentence)

    def test_functions_and_coroutine_functions_are_decorated(self) -> None:
        profile_data, log = self.profile_data("""
import asyncio
@spanprof.profile("f.pb.gz", native_frames="all", show=False)
def f(depth):
    burn(0.1)
    return depth and f(depth - 1)  # the nested calls belong to the same profile

@spanprof.profile("g.pb.gz", native_frames="none")
async def g():
    await asyncio.sleep(0)
    burn(0.2)
    return f.__name__

assert f(2) == 0
assert asyncio.run(g()) == "f"
for wrong in (lambda: spanprof.profile(f), lambda: spanprof.profile()(lambda: (yield))):
    try:
        wrong()
    except TypeError as error:
        print(error, file=sys.stderr)
""")
        for name, seconds, native in (("f", 0.3, True), ("g", 0.2, False)):
            samples = profile_reader.read_file(self.directory / f"{name}.pb.gz").samples
            self.assert_covered(profile_reader.cpu_ns(samples, lambda s: s.runs("burn")) / 1e9, seconds, alone=True)
            self.assertEqual(any(not frame.file.endswith((".py", ">")) for s in samples for frame in s.stack), native)
        self.assertEqual(log.count("top functions"), 1)
        self.assertIn("use the decorator with parentheses: @spanprof.profile()\nspanprof.profile() decorates functions and", log)

    def test_profiles_during_a_session_are_complete(self) -> None:
        profile_data, log = self.profile_data_in_session("""
with spanprof.label(job="night"):
    with spanprof.profile("out.pb.gz", show=False) as p:
        burn(0.5)
print(p, file=sys.stderr)
print_profile(p)
""")
        self.assert_covered(self.total(profile_data, "burn"), 0.5)
        self.assertIn("\nspanprof: at the session's 100 Hz, not at 1000 Hz\n", log)
        (sample,) = {tuple(sorted(s.labels.items())) for s in profile_reader.read_file(self.directory / "out.pb.gz").samples}
        self.assertEqual(dict(sample), {"job": "night"})
        self.assert_covered(sum(self.cpu_s("burn").values()), 0.5)
        uploaded = [s for profile in profile_reader.read_directory(self.profiles) for s in profile.samples if s.runs("burn")]
        self.assertEqual({tuple(s.labels.items()) for s in uploaded}, {(("job", "night"),)})

    def profile_data_in_session(self, source: str) -> tuple[dict, str]:
        """Like `profile_data`, but the program is profiled during a session."""
        done = self.run_source(PRINT_PROFILE + "assert spanprof.start()\n" + source + "assert spanprof.running()\n")
        return json.loads(done.stdout or "{}"), done.stderr

    def test_concurrent_requests_have_their_own_cpu_time(self) -> None:
        for session in ("", "assert spanprof.start(log_level='warn')"):
            with self.subTest(session=session):
                self.run_source(PRINT_PROFILE + session + """
import asyncio, concurrent.futures, threading

for i in range(8):
    exec(f"def marker_{i}(): burn(0.15)\\ndef helper_{i}(): burn(0.15)")

def ran(p):
    return {row.name for row in p.top(0) if row.name.startswith(("marker", "helper"))}

def check(i, p):
    assert p.unavailable_reason is None, p
    assert ran(p) == {f"marker_{i}", f"helper_{i}"}, (i, ran(p))

helpers = concurrent.futures.ThreadPoolExecutor(2)

def in_thread(i):
    with spanprof.profile(show=False) as p:
        globals()[f"marker_{i}"]()
        helpers.submit(globals()[f"helper_{i}"]).result()
    check(i, p)

with concurrent.futures.ThreadPoolExecutor(8) as pool:
    [done.result() for done in [pool.submit(in_thread, i) for i in range(8)]]

async def in_task(i):
    with spanprof.profile(show=False) as p:
        globals()[f"marker_{i}"]()
        await asyncio.sleep(0.01)
        await asyncio.gather(asyncio.to_thread(globals()[f"helper_{i}"]))
    check(i, p)

async def main():
    await asyncio.gather(*(in_task(i) for i in range(8)))

asyncio.run(main())

with spanprof.profile(show=False) as p:
    thread = threading.Thread(target=marker_0)
    thread.start()
    thread.join()
    asyncio.run(asyncio.to_thread(helper_0))
check(0, p)
""")

    def test_a_hundred_concurrent_and_nested_profiles(self) -> None:
        self.run_source(PRINT_PROFILE + """
import contextlib, threading

def outer(): burn(0.1)
def inner(): burn(0.1)

def names(p):
    return {row.name for row in p.top(0)} & {"outer", "inner"}

with contextlib.ExitStack() as stack:
    profiles = [stack.enter_context(spanprof.profile(show=False)) for _ in range(100)]
    inner()
assert all(names(p) == {"inner"} for p in profiles), [str(p) for p in profiles]

with spanprof.profile(show=False) as around:
    outer()
    with spanprof.profile(show=False) as within:
        inner()
assert (names(around), names(within)) == ({"outer", "inner"}, {"inner"})
""")

    def test_a_block_may_raise_start_stop_and_fork(self) -> None:
        done = self.run_source(PRINT_PROFILE + """
import os, threading

def marker(): burn(0.2)

def names(p):
    return {row.name for row in p.top(0)} & {"marker"}

try:
    with spanprof.profile(show=False) as p:
        marker()
        raise KeyError("mine")
except KeyError as error:
    assert error.args == ("mine",)
assert names(p) == {"marker"}

with spanprof.profile(show=False) as p:
    marker()
    assert spanprof.start()
assert names(p) == {"marker"} and "ended early" in p.note, p.note
with spanprof.profile(show=False) as p:
    marker()
    assert spanprof.stop(10)
assert names(p) == {"marker"} and "ended early" in p.note, p.note

with spanprof.profile() as p:
    child = os.fork()
    marker()
if child == 0:
    ok = p.top() == [] and "forked" in p.unavailable_reason
    with spanprof.profile(show=False) as p:
        marker()
    os._exit(0 if ok and names(p) == {"marker"} else 1)
assert names(p) == {"marker"}
assert os.waitpid(child, 0)[1] == 0
""")
        self.assertEqual(done.stderr.count("top functions"), 1, done.stderr)
        self.assertNotIn("not profiled", done.stderr)

    def test_all_threads_includes_threads_that_exist_already(self) -> None:
        self.run_source(PRINT_PROFILE + """
import threading

def other():
    while not over: burn(0.01)

over = False
thread = threading.Thread(target=other)
thread.start()
with spanprof.profile(show=False) as own:
    burn(0.2)
with spanprof.profile(show=False, all_threads=True) as every:
    burn(0.2)
over = True
thread.join()
assert "other" not in {row.name for row in own.top(0)}
assert "other" in {row.name for row in every.top(0)}
""")

    def test_threads_that_the_block_starts_are_profiled_but_processes_are_not(self) -> None:
        profile_data, log = self.profile_data("""
import subprocess, threading, multiprocessing
def other():
    burn(0.3)
if __name__ == "__main__":
    with spanprof.profile(show=False) as p:
        thread = threading.Thread(target=other)
        thread.start()
        child = multiprocessing.get_context("spawn").Process(target=other)
        child.start()
        child.join()
        thread.join()
    print_profile(p)
""", PYROSCOPE_SERVER_ADDRESS="http://127.0.0.1:9")
        self.assert_covered(self.total(profile_data, "other"), 0.3, alone=True)
        self.assertEqual(log, "")

    @unittest.skipIf(sys.version_info < (3, 14), "threads have no context")
    def test_a_thread_whose_context_is_in_use_fails_as_without_spanprof(self) -> None:
        self.run_source("""
import contextvars, spanprof, threading
failed = []
threading.excepthook = lambda arguments: failed.append(arguments.exc_type)
context = contextvars.copy_context()

def starts():
    thread = threading.Thread(target=print, context=context)
    thread.start()
    thread.join()

with spanprof.profile(show=False):
    context.run(starts)
assert failed == [RuntimeError], failed
""")

    def test_a_failed_profile_has_a_reason(self) -> None:
        _, log = self.profile_data("""
import os
print(spanprof.profile(), file=sys.stderr)
for _ in range(2):
    with spanprof.profile(sample_rate_hz=0) as p:
        burn(0.01)
os.environ["PYROSCOPE_AGENT_ENABLED"] = "false"
with spanprof.profile() as p:
    burn(0.01)
print(p, file=sys.stderr)
""")
        off = log.splitlines()[-1].removeprefix("spanprof: ")
        self.assertIn("PYROSCOPE_AGENT_ENABLED", off)
        self.assertEqual(log.splitlines(), [
            "spanprof: nothing was profiled yet",
            "spanprof: not profiled: sample_rate_hz is 0, not within 1 to 1000",
            f"spanprof: not profiled: {off}",
            f"spanprof: {off}"])


@unittest.skipUnless(importable("IPython"), "IPython is not installed here")
class MagicTest(ProgramCase):
    def test_magics_profile_and_do_not_change_the_code(self) -> None:
        self.write("work.py", "")
        (self.directory / "cells.ipy").write_text("""
%load_ext spanprof
from work import burn
%spanprof -n 3 -o line.pb.gz answer = burn(0.2)
print("answer", answer)
get_ipython().run_cell_magic("spanprof", "-o cell.pb.gz", "x = 1\\nburn(0.2)\\nx + 1")
get_ipython().run_cell_magic("spanprof", "", "nowhere")
print(get_ipython().user_ns["x"])
""")
        done = self.run_command([sys.executable, "-m", "IPython", "--no-banner", "--colors=nocolor", "cells.ipy"],
                                IPYTHONDIR=str(self.directory))
        self.assertIn("answer 0.2", done.stdout)
        self.assertIn("\n1\n", done.stdout)
        self.assertRegex(done.stdout, r"Out\[\d*\]: 2|\n2\n")
        self.assertIn("NameError: name 'nowhere' is not defined", done.stdout)
        self.assertEqual(done.stdout.count("top functions"), 3, done.stdout)
        for name in ("line", "cell"):
            samples = profile_reader.read_file(self.directory / f"{name}.pb.gz").samples
            self.assert_covered(profile_reader.cpu_ns(samples, lambda s: s.runs("burn")) / 1e9, 0.2, alone=True)

    def test_an_await_in_a_notebook_cell_is_refused_with_a_sentence(self) -> None:
        done = self.run_source("""
import asyncio
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "spanprof")

async def cell(code):  # runs in an event loop, as in a notebook
    shell.run_cell_magic("spanprof", "", code)

asyncio.run(cell("import asyncio\\nprint('awaited')\\nawait asyncio.sleep(0)"))
asyncio.run(cell("print('plain')"))
shell.run_cell_magic("spanprof", "", "import asyncio\\nawait asyncio.sleep(0)\\nprint('in a terminal')")
""", IPYTHONDIR=str(self.directory))
        self.assertNotIn("awaited", done.stdout)
        self.assertEqual(done.stdout.count("with spanprof.profile():"), 1, done.stdout)
        self.assertNotIn("already running", done.stdout + done.stderr)
        self.assertIn("plain", done.stdout)
        self.assertIn("in a terminal", done.stdout)


if __name__ == "__main__":
    unittest.main()
