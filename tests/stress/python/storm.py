"""Everything together: freed code, generators, deep recursion, calls through C, cycles, contexts,
short threads and commands. The stack of each running thread is walked some thousand times a second.
Once a second the program forks, and the stacks of the child are walked as well."""
import contextvars
import gc
import os
import subprocess
import sys
import threading
import time

import spanprof
import stress

CHILD_SECONDS = 0.2


def codes(round_: int) -> None:
    for number in range(round_ * 5, round_ * 5 + 5):
        file, source = stress.source_of(number)
        names: dict = {}
        exec(compile(source, file, "exec"), names)
        for i in range(10):
            names[f"outer_{number}"](i)


def chain(depth: int, n: int):
    if depth:
        yield from chain(depth - 1, n)
        return
    for i in range(n):
        try:
            yield i
        except ValueError:
            yield -1


def generators(round_: int) -> None:
    one = chain(8, 50)
    next(one)
    for _ in range(10):
        one.throw(ValueError())
        next(one)
    one.close()
    stress.check(sum(chain(5, 40)) == 780, "a generator's sum")


def down(depth: int) -> int:
    return down(depth - 1) + 1 if depth else 0


def recursion(round_: int) -> None:
    stress.check(down(300 + round_ % 100) == 300 + round_ % 100, "recursion")


def through(depth: int) -> int:
    return max(map(through, [depth - 1])) if depth else 0


def callbacks(round_: int) -> None:
    through(20)
    sorted(range(200), key=lambda number: -number)


def cycles(round_: int) -> None:
    for number in range(10):
        names: dict = {"number": number}
        names["names"] = names
    if round_ % 20 == 0:
        gc.collect(round_ % 3)


def labelled(round_: int) -> None:
    with spanprof.label(number=str(round_ % 7)):
        sum(range(500))


def contexts(round_: int) -> None:
    contextvars.copy_context().run(labelled, round_)
    contextvars.Context().run(labelled, round_)


def threads(round_: int) -> None:
    several = [threading.Thread(target=callbacks, args=(round_,)) for _ in range(3)]
    for thread in several:
        thread.start()
    for thread in several:
        thread.join()


KINDS = (codes, generators, recursion, callbacks, cycles, contexts, threads)


def child() -> None:
    with stress.walked():
        end = time.monotonic() + CHILD_SECONDS
        count = 0
        while time.monotonic() < end:
            for kind in KINDS:
                kind(count)
            count += 1


def fork_once() -> None:
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            child()
            status = 0
        finally:
            os._exit(status)
    status = stress.reap(pid)
    stress.check(status == 0, f"a child ended with {status}")
    subprocess.run(["true"], check=True)


def repeat(kind, failures: list) -> None:
    try:
        for count in stress.until_over():
            kind(count)
    except stress.Failure as failure:
        failures.append(failure)


def work() -> str:
    failures: list = []
    several = [threading.Thread(target=repeat, args=(kind, failures)) for kind in KINDS]
    for thread in several:
        thread.start()
    forks = 0
    try:
        with stress.walked():
            for forks in stress.until_over():
                time.sleep(1)
                fork_once()
    finally:
        for thread in several:
            thread.join()
    for failure in failures:
        raise failure
    return f"{forks} forks"


CALLERS = {
    "down": {"down", "recursion"}, "through": {"through", "callbacks"},
    "chain": {"chain", "generators"}, "recursion": {"repeat", "child"},
    "generators": {"repeat", "child"}, "codes": {"repeat", "child"},
    "cycles": {"repeat", "child"}, "contexts": {"repeat", "child"},
}


def inspect(samples: list) -> str:
    for sample in samples:
        names = [frame.function for frame in sample.stack if frame.file == __file__]
        for inner, outer in zip(names, names[1:]):
            stress.check(outer in CALLERS.get(inner, {outer}), f"{outer} calls {inner}: {names}")
    return f"{stress.check_marked(samples)} frames of dying code right"


sys.setswitchinterval(0.0005)
stress.run(work, wall_hz=0, inspect=inspect)
