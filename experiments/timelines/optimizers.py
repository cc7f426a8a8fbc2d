"""Which optimizer trains: by name, implementation and settings, as a person writes them."""

import ast
import importlib
import inspect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily

from timelines.errors import UsageError

IMPLEMENTATIONS: dict[str, dict[str, bool]] = {
    "for-loop": {"foreach": False, "fused": False},
    "foreach": {"foreach": True, "fused": False},
    "fused": {"foreach": False, "fused": True},
}


@dataclass(frozen=True)
class OptimizerChoice:
    """An optimizer class, one of IMPLEMENTATIONS, and its settings."""

    type: type[torch.optim.Optimizer]
    implementation: str = "for-loop"
    settings: dict[str, Any] = field(default_factory=dict)

    def make(self, parameters: Iterable[torch.nn.Parameter]) -> torch.optim.Optimizer:
        """The optimizer over `parameters`.

        Raises:
            UsageError: the class refuses the settings or the parameters.
        """
        accepted = inspect.signature(self.type.__init__).parameters
        flags: dict[str, Any] = {k: v for k, v in IMPLEMENTATIONS[self.implementation].items() if k in accepted}
        try:
            # 8-bit optimizers compute their code books from values, which a plan's fake tensors do not have.
            with unset_fake_temporarily():
                return self.type(parameters, **self.settings, **flags)
        except (TypeError, ValueError, RuntimeError) as error:
            raise UsageError(f"{self.type.__name__} refuses these settings or parameters: {error}") from error

    def describe(self) -> dict[str, Any]:
        """The optimizer's part of memory_timelines.json, with the defaults of the settings not given."""
        group = self.make([torch.nn.Parameter(torch.zeros(2, 2))]).param_groups[0]
        listed = {
            k: list(v) if isinstance(v, tuple) else v for k, v in group.items() if k in _NAMED or k in self.settings
        }
        return {"name": self.type.__name__, "implementation": self.implementation, "settings": listed}


_NAMED = ("lr", "betas", "eps", "momentum", "weight_decay")


def adamw(implementation: str) -> OptimizerChoice:
    """The headline's AdamW, as in the seed."""
    return OptimizerChoice(torch.optim.AdamW, implementation, {"lr": 0.01, "betas": (0.1, 0.1)})


def parse(name: str, implementation: str | None = None, settings: Sequence[str] = ()) -> OptimizerChoice:
    """An optimizer from words: a name in torch.optim (in any case) or package.module:Class, and settings as key=value.

    Without `implementation`, fused where the class has it, else for-loop.

    Raises:
        UsageError: any part is unknown; the sentence lists what there is.
    """
    chosen = _find(name)
    accepted = inspect.signature(chosen.__init__).parameters
    if implementation is None:
        implementation = "fused" if "fused" in accepted else "for-loop"
    if implementation not in IMPLEMENTATIONS:
        raise UsageError(f"unknown optimizer implementation {implementation!r}; choose {', '.join(IMPLEMENTATIONS)}")
    if implementation != "for-loop" and implementation not in accepted:
        raise UsageError(f"{chosen.__name__} has no {implementation} implementation; take for-loop")
    parsed: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or key not in accepted:
            known = ", ".join(k for k in accepted if k not in ("self", "params"))
            raise UsageError(f"{setting!r} is no setting of {chosen.__name__}; write key=value with a key of {known}")
        try:
            parsed[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            raise UsageError(f"{value!r} is no value for {key}; write a number, a tuple, True, False or None") from None
    return OptimizerChoice(chosen, implementation, parsed)


def _find(name: str) -> type[torch.optim.Optimizer]:
    module_name, colon, attribute = name.partition(":")
    if colon:
        try:
            found = getattr(importlib.import_module(module_name), attribute)
        except (ImportError, AttributeError) as error:
            raise UsageError(f"cannot import the optimizer {name}: {error}") from error
        if not (isinstance(found, type) and issubclass(found, torch.optim.Optimizer)):
            raise UsageError(f"{name} is not a torch.optim.Optimizer")
        return found
    classes = {k.lower(): v for k, v in vars(torch.optim).items() if isinstance(v, type)}
    classes = {
        k: v for k, v in classes.items() if issubclass(v, torch.optim.Optimizer) and v is not torch.optim.Optimizer
    }
    if name.lower() not in classes:
        names = ", ".join(sorted(v.__name__ for v in classes.values()))
        raise UsageError(f"unknown optimizer {name!r}; choose one of {names}, or write package.module:Class")
    return classes[name.lower()]
