"""Compiles spanprof._native: the core and its command (their unity files), the
hand-written binding and the SWIG module in one shared object.

An installation never fails because of us: what cannot be compiled here leaves
spanprof/skipped_reason.txt instead, which spanprof.unavailable_reason tells.
With SPANPROF_REQUIRED=1 it fails."""
from __future__ import annotations

import os
import pathlib
import re
import shutil
import tempfile

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

os.chdir(pathlib.Path(__file__).resolve().parent)
VENDOR = pathlib.Path("vendor")
REQUIRED = os.environ.get("SPANPROF_REQUIRED") == "1"
# Header, and Debian's package of it.
HEADERS = {
    "stdlib.h": "gcc libc6-dev",
    "Python.h": "python3-dev",
    "curl/curl.h": "libcurl4-openssl-dev",
    "zlib.h": "zlib1g-dev",
    "protobuf-c/protobuf-c.h": "libprotobuf-c-dev",
}


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


class BuildNative(build_ext):
    """Leaves a reason where the extension cannot be compiled."""

    def run(self) -> None:
        folder = pathlib.Path("src" if self.inplace else self.build_lib) / "spanprof"
        note = folder / "skipped_reason.txt"
        note.unlink(missing_ok=True)
        try:
            super().run()
        except Exception as error:  # Whatever it is, the application must still be installed.
            if REQUIRED:
                raise
            reason = self.missing() or f"it could not be compiled: {error}"
            print(f"spanprof is installed, but cannot profile: {reason}.")
            folder.mkdir(parents=True, exist_ok=True)
            note.write_text(reason + "\n", encoding="utf-8")

    def missing(self) -> str | None:
        """The first thing needed that is not there."""
        work = pathlib.Path(tempfile.mkdtemp())
        try:
            for header, package in HEADERS.items():
                probe = work / "probe.c"
                probe.write_text(f"#include <{header}>\n", encoding="utf-8")
                try:
                    self.compiler.compile([str(probe)], output_dir=str(work))
                except Exception:
                    what = "no C compiler works" if header == "stdlib.h" else f"{header} is missing"
                    return f"{what} (Debian: {package})"
            return None
        finally:
            shutil.rmtree(work)


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
            *sorted((VENDOR / "bindings/python").glob("*.c")))],
        include_dirs=[str(VENDOR / folder) for folder in (
            "core/include", "core/src", "bindings/python", "swig", "swig/lang", "generated")],
        define_macros=[("_GNU_SOURCE", None), ("SPANPROF_STATIC", None)],
        extra_compile_args=["-std=gnu11", "-fvisibility=hidden", "-Werror=implicit-function-declaration"],
        # A signal that is under way when the module is unloaded still finds the
        # handler's code, which must never enter the lazy resolver either.
        extra_link_args=["-Wl,-z,now", "-Wl,-z,nodelete", "-Wl,--exclude-libs,ALL",
                         f"-Wl,--version-script={VENDOR / 'bindings/python/exports.map'}"],
        libraries=["curl", "protobuf-c", "z"],
    )],
)
