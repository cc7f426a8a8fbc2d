from typing import Any

import pytest
import torch
from small_workloads import SMALL

from timelines import contract
from timelines.categories import CATEGORIES
from timelines.optimizers import OptimizerChoice, adamw
from timelines.recorder import Recorder
from timelines.recording import Recording
from timelines.training import TrainingStep

CPU = torch.device("cpu")
MOMENTUM = OptimizerChoice(torch.optim.SGD, "for-loop", {"lr": 0.1, "momentum": 0.9})  # keeps its first gradients


def _recording(name: str, mode: str, choice: OptimizerChoice, steps_before: int) -> Recording:
    step = TrainingStep(SMALL[name], mode, choice, CPU)
    for _ in range(steps_before):
        step()
    recorder = Recorder(step.model, step.optimizer)
    with recorder:
        step(phase=recorder.phase, see_batch=recorder.is_input)
    return Recording(recorder)


@pytest.fixture(params=[("linear-stack", "default"), ("transformer", "backprop"), ("resnet", "default")], ids="-".join)
def recording(request: Any) -> Recording:
    name, mode = request.param
    return _recording(name, mode, adamw("foreach"), 1)


def test_the_peak_is_the_greatest_sum_of_all_changes(recording: Recording):
    held, most = dict.fromkeys(CATEGORIES, 0), {}
    for _, change in recording.changes():
        for category, nbytes in change.items():
            held[category] += nbytes
        assert min(held.values()) >= 0
        if sum(held.values()) > sum(most.values()):
            most = dict(held)
    peak = recording.peak()
    assert peak.by_category == most
    assert peak.nbytes == sum(most.values())


def test_what_a_step_makes_it_frees(recording: Recording):
    held = dict.fromkeys(CATEGORIES, 0)
    for _, change in recording.changes():
        for category, nbytes in change.items():
            held[category] += nbytes
    assert {kind for kind, nbytes in held.items() if nbytes} == {"PARAMETER", "OPTIMIZER_STATE"}


def test_the_ten_largest_are_alive_at_the_peak(recording: Recording):
    peak = recording.peak()
    sizes = [storage.nbytes for _, storage in peak.largest]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == 10
    for category in CATEGORIES:
        assert sum(s.nbytes for kind, s in peak.largest if kind == category) <= peak.by_category[category]


def test_the_floor_is_what_outlives_the_step_and_some_moment_of_the_rest(recording: Recording):
    peak = recording.peak()
    outlives = peak.by_category["PARAMETER"] + peak.by_category["OPTIMIZER_STATE"]
    assert outlives < recording.floor() <= peak.nbytes


def test_the_timeline_has_the_recordings_peak(recording: Recording):
    measured = dict.fromkeys(("step_ms", "allocator_peak_gb", "cuda_mallocs_per_step", "cuda_frees_per_step"))
    timeline = recording.timeline({**measured, "timed_steps": 0, "reserved_gb": None, "rss_peak_gb": None})
    assert timeline["peak_gb"] == round(recording.peak().nbytes / 1e9, 4)
    assert [phase["name"] for phase in timeline["phases"]] == list(contract.PHASES)


@pytest.mark.parametrize("mode", contract.MODES)
def test_a_gradient_that_becomes_state_changes_its_category_and_not_the_total(mode: str):
    recording = _recording("linear-stack", mode, MOMENTUM, 0)
    kept = [change for _, change in recording.changes() if len(change) == 2]
    for change in kept:
        assert change["GRADIENT"] == -change["OPTIMIZER_STATE"] < 0
    state = sum(change.get("OPTIMIZER_STATE", 0) for _, change in recording.changes())
    assert state == recording.peak().by_category["PARAMETER"]
