"""Medians and their intervals, against simulation and against tables."""

import random
import statistics as stdlib

import pytest

from timelines.bench import statistics


def test_the_median_is_the_standard_librarys():
    rng = random.Random(0)
    for count in (1, 2, 5, 8, 31):
        values = [rng.random() for _ in range(count)]
        found = statistics.median(values)
        assert found.median == stdlib.median(values)
        assert min(values) <= found.low <= found.median <= found.high <= max(values)


# Ranks from tables of the sign test at 5 %, two-sided: with n values, the interval runs from the k-th smallest on.
@pytest.mark.parametrize(("count", "k"), [(6, 1), (8, 1), (9, 2), (12, 3), (15, 4), (20, 6), (25, 8), (50, 18)])
def test_the_interval_runs_between_the_ranks_of_the_tables(count, k):
    found = statistics.median(list(range(1, count + 1)))
    assert (found.low, found.high) == (k, count + 1 - k)
    assert found.confidence >= 0.95


def test_few_values_say_how_sure_they_are():
    assert statistics.median([3.0, 1.0, 2.0]) == statistics.Estimate(2.0, 1.0, 3.0, 0.75)
    assert statistics.median([5.0]).confidence == 0.0


@pytest.mark.parametrize("count", [7, 20])
def test_the_interval_covers_the_true_median_as_often_as_it_says(count):
    rng = random.Random(1)
    found = [statistics.median([rng.expovariate(1.0) for _ in range(count)]) for _ in range(4000)]
    covered = sum(estimate.low <= 0.693147 <= estimate.high for estimate in found)  # ln 2 is the true median
    assert covered / len(found) == pytest.approx(found[0].confidence, abs=0.015)


def test_a_ratio_pairs_what_was_measured_together():
    assert statistics.ratio([2.0, 30.0, 400.0], [1.0, 10.0, 100.0]).median == 3.0


def test_no_values_are_refused():
    with pytest.raises(ValueError, match="at least one value"):
        statistics.median([])
    with pytest.raises(ValueError, match="zip"):
        statistics.ratio([1.0], [1.0, 2.0])
