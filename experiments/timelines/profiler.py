"""The timeline of one training step from torch.profiler's memory events, on CUDA and on the CPU.

torch.profiler guesses categories from the data flow that it has seen, and in BackProp's mode, where the optimizer's
step comes in pieces inside the backward walk, it takes the optimizer's state for autograd's or for unknown. So the
storages that outlive a step are named by what they are (parameter, optimizer state), and the profiler's word is taken
for the rest; what it leaves unnamed counts as temporary, as it calls the same allocations in the other mode.
"""

import contextlib
import gc
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from timelines.categories import CATEGORIES
from timelines.contract import PHASES, Change
from timelines.training import TrainingStep

_MARK = "timelines: "
_WHOLE = "training step"


def record(
    step: TrainingStep, raw_path: Path | None = None
) -> tuple[list[Change], float, dict[str, tuple[float, float]]]:
    """Profiles one step. Returns its memory changes, its end in ms, and the start and end of its phases in ms.

    Args:
        step: taken once before, so that the optimizer's state is there.
        raw_path: where to write torch.profiler's own export: [times in microseconds, rows of nine sizes in bytes], in
            the order of torch.profiler._memory_profiler._CATEGORY_TO_INDEX after one unused column.
    """
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # or its library reports each start and stop on stderr
    gc.collect()
    known = step.known_storages()
    activities = [torch.profiler.ProfilerActivity.CPU]
    if step.device.type == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    # The export wants stacks and shapes: from them it tells parameters, gradients and activations apart.
    with (
        torch.profiler.profile(
            activities=activities, record_shapes=True, profile_memory=True, with_stack=True
        ) as profile,
        _mark(_WHOLE),
    ):
        step(phase=_mark)
    device = _device_name(step.device)
    if raw_path is not None:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*export_memory_timeline.*", FutureWarning)
            profile.export_memory_timeline(str(raw_path), device)
    marks = dict(_marks(profile))
    start, end = marks.pop(_WHOLE)
    changes = list(_changes(profile, known, torch.device(device), start))
    if not changes:
        raise RuntimeError(f"torch.profiler saw no memory events on {device}")
    in_ms = {name: ((marks[name][0] - start) / 1e6, (marks[name][1] - start) / 1e6) for name in PHASES}
    return changes, (end - start) / 1e6, in_ms


def _mark(name: str) -> contextlib.AbstractContextManager[Any]:
    return torch.profiler.record_function(_MARK + name)


def _device_name(device: torch.device) -> str:
    return "cpu" if device.type == "cpu" else f"cuda:{device.index or 0}"


def _marks(profile: torch.profiler.profile) -> Iterator[tuple[str, tuple[int, int]]]:
    """Start and end, in ns on the clock of the memory events, of the ranges that _mark made."""
    results = profile.profiler and profile.profiler.kineto_results
    assert results is not None
    events = list(results.experimental_event_tree())
    while events:
        event = events.pop()
        if event.name.startswith(_MARK):
            end = event.start_time_ns + event.duration_time_ns
            yield event.name.removeprefix(_MARK), (event.start_time_ns, end)
        events.extend(event.children)


def _changes(
    profile: torch.profiler.profile, known: dict[int, str], device: torch.device, start: int
) -> Iterator[Change]:
    memory: Any = profile._memory_profile()  # private, as the export that torch deprecates has no public heir
    named: dict[Any, str] = {}  # allocations that were there before and are known by address

    def category(key: Any, version: int) -> str:
        if key in named:
            return named[key]
        found = memory._categories.get(key, version) if hasattr(key, "id") else None
        # What outlives the step is known; another that the profiler calls parameter or state is mistaken for one.
        if found is None or found.name not in CATEGORIES or found.name in ("PARAMETER", "OPTIMIZER_STATE"):
            return "TEMPORARY"
        return found.name

    for time, action, (key, version), size in memory.timeline:
        if key.device != device:
            continue
        ms = 0.0 if time < 0 else max(0.0, (time - start) / 1e6)
        if action.name == "PREEXISTING" and key.storage.ptr in known:
            named[key] = known[key.storage.ptr]
        if action.name in ("PREEXISTING", "CREATE"):
            yield ms, {category(key, version): size}
        elif action.name == "DESTROY":
            yield ms, {category(key, version): -size}
        elif category(key, version) != category(key, version + 1):  # the same bytes under another name
            yield ms, {category(key, version): -size, category(key, version + 1): size}
