#!/usr/bin/env python3
"""Writes the documentation of the options into the files for users, from the
list in core/src/settings/option_list.h. Without --write, prints the differences
between these files and the list.

The documentation is the part of a file between two lines, which are found by
their texts and are not changed."""
from __future__ import annotations

import argparse
import difflib
import pathlib
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import NamedTuple

TOP = pathlib.Path(__file__).resolve().parents[2]
LIST = "core/src/settings/option_list.h"
UNSET = -1  # stands for SPANPROF_UNSET; no option has this number as its default


class Option(NamedTuple):
    name: str
    kind: str
    least: int
    most: int
    default: int
    text: str  # a sentence without its period
    variables: list[str]


class Kind(NamedTuple):
    """How each language writes the type of an option of this kind."""

    rbs: str
    yard: str
    python: str
    conversion: str = ""  # the function in _options.py that converts a value


_NUMBER = Kind("Integer?", "Integer", "int | None")
_LIST = Kind("String?", "String", "Sequence[str] | str | None", "_list")
_MAPPING = Kind("(Hash[text, untyped] | String)?", "Hash, String", "Mapping[str, object] | str | None", "_mapping")
_URL = Kind("untyped", "String, URI", "str | None")
KINDS = {
    "TEXT": Kind("text?", "String", "str | None"), "URL": _URL, "PROXY": _URL,
    "TEXTS": _LIST, "NO_PROXY": _LIST, "LABELS": _MAPPING, "LINES": _MAPPING,
    "PATH": Kind("untyped", "String, Pathname", "str | os.PathLike[str] | None", "_path"),
    "NUMBER": _NUMBER, "RATE": _NUMBER, "MS": _NUMBER, "SECONDS": _NUMBER,
    "SWITCH": Kind("bool?", "Boolean", "bool | None"),
    "LEVEL": Kind("(text | Integer)?", "Symbol, String, Integer", "str | None"),
    "NATIVE": Kind("text?", "Symbol, String", "str | None"),
}
NUMBERS = ("NUMBER", "RATE", "MS", "SECONDS")
# The names of spanprof_native_frames.
NATIVE_FRAMES = ("none", "libraries", "all")


def _arguments(text: str, start: int) -> list[str]:
    """Returns the arguments of the macro call whose opening parenthesis is
    right before `start`."""
    found, depth, begin = [], 0, start
    for token in re.compile(r'"(?:[^"\\]|\\.)*"|[(),]').finditer(text, start):
        if token[0] == "(":
            depth += 1
        elif token[0] == ")" and depth > 0:
            depth -= 1
        elif token[0] in (",", ")") and depth == 0:
            found.append(text[begin:token.start()].strip())
            begin = token.end()
            if token[0] == ")":
                return found
    raise ValueError(f"{LIST} has a row without a closing parenthesis")


def _texts(argument: str) -> str:
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', argument)).replace('\\"', '"')


def options() -> list[Option]:
    source = (TOP / LIST).read_text(encoding="utf-8").replace("\\\n", "\n")
    constants = {"SPANPROF_UNSET": str(UNSET), "SPANPROF_LOG_DEBUG": "0", "SPANPROF_LOG_OFF": "4",
                 "SPANPROF_NATIVE_FRAMES_NONE": "0", "SPANPROF_NATIVE_FRAMES_LIBRARIES": "1", "SPANPROF_NATIVE_FRAMES_ALL": "2"}
    constants |= dict(re.findall(r"^#define (SP_OPTION_\w+) +(.+)", source, flags=re.M))

    def number(argument: str) -> int:
        while (word := re.search(r"[A-Z]\w+_\w+", argument)) and word[0] in constants:
            argument = argument.replace(word[0], constants[word[0]])
        argument = re.sub(r"INT64_C\((\d+)\)", r"\1", argument)
        if not re.fullmatch(r"[\d\s()*<-]+", argument):
            raise ValueError(f"{LIST}: {argument} is not a number")
        return int(eval(argument))

    found = []
    rows = source[source.index("#define SP_OPTION_LIST(X)"):]
    for row in re.finditer(r"\bX\((?=\w+,)", rows):
        name, kind, least, most, default, text, *variables = _arguments(rows, row.end())
        found.append(Option(name, kind, number(least), number(most), number(default), _texts(text),
                            [_texts(variable) for variable in variables]))
    return found


def _sized(value: int, units: list[tuple[int, str]]) -> str:
    """Returns the value in the largest unit of which it is a multiple."""
    for size, unit in units:
        if value >= size and value % size == 0:
            return f"{value // size} {unit}"
    return str(value)


def _readable(option: Option, value: int) -> str:
    if option.name.endswith("_bytes"):
        return _sized(value, [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")])
    if option.kind == "MS":
        return _sized(value, [(3600000, "h"), (1000, "s")]) if value >= 1000 else f"{value} ms"
    if option.kind == "SECONDS":
        return _sized(value, [(86400, "days"), (60, "min"), (1, "s")])
    return str(value)


def _range(option: Option) -> str:
    """Returns the allowed numbers, or "" if the option's sentence has them."""
    if option.kind not in NUMBERS or option.name == "signal_number":
        return ""
    if option.name.endswith("_bytes"):
        return f"at least {_readable(option, option.least)}"
    return f"{_readable(option, option.least)} to {_readable(option, option.most)}"


def _default(option: Option, true: str, false: str) -> str:
    """Returns the default, or "" if there is none that a number or a switch can show."""
    if option.kind == "SWITCH":
        return true if option.default else false
    if option.kind == "NATIVE":
        return NATIVE_FRAMES[option.default]
    return _readable(option, option.default) if option.kind in NUMBERS else ""


def _limits(option: Option, true: str, false: str) -> str:
    default = "" if "default" in option.text else _default(option, true, false)
    return ", ".join(filter(None, [_range(option), default and f"default {default}"]))


def _wrapped(text: str, first: str, rest: str, width: int) -> str:
    return textwrap.fill(text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False,
                         break_on_hyphens=False) + "\n"


def _code(texts: list[str]) -> str:
    return ", ".join(f"`{text}`" for text in texts)


def readme(listed: list[Option]) -> Iterator[str]:
    yield "|---|---|---|---|\n"
    for option in listed:
        default, limits = _default(option, "1", "0") or "–", _range(option)
        yield (f"| `{option.name}` | {_code(option.variables)} | {default}{limits and f' ({limits})'} "
               f"| {option.text} |\n")


def manual(listed: list[Option]) -> Iterator[str]:
    for option in listed:
        text = "; ".join(filter(None, [option.text, _limits(option, "true", "false")]))
        text = text.replace("\\", "\\e").replace("`", "").replace("-", "\\-")
        yield ".TP\n.BR " + ' ", " '.join(option.variables) + "\n" + _wrapped(text, "", "", 80)


def signatures(listed: list[Option]) -> Iterator[str]:
    text = ", ".join(f"?{option.name}:\0{KINDS[option.kind].rbs.replace(' ', chr(0))}" for option in listed)
    yield _wrapped(text + ",", " " * 6, " " * 6, 120).replace("\0", " ")


def accessors(listed: list[Option]) -> Iterator[str]:
    for option in listed:
        yield f"    attr_accessor {option.name}: {KINDS[option.kind].rbs}\n"


def names(listed: list[Option]) -> Iterator[str]:
    yield _wrapped(" ".join(option.name for option in listed), " " * 6, " " * 6, 120)


def documentation(listed: list[Option]) -> Iterator[str]:
    for option in listed:
        default = _default(option, "true", "false")
        text = f"@option options [{KINDS[option.kind].yard}] :{option.name} {f'({default}) ' if default else ''}{option.text}"
        yield _wrapped("; ".join(filter(None, [text, _range(option)])), "    # ", "    #   ", 120)


def keywords(listed: list[Option]) -> Iterator[str]:
    for option in listed:
        yield f"    {option.name}: {KINDS[option.kind].python} = None,\n"


def docstring(listed: list[Option]) -> Iterator[str]:
    for option in listed:
        text = "; ".join(filter(None, [option.text, _limits(option, "True", "False")]))
        yield _wrapped(f"{option.name}: {text}. {', '.join(option.variables)}.", " " * 8, " " * 12, 80)


def conversions(listed: list[Option]) -> Iterator[str]:
    text = ", ".join(f'"{option.name}":\0{KINDS[option.kind].conversion}' for option in listed
                     if KINDS[option.kind].conversion)
    yield _wrapped(text + ",", " " * 4, " " * 4, 100).replace("\0", " ")


class Part(NamedTuple):
    path: str
    after: str  # a regular expression for the line before the part
    before: str  # the start of the line after the part
    write: Callable[[list[Option]], Iterator[str]]


PARTS = [
    Part("core/docs/options.md", r"\| option \| environment \| default \| meaning \|", "\n", readme),
    Part("core/docs/spanprof.1", r"\.PP\n\.\\\" Written by tests/package/option_lists\.py\.", ".SH", manual),
    Part("ruby/sig/spanprof.rbs", r"  def self\.start: \(", "      ?logger:", signatures),
    Part("ruby/sig/spanprof.rbs", r"  class Configuration < Struct\[untyped\]", "    attr_accessor logger:", accessors),
    Part("ruby/lib/spanprof/options.rb", r"    NAMES = \(%i\[", "    ]", names),
    Part("ruby/lib/spanprof.rb", r"    # @param options \[Hash\] what to profile.*", "    # @option options [Logger]",
         documentation),
    Part("python/src/spanprof/_session.py", r"@_names_nearest\ndef start\(\n    \*,", "    line_numbers:", keywords),
    Part("python/src/spanprof/_session.py", r"    below, .*\n\n    Args:", "        line_numbers:", docstring),
    Part("python/src/spanprof/_options.py", r"_CONVERTED: .* = \{", '    "line_numbers":', conversions),
]


def written(part: Part, text: str, listed: list[Option]) -> str:
    """Returns the file's text with a new part."""
    found = re.findall(rf"^{part.after}\n", text, flags=re.M)
    if len(found) != 1:
        raise ValueError(f"{part.path} has {len(found)} lines {part.after}")
    start = text.index(found[0]) + len(found[0])
    end = start + re.search(rf"^{re.escape(part.before)}", text[start:], flags=re.M).start()  # type: ignore[union-attr]
    return text[:start] + "".join(part.write(listed)) + text[end:]


def texts() -> dict[str, tuple[str, str]]:
    """Returns for each file its current text, and its text according to the
    list."""
    listed = options()
    found: dict[str, tuple[str, str]] = {}
    for part in PARTS:
        text = (TOP / part.path).read_text(encoding="utf-8")
        old, new = found.get(part.path, (text, text))
        found[part.path] = old, written(part, new, listed)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the parts in place")
    write = parser.parse_args().write
    stale = {path: pair for path, pair in texts().items() if pair[0] != pair[1]}
    for path, (old, new) in stale.items():
        if write:
            (TOP / path).write_text(new, encoding="utf-8")
        else:
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), path, LIST))
    return 1 if stale and not write else 0


if __name__ == "__main__":
    sys.exit(main())
