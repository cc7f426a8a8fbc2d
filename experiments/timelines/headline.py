"""The headline: the 12-layer linear stack in both modes, end to end. Needs torch and the standard library only."""

import argparse
import gc
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from timelines import contract, devices, environment, measure, profiler
from timelines.errors import UsageError
from timelines.files import replacing
from timelines.optimizers import IMPLEMENTATIONS, adamw
from timelines.progress import Progress
from timelines.training import TrainingStep
from workloads.linear_stack import SIZES, LinearStack


@dataclass(frozen=True)
class Plan:
    """What to measure, and how many steps of it. Counters are CUDA's, and take as many steps as the timing."""

    stack: LinearStack
    device: torch.device
    implementation: str = "for-loop"
    warmup_steps: int = 3
    timed_steps: int = 20
    command: str = "python experiments/backprop.py"


def plan(device: str = "auto", size: str | None = None, implementation: str = "for-loop", out: str = "OUT") -> Plan:
    """The plan for a device ("auto", "cpu", "cuda" or "cuda:N") and a size ("full", "quick", or None: full on a GPU).

    Raises:
        UsageError: the device or size is unknown, or the device has too little memory for the size.
    """
    chosen = devices.named(device)
    size = size or ("full" if chosen.type == "cuda" else "quick")
    if size not in SIZES:
        raise UsageError(f"unknown size {size!r}; choose one of {', '.join(SIZES)}")
    if implementation not in IMPLEMENTATIONS:
        raise UsageError(f"unknown optimizer implementation {implementation!r}; choose {', '.join(IMPLEMENTATIONS)}")
    stack = SIZES[size]
    free, needed = devices.free_bytes(chosen), stack.step_bytes(implementation)
    if free is not None and free < needed:
        raise UsageError(
            f"size {size} needs about {needed / 1e9:.0f} GB on {chosen}, where {free / 1e9:.1f} GB are free; "
            "free some, or take --size quick"
        )
    command = f"python experiments/backprop.py {out} --size {size} --optimizer-impl {implementation}"
    slow = chosen.type == "cpu" and size == "full"  # a step takes most of a minute
    return Plan(stack, chosen, implementation, *((1, 2) if slow else (3, 20)), command=command)


def run(plan: Plan, out: Path | None) -> dict[str, Any] | None:
    """Measures both modes and prints the figures; with `out`, also writes its four files there, all at the end.

    default.json and backprop.json are torch.profiler's raw exports, counters.json the allocator's counters, and
    memory_timelines.json follows the contract. Returns the last, or None without `out`.

    Raises:
        UsageError: `out` cannot be written to; found before anything is measured.
    """
    print(f"updates match default: {_updates_match_default(plan)}", flush=True)
    if out is None:
        _measure_both(plan, None)
        return None
    with replacing(out) as new:
        timelines = _measure_both(plan, new)
        counters = {m: {k: timelines[m][k] for k in _COUNTERS} for m in contract.MODES}
        document = {
            "categories": list(contract.CATEGORIES),
            **timelines,
            "workload": {**plan.stack.describe(), "optimizer": adamw(plan.implementation).describe()},
            "environment": environment.describe(plan.device.type, plan.device, plan.command),
        }
        (new / "counters.json").write_text(json.dumps(counters, indent=2) + "\n")
        contract.check(document, contract.FILE_NAME)
        (new / contract.FILE_NAME).write_text(contract.dumps(document))
    return document


_COUNTERS = ("cuda_mallocs_per_step", "cuda_frees_per_step", "reserved_gb", "allocator_peak_gb", "rss_peak_gb")


def _measure_both(plan: Plan, raw_folder: Path | None) -> dict[str, dict[str, Any]]:
    on_cuda = plan.device.type == "cuda"
    steps = plan.warmup_steps + plan.timed_steps * (1 + on_cuda) + on_cuda + 1
    progress = Progress(len(contract.MODES) * steps)
    timelines = {}
    for mode in contract.MODES:
        timelines[mode] = _measure(plan, mode, raw_folder, progress)
        gc.collect()  # the next mode needs the memory
        if on_cuda:
            torch.cuda.empty_cache()
    return timelines


def _measure(plan: Plan, mode: str, raw_folder: Path | None, progress: Progress) -> dict[str, Any]:
    device, steps = plan.device, plan.timed_steps
    progress.phase(f"{mode}: building the model on {device}")
    step = TrainingStep(plan.stack, mode, adamw(plan.implementation), device)

    def counted_step() -> None:
        step()
        progress.step_done()

    progress.phase(f"{mode}: {plan.warmup_steps} warm-up steps")
    for _ in range(plan.warmup_steps):
        counted_step()
    measure.synchronize(device)
    measure.reset_rss_peak()
    progress.phase(f"{mode}: {steps} timed steps")
    milliseconds = measure.step_ms(step, steps, device, progress.step_done)
    measured: dict[str, Any] = {"step_ms": round(milliseconds, 1), "timed_steps": steps}
    measured["rss_peak_gb"] = _rounded(measure.rss_peak_gb()) if device.type == "cpu" else None
    if device.type == "cuda":
        progress.phase(f"{mode}: peak and allocator counters, {steps + 1} steps")
    measured["allocator_peak_gb"] = _rounded(measure.allocator_peak_gb(counted_step, device))
    measured.update(measure.allocator_counters(counted_step, steps, device))
    if raw_folder is not None or device.type == "cpu":  # off CUDA the profiler alone knows the peak
        progress.phase(f"{mode}: 1 profiled step")
        raw_path = raw_folder and raw_folder / f"{mode}.json"
        measured = contract.build_timeline(*profiler.record(step, raw_path), measured)
        progress.step_done()
    _print_figures(mode, milliseconds, measured)
    return measured


def _print_figures(mode: str, milliseconds: float, measured: dict[str, Any]) -> None:
    peak = measured["allocator_peak_gb"] or measured["peak_gb"]
    print(f"{mode}: {milliseconds:.1f} ms per training step, peak allocated {peak:.1f} GB", flush=True)
    if measured["reserved_gb"] is not None:
        print(
            f"{mode}: {measured['cuda_mallocs_per_step']:.1f} cudaMallocs and "
            f"{measured['cuda_frees_per_step']:.1f} cudaFrees per step, reserved pool {measured['reserved_gb']:.1f} GB",
            flush=True,
        )


def _rounded(gb: float | None) -> float | None:
    return None if gb is None else round(gb, 4)


def _updates_match_default(plan: Plan) -> bool:
    """One training step of a small stack lands identical weights either way."""

    def weights(mode: str) -> list[torch.Tensor]:
        step = TrainingStep(LinearStack(4, 8, 2), mode, adamw(plan.implementation), plan.device)
        step()
        return [parameter.detach() for parameter in step.model.parameters()]

    return all(torch.equal(ours, plain) for ours, plain in zip(weights("backprop"), weights("default"), strict=True))


def main(arguments: Sequence[str] | None = None) -> None:
    """The command of backprop.py. Exits with status 2 and one sentence when something can be put right."""
    parser = argparse.ArgumentParser(
        prog="backprop.py", description="Measure a 12-layer linear stack trained the plain way and with BackProp."
    )
    parser.add_argument("timeline_output_dir", nargs="?", type=Path, help="folder for the timelines; without it, none")
    parser.add_argument("--size", choices=SIZES, help="full: batch 2048, width 8192; quick: batch 256, width 1024")
    parser.add_argument(
        "--optimizer-impl", choices=IMPLEMENTATIONS, default="for-loop", help="of AdamW (default: for-loop)"
    )
    parser.add_argument("--device", default="auto", help="auto (default), cpu, cuda or cuda:N")
    options = parser.parse_args(arguments)
    out = options.timeline_output_dir
    try:
        run(plan(options.device, options.size, options.optimizer_impl, _shown(out)), out)
    except UsageError as error:
        sys.exit(_complain(error))
    except KeyboardInterrupt:
        sys.exit("stopped; no file was changed")


def _shown(out: Path | None) -> str:
    """The folder as others could name it: relative to here, or OUT for one that is somewhere else on this machine."""
    if out is None:
        return ""
    relative = os.path.relpath(out)
    return "OUT" if relative.startswith("..") or out.is_absolute() else relative


def _complain(error: Exception) -> int:
    print(f"backprop.py: error: {error}", file=sys.stderr)
    return 2
