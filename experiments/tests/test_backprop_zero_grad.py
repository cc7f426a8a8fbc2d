"""zero_grad() in every place of the loop, and p.grad = None."""

# Modules are indexed, optimizers get attributes, wrong types are given on purpose: more than torch's types allow.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalMemberAccess=false, reportPrivateImportUsage=false

import pytest
import torch
from backprop_helpers import (
    assert_exact,
    batches,
    make_mlp,
    mse,
)

pytestmark = pytest.mark.filterwarnings("error")


def forward_backward(model, inputs, targets):
    mse(model(inputs), targets).backward()


def drop(model, optimizer, how, none):
    (optimizer if how == "optimizer" else model).zero_grad(**({} if none is None else {"set_to_none": none}))


@pytest.mark.exact
@pytest.mark.parametrize("none", [None, True, False])
@pytest.mark.parametrize("how", ["optimizer", "model"])
@pytest.mark.parametrize("place", ["before forward", "before backward", "after step", "before and after"])
def test_zero_grad_in_every_place(place, how, none):
    def loop(model, optimizer):
        for inputs, targets in batches():
            if place in ("before forward", "before and after"):
                drop(model, optimizer, how, none)
            loss = mse(model(inputs), targets)
            if place == "before backward":
                drop(model, optimizer, how, none)
            loss.backward()
            optimizer.step()
            if place in ("after step", "before and after"):
                drop(model, optimizer, how, none)

    for bucket in (0, 400, None):
        assert_exact(make_mlp(), loop, bucket)


@pytest.mark.exact
@pytest.mark.parametrize("none", [None, True, False])
@pytest.mark.parametrize("how", ["optimizer", "model"])
@pytest.mark.parametrize("first", [False, True])
def test_zero_grad_after_backward_drops_the_batch(how, none, first):
    def loop(model, optimizer):
        for index, (inputs, targets) in enumerate(batches(6)):
            forward_backward(model, inputs, targets)
            if index % 2 == (not first):
                drop(model, optimizer, how, none)
                if index % 4 < 2:
                    continue  # else step on what is left: nothing, or zeros
            optimizer.step()
            drop(model, optimizer, how, none)

    for bucket in (0, 400, None):
        assert_exact(make_mlp(), loop, bucket)


@pytest.mark.exact
@pytest.mark.parametrize("none", [True, False])
def test_a_parameter_left_out_of_a_step(none):
    """With set_to_none=False its gradient stays at zero, so that momentum and weight decay still move it."""

    class Early(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = torch.nn.Linear(6, 3), torch.nn.Linear(3, 3)

        def forward(self, inputs, early=False):
            return self.first(inputs) if early else self.second(self.first(inputs))

    def early_loop(model, optimizer):
        for step, (inputs, targets) in enumerate(batches(6)):
            mse(model(inputs, early=step % 3 > 0), targets).backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=none)

    def make():
        model = Early()
        return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.1)

    for bucket in (0, 400, None):
        assert_exact(make, early_loop, bucket)
