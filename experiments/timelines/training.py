"""One training step of a workload, in the plain loop or with BackProp: what every measure runs."""

import contextlib
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, Protocol

import torch

from backprop import BackProp

Phase = Callable[[str], AbstractContextManager[Any]]
IMPLEMENTATIONS: dict[str, dict[str, Any]] = {
    "for-loop": {"foreach": False, "fused": False},
    "foreach": {"foreach": True, "fused": False},
    "fused": {"foreach": False, "fused": True},
}
ADAMW: dict[str, Any] = {"lr": 0.01, "betas": (0.1, 0.1)}


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


class TrainingStep:
    """A model, its optimizer, and the step that trains it; calling it takes one step.

    `phase` is a context manager for each of the contract's three phases; by default nothing is marked.
    """

    def __init__(self, workload: Workload, mode: str, implementation: str, device: torch.device) -> None:
        self.workload, self.device = workload, device
        self.model = workload.model(device)
        self.optimizer = make_optimizer(self.model.parameters(), implementation)
        if mode == "backprop":
            self.model, self.optimizer = BackProp(self.model, self.optimizer)

    def __call__(self, phase: Phase = contextlib.nullcontext) -> None:
        """Takes one step."""
        batch = self.workload.batch(self.device)
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


def make_optimizer(parameters: Iterable[torch.nn.Parameter], implementation: str) -> torch.optim.Optimizer:
    """AdamW as in the headline, in one of IMPLEMENTATIONS."""
    return torch.optim.AdamW(parameters, **ADAMW, **IMPLEMENTATIONS[implementation])


def describe_optimizer(implementation: str) -> dict[str, Any]:
    """The optimizer's part of memory_timelines.json."""
    settings = make_optimizer([torch.nn.Parameter(torch.zeros(1))], implementation).param_groups[0]
    named = {name: settings[name] for name in ("lr", "betas", "eps", "weight_decay")}
    return {"name": "AdamW", "implementation": implementation, "settings": {**named, "betas": list(settings["betas"])}}


def _address(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
