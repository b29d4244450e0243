#!/usr/bin/env python3
"""Compares the resident memory of a profiled web service with that of the same service
without profiling. Puma with the gem and gunicorn with the package run at the same time,
with 20 requests per second on loopback. Profiles go to the stand-in server of tests/sink.

    web_memory.py RUBY PYTHON

RUBY must find the gem, OpenTelemetry's SDK and Puma (by GEM_HOME and GEM_PATH), and
PYTHON the package, the SDK and gunicorn. The environment variable
SPANPROF_WEB_SECONDS is the run time (default: 600). Memory is read after 30 % of it,
and at the end.
"""
from __future__ import annotations

import os
import pathlib
import socket
import subprocess
import sys
import threading
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = float(os.environ.get("SPANPROF_WEB_SECONDS", "600"))
REQUESTS_HZ = 20
READY_S = 60
BARS_MIB = {"gem": 14.0, "package": 11.0}
GROWTH_BAR_MIB = 0.3


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


def command(of: str, port: int) -> list[str]:
    if of == "gem":
        return [sys.argv[1], "-e", "load Gem.bin_path('puma', 'puma')", "--", "-b", f"tcp://127.0.0.1:{port}",
                "-t", "2:2", str(HERE / "ruby/web_memory.ru")]
    return [sys.argv[2], "-m", "gunicorn", "--threads", "2", "-b", f"127.0.0.1:{port}", "--chdir", str(HERE / "python"),
            "web_memory_app:application"]


def worker(pid: int) -> int:
    """Returns the process that answers requests: the only child of gunicorn, or
    the process itself."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0]) if children else pid


def resident_mib(pid: int) -> float:
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Rss:"):
            return int(line.split()[1]) / 1024
    raise SystemExit("no Rss")


def ask(port: int, number: int) -> None:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/orders/{number % 40}", timeout=READY_S) as answer:
        answer.read()


def serve(of: str, kind: str, sink: str, found: dict) -> None:
    port = free_port()
    environment = {**os.environ, "BENCH_KIND": kind, "BENCH_SINK": sink}
    server = subprocess.Popen(command(of, port), env=environment, stdout=subprocess.DEVNULL)
    try:
        ready = time.monotonic() + READY_S
        while True:
            try:
                ask(port, 0)
                break
            except OSError:
                if time.monotonic() > ready or server.poll() is not None:
                    raise
                time.sleep(0.2)
        start, number, early = time.monotonic(), 0, 0.0
        while (passed := time.monotonic() - start) < SECONDS:
            ask(port, number)
            number += 1
            if not early and passed >= SECONDS * 0.3:
                early = resident_mib(worker(server.pid))
            time.sleep(max(0.0, start + number / REQUESTS_HZ - time.monotonic()))
        found[of, kind] = (early, resident_mib(worker(server.pid)), number)
    finally:
        server.terminate()
        server.wait(READY_S)


def judge(of: str, found: dict) -> bool:
    ours, none = found[of, "ours"], found[of, "none"]
    early, late = ours[0] - none[0], ours[1] - none[1]
    holds = max(early, late) <= BARS_MIB[of] and late - early <= GROWTH_BAR_MIB
    print(f"{of}: {ours[2]} requests; resident {ours[0]:.1f} and {ours[1]:.1f} MiB, without {none[0]:.1f} and {none[1]:.1f}")
    print(f"bar: memory of a web service, {of} | {early:.1f}, then {late:.1f} MiB | <= {BARS_MIB[of]:.0f} MiB; "
          f"<= {GROWTH_BAR_MIB} more | | {'yes' if holds else 'no'}", flush=True)
    return holds


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    sink = subprocess.Popen([sys.executable, str(HERE.parent / "sink/sink.py"), "--port", "0"], stdout=subprocess.PIPE, text=True)
    found: dict = {}
    try:
        port = "".join(filter(str.isdigit, sink.stdout.readline().split(":")[-1]))
        several = [threading.Thread(target=serve, args=(of, kind, f"http://127.0.0.1:{port}", found))
                   for of in BARS_MIB for kind in ("ours", "none")]
        for thread in several:
            thread.start()
        for thread in several:
            thread.join()
    finally:
        sink.kill()
    missing = [of for of in BARS_MIB if not {(of, "ours"), (of, "none")} <= found.keys()]
    held = [judge(of, found) for of in BARS_MIB if of not in missing]
    if missing:
        raise SystemExit(f"not measured: {', '.join(missing)}")
    sys.exit(not all(held))


if __name__ == "__main__":
    main()
