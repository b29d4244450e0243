"""Code that the tests of scraping share: good and bad targets, and their metrics."""
import contextlib
import http.client
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).parent
PREFIX = "/debug/pprof/"


class Target:
    """An HTTP server for a test. `answer(handler)` handles each request."""

    def __init__(self, answer):
        target = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                target.paths.append(self.path)
                with contextlib.suppress(OSError):
                    answer(self)
                self.close_connection = True

            def log_message(self, *_):
                pass

        class Listener(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 100

            def handle_error(self, *_):
                pass

        self.paths = []
        self.server = Listener(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def answer_with(handler, status, body, headers=()):
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **dict(headers)}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


class Recorder:
    """Forwards requests to `address`. Records the answers in `kept`, by the last part of the path."""

    def __init__(self, address):
        self.to = address
        self.kept = {}
        self.closed = False

    def __call__(self, handler):
        if self.closed:
            answer_with(handler, 503, b"no more\n")
            return
        connection = http.client.HTTPConnection(self.to, timeout=60)
        connection.request("GET", handler.path, headers={"User-Agent": handler.headers["User-Agent"]})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        kind = handler.path.partition("?")[0].rpartition("/")[2]
        closed = self.closed
        if answer.status == 200 and not closed:
            self.kept.setdefault(kind, []).append(body)
        answer_with(handler, 503 if closed else answer.status, body)


def jobs(*entries, **more):
    """Create a file with a job for each (name, address, labels, other members). `more` has the file's global settings."""
    file = tempfile.NamedTemporaryFile("w", suffix=".json")
    json.dump({"global": more, "scrape_configs": [
        {"job_name": name, "static_configs": [{"targets": [address], "labels": labels}], **job}
        for name, address, labels, job in entries]}, file)
    file.flush()
    return file


def metrics(server):
    """Return {(name, job, profile): (value, labels)} of the scrape metrics."""
    found = {}
    for line in server.send("/metrics", method="GET")[1].decode().splitlines():
        match = re.fullmatch(r'(spanprof_scrape\w+)\{(.*)\} (\S+)', line)
        if match:
            labels = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match[2]))
            found[match[1], labels["job"], labels["profile"]] = (float(match[3]), labels)
    return found


def wait_for(condition, seconds=60):
    """Wait for a true value of `condition`, and return it."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    raise AssertionError(f"the condition was not true within {seconds} s")


@contextlib.contextmanager
def go_program():
    """Build and start the Go program. Yields its address."""
    with tempfile.TemporaryDirectory() as directory:
        program = os.path.join(directory, "scraped")
        subprocess.run(["go", "build", "-o", program, HERE / "scraped" / "main.go"], check=True, timeout=250,
                       env={"HOME": directory, "GOFLAGS": "-mod=mod", "GO111MODULE": "off", **os.environ})
        with subprocess.Popen([program], stdout=subprocess.PIPE, text=True) as process:
            try:
                yield process.stdout.readline().strip()
            finally:
                process.kill()


def has_go():
    return shutil.which("go") is not None


def go_top(profiles, sample_index, base=None):
    """Return {function: (own value, value with callees)} as `go tool pprof` prints it, in integers."""
    with tempfile.TemporaryDirectory() as directory:
        paths = []
        for number, profile in enumerate(profiles + ([base] if base else [])):
            paths.append(os.path.join(directory, f"{number}.pb"))
            pathlib.Path(paths[-1]).write_bytes(profile)
        options = ["-base", paths.pop()] if base else []
        unit = "bytes" if sample_index.endswith("space") else "ns"
        done = subprocess.run(
            ["go", "tool", "pprof", "-top", "-nodecount=0", "-nodefraction=0", "-edgefraction=0", "-symbolize=none",
             "-functions", f"-unit={unit}", f"-sample_index={sample_index}", *options, *paths],
            check=True, capture_output=True, text=True, timeout=60,
            env={"HOME": directory, "PPROF_TMPDIR": directory, **os.environ})
    rows = {}
    for line in done.stdout.splitlines():
        match = re.fullmatch(r"\s*(-?[\d.]+)(?:ns|B)?\s+\S+%\s+\S+%\s+(-?[\d.]+)(?:ns|B)?\s+\S+%\s+(.*?)(?: \(inline\))?",
                             line)
        if match and (float(match[1]), float(match[2])) != (0, 0):
            rows[match[3]] = float(match[1]), float(match[2])
    return rows
