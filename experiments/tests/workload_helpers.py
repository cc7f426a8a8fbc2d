"""Workloads to try, and how to train one in either loop and compare what comes of it."""

import json
from typing import Any

import jsonschema
import torch

from backprop import BackProp
from timelines.contract import SCHEMA
from workloads import vision
from workloads.checkpointing import checkpoint_activations
from workloads.linear_stack import LinearStack
from workloads.transformer import Transformer
from workloads.vision import Classifier

CPU = torch.device("cpu")
OURS = [
    LinearStack(2, 8, 3),
    Transformer("tiny", layers=2, heads=4, width=16, batch_size=2, seq_len=8, vocab=32, context=8),
    Transformer("tiny", 2, 4, 16, batch_size=2, seq_len=8, vocab=32, context=8, tied=False, dropout=0.1),
    Classifier("tiny", 2, lambda: vision.ViT(layers=2, heads=2, width=16, size=32, classes=10), 2, 32, 10),
    Classifier("tiny", 9, lambda: vision.ResNet(stages=(1, 2), width=4, classes=10), 2, 32, 10),
]


def train(workload: Any, backprop: bool, steps: int = 3, checkpointed: bool = False) -> dict[str, torch.Tensor]:
    model = workload.model(CPU)
    if checkpointed:
        checkpoint_activations(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, fused=True)
    if backprop:
        model, optimizer = BackProp(model, optimizer)
    torch.manual_seed(1)  # for dropout
    for _ in range(steps):
        loss = workload.loss(model, workload.batch(CPU))
        assert loss.ndim == 0
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return model.state_dict()


def equal(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def check_description(description: dict[str, Any]) -> None:
    schema = json.loads(SCHEMA.read_text())
    workload = {**description, "optimizer": {"name": "AdamW", "implementation": "fused", "settings": {}}}
    jsonschema.validate(workload, {**schema["$defs"]["workload"], "$defs": schema["$defs"]})
