"""The recorder over fake tensors: any model's memory timeline, with no GPU and nothing allocated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from timelines import contract
from timelines.errors import UsageError
from timelines.gpus import Gpu
from timelines.optimizers import OptimizerChoice
from timelines.recorder import CUDA_BLOCK, Recorder
from timelines.recording import Recording
from timelines.roofline import RooflineClock
from timelines.training import TrainingStep, Workload

CPU = torch.device("cpu")  # a build without CUDA refuses autograd on fake CUDA tensors


@dataclass(frozen=True)
class ModePlan:
    """One mode's prediction: the recording of a steady training step, and the model's number of trained scalars."""

    recording: Recording
    parameters: int

    def timeline(self) -> dict[str, Any]:
        """One mode's part of memory_timelines.json; nothing in it is measured."""
        unmeasured = ("allocator_peak_gb", "cuda_mallocs_per_step", "cuda_frees_per_step", "reserved_gb", "rss_peak_gb")
        return self.recording.timeline({"step_ms": None, "timed_steps": 0, **dict.fromkeys(unmeasured)})


def predict(workload: Workload, optimizer: OptimizerChoice, mode: str, gpu: Gpu, block: int = CUDA_BLOCK) -> ModePlan:
    """Predicts one training step of `workload` in `mode`, with the optimizer's state already there.

    Times are estimated for `gpu`. Sizes are rounded up to `block` bytes, by default as CUDA's allocator does; the CUDA
    context, fragmentation and libraries' workspaces come on top.

    Raises:
        UsageError: the step cannot be run on fake tensors; the sentence names module and operation.
    """
    recorder = None
    try:
        # A fallback would run an operation that fake tensors lack on real ones, and take its memory. What an optimizer
        # computed when it was made (a code book) is real, and may go in.
        with _Fake(allow_fallback_kernels=False, allow_non_fake_inputs=True):
            step = TrainingStep(workload, mode, optimizer, CPU)
            _make_state(step, optimizer.type.__name__)
            recorder = Recorder(step.model, step.optimizer, RooflineClock(gpu), block)
            with recorder:
                step(phase=recorder.phase, see_batch=recorder.is_input)
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(_failure(error, recorder)) from error
    parameters = sum(p.numel() for p in step.model.parameters() if p.requires_grad)
    return ModePlan(Recording(recorder), parameters)


class _Fake(FakeTensorMode):
    """Fake tensors with fused optimizer steps, which change tensors in place and make none: nothing is to be done."""

    def dispatch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.__name__.startswith("_fused_") and not func._schema.returns:
            return None
        return super().dispatch(func, types, args, kwargs)


def _make_state(step: TrainingStep, optimizer: str) -> None:
    """Takes a step with zero gradients, so that the recorded one is like all that follow."""
    for parameter in step.model.parameters():
        if parameter.requires_grad:
            parameter.grad = torch.zeros_like(parameter)
    try:
        step.optimizer.step()
    except Exception as error:
        raise UsageError(
            f"{optimizer} cannot be planned: its update cannot go on with fake tensors ({_cause(error)}); "
            "plan another optimizer, or measure this one on a device"
        ) from error
    step.optimizer.zero_grad()


def _cause(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or ['no message'])[0][:160]}"


def _failure(error: Exception, recorder: Recorder | None) -> str:
    where = recorder.failed if recorder else None
    place = f"in module {where.module or '(the model itself)'!r}, at {where.operation}, " if where else ""
    return (
        f"this model cannot be planned: {place}fake tensors cannot go on ({_cause(error)}); values are not known "
        "without running, so replace .item(), `if tensor:` and custom kernels there, or measure the model on a device"
    )


def document(plans: dict[str, ModePlan], workload: Workload, optimizer: OptimizerChoice, environment: dict) -> dict:
    """memory_timelines.json of both modes' plans, with source "simulated"."""
    described = {**workload.describe(), "parameters": plans["default"].parameters, "optimizer": optimizer.describe()}
    return {
        "categories": list(contract.CATEGORIES),
        **{mode: plans[mode].timeline() for mode in contract.MODES},
        "workload": described,
        "environment": environment,
    }


def largest_that_fits(fits: Callable[[int], bool], limit: int) -> int:
    """The largest number from 1 to `limit` for which `fits` holds, by doubling and bisection; 0 if 1 does not fit.

    `fits` must hold up to some number and not beyond.
    """
    good, bad = 0, 1
    while bad <= limit and fits(bad):
        good, bad = bad, bad * 2
    bad = min(bad, limit + 1)
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if fits(middle) else (good, middle)
    return good


def predict_modes(
    workload: Workload, optimizer: OptimizerChoice, gpu: Gpu, modes: Sequence[str] = contract.MODES
) -> dict[str, ModePlan]:
    """Predictions of several modes, by mode."""
    return {mode: predict(workload, optimizer, mode, gpu) for mode in modes}
