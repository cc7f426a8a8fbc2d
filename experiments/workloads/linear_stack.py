"""The headline's workload: a stack of equal Linear layers, in which parameters outweigh activations."""

import math
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class LinearStack:
    """`layers` bias-free Linear layers of `width` x `width`, then one Linear to a single feature; float32.

    The input is (batch_size, width) ones and the loss is the mean of the (batch_size, 1) output.
    """

    batch_size: int
    width: int
    layers: int = 12

    def model(self, device: torch.device) -> torch.nn.Module:
        """A new stack, with the same weights at every call."""
        torch.manual_seed(0)
        hidden = [torch.nn.Linear(self.width, self.width, bias=False, device=device) for _ in range(self.layers)]
        return torch.nn.Sequential(*hidden, torch.nn.Linear(self.width, 1, device=device))

    def batch(self, device: torch.device) -> torch.Tensor:
        """Ones of shape (batch_size, width)."""
        return torch.ones((self.batch_size, self.width), device=device)

    def loss(self, model: torch.nn.Module, batch: torch.Tensor) -> torch.Tensor:
        """The mean of the output, a scalar."""
        return model(batch).mean()

    @property
    def parameters(self) -> int:
        """Number of scalars that are trained."""
        return self.layers * self.width**2 + self.width + 1

    def step_bytes(self, optimizer_impl: str) -> int:
        """About what a plain AdamW step of this stack needs, to refuse a run that cannot fit.

        Parameters, two moments and gradients, the optimizer's temporaries, and a tenth for activations and workspaces.
        """
        layer = self.width**2
        temporary = {"for-loop": 3 * layer, "foreach": self.parameters, "fused": 0}[optimizer_impl]
        return math.ceil(4 * (4 * self.parameters + temporary) * 1.1)

    def describe(self) -> dict[str, Any]:
        """The workload's part of memory_timelines.json, but for the optimizer."""
        return {
            "name": "linear-stack",
            "parameters": self.parameters,
            "batch_size": self.batch_size,
            "layers": self.layers + 1,
            "widths": [self.width] * (self.layers + 1) + [1],
            "dtype": "float32",
        }


SIZES = {"full": LinearStack(batch_size=2048, width=8192), "quick": LinearStack(batch_size=256, width=1024)}
