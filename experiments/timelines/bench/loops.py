"""A way to train: what wraps the model and the optimizer, and the lines of its loop."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from backprop import BackProp
from timelines.optimizers import IMPLEMENTATIONS, OptimizerChoice
from timelines.training import Workload


@dataclass(frozen=True)
class Loop:
    """The two halves of a step after the forward pass; `optimizer` is what holds the state, for the recorder."""

    model: torch.nn.Module
    optimizer: Any
    backward: Callable[[torch.Tensor], Any]
    update: Callable[[], Any]


Make = Callable[[torch.nn.Module, OptimizerChoice], Loop]


def plain(model: torch.nn.Module, choice: OptimizerChoice) -> Loop:
    """The loop that everyone writes."""
    return standard(model, choice.make(model.parameters()))


def backprop(model: torch.nn.Module, choice: OptimizerChoice) -> Loop:
    """This project's."""
    return standard(*BackProp(model, choice.make(model.parameters())))


def standard(model: torch.nn.Module, optimizer: Any) -> Loop:
    """loss.backward(), optimizer.step(), optimizer.zero_grad()."""

    def update() -> None:
        optimizer.step()
        optimizer.zero_grad()

    return Loop(model, optimizer, torch.Tensor.backward, update)


def with_implementation(make: Make, implementation: str) -> Make:
    """`make`, with that implementation of the optimizer in place of the one it is given."""
    return lambda model, choice: make(model, replace(choice, implementation=implementation))


OURS: dict[str, Make] = {
    f"{name} {implementation}": with_implementation(make, implementation)
    for name, make in (("plain", plain), ("backprop", backprop))
    for implementation in IMPLEMENTATIONS
}
REFERENCE = "plain fused"  # the fastest way to train without BackProp
SUBJECT = "backprop fused"


class Trainer:
    """Trains a workload by a loop; calling it takes one step. `model` is a new one, unless given."""

    def __init__(
        self,
        workload: Workload,
        make: Make,
        choice: OptimizerChoice,
        device: torch.device,
        model: torch.nn.Module | None = None,
    ) -> None:
        self.workload = workload
        self.batch = workload.batch(device)
        self.loop = make(workload.model(device) if model is None else model, choice)
        self.parameters = list(self.loop.model.parameters())

    def __call__(self) -> None:
        """Takes one step."""
        self.loop.backward(self.workload.loss(self.loop.model, self.batch))
        self.loop.update()
