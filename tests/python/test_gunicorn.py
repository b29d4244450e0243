"""gunicorn: if the master loads the application, one call of spanprof.start profiles
all workers."""

from __future__ import annotations

import sys
import unittest

from program import ProgramCase, free_port, importable

APPLICATION = """
import os
import spanprof
spanprof.start()

def application(environ, start_response):
    burn(0.1)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(os.getpid()).encode()]
"""


@unittest.skipUnless(importable("gunicorn"), "gunicorn is not installed here")
class GunicornTest(ProgramCase):
    def serve_and_burn(self, *options: str, application: str = APPLICATION,
                       **variables: str) -> None:
        self.write("app.py", application)
        port = free_port()
        server = self.serve(
            [sys.executable, "-m", "gunicorn", "--workers", "2", "--bind", f"127.0.0.1:{port}",
             "--worker-tmp-dir", "/dev/shm", *options, "app:application"], **variables)
        burned = self.burn_by_requests(port, 2)
        self.assertNotIn(server.pid, burned)
        self.assertEqual(self.terminate(server), 0, self.log())
        self.assert_processes_covered(burned)
        self.assertNotIn("Traceback", self.log())

    def test_preloaded_sync_workers(self) -> None:
        self.serve_and_burn("--preload")

    def test_preloaded_threaded_workers(self) -> None:
        self.serve_and_burn("--preload", "--worker-class", "gthread", "--threads", "4")

    @unittest.skipUnless(importable("gevent"), "gevent is not installed here")
    def test_preloaded_gevent_workers(self) -> None:
        self.serve_and_burn("--preload", "--worker-class", "gevent")

    def test_workers_that_load_the_application_themselves(self) -> None:
        self.serve_and_burn()

    def test_workers_replaced_after_some_requests(self) -> None:
        self.write("app.py", APPLICATION)
        port = free_port()
        server = self.serve([sys.executable, "-m", "gunicorn", "--workers", "1", "--preload",
                             "--max-requests", "5", "--bind", f"127.0.0.1:{port}",
                             "app:application"])
        burned = self.burn_by_requests(port, 3, seconds=0.4, parallel=1)
        self.assertEqual(self.terminate(server), 0, self.log())
        self.assert_processes_covered(burned)

    def test_with_a_start_by_the_environment(self) -> None:
        self.serve_and_burn("--preload", SPANPROF_AUTOSTART="1",
                            application=APPLICATION.replace("spanprof.start()", ""))


if __name__ == "__main__":
    unittest.main()
