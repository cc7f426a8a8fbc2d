"""A model of the user's own: `package.module:function` returns it with its batch and its loss."""

import importlib
import inspect
import os
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from timelines.errors import UsageError


def user_function(target: str, batch_size: int | None = None, seq_len: int | None = None) -> "UserFunction":
    """The workload that `package.module:function` makes; modules in the current folder are found too.

    The function returns (model, batch, loss_fn), and loss_fn(model, batch) a scalar. batch_size and seq_len are passed
    to it by name. It is not called before its model is needed.

    Raises:
        UsageError: the module does not import, has no such function, or the function takes no batch_size or seq_len.
    """
    module_name, _, name = target.partition(":")
    if os.getcwd() not in sys.path:  # an installed command starts with its own folder there, not with the user's
        sys.path.insert(0, os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # whatever the module's own code raises
        raise UsageError(f"{target}: cannot import {module_name}: {type(error).__name__}: {error}") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise UsageError(f"{target}: {module_name} has no function {name}")
    settings = {key: n for key, n in (("batch_size", batch_size), ("seq_len", seq_len)) if n is not None}
    accepted = inspect.signature(function).parameters.values()
    for key in settings:
        if not any(p.name == key or p.kind is p.VAR_KEYWORD for p in accepted):
            raise UsageError(f"{target}: the function takes no {key}; add that argument, or leave out --{_option(key)}")
    return UserFunction(target, function, settings)


class UserFunction:
    """What a user's function returned when it was last called."""

    context = None  # not known

    def __init__(self, name: str, function: Callable[..., Any], settings: dict[str, int]) -> None:
        self.name, self.function, self.settings = name, function, settings
        self.seq_len = settings.get("seq_len")
        self._made: tuple[torch.nn.Module, Any, Callable[[torch.nn.Module, Any], Any]] | None = None

    def model(self, device: torch.device) -> torch.nn.Module:
        """A new model, with the same weights at every call unless the function sets seeds of its own.

        Raises:
            UsageError: the function raises, or returns something else.
        """
        torch.manual_seed(0)
        try:
            with device:
                made = self.function(**self.settings)
        except Exception as error:
            raise UsageError(f"{self.name}: the function raised {type(error).__name__}: {error}") from error
        if not isinstance(made, tuple) or len(made) != 3:
            raise UsageError(f"{self.name}: must return (model, batch, loss_fn), not {_kind(made)}")
        model, _, loss_fn = made
        if not isinstance(model, torch.nn.Module):
            raise UsageError(f"{self.name}: the first of what it returns must be a torch.nn.Module, not {_kind(model)}")
        if not callable(loss_fn):
            raise UsageError(
                f"{self.name}: the third of what it returns must be loss_fn(model, batch), not {_kind(loss_fn)}"
            )
        self._made = made
        # What is there already is not moved: torch cannot move a fake tensor onto its own device.
        there = all(tensor.device.type == device.type for tensor in (*model.parameters(), *model.buffers()))
        return model if there else model.to(device)

    def batch(self, device: torch.device) -> Any:
        """A copy of the last model's batch."""
        batch = self._last()[1]
        return tree_map(lambda leaf: leaf.to(device, copy=True) if torch.is_tensor(leaf) else leaf, batch)

    def loss(self, model: torch.nn.Module, batch: Any) -> torch.Tensor:
        """What loss_fn(model, batch) returns.

        Raises:
            UsageError: it is no scalar tensor with a gradient.
        """
        loss = self._last()[2](model, batch)
        if not torch.is_tensor(loss) or loss.ndim or not loss.requires_grad:
            raise UsageError(f"{self.name}: loss_fn must return a scalar tensor with a gradient, not {_kind(loss)}")
        return loss

    @property
    def parameters(self) -> int:
        """Number of scalars that are trained."""
        return sum(parameter.numel() for parameter in self._last()[0].parameters() if parameter.requires_grad)

    def describe(self) -> dict[str, Any]:
        """The workload's part of memory_timelines.json, but for the optimizer.

        The batch's size is that of its first tensor's first dimension.
        """
        model, batch, _ = self._last()
        shapes = [leaf.shape for leaf in tree_leaves(batch) if torch.is_tensor(leaf) and leaf.ndim]
        dtypes = {str(p.dtype).removeprefix("torch."): None for p in model.parameters()}
        return {
            "name": self.name,
            "parameters": self.parameters,
            "batch_size": self.settings.get("batch_size") or (shapes[0][0] if shapes else 1),
            **({"seq_len": self.seq_len} if self.seq_len else {}),
            "dtype": ", ".join(dtypes),
        }

    def _last(self) -> tuple[torch.nn.Module, Any, Callable[[torch.nn.Module, Any], Any]]:
        if self._made is None:
            self.model(torch.device("cpu"))
        assert self._made is not None
        return self._made


def _kind(value: Any) -> str:
    if torch.is_tensor(value):
        return f"a tensor of shape {tuple(value.shape)}" + ("" if value.requires_grad else " without a gradient")
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    return f"a {type(value).__name__}"


def _option(key: str) -> str:
    return {"batch_size": "batch", "seq_len": "seq-len"}[key]
