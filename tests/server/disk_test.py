"""The store's files at their limit and on a full volume."""
import os
import re
import subprocess
import tempfile
import time
import unittest

from messages import pprof, push
from serving import Server

MB = 10**6
UPLOADS = 250  # so many that they exceed the limit: they have about 9 MB in the store


def upload(seed):
    """Return an upload of 12 KB with unique functions and ids."""
    samples = [((f"generated.{seed:06d}.{n:04d}.{'x' * 40}", "main"), (n + 1,),
                {"span_id": f"{seed * 1000003 + n * 7919 + 1:016x}"}) for n in range(100)]
    return push({"__name__": "process_cpu", "service_name": "shop"}, pprof(samples, time.time_ns() - seed))


def send(server, seed):
    return server.send("/push.v1.PusherService/Push", upload(seed), {"Content-Type": "application/proto"})


def sizes(directory):
    return sum(entry.stat().st_size for entry in os.scandir(directory))


def metric(server, name):
    return int(re.search(rf"^{name} (\d+)$", server.send("/metrics", method="GET")[1].decode(), re.M)[1])


class LimitTest(unittest.TestCase):
    def test_the_files_never_have_more_than_the_limit(self):
        limit = 8 << 20
        with Server("--max-bytes", "8M") as server:
            for seed in range(UPLOADS):
                status, reply = send(server, seed)
                self.assertIn(status, (200, 503), reply)
                self.assertLess(sizes(server.data.name), 1.1 * limit)
            self.assertGreater(metric(server, "spanprof_store_dropped_profiles_total"), 0)
            self.assertGreater(metric(server, "spanprof_store_profiles"), UPLOADS / 10)

    def test_a_lower_limit_returns_space(self):
        with tempfile.TemporaryDirectory() as directory:
            with Server("--data", directory) as server:
                for seed in range(UPLOADS):
                    self.assertEqual(200, send(server, seed)[0])
                self.assertGreater(sizes(directory), 5 * MB)
            with Server("--data", directory, "--max-bytes", "4M") as server:
                end = time.monotonic() + 60
                while sizes(directory) > 4 << 20:
                    self.assertLess(time.monotonic(), end, "the files are larger than the limit after a minute")
                    time.sleep(0.05)
                self.assertEqual(200, send(server, UPLOADS)[0])


class VolumeTest(unittest.TestCase):
    def setUp(self):
        self.volume = tempfile.mkdtemp()
        self.addCleanup(os.rmdir, self.volume)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=9m", "tmpfs", self.volume], capture_output=True, text=True)
        if mounted.returncode:
            self.skipTest(f"the test cannot mount a volume: {mounted.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", self.volume], check=True)

    def send_until_accepted(self, server, seed):
        """Repeat an upload until it is accepted, at most for 30 s. Each refusal must have a message."""
        end = time.monotonic() + 30
        while True:
            status, reply = send(server, seed)
            if status == 200:
                return
            self.assertEqual(503, status, reply)
            self.assertRegex(reply.decode(), "disk of the store is full|try again")
            self.assertLess(time.monotonic(), end, reply)

    def fill(self):
        """Fill the volume with a file that does not belong to the store."""
        with open(os.path.join(self.volume, "other"), "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass

    def test_the_server_survives_a_full_volume(self):
        with Server("--data", self.volume) as server:
            # About 250 of these uploads fit in the store when they are compacted.
            for seed in range(8 * UPLOADS):
                self.send_until_accepted(server, seed)
                if seed % 50 == 0 and metric(server, "spanprof_store_dropped_profiles_total") > 0:
                    break
            self.assertGreater(metric(server, "spanprof_store_dropped_profiles_total"), 0)
            self.assertGreater(metric(server, "spanprof_store_profiles"), 0)
        with Server("--data", self.volume) as server:
            self.send_until_accepted(server, 8 * UPLOADS)

    def test_another_program_fills_the_volume_and_frees_it(self):
        with Server("--data", self.volume) as server:
            for seed in range(UPLOADS // 2):
                self.send_until_accepted(server, seed)
            self.fill()
            for seed in range(UPLOADS // 2, UPLOADS):
                self.send_until_accepted(server, seed)
        self.fill()
        with Server("--data", self.volume) as server:
            self.send_until_accepted(server, UPLOADS)
            os.unlink(os.path.join(self.volume, "other"))
            for seed in range(UPLOADS + 1, UPLOADS + 20):
                self.send_until_accepted(server, seed)
            self.assertGreater(metric(server, "spanprof_store_profiles"), 19)


if __name__ == "__main__":
    unittest.main(verbosity=2)
