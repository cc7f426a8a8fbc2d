"""What the tests of the wrapper share: small models, batches, and the same loop run plain and wrapped, side by side."""

import copy

import torch
from torch.utils._pytree import tree_leaves

from backprop import BackProp

BUCKETS = {"one by one": 0, "a byte": 1, "a few": 400, "default": None, "all at once": 2**40}
SOME = ["one by one", "a few", "default"]


def mlp():
    return torch.nn.Sequential(
        torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3)
    )


def adamw(parameters, **settings):
    return torch.optim.AdamW(parameters, **{"lr": 0.01, "fused": True, **settings})


def batches(count=4, rows=5, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return [
        (torch.randn(rows, 6, generator=generator), torch.randn(rows, 3, generator=generator)) for _ in range(count)
    ]


def mse(output, targets):
    return torch.nn.functional.mse_loss(output, targets)


def train(model, optimizer, steps=4, loss_fn=mse):
    """The loop that everybody writes."""
    losses = []
    for inputs, targets in batches(steps):
        loss = loss_fn(model(inputs), targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach())
    return losses


def clip_norm(optimizer, parameters, *args, **kwargs):
    if isinstance(optimizer, BackProp):
        return optimizer.clip_grad_norm_(*args, **kwargs)
    return torch.nn.utils.clip_grad_norm_(parameters, *args, **kwargs)


def clip_value(optimizer, parameters, value):
    if isinstance(optimizer, BackProp):
        return optimizer.clip_grad_value_(value)
    return torch.nn.utils.clip_grad_value_(parameters, value)


def contents(model, optimizer, outcome=None):
    """Every weight, buffer and piece of optimizer state, and what the loop returned, as one list."""
    kept = optimizer.state_dict()
    kept["state"] = dict(sorted(kept["state"].items()))  # a parameter's state is born when its gradient lands
    return copy.deepcopy(tree_leaves([model.state_dict(), kept, outcome]))


def both_ways(make, loop=train, bucket_bytes=None):
    """Runs `loop(model, optimizer)` on two equal pairs, one of them wrapped; returns the contents of each."""
    results = []
    for wrap in (False, True):
        torch.manual_seed(0)
        model, optimizer = make()
        if wrap:
            model, optimizer = BackProp(model, optimizer, bucket_bytes=bucket_bytes)
        torch.manual_seed(2)
        results.append(contents(model, optimizer, loop(model, optimizer)))
    return results


def assert_same(plain, wrapped, atol=None):
    """Bit for bit, or within `atol`."""
    assert len(plain) == len(wrapped)
    for one, other in zip(plain, wrapped, strict=True):
        if not isinstance(one, torch.Tensor):
            assert one == other
        elif atol is None:
            assert torch.equal(one, other), (one - other).abs().max()
        else:
            torch.testing.assert_close(other, one, atol=atol, rtol=0)


def assert_exact(make, loop=train, bucket_bytes=None):
    assert_same(*both_ways(make, loop, bucket_bytes))


def assert_close(make, loop=train, bucket_bytes=None):
    assert_same(*both_ways(make, loop, bucket_bytes), atol=1e-6)


def make_mlp(optimizer=adamw, **settings):
    """A maker of (model, optimizer) for the helpers above."""

    def make():
        model = mlp()
        return model, optimizer(model.parameters(), **settings)

    return make


def two_groups(kind=adamw, **settings):
    """Makes an MLP and an optimizer with its layers in two groups."""

    def make():
        model = mlp()
        return model, kind([{"params": model[:2].parameters()}, {"params": model[2:].parameters()}], **settings)

    return make
