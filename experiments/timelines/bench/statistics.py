"""Medians of paired measurements, with intervals that assume nothing about their distribution."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A median and its interval: at least 95 % sure, or as sure as the widest one (`confidence`) with few values."""

    median: float
    low: float
    high: float
    confidence: float


def median(values: Sequence[float]) -> Estimate:
    """The median of `values`, independent draws, with the order-statistic interval.

    The k-th smallest and k-th largest of n values enclose the true median with probability 1 - 2 P(B < k), where B
    counts heads among n tosses of a coin (David and Nagaraja, Order Statistics, section 7.1). The largest k that
    reaches 95 % is taken; fewer than six values never do, and then the interval is their whole range.

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("a median needs at least one value")
    ordered, n = sorted(values), len(values)
    k = max((k for k in range(1, n // 2 + 1) if _confidence(n, k) >= 0.95), default=1)
    return Estimate(statistics.median(ordered), ordered[k - 1], ordered[n - k], _confidence(n, k))


def _confidence(n: int, k: int) -> float:
    return 1 - 2 * sum(math.comb(n, heads) for heads in range(k)) / 2**n


def ratio(values: Sequence[float], others: Sequence[float]) -> Estimate:
    """The median of values[i] / others[i], where each pair was measured in the same round."""
    return median([value / other for value, other in zip(values, others, strict=True)])
