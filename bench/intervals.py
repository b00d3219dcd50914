"""Intervals and tests of shares and of paired differences, for the benchmarks."""

import math
import random
import statistics

RESAMPLES = 2000


def wilson(right: int, number: int) -> tuple[float, float]:
    """The 95 % interval of a share, after Wilson."""
    z = 1.96
    middle = right + z * z / 2
    half = z * math.sqrt(right * (number - right) / number + z * z / 4)
    return (middle - half) / (number + z * z), (middle + half) / (number + z * z)


def sign_test(better: int, worse: int) -> float:
    """The probability of a split at least as uneven, two-sided and exact."""
    changed = better + worse
    tail = sum(math.comb(changed, k) for k in range(min(better, worse) + 1))
    return min(1, 2 * tail / 2 ** changed)


def mean_interval(differences: list[float]) -> tuple[float, float]:
    """95 % of the means of resampled differences: the paired bootstrap."""
    draw = random.Random(1)
    means = sorted(statistics.fmean(draw.choices(differences, k=len(differences))) for _ in range(RESAMPLES))
    return means[RESAMPLES // 40], means[-RESAMPLES // 40]
