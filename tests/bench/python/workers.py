"""Measures the share of a child process's CPU time that is in samples. `workers.py
CASE SECONDS` prints JSON. The cases spawn and forkserver are run by `python -m
spanprof`, which sets environment variables that start profiling in children."""
from __future__ import annotations

import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "python"))

APPLICATION = '''
import pathlib, sys
sys.path.insert(0, {here!r})
import spanprof
from workers import burn_child
spanprof.start(application_name="bench", output_directory={directory!r})

def application(environ, start_response):
    used = burn_child({seconds})
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(used).encode()]
'''


def burn_child(seconds: float) -> float:
    """Uses CPU time, and returns the used seconds."""
    start = time.thread_time()
    while time.thread_time() - start < seconds:
        sum(range(200))
    return time.thread_time() - start


def by_fork(seconds: float) -> float:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writer, str(burn_child(seconds)).encode())
        os._exit(0)
    os.waitpid(pid, 0)
    return float(os.read(reader, 64))


def run_child(queue, seconds: float) -> None:
    queue.put(burn_child(seconds))


def by_process(method: str, seconds: float) -> float:
    context = multiprocessing.get_context(method)
    queue = context.SimpleQueue()
    process = context.Process(target=run_child, args=(queue, seconds))
    process.start()
    used = queue.get()
    process.join()
    return used


def by_pool(seconds: float) -> float:
    with multiprocessing.get_context("fork").Pool(2) as pool:
        used = sum(pool.map(burn_child, [seconds / 4] * 4))
        pool.close()
        pool.join()
    return used


def by_gunicorn(seconds: float, directory: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "app.py")
        path.write_text(APPLICATION.format(here=str(pathlib.Path(__file__).parent), directory=directory,
                                           seconds=seconds / 4))
        socket = "127.0.0.1:18412"
        command = [sys.executable, "-m", "gunicorn", "--preload", "--workers", "2", "--bind", socket,
                   "--chdir", folder, "--log-level", "error", "app:application"]
        with subprocess.Popen(command) as server:
            used, answers, until = 0.0, 0, time.monotonic() + 30
            while answers < 4 and time.monotonic() < until:
                try:
                    with urllib.request.urlopen(f"http://{socket}/", timeout=20) as answer:
                        used += float(answer.read())
                        answers += 1
                except OSError:
                    time.sleep(0.1)
            server.terminate()
        return used


def seen(directory: str) -> float:
    import profile_reader

    return sum(sample.value for sample in profile_reader.read_samples(pathlib.Path(directory))
               if sample.runs("burn_child")) / 1e9


def main() -> None:
    name, seconds = sys.argv[1], float(sys.argv[2])
    by_environment = name in ("spawn", "forkserver")
    with tempfile.TemporaryDirectory() as scratch:
        directory = os.environ["PYROSCOPE_OUTPUT_DIRECTORY"] if by_environment else scratch
        if name == "gunicorn":
            used = by_gunicorn(seconds, directory)
        else:
            import spanprof

            if not by_environment and not spanprof.start(application_name="bench", output_directory=directory):
                raise SystemExit(f"not profiled: {spanprof.unavailable_reason()}")
            used = {"fork": by_fork, "pool": by_pool}.get(name, lambda s: by_process(
                "fork" if name == "process" else name, s))(seconds)
            if not by_environment:
                spanprof.stop()
        print(json.dumps({"ratio": seen(directory) / used, "cpu_s": used}))


if __name__ == "__main__":
    main()
