"""Threads start and end all the time. Some do so while other threads hold the GIL, and some while
they run C code."""
import hashlib
import threading
import zlib

import stress

BLOCK = b"spanprof" * 4096


def compress() -> None:
    zlib.compress(BLOCK, 6)


def digest() -> None:
    hashlib.sha256(BLOCK * 4).digest()


def count() -> None:
    sum(range(2000))


def short(target) -> None:
    local = threading.local()
    local.value = [target() for _ in range(3)]


def work() -> str:
    started = 0
    for _ in stress.until_over():
        threads = [threading.Thread(target=short, args=(target,))
                   for target in (compress, digest, count) * 4]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        started += len(threads)
    return f"{started} threads"


def inspect(samples: list) -> str:
    for sample in samples:
        names = [f.function for f in sample.stack if f.file == __file__]
        for inner, outer in zip(names, names[1:]):
            if inner in ("compress", "digest", "count"):
                stress.check(outer == "short" or "<listcomp>" in outer,
                             f"{outer} calls {inner}")
    return ""


stress.run(work, inspect=inspect)
