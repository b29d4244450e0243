#!/usr/bin/env python3
"""What is written down in two places is the same in both: the functions and
constants of the header and swig/, the version of header, gem and wheel."""
from __future__ import annotations

import pathlib
import re
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
HEADER = (TOP / "core/include/spanprof/spanprof.h").read_text(encoding="utf-8")
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

    def test_every_status_level_and_attribute_is_a_constant(self) -> None:
        statuses = re.findall(r"^  X\((\w+), -?\d+,", HEADER, flags=re.M)
        others = re.findall(r"^  SPANPROF_((?:LOG|ATTRIBUTE)_\w+) = \d", HEADER, flags=re.M)

        self.assertGreater(len(statuses), 5)
        self.assertGreater(len(others), 5)
        self.assertEqual(set(re.findall(r"^%constant int (\w+) = SPANPROF_\1;", WRAPPED, flags=re.M)),
                         set(statuses) | set(others))

    def test_texts_of_arguments_agree(self) -> None:
        flat = re.sub(r"\s+", " ", HEADER)

        for declaration in re.findall(r"^[a-z][^%;{}\"]*?spanprof_\w+\([^;]*\);", WRAPPED, flags=re.M):
            self.assertIn("SPANPROF_API " + re.sub(r"\s+", " ", declaration), flat)


class VersionTest(unittest.TestCase):
    def test_header_gem_sdist_and_wheels_agree(self) -> None:
        header = (TOP / "core/include/spanprof/version.h").read_text(encoding="utf-8")
        version = ".".join(re.search(rf"_{part} +(\d+)", header)[1]  # type: ignore[index]
                           for part in ("MAJOR", "MINOR", "PATCH"))
        gem = (TOP / "ruby/lib/spanprof/version.rb").read_text(encoding="utf-8")
        built = sorted((TOP / "build").glob("sdist/*.tar.gz")) + sorted((TOP / "build").glob("wheels/*/*.whl"))

        self.assertIn(f'VERSION = "{version}"', gem)
        for path in built:
            self.assertTrue(path.name.startswith(f"spanprof-{version}"), path)


if __name__ == "__main__":
    unittest.main()
