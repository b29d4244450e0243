"""Access to the server: tokens in a file, Unix sockets, and the log line with the addresses."""
import base64
import os
import re
import socket
import stat
import subprocess
import tempfile
import unittest

from serving import PROGRAM, Server, main

ASK = b"GET /api/v1/applications HTTP/1.1\r\nHost: gateway.example\r\nConnection: close\r\n\r\n"


def over(path, text=ASK):
    """Send a request to a Unix socket. Return the first line of the answer."""
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(path)
        one.sendall(text)
        return one.makefile("rb").readline()


class AccessTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.file = os.path.join(self.directory, "token")

    def write(self, text):
        """Replace the file, as renewed secrets are."""
        with open(self.file + ".new", "w") as file:
            file.write(text)
        os.replace(self.file + ".new", self.file)

    def start(self, *options, listen):
        process = subprocess.Popen([PROGRAM, "--listen", listen, "--data", self.directory, *options],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process, process.stdout.readline()

    def test_a_token_in_a_file_is_read_again(self):
        def ask(token):
            basic = base64.b64encode(b"user:" + token.encode()).decode()
            return {server.send("/api/v1/applications", method="GET", headers={"Authorization": sent})[0]
                    for sent in ("Bearer " + token, "Basic " + basic)}
        self.write("first\n")
        with Server("--token-file", self.file) as server:
            self.assertEqual(401, server.send("/api/v1/applications", method="GET")[0])
            self.assertEqual({200}, ask("first"))
            self.assertEqual({401}, ask("second"))
            self.write("second")
            self.assertEqual({200}, ask("second"))
            self.assertEqual({401}, ask("first"))
            for text in ("", "\n", "x" * 600):  # no valid token: the previous token stays valid
                self.write(text)
                self.assertEqual({200}, ask("second"))
                self.assertEqual({401}, ask(""))
            os.remove(self.file)
            self.assertEqual({200}, ask("second"))

    def test_a_token_file_that_cannot_be_used_is_refused_at_the_start(self):
        for text, why in ((None, "cannot be read"), ("", "is empty"), ("x" * 600, "is longer than")):
            if text is not None:
                self.write(text)
            process, first_line = self.start("--token-file", self.file, listen="0.0.0.0:0")
            self.assertIn(f"the token file {self.file} {why}", first_line)
            self.assertNotEqual(0, process.wait())

    def test_a_unix_socket_is_for_its_user_and_group(self):
        path = os.path.join(self.directory, "serve.sock")
        process, first_line = self.start(listen="unix:" + path)
        self.assertIn(f" at unix:{path}, data in ", first_line)
        self.assertEqual(0o660, stat.S_IMODE(os.stat(path).st_mode))
        self.assertIn(b" 200 ", over(path))
        other = tempfile.mkdtemp(dir=self.directory)
        second, first_line = self.start("--data", other, listen="unix:" + path)
        self.assertIn("cannot listen on unix:", first_line)
        self.assertNotEqual(0, second.wait())
        self.assertIn(b" 200 ", over(path))
        process.kill()
        process.wait()
        self.assertTrue(os.path.exists(path))
        third, _ = self.start(listen="unix:" + path)  # replaces the stale socket
        self.assertIn(b" 200 ", over(path))
        third.terminate()
        self.assertEqual(0, third.wait())
        self.assertFalse(os.path.exists(path))

    def test_a_file_in_place_of_the_socket_stays(self):
        self.write("kept")
        process, first_line = self.start(listen="unix:" + self.file)
        self.assertIn("cannot listen on unix:", first_line)
        self.assertNotEqual(0, process.wait())
        with open(self.file) as file:
            self.assertEqual("kept", file.read())

    def test_the_first_line_names_both_addresses(self):
        with Server("--otlp", "127.0.0.1:0") as server:
            found = re.search(r"at (http://127\.0\.0\.1:\d+), OTLP at (http://127\.0\.0\.1:\d+), data in ", server.first_line)
            self.assertTrue(found, server.first_line)
            server.base = found[2]
            self.assertEqual(200, server.send("/ready", method="GET")[0])


if __name__ == "__main__":
    main()
