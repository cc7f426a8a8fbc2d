"""`timelines measure`: a model trained for some steps on a device, both ways, and its peak beside the planned one."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from timelines import devices, environment, fresh, gpus, measure, plan, plan_command
from timelines.errors import UsageError
from timelines.files import write_text
from timelines.optimizers import OptimizerChoice
from timelines.progress import Progress
from timelines.recorder import CUDA_BLOCK, Recorder
from timelines.recording import Recording
from timelines.training import TrainingStep

_WARMUP = 2


def run(
    model: plan_command.Model,
    choice: OptimizerChoice,
    modes: Sequence[str],
    device_name: str,
    steps: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Plans and trains, each mode in a process of its own, prints both, and writes JSON to `out` if that is given.

    On a GPU a mode that does not fit is listed with what CUDA said of it.

    Raises:
        UsageError: an unknown model or device, or, on a CPU, a plan that needs more memory than is free: the system
            would end the process, and others with it.
    """
    device = devices.named(device_name)
    workload = model.workload()
    plans = {mode: _planned(workload, choice, mode, device) for mode in modes}
    parameters = next((found.parameters for found in plans.values() if found), None)
    planned = {mode: found and found.recording.peak().nbytes for mode, found in plans.items()}
    if device.type == "cpu":
        _refuse_too_large(planned, devices.free_bytes(device))
    found: dict[str, Any] = {
        "environment": environment.describe(device.type, device, plan_command.command_line()),
        "model": {**workload.describe(), "parameters": parameters},
        "optimizer": choice.describe(),
        "modes": {},
    }
    progress = Progress(len(modes))
    for mode in modes:
        progress.phase(f"{mode}: {_WARMUP} + {steps} steps on {device}")
        measured = fresh.call(_train, model, choice, mode, device, steps)
        result = {"reason": measured} if isinstance(measured, str) else measured
        found["modes"][mode] = {"planned_peak_bytes": planned[mode], **result}
        progress.step_done()
    if out is not None:
        write_text(out, json.dumps(found, indent=1) + "\n")
    if as_json:
        print(json.dumps(found, indent=2))
        return
    _show(plan_command.title(workload, choice, parameters), found)
    if out is not None:
        print(f"wrote {out}")


def _planned(workload: Any, choice: OptimizerChoice, mode: str, device: torch.device) -> plan.ModePlan | None:
    """The plan, its sizes rounded as that device rounds; None, after a word, for a model that cannot be planned."""
    block = CUDA_BLOCK if device.type == "cuda" else 1
    try:
        return plan.predict(workload, choice, mode, gpus.DEFAULT, block)
    except UsageError as error:
        print(f"{mode} is measured without a plan: {error}", file=sys.stderr, flush=True)
        return None


def _refuse_too_large(planned: dict[str, int | None], free: int | None) -> None:
    for mode, needed in planned.items():
        if needed is not None and free is not None and needed > free:
            raise UsageError(
                f"{mode} needs about {needed / 1e9:.1f} GB by its plan, and {free / 1e9:.1f} GB are free here; take a "
                "smaller batch, another device, or --mode with the one that fits"
            )


def _train(model: plan_command.Model, choice: OptimizerChoice, mode: str, device: torch.device, steps: int) -> Any:
    """What a mode takes: mean ms of a step, and the peak of one in bytes, by CUDA's allocator or by the recorder."""
    step = TrainingStep(model.workload(), mode, choice, device)
    for _ in range(_WARMUP):
        step()
    measure.synchronize(device)
    measure.reset_rss_peak()
    figures: dict[str, Any] = {"step_ms": round(measure.step_ms(step, steps, device, lambda: None), 1)}
    figures["timed_steps"] = steps
    figures["rss_peak_gb"] = measure.rss_peak_gb() if device.type == "cpu" else None
    allocated = measure.allocator_peak_gb(step, device)
    figures |= measure.allocator_counters(step, steps, device)
    figures["peak_bytes"] = _recorded_peak(step) if allocated is None else round(allocated * 1e9)
    return figures


def _recorded_peak(step: TrainingStep) -> int:
    recorder = Recorder(step.model, step.optimizer)
    with recorder:
        step(phase=recorder.phase, see_batch=recorder.is_input)
    return Recording(recorder).peak().nbytes


def _show(title: str, found: dict[str, Any]) -> None:
    console = Console(soft_wrap=True)
    table = Table(title=f"{title}, on {found['environment']['device']}", title_justify="left")
    for heading in ("", "planned GB", "measured GB", "measured / planned", "ms a step"):
        table.add_column(heading, justify="right" if heading else "left")
    for mode, figures in found["modes"].items():
        planned, peak = figures["planned_peak_bytes"], figures.get("peak_bytes")
        table.add_row(
            mode,
            "none" if planned is None else f"{planned / 1e9:.4f}",
            "did not run" if peak is None else f"{peak / 1e9:.4f}",
            f"{peak / planned:.4f}" if peak and planned else "",
            f"{figures['step_ms']:,.1f}" if peak else "",
        )
    console.print(table)
    for mode, figures in found["modes"].items():
        if "reason" in figures:
            console.print(f"{mode} did not run: {figures['reason']}", highlight=False, markup=False)
