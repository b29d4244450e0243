"""Busy threads execute one program after the other, by vfork and exec."""
import subprocess
import sys
import threading

import stress


def spawn(counts: list) -> None:
    ran = 0
    for _ in stress.until_over():
        done = subprocess.run([sys.executable, "-S", "-c", "print(sum(range(10)))"],
                              capture_output=True, timeout=30, check=False)
        stress.check(done.returncode == 0 and done.stdout == b"45\n",
                     f"a program ended with {done.returncode}: {done.stderr!r}")
        ran += 1
    counts.append(ran)


def work() -> str:
    counts: list = []
    failures: list = []

    def guarded() -> None:
        try:
            spawn(counts)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stress.check(not failures, f"{failures[:1]}")
    return f"{sum(counts)} programs"


stress.run(work, wall_hz=2000)
