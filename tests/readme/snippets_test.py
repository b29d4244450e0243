#!/usr/bin/env python3
"""Compiles and runs the README's C program, and checks that a server receives a profile with its
span. The environment has the compiler (SPANPROF_CC), the folders of headers, separated by ";"
(SPANPROF_INCLUDES), and the path of the library (SPANPROF_LIBRARY)."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks(language):
    """Return the README's code blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / "README.md").read_text(), re.S | re.M)


class SnippetsTest(unittest.TestCase):
    def test_the_c_program_profiles_its_span(self):
        program, = blocks("c")
        with tempfile.TemporaryDirectory() as folder, Sink() as sink:
            source, binary = pathlib.Path(folder, "app.c"), pathlib.Path(folder, "app")
            source.write_text(program.replace("http://localhost:4040", sink.address))
            library = os.environ["SPANPROF_LIBRARY"]
            includes = [f"-I{path}" for path in os.environ["SPANPROF_INCLUDES"].split(";")]
            subprocess.run([os.environ["SPANPROF_CC"], "-std=gnu11", "-Wall", "-Wextra", "-Werror", *includes,
                            "-o", binary, source, library, f"-Wl,-rpath,{os.path.dirname(library)}"], check=True)
            done = subprocess.run([binary], capture_output=True, text=True, timeout=60)
            self.assertEqual((0, ""), (done.returncode, done.stderr))
            self.assertIn("GET /cart", json.dumps(sink.summary()))
            self.assertIn('"checkout"', json.dumps(sink.summary()))


class Sink:
    """Runs tests/sink/sink.py, a server that receives profiles in tests."""

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, "-u", ROOT / "tests" / "sink" / "sink.py"],
                                        stdout=subprocess.PIPE, text=True)
        ports = dict(self.process.stdout.readline().split() for _ in range(2))
        self.address = f"http://127.0.0.1:{ports['port']}"
        self.control = f"http://127.0.0.1:{ports['control']}"
        return self

    def summary(self):
        with urllib.request.urlopen(f"{self.control}/summary", timeout=10) as answer:
            return json.load(answer)

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


if __name__ == "__main__":
    unittest.main()
