"""Image classifiers in plain PyTorch, shaped as torchvision's: the Vision Transformer (ViT) and ResNet-50."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from workloads.transformer import Block


class ViT(nn.Module):
    """An image in patches of 16 x 16 pixels and a class token, through pre-norm blocks, to logits.

    (batch, 3, size, size) to (batch, classes).
    """

    def __init__(self, layers: int, heads: int, width: int, size: int, classes: int) -> None:
        super().__init__()
        self.checkpointed = False  # whether blocks keep only their input and compute the rest anew in backward
        self.patches = nn.Conv2d(3, width, kernel_size=16, stride=16)
        self.class_token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.empty(1, (size // 16) ** 2 + 1, width).normal_(std=0.02))
        block = {"causal": False, "dropout": 0.0, "eps": 1e-6, "gelu": "none"}
        self.blocks = nn.ModuleList(Block(width, heads, **block) for _ in range(layers))
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.head = nn.Linear(width, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Logits, read from the class token."""
        patches = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_token.expand(len(images), -1, -1), patches], dim=1) + self.positions
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.checkpointed else block(x)
        return self.head(self.norm(x)[:, 0])


class Bottleneck(nn.Module):
    """1 x 1, 3 x 3 and 1 x 1 convolutions, the last four times as wide, added to the input.

    (batch, channels, h, w) to (batch, 4 * width, h / stride, w / stride).
    """

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(
            *_convolution(channels, width, 1),
            nn.ReLU(inplace=True),
            *_convolution(width, width, 3, stride),
            nn.ReLU(inplace=True),
            *_convolution(width, 4 * width, 1),
        )
        same = stride == 1 and channels == 4 * width
        self.shortcut = nn.Identity() if same else nn.Sequential(*_convolution(channels, 4 * width, 1, stride))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The input, in the new shape, plus what the convolutions add."""
        return F.relu_(self.convolutions(x) + self.shortcut(x))


class ResNet(nn.Module):
    """A 7 x 7 convolution, stages of bottlenecks, each half as large and twice as wide, and the mean over all places.

    (batch, 3, size, size) to (batch, classes). Checkpointed, the running statistics of batch norm move twice a step.
    """

    def __init__(self, stages: tuple[int, ...], width: int, classes: int) -> None:
        super().__init__()
        self.checkpointed = False
        self.stem = nn.Sequential(*_convolution(3, width, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, padding=1))
        channels = width
        self.blocks = nn.ModuleList()
        for stage, depth in enumerate(stages):
            for place in range(depth):
                self.blocks.append(Bottleneck(channels, width << stage, stride=2 if stage and not place else 1))
                channels = 4 * (width << stage)
        self.head = nn.Linear(channels, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Logits."""
        x = self.stem(images)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.checkpointed else block(x)
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


def _convolution(channels: int, width: int, kernel: int, stride: int = 1) -> tuple[nn.Module, nn.Module]:
    convolution = nn.Conv2d(channels, width, kernel, stride, padding=kernel // 2, bias=False)
    nn.init.kaiming_normal_(convolution.weight, mode="fan_out", nonlinearity="relu")
    return convolution, nn.BatchNorm2d(width)


@dataclass(frozen=True)
class Classifier:
    """A classifier of square images, with the mean cross entropy of the class as its loss; in torch's default dtype."""

    name: str
    layers: int
    build: Callable[[], nn.Module]
    batch_size: int
    size: int = 224
    classes: int = 1000

    def model(self, device: torch.device) -> nn.Module:
        """A new model, with the same weights at every call."""
        torch.manual_seed(0)
        with device:
            return self.build()

    def batch(self, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        """Images (batch_size, 3, size, size) that all differ, and classes (batch_size,)."""
        shape = (self.batch_size, 3, self.size, self.size)
        images = torch.linspace(-1, 1, self.batch_size * 3 * self.size**2, device=device).view(shape)
        return images, torch.arange(self.batch_size, device=device).remainder_(self.classes)

    def loss(self, model: nn.Module, batch: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        """Mean cross entropy of the class, a scalar."""
        images, classes = batch
        return F.cross_entropy(model(images), classes)

    @property
    def parameters(self) -> int:
        """Number of scalars that are trained."""
        with torch.device("meta"):
            return sum(parameter.numel() for parameter in self.build().parameters())

    def describe(self) -> dict[str, Any]:
        """The workload's part of memory_timelines.json, but for the optimizer."""
        return {
            "name": self.name,
            "parameters": self.parameters,
            "batch_size": self.batch_size,
            "layers": self.layers,
            "dtype": str(torch.get_default_dtype()).removeprefix("torch."),
        }


SIZES: dict[str, tuple[int, Callable[[], nn.Module]]] = {  # layers, and what builds it
    "vit-b-16": (12, lambda: ViT(layers=12, heads=12, width=768, size=224, classes=1000)),
    "vit-l-16": (24, lambda: ViT(layers=24, heads=16, width=1024, size=224, classes=1000)),
    "resnet-50": (50, lambda: ResNet(stages=(3, 4, 6, 3), width=64, classes=1000)),
}
