"""Step times of several loops in one process, interleaved step by step, so that all see the same machine."""

import copy
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields

import torch

from timelines import devices
from timelines.bench.loops import REFERENCE, SUBJECT, Make, Trainer
from timelines.errors import UsageError
from timelines.fresh import reason
from timelines.measure import synchronize
from timelines.optimizers import OptimizerChoice
from timelines.recorder import tensors_in
from timelines.training import Workload

CPU = torch.device("cpu")
_STATE = 4  # what a loop holds between and in steps, in multiples of its parameters: they, two moments, gradients
# Times a heat is built anew, each time in another order: where memory lies, and in pages how large, moves a step by
# some per cent, and is settled when a model is built.
_SITTINGS = 3
_FEWEST_ROUNDS = 2  # of a sitting; fewer than six in all would have no 95 % interval
_SHARE = 0.5  # of the free memory that a heat takes; the rest is for activations, and for what lies unused


@dataclass(frozen=True)
class Settings:
    """How long a race may take: rounds at most, and seconds after which no new round starts once six are run."""

    rounds: int = 40
    seconds: float = 20.0
    warmup: int = 1
    device: torch.device = CPU


@dataclass
class Lap:
    """One loop's step times in ms, and those of the plain fused loop and of fused BackProp in the same rounds."""

    times: list[float] = field(default_factory=list)
    reference: list[float] = field(default_factory=list)
    subject: list[float] = field(default_factory=list)


Outcome = dict[str, "Lap | str"]  # by contestant; a text is the reason why it cannot run here


def race(
    workload: Workload,
    choice: OptimizerChoice,
    contestants: Mapping[str, Make],
    settings: Settings,
    announce: Callable[[str], object] = id,
    *,
    together: bool = False,
) -> Outcome:
    """Times each contestant, all in one heat or, where memory would not suffice, in heats that share two contestants.

    Those two are the plain fused loop and fused BackProp, which must be among `contestants`. Every round takes one
    step of each, in an order that rotates. The models are built anew three times. `together` asks for one heat,
    whatever memory it takes, so that any two contestants can be compared round by round.

    Raises:
        UsageError: one of those two cannot run here.
    """
    original = workload.model(settings.device)
    anchors = [REFERENCE, SUBJECT]
    others = [name for name in contestants if name not in anchors]
    fit = max(1, len(others) if together else _fit(original, settings.device) - len(anchors))
    heats = [others[i : i + fit] for i in range(0, len(others), fit)] or [[]]
    outcome: Outcome = {}
    for heat in heats:
        announce(", ".join(heat) or SUBJECT)
        for sitting in range(_SITTINGS):
            chosen = {name: contestants[name] for name in _rotated([*anchors, *heat], sitting)}
            for name, result in _sitting(workload, original, choice, chosen, settings, len(heats) * _SITTINGS).items():
                earlier = outcome.get(name)
                if isinstance(earlier, Lap) and isinstance(result, Lap):
                    for series in fields(Lap):
                        getattr(earlier, series.name).extend(getattr(result, series.name))
                else:
                    outcome[name] = result
    return {name: outcome[name] for name in contestants}


def _fit(original: torch.nn.Module, device: torch.device) -> int:
    parameters = sum(p.numel() * p.element_size() for p in original.parameters())
    return int(_SHARE * (devices.free_bytes(device) or 0) // (_STATE * parameters))


def _sitting(
    workload: Workload,
    original: torch.nn.Module,
    choice: OptimizerChoice,
    contestants: Mapping[str, Make],
    settings: Settings,
    sittings: int,
) -> Outcome:
    trainers: dict[str, Trainer] = {}
    failed: Outcome = {}
    for name, make in contestants.items():
        try:
            trainer = Trainer(workload, make, choice, settings.device, copy.deepcopy(original))
            for _ in range(settings.warmup):
                trainer()
            trainers[name] = trainer
        except Exception as error:  # whatever it is that a peer lacks here
            failed[name] = reason(error)
    for name in (REFERENCE, SUBJECT):
        if name in failed:
            raise UsageError(f"nothing can be compared: {name} does not run here ({failed[name]})")
    times: dict[str, list[float]] = {name: [] for name in trainers}
    began = time.perf_counter()
    for count in range(math.ceil(settings.rounds / _SITTINGS)):
        if count >= _FEWEST_ROUNDS and time.perf_counter() - began > settings.seconds / sittings:
            break
        for name in _rotated(list(trainers), count):
            times[name].append(_timed(trainers[name], settings.device))
    for trainer in trainers.values():
        _release(trainer)
    # Copies, since later sittings add to them.
    laps = {name: Lap(list(own), list(times[REFERENCE]), list(times[SUBJECT])) for name, own in times.items()}
    return {**laps, **failed}


def _release(trainer: Trainer) -> None:
    """Gives the memory back: a hook that knows its optimizer ties parameters to it for good."""
    for tensor in (*trainer.parameters, *tensors_in(list(trainer.loop.optimizer.state.values()))):
        tensor.untyped_storage().resize_(0)


def _rotated(names: list[str], count: int) -> list[str]:
    """Another one first in each round, and the way back in every second one, so that no one always follows the same."""
    start = count % len(names)
    order = names[start:] + names[:start]
    return order[::-1] if count % 2 else order


def _timed(step: Trainer, device: torch.device) -> float:
    synchronize(device)
    before = time.perf_counter()
    step()
    synchronize(device)
    return (time.perf_counter() - before) * 1000
