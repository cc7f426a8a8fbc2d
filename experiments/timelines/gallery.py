"""data/plans: timelines of known models in settings that people train with, and published figures beside ours.

Configs are the models' public hyper-parameters, in workloads/configs. Peaks leave out the CUDA context, fragmentation
and libraries' workspaces.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from timelines import contract, gpus, optimizers, plan, plan_command, plan_table
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

    def command(self, name: str) -> str:
        """What makes this entry's timeline, unreduced."""
        config = CONFIGS / f"{self.target}.json"
        words = ["timelines plan", f"experiments/workloads/configs/{config.name}" if config.exists() else self.target]
        words += [f"--batch {self.batch}", f"--dtype {self.dtype}", f"--optimizer {self.optimizer}"]
        words += [f"--seq-len {self.seq_len}"] if self.seq_len else []
        words += [f"--optimizer-impl {self.implementation}"] if self.implementation else []
        words += [f"--set '{setting}'" for setting in self.settings]
        words += ["--checkpoint-activations"] if self.checkpoint else []
        return " ".join([*words, f"--out data/plans/{name}.json"])


_BF16: dict[str, Any] = {"dtype": "bfloat16"}
GALLERY = {
    "linear-stack": Entry("linear-stack", 2048, settings=("lr=0.01", "betas=(0.1, 0.1)")),
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
        workload, choice = entry.model.workload(), entry.choice
        plans = plan.predict_modes(workload, choice, gpus.DEFAULT)
        peaks[name] = {mode: _most(planned) for mode, planned in plans.items()}
        environment = plan_command.describe_environment(gpus.DEFAULT.name, entry.command(name))
        document = plan.document(plans, workload, choice, environment)
        for mode in contract.MODES:
            document[mode] = reduce(document[mode])
        contract.write(folder / f"{name}.json", document)
        print(f"{name}: {plan_table.conclusions(plans, None)[0]}", flush=True)
    if not names:
        write_text(folder / PUBLISHED_NAME, json.dumps(published(peaks), indent=2) + "\n")


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


def _most(planned: plan.ModePlan) -> dict[str, int]:
    """The greatest bytes of each category over the step, and of the total as "peak"."""
    running, most = dict.fromkeys(contract.CATEGORIES, 0), dict.fromkeys(contract.CATEGORIES, 0)
    for _, change in planned.recording.changes():
        for category, nbytes in change.items():
            running[category] += nbytes
            most[category] = max(most[category], running[category])
    return {**most, "peak": planned.recording.peak().nbytes}


def published(peaks: dict[str, Any]) -> list[dict[str, Any]]:
    """Figures that others published, each with ours, the difference (ours - theirs) and why.

    Args:
        peaks: by entry of the gallery and mode: the greatest bytes of each category, and "peak".
    """
    return list(_rows(peaks))


def _rows(peaks: dict[str, Any]) -> Iterable[dict[str, Any]]:
    def row(what: str, theirs: float, unit: str, nbytes: int, source: str, why: str) -> dict[str, Any]:
        ours = round(nbytes / {"GB": 1e9, "GiB": 2**30}[unit], 2)
        return {
            "what": what,
            "published": theirs,
            "ours": ours,
            "difference": round(ours - theirs, 2),
            "unit": unit,
            "source": source,
            "why": why,
        }

    llama, lomo = peaks["llama-2-7b"], "LOMO, arXiv 2306.09782"
    setting = "LLaMA-7B, bfloat16, SGD, 512 tokens"
    yield row(f"{setting}: parameters", 12.55, "GiB", llama["default"]["PARAMETER"], lomo, "equal")
    yield row(f"{setting}: gradients, plain loop", 12.55, "GiB", llama["default"]["GRADIENT"], lomo, "equal")
    yield row(
        f"{setting}: gradients, fused with the update",
        0.24,
        "GiB",
        llama["backprop"]["GRADIENT"],
        lomo,
        "the largest gradient (head or embedding, 32000 x 4096) is 0.244 GiB",
    )
    vit = peaks["vit-l-16"]
    tutorial = "https://docs.pytorch.org/tutorials/intermediate/optimizer_step_in_backward_tutorial.html"
    setting = "ViT-L/16, float32, Adam foreach, batch 1"
    yield row(f"{setting}: parameters", 1.2, "GB", vit["default"]["PARAMETER"], tutorial, "published to one place")
    yield row(f"{setting}: gradients", 1.2, "GB", vit["default"]["GRADIENT"], tutorial, "published to one place")
    yield row(
        f"{setting}: optimizer state", 2.4, "GB", vit["default"]["OPTIMIZER_STATE"], tutorial, "published to one place"
    )
    yield row(
        f"{setting}: peak, plain loop",
        6.0,
        "GB",
        vit["default"]["peak"],
        tutorial,
        "read off a picture: parameters, gradients, state, and foreach's intermediate results, as large as gradients",
    )
    yield row(
        f"{setting}: peak, step in backward",
        4.0,
        "GB",
        vit["backprop"]["peak"],
        tutorial,
        "read off a picture: parameters, state, activations and one bucket of gradients with its temporaries; their "
        "workspaces are not in ours",
    )
