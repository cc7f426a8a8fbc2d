"""A small document that follows the contract, for tests to break."""

from typing import Any

from timelines import contract


def timeline(peak_bytes: int = 3_000_000) -> dict[str, Any]:
    changes: list[contract.Change] = [
        (0.0, {"PARAMETER": 1_000_000}),
        (1.0, {"ACTIVATION": peak_bytes - 1_000_000}),
        (2.5, {"ACTIVATION": 1_000_000 - peak_bytes}),
    ]
    phases = {"forward": (0.5, 1.5), "backward": (1.5, 2.0), "optimizer step": (2.0, 2.9)}
    counters = dict.fromkeys(("allocator_peak_gb", "cuda_mallocs_per_step", "cuda_frees_per_step", "reserved_gb"))
    return contract.build_timeline(
        changes, 3.0, phases, {"step_ms": 2.0, "timed_steps": 3, "rss_peak_gb": None, **counters}
    )


def document() -> dict[str, Any]:
    optimizer = {"name": "AdamW", "implementation": "fused", "settings": {"lr": 0.01, "betas": [0.1, 0.1]}}
    return {
        "categories": list(contract.CATEGORIES),
        "default": timeline(),
        "backprop": timeline(2_000_000),
        "workload": {"name": "tiny", "parameters": 5, "batch_size": 2, "dtype": "float32", "optimizer": optimizer},
        "environment": {
            "source": "cpu",
            "device": "a CPU",
            "torch": "2.13.0",
            "python": "3.11.7",
            "platform": "Linux",
            "created": "2026-12-01T00:00:00Z",
            "command": "python experiments/backprop.py OUT",
            "commit": None,
        },
    }
