"""What the benchmark trains: shapes that differ in how many tensors there are and in how large they are."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import torch

from timelines.errors import UsageError
from timelines.optimizers import OptimizerChoice
from timelines.training import Workload
from workloads.linear_stack import LinearStack
from workloads.transformer import Transformer
from workloads.vision import Classifier, ResNet


@dataclass(frozen=True)
class Encoder:
    """A transformer encoder with 12 parameters a layer and a head with 2; its loss is the output's mean square.

    The input is (batch_size, tokens, width) ones. Four heads, so `width` is a multiple of 4.
    """

    layers: int = 24
    width: int = 128
    batch_size: int = 2
    tokens: int = 64

    def model(self, device: torch.device) -> torch.nn.Module:
        """A new model, with the same weights at every call."""
        torch.manual_seed(0)
        with device:
            layer = torch.nn.TransformerEncoderLayer(
                self.width, 4, 4 * self.width, dropout=0.0, batch_first=True, norm_first=True
            )
            encoder = torch.nn.TransformerEncoder(layer, self.layers, enable_nested_tensor=False)
            return torch.nn.Sequential(encoder, torch.nn.Linear(self.width, self.width))

    def batch(self, device: torch.device) -> torch.Tensor:
        """Ones of shape (batch_size, tokens, width)."""
        return torch.ones(self.batch_size, self.tokens, self.width, device=device)

    def loss(self, model: torch.nn.Module, batch: torch.Tensor) -> torch.Tensor:
        """The mean square of the output, a scalar."""
        return model(batch).square().mean()

    def describe(self) -> dict[str, Any]:
        """The shape."""
        return {"name": "encoder", **dataclasses.asdict(self)}


@dataclass(frozen=True)
class WideMLP:
    """Three Linear layers with biases, `width` to `width`, ReLU between; its loss is the output's mean square."""

    batch_size: int = 32
    width: int = 4096
    layers: int = 3

    def model(self, device: torch.device) -> torch.nn.Module:
        """A new model, with the same weights at every call."""
        torch.manual_seed(0)
        hidden = [torch.nn.Linear(self.width, self.width, device=device) for _ in range(self.layers)]
        return torch.nn.Sequential(*(part for linear in hidden for part in (linear, torch.nn.ReLU())))

    def batch(self, device: torch.device) -> torch.Tensor:
        """Rows that all differ, (batch_size, width)."""
        return torch.linspace(-1, 1, self.batch_size * self.width, device=device).view(self.batch_size, self.width)

    def loss(self, model: torch.nn.Module, batch: torch.Tensor) -> torch.Tensor:
        """The mean square of the output, a scalar."""
        return model(batch).square().mean()

    def describe(self) -> dict[str, Any]:
        """The shape."""
        return {"name": "wide-mlp", **dataclasses.asdict(self)}


def _resnet_50() -> torch.nn.Module:
    return ResNet((3, 4, 6, 3), 64, 1000)


def _tiny_resnet() -> torch.nn.Module:
    return ResNet((1, 1), 8, 10)


# Batches are small, so that a CPU takes a step in about a second and the updates are a large part of it.
MODELS: dict[str, Workload] = {
    "small-tensors": Encoder(),
    "gpt2-small": Transformer("gpt2-small", 12, 12, 768, batch_size=1, seq_len=64),
    "linear-stack": LinearStack(batch_size=64, width=2048),
    "resnet-50": Classifier("resnet-50", 50, _resnet_50, batch_size=4, size=64),
    "wide-mlp": WideMLP(),
}
# Each of these against the fastest plain loop: time and memory as the network grows.
GROWTH: dict[str, list[Encoder]] = {
    "layers": [Encoder(layers=layers, width=64, tokens=32) for layers in (6, 24, 96, 384)],
    "width": [Encoder(layers=6, width=width, tokens=32) for width in (64, 256, 512, 1024)],
}
# `--quick`: the same kinds, small enough for all of it to take a minute.
QUICK: dict[str, Workload] = {
    "small-tensors": Encoder(layers=2, width=16, tokens=8),
    "gpt2-small": Transformer("gpt2-small", 2, 2, 32, 1, 16, vocab=64, context=16),
    "linear-stack": LinearStack(batch_size=16, width=64, layers=4),
    "resnet-50": Classifier("resnet-50", 4, _tiny_resnet, batch_size=2, size=32, classes=10),
    "wide-mlp": WideMLP(batch_size=8, width=64),
}
QUICK_GROWTH = {
    "layers": [Encoder(layers, 16, tokens=8) for layers in (1, 2)],
    "width": [Encoder(1, width, tokens=8) for width in (8, 16)],
}
# Written out, since torch-optimi has other defaults.
_ADAMW: dict[str, Any] = {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.01}
OPTIMIZERS: dict[str, OptimizerChoice] = {
    "adamw": OptimizerChoice(torch.optim.AdamW, "fused", _ADAMW),
    "sgd": OptimizerChoice(torch.optim.SGD, "fused", {"lr": 1e-3, "momentum": 0.9}),
}


def chosen(kind: str, known: dict[str, Any], names: list[str]) -> list[str]:
    """`names`, or all that are known if there are none. Raises UsageError at one that is not."""
    for name in names:
        if name not in known:
            raise UsageError(f"unknown {kind} {name!r}; choose {', '.join(known)}")
    return names or list(known)
