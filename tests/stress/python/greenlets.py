"""Greenlets switch from Python and from inside C callbacks: each sample shows
the stack and the label of the running greenlet."""
import threading

import stress

try:
    import greenlet
except ImportError:
    print("greenlet is not installed here")
    raise SystemExit(77) from None

import spanprof

COUNT = 12


def make_mark(number: int):
    names: dict = {}
    exec(compile(f"def mark_{number}(back, depth):\n"
                 f"    if depth:\n"
                 f"        return max(map(lambda d: mark_{number}(back, d), [depth - 1]))\n"
                 f"    total = sum(range(60))\n"
                 f"    back()\n"
                 f"    return total\n", f"<mark {number}>", "exec"), names)
    return names[f"mark_{number}"]


def ping(counts: list) -> None:
    marks = [make_mark(i) for i in range(COUNT)]
    ring: list = []
    hub = greenlet.getcurrent()

    def loop(number: int) -> None:
        with spanprof.label(number=str(number)):
            while True:
                marks[number](hub.switch, number % 4)

    ring = [greenlet.greenlet(loop) for _ in range(COUNT)]
    for count in stress.until_over():
        number = count % COUNT
        ring[number].switch(*([number] if not ring[number] else []))
    for one in ring:
        one.throw(greenlet.GreenletExit)
    counts.append(count)


def work() -> str:
    counts: list = []
    threads = [threading.Thread(target=ping, args=(counts,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return f"{sum(counts)} switches"


def inspect(samples: list) -> str:
    right = 0
    for sample in samples:
        numbers = {m[1] for f in sample.stack if (m := stress.MARKED.search(f.function))}
        stress.check(len(numbers) <= 1, f"frames of {len(numbers)} greenlets: {sample.functions}")
        if numbers and "number" in sample.labels:
            stress.check(sample.labels["number"] in numbers,
                         f"label {sample.labels['number']} on {sample.functions}")
            right += 1
    stress.check(right > 0, "no labelled greenlet was seen")
    return f"{right} stacks with the label of their greenlet"


stress.run(work, inspect=inspect)
