"""Celery's prefork pool: one call of spanprof.start in the master profiles all
children."""

from __future__ import annotations

import collections
import sys
import unittest

from program import ProgramCase, importable, wait_for

APPLICATION = """
import os, pathlib
from celery import Celery
import spanprof

here = pathlib.Path(__file__).parent
app = Celery("app", broker="filesystem://")
app.conf.broker_transport_options = {
    "data_folder_in": str(here / "queue"), "data_folder_out": str(here / "queue"),
    "store_processed": False}
app.conf.task_ignore_result = True

@app.task
def work(number):
    burn(0.1)
    (here / "done" / str(number)).write_text(str(os.getpid()))
"""
TASKS = 40


@unittest.skipUnless(importable("celery"), "celery is not installed here")
class CeleryTest(ProgramCase):
    def run_tasks(self, *options: str, start: str = "spanprof.start()", least: int = 1,
                  **variables: str) -> set[int]:
        """Let Celery do all tasks. Return the ids of the processes that did at least
        `least` tasks, and assert that the profiles contain the CPU time of these
        processes."""
        done = self.directory / "done"
        done.mkdir()
        (self.directory / "queue").mkdir()
        self.write("app.py", APPLICATION + start)
        self.run_command([sys.executable, "-c",
                          "import app\n"
                          f"for number in range({TASKS}): app.work.delay(number)"],
                         PYROSCOPE_AGENT_ENABLED="false")
        server = self.serve([sys.executable, "-m", "celery", "-A", "app", "worker",
                             "--concurrency", "2", "--without-gossip", "--without-mingle",
                             "--without-heartbeat", *options], **variables)
        wait_for(lambda: len(list(done.iterdir())) == TASKS, "all tasks", 90)
        self.terminate(server, timeout=60)
        tasks = collections.Counter(int(path.read_text()) for path in done.iterdir())
        self.assertNotIn(server.pid, tasks)
        ended = {pid for pid, count in tasks.items() if count >= least}
        self.assert_processes_covered({pid: 0.1 * tasks[pid] for pid in ended})
        return ended

    def test_children_of_the_pool(self) -> None:
        self.assertEqual(len(self.run_tasks()), 2)

    def test_children_replaced_after_some_tasks(self) -> None:
        # Celery forks the replacements in a thread of the master. It also asks the
        # kernel to kill them when this thread exits (PR_SET_PDEATHSIG of prctl(2)), so
        # the last two children may lose samples. Therefore only children that have done
        # all their ten tasks are checked. The last two may have done fewer than ten
        # each, so at least 22 of the 40 tasks belong to children with ten tasks: at
        # least three children.
        self.assertGreaterEqual(len(self.run_tasks("--max-tasks-per-child", "10", least=10)), 3)

    def test_with_a_start_by_the_environment(self) -> None:
        self.run_tasks(start="", SPANPROF_AUTOSTART="1")


if __name__ == "__main__":
    unittest.main()
