"""Settings, schedules and groups that change between steps."""

# Modules are indexed, optimizers get attributes, wrong types are given on purpose: more than torch's types allow.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalMemberAccess=false, reportPrivateImportUsage=false

import copy

import pytest
import torch
from backprop_helpers import (
    BUCKETS,
    SOME,
    adamw,
    assert_exact,
    assert_same,
    batches,
    contents,
    make_mlp,
    mlp,
    mse,
    train,
    two_groups,
)

from backprop import BackProp

pytestmark = pytest.mark.filterwarnings("error")


SCHEDULES = {
    "LambdaLR with a list": lambda o: torch.optim.lr_scheduler.LambdaLR(
        o, [lambda k: 0.9**k, lambda k: 1 / (1 + k)][: len(o.param_groups)]
    ),
    "OneCycleLR": lambda o: torch.optim.lr_scheduler.OneCycleLR(o, max_lr=0.1, total_steps=10),
    "warm-up": lambda o: torch.optim.lr_scheduler.LinearLR(o, start_factor=0.01, total_iters=3),
    "warm-up from zero": lambda o: torch.optim.lr_scheduler.LambdaLR(o, lambda k: k / 3),
    "cosine": lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, T_max=5),
}


@pytest.mark.exact
@pytest.mark.parametrize("made", ["before", "after"])
@pytest.mark.parametrize("kind", [adamw, lambda groups: torch.optim.SGD(groups, lr=0.1, momentum=0.9)])
@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_made_before_or_after_wrapping(name, kind, made):
    results = []
    for wrap in (False, True):
        torch.manual_seed(0)
        model, optimizer = two_groups(kind)()
        scheduler = SCHEDULES[name](optimizer) if made == "before" else None
        if wrap:
            model, optimizer = BackProp(model, optimizer)
        scheduler = scheduler or SCHEDULES[name](optimizer)
        rates = []
        for inputs, targets in batches(6):
            mse(model(inputs), targets).backward()
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            rates += scheduler.get_last_lr()
        results.append(contents(model, optimizer, rates))
    assert_same(*results)


@pytest.mark.exact
def test_reduce_on_plateau():
    def loop(model, optimizer):
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
        for inputs, targets in batches(6):
            loss = mse(model(inputs), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            scheduler.step(loss.detach())

    assert_exact(make_mlp(), loop)


@pytest.mark.exact
@pytest.mark.parametrize("bucket", SOME)
def test_learning_rate_by_hand_also_after_loading(bucket):
    def loop(model, optimizer):
        train(model, optimizer, 2)
        optimizer.param_groups[1]["lr"] = 0.03
        train(model, optimizer, 2)
        optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))
        optimizer.param_groups[0]["lr"] = 0.001
        train(model, optimizer, 2)

    assert_exact(two_groups(), loop, BUCKETS[bucket])


@pytest.mark.exact
@pytest.mark.parametrize("bucket", SOME)
def test_a_group_added_later(bucket):
    def make():
        model = mlp()
        return model, adamw(model[:3].parameters())

    def loop(model, optimizer):
        train(model, optimizer, 2)
        for parameter in model[4].parameters():
            parameter.grad = None  # in the plain loop the last layer has a gradient, though nobody steps it
        optimizer.add_param_group({"params": list(model[4].parameters()), "lr": 0.05})
        train(model, optimizer, 2)
        assert all(parameter.grad is None for parameter in model.parameters())

    assert_exact(make, loop, BUCKETS[bucket])


@pytest.mark.exact
@pytest.mark.parametrize("bucket", SOME)
@pytest.mark.parametrize("frozen_first", [False, True])
def test_frozen_and_unfrozen_midway(bucket, frozen_first):
    def make():
        model, optimizer = two_groups()()
        model[2].requires_grad_(not frozen_first)
        return model, optimizer

    def loop(model, optimizer):
        for trains in (not frozen_first, frozen_first, not frozen_first):
            model[2].requires_grad_(trains)
            train(model, optimizer, 2)

    assert_exact(make, loop, BUCKETS[bucket])
