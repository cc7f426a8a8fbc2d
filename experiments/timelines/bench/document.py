"""What the benchmark found, as the JSON that data/benchmarks keeps."""

import importlib.metadata
import math
from typing import Any

from timelines.bench import statistics
from timelines.bench.memory import Memory
from timelines.bench.peers import PACKAGES
from timelines.bench.race import Outcome


def rows(outcome: Outcome, memories: dict[str, Memory | str]) -> list[dict[str, Any]]:
    """A row for each contestant of one race: its figures, or the reason why there are none.

    `over_plain` is its step time over the plain fused loop's, `backprop_over` fused BackProp's over its own, both
    medians of ratios within a round. `same_weights_as` lists the plain loops with its weights, to the last bit. The
    floor is the lowest that any loop with the weights of a plain one could have reached.
    """
    floor = min((m.floor for m in memories.values() if isinstance(m, Memory) and _equals(m, memories)), default=None)
    found = []
    for name, lap in outcome.items():
        memory = memories[name]
        if isinstance(lap, str) or isinstance(memory, str):
            found.append({"contestant": name, "reason": lap if isinstance(lap, str) else memory})
            continue
        found.append(
            {
                "contestant": name,
                "rounds": len(lap.times),
                "step_ms": estimate(statistics.median(lap.times)),
                "over_plain": estimate(statistics.ratio(lap.times, lap.reference)),
                "backprop_over": estimate(statistics.ratio(lap.subject, lap.times)),
                "same_weights_as": _equals(memory, memories),
                "peak_bytes": memory.peak,
                "floor_bytes": floor,
                "rss_peak_gb": memory.rss_peak_gb,
                **memory.allocator,
            }
        )
    return found


def estimate(found: statistics.Estimate) -> dict[str, float]:
    """A median and its interval, to four digits."""
    return {key: _rounded(value) for key, value in vars(found).items()}


def _rounded(value: float) -> float:
    return round(value, 3 - math.floor(math.log10(abs(value)))) if value else 0.0


def _equals(memory: Memory, memories: dict[str, Memory | str]) -> list[str]:
    return [
        name
        for name, other in memories.items()
        if name.startswith("plain ") and isinstance(other, Memory) and other.weights == memory.weights
    ]


def versions() -> dict[str, str | None]:
    """The peers' packages; None for one that is not installed."""
    found: dict[str, str | None] = {}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = None
    return found
