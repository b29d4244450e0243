"""Recursion repeatedly crosses the ends of the chunks in which CPython allocates the frames of a
thread."""
import sys
import threading

import stress

DEPTH = 1500


def down(depth: int) -> int:
    if depth == 0:
        return 0
    return down(depth - 1) + 1


def wide(depth: int, *arguments: int, **named: int) -> int:
    a = b = c = d = e = f = depth
    if depth == 0:
        return a
    return wide(depth - 1, a, b, c, d, e, f, a=a, b=b, c=c) + 1


def edge(depth: int) -> int:
    """Recurse almost to the end of a chunk of CPython's frame stack, and then make calls that each
    map a new chunk and free it."""
    if depth == 0:
        for _ in range(50):
            wide(3)
        return 0
    return edge(depth - 1)


def recurse(counts: list) -> None:
    for count in stress.until_over():
        stress.check(down(DEPTH) == DEPTH, "recursion")
        wide(300)
        edge(count % 120)
    counts.append(count)


def work() -> str:
    sys.setrecursionlimit(DEPTH * 3)
    threading.stack_size(64 * 1024 * 1024)
    counts: list = []
    threads = [threading.Thread(target=recurse, args=(counts,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    recurse(counts)
    for thread in threads:
        thread.join()
    return f"{sum(counts)} descents"


def inspect(samples: list) -> str:
    deepest = max(sum(frame.function == "down" for frame in s.stack) for s in samples)
    stress.check(deepest > 100, f"no deep stack: {deepest}")
    for sample in samples:
        names = [f.function for f in sample.stack
                 if f.function in ("down", "wide", "edge", "recurse")]
        for inner, outer in zip(names, names[1:]):
            stress.check(inner == outer or outer in ("recurse", "edge"),
                         f"{outer} calls {inner}")
    return f"{deepest} deep"


stress.run(work, inspect=inspect)
