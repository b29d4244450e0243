"""If log messages cannot be written, only the messages are lost: no call raises an
exception, no block is skipped, and results and exit statuses stay the same."""

from __future__ import annotations

import sys
import unittest

from program import ProgramCase, importable

BREAK = {
    "the descriptor of stderr is closed": "os.close(2)",
    "there is no sys.stderr": "sys.stderr = sys.__stderr__ = None",
    "the reader of stderr has exited": """
reading, writing = os.pipe()
os.close(reading)
os.dup2(writing, 2)
""",
    "the disk of stderr is full": "os.dup2(os.open('/dev/full', os.O_WRONLY), 2)",
    "the program's own sys.stderr raises": """
class Stream:
    def write(self, text):
        raise RuntimeError("failing stream")
    def flush(self):
        pass
sys.stderr = Stream()
""",
}
LOGGING = {
    "logging is not configured": "",
    "logging is imported": "import logging",
    # In newer CPythons, a line that the log handler could not write stays in the buffer
    # of sys.stderr, and the interpreter exits with 120 if it cannot flush this buffer.
    # So the program removes sys.stderr at its exit.
    "logging writes to stderr": """
import atexit, logging
logging.basicConfig(level=1)
logging.raiseExceptions = False
atexit.register(setattr, sys, "stderr", None)
""",
    "a handler raises": """
import logging
class Handler(logging.Handler):
    def handle(self, record):
        raise RuntimeError("failing handler")
logging.getLogger("spanprof").addHandler(Handler())
""",
    "the logger raises": """
import logging
def raises(*arguments, **keywords):
    raise RuntimeError("failing logger")
logging.getLogger("spanprof").log = logging.getLogger("spanprof").hasHandlers = raises
""",
}

# Calls that log messages: options that are refused, labels that are left out, a server
# that is down.
CALLS = """
class Unreadable:
    def __str__(self):
        raise RuntimeError("failing text")

ran = []
import spanprof, spanprof._logging
spanprof._logging.log(40, "a sentence \\udcff")
spanprof._logging.last_resort("a sentence \\udcff")
assert spanprof.start(sample_rate_hz=-1) is False
try:
    spanprof.start(sample_rate=100)
except TypeError as error:
    assert "sample_rate_hz" in str(error)
assert spanprof.start(sample_rate_hz=5000) is False
assert "sample_rate" in spanprof.unavailable_reason()
assert spanprof.start() is True
assert spanprof.start(log_level="loud") is False
assert spanprof.running()
with spanprof.label(page=Unreadable()):
    ran.append("label")
spanprof.label(page=Unreadable())(ran.append)("labelled function")
burn(0.1)
assert spanprof.flush(0.1) in (True, False)
assert spanprof.pause() is True and spanprof.resume() is True
spanprof.stats(), spanprof.available(), spanprof.unavailable_reason()
import pyroscope
with pyroscope.tag_wrapper({"page": Unreadable()}):
    ran.append("tag_wrapper")
pyroscope.configure(application_name="app", server_address="http://127.0.0.1:9", mem_enabled=True)
pyroscope.shutdown()
assert spanprof.stop() in (True, False)
with spanprof.profile():
    ran.append("profile")
assert ran == ["label", "labelled function", "tag_wrapper", "profile"], ran
"""
SPANS = """
from opentelemetry.sdk.trace import TracerProvider
provider = TracerProvider()
provider.add_span_processor(spanprof.SpanProcessor(root_span_only="yes"))
provider.add_span_processor(spanprof.SpanProcessor(baseline_labels=1))
with provider.get_tracer("test").start_as_current_span("work"):
    ran.append("span")
assert ran[-1] == "span"
"""


class BrokenOutputTest(ProgramCase):
    def test_every_call_does_its_work(self) -> None:
        names, commands = [], []
        spans = SPANS if importable("opentelemetry.sdk.trace") else ""
        for broken, breaks in BREAK.items():
            for logging, sets_up in LOGGING.items():
                names.append(f"{broken}, {logging}")
                path = self.write(f"app-{len(names)}.py", "")
                # The program prints its exceptions to stdout, because its stderr is
                # broken.
                path.write_text(path.read_text() + f"import os, sys, traceback\n{breaks}\n{sets_up}" + "\ntry:\n"
                                + "".join(f"    {line}\n" for line in (CALLS + spans).splitlines())
                                + "except BaseException:\n    print(traceback.format_exc())\n"
                                "else:\n    print('done')\n")
                commands.append([sys.executable, str(path)])
        for name, done in zip(names, self.run_concurrently(commands, PYROSCOPE_SERVER_ADDRESS="http://127.0.0.1:9"),
                              strict=True):
            with self.subTest(name):
                self.assertEqual(done.stdout, "done\n")

    def test_a_start_by_the_environment(self) -> None:
        for name, breaks in BREAK.items():
            with self.subTest(name):
                done = self.run_source(f"import os, sys\n{breaks}\n"
                                       "from spanprof import _autostart\n_autostart.start()\nprint('went on')",
                                       PYROSCOPE_SAMPLE_RATE="no", SPANPROF_REQUIRED="")
                self.assertEqual(done.stdout, "went on\n")
                self.run_source(f"import os, sys\n{breaks}\n"
                                "from spanprof import _autostart\n_autostart.start()\nprint('went on')",
                                PYROSCOPE_SAMPLE_RATE="no", SPANPROF_REQUIRED="1", status=1)

    def test_each_line_begins_with_spanprof(self) -> None:
        """The program does not configure logging, whether or not it imports the module."""
        for imports in ("", "import logging"):
            done = self.run_source(f"""
                {imports}
                import spanprof
                spanprof.start(sample_rate_hz=-1)
                spanprof.start()
                with spanprof.label(page=type("", (), {{"__str__": 1}})()):
                    burn(0.1)
                spanprof.flush(0.5)
                spanprof.stop()
            """, PYROSCOPE_SERVER_ADDRESS="http://127.0.0.1:9")
            lines = done.stderr.splitlines()
            self.assertGreater(len(lines), 1, lines)
            for line in lines:
                self.assertRegex(line, "^spanprof: ")


if __name__ == "__main__":
    unittest.main()
