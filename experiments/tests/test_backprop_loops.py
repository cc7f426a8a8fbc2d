"""Micro-batches, several losses and closures, and what else may step or look on."""

# Modules are indexed, optimizers get attributes, wrong types are given on purpose: more than torch's types allow.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalMemberAccess=false, reportPrivateImportUsage=false

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

from backprop import BackProp

pytestmark = pytest.mark.filterwarnings("error")


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
