"""Files of other tools: for the files in core/page/test/corpus, the server's ad hoc API and `spanprof
report` have the same values as the page."""
import base64
import json
import os
import subprocess
import tempfile
import unittest

import serving

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../core/page/test/corpus")
PAD = b"x" * 70_000


def content(name):
    with open(os.path.join(CORPUS, name), "rb") as file:
        return file.read().replace(b"@pad@", PAD)


def stacks(graph):
    """Return {"a;b": value} for a flamebearer of the format "single"."""
    found, above = {}, [(0, float("inf"), None)]
    names = graph["names"]
    for level in graph["levels"]:
        x, row = 0, []
        for offset, total, self, name in zip(*[iter(level)] * 4):
            x += offset
            path = next(path for start, end, path in above if start <= x < end or total == 0)
            path = "" if path is None else f"{path};{names[name]}" if path else names[name]
            row.append((x, x + total, path))
            if self:
                found[path] = found.get(path, 0) + self
            x += total
        above = row
    return found


class AdhocTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = serving.Server()
        cls.server.__enter__()
        cls.addClassCleanup(cls.server.__exit__, None, None, None)
        with open(os.path.join(CORPUS, "expected.json"), encoding="utf-8") as file:
            cls.expected = json.load(file)

    def call(self, method, **body):
        status, reply = self.server.send(f"/adhocprofiles.v1.AdHocProfileService/{method}", json.dumps(body).encode(),
                                        {"Content-Type": "application/json"})
        return status, json.loads(reply)

    def upload(self, name):
        return self.call("Upload", name=name, profile=base64.b64encode(content(name)).decode())

    def values(self, id_, kind):
        status, reply = self.call("Get", id=id_, profileType=kind)
        self.assertEqual((200, kind), (status, reply.get("profileType")), (id_, reply))
        return stacks(json.loads(reply["flamebearerProfile"])["flamebearer"])

    def test_all_files_of_the_corpus_are_read_as_in_the_page(self):
        for name, expected in self.expected.items():
            if "refused" in expected:
                status, reply = self.upload(name)
                self.assertEqual((400, True), (status, expected["refused"] in reply["message"]), (name, reply))
                continue
            status, reply = self.upload(name)
            self.assertEqual(200, status, (name, reply))
            # If the values have no name, the server uses the file's name as the type.
            kinds = {kind: "samples" if kind == name else kind for kind in reply["profileTypes"]}
            values = dict(expected["values"], **{"before": expected["before"]} if "before" in expected else {})
            if name.endswith(".speedscope.json") and "threads" in expected:
                # As in Pyroscope, each profile of the file is a type.
                values = {thread: each["time"] for thread, each in expected["threads"].items()}
            values = expected.get("api", values)  # like Pyroscope, the API does not convert a flamebearer to time
            self.assertEqual(set(values), set(kinds.values()), name)
            for kind, value in kinds.items():
                wanted = values[value]
                with self.subTest(name=name, kind=kind):
                    self.assertEqual(wanted, self.values(reply["id"], kind))

    def report(self, folder, name, *arguments):
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(content(name))
        return subprocess.run([os.environ["SPANPROF_COMMAND"], "report", "--folded", *arguments, path],
                              capture_output=True, text=True)

    @unittest.skipUnless("SPANPROF_COMMAND" in os.environ, "SPANPROF_COMMAND is not set")
    def test_report_reads_all_files_of_the_corpus_as_the_page_does(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, expected in self.expected.items():
                if "refused" in expected:
                    done = self.report(folder, name)
                    self.assertEqual((1, True), (done.returncode, expected["refused"] in done.stderr), (name, done))
                    continue
                if "default" in expected:
                    self.check(self.report(folder, name), expected["values"][expected["default"]], name)
                values = dict(expected["values"], **{"before": expected["before"]} if "before" in expected else {})
                for kind, wanted in values.items():
                    self.check(self.report(folder, name, "--type", kind), wanted, name)
                for thread, values in expected.get("threads", {}).items():
                    for kind, wanted in values.items():
                        self.check(self.report(folder, name, "--type", kind, "--label", f"thread={thread}"),
                                   wanted, (name, thread))

    def check(self, done, wanted, name):
        lines = (line.rsplit(" ", 1) for line in done.stdout.splitlines())
        self.assertEqual((0, wanted), (done.returncode, {stack: int(value) for stack, value in lines if int(value) > 0}),
                         (name, done.stderr))


if __name__ == "__main__":
    serving.main()
