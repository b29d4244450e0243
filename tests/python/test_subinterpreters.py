"""Interpreters beside the main one: they are left alone, and leave us alone."""

from __future__ import annotations

import unittest

from program import ProgramCase

# `made(kind)` and `run(interpreter, source)`; the legacy kind, which shares the
# GIL and any extension, is mod_wsgi's, and the only one before 3.12.
INTERPRETERS = """
import sys
if sys.version_info >= (3, 13):
    import _interpreters as interpreters
    KINDS = ("legacy", "isolated")
    made = interpreters.create
    def run(interpreter, source):
        failed = interpreters.exec(interpreter, source)
        assert failed is None, failed
else:
    import _xxsubinterpreters as interpreters
    KINDS = ("legacy", "isolated") if sys.version_info >= (3, 12) else ("legacy",)
    def made(kind):
        return interpreters.create(isolated=kind == "isolated")
    run = interpreters.run_string
"""

# What another interpreter gets of us.
REFUSED = '''
USE = """
import spanprof
assert spanprof.start() is False
assert not spanprof.available()
assert "only the main interpreter" in spanprof.unavailable_reason(), spanprof.unavailable_reason()
assert not spanprof.running()
with spanprof.label(kind="other"):
    pass
assert spanprof.flush() is False
assert spanprof.stop() is False
"""
'''


class SubinterpretersTest(ProgramCase):
    def test_another_interpreter_is_refused_and_its_end_is_not_the_session_s(self) -> None:
        done = self.run_source(INTERPRETERS + REFUSED + """
import spanprof
profiles = []
assert spanprof.start(on_profile=lambda *profile: profiles.append(profile))
for kind in KINDS:
    other = made(kind)
    run(other, USE)
    interpreters.destroy(other)
    assert spanprof.running()
burn(0.5)
assert spanprof.flush() and profiles
assert spanprof.start(on_profile=lambda *profile: profiles.append(profile))
profiles.clear()
burn(0.5)
assert spanprof.stop() and profiles
""")
        self.assert_covered(sum(self.cpu_s().values()), 1.0)
        self.assertIn("not profiled: only the main interpreter of a process", done.stderr)

    def test_a_refusal_that_came_first_does_not_hold_for_the_main_interpreter(self) -> None:
        self.run_source(INTERPRETERS + REFUSED + """
others = [made(kind) for kind in KINDS]
for other in others:
    run(other, USE)
import spanprof
assert spanprof.unavailable_reason() is None, spanprof.unavailable_reason()
assert spanprof.start()
burn(0.5)
for other in others:
    run(other, USE)
    interpreters.destroy(other)
burn(0.5)
""")
        self.assert_covered(sum(self.cpu_s().values()), 1.0)

    def test_a_start_by_the_environment_says_nothing_there_and_keeps_no_end_waiting(self) -> None:
        done = self.run_source(INTERPRETERS + """
import threading
def beside(kind):
    other = made(kind)
    run(other, "import threading")
    interpreters.destroy(other)
for kind in KINDS:
    beside(kind)
    thread = threading.Thread(target=beside, args=(kind,))
    thread.start()
    thread.join()
import spanprof
assert spanprof.running()
burn(0.5)
""", SPANPROF_AUTOSTART="1", SPANPROF_REQUIRED="1", timeout=30)
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        self.assert_covered(sum(self.cpu_s().values()), 0.5)


if __name__ == "__main__":
    unittest.main()
