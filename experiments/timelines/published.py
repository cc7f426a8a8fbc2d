"""Figures that others published, beside ours for the same setting."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from timelines import contract, gpus, optimizers, plan
from timelines.plan_command import Checkpointed
from timelines.precision import in_precision
from workloads import huggingface
from workloads.chunked_loss import ChunkedLoss

_UNITS = {"GB": 1e9, "GiB": 2**30}
_LOMO = "https://arxiv.org/abs/2306.09782"
_TUTORIAL = "https://docs.pytorch.org/tutorials/intermediate/optimizer_step_in_backward_tutorial.html"
_TORCHTUNE = "https://github.com/meta-pytorch/torchtune#optimization-flags"
_PULL_REQUEST = "https://github.com/meta-pytorch/torchtune/pull/1530"

Most = dict[str, int]


def most(planned: plan.ModePlan) -> Most:
    """The greatest bytes of each category over the step, and of the total as "peak"."""
    running, greatest = dict.fromkeys(contract.CATEGORIES, 0), dict.fromkeys(contract.CATEGORIES, 0)
    for _, change in planned.recording.changes():
        for category, nbytes in change.items():
            running[category] += nbytes
            greatest[category] = max(greatest[category], running[category])
    return {**greatest, "peak": planned.recording.peak().nbytes}


def rows(peaks: dict[str, dict[str, Most]]) -> list[dict[str, Any]]:
    """The published figures, each with ours, the difference (ours - theirs), the source, and why they differ.

    Args:
        peaks: what `most` says of each entry of the gallery, by name and mode.
    """
    return [*_lomo(peaks["llama-2-7b"]), *_tutorial(peaks["vit-l-16"]), *_llama_3b(), *_llama_7b(peaks["llama-2-7b"])]


def _row(what: str, theirs: float, unit: str, nbytes: float, source: str, why: str) -> dict[str, Any]:
    ours = round(nbytes / _UNITS[unit], 2)
    return {
        "what": what,
        "published": theirs,
        "ours": ours,
        "difference": round(ours - theirs, 2),
        "unit": unit,
        "source": source,
        "why": why,
    }


def _lomo(llama: dict[str, Most]) -> Iterator[dict[str, Any]]:
    plain, fused = llama["default"], llama["backprop"]
    setting = "LLaMA-7B, bfloat16, SGD, 512 tokens"
    yield _row(f"{setting}: parameters", 12.55, "GiB", plain["PARAMETER"], _LOMO, "equal")
    yield _row(f"{setting}: gradients, plain loop", 12.55, "GiB", plain["GRADIENT"], _LOMO, "equal")
    why = "equal: the largest gradient, that of the head or of the embedding"
    yield _row(f"{setting}: gradients, update in the walk", 0.24, "GiB", fused["GRADIENT"], _LOMO, why)


def _tutorial(vit: dict[str, Most]) -> Iterator[dict[str, Any]]:
    plain, fused = vit["default"], vit["backprop"]
    setting = "ViT-L/16, float32, Adam foreach, batch 1"
    why = "published to one place"
    yield _row(f"{setting}: parameters", 1.2, "GB", plain["PARAMETER"], _TUTORIAL, why)
    yield _row(f"{setting}: gradients", 1.2, "GB", plain["GRADIENT"], _TUTORIAL, why)
    yield _row(f"{setting}: optimizer state", 2.4, "GB", plain["OPTIMIZER_STATE"], _TUTORIAL, why)
    why = "read off a picture; parameters, gradients, state, and the temporaries of foreach, as large as gradients"
    yield _row(f"{setting}: peak, plain loop", 6.0, "GB", plain["peak"], _TUTORIAL, why)
    why = "read off a picture, with workspaces of libraries; parameters, state, activations, one bucket of gradients"
    yield _row(f"{setting}: peak, update in the walk", 4.0, "GB", fused["peak"], _TUTORIAL, why)


def _llama_3b() -> Iterator[dict[str, Any]]:
    config = Path(huggingface.__file__).parent / "configs" / "llama-3.2-3b.json"
    chunked = ChunkedLoss(huggingface.from_config(str(config), batch_size=2, seq_len=4096))
    workload = in_precision(Checkpointed(chunked), "bfloat16")
    plans = plan.predict_modes(workload, optimizers.parse("AdamW", "fused", ()), gpus.DEFAULT)
    setting = "Llama-3.2-3B, bfloat16, AdamW, batch 2 of 4,096 tokens, checkpointed, loss in chunks"
    why = "theirs is compiled and ours is not; the peak ends backward, at the gradient of the tied embedding"
    yield _row(f"{setting}: peak, plain loop", 24.9, "GiB", most(plans["default"])["peak"], _TORCHTUNE, why)
    why = "theirs is compiled and ours is not; the peak is at the head, in the logits and their gradient"
    yield _row(f"{setting}: peak, update in the walk", 23.1, "GiB", most(plans["backprop"])["peak"], _TORCHTUNE, why)


def _llama_7b(llama: dict[str, Most]) -> Iterator[dict[str, Any]]:
    weights, largest = llama["default"]["PARAMETER"], llama["backprop"]["GRADIENT"]
    setting = "Llama-2-7B, bfloat16, AdamW, FSDP"
    why = (
        "the number of GPUs is not stated: ours are the shards of {} on two, as in the tests of the pull request that "
        "followed (1833), without activations and gathered layers"
    )
    shards = "parameters, state and gradients"
    yield _row(f"{setting}: peak, plain loop", 31.5, "GB", 4 * weights / 2, _PULL_REQUEST, why.format(shards))
    shards = "parameters, state and the largest gradient"
    ours = (3 * weights + largest) / 2
    yield _row(f"{setting}: peak, update in the walk", 21.2, "GB", ours, _PULL_REQUEST, why.format(shards))
