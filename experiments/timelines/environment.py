"""Where and how a run was measured: the environment part of memory_timelines.json."""

import datetime
import platform
import subprocess
from pathlib import Path
from typing import Any

import torch

_CODE = Path(__file__).parents[1]


def describe(source: str, device: torch.device, command: str) -> dict[str, Any]:
    """Device, versions, time (UTC), command and revision of a run from `source`, one of the contract's sources."""
    return {
        "source": source,
        "device": device_name(device),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "created": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "command": command,
        "commit": _commit(),
    }


def device_name(device: torch.device) -> str:
    """The GPU's name, or the CPU's with the number of threads that torch uses."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    threads = torch.get_num_threads()
    return f"{_cpu_name()}, {threads} thread{'s' if threads > 1 else ''}"


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()


def _commit() -> str | None:
    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(_CODE), *arguments], capture_output=True, text=True, check=True, timeout=20
        ).stdout.strip()

    try:
        return git("rev-parse", "--short=12", "HEAD") + ("-dirty" if git("status", "--porcelain", "--", ".") else "")
    except (OSError, subprocess.SubprocessError):
        return None  # not a checkout, or no git
