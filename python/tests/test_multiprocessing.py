"""Children of multiprocessing, however they are started."""

from __future__ import annotations

import sys
import unittest

from program import ProgramCase

WORK = """
import multiprocessing, os, sys

def work(seconds):
    burn(seconds)
    os.write(1, b"%d\\n" % os.getpid())
"""


class MultiprocessingTest(ProgramCase):
    def assert_children(self, output: str, count: int, true: float) -> None:
        children = {int(pid) for pid in output.split()}
        self.assertEqual(len(children), count, output)
        cpu = self.cpu_s()
        self.assert_covered(sum(cpu.get(pid, 0) for pid in children), true, f"{children} {cpu}")

    def run_methods(self, *methods: str, source: str, count: int, true: float,
                    **variables: str) -> None:
        for method in methods:
            with self.subTest(method):
                for path in self.profiles.iterdir():
                    path.unlink()
                path = self.write("app.py", WORK + source)
                done = self.run_command([sys.executable, path, method], **variables)
                self.assert_children(done.stdout, count, true)

    def test_processes_of_a_profiled_parent(self) -> None:
        self.run_methods("fork", source="""
if __name__ == "__main__":
    import spanprof
    spanprof.start()
    context = multiprocessing.get_context(sys.argv[1])
    processes = [context.Process(target=work, args=(0.6,)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
""", count=3, true=1.8)

    def test_pools_closed_and_terminated(self) -> None:
        for end in ("pool.close(); pool.join()", "pool.terminate(); pool.join()"):
            self.run_methods("fork", source=f"""
if __name__ == "__main__":
    import spanprof
    spanprof.start()
    pool = multiprocessing.get_context(sys.argv[1]).Pool(2)
    pool.map(work, [0.3] * 8, chunksize=4)
    {end}
""", count=2, true=2.4)

    def test_a_process_pool_executor(self) -> None:
        self.run_methods("fork", source="""
if __name__ == "__main__":
    import spanprof
    from concurrent.futures import ProcessPoolExecutor
    spanprof.start()
    with ProcessPoolExecutor(2, multiprocessing.get_context(sys.argv[1])) as pool:
        list(pool.map(work, [0.6] * 2))
        list(pool.map(burn, [0.3] * 2))
""", count=2, true=1.8)

    def test_a_terminated_process_ends_by_the_signal_and_hands_on(self) -> None:
        self.run_methods("fork", source="""
if __name__ == "__main__":
    import signal, spanprof
    spanprof.start()
    context = multiprocessing.get_context(sys.argv[1])
    worked = context.Event()
    def wait():
        work(0.6)
        grandchild = os.fork()
        if grandchild == 0:
            signal.pause()
        os.kill(grandchild, signal.SIGTERM)
        assert os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]) == -signal.SIGTERM
        os.write(1, b"%d\\n" % os.getpid())
        worked.set()
        time.sleep(600)
    process = context.Process(target=wait)
    process.start()
    worked.wait()
    process.terminate()
    process.join(10)
    assert process.exitcode == -signal.SIGTERM, process.exitcode
""", count=1, true=0.6)

    def test_a_handler_of_the_program_stays_in_charge(self) -> None:
        self.run_methods("fork", source="""
if __name__ == "__main__":
    import signal, spanprof
    spanprof.start()
    context = multiprocessing.get_context(sys.argv[1])
    worked = context.Event()
    def wait():
        signal.signal(signal.SIGTERM, lambda *_: os._exit(5))
        work(0.6)
        worked.set()
        time.sleep(600)
    process = context.Process(target=wait)
    process.start()
    worked.wait()
    process.terminate()
    process.join(10)
    assert process.exitcode == 5, process.exitcode
""", count=1, true=0.6)

    def test_new_interpreters_under_the_environment(self) -> None:
        self.run_methods("fork", "spawn", "forkserver", source="""
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    processes = [context.Process(target=work, args=(0.6,)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
""", count=3, true=1.8, SPANPROF_AUTOSTART="1")


if __name__ == "__main__":
    unittest.main()
