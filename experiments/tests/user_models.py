"""Models that `timelines plan user_models:FUNCTION` is asked for: one that can be planned, and those that cannot."""

from typing import Any

import torch


def _mean(model: torch.nn.Module, batch: torch.Tensor) -> torch.Tensor:
    return model(batch).mean()


def perceptron(batch_size: int = 4) -> Any:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64))
    return model, torch.randn(batch_size, 64), _mean


def two_things() -> Any:
    return torch.nn.Linear(2, 2), torch.ones(2, 2)


class _ReadsAValue(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * x.sum().item()


class _Branches(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x if x.sum() > 0 else -x


@torch.library.custom_op("user_models::kernel", mutates_args=())
def _kernel(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


class _CallsAKernel(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _kernel(x)


def _with(inner: torch.nn.Module) -> Any:
    return torch.nn.Sequential(torch.nn.Linear(2, 2), inner), torch.ones(2, 2), _mean


class ReadingSGD(torch.optim.SGD):
    """An optimizer that looks at its gradients, as those that compile their update or keep 8-bit state do."""

    def step(self, closure: Any = None) -> Any:
        self.param_groups[0]["params"][0].grad.sum().item()
        return super().step(closure)


def reads_a_value() -> Any:
    return _with(_ReadsAValue())


def branches() -> Any:
    return _with(_Branches())


def calls_a_kernel() -> Any:
    return _with(_CallsAKernel())
