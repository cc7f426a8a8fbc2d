"""Checkpoints are the plain ones, saved wrapped or not, loaded wrapped or not."""

# Modules are indexed, optimizers get attributes, wrong types are given on purpose: more than torch's types allow.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalMemberAccess=false, reportPrivateImportUsage=false

import copy
import io

import pytest
import torch
from backprop_helpers import (
    assert_same,
    contents,
    make_mlp,
    train,
    two_groups,
)

from backprop import BackProp

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.exact
@pytest.mark.parametrize(("first", "second"), [(False, True), (True, False), (True, True)])
def test_checkpoints_are_the_plain_ones_in_both_directions(first, second):
    def through_a_file(saves, loads):
        torch.manual_seed(0)
        model, optimizer = two_groups()()
        if saves:
            model, optimizer = BackProp(model, optimizer)
        train(model, optimizer, 3)
        file = io.BytesIO()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
        file.seek(0)
        model, optimizer = two_groups()()
        if loads:
            model, optimizer = BackProp(model, optimizer)
        saved = torch.load(file, weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        losses = train(model, optimizer, 3)
        return contents(model, optimizer, losses)

    assert_same(through_a_file(False, False), through_a_file(first, second))


@pytest.mark.exact
def test_state_dict_keys_are_the_plain_ones():
    plain, wrapped = make_mlp()(), BackProp(*make_mlp()())
    for model, optimizer in (plain, wrapped):
        train(model, optimizer, 1)
    assert list(plain[0].state_dict()) == list(wrapped[0].state_dict())
    assert plain[1].state_dict().keys() == wrapped[1].state_dict().keys()
    assert plain[1].state_dict()["param_groups"] == wrapped[1].state_dict()["param_groups"]
    assert type(wrapped[0]) is torch.nn.Sequential
    assert isinstance(wrapped[1], torch.optim.AdamW)
    assert isinstance(wrapped[1], BackProp)
    assert repr(plain[1]) == repr(wrapped[1])


@pytest.mark.exact
def test_distributed_checkpoint_state_dict():
    from torch.distributed.checkpoint import state_dict as dcp

    def resumed(wrap):
        def made():
            torch.manual_seed(0)
            model, optimizer = two_groups()()
            return BackProp(model, optimizer) if wrap else (model, optimizer)

        model, optimizer = made()
        train(model, optimizer, 2)
        saved = copy.deepcopy(dcp.get_optimizer_state_dict(model, optimizer))
        weights = copy.deepcopy(dcp.get_model_state_dict(model))
        model, optimizer = made()
        dcp.set_model_state_dict(model, weights)
        dcp.set_optimizer_state_dict(model, optimizer, saved)
        train(model, optimizer, 2)
        return contents(model, optimizer, [saved["state"][name] for name in sorted(saved["state"])])

    assert_same(resumed(False), resumed(True))
