"""Every loop that people write gives the same weights wrapped as plain."""

# Modules are indexed, optimizers get attributes, wrong types are given on purpose: more than torch's types allow.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalMemberAccess=false, reportPrivateImportUsage=false

import copy
import io
import warnings

import pytest
import torch
from backprop_helpers import (
    BUCKETS,
    SOME,
    adamw,
    assert_close,
    assert_exact,
    assert_same,
    batches,
    both_ways,
    contents,
    make_mlp,
    mlp,
    mse,
    train,
)
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.utils.checkpoint import checkpoint

from backprop import BackProp

pytestmark = pytest.mark.filterwarnings("error")


# -- settings, schedules, groups


SCHEDULES = {
    "LambdaLR with a list": lambda o: torch.optim.lr_scheduler.LambdaLR(
        o, [lambda k: 0.9**k, lambda k: 1 / (1 + k)][: len(o.param_groups)]
    ),
    "OneCycleLR": lambda o: torch.optim.lr_scheduler.OneCycleLR(o, max_lr=0.1, total_steps=10),
    "warm-up": lambda o: torch.optim.lr_scheduler.LinearLR(o, start_factor=0.01, total_iters=3),
    "warm-up from zero": lambda o: torch.optim.lr_scheduler.LambdaLR(o, lambda k: k / 3),
    "cosine": lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, T_max=5),
}


def two_groups(kind=adamw, **settings):
    def make():
        model = mlp()
        return model, kind([{"params": model[:2].parameters()}, {"params": model[2:].parameters()}], **settings)

    return make


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


# -- checkpoints


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


# -- micro-batches and several losses


@pytest.mark.exact
@pytest.mark.parametrize("bucket", SOME)
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_micro_batches(count, bucket):
    def loop(model, optimizer):
        for step in range(3):
            for inputs, targets in batches(count, seed=step):
                (mse(model(inputs), targets) / count).backward()
            optimizer.step()
            optimizer.zero_grad()

    assert_exact(make_mlp(), loop, BUCKETS[bucket])


@pytest.mark.close  # the engine sums what reaches the output before it walks on, the plain loop sums weight gradients
@pytest.mark.parametrize("bucket", SOME)
def test_two_losses_on_one_output(bucket):
    def loop(model, optimizer):
        for inputs, targets in batches():
            output = model(inputs)
            mse(output, targets).backward(retain_graph=True)
            (output - targets).abs().mean().backward()
            optimizer.step()
            optimizer.zero_grad()

    assert_close(make_mlp(torch.optim.SGD, lr=0.1, momentum=0.9), loop, BUCKETS[bucket])


@pytest.mark.exact
@pytest.mark.parametrize("bucket", SOME)
def test_two_forwards_in_one_loss(bucket):
    def loop(model, optimizer):
        for inputs, targets in batches():
            (mse(model(inputs), targets) + mse(model(-inputs), targets)).backward()
            optimizer.step()
            optimizer.zero_grad()

    assert_exact(make_mlp(), loop, BUCKETS[bucket])


@pytest.mark.exact  # two summands commute, whichever comes first
@pytest.mark.parametrize("bucket", SOME)
def test_two_forwards_then_two_backwards(bucket):
    def loop(model, optimizer):
        for inputs, targets in batches():
            one, other = mse(model(inputs), targets), mse(model(-inputs), targets)
            one.backward()
            other.backward()
            optimizer.step()
            optimizer.zero_grad()

    assert_exact(make_mlp(), loop, BUCKETS[bucket])


@pytest.mark.close  # three summands do not associate
@pytest.mark.parametrize("bucket", SOME)
def test_three_forwards_then_three_backwards(bucket):
    def loop(model, optimizer):
        for inputs, targets in batches():
            losses = [mse(model(inputs * scale), targets) for scale in (1, -1, 2)]
            for loss in losses:
                loss.backward()
            optimizer.step()
            optimizer.zero_grad()

    assert_close(make_mlp(torch.optim.SGD, lr=0.1, momentum=0.9), loop, BUCKETS[bucket])


@pytest.mark.exact
def test_forward_between_a_forward_and_its_backward():
    def loop(model, optimizer):
        for inputs, targets in batches():
            output = model(inputs)
            model(inputs + 1)  # a look in grad mode
            with torch.no_grad():
                model(inputs + 2)
            mse(output, targets).backward()
            model(inputs + 3)
            optimizer.step()
            optimizer.zero_grad()

    assert_exact(make_mlp(), loop)


@pytest.mark.exact
def test_step_with_a_closure():
    def loop(model, optimizer):
        losses = []
        for inputs, targets in batches():

            def closure(inputs=inputs, targets=targets):
                optimizer.zero_grad()
                loss = mse(model(inputs), targets)
                loss.backward()
                return loss

            losses.append(optimizer.step(closure).detach())
        return losses

    for bucket in (0, 400, None):
        assert_exact(make_mlp(), loop, bucket)


# -- zero_grad in every place


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


# -- gradients from elsewhere


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


# -- what else may step or look on


@pytest.mark.exact
@pytest.mark.parametrize("order", ["wrapped first", "plain first"])
def test_a_second_plain_optimizer_on_the_same_model(order):
    def make():
        model = mlp()
        optimizer = adamw(model[:3].parameters())
        optimizer.second = torch.optim.SGD(model[4].parameters(), lr=0.1)
        return model, optimizer

    def loop(model, optimizer):
        both = [optimizer, optimizer.second]
        for inputs, targets in batches():
            mse(model(inputs), targets).backward()
            for one in both if order == "wrapped first" else both[::-1]:
                one.step()
            for one in both:
                one.zero_grad()

    assert_exact(make, loop)


@pytest.mark.exact
@pytest.mark.parametrize("order", ["before wrapping", "after wrapping"])
@pytest.mark.parametrize("bucket", SOME)
def test_parameters_own_hooks_fire_and_may_change_the_gradient(order, bucket):
    results = []
    for wrap in (False, True):
        torch.manual_seed(0)
        model, optimizer = make_mlp()()
        seen = []

        def watch(model=model, seen=seen):
            def changed(parameter):
                seen.append(parameter.grad.norm())
                parameter.grad = parameter.grad * 2

            for parameter in model.parameters():
                parameter.register_hook(lambda gradient: gradient.clamp(-0.01, 0.02))
                parameter.register_post_accumulate_grad_hook(changed)

        if order == "before wrapping":
            watch()
        if wrap:
            model, optimizer = BackProp(model, optimizer, bucket_bytes=BUCKETS[bucket])
        if order == "after wrapping":
            watch()
        train(model, optimizer)
        results.append(contents(model, optimizer, seen))
    assert_same(*results)


@pytest.mark.exact
def test_step_hooks_fire_once_a_step():
    def loop(model, optimizer):
        calls = []
        handles = [
            optimizer.register_step_pre_hook(lambda *_: calls.append("before")),
            optimizer.register_step_post_hook(lambda *_: calls.append("after")),
            register_optimizer_step_pre_hook(lambda *_: calls.append("global before")),
            register_optimizer_step_post_hook(lambda *_: calls.append("global after")),
        ]
        train(model, optimizer, 2)
        for handle in handles:
            handle.remove()
        return calls

    for bucket in (0, 400, None):
        assert_exact(make_mlp(), loop, bucket)


@pytest.mark.exact
def test_profiler_range_once_a_step():
    def loop(model, optimizer):
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            train(model, optimizer, 2)
        return sorted((e.key, e.count) for e in profile.key_averages() if e.key.startswith("Optimizer.step"))

    plain, wrapped = both_ways(make_mlp(), loop, bucket_bytes=0)
    assert plain[-2:] == ["Optimizer.step#AdamW.step", 2]
    assert_same(plain, wrapped)


@pytest.mark.exact
def test_step_without_any_gradient_changes_nothing():
    def loop(model, optimizer):
        optimizer.step()
        train(model, optimizer, 2)
        optimizer.step()

    assert_exact(make_mlp(), loop)


@pytest.mark.exact
def test_functional_call_with_other_weights():
    def loop(model, optimizer):
        for inputs, targets in batches():
            halves = {name: parameter * 0.5 for name, parameter in model.named_parameters()}
            mse(torch.func.functional_call(model, halves, (inputs,)), targets).backward()
            optimizer.step()
            optimizer.zero_grad()

    assert_exact(make_mlp(), loop)


@pytest.mark.exact
def test_inference_mode_between_backward_and_step():
    def loop(model, optimizer):
        seen = []
        for inputs, targets in batches():
            mse(model(inputs), targets).backward()
            with torch.inference_mode():
                seen.append(model(inputs))
            optimizer.step()
            optimizer.zero_grad()
        return [value.clone() for value in seen]

    assert_exact(make_mlp(), loop)
