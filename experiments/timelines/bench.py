"""Step time of BackProp against the plain loop on many small tensors, where Python's share is largest."""

import statistics
import time
from collections.abc import Callable

import torch

from backprop import BackProp

# How each side is wrapped: not at all, or with these arguments of BackProp.
SIDES: dict[str, dict[str, int | None] | None] = {
    "plain": None,
    "backprop": {"bucket_bytes": None},
    "backprop, one by one": {"bucket_bytes": 0},
}


def small_tensors(layers: int = 24, width: int = 128) -> torch.nn.Module:
    """A transformer encoder with 12 parameters a layer and a head with 2: 290 for 24 layers."""
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
    encoder = torch.nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
    return torch.nn.Sequential(encoder, torch.nn.Linear(width, width))


def compare(pairs: int, model: Callable[[], torch.nn.Module] = small_tensors, width: int = 128) -> dict[str, float]:
    """Median over `pairs` of each side's step time over the plain loop's, fused AdamW, interleaved step by step."""
    batch = torch.ones(2, 64, width)
    steps = {name: _step(model(), wrapping, batch) for name, wrapping in SIDES.items()}
    for step in steps.values():
        for _ in range(3):
            step()
    times: dict[str, list[float]] = {name: [] for name in steps}
    for pair in range(pairs):
        for name in list(steps) if pair % 2 else reversed(list(steps)):  # so that no side always goes first
            before = time.perf_counter()
            steps[name]()
            times[name].append(time.perf_counter() - before)
    plain = times["plain"]
    return {name: statistics.median(a / b for a, b in zip(taken, plain, strict=True)) for name, taken in times.items()}


def _step(model: torch.nn.Module, wrapping: dict[str, int | None] | None, batch: torch.Tensor) -> Callable[[], None]:
    optimizer: torch.optim.Optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    if wrapping is not None:
        model, optimizer = BackProp(model, optimizer, **wrapping)

    def step() -> None:
        model(batch).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step
