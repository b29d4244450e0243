#!/usr/bin/env python3
"""Uploads to a server at a steady rate, and prints the sizes of the store's files each second.

  tests/bench/server/disk_bounds.py SERVER [--seconds 300] [--rate 1300000] [--data DIR] [-- OPTION...]

Prints the largest total size of the files, the number of refusals, and the longest time from a
refusal to the next accepted upload. OPTIONs are the server's, such as `--max-bytes 20M`.
"""
import argparse
import http.client
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "server"))
from messages import number, pprof, push  # noqa: E402 # sys.path must be set before


def template(rng):
    """Returns a pprof of about 30 KB. A third of its functions and all its ids have an @, which
    each upload replaces by something else."""
    def frame():
        return f"app.module{rng.randrange(400)}.call" if rng.random() < 0.7 else f"generated.{'@' * 16}.{rng.random()}"
    return pprof([(tuple(frame() for _ in range(rng.randrange(3, 12))), (rng.randrange(1, 90) * 10_000_000,),
                   {"span_id": "@" * 12 + f"{n:04x}", "trace_id": "@" * 28 + f"{n:04x}"}) for n in range(120)], 1)


def upload(templates, rng):
    which = rng.randrange(len(templates))
    filled = re.sub(b"@+", lambda found: f"{rng.getrandbits(4 * len(found[0])):0{len(found[0])}x}".encode(), templates[which])
    return push({"__name__": "process_cpu", "service_name": f"service{which}"}, filled + number(9, time.time_ns()))


def sizes(directory):
    found = {}
    for name in os.listdir(directory):
        try:
            found[name] = os.stat(os.path.join(directory, name)).st_size
        except FileNotFoundError:
            pass
    return found


def main():
    own, server_options = sys.argv[1:], []
    if "--" in own:
        at = own.index("--")
        own, server_options = own[:at], own[at + 1:]
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--rate", type=float, default=1_300_000)
    parser.add_argument("--data")
    given = parser.parse_args(own)
    data = given.data or tempfile.mkdtemp()
    server = subprocess.Popen([given.server, "--listen", "127.0.0.1:0", "--data", data, *server_options],
                              stdout=subprocess.PIPE, text=True)
    port = int(re.search(r"127\.0\.0\.1:(\d+)", server.stdout.readline())[1])
    threading.Thread(target=server.stdout.read, daemon=True).start()
    templates = [template(random.Random(number)) for number in range(20)]
    begin, sent, taken, refusals, longest, refused_at, largest, next_look = time.monotonic(), 0, 0, 0, 0, None, {}, 0
    lock, answers = threading.Lock(), {}

    def load(worker):
        nonlocal sent, taken, refusals, longest, refused_at
        rng, connection = random.Random(worker), http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while time.monotonic() - begin < given.seconds:
            body = upload(templates, rng)
            connection.request("POST", "/push.v1.PusherService/Push", body, {"Content-Type": "application/proto"})
            answer = connection.getresponse()
            text = answer.read()
            with lock:
                now = time.monotonic()
                sent += len(body)
                if answer.status == 200:
                    taken += 1
                    if refused_at is not None:
                        longest, refused_at = max(longest, now - refused_at), None
                else:
                    refusals += 1
                    refused_at = refused_at or now
                    answers[(answer.status, text[:200])] = answers.get((answer.status, text[:200]), 0) + 1
                ahead = sent / given.rate - (now - begin)
            if ahead > 0:
                time.sleep(ahead)

    workers = [threading.Thread(target=load, args=(i,)) for i in range(4)]
    for one in workers:
        one.start()
    while any(one.is_alive() for one in workers):
        now = sizes(data)
        if sum(now.values()) > sum(largest.values()):
            largest = now
        if time.monotonic() > next_look:
            next_look = time.monotonic() + given.seconds / 10
            print(f"{time.monotonic() - begin:6.1f} s {sum(now.values()) / 1e6:8.1f} MB {now} "
                  f"taken {taken} refused {refusals}", flush=True)
        time.sleep(0.25)
    if refused_at is not None:
        longest = max(longest, time.monotonic() - refused_at)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/metrics")
    metrics = connection.getresponse().read().decode()
    server.terminate()
    server.wait()
    print(f"sent {sent / 1e6:.0f} MB, taken {taken}, refused {refusals}, longest refusal {longest:.1f} s")
    print(f"largest: {sum(largest.values()) / 1e6:.1f} MB {largest}; at the end: {sizes(data)}")
    print("\n".join(line for line in metrics.splitlines() if line.startswith("spanprof_store")))
    for answer, count in answers.items():
        print(count, *answer)


if __name__ == "__main__":
    main()
