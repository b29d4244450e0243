"""Malicious and broken clients: each gets a clear answer, memory stays below a limit,
and a well-behaved client is served at the same time."""
import base64
import gzip
import json
import os
import re
import resource
import selectors
import shutil
import socket
import struct
import tempfile
import threading
import time
import unittest
import zlib

from server_test import CALL, Server

PUSH = "/push.v1.PusherService/Push"
PROTO = {"Content-Type": "application/proto"}
MEMORY_KB = 240_000  # maximum of the server's memory: 96 MiB for uploads, 80 MiB for request bodies, and the rest
SANITIZED = bool(os.environ.get("SPANPROF_SANITIZED"))  # memory is not measured with sanitizers


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def pprof(label=b"value"):
    """Return a profile with one sample of 10 ms and one label."""
    texts = [b"", b"cpu", b"nanoseconds", b"main", b"name", label]
    return b"".join([
        field(1, field(1, 1) + field(2, 2)), field(11, field(1, 1) + field(2, 2)), field(12, 10**7),
        field(2, field(1, b"\x01") + field(2, varint(10**7)) + field(3, field(1, 4) + field(2, 5))),
        field(4, field(1, 1) + field(4, field(1, 1) + field(2, 1))), field(5, field(1, 1) + field(2, 3)),
        *(field(6, text) for text in texts), field(9, time.time_ns())])


def push(profile, service=b"hostile"):
    labels = b"".join(field(1, field(1, name) + field(2, value))
                      for name, value in ((b"__name__", b"process_cpu"), (b"service_name", service)))
    return field(1, labels + field(2, field(1, profile)))


def bomb(size):
    """Return `size` zeros as gzip, which repeats one compressed mebibyte."""
    packer, zeros = zlib.compressobj(9, zlib.DEFLATED, -15), bytes(1 << 20)
    packed = packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = 0
    for _ in range(size >> 20):
        checksum = zlib.crc32(zeros, checksum)
    return b"".join([b"\x1f\x8b\x08" + bytes(6) + b"\xff", *[packed] * (size >> 20), packer.flush(),
                     struct.pack("<II", checksum, size)])


class GoodClient(threading.Thread):
    """A client that uploads correctly. `wrong` contains its failed uploads."""

    def __init__(self, server):
        super().__init__()
        self.server, self.accepted, self.wrong, self.longest, self.ended = server, 0, [], 0, threading.Event()

    def run(self):
        while not self.ended.is_set():
            began = time.monotonic()
            try:
                status = self.server.push("main;good 1\n")
                self.accepted += status == 200
                if status != 200:
                    self.wrong.append(status)
            except OSError as error:
                self.wrong.append(error)
            self.longest = max(self.longest, time.monotonic() - began)
            self.ended.wait(0.05)


class HostileTest(unittest.TestCase):
    def setUp(self):
        self.data = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.data, ignore_errors=True)
        self.server = Server(self.data, "--upload-memory", "96M")
        self.addCleanup(self.server.__exit__)
        self.good_client = GoodClient(self.server)
        self.good_client.start()
        self.addCleanup(self.good_client.join)
        self.addCleanup(self.good_client.ended.set)

    def check_others_were_served(self):
        self.good_client.ended.set()
        self.good_client.join()
        self.assertEqual([], self.good_client.wrong)
        self.assertGreater(self.good_client.accepted, 0)
        self.assertLess(self.good_client.longest, 30)
        self.assertEqual(self.good_client.accepted * 10_000_000, self.server.total())
        if not SANITIZED:
            with open(f"/proc/{self.server.process.pid}/status") as file:
                self.assertLess(int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]), MEMORY_KB)

    def connect(self, text=b""):
        one = socket.create_connection(("127.0.0.1", self.server.port), timeout=60)
        self.addCleanup(one.close)
        one.sendall(text)
        return one

    @staticmethod
    def status(one):
        """Return the status of the answer on a socket, or None if the server closed the connection."""
        got = b""
        while b"\r\n" not in got:
            more = one.recv(4096)
            if not more:
                return None
            got += more
        return int(got.split()[1])

    def raw(self, text):
        return self.status(self.connect(text))

    def ask(self, path, body=b"", headers=PROTO):
        """Send a request. Return the status and body of the answer, also if it comes before the end of the request."""
        try:
            status, _, text = self.server.ask("POST", path, body, headers)
        except (BrokenPipeError, ConnectionResetError) as error:
            self.fail(f"{path}: no answer to {len(body)} bytes: {error}")
        return status, text

    def test_a_thousand_connections_at_once(self):
        waiting = selectors.DefaultSelector()
        for i in range(1000):
            what = (b"GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n" if i % 2 else
                    b"GET /pyroscope/render?query=shop.cpu&from=now-1h HTTP/1.1\r\nHost: localhost\r\n\r\n")
            waiting.register(self.connect(what), selectors.EVENT_READ)
        statuses, deadline = [], time.monotonic() + 60
        while len(statuses) < 1000 and time.monotonic() < deadline:
            for key, _ in waiting.select(1):
                statuses.append(self.status(key.fileobj))
                waiting.unregister(key.fileobj)
        self.assertEqual({200}, set(statuses))
        self.assertEqual(1000, len(statuses))
        self.check_others_were_served()

    def test_slow_and_half_open_senders(self):
        head = b"POST /ingest?name=slow&format=folded HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n"
        slow = [self.connect() for _ in range(150)]
        silent = [self.connect(head + b"half") for _ in range(150)]
        cut = [self.connect(head + b"half") for _ in range(50)]
        for one in cut:  # stops sending, but still reads
            one.shutdown(socket.SHUT_WR)
        for one in (self.connect(head + b"half") for _ in range(150)):  # disconnects with a reset
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            one.close()
        message = head + b"main;slow_sender 1\n\n"
        for at in range(0, len(message), 7):
            for one in slow:
                one.sendall(message[at:at + 7])
            time.sleep(0.02)
        self.assertEqual({200}, {self.status(one) for one in slow})
        answers = {self.status(one) for one in cut}
        self.assertTrue(answers <= {400, 408, 499}, answers)
        self.check_others_were_served()
        for one in silent:
            one.close()

    def test_half_open_connections_above_the_limit(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        half = [self.connect(b"POST /ingest?name=slow HTTP/1.1\r\nHost: localhost\r\nContent-Le") for _ in range(2100)]
        for _ in range(20):
            self.assertEqual(200, self.server.push("main;beside 1\n", name="beside.cpu"))
        # All connections come from the same address, which may have 1,024 of them. The server has
        # answered and closed the oldest ones.
        self.assertEqual({503}, {self.status(one) for one in half[:1000]})
        self.check_others_were_served()

    def test_queries_of_disconnected_clients(self):
        ask = b"GET /pyroscope/render?query=shop.cpu&from=now-1h HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for _ in range(600):  # more queries than may wait
            self.connect(ask).close()
        deadline = time.monotonic() + 30
        while (status := self.raw(ask)) == 503 and time.monotonic() < deadline:
            pass  # the server has not noticed the disconnects yet
        self.assertEqual(200, status)
        self.check_others_were_served()

    def test_half_closed_requests_without_a_body(self):
        status, text = self.ask("/api/v1/annotations", json.dumps({"text": "kept"}).encode(),
                                {"Content-Type": "application/json"})
        self.assertEqual(201, status, text)
        name = json.loads(text)["id"]
        for what in ("DELETE /api/v1/annotations/" + name, "GET /api/v1/profile?format=tree&from=now-7d",
                     "GET /pyroscope/label-values?label=service_name"):
            with self.subTest(what):
                one = self.connect(f"{what} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n".encode())
                one.shutdown(socket.SHUT_WR)
                self.assertIsNone(self.status(one))
        self.assertIn(b"kept", self.server.ask("GET", "/api/v1/annotations")[2])
        self.check_others_were_served()

    def test_lists_that_are_compared_pairwise(self):
        otlp = {"Content-Type": "application/x-protobuf"}
        types = b"".join(field(1, field(1, i % 127) + field(2, i)) for i in range(250_000))
        resource = b"".join(field(1, field(1, b"k%d" % i) + field(2, field(1, b"v"))) for i in range(200_000))
        dictionary = b"".join(field(i, b"") for i in range(1, 5)) + b"".join(
            field(5, text) for text in (b"", b"samples", b"count")) + field(6, b"") + field(7, b"")
        profile = field(1, field(1, 1) + field(2, 2)) + field(2, field(4, b"\x01"))
        for what, path, body, headers in (
                ("types", PUSH, push(types + field(6, b"")), PROTO),
                ("labels", PUSH, field(1, field(1, field(1, b"a") + field(2, b"b")) * 100_000 + b"\x12\0" * 1_000_000), PROTO),
                ("profiles", PUSH, field(1, b"\x12\0" * 1_000_000), PROTO),
                ("attributes", "/v1development/profiles", field(2, dictionary) + field(
                    1, field(1, resource) + field(2, field(2, profile) * 1000)), otlp),
                ("many", "/v1development/profiles", field(2, dictionary) + field(
                    1, field(2, field(2, profile) * 200_000)), otlp)):
            with self.subTest(what):
                status, text = self.ask(path, body, headers)
                self.assertEqual(400, status, text[:200])
        self.check_others_were_served()

    def test_bodies_that_decompress_to_much(self):
        profiles, at_once = (3000, 3) if SANITIZED else (9000, 6)
        as_json = {"Content-Type": "application/json"}
        objects = b",".join([b"{}"] * 190_000)
        stacks = b"".join(field(2, field(1, varint(i % 97 + 1) * 20 + varint(i % 89 + 1) * 20) + field(2, b"\x01"))
                          for i in range(8000))
        frames = b"".join(field(4, field(1, i) + field(4, field(1, i))) + field(5, field(1, i)) for i in range(1, 98))
        large = gzip.compress(field(1, field(1, 1) + field(2, 2)) + stacks + frames +
                              b"".join(field(6, text) for text in (b"", b"cpu", b"nanoseconds")), 1)
        shown = json.dumps({"name": "a", "profile": base64.b64encode(
            b'{"a":[' + b",".join([b"{}"] * 1_300_000) + b"]}").decode()}).encode()
        for what, path, body, headers in (
                ("profiles", PUSH, b"".join(push(pprof(), b"s%d" % i) for i in range(profiles)), PROTO),
                ("stacks", PUSH, b"".join(push(large, b"s%d" % i) for i in range(8)), PROTO),
                ("spans", "/v1/traces", field(1, field(2, b"\x12\0" * 5_000_000)),
                 {"Content-Type": "application/x-protobuf"}),
                ("JSON spans", "/v1/traces", b'{"resourceSpans":[' + objects + b"]}", as_json),
                ("JSON profiles", "/v1development/profiles", b'{"resourceProfiles":[' + objects + b"]}", as_json),
                ("shown", "/adhocprofiles.v1.AdHocProfileService/Upload", shown, as_json)):
            with self.subTest(what):
                statuses = []
                senders = [threading.Thread(target=lambda: statuses.append(self.ask(path, body, headers)[0]))
                           for _ in range(at_once)]
                for sender in senders:
                    sender.start()
                for sender in senders:
                    sender.join()
                self.assertEqual(at_once, len(statuses))
                self.assertTrue(set(statuses) <= {200, 400, 413, 429, 503}, statuses)
        self.check_others_were_served()

    def test_large_bodies_that_never_end(self):
        slow = []
        for _ in range(2):
            slow.append(self.connect(b"POST " + PUSH.encode() + b" HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                                     b"application/proto\r\nContent-Length: 33000000\r\n\r\n"))
            slow[-1].sendall(bytes(32_999_999))
        for _ in range(20):
            self.assertEqual(200, self.server.push("main;beside 1\n", name="beside.cpu"))
        self.check_others_were_served()

    def test_labels_of_100_megabytes(self):
        large = b"x" * 100_000_000
        for what, path, body, headers in (
                ("plain", PUSH, push(pprof(), large), PROTO),
                ("in gzip", PUSH, gzip.compress(push(pprof(), large), 1), {**PROTO, "Content-Encoding": "gzip"}),
                ("of a sample", PUSH, push(gzip.compress(pprof(large), 1)), PROTO),
                ("in a form", "/ingest?name=a&format=pprof", pprof(large), {}),
                ("of a trace", "/v1/traces", large, {"Content-Type": "application/x-protobuf"})):
            with self.subTest(what):
                status, text = self.ask(path, body, headers)
                self.assertIn(status, (400, 413, 422, 429))
                self.assertTrue(text.strip(), "the answer has no message")
        self.assertIn(self.raw(b"GET /pyroscope/render?query=" + b"a" * 1_000_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n"),
                      (400, 413, 414, 431))
        self.assertIn(self.raw(b"GET /ready HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 1_000_000 + b"\r\n\r\n"),
                      (400, 413, 431))
        self.check_others_were_served()

    def test_truncated_and_bombed_gzip(self):
        whole = gzip.compress(push(gzip.compress(pprof())))
        packed = {**PROTO, "Content-Encoding": "gzip"}
        for end in (1, 2, 9, 10, 11, len(whole) // 2, len(whole) - 8, len(whole) - 1):
            with self.subTest(end):
                self.assertEqual(400, self.ask(PUSH, whole[:end], packed)[0])
        inner = gzip.compress(pprof())
        for end in (3, 12, len(inner) // 2, len(inner) - 1):
            self.assertEqual(400, self.ask(PUSH, push(inner[:end]))[0])
        giga, one_of_many = bomb(1 << 30), push(bomb(64 << 20))
        for what, path, body, headers in (
                ("outer", PUSH, giga, packed), ("inner", PUSH, push(giga), PROTO),
                ("both", PUSH, gzip.compress(push(giga)), packed),
                ("many", PUSH, one_of_many * 50, PROTO),
                ("pprof", "/ingest?name=a&format=pprof", giga, {}),
                ("members", PUSH, bomb(1 << 20) * 2000, packed),
                ("traces", "/v1/traces", giga, {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"}),
                ("otlp", "/v1development/profiles", giga,
                 {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"})):
            with self.subTest(what):
                status, text = self.ask(path, body, headers)
                self.assertIn(status, (400, 413, 422, 429))
                self.assertTrue(text.strip(), "the answer has no message")
        self.check_others_were_served()

    def test_invalid_paths_and_requests(self):
        for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd", "/ready/../../etc",
                     "/api/v1/trace/..%2f..%2f..%2fspanprof.db", "/spanprof.db", "/pyroscope/../spanprof.db",
                     "/%00", "/ready%00", "/\\..\\..\\", "/page/../../../../etc/passwd", "/;/..;/", "/%ff%fe",
                     CALL + "../../x", "/" + "a/" * 5000):
            with self.subTest(path[:60]):
                self.assertIn(self.raw(b"GET " + path.encode() + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"),
                              (400, 404, 405, 414))
        for text in (b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"GET /ready HTTP/9.9\r\nHost: a\r\n\r\n",
                     b"POST /ingest HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
                     b"POST /ingest HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
                     b"POST /ingest?name=a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                     b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(100) + b"\r\n\r\n",
                     b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
            with self.subTest(text[:60]):
                one = self.connect(text)
                one.shutdown(socket.SHUT_WR)
                status = self.status(one)
                self.assertTrue(status is None or 400 <= status < 600, status)
        for bad in ('{"a', "{a=", '{a=~"("}', '{a=~"' + "(a*)*" * 2000 + '"}', "{" * 100_000, '{a="' + "\\" * 9999 + '"}'):
            with self.subTest(bad[:30]):
                body = json.dumps({"profileTypeID": "a:b:c:d:e", "labelSelector": bad, "start": 1, "end": 2}).encode()
                self.assertIn(self.ask(CALL + "SelectMergeStacktraces", body, {"Content-Type": "application/json"})[0],
                              (400, 413, 429))
        deep = b"[" * 200_000
        self.assertEqual(400, self.ask(CALL + "Series", deep, {"Content-Type": "application/json"})[0])
        self.assertEqual(400, self.ask("/v1/traces", deep, {"Content-Type": "application/json"})[0])
        self.check_others_were_served()


if __name__ == "__main__":
    unittest.main()
