"""One training step of a workload, in the plain loop or with BackProp: what every measure runs."""

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

import torch

from backprop import BackProp
from timelines.optimizers import OptimizerChoice

Phase = Callable[[str], AbstractContextManager[Any]]


class Workload(Protocol):
    """What is trained."""

    def model(self, device: torch.device) -> torch.nn.Module:
        """A new model with the same weights at every call."""
        ...

    def batch(self, device: torch.device) -> Any:
        """What the model reads in one step."""
        ...

    def loss(self, model: torch.nn.Module, batch: Any) -> torch.Tensor:
        """The scalar loss of one forward pass."""
        ...

    def describe(self) -> dict[str, Any]:
        """The workload's part of memory_timelines.json, but for the optimizer."""
        ...


class TrainingStep:
    """A model, its optimizer, and the step that trains it; calling it takes one step.

    `phase` is a context manager for each of the contract's three phases; by default nothing is marked.
    """

    def __init__(self, workload: Workload, mode: str, optimizer: OptimizerChoice, device: torch.device) -> None:
        self.workload, self.device = workload, device
        self.model = workload.model(device)
        self.optimizer = optimizer.make(self.model.parameters())
        if mode == "backprop":
            self.model, self.optimizer = BackProp(self.model, self.optimizer)

    def __call__(self, phase: Phase = contextlib.nullcontext, see_batch: Callable[[Any], Any] = id) -> None:
        """Takes one step. `see_batch` is called with the batch before it is used."""
        batch = self.workload.batch(self.device)
        see_batch(batch)
        with phase("forward"):
            loss = self.workload.loss(self.model, batch)
        with phase("backward"):
            loss.backward()
        with phase("optimizer step"):
            self.optimizer.step()
        self.optimizer.zero_grad()

    def known_storages(self) -> dict[int, str]:
        """The category of each storage that lives across steps, by its address."""
        known = {}
        for state in self.optimizer.state.values():
            known.update({_address(value): "OPTIMIZER_STATE" for value in state.values() if torch.is_tensor(value)})
        for tensor in (*self.model.parameters(), *self.model.buffers()):
            known[_address(tensor)] = "PARAMETER"
        return known


def _address(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
