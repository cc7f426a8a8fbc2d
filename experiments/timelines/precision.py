"""Number formats of a training step: float32, bfloat16 throughout, or float32 weights computed with in 16 bits."""

import contextlib
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_map

from timelines.errors import UsageError
from timelines.training import Workload

# name: type of the weights, type of autocast or None
PRECISIONS: dict[str, tuple[torch.dtype, torch.dtype | None]] = {
    "float32": (torch.float32, None),
    "bfloat16": (torch.bfloat16, None),
    "float16": (torch.float32, torch.float16),
    "bfloat16-autocast": (torch.float32, torch.bfloat16),
}


@dataclass(frozen=True)
class InPrecision:
    """A workload trained in one of PRECISIONS; "float16" is autocast over float32 weights, as GradScaler wants it."""

    workload: Workload
    name: str

    def model(self, device: torch.device) -> torch.nn.Module:
        """The workload's model with weights of the precision's type."""
        before = torch.get_default_dtype()
        torch.set_default_dtype(PRECISIONS[self.name][0])  # Module.to() cannot convert fake parameters
        try:
            return self.workload.model(device)
        finally:
            torch.set_default_dtype(before)

    def batch(self, device: torch.device) -> Any:
        """The workload's batch, its floating-point tensors in the type of the weights."""
        weights = PRECISIONS[self.name][0]
        return tree_map(
            lambda x: x.to(weights) if isinstance(x, torch.Tensor) and x.is_floating_point() else x,
            self.workload.batch(device),
        )

    def loss(self, model: torch.nn.Module, batch: Any) -> torch.Tensor:
        """The workload's loss, under autocast where the precision has it."""
        compute = PRECISIONS[self.name][1]
        device = next(model.parameters()).device.type
        with torch.autocast(device, dtype=compute) if compute else contextlib.nullcontext():
            return self.workload.loss(model, batch)

    def describe(self) -> dict[str, Any]:
        """The workload's part of memory_timelines.json, but for the optimizer."""
        return {**self.workload.describe(), "dtype": self.name}


def in_precision(workload: Workload, name: str) -> InPrecision:
    """The workload in the precision of that name. Raises UsageError, which lists them, for another."""
    if name not in PRECISIONS:
        raise UsageError(f"unknown dtype {name!r}; choose one of {', '.join(PRECISIONS)}")
    return InPrecision(workload, name)
