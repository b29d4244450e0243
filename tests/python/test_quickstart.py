"""The program of the README: the profiles that a server receives have the same service
name and ids as the exported spans."""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
import unittest
import urllib.request

from program import ProgramCase

CHECKOUT = pathlib.Path(__file__).absolute().parent.parent.parent
_FOUND = re.search(r"^### Python$.*?^```python\n(.*?)^```",
                   (CHECKOUT / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
assert _FOUND
PROGRAM = _FOUND[1]

# An exporter of spans, which the README's program does not have.
RECORDER = """
import json, os
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

class Recorder(SpanExporter):
    def export(self, spans):
        with open("spans", "a") as file:
            for span in spans:
                file.write(json.dumps({
                    "name": span.name, "id": span.attributes.get("pyroscope.profile.id"),
                    "service": span.resource.attributes["service.name"]}) + "\\n")
        return SpanExportResult.SUCCESS

provider.add_span_processor(SimpleSpanProcessor(Recorder()))
"""

WORK = """
tracer = trace.get_tracer("quickstart")
for i in range(8):
    with tracer.start_as_current_span(f"order {i}"):
        burn(0.1)
        with tracer.start_as_current_span("inner"):
            burn(0.05)
"""


class QuickstartTest(ProgramCase):
    def sink(self) -> int:
        """Start a server that stores profiles, and return its port. The server is
        killed when the test ends."""
        sink = subprocess.Popen([sys.executable, CHECKOUT / "tests/sink/sink.py"], stdout=subprocess.PIPE, text=True)
        assert sink.stdout
        self.addCleanup(sink.stdout.close)
        self.addCleanup(sink.wait)
        self.addCleanup(sink.kill)
        return int(sink.stdout.readline().split()[1])

    def run_program(self, program: str, **variables: str) -> tuple[dict, list[dict], str]:
        """Run a program. Return a summary of the received profiles, the exported spans,
        and the log."""
        port = self.sink()
        source = program.replace("http://localhost:4040", f"http://127.0.0.1:{port}")
        self.assertNotEqual(source, program)
        done = self.run_source(source, PYROSCOPE_APPLICATION_NAME="", PYROSCOPE_OUTPUT_DIRECTORY="", **variables)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/summary") as answer:
            stored = json.load(answer)
        spans = [json.loads(line) for line in (self.directory / "spans").read_text().splitlines()]
        return stored, spans, done.stderr

    def assert_linked(self, name: str, stored: dict, spans: list[dict]) -> None:
        self.assertEqual({series["service_name"] for series in stored["series"]}, {name})
        self.assertEqual({span["service"] for span in spans}, {name})
        orders = {span["id"] for span in spans if span["name"].startswith("order")}
        self.assertEqual(len(orders), 8)
        self.assertEqual(orders - stored["by_label"]["profile_id"].keys(), set())

    def test_profiles_have_name_and_ids_of_the_spans(self) -> None:
        stored, spans, log = self.run_program(PROGRAM + RECORDER + WORK)
        self.assert_linked("checkout", stored, spans)
        self.assertEqual(log, "")

    def test_without_a_name_both_get_the_same_default(self) -> None:
        without = re.sub(r"TracerProvider\(resource=.*\)", "TracerProvider()", PROGRAM)
        self.assertNotEqual(without, PROGRAM)
        stored, spans, _ = self.run_program(without + RECORDER + WORK)
        self.assert_linked(spans[0]["service"], stored, spans)
        self.assertIn("unknown_service", spans[0]["service"])

    def test_two_names_are_logged_once(self) -> None:
        both = PROGRAM.replace("spanprof.start(", 'spanprof.start(application_name="other", ')
        stored, _, log = self.run_program(both + RECORDER + WORK)
        self.assertEqual({series["service_name"] for series in stored["series"]}, {"other"})
        self.assertEqual(log.count('spans have the service name "checkout", but profiles have "other", so no trace'),
                         1, log)
        self.assertEqual(log.count("\n"), 1, log)

    def test_each_forked_child_has_the_name_of_its_own_spans(self) -> None:
        stored, _, _ = self.run_program(PROGRAM + RECORDER + WORK + """
if os.fork() == 0:
    own = TracerProvider(resource=Resource.create({"service.name": "child", "service.namespace": "eu"}))
    own.add_span_processor(spanprof.SpanProcessor())
    with own.get_tracer("child").start_as_current_span("in the child"):
        burn(0.2)
    raise SystemExit
os.wait()
""")
        names = sorted((series["service_name"], series.get("service_namespace")) for series in stored["series"])
        self.assertEqual(names, [("checkout", None), ("child", "eu")])

    def test_a_process_without_spans_has_the_name_of_its_provider(self) -> None:
        """Tests all orders of starting the session, creating the provider and adding
        the processor, each in a process and its forked child."""
        begin = "spanprof.start()\n"
        provider = """
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
provider = TracerProvider(resource=Resource.create({"service.name": "shop", "service.namespace": "eu"}))
"""
        ours = "provider.add_span_processor(spanprof.SpanProcessor())\n"
        dropin = "import pyroscope.otel\nprovider.add_span_processor(pyroscope.otel.PyroscopeSpanProcessor())\n"
        for code in (begin + provider + ours, provider + ours + begin, provider + dropin + begin,
                     provider + begin + dropin):
            with self.subTest(code):
                for path in self.profiles.iterdir():
                    path.unlink()
                self.run_source(f"""
import os, spanprof
{code}
burn(0.1)
if os.fork() == 0:
    burn(0.1)
    os._exit(0)
os.wait()
""", PYROSCOPE_APPLICATION_NAME="")
                names = [path.name.split("-")[0] for path in self.profiles.iterdir()]
                self.assertEqual(names, ["shop"] * 2)

    def test_a_missing_resource_does_not_disturb_spans(self) -> None:
        done = self.run_source("""
            import spanprof
            from opentelemetry.sdk.trace import TracerProvider, Span
            spanprof.start()

            class Wrong:
                attributes = None

            provider = TracerProvider()
            provider._resource = Wrong()
            provider.add_span_processor(spanprof.SpanProcessor())
            for _ in range(2):
                with provider.get_tracer("t").start_as_current_span("work") as span:
                    burn(0.05)
                    print("pyroscope.profile.id" in span.attributes)
        """, PYROSCOPE_APPLICATION_NAME="")
        self.assertEqual(done.stdout, "True\nTrue\n")
        self.assertEqual(done.stderr.count("the service of the spans is not known: AttributeError"), 1, done.stderr)
        self.assertTrue(all(path.name.startswith("unknown_service_python") for path in self.profiles.iterdir()))


if __name__ == "__main__":
    unittest.main()
