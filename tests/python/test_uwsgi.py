"""uWSGI, whose master forks in C, with and without Python threads."""

from __future__ import annotations

import glob
import signal
import shutil
import subprocess
import sys
import unittest

from program import ProgramCase, free_port


def has_plugin() -> bool:
    """Whether uWSGI and its plugin for this version of Python are installed."""
    if not shutil.which("uwsgi"):
        return False
    out = subprocess.run(["uwsgi", "--plugin", "python3", "--python-version"],
                         capture_output=True, text=True, check=False)
    return out.returncode == 0 and out.stdout.strip().startswith(
        "{}.{}.".format(*sys.version_info[:2]))


@unittest.skipUnless(has_plugin(), "there is no uWSGI with a plugin for this interpreter")
class UwsgiTest(ProgramCase):
    def serve_and_burn(self, *options: str, master: bool = True) -> None:
        self.write("app.py", """
            import os, spanprof
            spanprof.start()

            @spanprof.label(page="/")
            def application(environ, start_response):
                burn(0.1)
                start_response("200 OK", [("Content-Type", "text/plain")])
                return [str(os.getpid()).encode()]
        """)
        port = free_port()
        server = self.serve(
            ["uwsgi", "--plugin", "python3", "--http-socket", f"127.0.0.1:{port}",
             *(("--master", "--processes", "2") if master else ()),
             "--wsgi-file", "app.py", "--disable-logging", "--die-on-term", "--need-app", *options])
        burned = self.burn_by_requests(port, 2 if master else 1)
        self.assertEqual(server.pid in burned, not master)
        self.terminate(server, signal.SIGTERM)
        self.assert_processes_covered(burned)

    def test_without_threads(self) -> None:
        self.serve_and_burn()

    def test_with_threads_of_python(self) -> None:
        self.serve_and_burn("--enable-threads")

    def test_with_native_threads(self) -> None:
        """The threads of --threads block all signals. The core unblocks its signal on a
        thread when the thread sets a label or enters a span."""
        self.serve_and_burn("--enable-threads", "--threads", "4")

    def test_workers_that_load_the_application_themselves(self) -> None:
        self.serve_and_burn("--lazy-apps")

    def test_without_a_master(self) -> None:
        self.serve_and_burn(master=False)

    @unittest.skipUnless(glob.glob("/usr/lib/uwsgi/plugins/gevent_python3_plugin.so"), "there is no plugin for gevent")
    def test_greenlets_of_gevent(self) -> None:
        self.serve_and_burn("--plugin", "gevent_python3", "--gevent", "50", "--gevent-monkey-patch")
        self.assertNotRegex(self.log(), "(?i)double free|corruption|segmentation fault")


if __name__ == "__main__":
    unittest.main()
