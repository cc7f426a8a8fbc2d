"""`timelines plan`: what a training step of a model would take, before there is a GPU."""

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from timelines import contract, environment, gpus, optimizers, plan, plan_table
from timelines.errors import UsageError
from timelines.precision import InPrecision, in_precision
from workloads import registry
from workloads.checkpointing import checkpoint_activations

_REPORT = Path(__file__).parents[2] / "scripts" / "report.py"
_LARGEST = 1 << 20  # where --find-batch stops looking


@dataclasses.dataclass(frozen=True)
class Checkpointed:
    """A workload whose blocks keep only their inputs and run their forward again in backward."""

    workload: registry.NamedWorkload

    def model(self, device: Any) -> Any:
        """The workload's model, checkpointing."""
        model = self.workload.model(device)
        checkpoint_activations(model)
        return model

    def batch(self, device: Any) -> Any:
        """The workload's batch."""
        return self.workload.batch(device)

    def loss(self, model: Any, batch: Any) -> Any:
        """The workload's loss."""
        return self.workload.loss(model, batch)

    def describe(self) -> dict[str, Any]:
        """The workload's part of memory_timelines.json, but for the optimizer."""
        return {**self.workload.describe(), "checkpointed": True}


@dataclasses.dataclass(frozen=True)
class Model:
    """What a person asked to train."""

    target: str
    batch: int | None
    seq_len: int | None
    dtype: str
    checkpoint: bool

    def workload(self) -> InPrecision:
        """The workload. Raises UsageError when any part of it is unknown or impossible."""
        found = registry.named(self.target, batch_size=self.batch, seq_len=self.seq_len)
        return in_precision(Checkpointed(found) if self.checkpoint else found, self.dtype)


def run(
    model: Model,
    choice: optimizers.OptimizerChoice,
    modes: Sequence[str],
    gpu: str | None,
    capacity: int | None,
    out: Path | None,
    report: Path | None,
    as_json: bool,
    find_batch: bool,
) -> None:
    """Predicts, prints, and writes what was asked for.

    Raises:
        UsageError: options that do not go together, or a model that cannot be planned.
    """
    card = gpus.named(gpu) if gpu else gpus.DEFAULT
    if capacity is None and gpu:
        capacity = card.memory
    if (out or report) and len(modes) == 1:
        raise UsageError("--out and --report show both modes; leave out --mode")
    if find_batch and capacity is None:
        raise UsageError("--find-batch needs to know what must suffice; add --memory or --gpu")
    workload = model.workload()
    plans = plan.predict_modes(workload, choice, card, modes)
    found = _largest(model, choice, card, capacity, modes) if find_batch and capacity is not None else {}
    if out or report:
        described = describe_environment(card.name if gpu else f"{card.name} (assumed)", command_line())
        _write(plan.document(plans, workload, choice, described), out, report)
    if as_json:
        print(json.dumps(_figures(plans, capacity, found), indent=2))
        return
    console = Console(soft_wrap=True)
    parameters = next(iter(plans.values())).parameters
    heading = f"{title(workload, choice, parameters)} (predicted; nothing was run)"
    plan_table.show(console, plans, heading, capacity)
    for kind, sizes in found.items():
        listed = ", ".join(f"{mode} {size or 'none'}" for mode, size in sizes.items())
        console.print(f"{kind}: {listed}", highlight=False)
    for path in filter(None, (out, report)):
        print(f"wrote {path}")


def describe_environment(gpu: str, command: str) -> dict[str, Any]:
    """The environment of a plan for `gpu` that `command` makes."""
    device = f"{gpu}: sizes predicted, times estimated"
    return {**environment.describe("simulated", plan.CPU, command), "device": device}


def _largest(
    model: Model, choice: optimizers.OptimizerChoice, card: gpus.Gpu, capacity: int, modes: Sequence[str]
) -> dict[str, dict[str, int]]:
    """The largest batch at the given sequence, and the longest sequence at the given batch, that fit, by mode."""

    def search(option: str, mode: str) -> int:
        def fits(size: int) -> bool:
            try:
                workload = dataclasses.replace(model, **{option: size}).workload()
            except UsageError:  # longer than the model's context
                return False
            peak = plan.predict(workload, choice, mode, card).recording.peak().nbytes
            print(f"  {mode}, {option.replace('_', '-')} {size}: {peak / 1e9:.2f} GB", file=sys.stderr, flush=True)
            return peak <= capacity

        return plan.largest_that_fits(fits, _LARGEST)

    found = {"largest batch": {mode: search("batch", mode) for mode in modes}}
    if model.workload().describe().get("seq_len"):
        found["longest sequence"] = {mode: search("seq_len", mode) for mode in modes}
    return found


def command_line() -> str:
    """What was typed, with nothing of this machine in it."""
    return " ".join(["timelines", *(Path(word).name if os.path.isabs(word) else word for word in sys.argv[1:])])


def _write(document: dict[str, Any], out: Path | None, report: Path | None) -> None:
    contract.check(document, "the plan")
    if out is not None:
        contract.write(out, document)
    if report is not None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / contract.FILE_NAME
            contract.write(file, document)
            done = subprocess.run([sys.executable, str(_REPORT), str(file), "--out", str(report)], capture_output=True)
        if done.returncode:
            raise UsageError(f"cannot make the report: {done.stderr.decode().strip()}")


def _figures(plans: dict[str, plan.ModePlan], capacity: int | None, found: dict[str, Any] | None) -> dict[str, Any]:
    modes = {}
    for name, planned in plans.items():
        peak = planned.recording.peak()
        modes[name] = {
            "peak_bytes": peak.nbytes,
            "by_category": peak.by_category,
            "at": dataclasses.asdict(peak.moment),
            "largest": [{"category": kind, **_described(storage)} for kind, storage in peak.largest],
            "floor_bytes": planned.recording.floor(),
            "foreign_bytes": planned.recording.foreign_bytes,
            "fits": None if capacity is None else peak.nbytes <= capacity,
        }
    conclusions = plan_table.conclusions(plans, capacity)
    return {"modes": modes, "capacity_bytes": capacity, "conclusions": conclusions, "found": found}


def _described(storage: Any) -> dict[str, Any]:
    return {key: getattr(storage, key) for key in ("nbytes", "shape", "dtype", "module", "operation")}


def title(workload: InPrecision, choice: optimizers.OptimizerChoice, parameters: int | None) -> str:
    """What is trained, in a line; without the number of parameters where it is not known."""
    about = workload.describe()
    tokens = f", {about['seq_len']} tokens" if about.get("seq_len") else ""
    counted = "" if parameters is None else f"{parameters / 1e6:,.1f} M parameters, "
    checkpointed = ", activations checkpointed" if about.get("checkpointed") else ""
    return (
        f"{about['name']}: {counted}batch {about['batch_size']}{tokens}, "
        f"{about['dtype']}, {choice.type.__name__} {choice.implementation}{checkpointed}"
    )
