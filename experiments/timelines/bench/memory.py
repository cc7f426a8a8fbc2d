"""Peak memory of a loop and the weights that it ends with, each taken in a fresh process of its own."""

import hashlib
from dataclasses import dataclass, field
from typing import Any

import torch

from timelines import fresh, measure
from timelines.bench.loops import OURS, Make, Trainer
from timelines.bench.peers import PEERS
from timelines.optimizers import OptimizerChoice
from timelines.recorder import Recorder
from timelines.recording import Recording
from timelines.training import Workload

_STEPS = 3  # taken before weights are compared; the second has the optimizer's state, and its peak is measured


@dataclass(frozen=True)
class Memory:
    """Of one step with the optimizer's state there: bytes by the recorder, GB of the process, and the floor in bytes.

    `weights` is a digest of the weights after three steps: equal for loops that compute the same to the last bit.
    `allocator` holds what CUDA's caching allocator counts, None for each on a CPU: its peak, calls of cudaMalloc and
    cudaFree a step, and its pool.
    """

    peak: int
    floor: int
    rss_peak_gb: float | None
    weights: str
    allocator: dict[str, float | None] = field(default_factory=dict)


def measure_in_fresh_process(
    workload: Workload, contestant: str, choice: OptimizerChoice, device: torch.device, threads: int
) -> Memory | str:
    """What `contestant`, one of OURS or PEERS, needs; a text is the reason why it cannot run here."""
    return fresh.call(_measure, workload, contestant, choice, device, threads)


def _measure(workload: Workload, contestant: str, *rest: Any) -> Memory:
    return measure_here(workload, {**OURS, **PEERS}[contestant], *rest)


def measure_here(workload: Workload, make: Make, choice: OptimizerChoice, device: torch.device, threads: int) -> Memory:
    """What a loop needs, in this process, whose resident set holds all that was there before too."""
    torch.set_num_threads(threads)
    step = Trainer(workload, make, choice, device)
    step()
    measure.reset_rss_peak()
    for _ in range(_STEPS - 1):
        step()
    rss = measure.rss_peak_gb()
    weights = hashlib.sha256()
    for parameter in step.parameters:
        values = parameter.detach().cpu().reshape(-1).view(torch.uint8)  # numpy has no bfloat16
        weights.update(values.numpy().tobytes())
    allocator = {"allocator_peak_gb": measure.allocator_peak_gb(step, device)}
    allocator |= measure.allocator_counters(step, _STEPS, device)
    loop = step.loop
    recorder = Recorder(loop.model, loop.optimizer)
    with recorder:
        recorder.is_input(step.batch)
        with recorder.phase("forward"):
            loss = workload.loss(loop.model, step.batch)
        with recorder.phase("backward"):
            loop.backward(loss)
        with recorder.phase("optimizer step"):
            loop.update()
    recording = Recording(recorder)
    # What LOMO keeps is no optimizer's state in the recorder's eyes; it was there before, and counts all the same.
    peak = recording.peak().nbytes + recording.foreign_bytes
    return Memory(peak, recording.floor(), rss, weights.hexdigest(), allocator)
