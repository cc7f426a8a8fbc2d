"""Copies of the model are plain models; remove() and a failed wrap leave everything as it was."""

# Modules are indexed, optimizers get attributes, wrong types are given on purpose: more than torch's types allow.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalMemberAccess=false, reportPrivateImportUsage=false

import ast
import copy
import pathlib
import pickle
import subprocess
import sys
import warnings

import pytest
import torch
from backprop_helpers import adamw, assert_same, batches, contents, make_mlp, mlp, mse, train
from torch.optim.swa_utils import AveragedModel

import backprop
from backprop import BackProp


def is_plain(model):
    inputs, targets = batches(1)[0]
    mse(model(inputs), targets).backward()
    gradients = [parameter.grad for parameter in model.parameters()]
    model.zero_grad()
    assert all(parameter.grad is None for parameter in model.parameters())
    return all(gradient is not None for gradient in gradients)


COPIES = {
    "deepcopy": copy.deepcopy,
    "AveragedModel": lambda model: AveragedModel(model).module,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
}


@pytest.mark.exact
@pytest.mark.parametrize("pending", [False, True])
@pytest.mark.parametrize("way", COPIES)
def test_a_copy_is_a_plain_model(way, pending):
    model, optimizer = BackProp(*make_mlp()())
    train(model, optimizer, 2)
    if pending:
        mse(model(batches(1)[0][0]), batches(1)[0][1]).backward()
    twin = COPIES[way](model)
    assert all(torch.equal(*pair) for pair in zip(twin.parameters(), model.parameters(), strict=True))
    assert len(pickle.dumps(twin)) < len(pickle.dumps(mlp())) + 500  # no optimizer state in it
    assert is_plain(twin)
    before = [parameter.detach().clone() for parameter in twin.parameters()]
    optimizer.step()
    assert all(torch.equal(*pair) for pair in zip(twin.parameters(), before, strict=True))
    assert not is_plain(model)
    assert isinstance(BackProp(twin, adamw(twin.parameters()))[1], BackProp)


@pytest.mark.exact
def test_a_copy_of_something_that_holds_the_model():
    holder = torch.nn.Sequential(mlp())
    BackProp(holder[0], adamw(holder[0].parameters()))
    assert is_plain(copy.deepcopy(holder))


@pytest.mark.exact
@pytest.mark.parametrize("way", ["deepcopy", "pickle"])
def test_a_copy_of_the_optimizer_is_a_plain_optimizer(way):
    model, optimizer = BackProp(*make_mlp()())
    train(model, optimizer, 2)
    twin = copy.deepcopy(optimizer) if way == "deepcopy" else pickle.loads(pickle.dumps(optimizer))
    assert type(twin) is torch.optim.AdamW
    assert_same(
        torch.utils._pytree.tree_leaves(optimizer.state_dict()), torch.utils._pytree.tree_leaves(twin.state_dict())
    )
    for parameter in twin.param_groups[0]["params"]:
        parameter.grad = torch.ones_like(parameter)
    twin.step()


@pytest.mark.exact
def test_a_saved_model_loads_where_the_wrapper_is_not_installed(tmp_path):
    model, optimizer = BackProp(*make_mlp()())
    train(model, optimizer, 2)
    torch.save({"model": model, "optimizer": optimizer}, tmp_path / "saved.pt")
    (tmp_path / "pickled").write_bytes(pickle.dumps(model))
    program = (
        "import pickle, sys, torch\n"
        f"sys.path = [p for p in sys.path if 'experiments' not in p]\n"
        "import importlib.util\n"
        "sys.modules['backprop'] = None\n"
        f"saved = torch.load({str(tmp_path / 'saved.pt')!r}, weights_only=False)\n"
        f"model = pickle.load(open({str(tmp_path / 'pickled')!r}, 'rb'))\n"
        "for m in (saved['model'], model):\n"
        "    m(torch.ones(2, 6)).sum().backward()\n"
        "    assert all(p.grad is not None for p in m.parameters())\n"
        "saved['optimizer'].step()\n"
        "model.zero_grad()\n"
        "assert type(saved['optimizer']) is torch.optim.AdamW\n"
        "print('plain')\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False
    )
    assert done.stdout == "plain\n", done.stderr


def traces(model, optimizer):
    """Everything that wrapping touches."""
    return {
        "class": type(optimizer),
        "model": {k: v for k, v in vars(model).items() if not k.startswith("_")},
        "hooks": [len(model._forward_hooks), len(model._forward_pre_hooks)],
        "parameters": [len(p._post_accumulate_grad_hooks or {}) for p in model.parameters()],
        "step": vars(optimizer).get("step"),
        "live": optimizer in backprop._live,
        "trains": [p.requires_grad for p in model.parameters()],
    }


@pytest.mark.exact
@pytest.mark.parametrize("scheduler", [False, True])
def test_remove_restores_everything(scheduler):
    results = []
    for wrap in (False, True):
        torch.manual_seed(0)
        model, optimizer = make_mlp()()
        schedule = torch.optim.lr_scheduler.LinearLR(optimizer) if scheduler else None
        before = traces(model, optimizer)
        if wrap:
            BackProp(model, optimizer)
        inputs, targets = batches(1)[0]
        train(model, optimizer, 2)
        mse(model(inputs), targets).backward()
        if wrap:
            optimizer.remove()
            assert traces(model, optimizer) == before
        assert all(parameter.grad is not None for parameter in model.parameters())  # what was pending has been walked
        optimizer.step()
        optimizer.zero_grad()
        if schedule:
            schedule.step()
        train(model, optimizer, 2)
        results.append(contents(model, optimizer))
        if wrap:
            BackProp(model, optimizer)
            train(model, optimizer, 2)
    assert_same(*results)


@pytest.mark.exact
@pytest.mark.parametrize("where", ["register_forward_pre_hook", "register_forward_hook", "a parameter", "its own"])
def test_a_wrap_that_fails_half_way_restores_everything(where, monkeypatch):
    model, optimizer = make_mlp()()
    torch.optim.lr_scheduler.LinearLR(optimizer)
    before = traces(model, optimizer)

    def fail(*_, **__):
        raise MemoryError("half-way")

    with monkeypatch.context() as patch:
        if where == "a parameter":
            patch.setattr(model[4].bias, "register_post_accumulate_grad_hook", fail, raising=False)
        elif where == "its own":
            patch.setattr(backprop, "_ModelHook", fail)
        else:
            patch.setattr(torch.nn.Module, where, fail)
        with pytest.raises(MemoryError, match="half-way"):
            BackProp(model, optimizer)
    assert traces(model, optimizer) == before
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        train(*BackProp(model, optimizer))


@pytest.mark.exact
def test_hooks_fire_once_a_step_after_loading_too():
    model, optimizer = BackProp(*make_mlp()())
    optimizer.load_state_dict(optimizer.state_dict())
    calls = []
    optimizer.register_step_post_hook(lambda *_: calls.append(1))
    train(model, optimizer, 3)
    assert len(calls) == 3


@pytest.mark.exact
def test_the_file_needs_nothing_beside_torch():
    source = pathlib.Path(backprop.__file__).read_text()
    imports = [node for node in ast.parse(source).body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {name for node in imports for name in [getattr(node, "module", None) or node.names[0].name]}
    assert {name.split(".")[0] for name in names} - set(sys.stdlib_module_names) == {"torch"}
