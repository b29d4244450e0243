"""Limits for random deviations of profiles from the measured CPU times. A correct
profile exceeds them at most once in a million times."""

from __future__ import annotations

import math
import os
import random

# Two-sided quantile of a normal distribution for 1e-6.
DEVIATIONS = 4.9
# The same by Hoeffding's inequality, for a sum of n independent values within a range
# of width one: sqrt(log(2e6) / 2).
SUM_OF_ROUNDED = 2.7
# Kernels check a thread's CPU clock at their own ticks, at least 250 times a second. A
# sample that is due just before a thread ends is recorded at the end. On machines that
# share processors, a processor may be unavailable for AWAY_S or longer (45 ms were seen).
LATE_S = 0.004
AWAY_S = 0.06


def stolen_s() -> float:
    """Seconds for which a hypervisor kept the machine from running, since its start and
    on all processors (steal in https://docs.kernel.org/filesystems/proc.html)."""
    with open("/proc/stat", encoding="ascii") as stat:
        return int(stat.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


BEGAN_S = stolen_s()


def late_s() -> float:
    """Maximum CPU time of a thread between two recorded ticks, in seconds."""
    return max(AWAY_S, stolen_s() - BEGAN_S)


def of_time(true_s: float, total_s: float, tick_s: float, threads: int = 1) -> float:
    """Maximum deviation, in seconds, of the CPU time true_s in one place of a profile with
    the CPU time total_s. `threads` began or ended meanwhile; each rounds its time to ticks."""
    count = total_s / tick_s
    share = min(true_s / total_s, 1)
    drawn = DEVIATIONS * math.sqrt(count * share * (1 - share))
    rounded = min(threads, SUM_OF_ROUNDED * math.sqrt(threads))
    return (drawn + rounded) * tick_s + threads * LATE_S + late_s()


def distance(one: dict[str, float], other: dict[str, float]) -> float:
    """Half the summed difference of shares."""
    return sum(abs(one.get(k, 0) - other.get(k, 0)) for k in one.keys() | other.keys()) / 2


def of_shares(shares: dict[str, float], count: int) -> float:
    """Maximum distance between the shares and those of `count` random samples."""
    draw = random.Random(1)
    names, weights = list(shares), list(shares.values())
    distances = []
    for _ in range(300):
        drawn = draw.choices(names, weights, k=count)
        distances.append(distance(shares, {n: drawn.count(n) / count for n in names}))
    mean = sum(distances) / len(distances)
    return mean + DEVIATIONS * math.sqrt(sum((d - mean) ** 2 for d in distances) / len(distances))
