"""Spans of asyncio on uvloop, which switches between tasks and callbacks in C code."""

from __future__ import annotations

import unittest

from attribution import AttributionCase
from program import importable


@unittest.skipUnless(importable("uvloop"), "uvloop is not installed here")
class UvloopTest(AttributionCase):
    def test_tasks_callbacks_and_executors(self) -> None:
        self.assert_right(self.judged("""
import asyncio, uvloop

async def one(tracer, name):
    loop = asyncio.get_running_loop()
    with tracer.start_as_current_span(name):
        for _ in range(20):
            burn(name, 0.001)
            await asyncio.sleep(0)
        called = loop.create_future()
        loop.call_later(0.001, lambda: (burn(name, 0.01), called.set_result(None)))
        await called
        await asyncio.to_thread(burn, name, 0.01)

async def main(tracer):
    assert isinstance(asyncio.get_running_loop(), uvloop.Loop)
    await asyncio.gather(*(one(tracer, f"span{i}") for i in range(20)))

with profiled() as tracer:
    uvloop.install()
    asyncio.run(main(tracer))
"""))


if __name__ == "__main__":
    unittest.main()
