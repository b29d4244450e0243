"""C functions of CPython have frames of their own, with the name by which Python code calls them."""

from __future__ import annotations

import binascii
import collections
import functools
import io
import json
import operator
import re
import sys
import unittest
import zlib

import noise
import profile_reader
from recording import RecordingCase
from test_native_frames import PYTHON, repeat

NUMBERS = [(i * 7919) % 10007 for i in range(20000)]
TEXT = " ".join(map(str, NUMBERS))
BYTES = TEXT.encode()
DIGITS = re.compile(r"(\d+) 49\d+")
TABLE = {str(i): i for i in range(5000)}

# Functions whose calls take so long that nearly all time is spent in the function itself.
CALLS = {
    "sorted": lambda: sorted(NUMBERS),
    "list.sort": lambda: NUMBERS[:].sort(),
    "sum": lambda: sum(NUMBERS),
    "str.find": lambda: TEXT.find("none"),
    "str.count": lambda: TEXT.count("99"),
    "str.encode": lambda: TEXT.encode("utf-16"),
    "list.count": lambda: NUMBERS.count(-1),
    "dict.update": lambda: TABLE.update(TABLE.copy()),
    "re.Pattern.search": lambda: DIGITS.search(TEXT),
    "re.Pattern.sub": lambda: DIGITS.sub("x", TEXT),
    "_functools.reduce": lambda: functools.reduce(operator.or_, NUMBERS),
    "zlib.compress": lambda: zlib.compress(BYTES),
    "binascii.hexlify": lambda: binascii.hexlify(BYTES),
}
# Functions that are called by those above, or by repeat().
OTHERS = {"list.sort", "dict.copy", "time.monotonic", "time.thread_time", "operator.or_", "_operator.or_"}
SHARE = 0.6
# Distributions optimize their builds by a profile of CPython's tests. In such a build, some functions of
# CALLS have no frame, and their time is their caller's (core/docs/decisions.md).
OPTIMIZED = sys.base_prefix == "/usr"
UNNAMED_MAX = 4 if OPTIMIZED else 0


def calling(seconds: float, name: str) -> None:
    repeat(seconds, CALLS[name])


def named(sample: profile_reader.Sample) -> list[str]:
    """Return the C functions of a stack: frames without a file that have a name from KNOWN."""
    return [f.function for f in sample.stack if not f.file and f.function in KNOWN]


def names_of_python() -> set[str]:
    """Return the names of all C functions of modules, and of all attributes of types."""
    names = set()
    for module in list(sys.modules.values()):
        for value in list(getattr(module, "__dict__", {}).values()):
            if type(value) is type(len) and type(value.__self__) is type(sys):
                names.add(f"{value.__self__.__name__}.{value.__name__}".removeprefix("builtins."))
            if isinstance(value, type):
                names |= {f"{value.__module__}.{value.__qualname__}.{name}".removeprefix("builtins.") for name in vars(value)}
    return names


KNOWN = names_of_python() | set(CALLS)


class CFunctionsTest(RecordingCase):
    def test_each_function_has_its_own_name(self) -> None:
        unnamed = []
        for name in CALLS:
            with self.subTest(name):
                samples = [s for s in self.record(functools.partial(calling, 0.15, name)) if "calling" in s.functions]
                true = sum(s.value for s in samples) / 1e9
                seen = sum(s.value for s in samples if name in s.functions) / 1e9
                wrong = [s.functions for s in samples if set(named(s)) - OTHERS - {name}]
                self.assertFalse(wrong[:3])
                if seen == 0:
                    unnamed.append(name)
                else:
                    self.assertGreaterEqual(seen, SHARE * true - noise.of_time(true, true, self.tick_s),
                                            collections.Counter(tuple(s.functions[:4]) for s in samples).most_common(3))
        self.assertLessEqual(len(unnamed), UNNAMED_MAX, unnamed)

    def test_the_frame_is_between_the_frames_of_python(self) -> None:
        def key(number: int) -> int:
            return sum(range(number % 100))

        samples = [s for s in self.record(lambda: repeat(0.3, lambda: sorted(NUMBERS, key=key)))
                   if any(n.endswith("key") for n in s.functions)]
        self.assertTrue(samples)
        for sample in samples:
            at = next(i for i, name in enumerate(sample.functions) if name.endswith("key"))
            until = sample.functions.index("sorted", at) + 1
            between = sample.functions[at + 1:until]
            self.assertTrue(between == ("list.sort", "sorted") or (OPTIMIZED and between == ("sorted",)), sample.functions)
            self.assertIn(sample.stack[until].file, (*PYTHON, __file__), sample.functions)
            self.assertFalse(set(named(sample)) - {"sum", "list.sort", "sorted"}, sample.functions)

    def test_code_that_c_calls_for_another_purpose_has_no_name(self) -> None:
        """list() calls the code of list.extend() directly."""
        samples = self.record(lambda: repeat(0.3, lambda: list(TABLE.items())))
        self.assertFalse([s.functions for s in samples if "list.extend" in s.functions][:3])

    def test_operators_have_no_name(self) -> None:
        samples = self.record(lambda: repeat(0.3, lambda: [-1] in [NUMBERS] or TEXT in TABLE))
        self.assertFalse([s.functions for s in samples if any("__" in name for name in named(s))][:3])

    def test_functions_of_a_module_that_is_imported_later(self) -> None:
        self.assertFalse("_csv" in sys.modules)

        def importing() -> None:
            import _csv

            rows = [NUMBERS[i:i + 10] for i in range(0, 2000, 10)]
            repeat(1.0, lambda: _csv.writer(io.StringIO()).writerows(rows))

        samples = [s for s in self.record(importing) if any(n.endswith("importing") for n in s.functions)]
        true = sum(s.value for s in samples) / 1e9
        seen = sum(s.value for s in samples if "_csv.writer.writerows" in s.functions) / 1e9
        self.assertGreater(seen, true / 2)

    def test_native_frames_none_has_no_c_functions(self) -> None:
        samples = self.record(lambda: calling(0.2, "sorted"), native_frames="none")
        self.assertFalse([s.functions for s in samples if named(s)][:3])

    def test_native_frames_all_has_the_names(self) -> None:
        samples = self.record(lambda: calling(0.2, "sorted"), native_frames="all")
        inside = [s for s in samples if "sorted" in s.functions]
        self.assertTrue(inside)
        for sample in inside:
            self.assertLess(sample.functions.index("sorted"), sample.functions.index("calling"), sample.functions)

    def test_a_frame_has_no_file(self) -> None:
        samples = self.record(lambda: calling(0.2, "zlib.compress"))
        frames = {f for s in samples for f in s.stack if f.function == "zlib.compress"}
        self.assertEqual(frames, {profile_reader.Frame("zlib.compress")})

    def test_json_text_is_encoded_by_a_function_of_c(self) -> None:
        samples = self.record(lambda: repeat(0.3, lambda: json.dumps(TEXT + "\n")))
        self.assertTrue([s for s in samples if "_json.encode_basestring_ascii" in s.functions])


if __name__ == "__main__":
    unittest.main()
