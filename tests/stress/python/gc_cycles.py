"""The garbage collector frees cycles of functions, frames and code, while samples are taken in the
collector and in its callbacks."""
import gc
import threading
import weakref

import stress


class Node:
    def __init__(self, number: int) -> None:
        file, source = stress.source_of(number)
        self.names: dict = {"node": self}
        exec(compile(source, file, "exec"), self.names)
        self.call = self.names[f"outer_{number}"]
        self.me = self

    def __del__(self) -> None:
        self.call(1)


def noticed(reference: object) -> None:
    sum(range(10))


def cycle(counts: list, first: int) -> None:
    number = first
    for _ in stress.until_over():
        nodes = [Node(number + i) for i in range(5)]
        references = [weakref.ref(node, noticed) for node in nodes]
        for node in nodes:
            node.call(2)
        del nodes, node
        gc.collect(number % 3)
        del references
        number += 5
    counts.append((number - first) // 5)


def work() -> str:
    counts: list = []
    threads = [threading.Thread(target=cycle, args=(counts, i * 10**6)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return f"{sum(counts)} collections"


def inspect(samples: list) -> str:
    return f"{stress.check_marked(samples)} frames of collected code right"


stress.run(work, inspect=inspect)
