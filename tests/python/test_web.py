"""spanprof.wsgi_app and spanprof.asgi_app answer /debug/pprof/profile?seconds=N."""

from __future__ import annotations

import pathlib
import unittest

import noise
import profile_reader
from program import ProgramCase

REQUEST = """
import asyncio, pathlib, sys, threading
import spanprof
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

wsgi = validator(spanprof.wsgi_app)

def request(query="", path="/profile", method="GET"):
    environ = {"SCRIPT_NAME": "/debug/pprof", "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": method}
    setup_testing_defaults(environ)
    started = []
    body = wsgi(environ, lambda status, headers, error=None: started.append((status, dict(headers))) or (lambda data: None))
    content = b"".join(body)
    body.close()
    (status, headers), = started
    assert headers["Content-Length"] == str(len(content))
    return status, headers["Content-Type"], content

async def request_async(query="", path="/profile", method="GET", root="", disconnect_after=None):
    sent, messages = [], [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive():
        if messages:
            return messages.pop()
        await asyncio.sleep(disconnect_after or 3600)
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    await spanprof.asgi_app({"type": "http", "method": method, "path": path, "root_path": root,
                             "query_string": query.encode()}, receive, send)
    if not sent:
        return None
    start, body = sent
    headers = dict(start["headers"])
    assert headers[b"content-length"] == str(len(body["body"])).encode()
    return start["status"], headers[b"content-type"].decode(), body["body"]

def save(answer, name="profile.pb.gz"):
    status, kind, body = answer
    assert status in ("200 OK", 200) and kind == "application/octet-stream", answer
    pathlib.Path(name).write_bytes(body)

# A thread that uses CPU time from the begin to the end of a block, and prints how much
# it used.
class Burning(threading.Thread):
    def __enter__(self):
        self.over = False
        self.start()

    def __exit__(self, *error):
        self.over = True
        self.join()
        print(self.used)

    def run(self):
        while not self.over:
            burn(0.01)
        self.used = time.thread_time()

def threads():
    return len(list(pathlib.Path("/proc/self/task").iterdir()))

assert not spanprof.running()
"""


class WebTest(ProgramCase):
    def samples(self, name: str = "profile.pb.gz") -> list[profile_reader.Sample]:
        return profile_reader.read_file(self.directory / name).samples

    def burnt(self, name: str = "profile.pb.gz") -> float:
        return profile_reader.cpu_ns(self.samples(name), lambda sample: sample.runs("burn")) / 1e9

    def assert_part(self, burnt: float, used: float) -> None:
        """Assert that `burnt`, the CPU time in a profile, is a part of the CPU time
        `used`. How large the part is depends on when the request began."""
        self.assertGreater(burnt, 0)
        self.assertLessEqual(burnt, used + noise.of_time(used, used, 0.01))

    def written(self) -> list[pathlib.Path]:
        return [*self.profiles.iterdir()]

    def test_without_a_session_threads_are_profiled_only_during_a_request(self) -> None:
        done = self.run_source(REQUEST + """
with Burning():
    save(request("seconds=1"))
assert not spanprof.running()
wait_for(lambda: threads() == 1)
""")
        self.assert_part(self.burnt(), float(done.stdout))
        self.assertEqual(self.written(), [], "the output directory of the environment is not used")
        self.assertEqual(done.stderr, "")

    def test_a_request_does_not_change_the_profiles_of_a_session(self) -> None:
        done = self.run_source(REQUEST + """
assert spanprof.start(upload_interval_ms=3_600_000)
burn(0.3)
with Burning():
    save(request("seconds=1"))
assert spanprof.running() and spanprof.stats()["profiles_made"] == 0
assert spanprof.stop(10)
assert spanprof.stats()["profiles_made"] == spanprof.stats()["profiles_written"] == 1
""")
        used = float(done.stdout)
        self.assert_part(self.burnt(), used)
        (file,) = self.written()
        self.assertAlmostEqual(self.burnt(str(file)), 0.3 + used, delta=noise.of_time(0.3 + used, 0.3 + used, 0.01) + 0.02)

    def test_spans_are_named(self) -> None:
        self.run_source(REQUEST + """
from opentelemetry.sdk.trace import TracerProvider
provider = TracerProvider()
provider.add_span_processor(spanprof.SpanProcessor())
tracer = provider.get_tracer("t")

class Orders(Burning):
    def run(self):
        while not self.over:
            with tracer.start_as_current_span("order"):
                burn(0.02)
        self.used = time.thread_time()

with Orders():
    save(request("seconds=1"))
""")
        burnt = [sample for sample in self.samples() if sample.runs("burn")]
        self.assertTrue(burnt)
        # A span that began before the first request, when nothing was profiled, may
        # have no name.
        named = [sample for sample in burnt if sample.labels.get("span_name") == "order"]
        self.assertGreater(profile_reader.cpu_ns(named, lambda sample: True) * 2,
                           profile_reader.cpu_ns(burnt, lambda sample: True))
        self.assertTrue(all(sample.labels["profile_id"] for sample in named))

    def test_the_event_loop_is_not_blocked(self) -> None:
        self.run_source(REQUEST + """
async def main():
    late = []

    async def tick():
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.01)
            late.append(time.monotonic() - before)

    ticking = asyncio.ensure_future(tick())
    with Burning():
        save(await request_async("seconds=1"))
    save(await request_async("seconds=1", path="/debug/pprof/profile", root="/debug/pprof"), "rooted.pb.gz")
    ticking.cancel()
    assert len(late) > 20, len(late)
    # If a request blocked the event loop, a tick would be a second late.
    assert sum(wait > 0.9 for wait in late) == 0, max(late)

asyncio.run(main())
""")
        self.assertGreater(self.burnt(), 0)

    def test_a_disconnected_client_or_a_cancelled_task_leaves_no_recording(self) -> None:
        done = self.run_source(REQUEST + """
async def main():
    begun = time.monotonic()
    assert await request_async("seconds=60", disconnect_after=0.3) is None
    task = asyncio.ensure_future(request_async("seconds=60"))
    await asyncio.sleep(0.3)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass
    save(await request_async("seconds=1"))
    assert time.monotonic() - begun < 20

asyncio.run(main())
wait_for(lambda: threads() == 1)
""")
        self.assertEqual(done.stderr, "")

    def test_concurrent_requests(self) -> None:
        done = self.run_source(REQUEST + """
clients = [threading.Thread(target=lambda i=i: save(request("seconds=1"), f"{i}.pb.gz")) for i in range(8)]
for client in clients:
    client.start()
burn(0.5)
for client in clients:
    client.join()
""")
        self.assertEqual(done.stderr, "")
        for i in range(8):
            self.assertGreater(self.burnt(f"{i}.pb.gz"), 0)

    def test_wrong_requests_are_answered_with_a_sentence(self) -> None:
        self.run_source(REQUEST + """
import os

expected = b"seconds must be a whole number from 1 to 300\\n"
for query in ("seconds=0", "seconds=301", "seconds=1.5", "seconds=x", "seconds=-1", "seconds=99999999999999999999",
              "seconds=%C2%B2"):
    assert request(query)[::2] == ("400 Bad Request", expected), query
    assert asyncio.run(request_async(query))[::2] == (400, expected), query
assert request(path="/heap")[0] == "404 Not Found"
assert request(method="POST")[0] == "405 Method Not Allowed"
os.environ["PYROSCOPE_AGENT_ENABLED"] = "false"
status, _, body = request("seconds=1")
assert status == "503 Service Unavailable" and b"PYROSCOPE_AGENT_ENABLED" in body
""")

    def test_a_child_forked_during_a_request_is_not_profiled(self) -> None:
        self.run_source(REQUEST + """
import os

client = threading.Thread(target=lambda: save(request("seconds=2")))
client.start()
time.sleep(0.5)
child = os.fork()
if child == 0:
    burn(0.2)
    ok = threads() == 1
    save(request("seconds=1"), "child.pb.gz")
    os._exit(0 if ok else 3)
_, status = os.waitpid(child, 0)
assert status == 0, status
client.join()
""")
        self.assertTrue((self.directory / "child.pb.gz").exists())

    def test_a_start_during_a_request_works_and_an_exit_does_not_wait_for_it(self) -> None:
        self.run_source(REQUEST + """
client = threading.Thread(target=lambda: save(request("seconds=3")))
client.start()
burn(0.5)
assert spanprof.start(upload_interval_ms=3_600_000) and spanprof.running()
client.join()
assert spanprof.running()
threading.Thread(target=request, args=("seconds=60",), daemon=True).start()
time.sleep(0.3)
""", timeout=30)
        self.assertGreater(self.burnt(), 0)


if __name__ == "__main__":
    unittest.main()
