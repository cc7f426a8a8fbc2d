"""What can be trained, by the name that a command takes."""

import os
import re
from pathlib import Path
from typing import Any, Protocol

from timelines.errors import UsageError
from timelines.training import Workload
from workloads import huggingface, linear_stack, transformer, user, vision

NAMES = ("linear-stack", *transformer.SIZES, *vision.SIZES)
DEFAULT_BATCH_SIZE = 1


class NamedWorkload(Workload, Protocol):
    """A workload that can say what it is."""

    @property
    def parameters(self) -> int:
        """Number of scalars that are trained."""
        ...

    def describe(self) -> dict[str, Any]:
        """The workload's part of memory_timelines.json, but for the optimizer."""
        ...


def named(target: str, *, batch_size: int | None = None, seq_len: int | None = None) -> NamedWorkload:
    """The workload that `target` means: one of NAMES, a config.json or its folder, or package.module:function.

    Unless given, the batch size is 1 (2048 for linear-stack), and the sequence length the context, at most 1024 for
    GPT-2 and 512 for models from a config.json.

    Raises:
        UsageError: an unknown target, or a batch or sequence length that it cannot have.
    """
    for option, number in (("batch", batch_size), ("seq-len", seq_len)):
        if number is not None and number < 1:
            raise UsageError(f"--{option} {number}: must be at least 1")
    workload = _find(target, batch_size, seq_len)
    if seq_len is not None and getattr(workload, "seq_len", None) is None:
        raise UsageError(f"--seq-len {seq_len}: {target} reads no sequence of tokens; leave it out")
    context = getattr(workload, "context", None)
    if seq_len is not None and context is not None and seq_len > context:
        raise UsageError(f"--seq-len {seq_len}: {target} reads at most {context} tokens")
    return workload


def _find(target: str, batch_size: int | None, seq_len: int | None) -> NamedWorkload:
    if target == "linear-stack":
        full = linear_stack.SIZES["full"]
        return linear_stack.LinearStack(batch_size or full.batch_size, full.width, full.layers)
    if target in transformer.SIZES:
        layers, heads, width = transformer.SIZES[target]
        context = transformer.Transformer.context
        return transformer.Transformer(
            target, layers, heads, width, batch_size or DEFAULT_BATCH_SIZE, seq_len or context
        )
    if target in vision.SIZES:
        layers, build = vision.SIZES[target]
        return vision.Classifier(target, layers, build, batch_size or DEFAULT_BATCH_SIZE)
    if Path(target).exists() or target.endswith(".json") or os.sep in target:
        return huggingface.from_config(target, batch_size or DEFAULT_BATCH_SIZE, seq_len)
    if re.fullmatch(r"[\w.]+:\w+", target):
        return user.user_function(target, batch_size, seq_len)
    raise UsageError(
        f"unknown target {target!r}; choose {', '.join(NAMES)}, the path of a config.json, or package.module:function"
    )
