#!/usr/bin/env python3
"""Pushes to a running server: push.py URL [PPROF.gz [SECONDS]]

64 connections send one profile again and again, each time at another time, in
20 series, and wait for each answer. Prints the rate, the median and p99. The
profile is made up where no file is given: 300 stacks, 100 spans."""
import gzip
import http.client
import random
import sys
import threading
import time
import urllib.parse

CONNECTIONS = 64
SERIES = 20


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def profile(stacks=300, spans=100, functions=470):
    """All but time_nanos, which is appended."""
    rng = random.Random(1)
    texts = ["", "cpu", "nanoseconds", "span_id", "span_name"]
    texts += [f"GET /orders/{i}" for i in range(10)]
    first_span = len(texts)
    texts += [f"{rng.getrandbits(64):016x}" for _ in range(spans)]
    first = len(texts)
    texts += [f"Shop::Orders{i % 40}#handle_{i}" for i in range(functions)] + ["/srv/app/lib/orders.rb"]
    out = [field(1, field(1, 1) + field(2, 2)), field(11, field(1, 1) + field(2, 2)), field(12, 10**7)]
    paths = [[rng.randrange(functions) + 1 for _ in range(30)] for _ in range(stacks)]
    for _ in range(600):
        span = rng.randrange(spans)
        labels = field(3, field(1, 3) + field(2, first_span + span)) + field(3, field(1, 4) + field(2, 5 + span % 10))
        out.append(field(2, field(1, b"".join(map(varint, rng.choice(paths)))) + field(2, varint(10**7)) + labels))
    for i in range(functions):
        out.append(field(4, field(1, i + 1) + field(4, field(1, i + 1) + field(2, i + 3))))
        out.append(field(5, field(1, i + 1) + field(2, first + i) + field(4, len(texts) - 1)))
    return b"".join(out + [field(6, text.encode()) for text in texts])


def request(plain, series, at):
    labels = b"".join(field(1, field(1, name.encode()) + field(2, value.encode())) for name, value in (
        ("__name__", "process_cpu"), ("service_name", f"shop-{series}")))
    raw = gzip.compress(plain + field(9, at), 1)
    return field(1, labels + field(2, field(1, raw)))


def main():
    address = urllib.parse.urlsplit(sys.argv[1])
    plain = profile()
    if len(sys.argv) > 2 and sys.argv[2]:
        with gzip.open(sys.argv[2]) as file:
            plain = file.read()
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 5
    now, made, times, wrong = time.time_ns(), [], [], []
    for i in range(int(seconds * 700)):
        made.append(request(plain, i % SERIES, now - i * 5_000_000 // 10))
    print(f"{len(made)} requests of {len(made[0])} bytes")
    end = time.monotonic() + seconds

    def push():
        connection = http.client.HTTPConnection(address.netloc)
        while made and time.monotonic() < end:
            body = made.pop()
            began = time.monotonic()
            connection.request("POST", "/push.v1.PusherService/Push", body, {"Content-Type": "application/proto"})
            answer = connection.getresponse()
            answer.read()
            times.append(time.monotonic() - began)
            if answer.status != 200:
                wrong.append(answer.status)

    threads = [threading.Thread(target=push) for _ in range(CONNECTIONS)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.monotonic() - began
    times.sort()
    print(f"{len(times) / took:.0f} pushes/s, median {times[len(times) // 2] * 1e3:.1f} ms, "
          f"p99 {times[len(times) * 99 // 100] * 1e3:.1f} ms, refused {len(wrong)} {set(wrong) or ''}")


if __name__ == "__main__":
    main()
