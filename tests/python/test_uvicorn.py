"""uvicorn with one process, with workers and with its reloader."""

from __future__ import annotations

import json
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

import noise
from program import ProgramCase, fetch, free_port, importable, wait_for

APPLICATION = """
import os
import spanprof
spanprof.start()

async def app(scope, receive, send):
    assert scope["type"] == "http"
    burn(0.1)
    await send({"type": "http.response.start", "status": 200,
                "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": str(os.getpid()).encode()})
"""

BLOCKS = 50
STRETCHES = 8
# Each request uses CPU time in a `profile` block: in a worker thread, and on the event
# loop, in turns with the other requests. All blocks wait until the last one has been
# entered.
PROFILED_REQUESTS = f"""
import asyncio
import json
import spanprof
assert spanprof.start()

opened = 0
every = asyncio.Event()

def measured_burn(seconds):
    began = time.thread_time()
    burn(seconds)
    return time.thread_time() - began

async def app(scope, receive, send):
    global opened
    with spanprof.profile(show=False) as block:
        opened += 1
        if opened == {BLOCKS}:
            every.set()
        await every.wait()
        true_s = await asyncio.to_thread(measured_burn, 0.05)
        for _ in range({STRETCHES - 1}):
            true_s += measured_burn(0.05)
            await asyncio.sleep(0)
    answer = dict(true_s=true_s, profiled_s=sum(row.self_s for row in block.top(0)),
                  reason=block.unavailable_reason, running=spanprof.running())
    await send(dict(type="http.response.start", status=200, headers=[(b"content-type", b"application/json")]))
    await send(dict(type="http.response.body", body=json.dumps(answer).encode()))
"""


@unittest.skipUnless(importable("uvicorn"), "uvicorn is not installed here")
class UvicornTest(ProgramCase):
    def command(self, port: int, *options: str) -> list[str]:
        return [sys.executable, "-m", "uvicorn", "--port", str(port), "--lifespan", "off",
                *options, "app:app"]

    def test_workers(self) -> None:
        self.write("app.py", APPLICATION)
        port = free_port()
        server = self.serve(self.command(port, "--workers", "2"))
        burned = self.burn_by_requests(port, 2)
        self.assertNotIn(server.pid, burned)
        self.interrupt(server)
        self.assert_processes_covered(burned)

    def test_one_process(self) -> None:
        self.write("app.py", APPLICATION)
        port = free_port()
        server = self.serve(self.command(port))
        burned = self.burn_by_requests(port, 1)
        self.interrupt(server)
        self.assert_processes_covered(burned)

    def test_concurrent_profiles_during_a_session(self) -> None:
        self.write("app.py", PROFILED_REQUESTS)
        port = free_port()
        self.serve(self.command(port))
        with ThreadPoolExecutor(BLOCKS) as pool:
            blocks = [json.loads(body) for body in pool.map(lambda _: fetch(port, timeout=120), range(BLOCKS))]
        for block in blocks:
            self.assertEqual((block["reason"], block["running"]), (None, True))
            self.assertAlmostEqual(block["profiled_s"], block["true_s"],
                                   delta=noise.of_time(block["true_s"], block["true_s"], 0.01, STRETCHES))
        ratios = [block["profiled_s"] / block["true_s"] for block in blocks]
        true_s = sum(block["true_s"] for block in blocks)
        # The blocks share the ticks of the event loop's thread, so the sum over all
        # blocks deviates by only one tick for each block.
        allowed = noise.of_time(true_s, true_s, 0.01, BLOCKS) / true_s
        mean = sum(ratios) / BLOCKS
        print(f"{BLOCKS} blocks: profiled / true CPU time {mean:.4f} on average, {min(ratios):.2f} to "
              f"{max(ratios):.2f}, at most {allowed:.3f} from 1 by chance")
        self.assertAlmostEqual(mean, 1, delta=allowed)

    def test_every_restart_of_the_reloader_is_profiled(self) -> None:
        path = self.write("app.py", APPLICATION)
        port = free_port()
        server = self.serve(self.command(port, "--reload"))
        burned = self.burn_by_requests(port, 1, seconds=1, parallel=1)
        first = set(burned)
        path.write_text(path.read_text() + "\n# changed\n")
        wait_for(lambda: int(fetch(port)) not in first, "a reload")
        for pid, seconds in self.burn_by_requests(port, 1, seconds=1, parallel=1).items():
            burned[pid] = burned.get(pid, 0) + seconds
        self.interrupt(server)
        self.assertEqual(len(burned), 2)
        self.assert_processes_covered(burned)


if __name__ == "__main__":
    unittest.main()
