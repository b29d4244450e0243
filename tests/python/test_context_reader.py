"""The signal handler reads the right span from contextvars: with other variables of the
program in the context, and while contexts change constantly."""

from __future__ import annotations

import unittest

from attribution import AttributionCase, place


class ContextReaderTest(AttributionCase):
    def names(self, source: str, **options: object) -> dict[str | None, set[object]]:
        self.run_source("from workload import burn, profiled\n" + source, **options)
        out: dict[str | None, set[object]] = {}
        for sample in self.samples():
            out.setdefault(place(sample), set()).add(sample.labels.get("span_name"))
        out.pop(None, None)
        return out

    def test_contexts_of_every_size(self) -> None:
        found = self.names("""
import contextvars
sizes = [0, 1, 2, 8, 15, 16, 17, 31, 33, 64, 200, 1000, 5000]
def run(tracer, size, late):
    variables = [contextvars.ContextVar(f"v{i}") for i in range(size)]
    def fill():
        for variable in variables: variable.set(variable)
    if not late: fill()
    with tracer.start_as_current_span(f"span{size}"):
        if late: fill()
        burn(f"span{size}", 0.05)
with profiled() as tracer:
    for size in sizes:
        for late in (False, True):
            contextvars.Context().run(run, tracer, size, late)
""")
        self.assertEqual(len(found), 13)
        self.assertEqual(found, {name: {name} for name in found})

    def test_variables_with_equal_hashes(self) -> None:
        # The program overwrites the hash that is stored in a ContextVar with the hash
        # of spanprof's ContextVar. A context with both variables then has a collision
        # node.
        self.assertEqual(self.names("""
import contextvars, ctypes

def same_hash(variable, like):
    words = ctypes.cast(id(variable), ctypes.POINTER(ctypes.c_ssize_t))
    for i in range(2, variable.__sizeof__() // 8):
        if words[i] == hash(variable):
            words[i] = hash(like)
            break
    assert hash(variable) == hash(like)

def run(tracer):
    with tracer.start_as_current_span("span"):
        ours = [v for v in contextvars.copy_context() if v.name == "spanprof_label"][0]
        twins = [contextvars.ContextVar(f"twin{i}") for i in range(3)]
        for twin in twins:
            same_hash(twin, ours)
            twin.set(twin)
        assert all(twin.get() is twin for twin in twins)
        burn("span", 0.2)
    burn("none", 0.2)
with profiled() as tracer:
    contextvars.copy_context().run(run, tracer)
"""), {"span": {"span"}, "none": {None}})

    def test_contexts_that_change_constantly(self) -> None:
        verdict = self.judged("""
import contextvars, threading, time, workload

variables = [contextvars.ContextVar(f"v{i}") for i in range(60)]
SOURCE = '''
def burn_{name}(seconds):
    start = clock()
    i = 0
    while (left := start + seconds * 1e9 - clock()) > 0:
        end = wall() + left
        while wall() < end:
            i += 1
            token = variables[i % 60].set(i)
            copied = contextvars.copy_context()
            copied.run(variables[i % 7].set, i)
            if i % 3:
                variables[i % 60].reset(token)
    book("{name}", clock() - start)
'''

def work(tracer, i):
    scope = {"contextvars": contextvars, "variables": variables, "book": workload._book,
             "clock": time.thread_time_ns, "wall": time.monotonic_ns}
    name = f"churn{i}"
    exec(SOURCE.format(name=name), scope)
    for _ in range(10):
        with tracer.start_as_current_span(name):
            scope["burn_" + name](0.05)

with profiled() as tracer:
    threads = [threading.Thread(target=work, args=(tracer, i)) for i in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
""")
        self.assert_right(verdict)

    def test_a_thread_without_a_context(self) -> None:
        self.assertEqual(self.names("""
import _thread
done = _thread.allocate_lock()
done.acquire()
def work():
    burn("raw", 1.5)  # long enough for the collector to find the new thread
    done.release()
with profiled() as tracer:
    with tracer.start_as_current_span("span"):
        _thread.start_new_thread(work, ())
        done.acquire()
"""), {"raw": {None}})


if __name__ == "__main__":
    unittest.main()
