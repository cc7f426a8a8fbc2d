"""GPT-2 in plain PyTorch: token and position embeddings, pre-norm blocks, and a head tied to the token embedding."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    """Attention, then an MLP four times as wide, each after a LayerNorm and added to the stream.

    (batch, tokens, width) in and out; `heads` divides `width`.
    """

    def __init__(self, width: int, heads: int, causal: bool, dropout: float, eps: float, gelu: str) -> None:
        super().__init__()
        self.heads, self.causal, self.dropout = heads, causal, dropout
        self.norm1, self.norm2 = nn.LayerNorm(width, eps), nn.LayerNorm(width, eps)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(gelu), nn.Linear(4 * width, width))
        self.drop = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The stream after both."""
        x = x + self.drop(self.proj(self.attention(self.norm1(x))))
        return x + self.drop(self.mlp(self.norm2(x)))

    def attention(self, x: torch.Tensor) -> torch.Tensor:
        """Each head's mix of values, side by side: (batch, tokens, width) in and out."""
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        dropout = self.dropout if self.training else 0.0
        return (
            F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=self.causal).transpose(1, 2).flatten(2)
        )


class Decoder(nn.Module):
    """The language model: token numbers (batch, tokens) to logits (batch, tokens, vocab)."""

    def __init__(self, shape: "Transformer") -> None:
        super().__init__()
        width = shape.width
        self.checkpointed = False  # whether blocks keep only their input and compute the rest anew in backward
        self.tokens, self.positions = nn.Embedding(shape.vocab, width), nn.Embedding(shape.context, width)
        self.drop = nn.Dropout(shape.dropout)
        block = {"causal": True, "dropout": shape.dropout, "eps": 1e-5, "gelu": "tanh"}
        self.blocks = nn.ModuleList(Block(width, shape.heads, **block) for _ in range(shape.layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, shape.vocab, bias=False)
        if shape.tied:
            self.head.weight = self.tokens.weight
        for name, parameter in self.named_parameters():  # as in the GPT-2 paper: what adds to the stream starts smaller
            if parameter.ndim == 2:
                adds = name.endswith(("proj.weight", "mlp.2.weight"))
                nn.init.normal_(parameter, std=0.02 / math.sqrt(2 * shape.layers) if adds else 0.02)
            elif name.endswith("bias"):
                nn.init.zeros_(parameter)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Logits of the token that follows each one."""
        x = self.drop(self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1], device=tokens.device)))
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.checkpointed else block(x)
        return self.head(self.norm(x))


@dataclass(frozen=True)
class Transformer:
    """A GPT-2 of any size, with the mean cross entropy of the next token as its loss; in torch's default dtype."""

    name: str
    layers: int
    heads: int
    width: int
    batch_size: int
    seq_len: int
    vocab: int = 50257
    context: int = 1024
    tied: bool = True
    dropout: float = 0.0

    def model(self, device: torch.device) -> nn.Module:
        """A new model, with the same weights at every call."""
        torch.manual_seed(0)
        with device:
            return Decoder(self)

    def batch(self, device: torch.device) -> torch.Tensor:
        """Token numbers, (batch_size, seq_len + 1): what is read, and one more, since each is to foretell the next."""
        count = self.batch_size * (self.seq_len + 1)
        return torch.arange(count, device=device).remainder_(self.vocab).view(self.batch_size, self.seq_len + 1)

    def loss(self, model: nn.Module, batch: torch.Tensor) -> torch.Tensor:
        """Mean cross entropy of the next token, a scalar."""
        return F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())

    @property
    def parameters(self) -> int:
        """Number of scalars that are trained."""
        embeddings = (self.vocab + self.context) * self.width + (0 if self.tied else self.vocab * self.width)
        return embeddings + self.layers * (12 * self.width**2 + 13 * self.width) + 2 * self.width

    def describe(self) -> dict[str, Any]:
        """The workload's part of memory_timelines.json, but for the optimizer."""
        return {
            "name": self.name,
            "parameters": self.parameters,
            "batch_size": self.batch_size,
            "seq_len": self.seq_len,
            "layers": self.layers,
            "dtype": str(torch.get_default_dtype()).removeprefix("torch."),
        }


# Layers, heads, width: 124, 355, 774 and 1558 million parameters (Radford et al., "Language models are unsupervised
# multitask learners", 2019), and 8.3 billion (Megatron-LM, arXiv 1909.08053).
SIZES = {
    "gpt2-small": (12, 12, 768),
    "gpt2-medium": (24, 16, 1024),
    "gpt2-large": (36, 20, 1280),
    "gpt2-xl": (48, 25, 1600),
    "megatron-8.3b": (72, 24, 3072),
}
