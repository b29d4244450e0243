"""Python code calls C functions, which call Python code, many levels deep. So the stack alternates
between frames of the interpreter's eval loop and frames of C functions."""
import functools
import json
import re
import threading

import stress


class Item:
    def __init__(self, value: int) -> None:
        self.value = value

    def __lt__(self, other: "Item") -> bool:
        return self.value < other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Item) and self.value == other.value


def key(item: Item) -> int:
    return -item.value


def replaced(match: "re.Match[str]") -> str:
    return str(len(sorted([Item(3), Item(1)])))


def hooked(pairs: list) -> dict:
    return dict(map(lambda pair: pair, pairs))


def deep(depth: int) -> int:
    if depth == 0:
        return len({Item(1), Item(1)})
    return max(map(deep, [depth - 1]))


def once() -> None:
    items = [Item(i * 7 % 31) for i in range(40)]
    items.sort()
    items.sort(key=key)
    functools.reduce(lambda a, b: a if a < b else b, items)
    re.sub("a", replaced, "banana" * 5)
    json.loads('{"a": {"b": [1, {"c": 2}]}}', object_pairs_hook=hooked)
    stress.check(deep(20) == 1, "a set of equal items")


def call(counts: list) -> None:
    for count in stress.until_over():
        once()
    counts.append(count)


def work() -> str:
    counts: list = []
    threads = [threading.Thread(target=call, args=(counts,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return f"{sum(counts)} rounds"


def inspect(samples: list) -> str:
    seen = 0
    for sample in samples:
        names = [f.function for f in sample.stack if f.file == __file__]
        for inner, outer in zip(names, names[1:]):
            if inner == "deep":
                seen += 1
                stress.check(outer in ("deep", "once"), f"{outer} calls deep")
            if inner == "once":
                stress.check(outer == "call", f"{outer} calls once")
    stress.check(seen > 0, "deep() was not seen")
    return f"{seen} calls through C right"


stress.run(work, inspect=inspect)
