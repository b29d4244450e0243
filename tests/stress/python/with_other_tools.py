"""Other tools that inspect the program at the same time: coverage's trace function, asyncio in
debug mode, and a signal handler that lets faulthandler print every thread. The watchdog of
faulthandler is not used. It reads the frames of running threads, which crashes CPython 3.13 even
without spanprof."""
import asyncio
import faulthandler
import importlib.util
import logging
import os
import signal
import sys
import threading

import spanprof
import stress

if not importlib.util.find_spec("coverage"):
    print("coverage is not installed here")
    sys.exit(77)

import coverage  # noqa: E402


async def burn_in(number: int) -> None:
    file, source = stress.source_of(number)
    names: dict = {}
    exec(compile(source, file, "exec"), names)
    for _ in range(20):
        names[f"outer_{number}"](1)
    await asyncio.sleep(0)
    names[f"outer_{number}"](1)


async def task(number: int) -> None:
    with spanprof.label(number=str(number)):
        await burn_in(number)


async def loop(counts: list, first: int) -> None:
    for count in stress.until_over():
        await asyncio.gather(*(task(first + i) for i in range(10)))
    counts.append(count)


def run_loop(counts: list, first: int) -> None:
    asyncio.run(loop(counts, first), debug=True)


def work() -> str:
    # Hide the warnings about slow tasks, which asyncio logs in debug mode.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    counts: list = []
    signals: list = []
    tracing = coverage.Coverage(data_file=None, config_file=False, include=[__file__])
    tracing.start()
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        def look(number: int, frame: object) -> None:
            faulthandler.dump_traceback(nowhere)
            signals.append(number)

        before = signal.signal(signal.SIGALRM, look)
        threads = [threading.Thread(target=run_loop, args=(counts, first)) for first in (100, 200)]
        for thread in threads:
            thread.start()
        run_loop(counts, 300)
        for thread in threads:
            thread.join()
        signal.signal(signal.SIGALRM, before)
    tracing.stop()
    lines = tracing.get_data().lines(__file__) or []
    stress.check(burn_in.__code__.co_firstlineno + 1 in lines, "coverage saw nothing")
    stress.check(bool(signals), "no signal came through")
    return f"{sum(counts)} rounds, {len(signals)} signals"


def inspect(samples: list) -> str:
    for sample in samples:
        if sample.runs("burn_in"):
            stress.check("number" in sample.labels, "a task without its label")
            for frame in sample.stack:
                match = stress.MARKED.search(frame.function)
                stress.check(not match or match[1] == sample.labels["number"],
                             f"{frame.function} under label {sample.labels['number']}")
    return f"{stress.check_marked(samples)} frames of labelled tasks right"


stress.run(work, inspect=inspect)
