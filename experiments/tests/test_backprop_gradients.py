"""Gradients from elsewhere than one plain walk: penalties, shared weights, recomputation, paused parts."""

# Modules are indexed, optimizers get attributes, wrong types are given on purpose: more than torch's types allow.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalMemberAccess=false, reportPrivateImportUsage=false

import warnings

import pytest
import torch
from backprop_helpers import (
    BUCKETS,
    SOME,
    adamw,
    assert_exact,
    batches,
    make_mlp,
    mlp,
    mse,
    train,
)
from torch.utils.checkpoint import checkpoint

from backprop import BackProp

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.exact
@pytest.mark.parametrize("bucket", SOME)
def test_a_penalty_on_the_weights(bucket):
    def loop(model, optimizer):
        for inputs, targets in batches():
            loss = mse(model(inputs), targets) + 0.01 * sum(p.square().sum() for p in model.parameters())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()

    assert_exact(make_mlp(), loop, BUCKETS[bucket])


@pytest.mark.exact
@pytest.mark.parametrize("bucket", SOME)
def test_parameters_of_the_loss(bucket):
    def make():
        model, head = mlp(), torch.nn.Linear(3, 3)
        optimizer = adamw([*model.parameters(), *head.parameters()])
        optimizer.head = head
        return model, optimizer

    def loop(model, optimizer):
        return train(model, optimizer, loss_fn=lambda output, targets: mse(optimizer.head(output), targets))

    assert_exact(make, loop, BUCKETS[bucket])


class Shared(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(7, 6)
        self.block = torch.nn.Linear(6, 6)
        self.unused = torch.nn.Linear(2, 2)
        self.frozen = torch.nn.Linear(6, 6).requires_grad_(False)
        self.head = torch.nn.Linear(6, 7, bias=False)
        self.head.weight = self.words.weight

    def forward(self, words):
        hidden = self.words(words)
        for _ in range(3):
            hidden = self.frozen(torch.tanh(self.block(hidden)))
        return self.head(hidden)


@pytest.mark.exact
@pytest.mark.parametrize("bucket", SOME)
def test_tied_thrice_used_unused_and_frozen(bucket):
    def make():
        model = Shared()
        return model, adamw(model.parameters())

    def loop(model, optimizer):
        for step in range(4):
            words = (torch.arange(10).reshape(2, 5) + step) % 7
            torch.nn.functional.cross_entropy(model(words).flatten(0, 1), words.flatten()).backward()
            optimizer.step()
            optimizer.zero_grad()

    assert_exact(make, loop, BUCKETS[bucket])


class Dropping(torch.nn.Module):
    def __init__(self, reentrant=False, shared=False):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(6, 6) for _ in range(3))
        if shared:
            self.layers[2] = self.layers[0]
        self.last, self.reentrant = torch.nn.Linear(6, 3), reentrant

    def forward(self, inputs):
        hidden = inputs.requires_grad_() if self.reentrant else inputs
        for layer in self.layers:

            def block(hidden, layer=layer):
                return torch.nn.functional.dropout(torch.relu(layer(hidden)), 0.5)

            hidden = checkpoint(block, hidden, use_reentrant=self.reentrant)
        return self.last(hidden)


@pytest.mark.exact
@pytest.mark.parametrize("bucket", SOME)
@pytest.mark.parametrize(("reentrant", "shared"), [(False, False), (False, True), (True, False)])
def test_checkpointing_with_dropout(reentrant, shared, bucket):
    def make():
        model = Dropping(reentrant, shared)
        return model, adamw(model.parameters())

    assert_exact(make, bucket_bytes=BUCKETS[bucket])


@pytest.mark.exact
def test_checkpoint_around_the_whole_model():
    def loop(model, optimizer):
        for inputs, targets in batches():
            mse(checkpoint(model, inputs, use_reentrant=False), targets).backward()
            optimizer.step()
            optimizer.zero_grad()

    assert_exact(make_mlp(), loop)


@pytest.mark.exact
@pytest.mark.parametrize("bucket", SOME)
@pytest.mark.parametrize("name", ["weight_norm", "spectral_norm", "orthogonal"])
def test_parametrizations(name, bucket):
    def make():
        model = mlp()
        getattr(torch.nn.utils.parametrizations, name)(model[2])
        return model, adamw(model.parameters())

    assert_exact(make, bucket_bytes=BUCKETS[bucket])


@pytest.mark.exact
def test_batch_norm_and_dropout():
    def make():
        model = torch.nn.Sequential(
            torch.nn.Linear(6, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.3), torch.nn.Linear(8, 3)
        )
        return model, adamw(model.parameters())

    assert_exact(make)


@pytest.mark.exact
def test_paused_gives_a_gradient_penalty():
    def loop(model, optimizer):
        for inputs, targets in batches():
            inputs.requires_grad_()
            context = optimizer.paused() if isinstance(optimizer, BackProp) else warnings.catch_warnings()
            with context:
                output = model(inputs)
                (slope,) = torch.autograd.grad(output.sum(), inputs, create_graph=True)
                (mse(output, targets) + slope.square().mean()).backward()
            optimizer.step()
            optimizer.zero_grad()

    assert_exact(make_mlp(), loop)


@pytest.mark.exact
def test_a_paused_part_and_a_cut_part_add_up():
    def loop(model, optimizer):
        for inputs, targets in batches():
            with optimizer.paused() if isinstance(optimizer, BackProp) else warnings.catch_warnings():
                mse(model(-inputs), targets).backward()
            mse(model(inputs), targets).backward()
            optimizer.step()
            optimizer.zero_grad()

    assert_exact(make_mlp(), loop)
