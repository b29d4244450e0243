"""Native frames: frames of C code that a Python function called are inside the frame of
this function, and frames of the interpreter's own code never replace it."""

from __future__ import annotations

import hashlib
import json
import re
import time
import unittest
import zlib

import noise
import profile_reader
from recording import RecordingCase, burn

try:
    import numpy
except ImportError:
    numpy = None

PYTHON = (__file__, burn.__code__.co_filename)
LIBRARY = re.compile(r"\.so(\.|$)")
INTERPRETER = re.compile(r"^(_?Py|python3|libpython)|lib-dynload|\[interpreter\]")
STARTS = {"Py_RunMain", "Py_BytesMain", "__libc_start_main", "main"}


def repeat(seconds: float, call) -> None:
    until = time.thread_time() + seconds
    while (left := until - time.thread_time()) > 0:  # see PRELUDE in program.py
        end = time.monotonic() + left
        while time.monotonic() < end:
            call()


def compressing(data: bytes) -> None:
    repeat(0.3, lambda: zlib.compress(data, 9))


def parsing(text: str) -> None:
    repeat(0.3, lambda: json.loads(text))


def hashing(data: bytes) -> None:
    repeat(0.3, lambda: hashlib.sha256(data).digest())


def sorting(items: list) -> None:
    repeat(0.3, lambda: sorted(items))


def comparing(one: list, other: list) -> None:
    repeat(0.3, lambda: one == other)


class NativeFramesTest(RecordingCase):
    def below(self, samples: list, function: str, native: str, share: float = 1.0) -> None:
        """Assert that at least this share of the samples of `function` has, inside the
        function's frame, a native frame with a name that matches the expression
        `native`."""
        inside = found = 0
        for sample in samples:
            names = sample.functions
            if function not in names:
                continue
            inside += sample.value
            at = names.index(function)
            if any(re.search(native, name) for name in names[:at]):
                found += sample.value
        self.assertGreater(inside, 0, function)
        true = share * inside / 1e9
        self.assertGreaterEqual(found / 1e9, true - noise.of_time(true, inside / 1e9, self.tick_s),
                                [s.functions[:8] for s in samples[:5]])

    def in_order(self, samples: list) -> None:
        """Assert that stacks of the program have no frame of the interpreter, that the outermost
        frame is a Python frame, and that no two adjacent frames are of the same library."""
        for sample in samples:
            if any(f.file in PYTHON for f in sample.stack):
                self.assertFalse([f for f in sample.stack if INTERPRETER.search(f.function) or INTERPRETER.search(f.file)],
                                 sample.functions)
                self.assertTrue(sample.stack[-1].file, sample.functions)
            self.assertFalse([n for n in sample.functions if "+0x" in n], sample.functions)
            self.assertFalse([a for a, b in zip(sample.functions, sample.functions[1:])
                              if a == b and LIBRARY.search(a)], sample.functions)

    def test_zlib(self) -> None:
        samples = self.record(lambda: compressing(bytes(range(256)) * 2000))
        self.below(samples, "compressing", "deflate")
        self.in_order(samples)

    def test_all_native_frames_by_option(self) -> None:
        samples = [s for s in self.record(lambda: compressing(bytes(range(256)) * 2000), native_frames="all")
                   if s.runs("compressing")]
        self.below(samples, "compressing", "deflate")
        for sample in samples:
            python = [i for i, f in enumerate(sample.stack) if f.file in PYTHON]
            starts = [i for i, n in enumerate(sample.functions) if n in STARTS]
            self.assertTrue(starts, sample.functions)
            self.assertLess(max(python), min(starts), sample.functions)

    def test_native_frames_do_not_change_the_total_cpu_time(self) -> None:
        for native_frames in ("none", "libraries", "all"):
            samples = self.record(lambda: compressing(bytes(range(256)) * 2000), native_frames=native_frames)
            self.one(samples, "compressing")

    def test_time_of_the_standard_library_s_c_code_belongs_to_its_python_caller(self) -> None:
        """The module _json is a file in some builds, and a part of the interpreter in others."""
        text = json.dumps({str(i): [i, {"a": "b" * 20}] for i in range(2000)})
        samples = self.record(lambda: parsing(text))
        self.below(samples, "parsing", "raw_decode", 0.7)
        self.in_order(samples)

    def test_ssl(self) -> None:
        samples = self.record(lambda: hashing(b"x" * 10**6))
        self.below(samples, "hashing", "(?i)sha|crypto|EVP")
        self.in_order(samples)

    def test_time_of_the_interpreter_belongs_to_its_python_caller(self) -> None:
        """The comparison of lists is an operator, so it has no frame of its own."""
        one, other = ([[i] for i in range(20000)] for _ in range(2))
        samples = self.record(lambda: comparing(one, other))
        own = [s for s in samples if "comparing" in s.functions]
        self.assert_cpu(self.cpu_s([s for s in own if s.stack[0].file in PYTHON]), self.cpu_s(own), "in Python frames")
        self.in_order(samples)

    def test_all_native_frames_show_the_interpreter(self) -> None:
        items = [(i * 7919) % 10007 for i in range(20000)]
        samples = self.record(lambda: sorting(items), native_frames="all")
        self.below(samples, "sorting", "list|sort|python")

    @unittest.skipIf(numpy is None, "numpy is not installed for this Python")
    def test_numpy(self) -> None:
        def multiplying() -> None:
            matrix = numpy.random.default_rng(1).random((300, 300))
            repeat(0.3, lambda: matrix @ matrix)

        samples = self.record(multiplying)
        own = [s for s in samples if any(f.function.endswith("multiplying") for f in s.stack)]
        name = next(f.function for s in own for f in s.stack if f.function.endswith("multiplying"))
        self.below(own, name, "(?i)gemm|blas|multiarray|umath")
        self.in_order(samples)

    def test_python_c_and_python_frames_are_in_calling_order(self) -> None:
        def back(depth: int) -> int:
            if depth:
                return sorted([depth - 1], key=back)[0]
            repeat(0.3, lambda: zlib.compress(bytes(10**5)))
            return 0

        samples = [s for s in self.record(lambda: back(3), native_frames="all") if self.places(s, "back")]
        wrong = [s for s in samples if not self.called_from_c(s)]
        self.assert_cpu(self.cpu_s([s for s in samples if s not in wrong]), self.cpu_s(samples),
                        str([s.functions for s in wrong[:3]]))

    @staticmethod
    def places(sample: profile_reader.Sample, function: str) -> list[int]:
        return [i for i, name in enumerate(sample.functions) if name.rpartition(".")[2] == function]

    def called_from_c(self, sample: profile_reader.Sample) -> bool:
        """Whether the stack has four frames of back(), and C frames between each two of
        them."""
        calls = self.places(sample, "back")
        return len(calls) == 4 and all(
            any(not frame.file.endswith(".py") for frame in sample.stack[inner + 1:outer])
            for inner, outer in zip(calls, calls[1:]))

    def test_without_native_frames_the_python_frames_stay(self) -> None:
        samples = self.record(lambda: compressing(bytes(range(256)) * 2000), native_frames="none")
        self.one(samples, "compressing")
        mixed = [s.functions for s in samples
                 if {f.file.endswith(".py") for f in s.stack} == {True, False}]
        self.assertFalse(mixed[:3])


if __name__ == "__main__":
    unittest.main()
