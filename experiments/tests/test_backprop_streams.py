"""CUDA streams: a bucket is updated on the one its gradients landed on. All but the first test need a GPU."""

import contextlib

import pytest
import torch
from backprop_helpers import adamw, assert_same, contents

from backprop import BackProp, _Update

pytestmark = pytest.mark.filterwarnings("error")
on_a_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
_WIDTH = 2048  # wide enough for a product to be still running when the next is launched
_STEPS = 6


class OnGpu(torch.nn.Parameter):
    """Says that it is on a GPU, and holds on to the CPU."""

    is_cuda = True


def test_a_bucket_ends_where_the_stream_changes(monkeypatch):
    current, seen = [0], []

    @contextlib.contextmanager
    def on(stream):
        before, current[0] = current[0], stream
        yield
        current[0] = before

    class Watched(torch.optim.SGD):
        def step(self, closure=None):
            seen.append((current[0], [int(p.detach()[0]) for group in self.param_groups for p in group["params"]]))

    monkeypatch.setattr(torch._C, "_cuda_getCurrentRawStream", lambda index: current[0], raising=False)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: current[0])
    monkeypatch.setattr(torch.cuda, "stream", on)
    parameters = [OnGpu(torch.tensor([float(number)])) for number in range(5)]
    update = _Update(Watched(parameters, foreach=False), Watched, None, [])
    for parameter, stream in zip(parameters, (0, 0, 7, 8, 8), strict=True):
        with on(stream):
            parameter.grad = torch.ones(1)
            update.landed(parameter)
    update.finish()
    assert seen == [(0, [0, 1]), (7, [2]), (0, [3, 4])]  # by the end, the caller's own has waited for the rest


class TwoStreams(torch.nn.Module):
    """Two towers, each on a stream of its own, so that their gradients land in turns on two streams."""

    def __init__(self, streams):
        super().__init__()
        self.towers = torch.nn.ModuleList(
            torch.nn.Sequential(*(torch.nn.Linear(_WIDTH, _WIDTH) for _ in range(4))) for _ in streams
        )
        self.streams = streams

    def forward(self, inputs):
        here, outputs = torch.cuda.current_stream(), []
        for tower, stream in zip(self.towers, self.streams, strict=True):
            stream.wait_stream(here)
            with torch.cuda.stream(stream):
                outputs.append(tower(inputs))
        for stream, output in zip(self.streams, outputs, strict=True):
            here.wait_stream(stream)
            output.record_stream(here)
        return sum(outputs)


def stack():
    return torch.nn.Sequential(*(torch.nn.Linear(_WIDTH, _WIDTH) for _ in range(8)))


def trained(make, wrap, bucket_bytes=None, stream=None):
    """Weights and state after some steps, all of them on `stream`."""
    torch.manual_seed(0)
    model = make().cuda()
    optimizer = adamw(model.parameters())
    if wrap:
        model, optimizer = BackProp(model, optimizer, bucket_bytes=bucket_bytes)
    batches = torch.randn(_STEPS, 512, _WIDTH, device="cuda")
    if stream is not None:
        stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream) if stream is not None else contextlib.nullcontext():
        for batch in batches:
            model(batch).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    torch.cuda.synchronize()
    return contents(model, optimizer)


@on_a_gpu
@pytest.mark.exact
@pytest.mark.parametrize("bucket", [0, None, 2**40])
def test_training_on_a_side_stream(bucket):
    assert_same(trained(stack, False), trained(stack, True, bucket, torch.cuda.Stream()))


@on_a_gpu
@pytest.mark.exact
@pytest.mark.parametrize("bucket", [0, None, 2**40])
def test_a_model_that_runs_on_two_streams(bucket):
    def make():
        return TwoStreams([torch.cuda.Stream(), torch.cuda.Stream()])

    plain = trained(make, False)
    for _ in range(5):  # a race is lost now and then
        assert_same(plain, trained(make, True, bucket))


@on_a_gpu
def test_a_steady_step_asks_the_driver_for_nothing():
    torch.manual_seed(0)
    model = stack().cuda()
    model, optimizer = BackProp(model, adamw(model.parameters()))
    batch = torch.randn(512, _WIDTH, device="cuda")

    def step():
        model(batch).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    for _ in range(3):
        step()
    before = torch.cuda.memory_stats()
    for _ in range(3):
        step()
    after = torch.cuda.memory_stats()
    for counter in ("num_device_alloc", "num_device_free"):
        assert after[counter] == before[counter]
