"""Clipping, unscaling and mixed precision: what the plain loop does to p.grad between backward() and step()."""

# Modules are indexed, optimizers get attributes, wrong types are given on purpose: more than torch's types allow.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalMemberAccess=false, reportPrivateImportUsage=false

import math

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
    clip_norm,
    clip_value,
    contents,
    make_mlp,
    mlp,
    mse,
)

from backprop import BackProp

NORMS = {"two": 2.0, "one": 1.0, "infinity": math.inf}


def clipping(max_norm, norm_type, micro_batches=1, penalty=False):
    def loop(model, optimizer):
        norms = []
        for step in range(4):
            for inputs, targets in batches(micro_batches, seed=step):
                loss = mse(model(inputs), targets)
                if penalty:
                    loss = loss + 0.1 * model[2].weight.square().sum()
                loss.backward()
            norms.append(clip_norm(optimizer, model.parameters(), max_norm, norm_type))
            optimizer.step()
            optimizer.zero_grad()
        return norms

    return loop


@pytest.mark.exact
@pytest.mark.parametrize("bucket", ["one by one", "default"])
@pytest.mark.parametrize(("micro_batches", "penalty"), [(1, False), (3, False), (1, True)])
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("max_norm", [0.1, 100.0])
def test_clipping_the_norm(max_norm, norm, micro_batches, penalty, bucket):
    loop = clipping(max_norm, NORMS[norm], micro_batches, penalty)
    assert_exact(make_mlp(torch.optim.SGD, lr=0.5, momentum=0.9), loop, BUCKETS[bucket])


@pytest.mark.close  # a micro-batch's penalty is added before its loss, not to it
@pytest.mark.parametrize("bucket", SOME)
def test_clipping_micro_batches_with_a_penalty(bucket):
    loop = clipping(0.1, 2.0, micro_batches=3, penalty=True)
    assert_close(make_mlp(torch.optim.SGD, lr=0.5, momentum=0.9), loop, BUCKETS[bucket])


@pytest.mark.exact
@pytest.mark.parametrize("bucket", SOME)
@pytest.mark.parametrize("micro_batches", [1, 3])
def test_clipping_the_value(micro_batches, bucket):
    def loop(model, optimizer):
        for step in range(4):
            for inputs, targets in batches(micro_batches, seed=step):
                mse(model(inputs), targets).backward()
            clip_value(optimizer, model.parameters(), 0.01)
            optimizer.step()
            optimizer.zero_grad()

    assert_exact(make_mlp(torch.optim.SGD, lr=0.5), loop, BUCKETS[bucket])


@pytest.mark.exact
@pytest.mark.parametrize("bucket", SOME)
def test_clipping_between_micro_batches_and_twice(bucket):
    def loop(model, optimizer):
        norms = []
        for inputs, targets in batches():
            for scale in (1, 3):
                mse(model(inputs * scale), targets).backward()
                clip_value(optimizer, model.parameters(), 0.05)
                norms.append(clip_norm(optimizer, model.parameters(), 0.1))
            norms.append(clip_norm(optimizer, model.parameters(), 0.05))
            optimizer.step()
            optimizer.zero_grad()
        return norms

    assert_exact(make_mlp(torch.optim.SGD, lr=0.5), loop, BUCKETS[bucket])


@pytest.mark.exact
def test_clipping_with_checkpoints_dropout_and_frozen_layers():
    class Deep(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList(torch.nn.Linear(6, 6) for _ in range(3))
            self.layers[1].requires_grad_(False)
            self.last = torch.nn.Linear(6, 3)

        def forward(self, inputs):
            for layer in self.layers:
                run = torch.nn.Sequential(layer, torch.nn.Dropout(0.5))
                inputs = torch.utils.checkpoint.checkpoint(run, inputs, use_reentrant=False)
            return self.last(inputs)

    def make():
        model = Deep()
        return model, torch.optim.SGD(model.parameters(), lr=0.5)

    def loop(model, optimizer):
        norms = []
        for inputs, targets in batches():
            mse(model(inputs), targets).backward()
            norms.append(clip_norm(optimizer, model.parameters(), 0.1))
            optimizer.step()
            optimizer.zero_grad()
        return norms

    assert_exact(make, loop)


@pytest.mark.exact
def test_clipping_without_a_gradient_returns_zero():
    model, optimizer = BackProp(*make_mlp()())
    assert optimizer.clip_grad_norm_(1.0) == torch.nn.utils.clip_grad_norm_(mlp().parameters(), 1.0)
    model.requires_grad_(False)
    assert optimizer.clip_grad_norm_(1.0) == 0.0


@pytest.mark.exact
def test_a_dropped_batch_takes_its_clipping_along():
    def loop(model, optimizer):
        for index, (inputs, targets) in enumerate(batches()):
            mse(model(inputs), targets).backward()
            if index % 2:
                clip_norm(optimizer, model.parameters(), 1e-3)
                optimizer.zero_grad()
                continue
            optimizer.step()
            optimizer.zero_grad()

    assert_exact(make_mlp(torch.optim.SGD, lr=0.5), loop)


@pytest.mark.loud
@pytest.mark.parametrize("micro_batches", [1, 2])
def test_clipping_stops_at_a_norm_that_is_not_finite(micro_batches):
    def loop(model, optimizer):
        for inputs, targets in batches(micro_batches):
            mse(model(inputs) * math.inf, targets).backward()
        with pytest.raises(RuntimeError, match="is non-finite, so it cannot be clipped"):
            clip_norm(optimizer, model.parameters(), 1.0, error_if_nonfinite=True)
        optimizer.zero_grad()
        for inputs, targets in batches():
            mse(model(inputs), targets).backward()
            clip_norm(optimizer, model.parameters(), 0.1, error_if_nonfinite=True)
            optimizer.step()
            optimizer.zero_grad()

    assert_exact(make_mlp(torch.optim.SGD, lr=0.5), loop)


@pytest.mark.loud
def test_the_text_for_a_norm_that_is_not_finite_is_the_plain_one():
    texts = []
    for wrap in (False, True):
        model, optimizer = make_mlp()()
        if wrap:
            model, optimizer = BackProp(model, optimizer)
        (model(batches(1)[0][0]) * math.inf).sum().backward()
        with pytest.raises(RuntimeError) as caught:
            clip_norm(optimizer, model.parameters(), 1.0, error_if_nonfinite=True)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


@pytest.mark.loud
def test_backward_after_clipping_would_escape_it():
    model, optimizer = BackProp(*make_mlp()())
    output = model(batches(1)[0][0])
    output.sum().backward(retain_graph=True)
    optimizer.clip_grad_norm_(1.0)
    with pytest.raises(RuntimeError) as caught:
        output.square().sum().backward()
    assert str(caught.value) == (
        "backward() came after clipping or unscaling, which would then apply to its gradients too; call it before "
        "them, or run the model forward in between"
    )


# -- mixed precision


def scaled(scaler_settings, clip=None, micro_batches=1, overflow_at=()):
    def loop(model, optimizer):
        scaler = torch.amp.GradScaler("cpu", **scaler_settings)
        seen = []
        for step in range(5):
            for inputs, targets in batches(micro_batches, seed=step):
                with torch.autocast("cpu", torch.bfloat16):
                    loss = mse(model(inputs).float(), targets)
                if step in overflow_at:
                    loss = loss * 1e38 * 1e10
                scaler.scale(loss).backward()
            if clip is not None:
                scaler.unscale_(optimizer)
                seen.append(clip_norm(optimizer, model.parameters(), clip))
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            seen.append(scaler.get_scale())
        return [value for value in seen if not (isinstance(value, torch.Tensor) and not value.isfinite())]

    return loop


@pytest.mark.exact
@pytest.mark.parametrize("bucket", SOME)
@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("micro_batches", [1, 2])
@pytest.mark.parametrize("clip", [None, 0.1])
def test_grad_scaler_skips_what_overflows(clip, micro_batches, fused, bucket):
    loop = scaled({"init_scale": 1024.0, "growth_interval": 2}, clip, micro_batches, overflow_at=(1, 3))
    make = make_mlp(torch.optim.SGD, lr=0.1, momentum=0.9, fused=fused, foreach=False)
    assert_exact(make, loop, BUCKETS[bucket])  # the fused kernel divides by the scale, a power of two: the same bits


@pytest.mark.close  # both multiply by the reciprocal in float32, but an odd scale may round once more
def test_a_scale_that_is_no_power_of_two():
    make = make_mlp(torch.optim.SGD, lr=0.1, momentum=0.9)
    assert_close(make, scaled({"init_scale": 1000.0, "growth_factor": 1.7, "growth_interval": 1}))


@pytest.mark.exact
def test_a_disabled_scaler():
    assert_exact(make_mlp(), scaled({"enabled": False}))


@pytest.mark.exact
def test_scaler_keeps_the_saving(collected):
    """It looks at one witness, not at all gradients at once."""
    model, optimizer = BackProp(*make_mlp(torch.optim.SGD, lr=0.1)(), bucket_bytes=0)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    most = []
    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(
            lambda _: most.append(sum(p.grad is not None for p in model.parameters()))
        )
    scaler.scale(model(batches(1)[0][0]).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert max(most) == 1
    assert len(most) == 12  # once to look, once to step


@pytest.mark.loud
def test_scaler_refuses_half_gradients_as_in_the_plain_loop():
    model = torch.nn.Linear(3, 3).half()
    model, optimizer = BackProp(model, torch.optim.SGD(model.parameters(), lr=0.1))
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    scaler.scale(model(torch.ones(2, 3).half()).float().sum()).backward()
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.step(optimizer)


@pytest.mark.exact
@pytest.mark.parametrize("inside", ["nothing", "backward", "backward and step", "step"])
@pytest.mark.parametrize("kind", ["AdamW", "with matrix products"])
def test_autocast(inside, kind):
    class Mixing(torch.optim.SGD):
        """An update that autocast would change: it multiplies matrices."""

        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None and parameter.ndim == 2:
                        parameter.sub_(0.1 * parameter.grad @ parameter.grad.T @ parameter.grad)

    def make():
        model = mlp()
        return model, adamw(model.parameters()) if kind == "AdamW" else Mixing(model.parameters(), lr=0.1)

    def loop(model, optimizer):
        for inputs, targets in batches():
            with torch.autocast("cpu", torch.bfloat16):
                loss = mse(model(inputs), targets)
            with torch.autocast("cpu", torch.bfloat16, enabled="backward" in inside):
                loss.backward()
            with torch.autocast("cpu", torch.bfloat16, enabled="step" in inside):
                optimizer.step()
            optimizer.zero_grad()

    assert_exact(make, loop)


@pytest.mark.exact
def test_pure_bfloat16_with_clipping():
    def make():
        model = mlp().bfloat16()
        return model, adamw(model.parameters())

    def loop(model, optimizer):
        norms = []
        for inputs, targets in batches():
            mse(model(inputs.bfloat16()), targets.bfloat16()).backward()
            norms.append(clip_norm(optimizer, model.parameters(), 0.1))
            optimizer.step()
            optimizer.zero_grad()
        return norms

    assert_exact(make, loop)


@pytest.mark.close  # torch groups norms by data type before it sums them
def test_clipping_over_two_data_types():
    class Mixed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second, self.third = (
                torch.nn.Linear(6, 6),
                torch.nn.Linear(6, 6).double(),
                torch.nn.Linear(6, 3),
            )

        def forward(self, inputs):
            return self.third(self.second(self.first(inputs).double()).float())

    def run(wrap):
        torch.manual_seed(0)
        model = Mixed()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if wrap:
            model, optimizer = BackProp(model, optimizer)
        for inputs, targets in batches():
            mse(model(inputs), targets).backward()
            clip_norm(optimizer, model.parameters(), 0.1)
            optimizer.step()
            optimizer.zero_grad()
        return contents(model, optimizer)

    assert_same(run(False), run(True), atol=1e-6)
