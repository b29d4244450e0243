#!/usr/bin/env python3
"""`spanprof upload` of files that a program wrote, to a Pyroscope stand-in."""

import contextlib
import gzip
import os
import pty
import shutil
import subprocess
import tempfile
import unittest

from check_test import Sink

COMMAND = os.environ["SPANPROF_COMMAND"]
BURN = os.environ["SPANPROF_BURN"]


class UploadTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sink = Sink()
        cls.addClassCleanup(cls.sink.close)
        cls.address = f"http://127.0.0.1:{cls.sink.port}"
        cls.directory = tempfile.mkdtemp(prefix="spanprof-upload-")
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        subprocess.run([BURN, cls.directory], timeout=60, check=True, capture_output=True,
                       env={"PYROSCOPE_LABELS": "region=eu north,host.name=a=b"})
        cls.files = sorted(os.listdir(cls.directory))

    def setUp(self):
        self.sink.ask("/control", {"reset": True})

    def upload(self, *arguments, status=0, **environment):
        done = subprocess.run([COMMAND, "upload", *arguments], text=True, capture_output=True, timeout=60,
                              env={"PYROSCOPE_" + name: value for name, value in environment.items()})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_profiles_keep_their_name_and_labels(self):
        done = self.upload("--server", self.address, self.directory, APPLICATION_NAME="another", LABELS="a=b")
        self.assertEqual(done.stdout, f"{len(self.files)} of {len(self.files)} profiles accepted by {self.address}\n")
        self.assertEqual(done.stderr, "")
        stored = self.sink.ask("/summary")
        self.assertEqual(stored["profiles"], len(self.files))
        self.assertEqual(len(stored["series"]), 1)
        series = stored["series"][0]
        self.assertEqual({name: series[name] for name in ("__name__", "region", "host_name", "otel.scope.name")},
                         {"__name__": "process_cpu", "region": "eu north", "host_name": "a=b",
                          "otel.scope.name": "spanprof"})
        self.assertNotIn("a", series)
        self.assertTrue(self.files[0].startswith(series["service_name"] + "-"), series)
        self.assertGreater(stored["value"], 1.5e9)

    def test_a_second_upload_stores_nothing_twice(self):
        for _ in range(2):
            self.upload(self.directory, SERVER_ADDRESS=self.address)
        stored = self.sink.ask("/summary")
        self.assertEqual((stored["profiles"], stored["repeats"]), (len(self.files), len(self.files)))

    def test_ingest_and_credentials_come_from_the_environment(self):
        self.upload(self.directory, SERVER_ADDRESS=self.address, UPLOAD_PROTOCOL="ingest", TENANT_ID="team")
        stored = self.sink.ask("/summary")
        self.assertEqual(stored["profiles"], len(self.files))
        self.assertEqual(stored["last"]["headers"]["x-scope-orgid"], "team")

    def test_a_profile_without_a_name_gets_that_of_the_environment(self):
        path = os.path.join(self.directory, self.files[0])
        with gzip.open(path) as file:
            plain = file.read()
        with tempfile.NamedTemporaryFile(suffix=".pb") as other:
            other.write(plain.replace(b"label service_name=", b"label servile_name="))
            other.flush()
            self.upload(other.name, SERVER_ADDRESS=self.address, APPLICATION_NAME="named", LABELS="a=b")
        series = self.sink.ask("/summary")["series"][0]
        self.assertEqual((series["service_name"], series["a"]), ("named", "b"))
        self.assertNotIn("region", series)

    def test_refused_profiles_are_reported(self):
        self.sink.ask("/control", {"mode": "status", "status": 400, "message": "too old"})
        done = self.upload(self.directory, SERVER_ADDRESS=self.address, status=1)
        self.assertEqual(done.stdout, f"0 of {len(self.files)} profiles accepted by {self.address}\n")
        self.assertIn(f"{self.files[0]}: {self.address} answered 400: unknown: too old\n", done.stderr)

    def test_a_short_outage_is_retried(self):
        self.sink.ask("/control", {"mode": "status", "status": 503, "count": 2})
        self.upload(self.directory, SERVER_ADDRESS=self.address)
        self.assertEqual(self.sink.ask("/summary")["profiles"], len(self.files))

    def test_uploads_stop_if_the_server_never_answers(self):
        with tempfile.TemporaryDirectory() as directory:
            for name in ("a.pb.gz", "b.pb.gz", "c.pb.gz"):
                shutil.copy(os.path.join(self.directory, self.files[0]), os.path.join(directory, name))
            done = self.upload("--server", "http://127.0.0.1:1", directory, status=1)
        self.assertEqual(done.stderr.count("cannot upload to"), 1, done.stderr)
        self.assertIn("the server does not answer; files not sent: 2\n", done.stderr)

    def test_a_terminal_shows_progress_and_waits(self):
        leader, follower = pty.openpty()
        self.sink.ask("/control", {"mode": "status", "status": 503, "count": 1})
        done = subprocess.run([COMMAND, "upload", self.directory], stdout=subprocess.PIPE, stderr=follower, timeout=60,
                              env={"PYROSCOPE_SERVER_ADDRESS": self.address})
        os.close(follower)
        said = b""
        with contextlib.suppress(OSError):  # Raised when no writer has the terminal open.
            while more := os.read(leader, 4096):
                said += more
        os.close(leader)
        self.assertRegex(said, b"\r0 of %d files sent; the server answered 503, retry in \\d+ s" % len(self.files))
        self.assertTrue(said.endswith(b"\r\x1b[K"), said)
        self.assertNotIn(b"files sent", done.stdout)

    def test_a_file_that_is_not_a_profile_does_not_stop_the_upload(self):
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "no.pb"), "wb") as file:
                file.write(b"nothing")
            done = self.upload(directory, self.directory, SERVER_ADDRESS=self.address, status=1)
        self.assertIn("no.pb: is not a pprof profile", done.stderr)
        self.assertEqual(self.sink.ask("/summary")["profiles"], len(self.files))

    def test_wrong_usage_is_reported(self):
        self.assertIn("usage: spanprof upload", self.upload(status=2).stderr)
        self.assertIn("usage: spanprof upload", self.upload("--help").stdout)
        self.assertIn("set --server or PYROSCOPE_SERVER_ADDRESS",
                      self.upload(self.directory, status=1).stderr)
        self.assertIn("server_address is", self.upload("--server", "localhost", self.directory, status=1).stderr)

    def test_uploaded_files_are_not_changed(self):
        done = subprocess.run([COMMAND, "report", "--json", self.directory], capture_output=True, timeout=60, check=True)
        self.assertIn(b'"profiles":', done.stdout.replace(b" ", b""))


if __name__ == "__main__":
    unittest.main()
