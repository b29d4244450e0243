"""Django's development server: the children of its reloader are profiled, the parent is
not."""

from __future__ import annotations

import os
import signal
import sys
import unittest

from program import ProgramCase, fetch, free_port, importable, wait_for

SETTINGS = """
import spanprof
SECRET_KEY = "x"
DEBUG = True
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "urls"
spanprof.start()
"""
URLS = """
import os
from django.http import HttpResponse
from django.urls import path

def page(request):
    burn(0.1)
    return HttpResponse(str(os.getpid()))

urlpatterns = [path("", page)]
"""


@unittest.skipUnless(importable("django"), "django is not installed here")
class DjangoTest(ProgramCase):
    def serve_site(self, *options: str, **variables: str) -> None:
        self.write("settings.py", SETTINGS)
        urls = self.write("urls.py", URLS)
        manage = self.write("manage.py", """
            import os, sys
            os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
            from django.core.management import execute_from_command_line
            execute_from_command_line(sys.argv)
        """)
        port = free_port()
        server = self.serve([sys.executable, manage, "runserver", f"127.0.0.1:{port}", *options],
                            **variables)
        burned = self.burn_by_requests(port, 1, seconds=1)
        if "--noreload" not in options:
            first = set(burned)
            urls.write_text(urls.read_text() + "\n# changed\n")
            wait_for(lambda: self.served_by(port) - first, "a reload")
            for pid, seconds in self.burn_by_requests(port, 1, seconds=1).items():
                burned[pid] = burned.get(pid, 0) + seconds
            self.assertEqual(len(burned), 2)
        if "--noreload" in options:
            self.interrupt(server)
        else:
            os.kill(next(iter(self.served_by(port))), signal.SIGTERM)
            server.wait(20)
        self.assert_processes_covered(burned)
        self.assertEqual(server.pid in self.cpu_s(), "--noreload" in options, self.log())

    def served_by(self, port: int) -> set[int]:
        try:
            return {int(fetch(port))}
        except (OSError, ValueError):  # no answer yet, or a reload interrupted the answer
            return set()

    def test_the_children_of_the_reloader_are_profiled_but_not_the_parent(self) -> None:
        self.serve_site()

    def test_only_the_children_are_profiled_with_a_start_by_the_environment(self) -> None:
        self.serve_site(SPANPROF_AUTOSTART="1")

    def test_without_the_reloader(self) -> None:
        self.serve_site("--noreload")


if __name__ == "__main__":
    unittest.main()
