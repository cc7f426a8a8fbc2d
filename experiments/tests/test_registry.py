from pathlib import Path
from typing import Any

import pytest
from huggingface_configs import write_config
from workload_helpers import OURS, check_description

from timelines.errors import UsageError
from workloads.registry import NAMES, named


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_a_workload_with_defaults(name: str):
    workload = named(name)
    assert workload.describe()["name"] == name
    assert workload.describe()["batch_size"] == (2048 if name == "linear-stack" else 1)
    assert named(name, batch_size=3).describe()["batch_size"] == 3


@pytest.mark.parametrize("workload", OURS, ids=lambda workload: type(workload).__name__)
def test_descriptions_fit_the_schema(workload: Any):
    check_description(workload.describe())


@pytest.mark.parametrize(
    ("target", "settings", "message"),
    [
        (
            "gpt3",
            {},
            r"^unknown target 'gpt3'; choose linear-stack, gpt2-small, .*, resnet-50, the path of a config.json",
        ),
        ("gpt2-small", {"batch_size": 0}, r"^--batch 0: must be at least 1$"),
        ("gpt2-small", {"batch_size": -1}, r"^--batch -1: must be at least 1$"),
        ("gpt2-small", {"seq_len": 0}, r"^--seq-len 0: must be at least 1$"),
        ("gpt2-small", {"seq_len": 1025}, r"^--seq-len 1025: gpt2-small reads at most 1024 tokens$"),
        ("resnet-50", {"seq_len": 8}, r"^--seq-len 8: resnet-50 reads no sequence of tokens; leave it out$"),
        ("linear-stack", {"seq_len": 8}, r"^--seq-len 8: linear-stack reads no sequence"),
    ],
)
def test_what_a_target_cannot_be_is_refused(target: str, settings: dict[str, Any], message: str):
    with pytest.raises(UsageError, match=message):
        named(target, **settings)


def test_images_have_no_sequence(tmp_path: Path):
    file = str(write_config(tmp_path, "ViTForImageClassification"))
    with pytest.raises(UsageError, match=r"reads no sequence of tokens; leave it out$"):
        named(file, seq_len=8)
