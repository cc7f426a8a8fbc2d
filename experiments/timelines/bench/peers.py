"""Other ways to free gradients early, each used as its documentation says.

Each takes the optimizer that it is given, fused, where it can; LOMO and AdaLomo have update rules of their own.
Packages are imported where they are used, so that one that is missing or broken costs only itself.
"""

import contextlib
import inspect
import socket
from typing import Any

import torch

from timelines.bench.loops import Loop, Make, standard
from timelines.optimizers import OptimizerChoice


def tutorial(model: torch.nn.Module, choice: OptimizerChoice) -> Loop:
    """An optimizer for each parameter, in a dict, stepped by a hook once the gradient has landed.

    https://docs.pytorch.org/tutorials/intermediate/optimizer_step_in_backward_tutorial.html
    """
    optimizers = {parameter: choice.make([parameter]) for parameter in model.parameters()}

    def hook(parameter: Any) -> None:
        optimizers[parameter].step()
        optimizers[parameter].zero_grad()

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(hook)
    return _in_backward(model, list(optimizers.values()))


def torchtune(model: torch.nn.Module, choice: OptimizerChoice) -> Loop:
    """torchtune.training.OptimizerInBackwardWrapper, as its single-device full fine-tuning recipe sets it up."""
    from torchtune import training  # pyright: ignore[reportMissingImports]  # in the extra `peers` only

    optimizers = {parameter: choice.make([parameter]) for parameter in model.parameters()}
    training.register_optim_in_bwd_hooks(model=model, optim_dict=optimizers)
    training.create_optim_in_bwd_wrapper(model=model, optim_dict=optimizers)
    return _in_backward(model, list(optimizers.values()))


def torch_helper(model: torch.nn.Module, choice: OptimizerChoice) -> Loop:
    """torch.distributed.optim._apply_optimizer_in_backward, private and undocumented."""
    from torch.distributed.optim.apply_optimizer_in_backward import _apply_optimizer_in_backward

    settings = {**choice.settings, "fused": True}
    _apply_optimizer_in_backward(choice.type, model.parameters(), settings)
    parameters: list[Any] = list(model.parameters())  # to which the helper has added an attribute
    return _in_backward(model, [optimizer for p in parameters for optimizer in p._in_backward_optimizers])


def optimi(model: torch.nn.Module, choice: OptimizerChoice) -> Loop:
    """torch-optimi's own AdamW or SGD with gradient release; https://optimi.benjaminwarner.dev/gradient_release."""
    import optimi as package

    optimizer = getattr(package, choice.type.__name__)(model.parameters(), gradient_release=True, **choice.settings)
    package.prepare_for_gradient_release(model, optimizer)
    return standard(model, optimizer)


def lomo(model: torch.nn.Module, choice: OptimizerChoice) -> Loop:
    """LOMO: plain SGD, inside the walk; https://github.com/OpenLMLab/LOMO."""
    return _lomo("Lomo", model, choice)


def adalomo(model: torch.nn.Module, choice: OptimizerChoice) -> Loop:
    """AdaLomo: factored second moments, inside the walk; https://github.com/OpenLMLab/LOMO."""
    return _lomo("AdaLomo", model, choice)


def seed(model: torch.nn.Module, choice: OptimizerChoice) -> Loop:
    """What this project began as: an optimizer a parameter, and the walk in step(), from a detached output."""
    template = choice.make(model.parameters())
    kind: Any = choice.type
    accepted = inspect.signature(kind.__init__).parameters
    optimizers = []

    def arm(parameter: torch.nn.Parameter, settings: dict[str, Any]) -> None:
        optimizer = kind([parameter], **settings)
        optimizers.append(optimizer)

        def hook(_: Any) -> None:
            optimizer.step()
            optimizer.zero_grad()

        parameter.register_post_accumulate_grad_hook(hook)

    for group in template.param_groups:
        settings = {name: value for name, value in group.items() if name in accepted and name != "params"}
        for parameter in group["params"]:
            arm(parameter, settings)
    held: list[tuple[torch.Tensor, torch.Tensor]] = []

    def cut(_: Any, __: Any, output: torch.Tensor) -> torch.Tensor:
        held.append((output, output.detach().requires_grad_(True)))
        return held[-1][1]

    def walk() -> None:
        output, detached = held.pop()
        output.backward(detached.grad)

    model.register_forward_hook(cut)
    return Loop(model, _Together(optimizers), torch.Tensor.backward, walk)


PEERS: dict[str, Make] = {
    "torch-optimi": optimi,
    "torchtune": torchtune,
    "LOMO": lomo,
    "AdaLomo": adalomo,
    "torch helper": torch_helper,
    "tutorial": tutorial,
    "seed": seed,
}
PACKAGES = ("torch-optimi", "torchtune", "lomo-optim")  # the extra `peers`; the other peers need only torch


def _lomo(name: str, model: torch.nn.Module, choice: OptimizerChoice) -> Loop:
    _process_group()
    import lomo_optim  # pyright: ignore[reportMissingImports]  # in the extra `peers` only

    rate = choice.settings["lr"]
    optimizer = getattr(lomo_optim, name)(model, lr=rate)
    return Loop(model, optimizer, lambda loss: optimizer.fused_backward(loss, rate), lambda: None)


def _process_group() -> None:
    """LOMO asks torch.distributed for its rank, so it needs a group, if only of one process."""
    if torch.distributed.is_initialized():
        return
    with contextlib.closing(socket.socket()) as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    torch.distributed.init_process_group("gloo", init_method=f"tcp://localhost:{port}", rank=0, world_size=1)


def _in_backward(model: torch.nn.Module, optimizers: list[Any]) -> Loop:
    """backward() does it all."""
    return Loop(model, _Together(optimizers), torch.Tensor.backward, lambda: None)


class _Together:
    """The states of many optimizers, as the recorder reads one's."""

    def __init__(self, optimizers: list[Any]) -> None:
        self.optimizers = optimizers

    @property
    def state(self) -> dict[Any, Any]:
        return {key: value for optimizer in self.optimizers for key, value in optimizer.state.items()}
