"""data/plans: timelines of known models in settings that people train with, and published figures beside ours.

Configs are the models' public hyper-parameters, in workloads/configs. Peaks leave out the CUDA context, fragmentation
and libraries' workspaces.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from timelines import contract, gpus, optimizers, plan, plan_command, plan_table, published
from timelines.errors import UsageError
from timelines.files import write_text

CONFIGS = Path(__file__).parents[1] / "workloads" / "configs"
PUBLISHED_NAME = "published.json"
_WINDOWS = 250  # in each of which a timeline keeps two samples: about 70 KB for both modes


@dataclass(frozen=True)
class Entry:
    """One model in one setting; `options` are those of `timelines plan`."""

    target: str
    batch: int
    seq_len: int | None = None
    dtype: str = "float32"
    optimizer: str = "AdamW"
    implementation: str | None = "fused"
    settings: tuple[str, ...] = ()
    checkpoint: bool = False

    @property
    def model(self) -> plan_command.Model:
        """What to plan; a name with a file in workloads/configs means that file."""
        config = CONFIGS / f"{self.target}.json"
        target = str(config) if config.exists() else self.target
        return plan_command.Model(target, self.batch, self.seq_len, self.dtype, self.checkpoint)

    @property
    def choice(self) -> optimizers.OptimizerChoice:
        """The optimizer."""
        return optimizers.parse(self.optimizer, self.implementation, self.settings)

    def command(self, out: str) -> str:
        """What writes this entry's timeline, unreduced, to a path."""
        return f"timelines plan {self.options()} --out {out}"

    def options(self) -> str:
        """The entry as `timelines plan` takes it."""
        config = CONFIGS / f"{self.target}.json"
        words = [f"experiments/workloads/configs/{config.name}" if config.exists() else self.target]
        words += [f"--batch {self.batch}", f"--dtype {self.dtype}", f"--optimizer {self.optimizer}"]
        words += [f"--seq-len {self.seq_len}"] if self.seq_len else []
        words += [f"--optimizer-impl {self.implementation}"] if self.implementation else []
        words += [f"--set '{setting}'" for setting in self.settings]
        words += ["--checkpoint-activations"] if self.checkpoint else []
        return " ".join(words)


_BF16: dict[str, Any] = {"dtype": "bfloat16"}
_HEADLINE = Entry("linear-stack", 2048, settings=("lr=0.01", "betas=(0.1, 0.1)"))
# The headline's step, as data/cpu and data/cuda measure it: one source more for the site to show.
SIMULATED = {
    "simulated": replace(_HEADLINE, implementation="for-loop"),
    "simulated/foreach": replace(_HEADLINE, implementation="foreach"),
    "simulated/fused": _HEADLINE,
}
GALLERY = {
    "linear-stack": _HEADLINE,
    "gpt2-small": Entry("gpt2-small", 4, 1024, "bfloat16-autocast"),
    "gpt2-xl": Entry("gpt2-xl", 4, 1024, "bfloat16-autocast", checkpoint=True),
    "llama-3.2-1b": Entry("llama-3.2-1b", 1, 2048, checkpoint=True, **_BF16),
    "llama-3-8b": Entry("llama-3-8b", 1, 2048, checkpoint=True, **_BF16),
    "llama-2-7b": Entry("llama-2-7b", 1, 512, optimizer="SGD", **_BF16),
    "mistral-7b": Entry("mistral-7b", 1, 4096, checkpoint=True, **_BF16),
    "qwen2.5-7b": Entry("qwen2.5-7b", 1, 2048, checkpoint=True, **_BF16),
    "vit-l-16": Entry("vit-l-16", 1, optimizer="Adam", implementation="foreach"),
    # Bound by activations: backprop saves nothing here, and the plan says so.
    "resnet-50": Entry("resnet-50", 64, optimizer="SGD", settings=("momentum=0.9",)),
}


def make(folder: Path, names: Sequence[str]) -> None:
    """Plans the named entries (all, and the published figures, if there are none) and writes them into `folder`.

    Raises:
        UsageError: a name that is not in the gallery.
    """
    for name in names:
        if name not in GALLERY:
            raise UsageError(f"unknown plan {name!r}; choose from {', '.join(GALLERY)}")
    folder.mkdir(parents=True, exist_ok=True)
    peaks: dict[str, Any] = {}
    for name, entry in GALLERY.items():
        if names and name not in names:
            continue
        plans = _write(entry, folder / f"{name}.json", f"data/plans/{name}.json")
        peaks[name] = {mode: published.most(planned) for mode, planned in plans.items()}
        print(f"{name}: {plan_table.conclusions(plans, None)[0]}", flush=True)
    if not names:
        write_text(folder / PUBLISHED_NAME, json.dumps(published.rows(peaks), indent=2) + "\n")


def make_simulated(data: Path) -> None:
    """Plans the headline's step with each implementation and files it like a run, in data/simulated."""
    for place, entry in SIMULATED.items():
        (data / place).mkdir(parents=True, exist_ok=True)
        _write(entry, data / place / contract.FILE_NAME, f"data/{place}/{contract.FILE_NAME}")


def _write(entry: Entry, path: Path, shown: str) -> dict[str, plan.ModePlan]:
    """Plans an entry, writes its timelines to `path`, which its command calls `shown`, and returns its plans."""
    workload, choice = entry.model.workload(), entry.choice
    plans = plan.predict_modes(workload, choice, gpus.DEFAULT)
    environment = plan_command.describe_environment(gpus.DEFAULT.name, entry.command(shown))
    document = plan.document(plans, workload, choice, environment)
    for mode in contract.MODES:
        document[mode] = reduce(document[mode])
    contract.write(path, document)
    return plans


def reduce(timeline: dict[str, Any], windows: int = _WINDOWS) -> dict[str, Any]:
    """The timeline with fewer samples, where there are more than two a window.

    Of each of `windows` equal stretches of time it keeps the sample of the greatest total, and the last; and each
    category's greatest. So every maximum that a picture of that many columns could show is kept to the digit.
    """
    times, columns = timeline["t"], timeline["gb"]
    if len(times) <= 2 * windows:
        return timeline
    totals = [sum(values) for values in zip(*columns, strict=True)]
    kept = {0, times.index(timeline["peak_t"])}
    kept |= {max(range(len(times)), key=column.__getitem__) for column in columns}
    members: dict[int, list[int]] = {}
    for index, time in enumerate(times):
        members.setdefault(int(time / timeline["end_t"] * windows), []).append(index)
    for inside in members.values():
        kept |= {max(inside, key=totals.__getitem__), inside[-1]}
    order = sorted(kept)
    return {
        **timeline,
        "t": [times[index] for index in order],
        "gb": [[column[index] for index in order] for column in columns],
    }
