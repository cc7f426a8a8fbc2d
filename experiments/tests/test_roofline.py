import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from timelines.gpus import Gpu
from timelines.roofline import RooflineClock

# So little bandwidth that all is bound by memory, or so few FLOP/s that all that has FLOPs is bound by arithmetic.
BY_MEMORY = Gpu("", 0, bandwidth=1e3, half_flops=1e30, single_flops=1e30, source="")
BY_FLOPS = Gpu("", 0, bandwidth=1e30, half_flops=2e6, single_flops=1e6, source="")


class _Timed(TorchDispatchMode):
    def __init__(self, gpu: Gpu) -> None:
        super().__init__()
        self.clock = RooflineClock(gpu)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        self.clock(func, args, kwargs or {}, result)
        return result


def _ms(gpu: Gpu, run) -> float:
    with _Timed(gpu) as timed:
        run()
    return timed.clock.ms


def test_a_product_takes_its_flops():
    a, b = torch.ones(30, 40), torch.ones(40, 50)
    assert _ms(BY_FLOPS, lambda: a @ b) == pytest.approx(1000 * 2 * 30 * 40 * 50 / 1e6)


def test_sixteen_bits_have_their_own_peak():
    a, b = torch.ones(30, 40, dtype=torch.bfloat16), torch.ones(40, 50, dtype=torch.bfloat16)
    assert _ms(BY_FLOPS, lambda: a @ b) == pytest.approx(1000 * 2 * 30 * 40 * 50 / 2e6)


def test_other_operations_take_the_time_to_move_their_tensors():
    a, b = torch.ones(100), torch.ones(100)
    assert _ms(BY_MEMORY, lambda: a + b) == pytest.approx(1000 * 3 * 400 / 1e3)
    assert _ms(BY_MEMORY, lambda: a.add_(a)) == pytest.approx(1000 * 400 / 1e3)  # one tensor, read and written


def test_views_take_none():
    a = torch.ones(10, 10)
    assert _ms(BY_MEMORY, lambda: (a.t(), a[2:], a.view(100), a.detach())) == 0


def test_attention_takes_what_torch_counts_on_a_gpu():
    q, k, v = (torch.ones(2, 4, 64, 16, requires_grad=True) for _ in range(3))
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        scaled_dot_product_attention(q, k, v)
    forward = counter.get_total_flops()
    assert _ms(BY_FLOPS, lambda: scaled_dot_product_attention(q, k, v)) == pytest.approx(forward / 1e3)

    out = scaled_dot_product_attention(q, k, v)
    backward = _ms(BY_FLOPS, lambda: out.sum().backward())
    assert backward == pytest.approx(2.5 * forward / 1e3)  # scores again, then gradients of v, scores, q and k


def test_a_step_takes_the_flops_that_torch_counts():
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))

    def step() -> None:
        model(torch.ones(16, 32)).sum().backward()

    with FlopCounterMode(display=False) as counter:
        step()
    assert _ms(BY_FLOPS, step) == pytest.approx(counter.get_total_flops() / 1e3)
