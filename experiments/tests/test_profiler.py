import json
from pathlib import Path
from typing import Any

import pytest
import torch

from backprop import BackProp
from timelines import contract, profiler
from timelines.optimizers import adamw
from timelines.training import TrainingStep
from workloads.linear_stack import LinearStack

STACK = LinearStack(batch_size=32, width=128, layers=4)
LAYER = 4 * STACK.width**2  # bytes
SCALARS = 256  # bytes: a few step counts and scalars, for which the profiler has names of its own
CPU = torch.device("cpu")


def _record(mode: str, implementation: str, raw: Path | None = None) -> dict[str, Any]:
    """Bytes by category after each change."""
    step = TrainingStep(STACK, "default", adamw(implementation), CPU)
    if mode == "backprop":  # all of this model fits in a bucket: update one by one
        step.model, step.optimizer = BackProp(step.model, step.optimizer, bucket_bytes=0)
    step()
    changes, end, phases = profiler.record(step, raw)
    running = dict.fromkeys(contract.CATEGORIES, 0)
    columns: dict[str, list[int]] = {name: [] for name in contract.CATEGORIES}
    for _, change in changes:
        for name, delta in change.items():
            running[name] += delta
        for name in columns:
            columns[name].append(running[name])
    return {"columns": columns, "times": [ms for ms, _ in changes], "end": end, "phases": phases}


@pytest.mark.parametrize("implementation", ["for-loop", "foreach", "fused"])
@pytest.mark.parametrize("mode", contract.MODES)
def test_categories_are_what_the_tensors_are_in_both_modes(mode: str, implementation: str):
    columns = _record(mode, implementation)["columns"]
    parameters = 4 * STACK.parameters
    assert columns["PARAMETER"][-1] == max(columns["PARAMETER"]) == parameters
    state = columns["OPTIMIZER_STATE"]
    assert (
        state[-1] == max(state) == pytest.approx(2 * parameters, abs=SCALARS)
    )  # two moments, and each one's step count
    assert max(columns["INPUT"]) == pytest.approx(4 * STACK.batch_size * STACK.width, abs=SCALARS)
    gradients = max(columns["GRADIENT"])
    assert gradients == (parameters if mode == "default" else pytest.approx(LAYER, rel=0.02))
    for name in ("INPUT", "ACTIVATION", "GRADIENT", "AUTOGRAD_DETAIL", "TEMPORARY"):
        assert columns[name][-1] == 0, f"{name} outlives the step"
        assert min(columns[name]) >= 0
    plain = mode == "default"  # whose loop still holds one parameter's denominator while it computes the next one's
    temporaries = {"for-loop": (2 + plain) * LAYER, "fused": 0, "foreach": parameters if plain else LAYER}
    assert max(columns["TEMPORARY"]) == pytest.approx(temporaries[implementation], rel=0.05, abs=LAYER / 50)


def test_the_totals_are_those_of_the_raw_export(tmp_path: Path):
    """The oracle is torch's own export of the same profile."""
    record = _record("backprop", "for-loop", tmp_path / "raw.json")
    times, rows = json.loads((tmp_path / "raw.json").read_text())
    assert len(times) == len(rows) > 20
    columns = record["columns"]
    totals = [sum(values) for values in zip(*columns.values(), strict=True)]
    assert max(totals) == max(sum(row) for row in rows)
    assert totals[-1] == sum(rows[-1])


def test_phases_are_in_order_and_the_walk_is_in_the_optimizer_step():
    plain, ours = _record("default", "fused"), _record("backprop", "fused")
    for record in (plain, ours):
        clock = 0.0
        for name in contract.PHASES:
            start, end = record["phases"][name]
            assert clock <= start <= end <= record["end"]
            clock = end

    def during(record: dict, phase: str) -> int:
        start, end = record["phases"][phase]
        inside = [g for ms, g in zip(record["times"], record["columns"]["GRADIENT"], strict=True) if start <= ms <= end]
        return max(inside, default=0)

    assert during(plain, "backward") == 4 * STACK.parameters
    assert during(ours, "backward") == 0
    assert during(ours, "optimizer step") >= LAYER
