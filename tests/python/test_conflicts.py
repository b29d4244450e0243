"""When spanprof is imported, it detects pyroscope-io in the same environment and logs
one sentence about it."""

from __future__ import annotations

import pathlib
import shutil
import sys
import unittest

from program import PACKAGES, ProgramCase


class ConflictsTest(ProgramCase):
    """Creates the files that pip leaves. If two packages have a file with the same
    path, the package that was installed last overwrites it, and uninstalling either
    package removes it."""

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

    def logged(self, module: str = "spanprof") -> list[str]:
        path: pathlib.Path = self.write("app.py", f"import {module}\n")
        done = self.run_command([sys.executable, "-S", "-E", "-c",
                                 f"import sys; sys.path.insert(0, {str(self.site)!r}); "
                                 f"exec(open({str(path)!r}).read())"])
        lines = done.stderr.splitlines()
        self.assertEqual([line for line in lines if not line.startswith("spanprof: ")], [])
        return [line.removeprefix("spanprof: ") for line in lines]

    def test_spanprof_alone_logs_nothing(self) -> None:
        self.assertEqual(self.logged("spanprof, pyroscope"), [])

    def test_spanprof_in_an_archive_logs_nothing(self) -> None:
        self.site = pathlib.Path(shutil.make_archive(str(self.site), "zip", self.site))
        self.assertEqual(self.logged("spanprof, pyroscope"), [])

    def test_pyroscope_io_installed_before_spanprof(self) -> None:
        self.install_other(files=False)
        for module in ("spanprof", "pyroscope"):
            self.assertEqual(self.logged(module), [
                "pyroscope-io and spanprof install the same packages, and those of spanprof "
                "are in use: uninstall pyroscope-io, then reinstall spanprof"])

    def test_pyroscope_io_installed_after_spanprof(self) -> None:
        self.install_other(files=True)
        self.assertEqual(self.logged(), [
            "pyroscope-io overwrote pyroscope and pyroscope.otel of spanprof: "
            "uninstall pyroscope-io, then reinstall spanprof"])

    def test_pyroscope_io_uninstalled_after_spanprof(self) -> None:
        shutil.rmtree(self.site / "pyroscope")
        self.assertEqual(self.logged(), [
            "files of spanprof are missing (pyroscope and pyroscope.otel), as after "
            "uninstalling pyroscope-io: reinstall spanprof"])

    def test_a_frozen_program_logs_nothing(self) -> None:
        shutil.rmtree(self.site / "pyroscope")
        self.assertEqual(self.logged("sys; sys.frozen = True; import spanprof"), [])
        for path in self.site.glob("spanprof-*"):
            shutil.rmtree(path)
        self.assertEqual(self.logged(), [])

    def test_stubs_in_sys_modules_are_ignored(self) -> None:
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

    def test_entries_of_sys_path_that_python_ignores_are_ignored(self) -> None:
        odd = [None, b"/usr"] if sys.version_info >= (3, 11) else [None]  # CPython 3.10 fails if an entry is bytes
        self.assertEqual(self.logged(f"sys; sys.path[1:1] = {odd}; sys.path.append('a\\0b'); import spanprof"), [])

    def test_another_module_pyroscope_is_found_first(self) -> None:
        (self.directory / "first").mkdir()
        other = self.directory / "first" / "pyroscope.py"
        other.write_text("")
        self.assertEqual(self.logged(f"sys; sys.path.insert(0, {str(other.parent)!r}); import spanprof"),
                         [f"`import pyroscope` finds {other}, which is not spanprof's"])


if __name__ == "__main__":
    unittest.main()
