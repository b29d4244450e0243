#!/usr/bin/env python3
"""python_index.py DEBS FOLDER: makes wheels from Debian's packages of pure
Python in DEBS, and serves them as a Python package index (PEP 503) on loopback
until the process is killed. FOLDER is the folder of the index. Prints the
index's address."""
from __future__ import annotations

import email
import functools
import http.server
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile


def add(deb: pathlib.Path, folder: pathlib.Path) -> None:
    """Add a Debian package to the index: the wheels that it contains, or a
    wheel made from its files."""
    tree = folder / "tree"
    subprocess.run(["dpkg-deb", "-x", deb, tree], check=True)
    for wheel in tree.glob("usr/share/python-wheels/*.whl"):
        place(wheel, wheel.name, folder)
    for info in tree.glob("usr/lib/python3/dist-packages/*-info"):
        pack(info, folder)
    shutil.rmtree(tree)


def place(wheel: pathlib.Path, name: str, folder: pathlib.Path) -> None:
    home = folder / "simple" / re.sub(r"[-_.]+", "-", name.split("-")[0]).lower()
    home.mkdir(parents=True)
    shutil.move(wheel, home / name)


def pack(info: pathlib.Path, folder: pathlib.Path) -> None:
    path = info / ("METADATA" if (info / "METADATA").exists() else "PKG-INFO")
    # Remove the required versions of other packages, because Debian's packages
    # do not always satisfy them.
    metadata = re.sub(r"^(Requires-Dist: [\w.-]+(?:\[[\w,]+\])?)[^;\n]*", r"\1", path.read_text(encoding="utf-8"), flags=re.M)
    head = email.message_from_string(metadata)
    stem = f"{head['Name'].replace('-', '_')}-{head['Version']}"
    wheel = folder / "new.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        names = [f"{stem}.dist-info/METADATA", f"{stem}.dist-info/WHEEL"]
        archive.writestr(names[0], metadata)
        archive.writestr(names[1], "Wheel-Version: 1.0\nGenerator: python_index\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        for path in info.parent.rglob("*"):
            if path.is_file() and path.suffix != ".so" and info not in path.parents:
                names.append(path.relative_to(info.parent).as_posix())
                archive.write(path, names[-1])
        if (info / "entry_points.txt").exists():
            names.append(f"{stem}.dist-info/entry_points.txt")
            archive.write(info / "entry_points.txt", names[-1])
        record = f"{stem}.dist-info/RECORD"
        archive.writestr(record, "".join(f"{name},,\n" for name in [*names, record]))
    place(wheel, f"{stem}-py3-none-any.whl", folder)


def main(debs: str, folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    pathlib.Path(folder).mkdir(parents=True)
    for deb in pathlib.Path(debs).glob("*.deb"):
        add(deb, pathlib.Path(folder))
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/simple", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
