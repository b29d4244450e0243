"""The rows of a benchmark suite, as a table for people and as a file for
tests/bench/run: what was measured, against which bar, and whether it holds
("yes", "no", "-" where it could not be measured)."""
import json
import pathlib
import textwrap

HEADS = ["bar", "measured", "figure", "beside", "holds"]
WIDTHS = [38, 28, 18, 44, 11]


def show(rows):
    for cells in [HEADS, ["-" * width for width in WIDTHS], *rows]:
        columns = [textwrap.wrap(cell, width) or [""] for cell, width in zip(cells, WIDTHS)]
        for i in range(max(map(len, columns))):
            print(" | ".join((column[i] if i < len(column) else "").ljust(width)
                             for column, width in zip(columns, WIDTHS)).rstrip())


def write(path, rows):
    pathlib.Path(path).write_text(json.dumps(rows))


def read(path):
    return json.loads(pathlib.Path(path).read_text())
