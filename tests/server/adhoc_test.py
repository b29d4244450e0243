"""Ad hoc profiles: for the files in core/page/test/corpus, the server returns the same values as
the page."""
import base64
import json
import os
import subprocess
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
            cls.expected = {name: each for name, each in json.load(file).items() if each.get("only") != "page"}

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
            self.assertEqual(set(expected["values"]) | ({"before"} if "before" in expected else set()),
                             set(kinds.values()), name)
            for kind, value in kinds.items():
                wanted = expected["before"] if value == "before" else expected["values"][value]
                with self.subTest(name=name, kind=kind):
                    self.assertEqual(wanted, self.values(reply["id"], kind))

    @unittest.skipUnless("SPANPROF_COMMAND" in os.environ, "SPANPROF_COMMAND is not set")
    def test_report_has_the_same_values_for_pprof_files(self):
        for name, expected in self.expected.items():
            for kind, wanted in expected.get("values", {}).items() if name.endswith(".pb") else ():
                done = subprocess.run([os.environ["SPANPROF_COMMAND"], "report", "--folded", "--type", kind,
                                       os.path.join(CORPUS, name)], capture_output=True, text=True, check=True)
                lines = (line.rsplit(" ", 1) for line in done.stdout.splitlines())
                self.assertEqual(wanted, {stack: int(value) for stack, value in lines if int(value) > 0}, (name, kind))


if __name__ == "__main__":
    serving.main()
