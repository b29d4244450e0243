#!/usr/bin/env python3
"""Checks that facts that are written in two places agree: the functions and
constants in the C header and in swig/, the options in the core and in the files
for users, the options of `spanprof report` and its manual page, the versions of
the C header and the gem, and the supported versions of Ruby."""
from __future__ import annotations

import pathlib
import re
import unittest

import option_lists

TOP = pathlib.Path(__file__).resolve().parents[2]
HEADER = "".join((TOP / "core/include/spanprof" / name).read_text(encoding="utf-8") for name in ("spanprof.h", "runtime.h"))
WRAPPED = (TOP / "swig/spanprof.i").read_text(encoding="utf-8")
UNWRAPPED = (TOP / "swig/unwrapped.txt").read_text(encoding="utf-8")


def header_functions() -> set[str]:
    code = re.sub(r"/\*.*?\*/", "", HEADER, flags=re.S)
    return set(re.findall(r"^SPANPROF_API[^;]*?\b(spanprof_\w+)\(", code, flags=re.M))


class SwigTest(unittest.TestCase):
    def test_every_function_is_wrapped_or_named_with_a_reason(self) -> None:
        wrapped = set(re.findall(r"\b(spanprof_\w+)\(", WRAPPED))
        named = set(re.findall(r"^(spanprof_\w+)$", UNWRAPPED, flags=re.M))

        self.assertEqual(wrapped & named, set())
        self.assertEqual(wrapped | named, header_functions())
        for paragraph in UNWRAPPED.strip().split("\n\n")[1:]:
            self.assertRegex(paragraph, r"\A# \S.+\n")

    def test_every_status_and_level_is_a_constant(self) -> None:
        statuses = re.findall(r"^  X\((\w+), -?\d+,", HEADER, flags=re.M)
        others = re.findall(r"^  SPANPROF_(LOG_\w+) = \d", HEADER, flags=re.M)

        self.assertGreater(len(statuses), 5)
        self.assertGreater(len(others), 4)
        self.assertEqual(set(re.findall(r"^%constant int (\w+) = SPANPROF_\1;", WRAPPED, flags=re.M)),
                         set(statuses) | set(others))

    def test_declarations_agree_with_the_header(self) -> None:
        flat = re.sub(r"\s+", " ", HEADER)

        for declaration in re.findall(r"^[a-z][^%;{}\"]*?spanprof_\w+\([^;]*\);", WRAPPED, flags=re.M):
            self.assertIn("SPANPROF_API " + re.sub(r"\s+", " ", declaration), flat)


class OptionsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.options = option_lists.options()
        self.assertGreater(len(self.options), 30)

    def test_public_header(self) -> None:
        struct = HEADER[HEADER.index("typedef struct spanprof_options {"):HEADER.index("} spanprof_options;")]
        fields = re.findall(r"^  [a-z][\w ]*\W(\w+);", re.sub(r"/\*.*?\*/", "", struct, flags=re.S), flags=re.M)

        self.assertEqual(set(fields) - {"struct_size", "label_pairs", "label_pair_count", "log", "log_data", "on_profile",
                                        "on_profile_data"}, {option.name for option in self.options})
        for option in self.options:
            for variable in option.variables:
                self.assertIn(variable, struct, option.name)

    def test_variables_are_named_like_their_options(self) -> None:
        for option in self.options:
            self.assertEqual(option.variables[0], "PYROSCOPE_" + re.sub("_(hz|ms|s|number)$", "", option.name).upper())

    def test_files_for_users_are_written_from_the_list(self) -> None:
        for path, (text, anew) in option_lists.texts().items():
            self.assertTrue(text == anew, f"{path} differs: run tests/package/option_lists.py --write")


class ReportOptionsTest(unittest.TestCase):
    def test_manual_page(self) -> None:
        source = (TOP / "core/command/report_options.c").read_text(encoding="utf-8")
        table = source[source.index("sp_report_options_table[SP_REPORT_OPTIONS] = {"):]
        page = (TOP / "core/docs/spanprof.1").read_text(encoding="utf-8").replace("\\-", "-")
        heads = re.findall(r"^\.TP\n(.*)", page[page.index("\n.SS report"):page.index("\n.SS labels")], flags=re.M)
        options = re.findall(r'\{"([a-z-]+)", (?:"|NULL)', table)

        self.assertEqual(len(options), len(re.findall(r"\[SP_REPORT_OPTION_\w+\]", table)))
        self.assertEqual(sorted(re.findall(r"--([a-z-]+)", " ".join(heads))), sorted(options))


class VersionTest(unittest.TestCase):
    def test_header_and_gem_agree(self) -> None:
        header = (TOP / "core/include/spanprof/version.h").read_text(encoding="utf-8")
        version = ".".join(re.search(rf"_{part} +(\d+)", header)[1]  # type: ignore[index]
                           for part in ("MAJOR", "MINOR", "PATCH"))
        gem = (TOP / "ruby/lib/spanprof/version.rb").read_text(encoding="utf-8")

        self.assertIn(f'VERSION = "{version}"', gem)


class RubyVersionsTest(unittest.TestCase):
    """The supported versions of Ruby are those whose memory layout is known
    (rb_vm_layout.h)."""

    def setUp(self) -> None:
        text = (TOP / "bindings/ruby/vm/rb_vm_layout.h").read_text(encoding="utf-8")
        self.said = re.search(r'^#define RB_SP_VM_VERSIONS "(.*)"', text, flags=re.M)[1]  # type: ignore[index]

    def test_readmes(self) -> None:
        for name in ("README.md", "ruby/README.md"):
            text = " ".join((TOP / name).read_text(encoding="utf-8").split())
            self.assertEqual(set(re.findall(r"\bRuby (\d\.\d+(?:, \d\.\d+)* and \d\.\d+)", text)), {self.said}, name)

    def test_each_version_has_a_list_of_gems(self) -> None:
        tested = {path.stem for path in (TOP / "tests/gems").glob("*.txt")}

        self.assertEqual(tested, set(re.findall(r"\d+\.\d+", self.said)))


if __name__ == "__main__":
    unittest.main()
