"""load.py PORT SECONDS: sends requests to a service over loopback. Exits with 1 if a request
failed."""
from __future__ import annotations

import http.client
import random
import sys
import threading
import time
from collections import Counter

WORDS = ["thread", "socket", "parse", "iterator", "encoding", "path", "signal", "error", "queue", "import"]
TEXTS = ["argparse", "ast", "bdb", "calendar", "cgi", "cmd", "codecs", "configparser", "csv", "dataclasses"]


def path(source: random.Random) -> str:
    kind = source.random()
    if kind < 0.5:
        return "/search?words=" + "+".join(source.sample(WORDS, source.randint(1, 4)))
    if kind < 0.8:
        return "/compare?one={}&other={}".format(*source.sample(TEXTS, 2))
    return f"/pack?text={source.choice(TEXTS)}"


def request(port: int, until: float, seed: int, answers: Counter[int], lock: threading.Lock) -> None:
    source = random.Random(seed)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    while time.monotonic() < until:
        connection.request("GET", path(source))
        answer = connection.getresponse()
        answer.read()
        with lock:
            answers[answer.status] += 1


def main() -> None:
    port, seconds = int(sys.argv[1]), float(sys.argv[2])
    answers: Counter[int] = Counter()
    lock = threading.Lock()
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=request, args=(port, until, seed, answers, lock)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{answers.total()} requests in {seconds:g} s, answers: "
          + ", ".join(f"{count} x {status}" for status, count in answers.items()))
    sys.exit(set(answers) != {200})


if __name__ == "__main__":
    main()
