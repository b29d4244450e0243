"""The magics that `%load_ext spanprof` adds to IPython: `%spanprof` profiles a line,
`%%spanprof` a cell."""
from __future__ import annotations

import asyncio
import re
from typing import Any

from ._profile import profile

_OPTION = re.compile(r"""\s*-([onr])\s+("[^"]*"|'[^']*'|\S+)""")


def _options(line: str) -> tuple[dict[str, str], str]:
    """Split the line of a magic. Return its options and the statement after them."""
    options = {}
    while found := _OPTION.match(line):
        options[found[1]] = found[2].strip("\"'")
        line = line[found.end():]
    return options, line.strip()


def _awaits(shell: Any, code: str) -> bool:
    """Whether the code cannot run in a magic, because it has an `await` outside a
    function and this cell already runs in the event loop."""
    try:
        asyncio.get_running_loop()
        return bool(shell.should_run_async(code, transformed_cell=shell.transform_cell(code)))
    except (RuntimeError, SyntaxError):
        return False


def load_ipython_extension(shell: Any) -> None:
    """Add the magics to IPython. Called by `%load_ext spanprof`."""
    def spanprof(line: str, cell: str | None = None) -> None:
        """Profile a statement or a cell, and print its CPU time by function.

            %spanprof [-o FILE] [-n ROWS] [-r HZ] statement
            %%spanprof [-o FILE] [-n ROWS] [-r HZ]

        The code runs as usual, with its output and its exceptions. All threads of the
        process are profiled meanwhile. In a notebook, code with an `await` outside a
        function does not run: use `with spanprof.profile():` for it.

        -o: write the profile to this file, as pprof.
        -n: number of rows of each table, 0 for all; default 10.
        -r: samples per second of CPU time and thread, 1 to 1000; default 1000.
        """
        options, statement = _options(line)
        code = statement if cell is None else cell
        if _awaits(shell, code):
            print("spanprof: this magic cannot run a cell that awaits; write "
                  "`with spanprof.profile():` in the cell instead")
            return
        recorded = profile(options.get("o"), sample_rate_hz=int(options.get("r", 1000)),
                        rows=int(options.get("n", 10)), show=False, all_threads=True)
        with recorded:
            shell.run_cell(code, store_history=False)
        print(recorded)

    shell.register_magic_function(spanprof, magic_kind="line_cell")
