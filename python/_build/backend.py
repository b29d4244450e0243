"""The build backend: collects in vendor/ all sources that are to be compiled, then
calls setuptools.

In a checkout, it copies the core and the binding to vendor/ and generates files there
with SWIG and protoc-c. An sdist contains vendor/, so that a build from an sdist needs
only a C compiler.
"""
from __future__ import annotations

import base64
import hashlib
import pathlib
import shutil
import subprocess
import zipfile
from collections.abc import Mapping
from typing import Any

import packages
from setuptools import build_meta
from setuptools.build_meta import (
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

__all__ = [
    "build_editable", "build_sdist", "build_wheel", "get_requires_for_build_editable",
    "get_requires_for_build_sdist", "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable", "prepare_metadata_for_build_wheel",
]

_HERE = pathlib.Path(__file__).resolve().parent.parent
_CHECKOUT = _HERE.parent
_VENDOR = _HERE / "vendor"
# Folders of the checkout whose C files are compiled on the user's machine.
_COMPILED = ("core/include/**", "core/src/**", "core/command/**", "core/page", "core/formats", "bindings/common",
             "bindings/python/**", "swig/**")
_UNUSED = ("core/command/main.c", "swig/lang/ruby_values.h")

_Config = Mapping[str, Any] | None


def stage() -> None:
    """Create vendor/ in a checkout. Does nothing in an sdist, which has vendor/.

    If npm is not installed, vendor/ has no page, and `profile.html` reports this.

    Raises:
        SystemExit: swig or protoc-c is not installed; the message is one sentence.
        subprocess.CalledProcessError: swig, protoc-c or npm failed.
    """
    if not (_CHECKOUT / "swig" / "spanprof.i").is_file():
        return
    missing = packages.sentence(packages.missing_tools())
    if missing:
        raise SystemExit(f"spanprof is not built: {missing}")
    shutil.rmtree(_VENDOR, ignore_errors=True)
    for folder in _COMPILED:
        for path in _CHECKOUT.glob(f"{folder}/*"):
            if path.suffix not in (".c", ".h", ".map"):
                continue
            name = path.relative_to(_CHECKOUT)
            if str(name) not in _UNUSED:
                (_VENDOR / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, _VENDOR / name)
    shutil.copyfile(_CHECKOUT / "LICENSE", _VENDOR / "LICENSE")
    generated = _VENDOR / "generated"
    generated.mkdir()
    subprocess.run(["protoc-c", f"--proto_path={_CHECKOUT}/core/proto", f"--c_out={generated}",
                    "profile.proto", "push.proto"], check=True)
    subprocess.run(["swig", "-python", "-Wall", "-Werror", "-interface", "_swig", "-outdir", generated,
                    "-o", generated / "spanprof_wrap_py.c", _CHECKOUT / "swig/spanprof.i"], check=True)
    (generated / "swig.py").unlink()
    subprocess.run([_CHECKOUT / "core/page/package.sh", _CHECKOUT / "build/page/python",
                    _VENDOR / "core/page/page.html"], check=True)
    # setuptools would also package the files of an earlier build in build/.
    shutil.rmtree(_HERE / "build", ignore_errors=True)


def prepare_metadata_for_build_wheel(directory: str, config: _Config = None) -> str:
    stage()
    return build_meta.prepare_metadata_for_build_wheel(directory, config)


def prepare_metadata_for_build_editable(directory: str, config: _Config = None) -> str:
    stage()
    return build_meta.prepare_metadata_for_build_editable(directory, config)


def build_sdist(directory: str, config: _Config = None) -> str:
    stage()
    return build_meta.build_sdist(directory, config)


def build_wheel(directory: str, config: _Config = None, metadata: str | None = None) -> str:
    if not metadata:  # with it, prepare_metadata_for_build_wheel() has created vendor/
        stage()
    return build_meta.build_wheel(directory, config, metadata)


def build_editable(directory: str, config: _Config = None, metadata: str | None = None) -> str:
    if not metadata:
        stage()
    name = build_meta.build_editable(directory, config, metadata)
    for path in sorted((_HERE / "src").glob("*.pth")):
        _put(pathlib.Path(directory) / name, path)
    return name


def _put(wheel: pathlib.Path, path: pathlib.Path) -> None:
    """Add a file to the top folder of a wheel and to the wheel's RECORD. setuptools
    cannot do this for an editable wheel."""
    content = path.read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    with zipfile.ZipFile(wheel) as old:
        files = [(info, old.read(info)) for info in old.infolist()]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as new:
        new.writestr(path.name, content)
        for info, data in files:
            if info.filename.endswith(".dist-info/RECORD"):
                data = f"{path.name},sha256={digest},{len(content)}\n".encode() + data
            new.writestr(info, data)


if __name__ == "__main__":
    stage()
