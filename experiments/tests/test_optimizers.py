import pytest
import torch

from timelines import optimizers
from timelines.errors import UsageError


@pytest.mark.parametrize("name", ["AdamW", "adamw", "ADAMW", "torch.optim:AdamW"])
def test_an_optimizer_is_found_by_name(name: str):
    choice = optimizers.parse(name)
    assert choice.type is torch.optim.AdamW
    assert choice.implementation == "fused"  # it has it


def test_settings_are_literals():
    choice = optimizers.parse("AdamW", "foreach", ["lr=0.5", "betas=(0.1, 0.2)", "amsgrad=True"])
    group = choice.make([torch.nn.Parameter(torch.zeros(2))]).param_groups[0]
    assert (group["lr"], group["betas"], group["amsgrad"]) == (0.5, (0.1, 0.2), True)
    assert (group["foreach"], group["fused"]) == (True, False)
    assert choice.describe()["settings"]["betas"] == [0.1, 0.2]
    assert choice.describe()["implementation"] == "foreach"


@pytest.mark.parametrize("name", ["Rprop", "schedulefree:AdamWScheduleFree", "lion_pytorch:Lion"])
def test_an_optimizer_without_a_fused_implementation_loops(name: str):
    choice = optimizers.parse(name)
    assert choice.implementation == "for-loop"
    assert choice.make([torch.nn.Parameter(torch.zeros(2))]).param_groups


@pytest.mark.parametrize(
    ("name", "implementation", "settings", "sentence"),
    [
        ("Magic", None, [], "unknown optimizer 'Magic'; choose one of ASGD, "),
        ("Optimizer", None, [], "unknown optimizer 'Optimizer'; choose one of ASGD, "),
        ("nowhere:Magic", None, [], "cannot import the optimizer nowhere:Magic: No module named 'nowhere'"),
        ("torch.optim:Magic", None, [], "cannot import the optimizer torch.optim:Magic: module 'torch.optim' has no"),
        ("torch.nn:Linear", None, [], "torch.nn:Linear is not a torch.optim.Optimizer"),
        ("Rprop", "fused", [], "Rprop has no fused implementation; take for-loop"),
        ("SGD", None, ["lr"], "'lr' is no setting of SGD; write key=value with a key of lr, momentum, "),
    ],
)
def test_what_cannot_be_is_refused(name: str, implementation: str | None, settings: list[str], sentence: str):
    with pytest.raises(UsageError) as refused:
        optimizers.parse(name, implementation, settings)
    assert str(refused.value).startswith(sentence)


def test_settings_that_the_class_refuses():
    with pytest.raises(UsageError) as refused:
        optimizers.parse("AdamW", None, ["lr=-1"]).make([torch.nn.Parameter(torch.zeros(2))])
    assert str(refused.value) == "AdamW refuses these settings or parameters: Invalid learning rate: -1"
