"""The program `spanprof serve`: start and stop, uploads and queries over HTTP,
kills, a full disk, and misbehaving clients."""
import gzip
import http.client
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.parse

COMMAND = os.environ["SPANPROF_COMMAND"]
TYPE = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
CALL = "/querier.v1.QuerierService/"


class Server:
    """A server on a free port. `with` stops it."""

    def __init__(self, data, *options, file_bytes=None, ignores=()):
        def limit():
            for number in ignores:
                signal.signal(number, signal.SIG_IGN)
            if file_bytes:
                hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, hard))
        self.process = subprocess.Popen(
            [COMMAND, "serve", "--listen", "127.0.0.1:0", "--data", data, *options],
            stdout=subprocess.PIPE, text=True, preexec_fn=limit)
        self.line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", self.line)
        self.port = int(found.group(1)) if found else None

    def __enter__(self):
        return self

    def __exit__(self, kind=None, *_):
        ended = self.process.poll() is not None
        code = self.end(signal.SIGTERM)
        if not ended and not kind:
            assert code == 0, f"the server ended with {code}"

    def end(self, how):
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(30)
        self.process.stdout.close()
        return code

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def push(self, text, at=None, name="shop.cpu"):
        """Upload folded stacks, whose values count 10 ms each. Return the status."""
        at = at or time.time_ns()
        query = urllib.parse.urlencode({"name": name, "format": "folded", "from": at - 10**10,
                                        "until": at, "sampleRate": 100})
        return self.ask("POST", "/ingest?" + query, text.encode())[0]

    def total(self, selector='{service_name="shop"}'):
        now = time.time_ns() // 10**6
        body = {"profileTypeID": TYPE, "labelSelector": selector,
                "start": now - 3600_000, "end": now + 600_000}
        status, _, text = self.ask("POST", CALL + "SelectMergeStacktraces", json.dumps(body),
                                   {"Content-Type": "application/json"})
        assert status == 200, (status, text)
        return int(json.loads(text).get("flamegraph", {}).get("total", 0))


class ServerTest(unittest.TestCase):
    def setUp(self):
        self.data = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.data, ignore_errors=True)

    def test_a_restart_keeps_uploads(self):
        with Server(self.data) as server:
            self.assertIn(f"http://127.0.0.1:{server.port}, data in {self.data}", server.line)
            status, headers, body = server.ask("GET", "/ready")
            self.assertEqual((200, b"ready\n"), (status, body))
            self.assertTrue(headers["Server"].startswith("spanprof/"))
            self.assertEqual("span", headers["Spanprof-Links"])
            self.assertEqual(200, server.push("main;work 3\nmain 2\n"))
            self.assertEqual(50_000_000, server.total())
            self.assertEqual(0, server.end(signal.SIGTERM))
        with Server(self.data) as server:
            self.assertEqual(50_000_000, server.total())
            _, _, text = server.ask("GET", "/metrics")
            self.assertIn(b"\nspanprof_store_profiles 1\n", text)

    def test_the_address_of_each_view_is_the_page(self):
        with Server(self.data) as server:
            for path in ("/", "/spans", "/comparison-diff?leftQuery=a.cpu", "/pyroscope/?query=shop.cpu"):
                status, headers, body = server.ask("GET", path)
                self.assertEqual(200, status, path)
                self.assertEqual("no-cache", headers.get("Cache-Control", "no-cache"), path)
                if headers["Content-Type"].startswith("text/html"):
                    self.assertIn(b"<title>spanprof</title>", body)
                    self.assertEqual("frame-ancestors 'none'", headers["Content-Security-Policy"])
                else:  # built without npm
                    self.assertIn(b"this build has no page: install npm", body)

    def test_the_page_is_opened_in_a_browser(self):
        with Server(self.data + "/store") as server:
            if b"this build has no page" in server.ask("GET", "/")[2]:
                self.skipTest("this build has no page")
        browser = os.path.join(self.data, "browser")
        with open(browser, "w") as file:
            file.write(f'#!/bin/sh\nprintf %s "$1" > {self.data}/part && mv {self.data}/part {self.data}/opened\n')
        os.chmod(browser, 0o755)
        os.environ["BROWSER"] = browser
        self.addCleanup(os.environ.pop, "BROWSER")
        for listen, host in (("127.0.0.1:0", "127.0.0.1"), ("0.0.0.0:0", "127.0.0.1")):
            with Server(self.data + "/store", "--listen", listen, "--no-token", "--open") as server:
                port = re.search(r"http://[\d.]+:(\d+)", server.line).group(1)
                until = time.monotonic() + 20
                while not os.path.exists(self.data + "/opened"):
                    self.assertLess(time.monotonic(), until)
                    time.sleep(0.02)
                with open(self.data + "/opened") as file:
                    self.assertEqual(f"http://{host}:{port}/", file.read())
                os.remove(self.data + "/opened")

    def test_a_public_address_does_not_open_another(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with Server(self.data, "--otlp", f"0.0.0.0:{port}", "--no-token") as server:
            for at, expected in ((server.port, 403), (port, 200)):
                connection = http.client.HTTPConnection("127.0.0.1", at, timeout=10)
                connection.request("GET", "/ready", headers={"Host": "rebound.example"})
                self.assertEqual(expected, connection.getresponse().status)
                connection.close()

    def test_additional_names_of_the_host_are_allowed(self):
        with Server(self.data, "--allow-host", "grafana.example", "--allow-host=db") as server:
            for host, expected in (("grafana.example:4040", 200), ("db", 200), ("other.example", 403)):
                status, _, body = server.ask("GET", "/ready", headers={"Host": host})
                self.assertEqual(expected, status, body)
            self.assertIn(b"--allow-host", body)

    def test_all_paths_may_begin_with_a_base_path(self):
        with Server(self.data, "--base-path", "/team/profiles/") as server:
            self.assertIn(f"http://127.0.0.1:{server.port}/team/profiles/, data in", server.line)
            for prefix in ("", "/team/profiles", "/team/profiles/pyroscope", "//team/profiles"):
                with self.subTest(prefix):
                    self.assertEqual((200, b"ready\n"), server.ask("GET", prefix + "/ready")[::2])
                    self.assertEqual(200, server.ask("GET", prefix + "/spans")[0])
                    self.assertEqual(404, server.ask("GET", prefix + "/missing")[0])
            self.assertEqual(404, server.ask("GET", "/team/ready")[0])
            self.assertEqual(404, server.ask("GET", "/team/profilesready")[0])
            for path, target in (("", "profiles/"), ("?query=%7Ba%3D%22b%22%7D", "profiles/?query=%7Ba%3D%22b%22%7D")):
                status, headers, _ = server.ask("GET", "/team/profiles" + path)
                self.assertEqual((307, target), (status, headers.get("Location")))
            self.assertEqual(404, server.ask("POST", "/team/profiles", b"")[0])

    def test_a_header_of_a_client_changes_no_path(self):
        headers = {"X-Forwarded-Prefix": "/evil", "X-Forwarded-Host": "evil.example", "X-Script-Name": "/evil"}
        for options in ((), ("--base-path", "/profiles")):
            with Server(self.data, *options) as server:
                self.assertEqual(404, server.ask("GET", "/evil/ready", headers=headers)[0])
                for path in ("/", "/profiles"):
                    status, answer, body = server.ask("GET", path, headers=headers)
                    self.assertNotIn("evil", str(answer))
                    self.assertNotIn(b"evil", body)

    def test_a_signal_that_is_ignored_stays_ignored(self):
        # nohup ignores SIGHUP, and a shell script ignores SIGINT for a command with `&`.
        with Server(self.data, ignores=(signal.SIGHUP, signal.SIGINT)) as server:
            server.process.send_signal(signal.SIGHUP)
            server.process.send_signal(signal.SIGINT)
            self.assertEqual(200, server.push("main 1\n"))
            self.assertIsNone(server.process.poll())
            self.assertEqual(0, server.end(signal.SIGTERM))
        with Server(self.data) as server:
            self.assertEqual(0, server.end(signal.SIGHUP))

    def test_a_failed_start_prints_one_message(self):
        with Server(self.data) as server:
            for options, says in (
                    (["--listen", "127.0.0.1:0", "--data", self.data], "another spanprof-server has"),
                    (["--listen", f"127.0.0.1:{server.port}", "--data", self.data + "/b"], "Address already in use"),
                    (["--listen", "0.0.0.0:0", "--data", self.data + "/b"], "--no-token"),
                    (["--allow-host", "db:80"], "a name without a port"),
                    (["--allow-host", "*.example"], "a name without a port"),
                    (["--base-path", "profiles"], "give a path such as /profiles"),
                    (["--base-path", "/a/../b"], "give a path such as /profiles"),
                    (["--base-path", "/" + 300 * "a"], "give a path such as /profiles"),
                    (["--retention", "soon"], "7d, 12h or 0"),
                    (["--data", self.data + "/b", "--retention", "200000d"], "at most 292 years"),
                    (["--data", self.data + "/b", "--retention", "18446744073709551615"], "at most 292 years"),
                    (["--data", self.data + "/b", "--max-bytes", "18446744073709551615"], "below 8388608T"),
                    (["--data", self.data + "/b", "--max-bytes", "8388608T"], "below 8388608T")):
                with self.subTest(options):
                    done = subprocess.run([COMMAND, "serve", *options], capture_output=True, text=True, timeout=30)
                    self.assertNotEqual(0, done.returncode)
                    self.assertIn(says, done.stderr)
                    self.assertEqual(1, done.stderr.count("\n"), done.stderr)

    def test_accepted_uploads_survive_kills(self):
        confirmed, under_way = 0, 0
        for round_ in range(int(os.environ.get("SPANPROF_KILLS", "4"))):
            server = Server(self.data)
            self.assertGreaterEqual(server.total(), confirmed * 10_000_000)
            self.assertLessEqual(server.total(), (confirmed + under_way) * 10_000_000)
            counts = [0] * 3

            def push(thread):
                try:
                    while server.push("main;work 1\n") == 200:
                        counts[thread] += 1
                except (OSError, http.client.HTTPException):
                    pass  # killed
            threads = [threading.Thread(target=push, args=(i,)) for i in range(3)]
            for thread in threads:
                thread.start()
            while sum(counts) < 5:
                time.sleep(0.01)
            time.sleep(random.random() / 10)
            server.end(signal.SIGKILL)
            for thread in threads:
                thread.join()
            confirmed += sum(counts)
            under_way += 3
        with Server(self.data) as server:
            self.assertGreaterEqual(server.total(), confirmed * 10_000_000)

    def test_a_full_disk_is_503_until_space_is_free(self):
        with Server(self.data, file_bytes=3_000_000) as server:
            status, kept = 200, 0
            for _ in range(200):
                status = server.push("".join(f"main;{random.getrandbits(256):x} 1\n" for _ in range(1000)))
                if status != 200:
                    break
                kept += 1
            self.assertEqual(503, status)
            self.assertEqual(kept * 10_000_000_000, server.total())
            hard = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)[1]
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (hard, hard))
            self.assertEqual(200, server.push("main 1\n"))
            self.assertEqual(kept * 10_000_000_000 + 10_000_000, server.total())

    def test_bad_clients_do_not_block_others(self):
        with Server(self.data, "--upload-memory", "96M") as server:
            silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(400)]
            for one in silent:
                one.sendall(b"POST /ingest?name=a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nhalf")
            bomb = gzip.compress(bytes(300_000_000), 9)
            status, _, text = server.ask("POST", "/push.v1.PusherService/Push", bomb,
                                         {"Content-Type": "application/proto", "Content-Encoding": "gzip"})
            self.assertEqual(413, status, text)
            self.assertEqual(404, server.ask("GET", "/../../etc/passwd")[0])
            self.assertEqual(403, server.ask("POST", "/ingest?name=a", b"", {"Origin": "http://evil.example"})[0])
            self.assertEqual(200, server.push("main 1\n"))
            self.assertEqual(10_000_000, server.total())
            with open(f"/proc/{server.process.pid}/status") as file:
                peak = int(re.search(r"VmHWM:\s+(\d+)", file.read()).group(1))
            if not os.environ.get("SPANPROF_SANITIZED"):
                self.assertLess(peak, 200_000)
            for one in silent:
                one.close()

    def test_a_token_is_required(self):
        with Server(self.data, "--token", "secret") as server:
            self.assertEqual(200, server.ask("GET", "/ready")[0])
            self.assertEqual(401, server.push("main 1\n"))
            self.assertEqual(200, server.ask("POST", "/ingest?name=a&format=folded", b"main 1\n",
                                             {"Authorization": "Bearer secret"})[0])


if __name__ == "__main__":
    unittest.main()
