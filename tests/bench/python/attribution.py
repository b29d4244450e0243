"""Checks whether CPU time is charged to the right span. Each case is one kind of concurrency, in
its own process. `attribution.py CASE SECONDS` runs one case and prints the result as JSON."""
from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import json
import random
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from opentelemetry import trace
from workload import Truth, profiled

Work = Callable[[trace.Tracer, Truth, float], None]
CASES: dict[str, tuple[Work, dict[str, object]]] = {}


def case(**rules: object) -> Callable[[Work], Work]:
    def add(work: Work) -> Work:
        CASES[work.__name__] = (work, rules)
        return work
    return add


def on_threads(run: Callable[[int], None], count: int) -> None:
    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def span_of(tracer: trace.Tracer, truth: Truth, key: str, **options: object):
    """Returns a context manager that starts a span and records its id."""
    manager = tracer.start_as_current_span(key, **options)

    class Known:
        def __enter__(self):
            span = manager.__enter__()
            truth.know(span, key)
            return span

        def __exit__(self, *error):
            return manager.__exit__(*error)

    return Known()


@case()
def tasks(tracer, truth, seconds):
    """40 asyncio tasks on 2 loops, one span each."""
    async def one(key, share):
        burn = truth.burner(key)
        with span_of(tracer, truth, key):
            for _ in range(max(int(share / 0.002), 1)):
                burn(0.002)
                await asyncio.sleep(0)

    async def all_of(loop):
        await asyncio.gather(*(one(f"{loop}_{n}", seconds / 40 * (0.5 + n / 20)) for n in range(20)))

    on_threads(lambda number: asyncio.run(all_of(number)), 2)


@case()
def requests(tracer, truth, seconds):
    """20 asyncio workers whose child tasks have their own spans."""
    async def child(key, share):
        burn = truth.burner(key)
        with span_of(tracer, truth, key):
            for _ in range(max(int(share / 0.002), 1)):
                burn(0.002)
                await asyncio.sleep(0.001)

    async def worker(n):
        burn = truth.burner(f"w{n}")
        for turn in range(4):
            with span_of(tracer, truth, f"w{n}"):
                burn(seconds / 400)
                await asyncio.gather(child(f"w{n}a", seconds / 400), child(f"w{n}b", seconds / 400))
                burn(seconds / 400)
                await asyncio.sleep(0)

    async def all_of():
        await asyncio.gather(*(worker(n) for n in range(20)))

    asyncio.run(all_of())


@case()
def greenlets(tracer, truth, seconds):
    """40 greenlets that switch while their spans are open."""
    import greenlet

    ready: list = []

    def one(n):
        key = f"g{n}"
        burn = truth.burner(key)
        with span_of(tracer, truth, key):
            for _ in range(max(int(seconds / 40 / 0.002), 1)):
                burn(0.002)
                hub.switch()

    hub = greenlet.getcurrent()
    for n in range(40):
        worker = greenlet.greenlet(one)
        worker.gr_context = contextvars.copy_context()
        ready.append((worker, n))
    started = set()
    while ready:
        worker, n = ready.pop(0)
        worker.switch(*(() if n in started else (n,)))
        started.add(n)
        if not worker.dead:
            ready.append((worker, n))


@case()
def threads(tracer, truth, seconds):
    """8 threads, each with spans."""
    def one(n):
        burn = truth.burner(f"t{n}")
        for _ in range(5):
            with span_of(tracer, truth, f"t{n}"):
                burn(seconds / 40)

    on_threads(one, 8)


def nested_spans(tracer, truth, seconds, known):
    outer, middle, inner = (truth.burner(key) for key in ("outer", "middle", "inner"))
    for _ in range(max(int(seconds / 0.06), 1)):
        with span_of(tracer, truth, known("outer")):
            outer(0.01)
            with span_of(tracer, truth, known("middle")):
                middle(0.01)
                with span_of(tracer, truth, known("inner")):
                    inner(0.02)
                middle(0.01)
            outer(0.01)


@case()
def nested(tracer, truth, seconds):
    """Spans nested in three levels."""
    nested_spans(tracer, truth, seconds, lambda key: key)


@case(root_span_only=True)
def nested_root(tracer, truth, seconds):
    """Spans nested in three levels. CPU time without the label of the root span is lost."""
    nested_spans(tracer, truth, seconds, lambda key: key)


@case()
def renamed(tracer, truth, seconds):
    """Spans that are renamed half-way, and finished on another thread."""
    with ThreadPoolExecutor(1) as pool:
        for n in range(20):
            burn = truth.burner(f"r{n}")
            span = tracer.start_span("before")
            truth.know(span, f"r{n}")
            with trace.use_span(span, end_on_exit=False):
                burn(seconds / 40)
                span.update_name(f"r{n}")
                burn(seconds / 40)
            pool.submit(span.end).result()


@case()
def leaked(tracer, truth, seconds):
    """Spans that are never finished, and contexts that are never detached."""
    from opentelemetry import context

    def one(n):
        context.attach(trace.set_span_in_context(tracer.start_span("leak")))
        burn = truth.burner(f"l{n}")
        with span_of(tracer, truth, f"l{n}"):
            burn(seconds / 10)

    for n in range(10):
        thread = threading.Thread(target=one, args=(n,))
        thread.start()
        thread.join()


@case()
def to_thread(tracer, truth, seconds):
    """Work in asyncio.to_thread(), which copies the context."""
    async def one(n):
        burn = truth.burner(f"x{n}")
        with span_of(tracer, truth, f"x{n}"):
            for _ in range(5):
                await asyncio.to_thread(burn, seconds / 50)

    async def all_of():
        await asyncio.gather(*(one(n) for n in range(10)))

    asyncio.run(all_of())


@case()
def executor(tracer, truth, seconds):
    """Work in run_in_executor(), with a copied context."""
    async def one(n):
        burn = truth.burner(f"e{n}")
        loop = asyncio.get_running_loop()
        with span_of(tracer, truth, f"e{n}"):
            for _ in range(5):
                await loop.run_in_executor(None, contextvars.copy_context().run, burn, seconds / 50)

    async def all_of():
        await asyncio.gather(*(one(n) for n in range(10)))

    asyncio.run(all_of())


@case()
def pool(tracer, truth, seconds):
    """Work on a thread pool, with copied contexts."""
    with ThreadPoolExecutor(4) as workers:
        for n in range(10):
            burn = truth.burner(f"p{n}")
            with span_of(tracer, truth, f"p{n}"):
                jobs = [workers.submit(contextvars.copy_context().run, burn, seconds / 50) for _ in range(5)]
                for job in jobs:
                    job.result()


def bursts(tracer, truth, seconds, lengths):
    def one(n):
        keys = [f"b{n}{which}" for which in "abc"]
        burners = [truth.burner(key) for key in keys]
        until = time.thread_time() + seconds / 2
        while time.thread_time() < until:
            for key, burn, length in zip(keys, burners, lengths):
                with span_of(tracer, truth, key):
                    burn(length)
                with tracer.start_as_current_span("asleep"):
                    time.sleep(0.007)

    on_threads(one, 2)


@case()
def equal_bursts(tracer, truth, seconds):
    """Bursts of 3 ms of CPU time, with a sleep in another span after each."""
    bursts(tracer, truth, seconds, (0.003, 0.003, 0.003))


@case()
def unequal_bursts(tracer, truth, seconds):
    """Bursts of 3 and of 1 ms. The kernel's tick favours the longer ones."""
    bursts(tracer, truth, seconds, (0.003, 0.001, 0.003))


@case()
def short_spans(tracer, truth, seconds):
    """Spans of 2 to 5 ms, one after the other."""
    source = random.Random(7)
    burners = {f"s{n}": truth.burner(f"s{n}") for n in range(6)}
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        key = source.choice(list(burners))
        with span_of(tracer, truth, key):
            burners[key](source.uniform(0.002, 0.005))


def main() -> None:
    name, seconds = sys.argv[1], float(sys.argv[2])
    work, rules = CASES[name]
    verdict = profiled(lambda tracer, truth: work(tracer, truth, seconds), **rules)
    print(json.dumps(dataclasses.asdict(verdict)))


if __name__ == "__main__":
    main()
