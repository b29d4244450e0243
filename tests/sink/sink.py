#!/usr/bin/env python3
"""A Pyroscope stand-in for tests.

    sink.py [--host H] [--port N] [--cert PEM --key PEM [--client-ca PEM]]
    sink.py --summary HOST:PORT

Checks and keeps uploads as Pyroscope does (store.py): Push as protobuf, and
/ingest as pprof, but no JSON and no text formats. Prints "port N" when it
listens, and "control N" for a second port without TLS, which takes the same
requests. Misbehaves on demand:

    POST /control   {"mode": MODE, "count": N, ...}   sets the mode for N uploads,
                                                      then it is ok again; without
                                                      count: until the next /control
                    {"reset": true}   forgets everything
    GET  /summary   sums of the stored profiles, and the requests so far, as JSON
    GET  /value?path=a/b   one number or text of the summary

Modes, with their parameters:

    ok            stores the upload
    status        answers with an error: status, retry_after, message
    slow          waits `seconds`, then ok
    hang          never answers
    hang_stored   stores the upload, and never answers
    close         closes the connection before the answer
    close_body    closes the connection in the middle of the answer's body
    cut_request   closes the connection while the request arrives
    garbage       answers with bytes that are not HTTP
    html          answers 200 with a page of `bytes`, as a captive portal does
    redirect      answers 301
    endless       answers with a body without end
    chunked       stores the upload, and answers in chunks of one byte
    echo          answers with an error that contains the request's headers

If a client uses the sink as its proxy for an http address, the sink answers in
place of that server.

Other members of /control: `links` is the value of the header Spanprof-Links in
later answers. With `clock_rate` and `clock_origin`, the sink's clock runs as fast
as that of a client whose clock is accelerated.
"""

import argparse
import gzip
import http.client
import http.server
import json
import ssl
import sys
import threading
import time
import urllib.parse

sys.dont_write_bytecode = True  # no __pycache__ in the source tree
import store  # noqa: E402

PUSH_PATH = "/push.v1.PusherService/Push"


class State:
    def __init__(self):
        self.lock = threading.Lock()
        self.changed = threading.Event()
        self.reset()

    def reset(self):
        self.mode = {"mode": "ok"}
        self.left = None
        self.requests = 0
        self.asked = 0
        self.links = ""
        self.connections = 0
        self.answers = {}
        self.refusals = []
        self.last = {}
        self.clock = {"rate": 1, "real": time.time(), "origin": time.time()}
        self.store = store.Store(self.now)

    def now(self):
        clock = self.clock
        return clock["origin"] + (time.time() - clock["real"]) * clock["rate"]

    def control(self, wanted):
        with self.lock:
            if wanted.get("reset"):
                self.reset()
            if "clock_rate" in wanted:
                self.clock = {"rate": wanted["clock_rate"], "real": time.time(),
                              "origin": wanted.get("clock_origin", time.time())}
            self.links = wanted.get("links", self.links)
            if "mode" in wanted:
                self.mode = wanted
                self.left = wanted.get("count")
            self.changed.set()
            self.changed = threading.Event()

    def next_mode(self):
        with self.lock:
            self.requests += 1
            mode = self.mode
            if self.left is not None:
                self.left -= 1
                if self.left <= 0:
                    self.mode, self.left = {"mode": "ok"}, None
            return mode, self.changed

    def summary(self):
        out = self.store.summary()
        with self.lock:
            out.update(requests=self.requests, asked=self.asked, answers=self.answers,
                       refusals=self.refusals[-20:], last=self.last,
                       connections=self.connections, mode=self.mode)
        return out


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "sink"
    disable_nagle_algorithm = True

    def setup(self):
        super().setup()
        with self.server.state.lock:
            self.server.state.connections += 1

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=()):
        self.server.state.answers[str(status)] = (
            self.server.state.answers.get(str(status), 0) + 1)
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if self.server.state.links:
            self.send_header("Spanprof-Links", self.server.state.links)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer_json(self, status, value, headers=()):
        self.answer(status, json.dumps(value).encode(),
                    [("Content-Type", "application/json"), *headers])

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        summary = self.server.state.summary()
        if url.path == "/summary":
            return self.answer_json(200, summary)
        if url.path == "/value":
            path = urllib.parse.parse_qs(url.query)["path"][0]
            for part in path.split("/"):
                if isinstance(summary, list):
                    summary = summary[int(part)] if summary else ""
                else:
                    summary = summary.get(part, "")
            text = (summary if isinstance(summary, str)
                    else json.dumps(summary))
            return self.answer(200, text.encode())
        if url.path == "/ready":
            with self.server.state.lock:
                self.server.state.asked += 1
            return self.answer(200, b"ready\n")
        return self.answer(404, b"404 page not found\n")

    def do_POST(self):
        state = self.server.state
        if self.path == "/control":
            size = int(self.headers["Content-Length"])
            state.control(json.loads(self.rfile.read(size)))
            return self.answer(200, b"{}")
        url = urllib.parse.urlsplit(self.path)
        mode, changed = state.next_mode()
        if mode["mode"] == "cut_request":
            self.rfile.read(1)
            self.close_connection = True
            return None
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size)
        with state.lock:
            state.last = {"path": url.path, "query": url.query,
                          "absolute": bool(url.scheme), "bytes": size,
                          "headers": {k.lower(): v
                                      for k, v in self.headers.items()}}
        return getattr(self, "mode_" + mode["mode"])(mode, changed, url, body)

    def mode_ok(self, _mode, _changed, url, body):
        state = self.server.state
        encoding = self.headers.get("Content-Encoding")
        try:
            if len(body) < int(self.headers.get("Content-Length") or 0):
                raise store.Refusal(499, "canceled", "unexpected EOF")
            if "//" in self.path.replace("http://", "", 1):
                return self.answer(301, b"", [
                    ("Location", self.path.replace("//", "/"))])
            if url.path.endswith(PUSH_PATH):
                if self.headers.get("Content-Type") != "application/proto":
                    return self.answer(415)
                if encoding not in (None, "gzip"):
                    raise store.Refusal(501, "unimplemented",
                                        f'unknown compression "{encoding}": '
                                        "supported encodings are gzip")
                try:
                    plain = store.gunzip(body) if encoding else body
                except store.protobuf.DecodeError as error:
                    raise store.invalid(f"decompress: {error}")
                state.store.push(plain)
                if encoding:
                    return self.answer(200, gzip.compress(b""),
                                       [("Content-Type", "application/proto"),
                                        ("Content-Encoding", "gzip")])
                return self.answer(200, b"",
                                   [("Content-Type", "application/proto")])
            if url.path.endswith("/ingest"):
                query = urllib.parse.parse_qs(url.query,
                                              keep_blank_values=True)
                state.store.ingest(query.get("name", [""])[0],
                                   query.get("spyName", ["unknown"])[0], body)
                return self.answer(200)
        except store.Refusal as refusal:
            with state.lock:
                state.refusals.append([refusal.status, refusal.message])
            return self.answer_json(refusal.status, {
                "code": refusal.code, "message": refusal.message})
        return self.answer(404, b"404 page not found\n",
                           [("Content-Type", "text/plain; charset=utf-8")])

    def mode_status(self, mode, *_):
        headers = []
        if "retry_after" in mode:
            headers.append(("Retry-After", str(mode["retry_after"])))
        self.answer_json(mode["status"],
                         {"code": mode.get("code", "unknown"),
                          "message": mode.get("message", "on demand")}, headers)

    def mode_slow(self, mode, changed, url, body):
        changed.wait(mode.get("seconds", 1))
        self.mode_ok(mode, changed, url, body)

    def mode_hang(self, _mode, changed, *_):
        changed.wait(600)
        self.close_connection = True

    def mode_hang_stored(self, mode, changed, url, body):
        """Stores the upload, and never answers."""
        keep, self.answer = self.answer, lambda *_: None
        self.mode_ok(mode, changed, url, body)
        self.answer = keep
        self.mode_hang(mode, changed)

    def mode_close(self, *_):
        self.close_connection = True

    def mode_close_body(self, *_):
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
        self.close_connection = True

    def mode_garbage(self, *_):
        self.wfile.write(b"\x00\xff\x16SSH-2.0-nothing\r\n\x00" * 20)
        self.close_connection = True

    def mode_html(self, mode, *_):
        page = b"<html><title>Sign in to the network</title>"
        self.answer(200, page.ljust(mode.get("bytes", 0)),
                    [("Content-Type", "text/html; charset=utf-8")])

    def mode_redirect(self, *_):
        self.answer(301, b"", [("Location", "http://127.0.0.1:1/elsewhere")])

    def mode_endless(self, *_):
        self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while True:
                self.wfile.write(b"x" * 65536)
        except OSError:
            self.close_connection = True

    def mode_chunked(self, _mode, _changed, url, body):
        state = self.server.state
        state.store.push(store.gunzip(body))
        packed = gzip.compress(b"")
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
                         b"Content-Type: application/proto\r\n"
                         b"Transfer-Encoding: chunked\r\n\r\n")
        for byte in packed:
            self.wfile.write(b"1\r\n" + bytes([byte]) + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    def mode_echo(self, *_):
        self.answer_json(400, {"code": "invalid_argument",
                               "message": str(self.headers)})


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass  # Not reported, because in many tests the client disconnects.


def listen(host, port, state):
    address_family = http.server.socket.AF_INET6 if ":" in host else (
        http.server.socket.AF_INET)
    kind = type("Listening", (Server,), {"address_family": address_family})
    server = kind((host, port), Handler)
    server.state = state
    return server


def print_summary(address):
    host, _, port = address.rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=10)
    connection.request("GET", "/summary")
    summary = json.load(connection.getresponse())
    print(f"{summary['profiles']} profiles, {summary['repeats']} repeats, "
          f"{summary['value'] / 1e9:.2f} s")
    for name, sums in sorted(summary["by_label"].items()):
        for text, value in sorted(sums.items(), key=lambda item: -item[1]):
            print(f"  {name}={text}: {value / 1e9:.2f} s")


def main():
    parser = argparse.ArgumentParser(description="a Pyroscope stand-in")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--cert")
    parser.add_argument("--key")
    parser.add_argument("--client-ca")
    parser.add_argument("--summary", metavar="HOST:PORT")
    options = parser.parse_args()
    if options.summary:
        return print_summary(options.summary)
    state = State()
    server = listen(options.host, options.port, state)
    control = listen("127.0.0.1", 0, state)
    if options.cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.cert, options.key)
        if options.client_ca:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(options.client_ca)
        # Each handshake is done on the thread of its connection, so that a
        # failed handshake does not end the server.
        server.socket = context.wrap_socket(server.socket, server_side=True,
                                            do_handshake_on_connect=False)
    threading.Thread(target=control.serve_forever, daemon=True).start()
    print(f"port {server.server_address[1]}")
    print(f"control {control.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
