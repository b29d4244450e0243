"""Spans of asyncio: tasks that share a thread carry their own spans."""

from __future__ import annotations

import sys
import unittest

from attribution import AttributionCase


class AsyncioTest(AttributionCase):
    def test_forty_tasks_on_two_loops(self) -> None:
        self.assert_right(self.judged("""
import asyncio, threading

async def one(tracer, name):
    with tracer.start_as_current_span(name):
        for _ in range(60):
            burn(name, 0.001)
            await asyncio.sleep(0)

async def twenty(tracer, prefix):
    await asyncio.gather(*(one(tracer, f"{prefix}{i}") for i in range(20)))

with profiled() as tracer:
    threads = [threading.Thread(target=asyncio.run, args=(twenty(tracer, p),)) for p in "ab"]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""))

    def test_requests_with_child_tasks_and_spans(self) -> None:
        self.assert_right(self.judged("""
import asyncio

async def child(tracer, name):
    with tracer.start_as_current_span(name):
        burn(name, 0.002)
        await asyncio.sleep(0.001)
        burn(name, 0.002)

async def worker(tracer, i):
    for _ in range(10):
        with tracer.start_as_current_span(f"request{i}"):
            burn(f"request{i}", 0.002)
            await asyncio.gather(child(tracer, f"query{i}"),
                                 asyncio.create_task(child(tracer, f"render{i}")))
            burn(f"request{i}", 0.002)

async def main(tracer):
    await asyncio.gather(*(worker(tracer, i) for i in range(20)))

with profiled() as tracer:
    asyncio.run(main(tracer))
"""))

    def test_tasks_and_callbacks_inherit_the_span(self) -> None:
        self.assert_right(self.judged("""
import asyncio

async def quiet(name):
    await asyncio.sleep(0.001)
    burn(name, 0.1)

async def one(tracer, name):
    with tracer.start_as_current_span(name):
        loop, called = asyncio.get_running_loop(), asyncio.Event()
        def call():
            burn(name, 0.1)
            called.set()
        loop.call_soon(call)
        await asyncio.create_task(quiet(name))
        await asyncio.wait_for(quiet(name), 10)
        await asyncio.shield(quiet(name))
        await called.wait()

async def main(tracer):
    await asyncio.gather(*(one(tracer, f"span{i}") for i in range(4)))

with profiled() as tracer:
    asyncio.run(main(tracer), debug=True)
"""))

    @unittest.skipIf(sys.version_info < (3, 11), "TaskGroup came with 3.11")
    def test_task_groups(self) -> None:
        self.assert_right(self.judged("""
import asyncio

async def part(tracer, name):
    with tracer.start_as_current_span(name):
        for _ in range(20):
            burn(name, 0.002)
            await asyncio.sleep(0)

async def main(tracer):
    with tracer.start_as_current_span("group"):
        async with asyncio.TaskGroup() as group:
            for i in range(10):
                group.create_task(part(tracer, f"part{i}"))
            burn("group", 0.2)
        burn("group", 0.2)

with profiled() as tracer:
    asyncio.run(main(tracer))
"""))

    @unittest.skipIf(sys.version_info < (3, 12), "eager tasks came with 3.12")
    def test_eager_tasks(self) -> None:
        self.assert_right(self.judged("""
import asyncio

async def part(tracer, name):
    with tracer.start_as_current_span(name):
        for _ in range(20):
            burn(name, 0.002)
            await asyncio.sleep(0)

async def main(tracer):
    asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
    with tracer.start_as_current_span("outer"):
        tasks = [asyncio.create_task(part(tracer, f"part{i}")) for i in range(10)]
        burn("outer", 0.2)
        await asyncio.gather(*tasks)
        burn("outer", 0.2)

with profiled() as tracer:
    asyncio.run(main(tracer))
"""))

    def test_an_asynchronous_generator_has_the_span_of_its_context(self) -> None:
        # An asynchronous generator runs in the context of its consumer. So a span that
        # is active at a yield is also active in the consumer.
        self.assert_right(self.judged("""
import asyncio
from opentelemetry import trace

async def rows(tracer):
    with tracer.start_as_current_span("rows"):
        for _ in range(50):
            burn("rows", 0.002)
            yield trace.get_current_span().name

async def main(tracer):
    with tracer.start_as_current_span("consumer"):
        async for name in rows(tracer):
            burn(trace.get_current_span().name, 0.002)
        assert trace.get_current_span().name == "consumer"
        burn("consumer", 0.2)
        left = rows(tracer)
        await left.__anext__()
        await asyncio.create_task(left.aclose())
        burn(trace.get_current_span().name, 0.2)

with profiled() as tracer:
    asyncio.run(main(tracer))
"""))


if __name__ == "__main__":
    unittest.main()
