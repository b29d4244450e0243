"""Stacks have the right functions, files and order, for all kinds of functions and
calls."""

from __future__ import annotations

import asyncio
import functools
import os
import sys
import unittest

import profile_reader
import spanprof
from program import ProgramCase
from recording import RecordingCase, burn

QUALIFIED = sys.version_info >= (3, 11)


class Nest:
    def __init__(self, seconds: float) -> None:
        self.method(seconds)

    def method(self, seconds: float) -> None:
        self.fixed(seconds)

    @staticmethod
    def fixed(seconds: float) -> None:
        burn(seconds)

    @property
    def got(self) -> float:
        burn(0.2)
        return 1.0

    def __enter__(self) -> Nest:
        burn(0.2)
        return self

    def __exit__(self, *unused: object) -> None:
        pass


def recurse(depth: int) -> None:
    if depth:
        recurse(depth - 1)
    else:
        burn(0.2)


def produce():
    burn(0.2)
    yield 1


def delegate():
    yield from produce()


async def inner() -> None:
    burn(0.2)


async def middle() -> None:
    await asyncio.sleep(0)
    await inner()


async def outer() -> None:
    await asyncio.gather(middle(), asyncio.sleep(0))


class FramesTest(RecordingCase):
    def chain(self, samples: list, *names: str) -> None:
        """Assert that the stacks of the samples begin with these functions, innermost
        first. Frames of other files are left out."""
        expected = tuple(name if QUALIFIED else name.rpartition(".")[2] for name in names)
        found = profile_reader.cpu_ns(samples, lambda sample: tuple(
            f.function for f in sample.stack
            if f.file in (__file__, burn.__code__.co_filename))[:len(expected)] == expected)
        self.assert_cpu(found / 1e9, self.cpu_s(samples), str([s.functions for s in samples[:3]]))

    def test_methods_called_through_a_class(self) -> None:
        samples = self.record(lambda: Nest(0.25))
        self.chain(samples, "burn", "Nest.fixed", "Nest.method", "Nest.__init__",
                   "FramesTest.test_methods_called_through_a_class.<locals>.<lambda>")
        self.assertFalse([s for s in samples if s.runs("<shim>")])

    def test_property_and_context_manager(self) -> None:
        nest = Nest(0)

        def work() -> None:
            with nest:
                pass

        self.chain(self.record(lambda: nest.got), "burn", "Nest.got")
        self.chain(self.record(work), "burn", "Nest.__enter__")

    def test_generators(self) -> None:
        samples = self.record(lambda: [x for x in delegate()])
        self.chain(samples, "burn", "produce", "delegate")

    def test_coroutines_and_tasks(self) -> None:
        samples = self.record(lambda: asyncio.run(outer()))
        self.chain(samples, "burn", "inner", "middle")
        for sample in samples:
            if sample.runs("inner"):
                self.assertTrue(any(name in ("Handle._run", "_run") for name in sample.functions))

    def test_async_generator(self) -> None:
        async def stream():
            for i in range(2):
                burn(0.15)
                yield i

        async def consume() -> int:
            return sum([i async for i in stream()])

        samples = self.record(lambda: asyncio.run(consume()))
        self.one(samples, "stream")
        self.one(samples, "consume")

    def test_recursion(self) -> None:
        samples = self.record(lambda: recurse(100))
        depths = {sample.functions.count("recurse") for sample in samples if sample.runs("burn")}
        self.assertEqual(depths, {101})

    def test_a_stack_that_is_too_deep_keeps_its_inner_frames_and_is_counted(self) -> None:
        before = sys.getrecursionlimit()
        self.addCleanup(sys.setrecursionlimit, before)
        sys.setrecursionlimit(3000)
        samples = self.record(lambda: recurse(2000))
        deepest = [s for s in samples if s.runs("burn")]
        self.assertTrue(deepest)
        for sample in deepest:
            self.assertGreater(sample.functions.count("recurse"), 300)
        self.assertGreater(self.stats["stacks_walk_cut"], 0)

    def test_deleted_code_keeps_its_name(self) -> None:
        def work() -> None:
            names = {"burn": burn}
            exec(compile("def gone():\n    burn(0.2)\n", "<gone>", "exec"), names)
            names.pop("gone")()

        frames = self.one(self.record(work), "gone")
        self.assertEqual({(f.file, f.start_line, f.line) for f in frames}, {("<gone>", 1, 2)})

    def test_a_reused_address_does_not_get_the_old_name(self) -> None:
        def work() -> None:
            for i in range(40):
                names = {"burn": burn}
                source = "\n" * i + f"def made_{i}():\n    burn(0.02)\n    return {i}\n"
                exec(compile(source, f"<made {i}>", "exec"), names)
                names[f"made_{i}"]()
                del names

        seen = set()
        for sample in self.record(work):
            for frame in sample.stack:
                if frame.function.startswith("made_"):
                    number = int(frame.function[5:])
                    seen.add(number)
                    self.assertEqual((frame.file, frame.start_line),
                                     (f"<made {number}>", number + 1))
                    self.assertIn(frame.line, (number + 2, number + 3))
        self.assertGreater(len(seen), 20)

    def test_same_name_in_another_file_at_the_same_address(self) -> None:
        numbers = range(40)

        def work() -> None:
            for i in numbers:
                names = {"burn": burn, f"mark_{i}": lambda: burn(0.02)}
                exec(compile(f"def same():\n    mark_{i}()\n", f"<file {i:04}>", "exec"), names)
                exec(compile(f"def mark_{i}():\n    burn(0.02)\n", f"<mark {i}>", "exec"), names)
                names["same"]()
                del names

        seen = set()
        for sample in self.record(work):
            files = [f.file for f in sample.stack if f.function == "same"]
            marks = [f.function for f in sample.stack if f.function.startswith("mark_")]
            if files and marks:
                number = int(marks[0][5:])
                seen.add(number)
                self.assertEqual(files, [f"<file {number:04}>"])
        self.assertGreater(len(seen), 20)

    def test_names_of_every_script_and_length(self) -> None:
        long = "x" * 2000
        cases = {"größe": "<datei ü>", "ж" * 40: "<файл>", "名前": "<ファイル>",
                 "Ωmega": "<\U0001f600>", long: "<" + "y" * 3000 + ">"}

        def work() -> None:
            for name, file in cases.items():
                names = {"burn": burn}
                exec(compile(f"def {name}():\n    burn(0.15)\n", file, "exec"), names)
                names[name]()

        found = {(f.function, f.file) for s in self.record(work) for f in s.stack}
        for name, file in cases.items():
            if name != long:
                self.assertIn((name, file), found)
        self.assertTrue(any(name.startswith("x" * 500) for name, _ in found))

    def test_a_file_name_that_is_not_unicode(self) -> None:
        def work() -> None:
            names = {"burn": burn}
            exec(compile("def odd():\n    burn(0.2)\n", "<\udcff>", "exec"), names)
            names["odd"]()

        self.one(self.record(work), "odd")

    def test_callbacks_from_c(self) -> None:
        def back(_: int) -> int:
            burn(0.1)
            return 0

        samples = self.record(lambda: functools.reduce(lambda a, b: back(b), sorted([2, 1], key=back)))
        self.one(samples, "back")

    def test_under_a_trace_function(self) -> None:
        calls = []

        def trace(frame, event, argument):
            calls.append(event)
            return trace

        def work() -> None:
            sys.settrace(trace)
            try:
                recurse(3)
            finally:
                sys.settrace(None)

        samples = self.record(work)
        self.one(samples, "recurse")
        self.assertIn("call", calls)

    def test_samples_of_known_code_need_no_memory(self) -> None:
        self.record(lambda: burn(0.3))
        before = spanprof._native.runtime_stats()["code_bytes"]
        self.record(lambda: burn(0.3))
        self.assertLess(spanprof._native.runtime_stats()["code_bytes"] - before, 16384)


class NameMemoryTest(ProgramCase):
    """These tests fill the memory for names of functions, so each runs in a separate
    process."""

    def test_code_outgrows_the_first_space(self) -> None:
        """4,000 functions, in stacks of 100, have more names than the first of the two
        memory spaces (py_space.h) can store. So the second space is used, and no name
        is lost."""
        self.run_source("""
            import spanprof, time
            from spanprof import _native
            assert spanprof.start()
            for chain in range(40):
                source = "".join(f"def c{chain}_{i}(): c{chain}_{i + 1}()\\n" for i in range(99))
                source += f"def c{chain}_99():\\n"
                source += "    while time.thread_time() < until: pass\\n"
                space = {"time": time, "until": time.thread_time() + 0.1}
                exec(compile(source, f"<chain {chain}>", "exec"), space)
                space[f"c{chain}_0"]()
            stats = _native.runtime_stats()
            assert stats["code_spaces_emptied"] == 1, stats
            assert stats["code_overflows"] == 0, stats
        """, SPANPROF_TEST_WALL_HZ="2000")
        seen = set()
        for sample in self.samples():
            chained = [(f.function, f.file) for f in sample.stack
                       if f.file.startswith("<chain ") and f.function != "<module>"]
            for function, file in chained:
                self.assertEqual(file, f"<chain {function[1:function.index('_')]}>")
            self.assertLessEqual(len({file for _, file in chained}), 1)
            seen.update(function for function, _ in chained)
        self.assertEqual(len(seen), 4000)

    def test_code_that_does_not_fit_is_counted(self) -> None:
        """The program has more large functions than the two memory spaces for names can
        store (py_space.h). The second space is full before five seconds have passed,
        after which the first may be emptied. Until then, new functions are shown as
        <overflow>; all others must keep their names."""
        self.run_source("""
            import spanprof, sys, types
            from spanprof import _native
            assert spanprof.start()
            body = "".join(f"    x = (x +\\n        {i})\\n" for i in range(1500))
            exec(f"def big(x):\\n{body}    return x\\n")
            count = 0
            while not _native.runtime_stats()["code_overflows"]:
                count += 1
                assert count < 20000, "no overflow"
                name = f"big_{count}"
                code = big.__code__.replace(co_name=name, co_filename=f"<big {count}>")
                if sys.version_info >= (3, 11):
                    code = code.replace(co_qualname=name)
                copy = types.FunctionType(code, {})
                for _ in range(20):
                    copy(1)
            for _ in range(2000):
                copy(1)
            assert _native.runtime_stats()["code_spaces_emptied"] > 0
        """, SPANPROF_TEST_WALL_HZ="10000")
        samples = self.samples()
        self.assertTrue([s for s in samples if s.runs("<overflow>")])
        for sample in samples:
            for frame in sample.stack:
                if frame.function.startswith("big_"):
                    self.assertEqual(frame.file, f"<big {frame.function[4:]}>")
            # Only the frame of the new function is shown as <overflow>; its callers
            # have names.
            if sample.runs("<overflow>") and sample.runs("PyEval_EvalCode"):
                self.assertTrue(sample.runs("<module>"), sample.functions)


if __name__ == "__main__":
    os.environ.pop("SPANPROF_TEST_WALL_HZ", None)
    unittest.main()
