import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_configs import write_config
from torch._subclasses.fake_tensor import FakeTensorMode
from workload_helpers import CPU, check_description, equal, train

from timelines.errors import UsageError
from workloads.registry import named
from workloads.user import user_function


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A folder to be in, with mine/own.py in it; its import is undone."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "own.py").write_text(
        "import torch\n"
        "def loss(model, batch): return model(batch['x']).mean()\n"
        "def work(batch_size=3): return torch.nn.Linear(4, 2), {'x': torch.ones(batch_size, 4), 'n': 1}, loss\n"
        "def pair(): return torch.nn.Linear(4, 2), torch.ones(3, 4)\n"
        "def nothing(): pass\n"
        "def swapped(): return torch.ones(3, 4), torch.nn.Linear(4, 2), loss\n"
        "def lossless(): return torch.nn.Linear(4, 2), torch.ones(3, 4), 0\n"
        "def vector(): return torch.nn.Linear(4, 2), torch.ones(3, 4), lambda model, batch: model(batch)\n"
        "def number(): return torch.nn.Linear(4, 2), torch.ones(3, 4), lambda model, batch: 1.0\n"
        "def frozen(): return torch.nn.Linear(4, 2), torch.ones(3, 4), lambda model, batch: batch.sum()\n"
        "def fails(): raise KeyError('x')\n"
        "constant = 1\n"
    )
    (tmp_path / "mine" / "broken.py").write_text("1 +\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield "mine.own"
    for name in [name for name in sys.modules if name.partition(".")[0] == "mine"]:
        del sys.modules[name]


@pytest.mark.exact
def test_a_users_function_trains_in_both_modes(module: str):
    workload = named(f"{module}:work", batch_size=5)
    plain = train(workload, backprop=False)
    assert equal(plain, train(workload, backprop=True))
    with FakeTensorMode():
        train(workload, backprop=True)
    assert workload.describe() == {"name": "mine.own:work", "parameters": 10, "batch_size": 5, "dtype": "float32"}


def test_each_step_has_its_own_copy_of_a_users_batch(module: str):
    workload = user_function(f"{module}:work")
    workload.batch(CPU)["x"].zero_()
    assert workload.batch(CPU)["x"].sum() == 12
    assert workload.batch(CPU)["n"] == 1
    assert workload.describe()["batch_size"] == 3


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("mine.absent:work", r"cannot import mine.absent: ModuleNotFoundError: No module named 'mine.absent'$"),
        ("mine.broken:work", r"cannot import mine.broken: SyntaxError: "),
        ("mine.own:absent", r"mine.own has no function absent$"),
        ("mine.own:constant", r"mine.own has no function constant$"),
        ("mine.own:fails", r"the function raised KeyError: 'x'$"),
        ("mine.own:nothing", r"must return \(model, batch, loss_fn\), not a NoneType$"),
        ("mine.own:pair", r"must return \(model, batch, loss_fn\), not a tuple of 2$"),
        ("mine.own:swapped", r"must be a torch.nn.Module, not a tensor of shape \(3, 4\) without a gradient$"),
        ("mine.own:lossless", r"must be loss_fn\(model, batch\), not a int$"),
        ("mine.own:vector", r"must return a scalar tensor with a gradient, not a tensor of shape \(3, 2\)$"),
        ("mine.own:number", r"must return a scalar tensor with a gradient, not a float$"),
        ("mine.own:frozen", r"must return a scalar tensor with a gradient, not a tensor of shape \(\) without"),
    ],
)
@pytest.mark.usefixtures("module")
def test_a_users_function_that_does_not_fit_is_refused(target: str, message: str):
    with pytest.raises(UsageError, match=message) as error:
        train(named(target), backprop=False, steps=1)
    assert str(error.value).startswith(f"{target}: ")


def test_a_users_function_is_told_only_what_it_takes(module: str):
    with pytest.raises(UsageError, match=r"takes no seq_len; add that argument, or leave out --seq-len$"):
        named(f"{module}:work", seq_len=8)
    with pytest.raises(UsageError, match=r"takes no batch_size; add that argument, or leave out --batch$"):
        named(f"{module}:pair", batch_size=8)


def test_descriptions_of_other_peoples_models_fit_the_schema(module: str, tmp_path: Path):
    check_description({**named(f"{module}:work").describe(), "checkpointed": True})
    for architecture in ("LlamaForCausalLM", "ResNetForImageClassification", "CLIPModel"):
        check_description(named(str(write_config(tmp_path, architecture))).describe())
