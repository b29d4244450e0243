"""Runs programs in separate interpreters, which write their profiles to files."""

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
# A shell starts its background jobs with SIGINT ignored. Without this call, the programs
# that the tests start would inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)

TIMEOUT_S = 60
# Maximum number of programs that a test runs at the same time.
AT_ONCE = 4
# Maximum time by which spanprof delays an exit: two seconds for profiles, 0.1 s for log
# lines, and the time that a busy machine needs to wake the threads that deliver them.
END_S = 2.6

# Source before each program. `burn` uses `seconds` of CPU time of the calling thread;
# `wait_for` waits for a condition. `burn` reads the thread's CPU clock rarely, because
# a thread that reads it at the end of its time slice loses the processor just before
# the tick that would have sampled it. The inner loop reads the monotonic clock instead,
# by which the remaining CPU time takes at least as long.
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
    """Environment variables with which programs find spanprof and write their profiles
    to a directory."""
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
    """A loopback port on which nothing listens now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def fetch(port: int, path: str = "/", timeout: float = 30) -> str:
    """Fetch a page. Retry until the server answers."""
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
    """Whether this interpreter can import the module. Extensions of a distribution's
    packages may be compiled for another interpreter."""
    return subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


def wait_for(condition: Callable[[], object], what: str, timeout: float = TIMEOUT_S) -> None:
    """Wait until a condition is true."""
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
        """Write a file of the program, with PRELUDE before its source."""
        path = self.directory / name
        path.write_text(PRELUDE + textwrap.dedent(source))
        return path

    def run_command(self, command: Sequence[str], *, status: int = 0,
                    timeout: float = TIMEOUT_S,
                    **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command until it exits, and assert its exit status."""
        done = subprocess.run(
            [str(word) for word in command], cwd=self.directory, text=True,
            env=environment(self.directory, **variables), timeout=timeout,
            capture_output=True, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def run_source(self, source: str, **options: object) -> subprocess.CompletedProcess[str]:
        """Run a program that is one file."""
        path = self.write("app.py", source)
        return self.run_command([sys.executable, path], **options)  # type: ignore[arg-type]

    def run_concurrently(self, commands: Sequence[Sequence[str]], *, timeout: float = TIMEOUT_S,
                   **options: object) -> list[subprocess.CompletedProcess[str]]:
        """Run commands, AT_ONCE of them at the same time, so that their waits overlap.
        The timeout of each is AT_ONCE times longer."""
        environment(self.directory)  # creates the directory once, before the commands need it
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return [*pool.map(lambda command: self.run_command(
                command, timeout=timeout * AT_ONCE, **options), commands)]  # type: ignore[arg-type]

    def run_sources(self, sources: Sequence[str], **options: object) -> list[subprocess.CompletedProcess[str]]:
        """Run programs, each of which is one file, at the same time."""
        paths = [self.write(f"app-{number}.py", source) for number, source in enumerate(sources)]
        return self.run_concurrently([[sys.executable, str(path)] for path in paths], **options)  # type: ignore[arg-type]

    def serve(self, command: Sequence[str], **variables: str) -> subprocess.Popen[str]:
        """Start a server, which is killed when the test ends. Its output goes to a
        file."""
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
        """The output of the servers so far."""
        return (self.directory / "server.log").read_text(encoding="utf-8")

    def terminate(self, server: subprocess.Popen[str], number: int = signal.SIGTERM,
                  timeout: float = 20) -> int:
        """Send a signal to a server, and wait until it has exited."""
        server.send_signal(number)
        return server.wait(timeout)

    def interrupt(self, server: subprocess.Popen[str]) -> None:
        """Send SIGINT, as Ctrl-C does, to all processes of a server, and wait until
        they have exited."""
        os.killpg(server.pid, signal.SIGINT)
        server.wait(20)
        wait_for(lambda: not self._group_lives(server.pid), "the children of the server have exited")

    @staticmethod
    def _group_lives(group: int) -> bool:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        return True

    def burn_by_requests(self, port: int, pids: int, seconds: float = 1.0,
                         parallel: int = 4) -> dict[int, float]:
        """Request pages, each of which burns 0.1 s and returns its process id, until `pids`
        processes have burned `seconds` each. Returns the burned time by process id."""
        burned: dict[int, float] = {}
        until = time.monotonic() + TIMEOUT_S
        with ThreadPoolExecutor(parallel) as pool:
            while len(burned) < pids or min(burned.values()) < seconds:
                self.assertLess(time.monotonic(), until, f"{burned}\n{self.log()}")
                for page in pool.map(lambda _: fetch(port), range(parallel)):
                    burned[int(page)] = burned.get(int(page), 0.0) + 0.1
        return burned

    def assert_processes_covered(self, burned: dict[int, float], threads: int = 4) -> None:
        """Assert that the profiles contain the CPU time that each process burned on
        `threads` threads."""
        cpu = self.cpu_s()
        for pid, seconds in burned.items():
            self.assertGreaterEqual(cpu.get(pid, 0.0), seconds - noise.of_time(seconds, seconds, 0.01, threads),
                                    f"{pid}: {cpu} of {burned}\n{self.log()}")

    def cpu_s(self, function: str | None = None) -> dict[int, float]:
        """CPU time of all samples in the profiles, or of those with `function` on the
        stack, in seconds by process id."""
        out: dict[int, float] = {}
        for profile in profile_reader.read_directory(self.profiles):
            assert profile.path
            pid = int(profile.path.name.split("-")[-2])
            out[pid] = out.get(pid, 0.0) + sum(
                s.value for s in profile.samples if function is None or s.runs(function)) / 1e9
        return out

    def samples(self) -> list[profile_reader.Sample]:
        """The samples of all profiles that were written."""
        return profile_reader.read_samples(self.profiles)

    def assert_covered(self, measured: float, true: float, what: str = "CPU", threads: int = 1,
                       extra: float = 0.0, alone: bool = False) -> None:
        """Assert that `measured`, a CPU time of the profiles, is the CPU time `true`
        that the program burned, or at most `extra` more, apart from random deviations.
        `alone` means that the threads did nothing else. Then only the time at the ends
        of a thread can deviate, because each thread has its own CPU timer."""
        total = true if alone else max(sum(self.cpu_s().values()), measured, true)
        allowed = noise.of_time(true, total, 0.01, threads)
        self.assertGreaterEqual(measured, true - allowed - profile_reader.ended_s(self.samples()), what)
        self.assertLessEqual(measured, true + allowed + extra, what)
