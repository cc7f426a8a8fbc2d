"""data/plans/ladder.json: one model's peak as more that saves memory is added, with and without BackProp."""

import json
from dataclasses import replace
from pathlib import Path

from timelines import contract, gpus, plan, plan_command
from timelines.files import write_text
from timelines.gallery import Entry

NAME = "ladder.json"
_MODEL = Entry("llama-3-8b", 1, 2048, "bfloat16", implementation="foreach")
_GB = 1e9

# The last is bitsandbytes' block-wise 8-bit AdamW (https://arxiv.org/abs/2110.02861); it has one implementation.
RUNGS = {
    "PyTorch's default on a GPU: AdamW, foreach": _MODEL,
    "activations checkpointed": replace(_MODEL, checkpoint=True),
    "fused instead of foreach": replace(_MODEL, checkpoint=True, implementation="fused"),
    "8-bit optimizer state": replace(
        _MODEL, checkpoint=True, implementation=None, optimizer="bitsandbytes.optim:AdamW8bit"
    ),
}


def write(folder: Path) -> None:
    """Plans every rung, each of which keeps what those before it changed, and files their peaks in GB.

    Raises:
        UsageError: bitsandbytes is not installed.
    """
    rungs = []
    for what, entry in RUNGS.items():
        plans = plan.predict_modes(entry.model.workload(), entry.choice, gpus.DEFAULT)
        peaks = {mode: round(plans[mode].recording.peak().nbytes / _GB, 4) for mode in contract.MODES}
        rungs.append({"what": what, "setting": entry.options(), **peaks})
        print(f"ladder: {what}: {peaks['default']} GB, {peaks['backprop']} GB with BackProp", flush=True)
    environment = plan_command.describe_environment(gpus.DEFAULT.name, "timelines plans")
    setting = {"batch_size": _MODEL.batch, "seq_len": _MODEL.seq_len, "dtype": _MODEL.dtype}
    found = {"model": _MODEL.target, **setting, "rungs": rungs, "environment": environment}
    write_text(folder / NAME, json.dumps(found, indent=2) + "\n")
