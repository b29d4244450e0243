"""A frame shows the line that is being executed, however the function is written."""

from __future__ import annotations

import pathlib
import sysconfig
import types
import unittest

import spanprof
from recording import RecordingCase, burn


def statements() -> None:
    burn(0.1)
    for _ in range(2):
        pass
    if statements:
        burn(0.1)


def spread() -> None:
    burn(
        0.1)
    max(
        [1],
        key=lambda item:
        burn(0.1) or 0)


def finally_runs() -> None:
    try:
        try:
            raise ValueError
        finally:
            burn(0.1)
    except ValueError:
        burn(0.1)


def decorate(function):
    return function


@decorate
@decorate
def decorated() -> None:
    burn(0.2)


def looped() -> None:
    i = 0
    while i < 2:
        burn(0.05)
        i += 1
        burn(0.05)


class LinesTest(RecordingCase):
    def lines(self, function: types.FunctionType, **options: object) -> tuple[set[int], set[int]]:
        """Profile a function of this file. Return two sets: the line numbers of the
        function's frames, and the numbers that the frames have as the function's first
        line. All are relative to the line of the def."""
        code = function.__code__
        frames = [frame for sample in self.record(function, **options) for frame in sample.stack
                  if frame.file == __file__
                  and frame.function.rpartition(".")[2] == code.co_name]
        return ({frame.line - code.co_firstlineno for frame in frames},
                {frame.start_line - code.co_firstlineno for frame in frames})

    def test_each_statement(self) -> None:
        self.assertEqual(self.lines(statements), ({1, 5}, {0}))

    def test_the_first_line_or_no_line_by_option(self) -> None:
        none = -statements.__code__.co_firstlineno
        self.assertEqual(self.lines(statements, line_numbers="first"), ({0}, {0}))
        self.assertEqual(self.lines(statements, line_numbers="none"), ({none}, {0}))
        self.assertEqual(self.lines(statements), ({1, 5}, {0}))

    def test_calls_over_several_lines(self) -> None:
        self.assertEqual(self.lines(spread), ({1, 3}, {0}))

    def test_exceptions(self) -> None:
        self.assertEqual(self.lines(finally_runs), ({5, 7}, {0}))

    def test_decorated(self) -> None:
        self.assertEqual(self.lines(decorated), ({3}, {0}))

    def test_loops(self) -> None:
        self.assertEqual(self.lines(looped), ({3, 5}, {0}))

    def test_lines_far_apart_and_backwards(self) -> None:
        source = ("def far():\n" + "\n" * 5000 + "    burn(0.1)\n" + "\n" * 300 +
                  "    [burn(0.1)\n" + "\n" * 200 + "     for _ in [0]]\n")
        names = {"burn": burn}
        exec(compile(source, "<far>", "exec"), names)
        samples = self.record(names["far"])
        self.assertEqual({f.line for s in samples for f in s.stack
                          if f.function == "far" and f.line > 1} - {5505}, {5002, 5303})

    def test_a_very_long_line_table_has_no_lines_at_its_end(self) -> None:
        body = "".join(f"    x{i % 50} = x{i % 7} + {i}; y = x{i % 3}\n" for i in range(12000))
        source = ("def long(" + ", ".join(f"x{i}=0" for i in range(50)) + "):\n    burn(0.1)\n" + body +
                  "    burn(0.1)\n")
        names = {"burn": burn}
        exec(compile(source, "<long>", "exec"), names)
        size = len(names["long"].__code__.co_linetable)
        samples = self.record(names["long"])
        lines = {f.line for s in samples for f in s.stack
                 if f.function == "long" and any(g.function == "burn" for g in s.stack)}
        self.assertIn(2, lines)
        self.assertEqual(lines, {2, 0} if size > 65536 else {2, 12003})

    def test_invalid_tables_do_no_harm(self) -> None:
        def base() -> None:
            burn(0.05)

        code = base.__code__
        for table in (b"", b"\xff", b"\xf0\x7f", b"\x80" * 7, bytes(range(128, 256)) * 3):
            base.__code__ = code.replace(co_linetable=table)
            self.one(self.record(base), "base")

    def test_every_line_table_of_the_standard_library(self) -> None:
        """The lines that the extension reads from a table must be those that the
        interpreter reads."""
        folder = pathlib.Path(sysconfig.get_path("stdlib"))
        checked = 0
        for path in sorted(folder.glob("*.py")) + sorted(folder.glob("asyncio/*.py")):
            todo = [compile(path.read_bytes(), str(path), "exec")]
            while todo:
                code = todo.pop()
                todo.extend(c for c in code.co_consts if isinstance(c, types.CodeType))
                if len(code.co_linetable) > 65536:
                    continue
                runs = spanprof._native.runtime_lines(code)
                at = -1
                for start, end, line in code.co_lines():
                    if line is None or line == 0:
                        continue
                    for unit in range(start // 2, end // 2):
                        while at + 1 < len(runs) and runs[at + 1][0] <= unit:
                            at += 1
                        self.assertEqual(runs[at][1], line,
                                         f"{path.name} {code.co_name} at unit {unit}")
                checked += 1
        self.assertGreater(checked, 5000)


if __name__ == "__main__":
    unittest.main()
