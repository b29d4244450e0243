"""Programs run by the tests in interpreters of their own, profiled to files."""

from __future__ import annotations

import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import noise
import profile_reader
import spanprof

PACKAGES = pathlib.Path(spanprof.__file__).absolute().parent.parent
# Ignored in what a shell runs in the background, and so in what that runs.
signal.signal(signal.SIGINT, signal.default_int_handler)

TIMEOUT_S = 60
# Programs of a test beside each other, each with a processor to wait for.
AT_ONCE = 4
# What we hold up the end of a process: two seconds, 0.1 s for lines of the log,
# and what a busy machine takes to wake the threads that deliver and wait.
END_S = 2.6

# Before each program: a loop of `seconds` of CPU of the calling thread, and a
# wait for what must happen. The thread's clock is asked seldom: who asks when a
# slice is over loses the processor just before the tick that would have sampled
# it. What is left takes at least as long by the other clock.
PRELUDE = """
import time

def wait_for(condition):
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)

def burn(seconds):
    until = time.thread_time() + seconds
    while (left := until - time.thread_time()) > 0:
        end = time.monotonic() + left
        while time.monotonic() < end:
            sum(range(500))
    return seconds
"""


def environment(directory: pathlib.Path, **variables: str) -> dict[str, str]:
    """An environment that profiles into a directory what starts profiling."""
    user = directory / "user"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = user / "lib" / version / "site-packages"
    if not site.exists():
        site.mkdir(parents=True)
        (site / "packages.pth").write_text(f"{PACKAGES}\n")
        (site / "spanprof.pth").write_text((PACKAGES / "spanprof.pth").read_text())
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("PYROSCOPE_", "SPANPROF_", "OTEL_"))}
    return kept | {
        "PYTHONUSERBASE": str(user),
        "PYTHONPATH": os.pathsep.join(
            [str(PACKAGES), str(directory), os.environ.get("PYTHONPATH", "")]),
        "PYROSCOPE_APPLICATION_NAME": "test",
        "PYROSCOPE_OUTPUT_DIRECTORY": str(directory / "profiles"),
    } | variables


def free_port() -> int:
    """A port of the loopback that nobody listens on now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def fetch(port: int, path: str = "/", timeout: float = 30) -> str:
    """The body of a page, asked for until the server is up."""
    until = time.monotonic() + TIMEOUT_S
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=timeout) as page:
                return str(page.read().decode())
        except urllib.error.HTTPError:
            raise
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def importable(module: str) -> bool:
    """Whether this interpreter has the module, compiled parts and all: those of
    a distribution may be for another one."""
    return subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


def wait_for(condition: Callable[[], object], what: str, timeout: float = TIMEOUT_S) -> None:
    """Wait until something is true."""
    until = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"not within {timeout:g} s: {what}")
        time.sleep(0.02)


class ProgramCase(unittest.TestCase):
    """A test with a directory for a program's files and one for its profiles."""

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        self.profiles = self.directory / "profiles"
        self.profiles.mkdir()

    def write(self, name: str, source: str) -> pathlib.Path:
        """A file of the program; PRELUDE comes before its source."""
        path = self.directory / name
        path.write_text(PRELUDE + textwrap.dedent(source))
        return path

    def run_command(self, command: Sequence[str], *, status: int = 0,
                    timeout: float = TIMEOUT_S,
                    **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, which must come with this status."""
        done = subprocess.run(
            [str(word) for word in command], cwd=self.directory, text=True,
            env=environment(self.directory, **variables), timeout=timeout,
            capture_output=True, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def run_source(self, source: str, **options: object) -> subprocess.CompletedProcess[str]:
        """Run a program of one file."""
        path = self.write("app.py", source)
        return self.run_command([sys.executable, path], **options)  # type: ignore[arg-type]

    def run_beside(self, commands: Sequence[Sequence[str]], *, timeout: float = TIMEOUT_S,
                   **options: object) -> list[subprocess.CompletedProcess[str]]:
        """Run commands, a few beside each other, so that their waits overlap; each
        may take as much longer."""
        environment(self.directory)  # made once, not by each of them
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return [*pool.map(lambda command: self.run_command(
                command, timeout=timeout * AT_ONCE, **options), commands)]  # type: ignore[arg-type]

    def run_sources(self, sources: Sequence[str], **options: object) -> list[subprocess.CompletedProcess[str]]:
        """Run programs of one file each beside each other."""
        paths = [self.write(f"app-{number}.py", source) for number, source in enumerate(sources)]
        return self.run_beside([[sys.executable, str(path)] for path in paths], **options)  # type: ignore[arg-type]

    def serve(self, command: Sequence[str], **variables: str) -> subprocess.Popen[str]:
        """Start a server, ended with the test; its output goes to a file."""
        log = open(self.directory / "server.log", "a", encoding="utf-8")
        self.addCleanup(log.close)
        server = subprocess.Popen(
            [str(word) for word in command], cwd=self.directory, text=True,
            env=environment(self.directory, **variables), stdout=log, stderr=log,
            start_new_session=True)
        self.addCleanup(self._end, server)
        return server

    def _end(self, server: subprocess.Popen[str]) -> None:
        try:
            os.killpg(server.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        server.wait()

    def log(self) -> str:
        """What the server printed."""
        return (self.directory / "server.log").read_text(encoding="utf-8")

    def terminate(self, server: subprocess.Popen[str], number: int = signal.SIGTERM,
                  timeout: float = 20) -> int:
        """Ask a server to end, and wait until it has."""
        server.send_signal(number)
        return server.wait(timeout)

    def interrupt(self, server: subprocess.Popen[str]) -> None:
        """Type Ctrl-C, which all of its processes get; wait until all ended."""
        os.killpg(server.pid, signal.SIGINT)
        server.wait(20)
        wait_for(lambda: not self._group_lives(server.pid), "the end of its children")

    @staticmethod
    def _group_lives(group: int) -> bool:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        return True

    def burn_by_requests(self, port: int, pids: int, seconds: float = 1.0,
                         parallel: int = 4) -> dict[int, float]:
        """Ask for pages that burn 0.1 s and answer with their process, until so
        many processes have burned so long each; what they burned by process."""
        burned: dict[int, float] = {}
        until = time.monotonic() + TIMEOUT_S
        with ThreadPoolExecutor(parallel) as pool:
            while len(burned) < pids or min(burned.values()) < seconds:
                self.assertLess(time.monotonic(), until, f"{burned}\n{self.log()}")
                for page in pool.map(lambda _: fetch(port), range(parallel)):
                    burned[int(page)] = burned.get(int(page), 0.0) + 0.1
        return burned

    def assert_processes_covered(self, burned: dict[int, float], threads: int = 4) -> None:
        """Each process's burnt CPU, of so many threads, is in its profiles."""
        cpu = self.cpu_s()
        for pid, seconds in burned.items():
            self.assertGreaterEqual(cpu.get(pid, 0.0), seconds - noise.of_time(seconds, seconds, 0.01, threads),
                                    f"{pid}: {cpu} of {burned}\n{self.log()}")

    def cpu_s(self, function: str | None = None) -> dict[int, float]:
        """Seconds of CPU in profiles, of a function or of all, by process."""
        out: dict[int, float] = {}
        for profile in profile_reader.read_directory(self.profiles):
            assert profile.path
            pid = int(profile.path.name.split("-")[-2])
            out[pid] = out.get(pid, 0.0) + sum(
                s.value for s in profile.samples if function is None or s.runs(function)) / 1e9
        return out

    def samples(self) -> list[profile_reader.Sample]:
        """Every sample that was written."""
        return profile_reader.read_samples(self.profiles)

    def assert_covered(self, measured: float, true: float, what: str = "CPU", threads: int = 1,
                       beside: float = 0.0, alone: bool = False) -> None:
        """What the program burned is there, within the noise of its samples, and
        no more: but for what it may burn beside, where that is counted too.
        `alone`: what threads burned that did nothing else, whose clocks are their
        own."""
        total = true if alone else max(sum(self.cpu_s().values()), measured, true)
        allowed = noise.of_time(true, total, 0.01, threads)
        self.assertGreaterEqual(measured, true - allowed - profile_reader.ended_s(self.samples()), what)
        self.assertLessEqual(measured, true + allowed + beside, what)
