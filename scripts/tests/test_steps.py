"""Outlines of step functions, against the plain definition of one."""

from __future__ import annotations

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

import steps


@st.composite
def step_functions(draw: st.DrawFn) -> tuple[list[float], list[float], float]:
    gaps = draw(st.lists(st.integers(1, 40), min_size=1, max_size=30))
    t = [0.0]
    for gap in gaps[:-1]:
        t.append(t[-1] + gap / 4)
    values = draw(st.lists(st.integers(0, 5), min_size=len(t), max_size=len(t)))
    return t, [float(v) for v in values], t[-1] + gaps[-1] / 4


def value_at(t: list[float], values: list[float], time: float) -> float:
    return [value for start, value in zip(t, values, strict=True) if start <= time][-1]


def height_at(corners: list[steps.Point], x: float) -> float:
    for (x0, y0), (x1, y1) in itertools.pairwise(corners):
        if x0 <= x < x1:
            assert y0 == y1
            return y0
    raise AssertionError(f"no level line over {x}")


def test_running_totals_add_up_column_by_column():
    assert steps.running_totals([[1, 2], [10, 20], [0, 5]]) == [[1, 2], [11, 22], [11, 27]]


@given(step_functions())
def test_outline_has_the_value_of_every_moment(function: tuple[list[float], list[float], float]):
    t, values, end = function
    # All times are multiples of the cell, so nothing may be lost.
    corners = steps.outline(steps.cells(t, values, end, 0.25), 0.25)
    rng = random.Random(0)
    for time in [*t, *(rng.uniform(0, end * 0.999) for _ in range(20))]:
        assert height_at(corners, time) == value_at(t, values, time)


@given(step_functions(), st.sampled_from([0.3, 1.0, 2.7]))
def test_a_wide_cell_has_the_largest_value_within_it(function: tuple[list[float], list[float], float], width: float):
    t, values, end = function
    held = steps.cells(t, values, end, width)
    assert len(held) == max(1, round(end / width))
    for cell, largest in enumerate(held):
        inside = [v for start, v in zip(t, values, strict=True) if cell * width < start < (cell + 1) * width]
        assert largest == max([value_at(t, values, cell * width), *inside])


def test_equal_runs_are_one_step_and_lines_are_level_or_upright():
    corners = steps.outline([2.0, 2.0, 2.0, 1.0, 1.0], 1)
    assert corners == [(0, 0), (0, 0), (0, 2), (3, 2), (3, 1), (5, 1), (5, 0)]


def test_roomiest_is_the_tallest_then_the_middlemost_box():
    assert steps.roomiest([0, 0, 0, 0, 0, 0], [1, 3, 3, 3, 3, 1], 2) == (2, 0, 3)
    assert steps.roomiest([0, 0], [1, 1], 3) is None
    assert steps.roomiest([1, 1], [1, 1], 1) is None
