"""Spans in threads: a thread that runs in a copy of a context has its span; other
threads have none."""

from __future__ import annotations

import unittest

from attribution import AttributionCase


class ExecutorTest(AttributionCase):
    def test_eight_threads_with_their_own_spans(self) -> None:
        self.assert_right(self.judged("""
import threading

def work(tracer, name):
    for _ in range(10):
        with tracer.start_as_current_span(name):
            burn(name, 0.02)

with profiled() as tracer:
    threads = [threading.Thread(target=work, args=(tracer, f"thread{i}")) for i in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""))

    def test_to_thread_and_executors_with_a_copied_context(self) -> None:
        self.assert_right(self.judged("""
import asyncio, contextvars

async def one(tracer, name):
    loop = asyncio.get_running_loop()
    with tracer.start_as_current_span(name):
        await asyncio.to_thread(burn, name, 0.05)
        await loop.run_in_executor(None, contextvars.copy_context().run, burn, name, 0.05)
        await asyncio.to_thread(burn, name, 0.05)

async def main(tracer):
    await asyncio.gather(*(one(tracer, f"span{i}") for i in range(12)))

with profiled() as tracer:
    asyncio.run(main(tracer))
"""))

    def test_thread_pools_with_a_copied_context(self) -> None:
        self.assert_right(self.judged("""
import contextvars
from concurrent.futures import ThreadPoolExecutor

with profiled() as tracer, ThreadPoolExecutor(4) as pool:
    waiting = []
    for i in range(40):
        with tracer.start_as_current_span(f"span{i % 8}"):
            waiting.append(pool.submit(contextvars.copy_context().run,
                                       burn, f"span{i % 8}", 0.03))
    for future in waiting:
        future.result()
"""))

    def test_a_thread_without_a_context_has_no_span(self) -> None:
        self.run_source("""
            import threading
            from workload import burn, profiled

            with profiled() as tracer:
                with tracer.start_as_current_span("outer"):
                    thread = threading.Thread(target=burn, args=("alone", 0.5))
                    thread.start()
                    thread.join()
            """)
        alone = [s for s in self.samples() if s.runs("burn_alone")]
        self.assert_covered(sum(s.value for s in alone) / 1e9, 0.5)
        self.assertEqual([s.labels for s in alone if "span_name" in s.labels], [])

    def test_a_context_attached_on_another_thread(self) -> None:
        self.assert_right(self.judged("""
import threading
from opentelemetry import context, trace

def work(current, name):
    token = context.attach(current)
    burn(name, 0.2)
    context.detach(token)
    assert not trace.get_current_span().get_span_context().is_valid

with profiled() as tracer:
    for name in ("first", "second"):
        with tracer.start_as_current_span(name):
            thread = threading.Thread(target=work, args=(context.get_current(), name))
            thread.start()
            thread.join()
"""))

    def test_work_without_the_gil_carries_its_span(self) -> None:
        self.assert_right(self.judged("""
import hashlib, threading, time, workload

data = bytes(1 << 20)
scope = {"data": data, "sha": hashlib.sha256, "clock": time.thread_time_ns,
         "wall": time.monotonic_ns, "book": workload._book}
for name in ("left", "right"):
    exec(f'''
def burn_{name}(seconds):
    start = clock()
    while (left := start + seconds * 1e9 - clock()) > 0:
        end = wall() + left
        while wall() < end:
            sha(data)
    book("{name}", clock() - start)
''', scope)

def work(tracer, name):
    with tracer.start_as_current_span(name):
        scope["burn_" + name](0.6)

with profiled() as tracer:
    threads = [threading.Thread(target=work, args=(tracer, n)) for n in ("left", "right")]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""))


if __name__ == "__main__":
    unittest.main()
