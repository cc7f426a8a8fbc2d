import subprocess
import sys
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from small_workloads import SMALL

from timelines import contract, gpus, optimizers, plan
from timelines.optimizers import adamw
from timelines.recorder import Recorder
from timelines.recording import Recording
from timelines.training import TrainingStep
from workloads.linear_stack import SIZES

EXPERIMENTS = Path(__file__).parents[1]
IMPLEMENTATIONS = ("for-loop", "foreach", "fused")
# MB of resident memory that any plan may take, the imports of torch and transformers included.
MOST_RESIDENT = 2048


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@pytest.mark.parametrize("mode", contract.MODES)
@pytest.mark.parametrize("name", SMALL)
def test_a_plan_is_what_the_recorder_sees_of_a_real_step(name: str, mode: str, implementation: str):
    step = TrainingStep(SMALL[name], mode, adamw(implementation), torch.device("cpu"))
    step()
    recorder = Recorder(step.model, step.optimizer, block=512)
    with recorder:
        step(phase=recorder.phase, see_batch=recorder.is_input)
    real, planned = Recording(recorder).peak(), plan.predict(SMALL[name], adamw(implementation), mode, gpus.DEFAULT)
    peak = planned.recording.peak()
    assert peak.nbytes == real.nbytes
    assert peak.by_category == real.by_category
    assert peak.moment == real.moment


@pytest.mark.parametrize("mode", contract.MODES)
def test_eight_bit_state_is_planned_as_it_is_taken(mode: str):
    """bitsandbytes computes a code book from values when it is made, and has a fake version of its update."""
    eight_bit = optimizers.parse("bitsandbytes.optim:AdamW8bit")
    workload = SMALL["linear-stack"]
    step = TrainingStep(workload, mode, eight_bit, torch.device("cpu"))
    step()
    recorder = Recorder(step.model, step.optimizer)
    with recorder:
        step(phase=recorder.phase, see_batch=recorder.is_input)
    planned = plan.predict(workload, eight_bit, mode, gpus.DEFAULT).recording.peak().by_category["OPTIMIZER_STATE"]
    taken = Recording(recorder).peak().by_category["OPTIMIZER_STATE"]
    assert taken == pytest.approx(planned, rel=0.05)


@pytest.mark.parametrize(
    ("implementation", "peaks"),
    [("for-loop", {"default": 13.7575, "backprop": 11.2744}), ("fused", {"default": 13.0193, "backprop": 10.8718})],
)
def test_the_headlines_peaks(implementation: str, peaks: dict[str, float]):
    """13.7574 GB were measured: the allocator's blocks of 512 bytes make the difference."""
    plans = plan.predict_modes(SIZES["full"], adamw(implementation), gpus.DEFAULT)
    assert {mode: round(planned.recording.peak().nbytes / 1e9, 4) for mode, planned in plans.items()} == peaks
    floor = plans["backprop"].recording.floor()
    assert floor / 1e9 == pytest.approx(10.8718, abs=1e-4)


def test_a_document_follows_the_contract_and_is_labelled():
    plans = plan.predict_modes(SMALL["transformer"], adamw("fused"), gpus.named("h100"))
    from timelines.plan_command import describe_environment

    document = plan.document(plans, SMALL["transformer"], adamw("fused"), describe_environment("h100", "a command"))
    contract.check(document, "the plan")
    assert document["environment"]["source"] == "simulated"
    assert document["environment"]["device"] == "h100: sizes predicted, times estimated"
    for mode in contract.MODES:
        assert document[mode]["step_ms"] is None
        assert document[mode]["end_t"] > 0


def test_a_faster_gpu_is_estimated_to_take_less_time():
    def end(gpu: str) -> float:
        return plan.predict(SMALL["vit"], adamw("fused"), "default", gpus.named(gpu)).recording.recorder.end

    assert end("h100") < end("a100-80gb") < end("t4")


def test_a_large_model_takes_little_memory():
    code = (
        "import resource, sys; from timelines import cli\n"
        "try: cli.main()\n"
        "except SystemExit: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)\n"
    )
    config = EXPERIMENTS / "workloads" / "configs" / "llama-3-8b.json"
    done = subprocess.run(
        [sys.executable, "-c", code, "plan", str(config), "--dtype", "bfloat16", "--mode", "backprop"],
        cwd=EXPERIMENTS,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "8,030.3 M parameters" in done.stdout
    assert int(done.stdout.splitlines()[-1]) < MOST_RESIDENT


@given(largest=st.integers(0, 300), limit=st.integers(1, 256))
def test_the_largest_that_fits_is_that_of_trying_all(largest: int, limit: int):
    tried: list[int] = []

    def fits(size: int) -> bool:
        tried.append(size)
        return size <= largest

    brute_force = max((size for size in range(1, limit + 1) if size <= largest), default=0)
    assert plan.largest_that_fits(fits, limit) == brute_force
    assert len(tried) <= 2 * limit.bit_length() + 1
    assert all(1 <= size <= limit for size in tried)
