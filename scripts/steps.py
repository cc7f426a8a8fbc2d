"""Step functions of time as outlines to fill: pure geometry, no drawing.

Memory holds its value until the next sample, so an area has only level and upright sides, and never slopes.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence

Point = tuple[float, float]


def running_totals(columns: Sequence[Sequence[float]]) -> list[list[float]]:
    """Upper edges of the stacked areas: for each column, its sum with all columns before it, sample by sample."""
    edges: list[list[float]] = []
    below = [0.0] * len(columns[0])
    for column in columns:
        below = [b + value for b, value in zip(below, column, strict=True)]
        edges.append(below)
    return edges


def cells(t: Sequence[float], values: Sequence[float], end: float, width: float) -> list[float]:
    """The largest value held anywhere in each cell of `width` from 0 to `end`, in order.

    A picture cannot show more than one value in a cell that is narrower than a pixel. The largest is the one to keep:
    a short peak then stays visible, which skipping samples would lose.

    Args:
        t: times of the samples, strictly increasing from 0.
        values: one value for each time, held until the next.
        end: where the last sample ends, after the last time; same unit as `t`.
        width: of one cell, in the same unit.
    """
    count = max(1, round(end / width))
    held = []
    for cell in range(count):
        first = bisect.bisect_right(t, cell * width) - 1
        last = bisect.bisect_left(t, (cell + 1) * width)
        held.append(max(values[first:last]))
    return held


def outline(held: Sequence[float], width: float) -> list[Point]:
    """Corners of the area under the cells, from the baseline back to it; a run of equal cells is one step."""
    corners: list[Point] = [(0.0, 0.0)]
    level = 0.0
    for cell, value in enumerate(held):
        if value != level:
            corners += [(cell * width, level), (cell * width, value)]
            level = value
    end = len(held) * width
    return [*corners, (end, level), (end, 0.0)]


def roomiest(low: Sequence[float], high: Sequence[float], span: int) -> tuple[int, float, float] | None:
    """Where a label of `span` cells has most room between two edges.

    Returns:
        (first cell, bottom, top) of the tallest box of that span that lies wholly in the band, the middlemost of
        equals; None where the band is not as long as the label or is empty all along.
    """
    best: tuple[float, float, int, float, float] | None = None
    for first in range(len(low) - span + 1):
        bottom, top = max(low[first : first + span]), min(high[first : first + span])
        off_centre = abs(first + span / 2 - len(low) / 2)
        if top > bottom and (best is None or (round(top - bottom, 9), -off_centre) > best[:2]):
            best = (round(top - bottom, 9), -off_centre, first, bottom, top)
    return best and best[2:]
