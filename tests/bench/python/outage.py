"""Delivery after an outage. `outage.py SINK CONTROL MODE SECONDS` lets the stand-in
server SINK fail for SECONDS, and prints the number of samples that were taken and
that were delivered. With SPANPROF_TEST_CLOCK_RATE=n, the clocks of the profiler
run n times as fast, except for sampling."""
from __future__ import annotations

import json
import os
import sys
import time
import urllib.request

import spanprof

MODES = {"503": {"mode": "status", "status": 503}, "refused": {"mode": "close"}, "frozen": {"mode": "hang"}}


def control(address: str, what: dict[str, object]) -> None:
    request = urllib.request.Request(f"{address}/control", json.dumps(what).encode(), method="POST")
    urllib.request.urlopen(request, timeout=10).close()


def main() -> None:
    sink, steer, mode, seconds = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
    rate = int(os.environ.get("SPANPROF_TEST_CLOCK_RATE", "1"))
    control(steer, {"reset": True, "clock_rate": rate})
    control(steer, MODES[mode])
    if not spanprof.start(application_name="bench", server_address=sink, upload_interval_ms=1000 * rate):
        raise SystemExit(f"not profiled: {spanprof.unavailable_reason()}")
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        sum(range(2000))
    control(steer, {"mode": "ok"})
    until = time.monotonic() + 45
    spanprof.flush()
    while spanprof.stats()["samples_pending"] > 0 and time.monotonic() < until:
        spanprof.flush()
        time.sleep(0.2)
    spanprof.stop()
    stats = spanprof.stats()
    print(json.dumps({"taken": stats["samples_taken"], "delivered": stats["samples_exported"]}))


if __name__ == "__main__":
    main()
