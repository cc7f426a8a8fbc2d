import time

import pytest
import torch

from timelines import measure
from workloads.linear_stack import SIZES, LinearStack

CPU = torch.device("cpu")


def test_step_time_is_the_mean_and_leaves_out_what_comes_between():
    done: list[int] = []
    milliseconds = measure.step_ms(lambda: time.sleep(0.02), 3, CPU, lambda: done.append(time.sleep(0.05) or 1))
    assert sum(done) == 3
    assert 20 <= milliseconds < 50


def test_what_only_cuda_has_is_none_on_the_cpu():
    assert measure.allocator_peak_gb(pytest.fail, CPU) is None
    assert set(measure.allocator_counters(pytest.fail, 3, CPU).values()) == {None}


def test_the_resident_peak_follows_a_reset():
    if measure.rss_peak_gb() is None:
        pytest.skip("this system has no /proc")
    measure.reset_rss_peak()
    before = measure.rss_peak_gb()
    held = torch.ones(40_000_000)
    during = measure.rss_peak_gb()
    assert before is not None
    assert during is not None
    assert during - before > 0.15
    del held
    measure.reset_rss_peak()
    after = measure.rss_peak_gb()
    assert after is not None
    assert after < during - 0.1


def test_the_stack_is_the_headline_and_starts_the_same_every_time():
    full = SIZES["full"]
    assert (full.batch_size, full.width, full.layers) == (2048, 8192, 12)
    assert (SIZES["quick"].batch_size, SIZES["quick"].width) == (256, 1024)
    stack = LinearStack(2, 8, 3)
    first, second = stack.model(CPU), stack.model(CPU)
    assert sum(p.numel() for p in first.parameters()) == stack.parameters
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert stack.batch(CPU).shape == (2, 8)
    assert stack.loss(first, stack.batch(CPU)).ndim == 0
    assert stack.describe()["widths"] == [8, 8, 8, 8, 1]
