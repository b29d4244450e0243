"""Flask with its reloader, and a FastAPI application that starts profiling in its
lifespan."""

from __future__ import annotations

import os
import signal
import sys
import unittest

from program import ProgramCase, fetch, free_port, importable

FLASK = """
import os
import flask
import spanprof
spanprof.start()
app = flask.Flask(__name__)

@app.route("/")
def page():
    with spanprof.label(page="/"):
        burn(0.1)
    return str(os.getpid())
"""
FASTAPI = """
import contextlib, os
import spanprof
from fastapi import FastAPI
from fastapi.responses import PlainTextResponse

@contextlib.asynccontextmanager
async def lifespan(app):
    spanprof.start()
    yield
    spanprof.stop()

app = FastAPI()
app.router.lifespan_context = lifespan  # FastAPI(lifespan=lifespan) does this from 0.93 on

@app.get("/", response_class=PlainTextResponse)
@spanprof.label(route="/")
async def page():
    burn(0.1)
    return str(os.getpid())

@app.get("/threads", response_class=PlainTextResponse)
@spanprof.label(route="/threads")
def threads():
    burn(0.1)
    return str(os.getpid())
"""


@unittest.skipUnless(importable("flask"), "Flask is not installed here")
class FlaskTest(ProgramCase):
    def test_the_child_of_the_reloader_is_profiled_but_not_the_parent(self) -> None:
        self.write("site_app.py", FLASK)
        port = free_port()
        server = self.serve([sys.executable, "-m", "flask", "--app", "site_app", "--debug", "run", "--port", str(port)])
        burned = self.burn_by_requests(port, 1, seconds=0.5)
        self.assertNotIn(server.pid, burned)
        os.kill(next(iter(burned)), signal.SIGTERM)
        server.wait(20)
        self.assert_processes_covered(burned)
        self.assertNotIn(server.pid, self.cpu_s(), self.log())


@unittest.skipUnless(importable("fastapi") and importable("uvicorn"), "FastAPI is not installed here")
class FastApiTest(ProgramCase):
    def test_a_start_in_the_lifespan_profiles_loop_and_thread_pool(self) -> None:
        self.write("site_app.py", FASTAPI)
        port = free_port()
        server = self.serve([sys.executable, "-m", "uvicorn", "--port", str(port), "site_app:app"])
        burned = self.burn_by_requests(port, 1, seconds=0.5)
        for _ in range(5):
            fetch(port, "/threads")
        self.terminate(server)
        self.assert_processes_covered({server.pid: burned[server.pid] + 0.5})
        routes = {str(sample.labels.get("route")): 0.0 for sample in self.samples()}
        for sample in self.samples():
            routes[str(sample.labels.get("route"))] += sample.value / 1e9
        self.assert_covered(routes["/threads"], 0.5, "the thread pool", threads=4)


if __name__ == "__main__":
    unittest.main()
