"""GPUs to plan for: memory, bandwidth and arithmetic, each as its maker states them."""

import re
from dataclasses import dataclass

from timelines.errors import UsageError

GIB = 2**30


@dataclass(frozen=True)
class Gpu:
    """A GPU: memory in bytes, bandwidth in bytes/s, dense FLOP/s of 16-bit matrix products and of float32."""

    name: str
    memory: int
    bandwidth: float
    half_flops: float
    single_flops: float
    source: str


def _gpu(name: str, gib: float, gb_per_s: float, half_tflops: float, single_tflops: float, source: str) -> Gpu:
    return Gpu(name, int(gib * GIB), gb_per_s * 1e9, half_tflops * 1e12, single_tflops * 1e12, source)


# Memory as the driver counts it: a card sold as 24 GB has 24 GiB; those sold as 141 and 180 GB have that in GB.
# FLOP/s without sparsity, 16-bit products summed in float32.
GPUS = {
    gpu.name: gpu
    for gpu in (
        _gpu("t4", 16, 320, 65, 8.1, "NVIDIA T4 datasheet (float16; it has no bfloat16)"),
        _gpu("v100-32gb", 32, 900, 125, 15.7, "NVIDIA V100 datasheet, SXM2 (float16; it has no bfloat16)"),
        _gpu("rtx-3090", 24, 936, 71, 35.6, "NVIDIA Ampere GA102 whitepaper, table of GeForce RTX 3090"),
        _gpu("rtx-4090", 24, 1008, 165.2, 82.6, "NVIDIA Ada whitepaper, table of GeForce RTX 4090"),
        _gpu("rtx-5090", 32, 1792, 209.5, 104.8, "NVIDIA RTX Blackwell whitepaper, table of GeForce RTX 5090"),
        _gpu("a10", 24, 600, 125, 31.2, "NVIDIA A10 datasheet"),
        _gpu("l4", 24, 300, 121, 30.3, "NVIDIA L4 datasheet, half of the figure with sparsity"),
        _gpu("l40s", 48, 864, 362, 91.6, "NVIDIA L40S datasheet"),
        _gpu("a100-40gb", 40, 1555, 312, 19.5, "NVIDIA A100 datasheet, 40 GB SXM"),
        _gpu("a100-80gb", 80, 2039, 312, 19.5, "NVIDIA A100 datasheet, 80 GB SXM"),
        _gpu("h100", 80, 3350, 989, 67, "NVIDIA H100 datasheet, SXM, half of the figure with sparsity"),
        _gpu("h200", 141e9 / GIB, 4800, 989, 67, "NVIDIA H200 datasheet, SXM, half of the figure with sparsity"),
        _gpu(
            "b200", 180e9 / GIB, 7700, 2250, 75, "NVIDIA DGX B200 datasheet, an eighth of the system, without sparsity"
        ),
    )
}
DEFAULT = GPUS["a100-80gb"]


def named(name: str) -> Gpu:
    """The GPU of that name. Raises UsageError, which lists them, for another."""
    try:
        return GPUS[name.lower()]
    except KeyError:
        raise UsageError(f"unknown GPU {name!r}; choose one of {', '.join(GPUS)}, or give --memory") from None


def parse_memory(text: str) -> int:
    """Bytes from a size such as 24GB (1e9 bytes each) or 24GiB (2**30). Raises UsageError where the unit is missing."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(GB|GiB|MB|MiB|TB|TiB)\s*", text, re.IGNORECASE)
    units = {"gb": 10**9, "gib": GIB, "mb": 10**6, "mib": 2**20, "tb": 10**12, "tib": 2**40}
    if match is None or not float(match[1]):
        raise UsageError(f"{text!r} is no size of memory; write a number and its unit, such as 24GB or 24GiB")
    return int(float(match[1]) * units[match[2].lower()])
