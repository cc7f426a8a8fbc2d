"""The command: all races, one after the other, filed as JSON and shown as tables."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from timelines import environment
from timelines.bench import clipping, document, models, tables
from timelines.bench.loops import OURS, REFERENCE, SUBJECT, Make
from timelines.bench.memory import Memory, measure_in_fresh_process
from timelines.bench.peers import PEERS
from timelines.bench.race import Settings, race
from timelines.files import write_text
from timelines.progress import Progress
from timelines.training import Workload

CONTESTANTS: dict[str, Make] = {**OURS, **PEERS}
_WIDTH = 150  # so that no figure is cut, also where the output is no terminal
_PROCESSES = 2  # that measure memory at once; time does not count there
_GROWING = {name: CONTESTANTS[name] for name in (REFERENCE, SUBJECT, "tutorial")}


@dataclass(frozen=True)
class Plan:
    """What to race, for how long, and where the figures go; with `out` None they are only shown."""

    models: list[str]
    optimizers: list[str]
    quick: bool
    settings: Settings
    threads: int
    command: str
    out: Path | None

    @property
    def workloads(self) -> dict[str, Workload]:
        """The models to race, by name."""
        known = models.QUICK if self.quick else models.MODELS
        return {name: known[name] for name in self.models}


def report(names: list[str], optimizers: list[str], quick: bool, effort: tuple[int, float, int], data: Path) -> str:
    """Runs the benchmark on the GPU if there is one, else on the CPU; `effort` is rounds, seconds and threads.

    Returns where the figures went.

    Raises:
        UsageError: a model or optimizer is unknown, or the file cannot be written.
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    rounds, seconds, threads = effort
    chosen = models.chosen("model", models.MODELS, names), models.chosen("optimizer", models.OPTIMIZERS, optimizers)
    out = None if names or optimizers else data / ("quick" if quick else ".") / "benchmarks" / f"{device.type}.json"
    words = [*(f"--model {name}" for name in names), *(f"--optimizer {name}" for name in optimizers)]
    words += ["--quick"] * quick + [f"--rounds {rounds} --seconds {seconds:g} --threads {threads}"]
    settings = Settings(rounds, seconds, device=device)
    run(Plan(*chosen, quick, settings, threads, " ".join(["timelines bench", *words]), out))
    return f"wrote {out}" if out else "nothing was filed, since only some models or optimizers were raced"


def run(plan: Plan) -> dict[str, Any]:
    """Measures everything in `plan`, shows it, and files it whole at the end. Returns the document.

    Raises:
        UsageError: the file cannot be written.
    """
    torch.set_num_threads(plan.threads)
    growth = models.QUICK_GROWTH if plan.quick else models.GROWTH
    growing = sum(len(shapes) for shapes in growth.values())
    progress = Progress(2 * len(plan.workloads) * len(plan.optimizers) * len(CONTESTANTS) + 2 * growing * len(_GROWING))
    console = Console(width=_WIDTH)
    results = []
    for name, workload in plan.workloads.items():
        for optimizer in plan.optimizers:
            found = _race(plan, workload, optimizer, CONTESTANTS, progress, f"{name}, {optimizer}")
            console.print(tables.race(f"{name}, {optimizer}", found))
            results += [{"model": name, "optimizer": optimizer, **row} for row in found]
    growths = []
    for along, shapes in growth.items():
        for shape in shapes:
            size = getattr(shape, along)
            found = _race(plan, shape, plan.optimizers[0], _GROWING, progress, f"{size} {along}")
            growths += [{"along": along, "size": size, "optimizer": plan.optimizers[0], **row} for row in found]
    console.print(tables.growth(growths))
    clipped = []
    for name, workload in plan.workloads.items():
        progress.phase(f"{name}: clipping")
        choice = models.OPTIMIZERS[plan.optimizers[0]]
        clipped.append(
            {"model": name, "optimizer": plan.optimizers[0], **clipping.cost(workload, choice, plan.settings)}
        )
    console.print(tables.clipping(clipped))
    device = plan.settings.device
    found = {
        "environment": {**environment.describe(device.type, device, plan.command), "peers": document.versions()},
        "settings": {
            "threads": plan.threads,
            "rounds_at_most": plan.settings.rounds,
            "seconds_a_race": plan.settings.seconds,
            "warmup": plan.settings.warmup,
        },
        "models": {name: workload.describe() for name, workload in plan.workloads.items()},
        "optimizers": {name: models.OPTIMIZERS[name].describe() for name in plan.optimizers},
        "results": results,
        "growth": growths,
        "clipping": clipped,
    }
    if plan.out is not None:
        write_text(plan.out, json.dumps(found, indent=1) + "\n")
    return found


def _race(
    plan: Plan, workload: Workload, optimizer: str, contestants: dict[str, Make], progress: Progress, title: str
) -> list[dict[str, Any]]:
    choice, settings = models.OPTIMIZERS[optimizer], plan.settings
    progress.phase(f"{title}: step times")
    outcome = race(workload, choice, contestants, settings)
    progress.step_done(len(contestants))
    progress.phase(f"{title}: memory, each in a process of its own")

    def measured(name: str) -> Memory | str:
        lap = outcome[name]
        found = (
            lap
            if isinstance(lap, str)
            else measure_in_fresh_process(workload, name, choice, settings.device, plan.threads)
        )
        progress.step_done()
        return found

    with ThreadPoolExecutor(_PROCESSES) as pool:
        memories = dict(zip(outcome, pool.map(measured, outcome), strict=True))
    return document.rows(outcome, memories)
