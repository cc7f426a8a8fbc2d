"""Keeping only each block's input in forward, and computing its activations anew in backward."""

import torch

from timelines.errors import UsageError


def checkpoint_activations(model: torch.nn.Module) -> None:
    """Makes the blocks of `model` checkpoints: torch.utils.checkpoint with use_reentrant=False.

    For Hugging Face models by their own switch; for others by the attribute `checkpointed`, which forward() heeds.

    Raises:
        UsageError: the model has neither.
    """
    # Newer transformers call the switch activation_..., and warn about the name that older ones know.
    for kind in ("activation", "gradient"):
        switch = getattr(model, f"{kind}_checkpointing_enable", None)
        if switch is not None and getattr(model, "supports_gradient_checkpointing", True):
            switch(**{f"{kind}_checkpointing_kwargs": {"use_reentrant": False}})
            return
    if not isinstance(getattr(model, "checkpointed", None), bool):
        raise UsageError(
            f"{type(model).__name__} cannot checkpoint its activations: leave out --checkpoint-activations, or give "
            "the model an attribute `checkpointed` that its forward() heeds"
        )
    model.__dict__["checkpointed"] = True
