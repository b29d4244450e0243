"""mod_wsgi, which runs applications in subinterpreters unless it is configured
otherwise."""

from __future__ import annotations

import os
import pathlib
import shutil
import sys
import unittest

from program import PACKAGES, ProgramCase, fetch, free_port

MODULES = pathlib.Path("/usr/lib/apache2/modules")
SERVER = shutil.which("apache2") or "/usr/sbin/apache2"
APPLICATION = """
import os, sys
import spanprof
started = spanprof.start()

def application(environ, start_response):
    if environ["PATH_INFO"] == "/started":
        text = str(started)
    else:
        burn(0.1)
        text = str(os.getpid())
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [text.encode()]
"""
CONFIGURATION = """
ServerRoot {here}
ServerName localhost
Listen 127.0.0.1:{port}
PidFile {here}/apache.pid
ErrorLog {here}/error.log
DefaultRuntimeDir {here}
{user}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule wsgi_module {wsgi}
WSGISocketPrefix {here}/wsgi
WSGIDaemonProcess site processes=2 threads=2
WSGIProcessGroup site
{group}
WSGIScriptAlias / {here}/app.wsgi
"""
# Debian's mod_wsgi for this version of Python; mod_wsgi.so without a version is that of
# the default version.
WSGI = MODULES / "mod_wsgi.so-{}.{}".format(*sys.version_info[:2])


@unittest.skipUnless(os.path.exists(SERVER) and WSGI.exists(), "there is no mod_wsgi for this interpreter")
class ModWsgiTest(ProgramCase):
    def serve_site(self, group: str) -> int:
        """Start Apache and return its port. If the test runs as root, Apache runs as
        another user."""
        port, user = free_port(), ""
        shutil.copytree(PACKAGES / "spanprof", self.directory / "packages" / "spanprof")
        shutil.copytree(PACKAGES / "pyroscope", self.directory / "packages" / "pyroscope")
        self.write("app.wsgi", APPLICATION)
        if os.geteuid() == 0:
            user = "User #65534\nGroup #65534"
            for path in (self.directory, *self.directory.rglob("*")):
                os.chown(path, 65534, 65534)
        configuration = self.write("apache.conf", "")
        configuration.write_text(CONFIGURATION.format(
            here=self.directory, port=port, modules=MODULES, wsgi=WSGI, user=user, group=group))
        self.server = self.serve([SERVER, "-f", str(configuration), "-D", "FOREGROUND"],
                                 PYTHONPATH=str(self.directory / "packages"))
        return port

    def log(self) -> str:
        path = self.directory / "error.log"
        return super().log() + (path.read_text() if path.exists() else "")

    def test_daemons_are_profiled_in_the_main_interpreter(self) -> None:
        port = self.serve_site("WSGIApplicationGroup %{GLOBAL}")
        burned = self.burn_by_requests(port, 2)
        self.assertNotIn(self.server.pid, burned)
        self.terminate(self.server)
        self.assert_processes_covered(burned)

    def test_a_subinterpreter_is_refused_with_the_reason(self) -> None:
        port = self.serve_site("")
        self.assertEqual(fetch(port, "/started"), "False")
        self.assertIn("not profiled: ", self.log())
        self.assertIn("WSGIApplicationGroup", self.log())
        self.terminate(self.server)


if __name__ == "__main__":
    unittest.main()
