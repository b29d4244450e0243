#!/usr/bin/env python3
"""check_shape.py CORE_DIR [FOLDER...]: checks the files of the core and of the
bindings' FOLDERs.

No file has more than 600 lines, and no function more than 60. Includes are in
this order: the file's own header, system headers, spanprof's headers, each group
sorted. A source file has a header with its name, unless all its functions are
declared in the public header or, for the command and the server, in a header of
its folder (a family of functions has one header there). Headers have no
circular includes. A status is tested as `if (st)`.
"""
import os
import pathlib
import re
import sys

FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 60
# The folders of the library, the page, the command and the server.
COMPONENTS = ("src", "page", "command", "server")
# Components in which one header may declare the functions of several source files.
FAMILIES = ("command", "server")

INCLUDE = re.compile(r'#include (["<])([^">]+)[">]')


def functions(lines):
    """Yields (name, whether it is static, first line, number of lines) of each
    function. Functions are found by the places where clang-format puts braces."""
    head, first, name = "", 0, ""
    for number, line in enumerate(lines, 1):
        if name:
            if line == "}":
                yield name, "static" in head.split(), first, number - first + 1
                head, name = "", ""
            continue
        if not line or line.startswith(("#", "/*", " *", "}")):
            head = ""
            continue
        if not head:
            first = number
        head += " " + line.strip()
        if line.endswith(";"):
            head = ""
        elif line.endswith("{"):
            names = re.findall(r"(\w+)\((?!\()", re.sub(r"__attribute__\(\(.*?\)\)+|SP_PRINTF\(.*?\)", "", head))
            name = names[0] if names else ""


def include_groups(lines, own):
    """Yields groups of includes between which there are only empty lines, as lists of
    (rank, path). The ranks in a group must be ascending."""
    run = []
    for line in [*lines, "end"]:
        if match := INCLUDE.match(line):
            quoted, path = match[1] == '"', match[2]
            run.append((0 if path == own else 2 if quoted else 1, path))
        elif line:
            if run:
                yield run
            run = []


def relative(path, root):
    return os.path.relpath(path.resolve(), root.resolve())


def declared(headers):
    return set(re.findall(r"\b(\w+)\(", "".join(path.read_text(encoding="utf-8") for path in headers)))


def circles(graph):
    done, found = set(), []

    def follow(name, above):
        if name in above:
            found.append(" -> ".join([*above[above.index(name):], name]))
        elif name not in done:
            for other in graph.get(name, ()):
                follow(other, [*above, name])
            done.add(name)

    for name in graph:
        follow(name, [])
    return found


def check(path, root, public):
    text = path.read_text(encoding="utf-8")
    lines, where = text.splitlines(), relative(path, root)
    if len(lines) > FILE_LINES_MAX:
        yield f"{where} has {len(lines)} lines, more than {FILE_LINES_MAX}"
    outside = []
    for name, static, start, count in functions(lines):
        if count > FUNCTION_LINES_MAX:
            yield f"{where}:{start}: {name}() has {count} lines, more than {FUNCTION_LINES_MAX}"
        if not static:
            outside.append(name)
    for number, line in enumerate(lines, 1):
        if re.search(r"[!=]= SPANPROF_OK\b", line):
            yield f"{where}:{number}: a status is tested as `if (st)` and `if (!st)`"
    for run in include_groups(lines, path.stem + ".h" if path.suffix == ".c" else None):
        if run != sorted(run):
            yield f"{where}: includes out of order: {', '.join(name for _, name in run)}"
    if path.suffix == ".c" and not path.with_suffix(".h").exists():
        if where.split("/")[0] in FAMILIES:
            public = public | declared([*path.parent.glob("*.h"), *path.parent.parent.glob("*.h")])
        for name in outside:
            if name not in public:
                yield f"{where}: {name}() is not declared in a header of this name"


def main():
    root = pathlib.Path(sys.argv[1])
    bindings = [path for folder in sys.argv[2:] for path in sorted(pathlib.Path(folder).rglob("*.[ch]"))]
    # One header of each binding, rb_spanprof.h or py_spanprof.h, declares the init functions of
    # all its files.
    shared = [*sorted((root / "include/spanprof").glob("*.h")),
              *(path for path in bindings if path.stem.endswith("_spanprof"))]
    public = declared(path for path in shared if path.suffix == ".h")
    files = [path for component in COMPONENTS for path in sorted((root / component).rglob("*.[ch]"))
             if not path.stem.endswith("_unity") and "node_modules" not in path.parts] + bindings
    faults = [fault for path in files for fault in check(path, root, public)]
    graph = {}
    for path in files:
        for quoted, name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            for folder in (*path.parents, root / "src") if quoted == '"' else ():
                if (folder / name).exists():
                    graph.setdefault(relative(path, root), []).append(relative(folder / name, root))
                    break
    faults += [f"circular includes: {circle}" for circle in circles(graph)]
    print(f"{len(files)} files")
    print(*faults, sep="\n", file=sys.stderr)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
