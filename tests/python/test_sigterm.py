"""SIGTERM, which stops containers, systemd units and worker pools: the samples are
sent, and the process exits as it would without spanprof."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
import unittest
from collections.abc import Sequence

from program import TIMEOUT_S, ProgramCase, free_port, importable, wait_for

START = "import signal, spanprof, threading\nspanprof.start()\n"
BURN_S = 0.5

ENDS = {
    "idle": "time.sleep(600)",
    "busy": "burn(600)",
    "in C code that keeps the GIL for a long time": "import itertools; sum(itertools.repeat(1))",
    "waiting for a thread": "thread = threading.Thread(target=time.sleep, args=(600,)); thread.start(); thread.join()",
    "in an event loop that has removed its handler": """
import asyncio
async def main():
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, print)
    loop.remove_signal_handler(signal.SIGTERM)
    await asyncio.sleep(600)
asyncio.run(main())
""",
    "with the default action set again": """
before = signal.signal(signal.SIGTERM, print)
signal.signal(signal.SIGTERM, before)
time.sleep(600)
""",
    "stopped and started again": "spanprof.stop(); spanprof.start(); time.sleep(600)",
}

UVICORN = """
import os
import spanprof
spanprof.start()

async def app(scope, receive, send):
    assert scope["type"] == "http"
    burn(0.1)
    await send({"type": "http.response.start", "status": 200,
                "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": str(os.getpid()).encode()})
"""


def namespaces() -> bool:
    """Whether this system allows a process to be the first one of a new PID
    namespace."""
    return subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"],
                          capture_output=True, check=False).returncode == 0


class SigtermTest(ProgramCase):
    def serve_source(self, source: str, **variables: str) -> subprocess.Popen[str]:
        """Start a program, and return it when it has printed "ready"."""
        return self.serve_sources([source], **variables)[0]

    def serve_sources(self, sources: Sequence[str], **variables: str) -> list[subprocess.Popen[str]]:
        """Start programs at the same time, and return them when all have printed
        "ready"."""
        (self.directory / "server.log").unlink(missing_ok=True)
        servers = [self.serve([sys.executable, "-u", str(self.write(f"app-{number}.py", source))], **variables)
                   for number, source in enumerate(sources)]
        wait_for(lambda: self.log().count("ready") == len(servers) or self.ended(servers), "the programs",
                 TIMEOUT_S * len(servers))
        self.assertEqual(self.ended(servers), [], self.log())
        return servers

    @staticmethod
    def ended(servers: Sequence[subprocess.Popen[str]]) -> list[subprocess.Popen[str]]:
        return [server for server in servers if server.poll() is not None]

    def burnt(self) -> float:
        return sum(self.cpu_s("burn").values())

    def test_samples_are_delivered(self) -> None:
        servers = self.serve_sources([f"{START}burn({BURN_S})\nprint('ready')\n{end}" for end in ENDS.values()])
        time.sleep(1)
        for name, server in zip(ENDS, servers, strict=True):
            with self.subTest(name):
                self.assertEqual(self.terminate(server, timeout=60), -signal.SIGTERM, self.log())
                self.assertGreaterEqual(self.cpu_s("burn").get(server.pid, 0), BURN_S - 0.1, self.log())

    def test_samples_are_delivered_after_a_start_on_another_thread(self) -> None:
        server = self.serve_source(f"""
import spanprof, threading
thread = threading.Thread(target=spanprof.start)
thread.start()
thread.join()
burn({BURN_S})
print("ready")
time.sleep(600)
""")
        self.assertEqual(self.terminate(server), -signal.SIGTERM)
        self.assert_covered(self.burnt(), BURN_S)

    def test_the_exit_waits_two_seconds_for_a_server_that_hangs(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            program = self.serve_source(
                f"{START}burn(0.3)\nprint('ready')\ntime.sleep(600)",
                PYROSCOPE_SERVER_ADDRESS=f"http://127.0.0.1:{server.getsockname()[1]}")
            begun = time.monotonic()
            self.assertEqual(self.terminate(program), -signal.SIGTERM)
            self.assertLess(time.monotonic() - begun, 3.5)

    def test_the_program_sees_the_default_handlers(self) -> None:
        self.run_source(START + """
assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
def handle(*_): handled.append(1)
handled = []
assert signal.signal(signal.SIGTERM, handle) is signal.SIG_DFL
signal.raise_signal(signal.SIGTERM)
assert handled == [1] and spanprof.running()
assert signal.signal(signal.SIGTERM, signal.SIG_IGN) is handle
signal.raise_signal(signal.SIGTERM)
assert signal.signal(signal.SIGTERM, signal.SIG_DFL) is signal.SIG_IGN
assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
assert spanprof.stop()
assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
""")

    def test_interrupt_main_does_not_end_the_process(self) -> None:
        """The program sees the default action of SIGTERM, for which
        _thread.interrupt_main() does nothing."""
        done = self.run_source(START + """
import _thread, os
for _ in range(2):
    _thread.interrupt_main(signal.SIGTERM)
    time.sleep(0.01)
assert spanprof.running()
print("went on", flush=True)
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(60)
""", status=-signal.SIGTERM)
        self.assertEqual(done.stdout, "went on\n")

    def test_a_handler_of_the_program_stays_installed(self) -> None:
        done = self.run_source(f"""
import os, signal, spanprof
signal.signal(signal.SIGTERM, lambda *_: print("mine", flush=True))
spanprof.start()
burn({BURN_S})
os.kill(os.getpid(), signal.SIGTERM)
assert spanprof.running()
os._exit(3)
""", status=3)
        self.assertEqual(done.stdout, "mine\n")
        self.assert_covered(self.burnt(), BURN_S)

    def test_the_flush_can_be_disabled(self) -> None:
        for start, variables in (("spanprof.start(flush_on_sigterm=False)", {}),
                                 ("spanprof.start()", {"PYROSCOPE_FLUSH_ON_SIGTERM": "false"})):
            with self.subTest(start):
                server = self.serve_source(
                    f"import spanprof\n{start}\nburn(0.3)\nprint('ready')\ntime.sleep(600)", **variables)
                self.assertEqual(self.terminate(server), -signal.SIGTERM)
                self.assertEqual(self.samples(), [])

    def test_a_process_that_is_frozen_has_delivered_its_samples_by_flush(self) -> None:
        """The process is frozen without a signal before, as AWS Lambda does it. So the
        program calls flush()."""
        server = self.serve_source(f"""
            import os, signal, spanprof
            spanprof.start()
            for _ in range(2):
                burn({BURN_S / 2})
                assert spanprof.flush(timeout=10)
            print("ready")
            os.kill(os.getpid(), signal.SIGSTOP)
        """)
        self.terminate(server, signal.SIGKILL)
        self.assert_covered(self.burnt(), BURN_S)

    @unittest.skipUnless(namespaces(), "this system allows no PID namespace")
    def test_the_first_process_of_a_container_continues(self) -> None:
        path = self.write("app.py", f"""
            import os, spanprof
            assert os.getpid() == 1
            spanprof.start()
            burn({BURN_S / 2})
            os.kill(1, 15)
            burn({BURN_S / 2})
            time.sleep(2)  # long enough for a flush and an exit, which must not happen
            print("ready")
            time.sleep(600)
        """)
        server = self.serve(["unshare", "--pid", "--fork", "--mount-proc", "--kill-child",
                             sys.executable, "-u", path], PYROSCOPE_UPLOAD_INTERVAL="600")
        wait_for(lambda: "ready" in self.log() or server.poll() is not None, "the program")
        server.kill()
        server.wait()
        self.assert_covered(self.burnt(), BURN_S)

    @unittest.skipUnless(importable("uvicorn"), "uvicorn is not installed here")
    def test_uvicorn_which_raises_the_signal_again(self) -> None:
        for application, variables in (
                (UVICORN, {}), (UVICORN.replace("spanprof.start()", ""), {"SPANPROF_AUTOSTART": "1"})):
            with self.subTest(variables):
                self.write("app.py", application)
                port = free_port()
                server = self.serve([sys.executable, "-m", "uvicorn", "--port", str(port),
                                     "--lifespan", "off", "app:app"], **variables)
                burned = self.burn_by_requests(port, 1)
                self.assertEqual(self.terminate(server), -signal.SIGTERM, self.log())
                self.assert_processes_covered(burned)

    @unittest.skipUnless(importable("uvicorn"), "uvicorn is not installed here")
    def test_workers_of_uvicorn(self) -> None:
        self.write("app.py", UVICORN)
        port = free_port()
        server = self.serve([sys.executable, "-m", "uvicorn", "--port", str(port), "--workers", "2",
                             "--lifespan", "off", "app:app"])
        burned = self.burn_by_requests(port, 2)
        self.terminate(server)
        self.assert_processes_covered(burned)


if __name__ == "__main__":
    unittest.main()
