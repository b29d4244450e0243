"""Code objects are freed while they are sampled, and their addresses are reused: no frame gets the
name, the file or the line of another frame."""
import threading

import stress


def churn(first: int, step: int, counts: list) -> None:
    number = first
    for _ in stress.until_over():
        file, source = stress.source_of(number)
        names: dict = {}
        exec(compile(source, file, "exec"), names)
        for i in range(20):
            names[f"outer_{number}"](i)
        names.clear()
        number += step
    counts.append(number // step)


def work() -> str:
    counts: list = []
    threads = [threading.Thread(target=churn, args=(i, 4, counts)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return f"{sum(counts)} modules"


def inspect(samples: list) -> str:
    seen = stress.check_marked(samples)
    stress.check(seen > 50, f"only {seen} frames of dying code")
    return f"{seen} frames of dying code right"


stress.run(work, inspect=inspect)
