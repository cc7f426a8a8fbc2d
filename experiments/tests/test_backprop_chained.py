"""One model feeds another: whatever the order of steps and of zero_grad, both get the plain loop's gradients."""

# Modules are indexed, optimizers get attributes, wrong types are given on purpose: more than torch's types allow.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalMemberAccess=false, reportPrivateImportUsage=false

import itertools

import pytest
import torch
from backprop_helpers import BUCKETS, SOME, adamw, assert_same, batches, clip_norm, mse
from torch.utils._pytree import tree_leaves

from backprop import BackProp

WRAPPED = {"both": (True, True), "first": (True, False), "second": (False, True)}


def pair(wrap, bucket=None):
    """Two models, of which the first's output feeds the second, each with an optimizer."""
    torch.manual_seed(0)
    first = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.Tanh(), torch.nn.Linear(5, 4))
    second = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))
    first_optimizer = torch.optim.SGD(first.parameters(), lr=0.1, momentum=0.9)
    second_optimizer = adamw(second.parameters())
    if wrap[0]:
        first, first_optimizer = BackProp(first, first_optimizer, bucket_bytes=bucket)
    if wrap[1]:
        second, second_optimizer = BackProp(second, second_optimizer, bucket_bytes=bucket)
    return (first, second), (first_optimizer, second_optimizer)


def same(run, wrap, bucket=None, atol=None):
    results = []
    for now in ((False, False), wrap):
        models, optimizers = pair(now, bucket)
        outcome = run(models, optimizers)
        results.append(tree_leaves([[m.state_dict() for m in models], outcome]))
    assert_same(*results, atol=atol)


@pytest.mark.exact
@pytest.mark.parametrize("bucket", SOME)
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("between", [None, "zero first", "zero second"])
@pytest.mark.parametrize("wrapped", WRAPPED)
def test_encoder_and_decoder(wrapped, between, order, bucket):
    """`between`: gradients of one of the two are dropped before either steps."""

    def run(models, optimizers):
        for inputs, targets in batches():
            mse(models[1](models[0](inputs)), targets).backward()
            if between == "zero second":
                optimizers[1].zero_grad()
            elif between == "zero first":
                optimizers[0].zero_grad()
            for index in order:
                optimizers[index].step()
            for optimizer in optimizers:
                optimizer.zero_grad()

    if between == "zero first" and wrapped == "second":
        pytest.skip(
            "a plain optimizer's zero_grad() cannot be seen: documented, step and zero it after the wrapped one"
        )
    same(run, WRAPPED[wrapped], BUCKETS[bucket])


@pytest.mark.exact
@pytest.mark.parametrize("bucket", SOME)
@pytest.mark.parametrize("drops", list(itertools.product([False, True], repeat=2)))
@pytest.mark.parametrize("critic_first", [False, True])
@pytest.mark.parametrize("wrapped", WRAPPED)
def test_generator_and_critic(wrapped, critic_first, drops, bucket):
    """The two steps of a GAN; `drops`: whether each model's zero_grad() comes before its own step or at the end."""

    def run(models, optimizers):
        generator, critic = models
        generator_optimizer, critic_optimizer = optimizers

        def train_generator(inputs):
            generator_optimizer.zero_grad()
            if drops[0]:
                critic_optimizer.zero_grad()
            critic(generator(inputs)).mean().backward()
            generator_optimizer.step()

        def train_critic(inputs, real):
            critic_optimizer.zero_grad()
            fake = generator(inputs)
            (critic(fake.detach()).square().mean() + critic(real).mean()).backward()
            critic_optimizer.step()
            if drops[1]:
                critic_optimizer.zero_grad()

        for inputs, _ in batches():
            steps = [lambda x=inputs: train_generator(x), lambda x=inputs: train_critic(x, x[:, :4])]
            for step in steps[::-1] if critic_first else steps:
                step()

    same(run, WRAPPED[wrapped], BUCKETS[bucket])


@pytest.mark.exact
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("wrapped", ["both", "first"])
def test_clipping_each(order, wrapped):
    def run(models, optimizers):
        norms = []
        for inputs, targets in batches():
            mse(models[1](models[0](inputs)), targets).backward()
            for index in order:
                norms.append(clip_norm(optimizers[index], models[index].parameters(), 0.1))
                optimizers[index].step()
            for optimizer in optimizers:
                optimizer.zero_grad()
        return norms

    same(run, WRAPPED[wrapped])


@pytest.mark.exact
@pytest.mark.parametrize("wrapped", WRAPPED)
def test_micro_batches_through_both(wrapped):
    def run(models, optimizers):
        for step in range(3):
            for inputs, targets in batches(3, seed=step):
                mse(models[1](models[0](inputs)), targets).backward()
            for optimizer in optimizers:
                optimizer.step()
            for optimizer in optimizers:
                optimizer.zero_grad()

    same(run, WRAPPED[wrapped])


@pytest.mark.exact
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("wrapped", WRAPPED)
def test_one_wrapped_model_inside_another(wrapped, order):
    class Outer(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner, self.own = inner, torch.nn.Linear(4, 3)

        def forward(self, inputs):
            return self.own(self.inner(inputs))

    results = []
    for wrap in ((False, False), WRAPPED[wrapped]):
        torch.manual_seed(0)
        inner = torch.nn.Linear(6, 4)
        outer = Outer(inner)
        inner_optimizer, outer_optimizer = adamw(inner.parameters()), adamw(outer.own.parameters())
        if wrap[0]:
            inner, inner_optimizer = BackProp(inner, inner_optimizer)
        if wrap[1]:
            outer, outer_optimizer = BackProp(outer, outer_optimizer)
        optimizers = [inner_optimizer, outer_optimizer]
        for inputs, targets in batches():
            mse(outer(inputs), targets).backward()
            for index in order:
                optimizers[index].step()
            for optimizer in optimizers:
                optimizer.zero_grad()
        results.append(list(outer.state_dict().values()))
    assert_same(*results)


@pytest.mark.exact
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_three_in_a_row(order):
    results = []
    for wrap in (False, True):
        torch.manual_seed(0)
        models = [torch.nn.Linear(6, 5), torch.nn.Linear(5, 4), torch.nn.Linear(4, 3)]
        optimizers = [adamw(model.parameters()) for model in models]
        if wrap:
            for model, optimizer in zip(models, optimizers, strict=True):
                BackProp(model, optimizer)
        for inputs, targets in batches():
            hidden = inputs
            for model in models:
                hidden = model(hidden)
            mse(hidden, targets).backward()
            for index in order:
                optimizers[index].step()
            for optimizer in optimizers:
                optimizer.zero_grad()
        results.append([value for model in models for value in model.state_dict().values()])
    assert_same(*results)


@pytest.mark.exact
def test_a_part_of_a_wrapped_model_feeds_another():
    """The part is called by itself, so its output is not cut: the other's walk lands in its parameters."""

    def run(models, optimizers):
        for inputs, targets in batches():
            mse(models[1](models[0][0](inputs)[:, :4]), targets).backward()
            optimizers[0].step()
            optimizers[1].step()
            for optimizer in optimizers:
                optimizer.zero_grad()

    same(run, (True, True))


@pytest.mark.exact
def test_the_gradient_of_an_input():
    """zero_grad() after backward() drops the weights' gradients, but not what flows on into the input."""
    results = []
    for wrap in (False, True):
        (model, _), (optimizer, _) = pair((wrap, False))
        inputs = batches(1)[0][0].requires_grad_()
        model(inputs).square().sum().backward()
        optimizer.zero_grad()
        results.append([inputs.grad])
    assert_same(*results)


class Cell(torch.nn.Module):
    """Takes its own output of one step before, as recurrent networks do."""

    def __init__(self):
        super().__init__()
        self.mix, self.read = torch.nn.Linear(6 + 4, 4), torch.nn.Linear(4, 3)

    def forward(self, inputs, hidden):
        hidden = torch.tanh(self.mix(torch.cat([inputs, hidden], 1)))
        return self.read(hidden), hidden


@pytest.mark.exact
@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("losses", ["last", "all", "state"])
@pytest.mark.parametrize("bucket", SOME)
def test_a_model_that_takes_its_own_output(losses, clip, bucket):
    """Backpropagation through time: each call's part is walked before the one that it took its state from."""
    results = []
    for wrap in (False, True):
        torch.manual_seed(0)
        model = Cell()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        if wrap:
            model, optimizer = BackProp(model, optimizer, bucket_bytes=BUCKETS[bucket])
        norms = []
        for inputs, targets in batches():
            hidden, total = torch.zeros(5, 4), torch.zeros(())
            for time in range(4):
                output, hidden = model(inputs + time, hidden)
                total = total + mse(output, targets) if losses == "all" or time == 3 else total
            (hidden.square().mean() if losses == "state" else total).backward()
            if clip:
                norms.append(clip_norm(optimizer, model.parameters(), 0.01))
            optimizer.step()
            optimizer.zero_grad()
        results.append([*model.state_dict().values(), *norms])
    assert_same(*results, atol=1e-7 if losses == "all" else None)


@pytest.mark.close  # the losses on early and late outputs meet in another order
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("wrapped", ["both", "second"])
def test_two_models_that_alternate(wrapped, order):
    """first, second, first, second: each one's output leads to the other's and, through it, to its own."""

    def run(models, optimizers):
        for inputs, targets in batches():
            early = models[1](models[0](inputs))
            late = models[1](models[0](early.repeat(1, 2)))
            (mse(early, targets) + mse(late, targets)).backward()
            for index in order:
                optimizers[index].step()
            for optimizer in optimizers:
                optimizer.zero_grad()

    same(run, WRAPPED[wrapped], atol=1e-7)


@pytest.mark.loud
def test_a_plain_model_between_two_calls_with_a_loss_of_its_own():
    """backward() has walked the plain one for its loss when our walk wants to pass through it again."""
    (first, second), (optimizer, _) = pair((True, False))
    early = second(first(batches(1)[0][0]))
    late = second(first(early.repeat(1, 2)))
    (early.square().mean() + late.square().mean()).backward()
    with pytest.raises(RuntimeError, match="walks each forward's graph once"):
        optimizer.step()
