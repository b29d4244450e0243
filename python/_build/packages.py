"""The system packages that an installation of spanprof needs, with their names in each
package manager."""
from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable

CONDA = "conda install -c conda-forge"
INSTALL = ("apt-get install", "apk add", "dnf install", CONDA)
# Programs that a build from a checkout runs, and the packages that contain these
# programs.
TOOLS = {
    "swig": ("swig", "swig", "swig", "swig"),
    "protoc-c": ("protobuf-c-compiler", "protobuf-c-compiler", "protobuf-c-compiler", "protobuf-c"),
}
# Headers that the build includes, and the packages that contain them. If the first one
# is missing, no C compiler works.
HEADERS = {
    "stdlib.h": ("gcc libc6-dev", "gcc musl-dev", "gcc glibc-devel", "c-compiler"),
    "Python.h": ("python3-dev", "python3-dev", "python3-devel", "python"),
    "curl/curl.h": ("libcurl4-openssl-dev", "curl-dev", "libcurl-devel", "libcurl"),
    "zlib.h": ("zlib1g-dev", "zlib-dev", "zlib-devel", "zlib"),
    "protobuf-c/protobuf-c.h": ("libprotobuf-c-dev", "protobuf-c-dev", "protobuf-c-devel", "protobuf-c"),
}


def _command(needs: Iterable[tuple[str, ...]]) -> str:
    """Return the command that installs packages: that of conda if this Python belongs
    to conda, else that of the system's package manager. If the package manager is
    unknown, return Debian's command."""
    commands = [f"{install} {' '.join(packages)}" for install, packages in zip(INSTALL, zip(*needs))]
    if os.path.isdir(os.path.join(sys.base_prefix, "conda-meta")):
        return commands[INSTALL.index(CONDA)]
    return next((command for command in commands if shutil.which(command.split()[0])),
                f"in Debian: {commands[0]}")


def sentence(missing: list[str]) -> str | None:
    """Return a sentence that names the missing packages and the command that installs
    them, or None if nothing is missing."""
    if not missing:
        return None
    if "stdlib.h" in missing:
        missing = ["stdlib.h", *(name for name in missing if name in TOOLS)]
    names = ["no C compiler works" if name == "stdlib.h" else f"{name} is missing" for name in missing]
    return f"{', '.join(names)} ({_command([(TOOLS | HEADERS)[name] for name in missing])})"


def missing_tools() -> list[str]:
    return [name for name in TOOLS if not shutil.which(name)]
