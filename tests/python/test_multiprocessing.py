"""Child processes of multiprocessing and similar libraries are profiled, with all start
methods."""

from __future__ import annotations

import subprocess
import sys
import unittest

from program import ProgramCase, importable

WORK = """
import multiprocessing, os, sys

def work(seconds):
    burn(seconds)
    os.write(1, b"%d\\n" % os.getpid())
"""


def spawns(module: str) -> bool:
    """Whether this copy of multiprocessing can start an interpreter: creating a lock of
    the method spawn starts one. Debian 12 has a copy that is too old for CPython
    3.11."""
    return subprocess.run([sys.executable, "-c", f"import {module}; {module}.get_context('spawn').Lock()"],
                          capture_output=True, check=False).returncode == 0


class MultiprocessingTest(ProgramCase):
    def assert_children(self, output: str, count: int, true: float) -> None:
        children = {int(pid) for pid in output.split()}
        self.assertEqual(len(children), count, output)
        cpu = self.cpu_s("burn")
        self.assert_covered(sum(cpu.get(pid, 0) for pid in children), true, f"{children} {cpu}", threads=count, alone=True)

    def run_methods(self, source: str, *, count: int, true: float, **variables: str) -> None:
        path = str(self.write("app.py", WORK + source))
        methods = "fork", "spawn", "forkserver"
        ended = self.run_concurrently([[sys.executable, path, method] for method in methods], **variables)
        for method, done in zip(methods, ended, strict=True):
            with self.subTest(method):
                self.assert_children(done.stdout, count, true)

    def test_processes_of_a_profiled_parent(self) -> None:
        self.run_methods("""
if __name__ == "__main__":
    import spanprof
    spanprof.start()
    context = multiprocessing.get_context(sys.argv[1])
    processes = [context.Process(target=work, args=(0.3,)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
""", count=3, true=0.9)

    def test_pools_closed_and_terminated(self) -> None:
        for end in ("pool.close(); pool.join()", "pool.terminate(); pool.join()"):
            self.run_methods(f"""
if __name__ == "__main__":
    import spanprof
    spanprof.start()
    pool = multiprocessing.get_context(sys.argv[1]).Pool(2)
    pool.map(work, [0.1] * 8, chunksize=4)
    {end}
""", count=2, true=0.8)

    def test_a_process_pool_executor(self) -> None:
        self.run_methods("""
if __name__ == "__main__":
    import spanprof
    from concurrent.futures import ProcessPoolExecutor
    spanprof.start()
    with ProcessPoolExecutor(2, multiprocessing.get_context(sys.argv[1])) as pool:
        list(pool.map(work, [0.3] * 2))
        list(pool.map(burn, [0.15] * 2))
""", count=2, true=0.9)

    def test_a_terminated_process_flushes_and_ends_by_the_signal(self) -> None:
        self.run_methods("""
import signal

def wait(worked):
    work(0.3)
    grandchild = os.fork()
    if grandchild == 0:
        signal.pause()
    os.kill(grandchild, signal.SIGTERM)
    assert os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]) == -signal.SIGTERM
    os.write(1, b"%d\\n" % os.getpid())
    worked.set()
    time.sleep(600)

if __name__ == "__main__":
    import spanprof
    spanprof.start()
    context = multiprocessing.get_context(sys.argv[1])
    worked = context.Event()
    process = context.Process(target=wait, args=(worked,))
    process.start()
    worked.wait()
    process.terminate()
    process.join(30)
    assert process.exitcode == -signal.SIGTERM, process.exitcode
""", count=1, true=0.3)

    def test_a_handler_of_the_program_stays_installed(self) -> None:
        self.run_methods("""
import signal

def wait(worked):
    signal.signal(signal.SIGTERM, lambda *_: os._exit(5))
    work(0.3)
    worked.set()
    # Not one long sleep: a signal that arrives just before a sleep is handled only
    # after it.
    while True:
        time.sleep(0.1)

if __name__ == "__main__":
    import spanprof
    spanprof.start()
    context = multiprocessing.get_context(sys.argv[1])
    worked = context.Event()
    process = context.Process(target=wait, args=(worked,))
    process.start()
    worked.wait()
    process.terminate()
    process.join(30)
    assert process.exitcode == 5, process.exitcode
""", count=1, true=0.3)

    def test_the_default_method_and_one_set_after_the_start(self) -> None:
        for chosen in ("pass", "multiprocessing.set_start_method('spawn')",
                       "multiprocessing.set_start_method('forkserver')"):
            path = self.write("app.py", "import os, sys\n" + f"""
def work(seconds):
    burn(seconds)
    os.write(1, b"%d\\n" % os.getpid())

if __name__ == "__main__":
    import spanprof
    spanprof.start()
    assert "multiprocessing" not in sys.modules
    import multiprocessing
    assert multiprocessing.get_start_method(allow_none=True) is None
    {chosen}
    process = multiprocessing.Process(target=work, args=(0.3,))
    process.start()
    process.join()
    assert process.exitcode == 0
""")
            self.assert_children(self.run_command([sys.executable, path]).stdout, 1, 0.3)

    @unittest.skipUnless(importable("joblib"), "joblib is not installed")
    def test_workers_of_joblib(self) -> None:
        """joblib uses loky, which starts workers with a command line of its own."""
        path = self.write("app.py", WORK + """
if __name__ == "__main__":
    import joblib, spanprof
    spanprof.start(application_name="given")
    joblib.Parallel(n_jobs=2)(joblib.delayed(work)(0.2) for _ in range(4))
""")
        done = self.run_command([sys.executable, path])
        self.assert_children(done.stdout, len({*done.stdout.split()}), 0.8)
        self.assertEqual({path.name.split("-")[0] for path in self.profiles.iterdir()}, {"given"})

    @unittest.skipUnless(importable("billiard"), "Billiard is not installed")
    def test_processes_of_billiard(self) -> None:
        self.write("workers.py", WORK)
        done = self.run_source("""
            import billiard, spanprof, workers
            spanprof.start()
            process = billiard.get_context("spawn").Process(target=workers.work, args=(0.3,))
            process.start()
            process.join()
        """)
        self.assert_children(done.stdout, 1, 0.3)

    @unittest.skipUnless(importable("multiprocess"), "multiprocess is not installed")
    @unittest.skipUnless(spawns("multiprocess"), "multiprocess is too old for this interpreter")
    def test_pools_of_multiprocess(self) -> None:
        """multiprocess is the library that pathos uses; it pickles with dill."""
        self.run_methods("""
if __name__ == "__main__":
    import multiprocess, spanprof
    spanprof.start()
    pool = multiprocess.get_context(sys.argv[1]).Pool(2)
    pool.map(work, [0.1] * 8, chunksize=4)
    pool.close()
    pool.join()
""", count=2, true=0.8)

    def test_a_new_interpreter_has_the_options_of_its_parent(self) -> None:
        """A child is profiled from its first line on, in one session, with all options
        of the parent except `on_profile`."""
        path = self.write("app.py", """
import multiprocessing, os, sys, spanprof
until = time.thread_time() + 0.3
while (left := until - time.thread_time()) > 0:
    end = time.monotonic() + left
    while time.monotonic() < end: pass

def profiled():
    return spanprof.start(application_name="given", labels={"team": "a"}, http_headers={"X-Y": "z"})

def work(seconds):
    burn(seconds)
    assert profiled()
    burn(seconds)

if __name__ == "__main__":
    received = []
    assert spanprof.start(on_profile=lambda *profile: received.append(profile))
    assert profiled()
    for method in ("spawn", "forkserver"):
        process = multiprocessing.get_context(method).Process(target=work, args=(0.3,))
        process.start()
        print(process.pid)
        process.join()
        assert process.exitcode == 0
    spanprof.stop()
    process = multiprocessing.get_context("spawn").Process(target=burn, args=(0.3,))
    process.start()
    print(process.pid)
    process.join()
    assert process.exitcode == 0
""")
        # An interval of ten minutes, so that a session makes one profile even on a slow
        # machine.
        done = self.run_command([sys.executable, path], PYROSCOPE_UPLOAD_INTERVAL="10m")
        *children, after_stop = (int(pid) for pid in done.stdout.split())
        cpu = self.cpu_s()
        self.assertNotIn(after_stop, cpu)
        # From CPython 3.14 on, the forkserver imports the program before it forks the
        # child, so that the import is not in the child's profile.
        for pid, true in zip(children, (0.9, 0.6 if sys.version_info >= (3, 14) else 0.9), strict=True):
            self.assert_covered(cpu[pid], true, f"{children} {cpu}", alone=True)
            names = [path.name for path in self.profiles.iterdir() if f"-{pid}-" in path.name]
            self.assertEqual([name.split("-")[0] for name in names], ["given"], "one session")
        self.assertEqual(done.stderr, "")

    def test_options_of_the_program_s_own_classes(self) -> None:
        path = self.write("app.py", """
import enum, multiprocessing, os, pathlib, spanprof

class Name(str, enum.Enum):
    SHOP = "shop"

class Text(str):
    pass

class Rate(enum.IntEnum):
    FAST = 250

class Place(os.PathLike):
    def __fspath__(self):
        return os.environ["PYROSCOPE_OUTPUT_DIRECTORY"]

OPTIONS = dict(application_name=Name.SHOP, sample_rate_hz=Rate.FAST, output_directory=Place(),
               labels={Text("team"): Text("a")}, resource_labels=[Text("host.name")], tenant_id=Text("x"))

def child():
    assert spanprof.running() and spanprof.start(**OPTIONS)

if __name__ == "__main__":
    assert spanprof.start(**OPTIONS)
    for method in ("spawn", "forkserver"):
        process = multiprocessing.get_context(method).Process(target=child)
        process.start()
        process.join()
        assert process.exitcode == 0, process.exitcode
""")
        self.run_command([sys.executable, path])

    def test_new_interpreters_with_a_start_by_the_environment(self) -> None:
        self.run_methods("""
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    processes = [context.Process(target=work, args=(0.3,)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
""", count=3, true=0.9, SPANPROF_AUTOSTART="1")


if __name__ == "__main__":
    unittest.main()
