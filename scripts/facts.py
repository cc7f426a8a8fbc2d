"""Figures and words that the pictures and the report say about a memory_timelines.json."""

from __future__ import annotations

import re
from typing import Any

from files import MODES

TITLES = {"default": "Default", "backprop": "BackProp"}


def clean(text: object) -> str:
    """Text for one line: control characters, which neither XML nor a font can take, become spaces."""
    return re.sub(r"\s+", " ", re.sub(r"[^\w\s!-~\u00a1-\ud7ff\ue000-\ufffd]", " ", str(text))).strip()


def gb(value: float) -> str:
    """An amount with its unit: 13.76 GB, or 0.215 GB below one."""
    return f"{value:.2f} GB" if abs(value) >= 1 else f"{value:.3f} GB"


def saving(data: dict[str, Any]) -> float:
    """How much lower backprop's peak is, GB; negative where it is higher."""
    return round(data["default"]["peak_gb"] - data["backprop"]["peak_gb"], 4)


def difference(data: dict[str, Any]) -> str:
    """Backprop's peak against default's: `−2.48 GB (−18.0 %)`."""
    saved, peak = saving(data), data["default"]["peak_gb"]
    sign = "−" if saved > 0 else "+"
    share = f" ({sign}{abs(saved) / peak:.1%})".replace("%", "\u00a0%") if peak else ""
    return f"{sign}{gb(abs(saved))}{share}" if saved else "the same peak"


def held_at(timeline: dict[str, Any], time: float) -> list[float]:
    """GB of each category at a time, ms: that of the last sample that is not after it."""
    index = max(i for i, t in enumerate(timeline["t"]) if t <= time or i == 0)
    return [column[index] for column in timeline["gb"]]


def optimizer(data: dict[str, Any]) -> str:
    """The optimizer and which of its implementations ran, without which peaks cannot be compared."""
    used = data["workload"]["optimizer"]
    return clean(f"{used['name']} ({used['implementation']})")


def sizes(data: dict[str, Any]) -> str:
    """What was trained, in a line: parameters, layers, width, batch size and dtype."""
    workload = data["workload"]
    parts = [f"{clean(workload['name'])}: {workload['parameters']:,} parameters"]
    if "layers" in workload:
        parts.append(f"{workload['layers']} layers")
    if workload.get("widths"):
        parts.append(f"width {max(workload['widths']):,}")
    return ", ".join([*parts, f"batch {workload['batch_size']:,}", clean(workload["dtype"])])


def place(data: dict[str, Any]) -> str:
    """Where it ran: device and torch version, and whether it was predicted and not measured."""
    environment = data["environment"]
    predicted = "predicted for " if environment["source"] == "simulated" else ""
    return f"{predicted}{clean(environment['device'])}, torch {clean(environment['torch'])}"


def ratio(data: dict[str, Any]) -> float | None:
    """Backprop's time per unprofiled step over default's; None where one was not timed."""
    default, backprop = (data[mode]["step_ms"] for mode in MODES)
    return backprop / default if default and backprop else None


def summary(data: dict[str, Any]) -> str:
    """The comparison in words, for whoever cannot see the picture."""
    peaks = [f"{TITLES[mode]}: peak {gb(data[mode]['peak_gb'])} at {data[mode]['peak_t']:.1f} ms" for mode in MODES]
    return f"{'; '.join(peaks)}. Difference: {difference(data)}. {place(data)}. {optimizer(data)}. {sizes(data)}."
