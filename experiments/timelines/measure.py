"""Step time, peak and allocator counters of a training step, unprofiled, on a real device."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

import torch

Step = Callable[[], object]


def synchronize(device: torch.device) -> None:
    """Waits for the device; the CPU is always up to date."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def step_ms(step: Step, steps: int, device: torch.device, done: Callable[[], object]) -> float:
    """Mean time of a step in ms over `steps` steps: between CUDA events on a GPU, by the wall clock on the CPU.

    `done` is called after each step (on a GPU: after each is launched, outside the events).
    """
    if device.type == "cuda":
        events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(steps)]
        for start, end in events:
            start.record()
            step()
            end.record()
            done()
        torch.cuda.synchronize(device)
        return sum(start.elapsed_time(end) for start, end in events) / steps
    elapsed = 0.0
    for _ in range(steps):
        before = time.perf_counter()
        step()
        elapsed += time.perf_counter() - before
        done()
    return elapsed * 1000 / steps


def allocator_peak_gb(step: Step, device: torch.device) -> float | None:
    """The caching allocator's peak over one step, GB; None off CUDA."""
    if device.type != "cuda":
        return None
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    step()
    torch.cuda.synchronize(device)
    return torch.cuda.max_memory_allocated(device) / 1e9


def allocator_counters(step: Step, steps: int, device: torch.device) -> dict[str, float | None]:
    """Calls of cudaMalloc and cudaFree per step over `steps` steps, and the allocator's pool in GB; None off CUDA.

    Freed gradients are used again inside the caching allocator, so a steady step should call neither.
    """
    if device.type != "cuda":
        return dict.fromkeys(("cuda_mallocs_per_step", "cuda_frees_per_step", "reserved_gb"))
    before = torch.cuda.memory_stats(device)
    for _ in range(steps):
        step()
    torch.cuda.synchronize(device)
    after = torch.cuda.memory_stats(device)
    return {
        "cuda_mallocs_per_step": (after["num_device_alloc"] - before["num_device_alloc"]) / steps,
        "cuda_frees_per_step": (after["num_device_free"] - before["num_device_free"]) / steps,
        "reserved_gb": torch.cuda.memory_reserved(device) / 1e9,
    }


def reset_rss_peak() -> None:
    """Starts a new measurement of the process's peak resident set, where Linux allows it (proc(5), clear_refs)."""
    with contextlib.suppress(OSError):  # rss_peak_gb then tells the peak since the process began, or nothing
        Path("/proc/self/clear_refs").write_text("5")


def rss_peak_gb() -> float | None:
    """Peak resident set of this process, GB, since reset_rss_peak; None where /proc does not tell."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return None
    kib = next((line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")), None)
    return None if kib is None else int(kib) * 1024 / 1e9
