"""Compiles spanprof._native, a shared object with the core, the command `spanprof`, the
hand-written binding and the module that SWIG generates.

If the extension cannot be compiled on Linux, the installation fails with a sentence
that names the missing packages. On other systems, or with SPANPROF_REQUIRED=0, the
package is then installed without the extension and profiles nothing:
spanprof/skipped_reason.txt contains the reason, which spanprof.unavailable_reason
returns. With SPANPROF_REQUIRED=1, the installation fails on other systems, too.
"""
from __future__ import annotations

import os
import pathlib
import re
import sys
import tempfile

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

os.chdir(pathlib.Path(__file__).resolve().parent)
sys.path.insert(0, "_build")
import packages  # noqa: E402

VENDOR = pathlib.Path("vendor")
LINUX = sys.platform == "linux"
REQUIRED = os.environ.get("SPANPROF_REQUIRED", "1" if LINUX else "") == "1"
# Without these flags, pip would reinstall the wheel without the extension from its cache.
AGAIN = "to retry after fixing this: pip install --force-reinstall --no-cache-dir --no-deps spanprof"


def version() -> str:
    # pip runs this file in a checkout before the build backend has created vendor/.
    root = VENDOR if VENDOR.is_dir() else pathlib.Path("..")
    header = (root / "core/include/spanprof/version.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"SPANPROF_VERSION_{part}\s+(\d+)", header)[1]
                    for part in ("MAJOR", "MINOR", "PATCH"))


class BuildPython(build_py):
    """Installs spanprof.pth next to the packages. It starts profiling if environment
    variables require it."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            for path in sorted(pathlib.Path("src").glob("*.pth")):
                self.copy_file(str(path), self.build_lib)

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        roots = [os.path.join(self.build_lib, path.name) for path in sorted(pathlib.Path("src").glob("*.pth"))]
        return super().get_outputs(include_bytecode) + roots


class BuildNative(build_ext):
    """Compiles the extension. If that fails, the build fails with one sentence, or
    stores this sentence in spanprof/skipped_reason.txt."""

    missing: str | None = None

    def run(self) -> None:
        folder = pathlib.Path("src" if self.inplace else self.build_lib) / "spanprof"
        note = folder / "skipped_reason.txt"
        note.unlink(missing_ok=True)
        reason = self.attempt() if LINUX else f"{sys.platform} is not supported: profiling needs Linux"
        if not reason:
            return
        if REQUIRED:
            raise SystemExit(f"spanprof is not installed: {reason}; set SPANPROF_REQUIRED=0 to install it "
                             "without profiling")
        print(f"spanprof is installed, but cannot profile: {reason}.")
        folder.mkdir(parents=True, exist_ok=True)
        note.write_text(f"{reason}; {AGAIN}\n" if LINUX else f"{reason}\n", encoding="utf-8")

    def attempt(self) -> str | None:
        """Compile the extension. Return the reason if it cannot be compiled, else
        None."""
        try:
            super().run()
        except Exception as error:  # setuptools, distutils and the system raise exceptions of various classes
            return self.missing or f"it could not be compiled: {error}"
        return None

    def build_extensions(self) -> None:
        """Called by setuptools when it has chosen the compiler, before it compiles the
        extension."""
        self.missing = packages.sentence(self.missing_headers())
        if self.missing:
            raise RuntimeError(self.missing)
        super().build_extensions()

    def missing_headers(self) -> list[str]:
        with tempfile.TemporaryDirectory() as work:
            return [header for header in packages.HEADERS if not self.compiles(work, f"#include <{header}>\n")]

    def compiles(self, work: str, source: str) -> bool:
        probe = pathlib.Path(work, "probe.c")
        probe.write_text(source, encoding="utf-8")
        try:
            self.compiler.compile([str(probe)], output_dir=work)
        except Exception:
            return False
        return True


PAGE = VENDOR / "core/page/page.html"
# core/page/built_page.c lets the assembler include the page. With LTO, the code that
# uses the assembler's symbol could be in another partition, so -fno-lto below is
# needed.
PAGE_MACROS = [("SP_PAGE_FILE", f'"{PAGE}"')] if PAGE.is_file() else []

setup(
    version=version(),
    cmdclass={"build_py": BuildPython, "build_ext": BuildNative},
    license="Apache-2.0",
    license_files=["vendor/LICENSE"],
    ext_modules=[Extension(
        "spanprof._native",
        sources=[str(path) for path in (
            VENDOR / "core/src/spanprof_unity.c",
            VENDOR / "core/command/command_unity.c",
            VENDOR / "generated/spanprof_wrap_py.c",
            *sorted((VENDOR / "bindings").rglob("*.c")))],
        include_dirs=[str(VENDOR / folder) for folder in (
            "core/include", "core/src", "core", "bindings/common", "bindings/python", "swig", "swig/lang", "generated")],
        define_macros=[("_GNU_SOURCE", None), ("SPANPROF_STATIC", None), *PAGE_MACROS],
        # -g1 keeps names and lines for backtraces. With types and variables too, the
        # wheel would be twice as large.
        extra_compile_args=["-std=gnu11", "-fvisibility=hidden", "-fstack-protector-strong", "-fno-lto", "-g1",
                            "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-Werror=implicit-function-declaration"],
        # nodelete: a signal that is pending when the module is closed still needs the
        # code of the signal handler. now: the handler must never call the dynamic
        # linker's lazy resolver.
        extra_link_args=["-Wl,-z,now", "-Wl,-z,relro", "-Wl,-z,nodelete", "-Wl,-z,noexecstack",
                         "-Wl,--exclude-libs,ALL",
                         f"-Wl,--version-script={VENDOR / 'bindings/python/exports.map'}"],
        libraries=["curl", "protobuf-c", "z", "m"],
    )],
)
