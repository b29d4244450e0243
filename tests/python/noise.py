"""Limits for random deviations of profiles from the measured CPU times. A correct
profile exceeds such a limit at most once in a million tests."""

from __future__ import annotations

import math
import os
import random

# A normally distributed value deviates by more than so many standard deviations with
# the probability 1e-6.
DEVIATIONS = 4.9
# By Hoeffding's inequality, a sum of n independent values, each within a range of width
# one, deviates by more than SUM_OF_ROUNDED * sqrt(n) with at most this probability:
# sqrt(log(2e6) / 2).
SUM_OF_ROUNDED = 2.7
# The kernel checks a thread's CPU timer at its own ticks, at least 250 times a second,
# so a sample can be LATE_S late. If the thread ends before, its remaining time is
# recorded at its end. On a virtual machine, the hypervisor may stop a processor for
# AWAY_S or longer (45 ms were seen).
LATE_S = 0.004
AWAY_S = 0.06


def stolen_s() -> float:
    """Seconds, since the start of this machine and summed over its processors, for
    which the hypervisor did not let it run (steal in
    https://docs.kernel.org/filesystems/proc.html)."""
    with open("/proc/stat", encoding="ascii") as stat:
        return int(stat.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


BEGAN_S = stolen_s()


def late_s() -> float:
    """Maximum CPU time of a thread between two recorded ticks, in seconds."""
    return max(AWAY_S, stolen_s() - BEGAN_S)


def of_time(true_s: float, total_s: float, tick_s: float, threads: int = 1) -> float:
    """Maximum deviation, in seconds, of a part of a profile from its true CPU time
    true_s. total_s is the CPU time of the whole profile. `threads` threads began or
    ended during the profile, and the time of each is rounded to ticks."""
    count = total_s / tick_s
    share = min(true_s / total_s, 1)
    drawn = DEVIATIONS * math.sqrt(count * share * (1 - share))
    rounded = min(threads, SUM_OF_ROUNDED * math.sqrt(threads))
    return (drawn + rounded) * tick_s + threads * LATE_S + late_s()


def distance(one: dict[str, float], other: dict[str, float]) -> float:
    """Half the sum of the differences between two sets of shares."""
    return sum(abs(one.get(k, 0) - other.get(k, 0)) for k in one.keys() | other.keys()) / 2


def of_shares(shares: dict[str, float], count: int) -> float:
    """Maximum distance between these shares and the shares of `count` samples that are
    drawn at random with these probabilities."""
    draw = random.Random(1)
    names, weights = list(shares), list(shares.values())
    distances = []
    for _ in range(300):
        drawn = draw.choices(names, weights, k=count)
        distances.append(distance(shares, {n: drawn.count(n) / count for n in names}))
    mean = sum(distances) / len(distances)
    return mean + DEVIATIONS * math.sqrt(sum((d - mean) ** 2 for d in distances) / len(distances))
