"""A small memory_timelines.json that the tests of the scripts share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

# Writes the sample after a change of it, and says where: the fixture `write`.
Write = Callable[..., Path]


def timeline(scale: float) -> dict[str, Any]:
    """Ten samples of one mode, all categories in use; the peak is 10.4 GB times `scale`, at 60 ms."""
    columns = [
        [3.0] * 10,
        [4.0] * 10,
        [0.1] * 10,
        [0.0, 0.2, 0.4, 0.8, 0.6, 0.4, 0.2, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 2.5, 2.5, 2.5, 0.0],
        [0.0, 0.0, 0.0, 0.1, 0.1, 0.1, 0.1, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.2, 0.5, 0.0],
    ]
    return {
        "t": [0, 10, 20, 30, 40, 50, 60, 70.5, 80, 90],
        "gb": [[round(value * scale, 4) for value in column] for column in columns],
        "end_t": 100,
        "peak_gb": round(10.4 * scale, 4),
        "peak_t": 60,
        "phases": [
            {"name": "forward", "start": 0.5, "end": 30},
            {"name": "backward", "start": 30, "end": 60},
            {"name": "optimizer step", "start": 60, "end": 99},
        ],
        "step_ms": 80.0 * scale,
        "timed_steps": 20,
        "allocator_peak_gb": None,
        "cuda_mallocs_per_step": None,
        "cuda_frees_per_step": None,
        "reserved_gb": None,
        "rss_peak_gb": None,
    }


SAMPLE: dict[str, Any] = {
    "categories": ["PARAMETER", "OPTIMIZER_STATE", "INPUT", "ACTIVATION", "GRADIENT", "AUTOGRAD_DETAIL", "TEMPORARY"],
    "default": timeline(1.0),
    "backprop": timeline(0.8),
    "workload": {
        "name": "linear-stack",
        "parameters": 805371968,
        "batch_size": 2048,
        "layers": 13,
        "widths": [8192, 8192, 1],
        "dtype": "float32",
        "optimizer": {"name": "AdamW", "implementation": "fused", "settings": {"lr": 0.01, "betas": [0.1, 0.1]}},
    },
    "environment": {
        "source": "cpu",
        "device": "A processor",
        "torch": "2.13.0",
        "python": "3.11.7",
        "platform": "Linux",
        "created": "2026-01-02T03:04:05Z",
        "command": "python backprop.py out",
        "commit": None,
    },
}
