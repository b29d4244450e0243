"""A server for a test, with its data in a temporary directory, on a free port."""
import http.client
import json
import os
import re
import subprocess
import tempfile
import unittest
import urllib.parse

PROGRAM = os.environ.get("SPANPROF_SERVER", "spanprof-server")


class Server:
    """A server that runs during a `with` block: `with Server("--ingest-window", "off") as server`."""

    def __init__(self, *options, log=subprocess.STDOUT):
        self.options = options
        self.log = log

    def __enter__(self):
        self.data = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [PROGRAM, "--listen", "127.0.0.1:0", "--data", self.data.name, *self.options],
            stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.first_line = self.process.stdout.readline()
        found = re.search(r"(http://\S+?),? ", self.first_line)
        assert found, f"no address in {self.first_line!r}"
        self.base = found[1]
        return self

    def __exit__(self, kind=None, *_):
        self.process.terminate()
        output = self.process.communicate(timeout=30)[0]
        self.data.cleanup()
        # Check the exit status, because sanitizers report errors at the exit.
        if not kind:
            assert self.process.returncode == 0, f"the server ended with {self.process.returncode}: {output}"

    def send(self, path, body=b"", headers=(), method="POST"):
        """Send a request. Return its status and body."""
        at = urllib.parse.urlsplit(self.base)
        connection = http.client.HTTPConnection(at.hostname, at.port, timeout=60)
        connection.request(method, path, body, dict(headers))
        answer = connection.getresponse()
        got = answer.status, answer.read()
        connection.close()
        return got

    def call(self, method, message):
        """Call a method of the query service in JSON. Return the parsed response."""
        status, body = self.send("/querier.v1.QuerierService/" + method, json.dumps(message).encode(), {
            "Content-Type": "application/json", "Accept": "*/*; allow-utf8-labelnames=true"})
        assert status == 200, body
        return json.loads(body)

    def series(self, selector, span):
        """Return each series as a dictionary, without the labels that the server derives."""
        found = self.call("Series", dict(span, matchers=[selector], labelNames=[])).get("labelsSet", [])
        derived = ("__period_type__", "__period_unit__", "__type__", "__unit__", "__service_name__")
        return [{pair["name"]: pair["value"] for pair in entry["labels"] if pair["name"] not in derived}
                for entry in found]

    def total(self, profile_type, selector, span, **more):
        """Return the sum and the names of a flame graph."""
        graph = self.call("SelectMergeStacktraces", dict(
            span, profileTypeID=profile_type, labelSelector=selector, **more)).get("flamegraph", {})
        return int(graph.get("total", 0)), graph.get("names", [])


def main():
    unittest.main(verbosity=2)
