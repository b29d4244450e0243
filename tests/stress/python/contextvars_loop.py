"""Contexts (contextvars) are created, entered, copied and dropped while samples read the label of
the current context."""
import contextvars
import threading

import spanprof
import stress

VARIABLES = [contextvars.ContextVar(f"variable_{i}") for i in range(60)]


def burn_in(number: int) -> None:
    for i in range(30):
        sum(range(20))


def labelled(number: int) -> None:
    with spanprof.label(number=str(number)):
        for variable in VARIABLES[: number % 60]:
            variable.set(number)
        burn_in(number)


def churn(counts: list, number: int) -> None:
    for count in stress.until_over():
        context = contextvars.copy_context()
        context.run(labelled, number)
        contextvars.Context().run(labelled, number)
        for variable in VARIABLES:
            variable.set(count)
    counts.append(count)


def work() -> str:
    counts: list = []
    threads = [threading.Thread(target=churn, args=(counts, i), name=f"churn-{i}")
               for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return f"{sum(counts)} contexts"


def inspect(samples: list) -> str:
    inside = labels = 0
    for sample in samples:
        if sample.runs("burn_in"):
            inside += sample.value
            labels += sample.value if "number" in sample.labels else 0
        elif sample.stack[0].function == "churn":
            stress.check("number" not in sample.labels, "a label outside")
    stress.check(inside > 0, "burn_in() was not seen")
    stress.check(labels == inside, f"{inside - labels} of {inside} ns without label")
    return "every sample labelled"


stress.run(work, inspect=inspect)
