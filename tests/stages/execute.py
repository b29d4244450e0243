"""Runs programs for the stages, and stops them all when tests/run is interrupted."""
import os
import signal
import subprocess
import threading

KILL_AFTER_SECONDS = 5

_groups = set()
_groups_lock = threading.Lock()


class Result:
    """How a program ended. `status` is its exit status, negative for a signal, or "timeout"."""

    def __init__(self, status, cpu_seconds):
        self.status = status
        self.cpu_seconds = cpu_seconds


def _signal_group(group, number):
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        pass


def stop_all():
    """Stop all running programs and their children."""
    with _groups_lock:
        groups = list(_groups)
    for group in groups:
        _signal_group(group, signal.SIGKILL)


def _wait(process, seconds):
    """Wait for the program. Returns its wait status, its CPU time, and whether it ran too long."""
    timers = []
    expired = threading.Event()

    def expire():
        expired.set()
        _signal_group(process.pid, signal.SIGTERM)

    if seconds:
        timers = [threading.Timer(seconds, expire),
                  threading.Timer(seconds + KILL_AFTER_SECONDS, _signal_group, (process.pid, signal.SIGKILL))]
    for timer in timers:
        timer.start()
    # wait4() reports the CPU time of the program and of those children for which the program has
    # waited.
    _, status, usage = os.wait4(process.pid, 0)
    for timer in timers:
        timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime, expired.is_set()


def execute(command, output, seconds=None, env=None, cwd=None):
    """Run `command` without standard input and write its output to the file `output`.

    The program gets a process group of its own, so that a timeout stops its children too.
    """
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output,
                               stderr=subprocess.STDOUT, env=env, cwd=cwd, start_new_session=True)
    with _groups_lock:
        _groups.add(process.pid)
    try:
        status, cpu, expired = _wait(process, seconds)
    finally:
        with _groups_lock:
            _groups.discard(process.pid)
    return Result("timeout" if expired else status, cpu)
