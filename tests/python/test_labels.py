"""spanprof.label as a block and as a decorator, and the functions that set and remove a
label of a context."""

from __future__ import annotations

import asyncio
import inspect
import unittest

import spanprof
from attribution import AttributionCase, place
from spanprof import _native


class LabelTest(AttributionCase):
    def labels_by_place(self, source: str) -> dict[str | None, set[tuple[tuple[str, object], ...]]]:
        """Run a program. Return, for each function burn_NAME, the sets of labels of its
        samples."""
        self.run_source("from workload import burn, burner, profiled\nimport spanprof\n" + source)
        out: dict[str | None, set[tuple[tuple[str, object], ...]]] = {}
        for sample in self.samples():
            kept = tuple(sorted((k, v) for k, v in sample.labels.items()
                                if k not in ("profile_id",)))
            out.setdefault(place(sample), set()).add(kept)
        out.pop(None, None)
        return out

    def test_inner_blocks_hide_outer_labels_until_they_end(self) -> None:
        self.assertEqual(self.labels_by_place("""
with profiled():
    with spanprof.label(action="a", size=3):
        burn("outer", 0.1)
        with spanprof.label(action="b"):
            burn("inner", 0.1)
        burn("outer", 0.1)
    burn("none", 0.1)
    with spanprof.label(**{"http.route": "/x", "bad name": "y", "empty": ""}):
        burn("named", 0.1)
"""), {
            "outer": {(("action", "a"), ("size", "3"))},
            "inner": {(("action", "b"), ("size", "3"))},
            "none": {()},
            "named": {(("bad_name", "y"), ("http_route", "/x"))},
        })

    def test_labels_and_spans_do_not_disturb_each_other(self) -> None:
        self.assertEqual(self.labels_by_place("""
from opentelemetry import context, trace
with profiled() as tracer:
    with spanprof.label(k="v"):
        with tracer.start_as_current_span("one"):
            burn("both", 0.1)
        burn("label", 0.1)
        token = context.attach(trace.set_span_in_context(tracer.start_span("left")))
    burn("span", 0.1)           # the span attached in the block is still active
    with tracer.start_as_current_span("two"):
        with spanprof.label(k="w"):
            burn("within", 0.1)
        burn("span_two", 0.1)
    context.detach(token)
    burn("none", 0.1)
"""), {
            "both": {(("k", "v"), ("span_name", "one"))},
            "label": {(("k", "v"),)},
            "span": {(("span_name", "left"),)},
            "within": {(("ancestor:left", v), ("k", "w"), ("span_name", "two"))
                       for v in self.ancestors("left")},
            "span_two": {(("ancestor:left", v), ("span_name", "two"))
                         for v in self.ancestors("left")},
            "none": {()},
        })

    def ancestors(self, name: str) -> set[object]:
        return {s.labels[f"ancestor:{name}"] for s in self.samples()
                if f"ancestor:{name}" in s.labels}

    def test_tasks_carry_their_own_labels(self) -> None:
        self.assert_right(self.judged("""
import asyncio, spanprof

@spanprof.label(layer="task")
async def one(name):
    with spanprof.label(task=name):
        for _ in range(20):
            burn(name, 0.002)
            await asyncio.sleep(0)

async def main():
    await asyncio.gather(*(one(f"task{i}") for i in range(10)))

with profiled():
    asyncio.run(main())
""", "task"))

    def test_generators_are_labelled_while_they_run(self) -> None:
        self.assertEqual(self.labels_by_place("""
import asyncio

@spanprof.label(k="generator")
def numbers():
    for i in range(20):
        burn("generator", 0.01)
        yield i

@spanprof.label(k="agen")
async def anumbers():
    for i in range(20):
        burn("agen", 0.01)
        yield i
        await asyncio.sleep(0)

async def main():
    async for _ in anumbers():
        burn("consumer", 0.01)

with profiled():
    for _ in numbers():
        burn("consumer", 0.01)
    asyncio.run(main())
"""), {"generator": {(("k", "generator"),)}, "agen": {(("k", "agen"),)}, "consumer": {()}})

    def test_a_block_left_in_another_context_does_not_change_it(self) -> None:
        self.assertEqual(self.labels_by_place("""
import contextvars
with profiled():
    block = spanprof.label(k="v")
    elsewhere = contextvars.copy_context()
    elsewhere.run(block.__enter__)
    with spanprof.label(k="own"):
        block.__exit__(None, None, None)
        burn("own", 0.1)
    elsewhere.run(burn, "elsewhere", 0.1)
"""), {"own": {(("k", "own"),)}, "elsewhere": {(("k", "v"),)}})

    def test_one_object_can_be_used_in_many_places_at_the_same_time(self) -> None:
        self.assertEqual(self.labels_by_place("""
import asyncio, pyroscope, threading

def both(block, name):
    entered, left = threading.Barrier(2), threading.Barrier(2)
    def overlap(first):
        with block:
            entered.wait()
            burn(name, 0.1)
            if not first:
                left.wait()
        if first:
            left.wait()
        burn("after", 0.1)
    threads = [threading.Thread(target=overlap, args=(first,)) for first in (True, False)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

async def task(block, name):
    with block, block:
        await asyncio.sleep(0)
        burn(name, 0.05)
        await asyncio.sleep(0)
    burn(name, 0.05)  # still in the block around gather()

async def tasks(block, name):
    with block:
        await asyncio.gather(*(task(block, name) for _ in range(4)))
        burn(name, 0.05)
    burn("after", 0.1)

def generator(block, name):
    with block:
        burn(name, 0.1)
        yield
        burn(name, 0.1)
    yield

with profiled():
    for name, block in (("mine", spanprof.label(k="mine")),
                        ("theirs", pyroscope.tag_wrapper({"k": "theirs"}))):
        both(block, name)
        asyncio.run(tasks(block, name))
        first, second = generator(block, name), generator(block, name)
        for step in (first, second, first, second):
            next(step)
        burn("after", 0.1)
"""), {"mine": {(("k", "mine"),)}, "theirs": {(("k", "theirs"),)},
       "after": {()}})

    def test_blocks_left_out_of_order_leave_no_labels(self) -> None:
        self.assertEqual(self.labels_by_place("""
def generator(**labels):
    with spanprof.label(**labels):
        yield
    yield

with profiled():
    first, second = generator(a=1), generator(b=2)
    for step in (first, second, first, second):
        next(step)
    burn("none", 0.1)
"""), {"none": {()}})

    def test_blocks_within_each_other_end_with_their_context(self) -> None:
        done = self.run_source("""
import contextvars, spanprof
def enter():
    for _ in range(500000):
        spanprof.label(k="v").__enter__()
contextvars.copy_context().run(enter)
print("went on")
""")
        self.assertEqual(done.stdout, "went on\n")

    def test_tags_of_a_thread_can_be_set_and_removed(self) -> None:
        self.assertEqual(self.labels_by_place("""
from spanprof import _native
with profiled():
    for i in range(500):                     # more than SP_LABEL_DEPTH_MAX
        _native.label_set("k", f"v{i % 7}")
        _native.label_set("l", "w")
        _native.label_remove("k", f"v{i % 7}")
    burn("left", 0.1)
    _native.label_set("k", "new")
    _native.label_remove("k", "old")
    burn("kept", 0.1)
    _native.label_remove("k", "new")
    _native.label_remove("l", "w")
    burn("none", 0.1)
"""), {"left": {(("l", "w"),)}, "kept": {(("k", "new"), ("l", "w"))}, "none": {()}})

    def test_a_bad_label_is_left_out_and_logged(self) -> None:
        class Mute:
            def __str__(self) -> str:
                raise ValueError("no words")

        with self.assertLogs("spanprof", "WARNING") as logged:
            with spanprof.label(k=Mute(), other="\ud800"):
                ran = True
        self.assertTrue(ran)
        self.assertIn("no words", logged.output[0])

    def test_exceptions_that_end_the_program_propagate(self) -> None:
        class Last:
            def __str__(self) -> str:
                raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt), spanprof.label(k=Last()):
            self.fail("entered")


class DecoratorTest(unittest.TestCase):
    def test_decorated_functions_keep_their_kind(self) -> None:
        @spanprof.label(k="v")
        def plain(a: int, b: int = 2) -> int:
            """Doc."""
            return a + b

        @spanprof.label(k="v")
        async def routine() -> int:
            return 3

        @spanprof.label(k="v")
        def generator():  # type: ignore[no-untyped-def]
            got = yield 1
            try:
                yield got
            except KeyError:
                yield "caught"
            return "done"

        @spanprof.label(k="v")
        async def agenerator():  # type: ignore[no-untyped-def]
            got = yield 1
            yield got

        self.assertEqual((plain(1), plain(1, b=3), plain.__doc__), (3, 4, "Doc."))
        self.assertTrue(inspect.iscoroutinefunction(routine))
        self.assertEqual(asyncio.run(routine()), 3)
        self.assertTrue(inspect.isgeneratorfunction(generator))
        self.assertTrue(inspect.isasyncgenfunction(agenerator))
        steps = generator()
        self.assertEqual([next(steps), steps.send("sent"), steps.throw(KeyError())],
                         [1, "sent", "caught"])
        with self.assertRaises(StopIteration) as end:
            next(steps)
        self.assertEqual(end.exception.value, "done")

        async def drive() -> list[object]:
            asteps = agenerator()
            out = [await asteps.__anext__(), await asteps.asend("sent")]
            await asteps.aclose()
            return out

        self.assertEqual(asyncio.run(drive()), [1, "sent"])

    def test_exceptions_and_results_pass(self) -> None:
        @spanprof.label(k="v")
        def fail() -> None:
            raise LookupError("mine")

        with self.assertRaisesRegex(LookupError, "mine"):
            fail()
        with self.assertRaises(LookupError), spanprof.label(k="v"):
            raise LookupError

    def test_one_object_may_be_entered_again(self) -> None:
        block = spanprof.label(k="v")
        with block, block:
            pass
        with block:
            pass

    def test_native_functions_refuse_wrong_arguments(self) -> None:
        for call in (lambda: _native.label_push(3), lambda: _native.label_push(3, 3),
                     lambda: _native.label_push("3", {}), lambda: _native.label_pop("3"),
                     lambda: _native.label_set("k"), lambda: _native.label_remove()):
            self.assertRaises(TypeError, call)


if __name__ == "__main__":
    unittest.main()
