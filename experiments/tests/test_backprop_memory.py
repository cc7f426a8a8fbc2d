"""What is kept alive, and for how long: the reason for it all."""

# Modules are indexed, optimizers get attributes, wrong types are given on purpose: more than torch's types allow.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalMemberAccess=false, reportPrivateImportUsage=false

import copy
import gc
import sys
import weakref

import pytest
import torch
from backprop_helpers import BUCKETS, SOME, adamw, assert_exact, batches, make_mlp, mlp, mse, train

from backprop import BackProp, _Update


def tall(depth=6, width=8):
    return torch.nn.Sequential(*[torch.nn.Linear(width, width, bias=False) for _ in range(depth)])


def coexisting(model, optimizer, loop):
    """The most gradients of `model` that exist at once, and the most bytes of them."""
    alive = {}
    most = [0, 0]

    def born(gradient):
        alive[id(gradient)] = weakref.ref(gradient)

    def landed(parameter):
        born(parameter.grad)
        now = [g for g in (reference() for reference in alive.values()) if g is not None]
        most[0] = max(most[0], len(now))
        most[1] = max(most[1], sum(g.nbytes for g in now))

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(landed)
    loop(model, optimizer)
    gc.collect()
    assert all(reference() is None for reference in alive.values()), "a gradient outlives its update"
    return most


def one_step(model, optimizer):
    model(torch.randn(4, 8)).sum().backward()
    optimizer.step()


@pytest.mark.exact
@pytest.mark.parametrize(("bucket", "count"), [(0, 1), (256, 1), (1, 1), (2 * 256, 2), (3 * 256, 3), (2**40, 6)])
@pytest.mark.parametrize("clip", [False, True])
def test_no_more_gradients_coexist_than_fit_in_a_bucket(bucket, count, clip):
    def loop(model, optimizer):
        model(torch.randn(4, 8)).sum().backward()
        if clip:
            optimizer.clip_grad_norm_(1.0)
        optimizer.step()

    model = tall()
    model, optimizer = BackProp(model, adamw(model.parameters()), bucket_bytes=bucket)
    assert coexisting(model, optimizer, loop)[0] == count


@pytest.mark.exact
def test_the_default_bucket():
    """A sixty-fourth of all, at least 2 and at most 32 MiB."""

    def capacity(*layers):
        optimizer = adamw([torch.nn.Parameter(torch.empty(size)) for size in layers])  # never touched
        return _Update(optimizer, torch.optim.AdamW, None, []).capacity

    assert capacity(1000, 3000, 2000) == 2 * 2**20
    assert capacity(*[2**20] * 64) == 4 * 2**20
    assert capacity(2**26, 2**25) == 6 * 2**20
    assert capacity(2**29 + 2**25) == 32 * 2**20


@pytest.mark.exact
def test_layers_of_the_bucket_size_do_not_coexist():
    width = 725  # the least whose weights fill the smallest bucket, 2 MiB
    model = tall(4, width)
    model, optimizer = BackProp(model, adamw(model.parameters()))

    def loop(model, optimizer):
        model(torch.randn(4, width)).sum().backward()
        optimizer.step()

    assert coexisting(model, optimizer, loop) == [1, 4 * width**2]


@pytest.mark.exact
def test_all_gradients_of_the_plain_loop_coexist_which_is_what_we_save():
    def loop(model, optimizer):
        one_step(model, optimizer)
        optimizer.zero_grad()

    model = tall()
    assert coexisting(model, adamw(model.parameters()), loop)[0] == 6


@pytest.mark.exact
def test_after_step_no_gradient_is_left():
    model, optimizer = BackProp(*make_mlp()())
    mse(model(batches(1)[0][0]), batches(1)[0][1]).backward()
    assert all(parameter.grad is None for parameter in model.parameters())
    optimizer.step()
    assert all(parameter.grad is None for parameter in model.parameters())


@pytest.mark.exact
def test_evaluation_in_grad_mode_leaks_nothing(collected):
    model, optimizer = BackProp(*make_mlp()())
    references = []
    model[1].register_forward_hook(lambda *args: references.append(weakref.ref(args[-1])))
    for inputs, targets in batches():
        output = model(inputs)
        references += [weakref.ref(output), weakref.ref(output.grad_fn), weakref.ref(mse(output, targets))]
        del output
    assert len(references) == 16
    assert all(reference() is None for reference in references)
    assert not optimizer._cuts


@pytest.mark.exact
def test_a_loss_that_is_dropped_takes_its_graph_along(collected):
    model, _ = BackProp(*make_mlp()())
    hidden = []
    model[1].register_forward_hook(lambda *args: hidden.append(weakref.ref(args[-1])))
    loss = mse(model(batches(1)[0][0]), batches(1)[0][1])
    del loss
    assert hidden[0]() is None


@pytest.mark.exact
def test_a_step_leaves_no_graph(collected):
    model, optimizer = BackProp(*make_mlp()())
    hidden = []
    model[1].register_forward_hook(lambda *args: hidden.append(weakref.ref(args[-1])))
    loss = mse(model(batches(1)[0][0]), batches(1)[0][1])
    loss.backward()
    optimizer.step()
    assert hidden[0]() is None  # although the loss is still at hand


@pytest.mark.exact
@pytest.mark.parametrize("wrap", [False, True])
def test_logits_die_once_the_loss_has_read_them(wrap):
    """log_softmax keeps its result and not the logits; nor may the cut keep them. Seen by the allocator."""
    model = torch.nn.Linear(6, 3000)
    optimizer = adamw(model.parameters())
    if wrap:
        model, optimizer = BackProp(model, optimizer)
    with torch.profiler.profile(profile_memory=True) as profile:
        torch.log_softmax(model(batches(1)[0][0]), 1).mean()
    sizes = [event.nbytes() for event in profile.profiler.kineto_results.events() if event.name() == "[memory]"]
    logits = 4 * 5 * 3000
    assert sizes.count(logits) >= 2  # logits and their log_softmax were made
    assert sizes.count(-logits) == sizes.count(logits)  # and freed, the logits first


@pytest.mark.exact
def test_the_gradient_of_the_output_is_freed_during_the_walk(collected):
    """The output may be the largest tensor of all (logits): its gradient must not last until the walk ends."""
    model, optimizer = BackProp(*make_mlp()())
    alive = []
    output = model(batches(1)[0][0])
    references = []
    output.register_hook(lambda gradient: references.append(weakref.ref(gradient)))
    mse(output, batches(1)[0][1]).backward()
    (cut,) = optimizer._pending
    references.append(weakref.ref(cut.gradient))
    del cut
    model[0].weight.register_hook(lambda _: alive.append(references[-1]() is not None))
    model[4].weight.register_hook(lambda _: None)
    optimizer.step()
    assert alive == [False]


@pytest.mark.exact
@pytest.mark.parametrize("who", ["a hook", "the optimizer"])
@pytest.mark.parametrize("bucket", SOME)
def test_an_exception_in_the_walk_leaves_both_usable(who, bucket):
    class Failing(torch.optim.AdamW):
        fails = False

        def step(self, closure=None):
            if Failing.fails:
                raise KeyError("on purpose")
            return super().step(closure)

    model = mlp()
    model, optimizer = BackProp(model, Failing(model.parameters(), lr=0.01), bucket_bytes=BUCKETS[bucket])
    groups = list(optimizer.param_groups)
    params = list(groups[0]["params"])
    mse(model(batches(1)[0][0]), batches(1)[0][1]).backward()
    if who == "the optimizer":
        Failing.fails = True
    failing = who == "a hook"

    def fail(_):
        if failing:
            raise KeyError("on purpose")

    model[2].weight.register_hook(fail)
    with pytest.raises(KeyError, match="on purpose"):
        optimizer.step()
    assert optimizer.param_groups[0] is groups[0]
    assert all(one is other for one, other in zip(optimizer.param_groups[0]["params"], params, strict=True))
    Failing.fails = False
    failing = False
    optimizer.zero_grad()

    def fresh():
        twin = mlp()
        plain = torch.optim.AdamW(twin.parameters(), lr=0.01)
        twin.load_state_dict(model.state_dict())
        plain.load_state_dict(copy.deepcopy(optimizer.state_dict()))
        return twin, plain

    twin, plain = fresh()
    train(model, optimizer)
    train(twin, plain)
    assert all(torch.equal(*pair) for pair in zip(model.parameters(), twin.parameters(), strict=True))


@pytest.mark.exact
def test_step_cost_is_linear_in_the_number_of_parameters():
    """Counts Python calls, which no other process can slow down."""

    def calls(depth):
        model = tall(depth)
        model, optimizer = BackProp(model, adamw(model.parameters()))
        count = 0

        def tick(frame, event, arg):
            nonlocal count
            count += event in ("call", "c_call")

        for step in range(2):
            model(torch.randn(4, 8)).sum().backward()
            if step:
                sys.setprofile(tick)
            optimizer.step()
            sys.setprofile(None)
            optimizer.zero_grad()
        return count

    few, many = calls(20), calls(80)
    assert many < 4.4 * few


@pytest.mark.exact
def test_dropping_the_pair_frees_the_weights(collected):
    model, optimizer = BackProp(*make_mlp()())
    train(model, optimizer, 2)
    weight = weakref.ref(model[0].weight)
    del model, optimizer
    gc.collect()
    assert weight() is None


@pytest.mark.exact
def test_a_model_whose_optimizer_is_gone_is_plain(collected):
    model, optimizer = BackProp(*make_mlp()())
    del optimizer
    gc.collect()
    mse(model(batches(1)[0][0]), batches(1)[0][1]).backward()
    assert all(parameter.grad is not None for parameter in model.parameters())
    model.zero_grad()
    assert all(parameter.grad is None for parameter in model.parameters())
    BackProp(model, adamw(model.parameters()))


@pytest.mark.exact
def test_micro_batches_keep_one_graph_at_a_time(collected):
    model, _ = BackProp(*make_mlp()())
    hidden = []
    model[1].register_forward_hook(lambda *args: hidden.append(weakref.ref(args[-1])))
    for inputs, targets in batches(3):
        loss = mse(model(inputs), targets)
        assert sum(reference() is not None for reference in hidden) == 1
        loss.backward()


@pytest.mark.exact
@pytest.mark.parametrize("bucket", SOME)
def test_a_hook_that_updates_by_itself(bucket):
    """Somebody else's optimizer-in-backward on one layer leaves no gradient for ours."""

    def loop(model, optimizer):
        def update(parameter):
            with torch.no_grad():
                parameter.sub_(0.1 * parameter.grad)
            parameter.grad = None

        handle = model[2].weight.register_post_accumulate_grad_hook(update)
        train(model, optimizer)
        handle.remove()

    assert_exact(make_mlp(), loop, BUCKETS[bucket])
