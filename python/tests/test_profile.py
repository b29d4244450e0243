"""spanprof.profile: blocks and functions, in the terminal, as data and as a file."""

from __future__ import annotations

import json
import pathlib
import sys
import tempfile
import unittest

import profile_reader
import spanprof
from program import ProgramCase, importable
from recording import burn

TELL = """
import atexit, json, sys
import spanprof

def tell(p):
    print(json.dumps({"top": p.top(0), "spans": p.spans(0)}))
"""


class ProfileTest(ProgramCase):
    def told(self, source: str, **variables: str) -> tuple[dict, str]:
        """What the program told of its profile, and what it said."""
        done = self.run_source(TELL + source, **variables)
        self.assertEqual([*self.profiles.iterdir()], [], "what the environment asks for is not done")
        return json.loads(done.stdout or "{}"), done.stderr

    def total(self, told: dict, function: str) -> float:
        return sum(total for name, _, _, total, *_ in told["top"] if name == function)

    def test_a_block_has_its_functions_and_spans_and_is_printed_and_saved(self) -> None:
        told, said = self.told("""
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
tell(p)
""")
        self.assert_covered(self.total(told, "burn"), 0.6, alone=True)
        spans = {name: total for name, _, _, total, *_ in told["spans"]}
        self.assertGreater(min(samples for *_, samples in told["spans"]), 10)
        self.assertEqual(spans.keys(), {"in a span", "(no span)"})
        self.assert_covered(spans["in a span"], 0.4, alone=True)
        samples = profile_reader.read_file(self.directory / "out.pb.gz").samples
        self.assertAlmostEqual(profile_reader.cpu_ns(samples, lambda s: s.runs("burn")) / 1e9,
                               self.total(told, "burn"))
        self.assertRegex(said, r"(?s)^1 profile, .* CPU s [^\n]* span name\n.* in a span\n.* top functions .* burn ")

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

    def test_a_page_of_nothing_is_an_error(self) -> None:
        p = spanprof.profile()
        for call in (lambda: p.html("nowhere"), p.open):
            with self.assertRaisesRegex(spanprof.Error, "nothing was profiled yet"):
                call()

    def test_functions_and_coroutine_functions_are_decorated(self) -> None:
        told, said = self.told("""
import asyncio
@spanprof.profile("f.pb.gz", native_frames=True, show=False)
def f(depth):
    burn(0.1)
    return depth and f(depth - 1)  # one profile

@spanprof.profile("g.pb.gz")
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
        self.assertEqual(said.count("top functions"), 1)
        self.assertIn("a decorator is written @spanprof.profile()\nspanprof.profile() decorates functions and", said)

    def test_beside_a_session_the_block_runs_and_the_reason_is_told(self) -> None:
        done = self.run_source(TELL + """
spanprof.start()
with spanprof.profile("out.pb.gz") as p:
    burn(0.3)
assert spanprof.running()
for ask in (p.top, p.spans, lambda: p.save("out.pb.gz")):
    try:
        ask()
    except spanprof.Error as error:
        print(error)
""")
        self.assertEqual(done.stdout.count("it is profiled already: its profiles have this block"), 3, done.stdout)
        self.assertEqual(done.stderr.count("not profiled: spanprof.profile() needs the process to itself"), 1)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertFalse((self.directory / "out.pb.gz").exists())
        self.assert_covered(sum(self.cpu_s("burn").values()), 0.3)

    def test_a_session_that_the_block_starts_goes_on(self) -> None:
        self.run_source(TELL + """
with spanprof.profile(show=False) as p:
    with spanprof.profile() as inner:
        burn(0.2)
    assert "another" in str(inner), str(inner)
    assert spanprof.start()
assert spanprof.running()
assert 0.1 < dict((row.name, row.total_s) for row in p.top(0))["burn"] < 0.4
burn(0.3)
""")
        self.assert_covered(sum(self.cpu_s("burn").values()), 0.3)

    def test_other_threads_are_in_it_and_processes_that_it_starts_are_not(self) -> None:
        told, said = self.told("""
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
    tell(p)
""", PYROSCOPE_SERVER_ADDRESS="http://127.0.0.1:9")
        self.assert_covered(self.total(told, "other"), 0.3, alone=True)
        self.assertEqual(said, "")

    def test_what_was_not_profiled_says_why(self) -> None:
        _, said = self.told("""
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
        self.assertEqual(said.splitlines(), [
            "spanprof: nothing was profiled yet",
            "not profiled: sample_rate_hz is 0, not within 1 to 1000",
            "not profiled: PYROSCOPE_AGENT_ENABLED has switched profiling off",
            "spanprof: PYROSCOPE_AGENT_ENABLED has switched profiling off"])


class MergeTest(unittest.TestCase):
    def test_parts_become_one_profile_with_the_samples_of_all(self) -> None:
        from spanprof._pprof import merged

        parts: list[bytes] = []
        self.assertTrue(spanprof.start(application_name="parts", sample_rate_hz=1000, log_level="warn",
                                       on_profile=lambda part, *_: parts.append(part)))
        for i in range(3):
            with spanprof.label(part=str(i)):
                burn(0.1)
            self.assertTrue(spanprof.flush(10))
        spanprof.stop(10)
        with tempfile.TemporaryDirectory() as directory:
            for name, data in (("all", merged(parts)), *((str(i), part) for i, part in enumerate(parts))):
                pathlib.Path(directory, f"{name}.pb.gz").write_bytes(data)
            one = profile_reader.read_file(pathlib.Path(directory, "all.pb.gz"))
            pathlib.Path(directory, "all.pb.gz").unlink()
            each = profile_reader.read_directory(directory)
        self.assertGreaterEqual(len(each), 3)
        self.assertEqual(one.samples, [sample for profile in each for sample in profile.samples])
        self.assertEqual((one.time_ns, one.sample_types, one.period, one.comments),
                         (each[0].time_ns, each[0].sample_types, each[0].period, each[0].comments))
        self.assertEqual(one.time_ns + one.duration_ns, each[-1].time_ns + each[-1].duration_ns)


@unittest.skipUnless(importable("IPython"), "IPython is not installed here")
class MagicTest(ProgramCase):
    def test_a_cell_and_a_line_are_profiled_and_run_as_without(self) -> None:
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


if __name__ == "__main__":
    unittest.main()
