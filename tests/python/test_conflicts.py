"""pyroscope-io in the same environment is found at import, in one sentence."""

from __future__ import annotations

import pathlib
import shutil
import sys
import unittest

from program import PACKAGES, ProgramCase


class ConflictsTest(ProgramCase):
    """Installations are laid out as pip leaves them: files that share a path
    belong to whoever was installed last, and an uninstall removes them."""

    def setUp(self) -> None:
        super().setUp()
        self.site = self.directory / "site"
        shutil.copytree(PACKAGES, self.site, symlinks=False,
                        ignore=lambda _, names: [name for name in names if name == "__pycache__"])

    def install_other(self, *, files: bool) -> None:
        (self.site / "pyroscope_io-1.4.0.dist-info").mkdir()
        if files:
            for path in (self.site / "pyroscope").rglob("*.py"):
                path.unlink()
            (self.site / "pyroscope" / "__init__.py").write_text("def configure(): pass\n")
            (self.site / "pyroscope" / "otel" / "__init__.py").write_text("")

    def said(self, module: str = "spanprof") -> list[str]:
        path: pathlib.Path = self.write("app.py", f"import {module}\n")
        done = self.run_command([sys.executable, "-S", "-E", "-c",
                                 f"import sys; sys.path.insert(0, {str(self.site)!r}); "
                                 f"exec(open({str(path)!r}).read())"])
        lines = done.stderr.splitlines()
        self.assertEqual([line for line in lines if not line.startswith("spanprof: ")], [])
        return [line.removeprefix("spanprof: ") for line in lines]

    def test_alone_nothing_is_said(self) -> None:
        self.assertEqual(self.said("spanprof, pyroscope"), [])

    def test_in_an_archive_nothing_is_said(self) -> None:
        self.site = pathlib.Path(shutil.make_archive(str(self.site), "zip", self.site))
        self.assertEqual(self.said("spanprof, pyroscope"), [])

    def test_installed_before_us(self) -> None:
        self.install_other(files=False)
        for module in ("spanprof", "pyroscope"):
            self.assertEqual(self.said(module), [
                "pyroscope-io and spanprof install the same packages, and those of spanprof "
                "are in use: uninstall the former, then reinstall spanprof"])

    def test_installed_after_us(self) -> None:
        self.install_other(files=True)
        self.assertEqual(self.said(), [
            "pyroscope-io overwrote pyroscope and pyroscope.otel of spanprof, which has the "
            "same packages: uninstall it, then reinstall spanprof"])

    def test_uninstalled_after_us(self) -> None:
        shutil.rmtree(self.site / "pyroscope")
        self.assertEqual(self.said(), [
            "pyroscope and pyroscope.otel of spanprof is missing, as after an uninstall of "
            "pyroscope-io: reinstall spanprof"])

    def test_of_a_program_that_was_frozen_nothing_is_said(self) -> None:
        shutil.rmtree(self.site / "pyroscope")
        self.assertEqual(self.said("sys; sys.frozen = True; import spanprof"), [])
        for path in self.site.glob("spanprof-*"):
            shutil.rmtree(path)
        self.assertEqual(self.said(), [])

    def test_a_stub_of_a_test_in_its_place_is_let_be(self) -> None:
        for stub in ("None", "types.ModuleType('pyroscope')", "object()"):
            path = self.write("app.py", f"""
                import sys, types
                for name in ("pyroscope", "multiprocessing.process", "multiprocessing.spawn"):
                    sys.modules[name] = {stub}
                import spanprof, threading
                assert spanprof.start()
                threading.Thread(target=burn, args=(0.1,)).start()
            """)
            done = self.run_command([sys.executable, path])
            self.assertEqual(done.stderr, "", stub)

    def test_entries_that_python_passes_over_are_passed_over(self) -> None:
        odd = [None, b"/usr"] if sys.version_info >= (3, 11) else [None]  # bytes are too much for CPython 3.10 itself
        self.assertEqual(self.said(f"sys; sys.path[1:1] = {odd}; sys.path.append('a\\0b'); import spanprof"), [])

    def test_another_package_of_that_name_comes_first(self) -> None:
        (self.directory / "first").mkdir()
        other = self.directory / "first" / "pyroscope.py"
        other.write_text("")
        self.assertEqual(self.said(f"sys; sys.path.insert(0, {str(other.parent)!r}); import spanprof"),
                         [f"`import pyroscope` finds {other}, which is not spanprof's"])


if __name__ == "__main__":
    unittest.main()
