"""What cannot be exact is refused, or stopped, in words that name the cause and the way out. The words are tested."""

# Modules are indexed, optimizers get attributes, wrong types are given on purpose: more than torch's types allow.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalMemberAccess=false, reportPrivateImportUsage=false

import copy
import math
import re
import warnings

import pytest
import torch
from backprop_helpers import adamw, batches, make_mlp, mlp, mse, train
from torch.utils.checkpoint import checkpoint

from backprop import BackProp

pytestmark = pytest.mark.loud


def refused(model, optimizer, error, text):
    before = type(optimizer)
    with pytest.raises(error) as caught:
        BackProp(model, optimizer)
    assert str(caught.value) == text
    assert type(optimizer) is before


# -- models


def test_data_parallel():
    model = torch.nn.DataParallel(mlp())
    refused(
        model,
        adamw(model.parameters()),
        TypeError,
        "DataParallel collects all gradients during backward(), so BackProp cannot free them one by one; use one "
        "process per GPU with torch.distributed.fsdp.fully_shard",
    )


@pytest.fixture
def one_process(tmp_path):
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/rendezvous", rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


def test_ddp_even_deep_inside(one_process):
    model = torch.nn.Sequential(torch.nn.parallel.DistributedDataParallel(mlp()), torch.nn.Tanh())
    refused(
        model,
        adamw(model.parameters()),
        TypeError,
        "DistributedDataParallel collects all gradients during backward(), so BackProp cannot free them one by one; "
        "use torch.distributed.fsdp.fully_shard, before BackProp",
    )


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
def test_fsdp1(one_process):
    from torch.distributed.fsdp import FullyShardedDataParallel

    model = FullyShardedDataParallel(mlp(), device_id=torch.device("cpu"), use_orig_params=True)
    refused(
        model,
        adamw(model.parameters(), fused=False),
        TypeError,
        "FullyShardedDataParallel collects all gradients during backward(), so BackProp cannot free them one by one; "
        "use torch.distributed.fsdp.fully_shard instead of FSDP1",
    )


def test_what_is_no_model():
    refused_text = "BackProp takes a torch.nn.Module and an optimizer, not a list first"
    with pytest.raises(TypeError, match=re.escape(refused_text)):
        BackProp([], adamw(mlp().parameters()))
    with pytest.raises(TypeError, match=re.escape("BackProp takes a torch.optim.Optimizer second, not a int")):
        BackProp(mlp(), 3)


def test_an_optimizer_of_another_model():
    refused(
        mlp(),
        adamw(mlp().parameters()),
        ValueError,
        "the optimizer has no parameter of this model; build it from model.parameters()",
    )


# -- a second wrap

AGAIN = "these parameters were given to BackProp before; call remove() on that optimizer first"


@pytest.mark.parametrize("what", ["both", "a new optimizer", "a part of the model"])
def test_a_second_wrap(what):
    model, optimizer = BackProp(*make_mlp()())
    if what == "both":
        refused(model, optimizer, ValueError, AGAIN)
    elif what == "a new optimizer":
        refused(model, adamw(model.parameters()), ValueError, AGAIN)
    else:
        refused(model[2], adamw(model[2].parameters()), ValueError, AGAIN)
    train(model, optimizer)


def test_two_optimizers_wrapped_around_one_model():
    model = mlp()
    wrapped = BackProp(model, adamw(model[0].parameters()))  # kept: once its optimizer is gone, the model is plain
    refused(
        wrapped[0],
        adamw(model[2].parameters()),
        ValueError,
        "this model was given to BackProp before; put all its parameters into one optimizer (as groups), or step a "
        "second, plain optimizer after this one",
    )


# -- optimizers


def test_lbfgs():
    model = mlp()
    refused(
        model,
        torch.optim.LBFGS(model.parameters()),
        TypeError,
        "LBFGS evaluates the loss several times in one step, each time with all gradients, so BackProp cannot free "
        "them one by one; use an optimizer whose step() needs no closure, or leave this one unwrapped",
    )


class GlobalNorm(torch.optim.SGD):
    """Scales every update by the norm of all gradients."""

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            gradients = [p.grad for p in group["params"] if p.grad is not None]
            if gradients:
                torch.nn.utils.clip_grad_norm_(group["params"], 1.0)
        return super().step(closure)


class CountsItsCalls(torch.optim.SGD):
    """Keeps a step count on itself, where a call for each bucket counts too often."""

    calls = 0

    @torch.no_grad()
    def step(self, closure=None):
        self.calls += 1
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.sub_(parameter.grad / self.calls)


class SharedStep(torch.optim.SGD):
    """A step size that all gradients so far have shaped, as in D-Adaptation: it leaves its first value late."""

    @torch.no_grad()
    def step(self, closure=None):
        group = self.param_groups[0]
        total = sum(p.grad.abs().sum().item() for p in group["params"] if p.grad is not None)
        group["seen"] = group.get("seen", 0.0) + total
        scale = max(1.0, group["seen"] / 1000)
        for parameter in group["params"]:
            if parameter.grad is not None:
                parameter.sub_(0.01 * scale * parameter.grad)


MIXES = (
    "{} updates one parameter differently when it sees another's gradient (found by trying it on two small tensors), "
    "so updating them one at a time would not be exact; use an optimizer that treats each parameter by itself, or "
    "leave this one unwrapped"
)


@pytest.mark.parametrize("kind", [GlobalNorm, CountsItsCalls, SharedStep])
@pytest.mark.parametrize("lr", [0.1, 1e-6, 0.0])
def test_an_update_that_mixes_parameters(kind, lr):
    model = mlp()
    refused(model, kind(model.parameters(), lr=lr), TypeError, MIXES.format(kind.__name__))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("settings", [{}, {"lr": 0.5}, {"safeguard_warmup": True, "use_bias_correction": True}])
def test_prodigy(settings):
    prodigyopt = pytest.importorskip("prodigyopt")
    model = mlp()
    refused(model, prodigyopt.Prodigy(model.parameters(), **settings), TypeError, MIXES.format("Prodigy"))


def test_an_optimizer_that_fails_the_trial():
    class NeedsClosure(torch.optim.SGD):
        def step(self, closure=None):
            if closure is None:
                raise ValueError("I call it twice")

    model = mlp()
    refused(
        model,
        NeedsClosure(model.parameters()),
        TypeError,
        "BackProp tried NeedsClosure on two small tensors, to see whether it can update one at a time, and its step() "
        "failed: ValueError: I call it twice; use another optimizer, or leave this one unwrapped",
    )


def test_the_trial_touches_nothing():
    model, optimizer = make_mlp()()
    weights, random = copy.deepcopy(model.state_dict()), torch.get_rng_state()
    _, optimizer = BackProp(model, optimizer)
    assert not optimizer.state
    assert torch.equal(random, torch.get_rng_state())
    assert all(torch.equal(*pair) for pair in zip(weights.values(), model.state_dict().values(), strict=True))


# -- while it runs

TWICE = (
    "a parameter's gradient landed twice in one walk, so its update would use only a part of it; a layer shared "
    "between reentrant checkpoints does this: use torch.utils.checkpoint(..., use_reentrant=False)"
)


class SharedCheckpoints(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.last = torch.nn.Linear(6, 6), torch.nn.Linear(6, 3)

    def forward(self, inputs):
        hidden = inputs.requires_grad_()
        for _ in range(2):
            hidden = checkpoint(self.layer, hidden, use_reentrant=True)
        return self.last(hidden)


@pytest.mark.parametrize("bucket", [0, None, 2**40])
@pytest.mark.parametrize("clip", [False, True])
def test_a_parameter_that_lands_twice(bucket, clip):
    model = SharedCheckpoints()
    model, optimizer = BackProp(model, adamw(model.parameters()), bucket_bytes=bucket)
    mse(model(batches(1)[0][0]), batches(1)[0][1]).backward()
    with pytest.raises(RuntimeError) as caught:
        optimizer.clip_grad_norm_(math.inf) if clip else optimizer.step()
    assert TWICE in str(caught.value)


INPLACE = (
    "BackProp walks the network inside optimizer.step(): a weight or activation that the walk still needed was changed "
    "in place since forward, either by your code (do it after optimizer.step()) or by the weight's own update, when "
    "the network also uses it detached (train that loss inside `with optimizer.paused():`)"
)


def test_a_weight_changed_between_backward_and_step():
    model, optimizer = BackProp(*make_mlp()())
    mse(model(batches(1)[0][0]), batches(1)[0][1]).backward()
    with torch.no_grad():
        model[2].weight.mul_(2)
    with pytest.raises(RuntimeError) as caught:
        optimizer.step()
    first, explanation = str(caught.value).split("\n", 1)
    assert "modified by an inplace operation" in first
    assert explanation == INPLACE


def test_a_weight_that_the_network_uses_detached_too():
    class Detached(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = torch.nn.Linear(6, 6, bias=False), torch.nn.Linear(6, 6, bias=False)

        def forward(self, inputs):
            return self.second(inputs @ self.second.weight.detach() * self.first(inputs))

    model = Detached()
    model, optimizer = BackProp(model, torch.optim.SGD(model.parameters(), lr=0.1), bucket_bytes=0)
    model(batches(1)[0][0].requires_grad_()).square().sum().backward()
    with pytest.raises(RuntimeError, match=re.escape(INPLACE)):
        optimizer.step()


SECOND = "BackProp walks each forward's graph once, in optimizer.step() or before the next forward: "


def test_backward_again_after_step():
    model, optimizer = BackProp(*make_mlp()())
    loss = mse(model(batches(1)[0][0]), batches(1)[0][1])
    loss.backward(retain_graph=True)
    optimizer.step()
    loss.backward()
    with pytest.raises(RuntimeError, match=re.escape(SECOND)):
        optimizer.step()


def test_an_auxiliary_loss_that_the_model_keeps_aside():
    class Aside(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = mlp(), torch.nn.Linear(3, 3)

        def forward(self, inputs):
            hidden = self.body(inputs)
            self.auxiliary = hidden.square().mean()
            return self.head(hidden)

    model = Aside()
    model, optimizer = BackProp(model, adamw(model.parameters()))
    (mse(model(batches(1)[0][0]), batches(1)[0][1]) + model.auxiliary).backward()
    with pytest.raises(
        RuntimeError, match=re.escape(SECOND) + ".*auxiliary loss kept aside reaches the network around the cut"
    ):
        optimizer.step()


def test_create_graph():
    model, _ = BackProp(*make_mlp()())
    loss = mse(model(batches(1)[0][0]), batches(1)[0][1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of a cycle
        with pytest.raises(RuntimeError) as caught:
            loss.backward(create_graph=True)
    assert str(caught.value) == (
        "backward(create_graph=True) would stop where BackProp cuts the model's output; run forward and backward "
        "inside `with optimizer.paused():`"
    )


def test_gradients_asked_for_across_the_cut():
    """torch itself says no: nothing leads from the loss to the weights."""
    model, _ = BackProp(*make_mlp()())
    loss = mse(model(batches(1)[0][0]), batches(1)[0][1])
    with pytest.raises(RuntimeError, match="not have been used in the graph"):
        torch.autograd.grad(loss, list(model.parameters()))
