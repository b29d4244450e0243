"""Subinterpreters are not profiled, and they do not disturb the session of the main
interpreter."""

from __future__ import annotations

import unittest

from program import ProgramCase

# Defines made(kind), which creates a subinterpreter, and run(interpreter, source). A
# subinterpreter of the kind "legacy" shares the GIL and all extensions with the main
# interpreter. mod_wsgi uses this kind, and before 3.12 there is no other.
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

# A program for a subinterpreter: it can import spanprof, but the functions refuse to
# profile.
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
    def test_a_subinterpreter_is_refused_and_its_end_does_not_stop_the_session(self) -> None:
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

    def test_an_earlier_refusal_does_not_affect_the_main_interpreter(self) -> None:
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

    def test_a_start_by_the_environment_ignores_subinterpreters(self) -> None:
        done = self.run_source(INTERPRETERS + """
import threading
def run_alongside(kind):
    other = made(kind)
    run(other, "import threading")
    interpreters.destroy(other)
for kind in KINDS:
    run_alongside(kind)
    thread = threading.Thread(target=run_alongside, args=(kind,))
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
