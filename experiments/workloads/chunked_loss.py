"""A language model whose logits are upcast to float32 a few tokens at a time, as torchtune trains them.

torchtune's CEWithChunkedOutputLoss (pull request 1390) cuts the tokens into chunks, applies the head to each, and
compiles the upcast with the cross entropy, so that only 16-bit logits are kept for backward. Here a checkpoint around
each chunk's cross entropy has the same effect.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint

from workloads.checkpointing import checkpoint_activations
from workloads.huggingface import HuggingFace


@dataclass(frozen=True)
class ChunkedLoss:
    """A causal language model of transformers, with the head and the loss in `chunks` parts."""

    language_model: HuggingFace
    chunks: int = 8

    def model(self, device: torch.device) -> torch.nn.Module:
        """A new model that returns a tuple of logits, (batch, seq_len / chunks, vocabulary) each."""
        return _ChunkedHead(self.language_model.model(device), self.chunks)

    def batch(self, device: torch.device) -> dict[str, Any]:
        """Tokens as inputs and labels, both (batch, seq_len)."""
        return self.language_model.batch(device)

    def loss(self, model: torch.nn.Module, batch: dict[str, Any]) -> torch.Tensor:
        """The mean cross entropy. Labels are not shifted: sizes are the same."""
        labels = batch["labels"].tensor_split(self.chunks, dim=1)
        logits = model(batch["input_ids"])
        sums = [
            checkpoint(_summed, part, target, use_reentrant=False) for part, target in zip(logits, labels, strict=True)
        ]
        return torch.stack(sums).sum() / batch["labels"].numel()

    @property
    def parameters(self) -> int:
        """Number of scalars that are trained."""
        return self.language_model.parameters

    def describe(self) -> dict[str, Any]:
        """The workload's part of memory_timelines.json, but for the optimizer."""
        return self.language_model.describe()


class _ChunkedHead(torch.nn.Module):
    def __init__(self, model: Any, chunks: int) -> None:
        super().__init__()
        self.trunk, self.head, self.chunks = model.base_model, model.get_output_embeddings(), chunks

    def forward(self, tokens: torch.Tensor) -> tuple[torch.Tensor, ...]:
        hidden = self.trunk(input_ids=tokens).last_hidden_state
        return tuple(self.head(part) for part in hidden.tensor_split(self.chunks, dim=1))

    def activation_checkpointing_enable(self, **options: Any) -> None:
        checkpoint_activations(self.trunk)


def _summed(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return cross_entropy(logits.flatten(0, 1).float(), labels.flatten(), reduction="sum")
