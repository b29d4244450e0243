"""uvicorn with workers and with its reloader."""

from __future__ import annotations

import sys
import unittest

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

    def test_the_reloader_profiles_every_generation(self) -> None:
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
