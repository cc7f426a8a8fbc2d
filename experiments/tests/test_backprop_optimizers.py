"""Every optimizer that steps without a closure gives the plain loop's weights and state, bit for bit."""

# Modules are indexed, optimizers get attributes, wrong types are given on purpose: more than torch's types allow.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalMemberAccess=false, reportPrivateImportUsage=false

import pytest
import torch
from backprop_helpers import BUCKETS, adamw, assert_exact, batches, make_mlp, mlp, mse, train
from reference import reference

from backprop import BackProp

OPTIMIZERS = {
    "SGD": (torch.optim.SGD, {"lr": 0.1}),
    "SGD momentum": (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    "Adam": (torch.optim.Adam, {"lr": 0.01, "amsgrad": True, "weight_decay": 0.01}),
    "AdamW": (torch.optim.AdamW, {"lr": 0.01}),
    "NAdam": (torch.optim.NAdam, {"lr": 0.01, "decoupled_weight_decay": True, "weight_decay": 0.01}),
    "RAdam": (torch.optim.RAdam, {"lr": 0.01}),
    "RMSprop": (torch.optim.RMSprop, {"lr": 0.01, "momentum": 0.9, "centered": True}),
    "Rprop": (torch.optim.Rprop, {"lr": 0.01}),
    "Adagrad": (torch.optim.Adagrad, {"lr": 0.01, "lr_decay": 0.1}),
    "Adadelta": (torch.optim.Adadelta, {"lr": 0.1}),
    "Adamax": (torch.optim.Adamax, {"lr": 0.01}),
    "ASGD": (torch.optim.ASGD, {"lr": 0.01, "t0": 2}),
    "Adafactor": (torch.optim.Adafactor, {"lr": 0.01}),
}
FUSED = {"SGD", "SGD momentum", "Adam", "AdamW", "Adagrad"}
CASES = [
    (name, implementation)
    for name in OPTIMIZERS
    for implementation in ("for-loop", "foreach", "fused")
    if implementation != "fused" or name in FUSED
]


def make(name, implementation):
    kind, settings = OPTIMIZERS[name]
    flags = {"for-loop": {"foreach": False}, "foreach": {"foreach": True}, "fused": {"fused": True}}[implementation]
    return make_mlp(kind, **settings, **flags)


@pytest.mark.exact
@pytest.mark.parametrize("bucket", BUCKETS)
@pytest.mark.parametrize(("name", "implementation"), CASES)
def test_every_torch_optimizer(name, implementation, bucket):
    assert_exact(make(name, implementation), bucket_bytes=BUCKETS[bucket])


@pytest.mark.exact
@pytest.mark.parametrize("bucket", BUCKETS)
def test_muon_takes_matrices_only(bucket):
    def matrices():
        model = torch.nn.Sequential(
            torch.nn.Linear(6, 8, bias=False), torch.nn.Tanh(), torch.nn.Linear(8, 3, bias=False)
        )
        return model, torch.optim.Muon(model.parameters(), lr=0.02)

    assert_exact(matrices, bucket_bytes=BUCKETS[bucket])


class Bag(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(12, 4, sparse=True)
        self.topics = torch.nn.Embedding(5, 4, sparse=True)

    def forward(self, words):
        return self.words(words).mean(1) * self.topics(words[:, 0] % 5)


@pytest.mark.exact
@pytest.mark.filterwarnings("ignore:Sparse invariant checks")  # torch's own, once a process
@pytest.mark.parametrize("bucket", BUCKETS)
@pytest.mark.parametrize("kind", [torch.optim.SparseAdam, torch.optim.SGD, torch.optim.Adagrad])
def test_sparse_gradients(kind, bucket):
    def make():
        model = Bag()
        return model, kind(model.parameters(), lr=0.1)

    def loop(model, optimizer):
        for step in range(4):
            model(torch.arange(12).reshape(3, 4) * (step + 1) % 12).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()

    assert_exact(make, loop, BUCKETS[bucket])


def third_party(name):
    if name == "schedulefree":
        return pytest.importorskip("schedulefree").AdamWScheduleFree, {"lr": 0.01, "warmup_steps": 2}
    if name == "schedulefree SGD":
        return pytest.importorskip("schedulefree").SGDScheduleFree, {"lr": 0.1, "foreach": False}
    if name == "schedulefree RAdam":
        return pytest.importorskip("schedulefree").RAdamScheduleFree, {"lr": 0.01}
    if name == "lion-pytorch":
        return pytest.importorskip("lion_pytorch").Lion, {"lr": 0.001}
    optimi = pytest.importorskip("optimi")
    return {"optimi AdamW": optimi.AdamW, "optimi StableAdamW": optimi.StableAdamW, "optimi Lion": optimi.Lion}[name], {
        "lr": 0.01
    }


THIRD_PARTY = [
    "schedulefree",
    "schedulefree SGD",
    "schedulefree RAdam",
    "lion-pytorch",
    "optimi AdamW",
    "optimi StableAdamW",
    "optimi Lion",
]


@pytest.mark.exact
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("bucket", BUCKETS)
@pytest.mark.parametrize("name", THIRD_PARTY)
def test_other_peoples_optimizers(name, bucket):
    kind, settings = third_party(name)

    def loop(model, optimizer):
        getattr(optimizer, "train", lambda: None)()
        losses = train(model, optimizer, steps=6)
        getattr(optimizer, "eval", lambda: None)()
        return losses

    assert_exact(make_mlp(kind, **settings), loop, BUCKETS[bucket])


@pytest.mark.exact
@pytest.mark.parametrize("bucket", BUCKETS)
def test_a_group_without_gradients_still_counts_the_step(bucket):
    kind, settings = third_party("schedulefree")

    def make():
        model = mlp()
        model.other = torch.nn.Linear(3, 3)
        model.forward = lambda inputs, use=False: model.other(model[:5](inputs)) if use else model[:5](inputs)
        groups = [{"params": model[:5].parameters()}, {"params": model.other.parameters(), "lr": 0.02}]
        return model, kind(groups, **settings)

    def loop(model, optimizer):
        optimizer.train()
        for step, (inputs, targets) in enumerate(batches(6)):
            mse(model(inputs, use=step >= 3), targets).backward()
            optimizer.step()
            optimizer.zero_grad()
        return [group["k"] for group in optimizer.param_groups]

    assert_exact(make, loop, BUCKETS[bucket])


@pytest.mark.exact
@pytest.mark.parametrize("bucket", BUCKETS)
@pytest.mark.parametrize("fused", [False, True])
def test_learning_rate_in_a_tensor(bucket, fused):
    def loop(model, optimizer):
        train(model, optimizer, steps=2)
        optimizer.param_groups[0]["lr"].fill_(0.02)
        return train(model, optimizer, steps=2)

    def make():
        model = mlp()
        return model, torch.optim.AdamW(model.parameters(), lr=torch.tensor(0.01), fused=fused, foreach=False)

    assert_exact(make, loop, BUCKETS[bucket])


@pytest.mark.exact
@pytest.mark.parametrize("maximize", [False, True])
def test_maximize_and_differing_groups(maximize):
    def make():
        model = mlp()
        groups = [
            {"params": [model[0].weight, model[4].bias], "lr": 0.1, "weight_decay": 0.0},
            {"params": [model[2].weight, model[0].bias], "betas": (0.5, 0.6)},
            {"params": [model[4].weight, model[2].bias], "amsgrad": True, "fused": False},
        ]
        return model, adamw(groups, maximize=maximize)

    for bucket in BUCKETS.values():
        assert_exact(make, bucket_bytes=bucket)


@pytest.mark.exact
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_precisions(dtype):
    def make():
        model = mlp().to(dtype)
        return model, adamw(model.parameters())

    def loop(model, optimizer):
        for inputs, targets in batches():
            mse(model(inputs.to(dtype)), targets.to(dtype)).backward()
            optimizer.step()
            optimizer.zero_grad()

    assert_exact(make, loop)


@pytest.mark.exact
@pytest.mark.parametrize("bucket", BUCKETS)
def test_equals_the_reference_of_one_optimizer_per_parameter(bucket):
    weights = []
    for wrap in (reference, lambda *pair: BackProp(*pair, bucket_bytes=BUCKETS[bucket])):
        torch.manual_seed(0)
        model = mlp()
        train(*wrap(model, adamw(model.parameters(), foreach=False, fused=False)))
        weights.append([parameter.detach().clone() for parameter in model.parameters()])
    assert all(torch.equal(*pair) for pair in zip(*weights, strict=True))
