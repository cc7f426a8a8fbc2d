from typing import Any

import pytest
import torch
from small_workloads import SMALL
from torch.utils._pytree import tree_leaves

from timelines.errors import UsageError
from timelines.precision import PRECISIONS, in_precision

CPU = torch.device("cpu")
WEIGHTS_AND_LOGITS = {
    "float32": (torch.float32, torch.float32),
    "bfloat16": (torch.bfloat16, torch.bfloat16),
    "float16": (torch.float32, torch.float16),
    "bfloat16-autocast": (torch.float32, torch.bfloat16),
}


@pytest.mark.parametrize("name", PRECISIONS)
def test_weights_gradients_and_products_have_their_types(name: str):
    workload = in_precision(SMALL["linear-stack"], name)
    model = workload.model(CPU)
    seen: list[torch.dtype] = []
    layer = next(module for module in model.modules() if isinstance(module, torch.nn.Linear))
    layer.register_forward_hook(lambda module, args, output: seen.append(output.dtype))
    workload.loss(model, workload.batch(CPU)).backward()
    weights, products = WEIGHTS_AND_LOGITS[name]
    assert {p.dtype for p in model.parameters()} == {weights}
    assert {p.grad.dtype for p in model.parameters() if p.grad is not None} == {weights}
    assert set(seen) == {products}
    assert workload.describe()["dtype"] == name
    assert torch.get_default_dtype() == torch.float32


def test_numbers_of_tokens_stay_integers():
    batch: Any = in_precision(SMALL["transformer"], "bfloat16").batch(CPU)
    assert not tree_leaves(batch)[0].is_floating_point()


def test_another_is_refused():
    with pytest.raises(UsageError) as refused:
        in_precision(SMALL["linear-stack"], "float8")
    assert str(refused.value) == ("unknown dtype 'float8'; choose one of float32, bfloat16, float16, bfloat16-autocast")
