"""The command: races, growth and clipping, each shown as a table and filed as JSON once it is done."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from timelines import environment, fresh
from timelines.bench import bar, clipping, document, models, tables
from timelines.bench.loops import OURS, REFERENCE, SUBJECT, Make
from timelines.bench.memory import Memory, measure_in_fresh_process
from timelines.bench.peers import PEERS
from timelines.bench.race import Outcome, Settings, race
from timelines.errors import UsageError
from timelines.files import write_text
from timelines.optimizers import OptimizerChoice
from timelines.precision import in_precision
from timelines.training import Workload

PARTS = ("races", "growth", "clipping")
CONTESTANTS: dict[str, Make] = {**OURS, **PEERS}
_WIDTH = 150  # so that no figure is cut, also where the output is no terminal
_PROCESSES = 2  # that measure memory at once; time does not count there
_GROWING = {name: CONTESTANTS[name] for name in (REFERENCE, SUBJECT, "tutorial")}


@dataclass(frozen=True)
class Plan:
    """What to measure, for how long, and the folder that the figures go to."""

    parts: list[str]
    models: list[str]
    optimizers: list[str]
    dtype: str
    quick: bool
    settings: Settings
    threads: int
    command: str
    out: Path


def plan(
    parts: list[str],
    names: list[str],
    optimizers: list[str],
    dtype: str | None,
    quick: bool,
    effort: tuple[int, float, int],
    data: Path,
) -> Plan:
    """The plan that the command line asks for, on the GPU if there is one; `effort` is rounds, seconds and threads.

    `dtype` is one of PRECISIONS; None is bfloat16 on a GPU, where most train in it, and float32 on a CPU.

    Raises:
        UsageError: a part, model or optimizer is unknown.
    """
    rounds, seconds, threads = effort
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dtype = dtype or ("bfloat16" if device.type == "cuda" else "float32")
    words = [*parts, *(f"--model {name}" for name in names), *(f"--optimizer {name}" for name in optimizers)]
    words += ["--quick"] * quick + [f"--dtype {dtype} --rounds {rounds} --seconds {seconds:g} --threads {threads}"]
    folder = device.type if dtype == "float32" else f"{device.type}-{dtype}"
    return Plan(
        models.chosen("part", dict.fromkeys(PARTS), parts),
        models.chosen("model", models.MODELS, names),
        models.chosen("optimizer", models.OPTIMIZERS, optimizers),
        dtype,
        quick,
        Settings(rounds, seconds, device=device),
        threads,
        " ".join(["timelines bench", *words]),
        (data / "quick" if quick else data) / "benchmarks" / folder,
    )


class Run:
    """Carries out a plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        known = models.QUICK if plan.quick else models.MODELS
        self.workloads = {name: in_precision(known[name], plan.dtype) for name in plan.models}
        self.growth = models.QUICK_GROWTH if plan.quick else models.GROWTH
        self.console = Console(width=_WIDTH)
        growing = sum(len(shapes) for shapes in self.growth.values())
        sizes = {
            "races": 2 * len(self.workloads) * len(plan.optimizers) * len(CONTESTANTS),
            "growth": 2 * growing * len(_GROWING),
            "clipping": len(clipping.STEPS) * len(self.workloads),
        }
        self.progress = bar.progress(sum(sizes[part] for part in plan.parts))

    def __call__(self) -> None:
        """Measures all. What is done is filed, whatever comes after it.

        Raises:
            UsageError: a file cannot be written.
        """
        torch.set_num_threads(self.plan.threads)
        parts = {"races": self.races, "growth": self.growths, "clipping": self.clippings}
        try:
            for part in self.plan.parts:
                parts[part]()
        finally:
            self.progress.close()

    def races(self) -> None:
        """Every contestant, for each model and optimizer a file."""
        for name, workload in self.workloads.items():
            for optimizer in self.plan.optimizers:
                described = self.environment()
                rows = self.race(workload, optimizer, CONTESTANTS, f"{name}, {optimizer}")
                self.console.print(tables.race(f"{name}, {optimizer}", rows))
                found = {"model": {**workload.describe(), "name": name}, "optimizer": _optimizer(optimizer)}
                self.file(f"{name}-{optimizer}", {**described, **found, "results": rows})

    def growths(self) -> None:
        """Some contestants as the network grows, in one file."""
        described, optimizer = self.environment(), self.plan.optimizers[0]
        rows = []
        for along, shapes in self.growth.items():
            for shape in shapes:
                size, workload = getattr(shape, along), in_precision(shape, self.plan.dtype)
                found = self.race(workload, optimizer, _GROWING, f"{size} {along}")
                rows += [{"along": along, "size": size, "model": workload.describe(), **row} for row in found]
        self.console.print(tables.growth(rows))
        self.file("growth", {**described, "optimizer": _optimizer(optimizer), "growth": rows})

    def clippings(self) -> None:
        """What clip_grad_norm_ costs on each model, in one file."""
        described, optimizer = self.environment(), self.plan.optimizers[0]
        rows = []
        for name, workload in self.workloads.items():
            self.progress.phase(f"{name}: clipping")
            choice, settings = models.OPTIMIZERS[optimizer], self.plan.settings
            cost = fresh.call(_clip, workload, choice, settings, self.plan.threads)
            if isinstance(cost, str):
                raise UsageError(f"clipping of {name} cannot be timed: {cost}")
            rows.append({"model": name, **cost})
            self.progress.step_done(len(clipping.STEPS))
        self.console.print(tables.clipping(rows))
        self.file("clipping", {**described, "optimizer": _optimizer(optimizer), "clipping": rows})

    def race(
        self, workload: Workload, optimizer: str, contestants: dict[str, Make], title: str
    ) -> list[dict[str, Any]]:
        """The rows of one race, and of the peaks in it."""
        choice, settings = models.OPTIMIZERS[optimizer], self.plan.settings
        self.progress.phase(f"{title}: step times")
        outcome = fresh.call(_race, workload, choice, list(contestants), settings, self.plan.threads)
        if isinstance(outcome, str):
            raise UsageError(f"{title} cannot be raced: {outcome}")
        self.progress.step_done(len(contestants))
        self.progress.phase(f"{title}: memory, each in a process of its own")

        def measured(name: str) -> Memory | str:
            lap = outcome[name]
            if not isinstance(lap, str):
                lap = measure_in_fresh_process(workload, name, choice, settings.device, self.plan.threads)
            self.progress.step_done()
            return lap

        with ThreadPoolExecutor(_PROCESSES) as pool:
            memories = dict(zip(outcome, pool.map(measured, outcome), strict=True))
        return document.rows(outcome, memories)

    def environment(self) -> dict[str, Any]:
        """Where and how, as of now: before the measuring, so that a later change of the code is not blamed for it."""
        settings = self.plan.settings
        device = settings.device
        return {
            "environment": {
                **environment.describe(device.type, device, self.plan.command),
                "peers": document.versions(),
                "threads": self.plan.threads,
            },
            "settings": {
                "rounds_at_most": settings.rounds,
                "seconds_a_race": settings.seconds,
                "warmup": settings.warmup,
            },
        }

    def file(self, name: str, found: dict[str, Any]) -> None:
        """Writes one file whole, and says so."""
        path = self.plan.out / f"{name}.json"
        write_text(path, json.dumps(found, indent=1) + "\n")
        print(f"wrote {path}", flush=True)


# In a process of their own: hooks of some peers keep what they hook, gigabytes of it, for good.


def _race(workload: Workload, choice: OptimizerChoice, names: list[str], settings: Settings, threads: int) -> Outcome:
    torch.set_num_threads(threads)
    return race(workload, choice, {name: CONTESTANTS[name] for name in names}, settings)


def _clip(workload: Workload, choice: OptimizerChoice, settings: Settings, threads: int) -> dict[str, Any]:
    torch.set_num_threads(threads)
    return clipping.cost(workload, choice, settings)


def _optimizer(name: str) -> dict[str, Any]:
    return models.OPTIMIZERS[name].describe()
