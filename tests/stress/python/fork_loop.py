"""A program with busy threads forks ten times a second; each child works, is
profiled, and exits."""
import os
import sys
import threading
import time

import stress

over = threading.Event()


def busy() -> None:
    while not over.is_set():
        file, source = stress.source_of(7)
        names: dict = {}
        exec(compile(source, file, "exec"), names)
        names["outer_7"](1)


def child() -> int:
    end = time.thread_time() + 0.03
    total = 0
    while time.thread_time() < end:
        total += sum(i for i in range(100))
    return 0 if total else 1


def work() -> str:
    threads = [threading.Thread(target=busy) for _ in range(3)]
    for thread in threads:
        thread.start()
    forks = 0
    try:
        for _ in stress.until_over():
            pid = os.fork()
            if pid == 0:
                status = 70
                try:
                    status = child()
                finally:
                    os._exit(status)
            status = stress.reap(pid)
            stress.check(status == 0, f"a child ended with {status}")
            forks += 1
            time.sleep(0.1)
    finally:
        over.set()
        for thread in threads:
            thread.join()
    return f"{forks} forks"


def inspect(samples: list) -> str:
    stress.check_marked(samples)
    children = sum(s.value for s in samples if s.runs("child"))
    stress.check(children > 0, "no child was profiled")
    return f"{children / 1e9:.2f} s of children"


sys.setswitchinterval(0.0005)
stress.run(work, wall_hz=2000, inspect=inspect)
