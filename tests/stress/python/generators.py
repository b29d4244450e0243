"""Generators and coroutines are resumed, thrown into, closed and dropped while they are sampled;
their frames are on the heap and not in the thread's stack of frames."""
import asyncio
import logging
import threading

import stress


def count_to(n: int):
    for i in range(n):
        try:
            yield i
        except ValueError:
            yield -1


def chain(depth: int, n: int):
    if depth == 0:
        yield from count_to(n)
    else:
        yield from chain(depth - 1, n)


async def nest(depth: int) -> int:
    if depth == 0:
        await asyncio.sleep(0)
        return sum(i for i in count_to(20))
    return await nest(depth - 1) + 1


async def stream(n: int):
    for i in range(n):
        await asyncio.sleep(0)
        yield i


async def consume() -> int:
    total = 0
    async for i in stream(10):
        total += i
    return total


async def tasks() -> None:
    await asyncio.gather(*(nest(i % 12) for i in range(20)), consume())


def throw_about() -> int:
    total = 0
    for _ in range(20):
        generator = chain(8, 50)
        next(generator)
        for i in range(10):
            total += generator.throw(ValueError())
            total += next(generator)
        generator.close()
        dropped = chain(3, 5)
        next(dropped)
    return total


def generate(counts: list) -> None:
    for count in stress.until_over():
        throw_about()
        stress.check(sum(chain(10, 100)) == 4950, "a generator's sum")
    counts.append(count)


def loop(counts: list) -> None:
    for count in stress.until_over():
        asyncio.run(tasks(), debug=count % 2 == 0)
    counts.append(count)


def work() -> str:
    # Hide the warnings about slow tasks, which asyncio logs in debug mode.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    counts: list = []
    threads = [threading.Thread(target=target, args=(counts,))
               for target in (generate, generate, loop, loop)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return f"{sum(counts)} rounds"


def inspect(samples: list) -> str:
    seen = 0
    for sample in samples:
        names = [frame.function for frame in sample.stack]
        for inner, outer in zip(names, names[1:]):
            if inner == "count_to" and outer == "chain":
                seen += 1
            if inner == "chain":
                stress.check(outer not in ("nest", "count_to", "stream"),
                             f"{outer} resumes {inner}")
    stress.check(seen > 0, "no generator in another")
    return f"{seen} stacks of nested generators"


stress.run(work, inspect=inspect)
