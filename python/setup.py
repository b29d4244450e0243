"""Compiles spanprof._native: the core and its command (their unity files), the
hand-written binding and the SWIG module in one shared object.

On Linux an installation that cannot be compiled fails, with a sentence that says
what is missing. Elsewhere nothing can be profiled, and with SPANPROF_REQUIRED=0
nothing must be: then spanprof/skipped_reason.txt is installed in its place, which
spanprof.unavailable_reason tells. With SPANPROF_REQUIRED=1 that fails, too."""
from __future__ import annotations

import os
import pathlib
import re
import shutil
import sys
import tempfile

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

os.chdir(pathlib.Path(__file__).resolve().parent)
VENDOR = pathlib.Path("vendor")
LINUX = sys.platform == "linux"
REQUIRED = os.environ.get("SPANPROF_REQUIRED", "1" if LINUX else "") == "1"
CONDA = "conda install -c conda-forge"
# Header, and the package that brings it, of each package manager.
INSTALL = ("apt-get install", "apk add", "dnf install", CONDA)
HEADERS = {
    "stdlib.h": ("gcc libc6-dev", "gcc musl-dev", "gcc glibc-devel", "c-compiler"),
    "Python.h": ("python3-dev", "python3-dev", "python3-devel", "python"),
    "curl/curl.h": ("libcurl4-openssl-dev", "curl-dev", "libcurl-devel", "libcurl"),
    "zlib.h": ("zlib1g-dev", "zlib-dev", "zlib-devel", "zlib"),
    "protobuf-c/protobuf-c.h": ("libprotobuf-c-dev", "protobuf-c-dev", "protobuf-c-devel", "protobuf-c"),
}
# pip keeps a wheel that it has built, also one without the extension.
AGAIN = "once that is mended: pip install --force-reinstall --no-cache-dir --no-deps spanprof"


def version() -> str:
    # A checkout is asked for its requirements before it is staged.
    root = VENDOR if VENDOR.is_dir() else pathlib.Path("..")
    header = (root / "core/include/spanprof/version.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"SPANPROF_VERSION_{part}\s+(\d+)", header)[1]
                    for part in ("MAJOR", "MINOR", "PATCH"))


class BuildPython(build_py):
    """Puts the .pth file, by which an environment starts profiling, beside the packages."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            for path in sorted(pathlib.Path("src").glob("*.pth")):
                self.copy_file(str(path), self.build_lib)

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        roots = [os.path.join(self.build_lib, path.name) for path in sorted(pathlib.Path("src").glob("*.pth"))]
        return super().get_outputs(include_bytecode) + roots


def remedy(packages: tuple[str, ...]) -> str:
    """How to install one of the packages here: by conda, where this Python is of
    it, else by the system's package manager; without one that is known, by
    Debian's names."""
    commands = [f"{install} {package}" for install, package in zip(INSTALL, packages)]
    if os.path.isdir(os.path.join(sys.base_prefix, "conda-meta")):
        return commands[INSTALL.index(CONDA)]
    return next((command for command in commands if shutil.which(command.split()[0])),
                f"in Debian: {commands[0]}")


class BuildNative(build_ext):
    """Fails in one sentence, or leaves it, where the extension cannot be compiled."""

    def run(self) -> None:
        folder = pathlib.Path("src" if self.inplace else self.build_lib) / "spanprof"
        note = folder / "skipped_reason.txt"
        note.unlink(missing_ok=True)
        reason = self.attempt() if LINUX else f"{sys.platform} is not supported: profiling needs Linux"
        if not reason:
            return
        if REQUIRED:
            raise SystemExit(f"spanprof is not installed: {reason}; SPANPROF_REQUIRED=0 installs it all the same, "
                             "to profile nothing")
        print(f"spanprof is installed, but cannot profile: {reason}.")
        folder.mkdir(parents=True, exist_ok=True)
        note.write_text(f"{reason}; {AGAIN}\n" if LINUX else f"{reason}\n", encoding="utf-8")

    def attempt(self) -> str | None:
        """Compile; why not, if it went wrong."""
        try:
            super().run()
        except Exception as error:  # of setuptools, of distutils, of the system
            return self.missing() or f"it could not be compiled: {error}"
        return None

    def missing(self) -> str | None:
        """The first thing needed that is not there."""
        work = pathlib.Path(tempfile.mkdtemp())
        try:
            for header, packages in HEADERS.items():
                probe = work / "probe.c"
                probe.write_text(f"#include <{header}>\n", encoding="utf-8")
                try:
                    self.compiler.compile([str(probe)], output_dir=str(work))
                except Exception:
                    what = "no C compiler works" if header == "stdlib.h" else f"{header} is missing"
                    return f"{what} ({remedy(packages)})"
            return None
        finally:
            shutil.rmtree(work)


PAGE = VENDOR / "core/src/page/page.html"
# The assembler takes it in (core/src/page/built_page.c), by a name that the code
# must find in the same partition of the program.
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
            VENDOR / "core/src/command_unity.c",
            VENDOR / "generated/spanprof_wrap_py.c",
            *sorted((VENDOR / "bindings").glob("*/*.c")))],
        include_dirs=[str(VENDOR / folder) for folder in (
            "core/include", "core/src", "bindings/common", "bindings/python", "swig", "swig/lang", "generated")],
        define_macros=[("_GNU_SOURCE", None), ("SPANPROF_STATIC", None), *PAGE_MACROS],
        # -g1: names and lines for a backtrace; types and variables are half a wheel.
        extra_compile_args=["-std=gnu11", "-fvisibility=hidden", "-fstack-protector-strong", "-fno-lto", "-g1",
                            "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-Werror=implicit-function-declaration"],
        # A signal that is under way when the module is unloaded still finds the
        # handler's code, which must never enter the lazy resolver either.
        extra_link_args=["-Wl,-z,now", "-Wl,-z,relro", "-Wl,-z,nodelete", "-Wl,-z,noexecstack",
                         "-Wl,--exclude-libs,ALL",
                         f"-Wl,--version-script={VENDOR / 'bindings/python/exports.map'}"],
        libraries=["curl", "protobuf-c", "z", "m"],
    )],
)
