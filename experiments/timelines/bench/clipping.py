"""What clipping the norm of all gradients costs: BackProp walks the network once more for it."""

from collections.abc import Callable
from typing import Any

import torch

from timelines.bench import document, statistics
from timelines.bench.loops import REFERENCE, SUBJECT, Loop, Make, backprop, plain
from timelines.bench.race import Lap, Settings, race
from timelines.errors import UsageError
from timelines.optimizers import OptimizerChoice
from timelines.training import Workload

_MAX_NORM = 1.0


def cost(workload: Workload, choice: OptimizerChoice, settings: Settings) -> dict[str, Any]:
    """Median ms of each kind of step, and what clipping adds to BackProp's, in all and beyond what the plain loop pays.

    Both are in backward walks: what a step of forward and backward takes, less one of forward alone, in the same round.

    Raises:
        UsageError: one of the steps cannot run here.
    """
    laps: dict[str, list[float]] = {}
    for name, outcome in race(workload, choice, STEPS, settings, together=True).items():
        if not isinstance(outcome, Lap):
            raise UsageError(f"clipping cannot be timed: {name} does not run here ({outcome})")
        laps[name] = outcome.times
    walks = [both - forward for both, forward in zip(laps["forward and backward"], laps["forward"], strict=True)]
    ours = [clipped - step for clipped, step in zip(laps["backprop clipped"], laps[SUBJECT], strict=True)]
    theirs = [clipped - step for clipped, step in zip(laps["plain clipped"], laps[REFERENCE], strict=True)]
    beyond = [our - their for our, their in zip(ours, theirs, strict=True)]
    return {
        "step_ms": {name: document.estimate(statistics.median(times)) for name, times in laps.items()},
        "added_walks": document.estimate(statistics.ratio(ours, walks)),
        "walks_beyond_plain": document.estimate(statistics.ratio(beyond, walks)),
    }


def _clipped(make: Make, clip: Callable[[Loop], Any]) -> Make:
    def clipped(model: torch.nn.Module, choice: OptimizerChoice) -> Loop:
        loop = make(model, choice)

        def update() -> None:
            clip(loop)
            loop.update()

        return Loop(loop.model, loop.optimizer, loop.backward, update)

    return clipped


def _without_update(model: torch.nn.Module, choice: OptimizerChoice) -> Loop:
    return Loop(model, choice.make(model.parameters()), torch.Tensor.backward, model.zero_grad)


def _forward(model: torch.nn.Module, choice: OptimizerChoice) -> Loop:
    return Loop(model, choice.make(model.parameters()), lambda loss: None, lambda: None)


STEPS: dict[str, Make] = {
    REFERENCE: plain,
    SUBJECT: backprop,
    "plain clipped": _clipped(plain, lambda loop: torch.nn.utils.clip_grad_norm_(loop.model.parameters(), _MAX_NORM)),
    "backprop clipped": _clipped(backprop, lambda loop: loop.optimizer.clip_grad_norm_(_MAX_NORM)),
    "forward and backward": _without_update,
    "forward": _forward,
}
