"""spanprof.start during a session: if it is refused, the session does not change."""

from __future__ import annotations

import unittest

from program import ProgramCase

# Wrong options. The Python package refuses some of them, the core the others.
REFUSED = """
REFUSED = [
    {"application_name": ""}, {"application_name": "a\\nb"}, {"application_name": 1}, {"labels": "a"},
    {"labels": {"a b": "1"}}, {"sample_rate_hz": 0}, {"sample_rate_hz": 1 << 70}, {"signal_number": 9},
    {"native_frames": "yes"}, {"server_address": "localhost:4040"}, {"basic_auth_user": "u"},
    {"server_address": "http://h", "auth_token": "t", "basic_auth_user": "u", "basic_auth_password": "p"},
    {"http_headers": "no colon"}, {"ca_bundle": "/nowhere/ca.pem"}, {"client_key": "/proc/self/status"},
    {"upload_protocol": "pigeon"}, {"upload_interval_ms": 1}, {"queue_bytes": 1},
    {"output_directory": "/dev/null/x"}, {"log_level": "loud"}, {"spool_directory": "/nowhere/spool"},
    {"on_profile": 1}, {"span_names_max": -1},
]
"""


class ReconfigureTest(ProgramCase):
    def test_refused_options_under_load_lose_no_sample(self) -> None:
        done = self.run_source(REFUSED + """
import os, threading, spanprof
assert spanprof.start(upload_interval_ms=600_000, labels={"of": "first"})
done = []

def load():
    while not done:
        burn(0.01)

thread = threading.Thread(target=load)
thread.start()
for options in REFUSED:
    assert spanprof.start(**options) is False, options
    assert spanprof.running(), options
    burn(0.02)
os.environ["PYROSCOPE_AGENT_ENABLED"] = "false"
assert spanprof.start(sample_rate_hz=50) is False
assert spanprof.running()
done.append(True)
thread.join()
assert spanprof.stop(20)
stats = spanprof.stats()
assert stats["samples_taken"] == stats["samples_exported"], stats
assert sum(count for name, count in stats.items() if name.startswith("samples_dropped")) == 0, stats
print(stats["samples_taken"])
""")
        self.assertGreater(int(done.stdout), 20)
        self.assertEqual(len(list(self.profiles.iterdir())), 1, "the session was replaced meanwhile")
        self.assertEqual(done.stderr.count("profiling continues as before: "), 23, done.stderr)

    def test_a_failed_start_restarts_the_previous_session(self) -> None:
        done = self.run_source("""
            import os, subprocess, spanprof
            received = []
            assert spanprof.start(on_profile=lambda *profile: received.append(profile))
            burn(0.3)
            # In this directory, the absolute path of `out` is too long, which the core
            # finds only after it has stopped the session.
            os.mkdir("deep")
            top = os.path.abspath("deep")
            os.chdir(top)
            for _ in range(22):
                os.mkdir("d" * 199)
                os.chdir("d" * 199)
            assert spanprof.start(output_directory="out", on_profile=print) is False
            assert spanprof.running()
            assert len(received) == 1
            burn(0.3)
            assert spanprof.stop()
            assert len(received) == 2
            os.chdir("/")
            subprocess.run(["rm", "-rf", top], check=True)
        """)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, "profiling continues as before: output_directory out cannot be used: "
                                      "File name too long")
        self.assert_covered(sum(self.cpu_s("burn").values()), 0.6, threads=2)

    def test_a_callback_replaces_the_previous_one_only_with_its_session(self) -> None:
        self.run_source("""
            import spanprof
            first, second = [], []
            assert spanprof.start(on_profile=lambda *profile: first.append(profile))
            burn(0.2)
            assert spanprof.start(on_profile=lambda *profile: second.append(profile))
            assert (len(first), len(second)) == (1, 0)
            burn(0.2)
            assert spanprof.stop()
            assert (len(first), len(second)) == (1, 1)
        """)


if __name__ == "__main__":
    unittest.main()
