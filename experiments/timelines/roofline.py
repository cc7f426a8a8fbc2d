"""A clock for operations that are not run: how long each would take on a GPU that reached its roofline.

An operation takes the longer of its arithmetic (FLOPs by torch's counter) over the GPU's FLOP/s and its traffic (bytes
of the tensors that it reads and writes) over the bandwidth: Williams, Waterman and Patterson, "Roofline: an insightful
visual performance model", CACM 52(4), 2009. No launch latency, no cache, no overlap: an estimate, and labelled so.
"""

import functools
from typing import Any

import torch
from torch.utils.flop_counter import flop_registry, sdpa_flop_count

from timelines.gpus import Gpu
from timelines.recorder import tensors_in

_HALF = (torch.float16, torch.bfloat16)


class RooflineClock:
    """Tells estimated ms on `gpu`; a recorder's clock."""

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu
        self.ms = 0.0

    def __call__(self, func: Any, args: Any, kwargs: Any, result: Any) -> float:
        """The time, after `func` has taken its share of it."""
        if func is not None and not _is_view(func):
            self.ms += 1000 * self._seconds(func, args, kwargs, result)
        return self.ms

    def _seconds(self, func: Any, args: Any, kwargs: Any, result: Any) -> float:
        tensors = {id(tensor): tensor for tensor in tensors_in((args, kwargs, result))}.values()
        traffic = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
        half = any(tensor.dtype in _HALF for tensor in tensors)
        peak = self.gpu.half_flops if half else self.gpu.single_flops
        return max(_flops(func, args, kwargs, result) / peak, traffic / self.gpu.bandwidth)


@functools.cache
def _is_view(func: Any) -> bool:
    returns = func._schema.returns
    return bool(returns) and all(r.alias_info is not None and not r.alias_info.is_write for r in returns)


def _flops(func: Any, args: Any, kwargs: Any, result: Any) -> int:
    packet = func.overloadpacket
    if packet in flop_registry:
        return flop_registry[packet](*args, **kwargs, out_val=result)
    if packet is torch.ops.aten._scaled_dot_product_flash_attention_for_cpu:
        return sdpa_flop_count(args[0].shape, args[1].shape, args[2].shape)
    if packet is torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward:
        # five products of the forward's two sizes: the scores again, and gradients of v, scores, q and k
        return sdpa_flop_count(args[1].shape, args[2].shape, args[3].shape) * 5 // 2
    return 0
