"""Builds spanprof._native: the core (its unity file) and the hand-written
binding in one shared object. An sdist carries everything under vendor/; in a
checkout it is compiled in place, and generated files are made there."""
import glob
import os
import pathlib
import re
import shutil
import subprocess

from setuptools import Extension, setup

HERE = pathlib.Path(__file__).resolve().parent
PACKAGED = (HERE / "vendor").is_dir()
ROOT = HERE / "vendor" if PACKAGED else HERE.parent
GENERATED = ROOT / "generated" if PACKAGED else HERE.parent / "build" / "python-generated"


def generate():
    GENERATED.mkdir(parents=True, exist_ok=True)
    subprocess.run(["protoc-c", f"--proto_path={ROOT}/core/proto",
                    f"--c_out={GENERATED}", "profile.proto", "push.proto"], check=True)


def version():
    header = (ROOT / "core/include/spanprof/version.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"SPANPROF_VERSION_{part}\s+(\d+)", header)[1]
                    for part in ("MAJOR", "MINOR", "PATCH"))


if not PACKAGED:
    generate()
setup(
    version=version(),
    ext_modules=[Extension(
        "spanprof._native",
        sources=[os.path.relpath(path, HERE) for path in
                 [ROOT / "core/src/spanprof_unity.c",
                  *sorted(glob.glob(f"{ROOT}/bindings/python/*.c"))]],
        include_dirs=[str(ROOT / "core/include"), str(ROOT / "core/src"), str(GENERATED)],
        define_macros=[("_GNU_SOURCE", None), ("SPANPROF_STATIC", None)],
        extra_compile_args=["-std=gnu11", "-fvisibility=hidden"],
        libraries=["curl", "protobuf-c", "z"],
    )],
)
