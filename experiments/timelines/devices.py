"""Which device to measure on, and what is free there."""

from pathlib import Path

import torch

from timelines.errors import UsageError


def named(name: str) -> torch.device:
    """The device of that name: "auto" (a GPU if there is one), "cpu", "cuda" or "cuda:N".

    Raises:
        UsageError: the name is another, or there is no such device here.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in ("cpu", "cuda"):
        raise UsageError(f"unknown device {name!r}; choose auto, cpu, cuda or cuda:N")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        seen = torch.cuda.device_count()
        raise UsageError(f"there is no device {name} here; torch sees {seen} CUDA devices, so take cpu")
    return device


def free_bytes(device: torch.device) -> int | None:
    """Bytes that are free there; None where nothing tells. On CUDA it makes a context, which takes some."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)
