"""Spans of greenlets, without and with gevent. A switch of greenlets also switches the
context, from which the signal handler reads the span."""

from __future__ import annotations

import unittest

from attribution import AttributionCase
from program import importable


@unittest.skipUnless(importable("greenlet"), "greenlet is not installed here")
class GreenletTest(AttributionCase):
    def test_forty_greenlets_that_switch_repeatedly(self) -> None:
        self.assert_right(self.judged("""
import greenlet

def work(tracer, name):
    with tracer.start_as_current_span(name):
        for _ in range(40):
            burn(name, 0.001)
            hub.switch()

with profiled() as tracer:
    hub = greenlet.getcurrent()
    alive = [greenlet.greenlet(work) for _ in range(40)]
    for i, one in enumerate(alive):
        one.switch(tracer, f"span{i}")
    while alive:
        for one in alive:
            one.switch()
        alive = [one for one in alive if not one.dead]
"""))

    def test_a_greenlet_with_an_assigned_context_has_its_span(self) -> None:
        self.assert_right(self.judged("""
import contextvars, greenlet

def work(name):
    burn(name, 0.2)
    hub.switch()
    burn(name, 0.2)

with profiled() as tracer:
    hub = greenlet.getcurrent()
    with tracer.start_as_current_span("given"):
        one = greenlet.greenlet(work)
        one.gr_context = contextvars.copy_context()
        one.switch("given")
    with tracer.start_as_current_span("other"):
        burn("other", 0.2)
        one.switch()
        burn("other", 0.2)
"""))


@unittest.skipUnless(importable("gevent"), "gevent is not installed here")
class GeventTest(AttributionCase):
    def test_forty_greenlets_of_gevent(self) -> None:
        self.assert_right(self.judged("""
import gevent

def work(tracer, name):
    with tracer.start_as_current_span(name):
        for _ in range(40):
            burn(name, 0.001)
            gevent.sleep(0)

with profiled() as tracer:
    gevent.joinall([gevent.spawn(work, tracer, f"span{i}") for i in range(40)])
"""))

    def test_a_program_patched_by_gevent_with_nested_spans(self) -> None:
        self.assert_right(self.judged("""
from gevent import monkey
monkey.patch_all()
import threading, time

def work(tracer, i):
    for _ in range(5):
        with tracer.start_as_current_span(f"outer{i}"):
            burn(f"outer{i}", 0.01)
            time.sleep(0)
            with tracer.start_as_current_span(f"inner{i}"):
                burn(f"inner{i}", 0.01)
                time.sleep(0)
            burn(f"outer{i}", 0.01)

with profiled() as tracer:
    threads = [threading.Thread(target=work, args=(tracer, i)) for i in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
"""))


if __name__ == "__main__":
    unittest.main()
