"""What each of two processes runs for the tests of fully_shard: the same loop plain and wrapped, over gloo."""

# Modules are indexed, optimizers get attributes, wrong types are given on purpose: more than torch's types allow.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalMemberAccess=false, reportPrivateImportUsage=false

import math

import torch
from backprop_helpers import adamw, assert_same, batches, clip_norm, mse
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from backprop import BackProp


def sharded_mlp(mesh):
    torch.manual_seed(0)
    blocks = (torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.Tanh()) for _ in range(2))
    model = torch.nn.Sequential(*blocks, torch.nn.Linear(6, 3))
    for part in model[:2]:
        fully_shard(part, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def loop(mesh, wrap, rank, max_norm, norm_type, micro_batches, bucket):
    model = sharded_mlp(mesh)
    optimizer = adamw(model.parameters(), fused=False, foreach=False)
    if wrap:
        model, optimizer = BackProp(model, optimizer, bucket_bytes=bucket)
    norms = []
    for step in range(3):
        for inputs, targets in batches(micro_batches, seed=10 * step + rank):
            mse(model(inputs), targets).backward()
        if max_norm is not None:
            norms.append(clip_norm(optimizer, model.parameters(), max_norm, norm_type).full_tensor())
        optimizer.step()
        if wrap:
            assert all(parameter.grad is None for parameter in model.parameters())
        optimizer.zero_grad()
    return [parameter.full_tensor().detach() for parameter in model.parameters()] + norms


def compare(rank, rendezvous):
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=2)
    mesh = init_device_mesh("cpu", (2,))
    for case in (
        (None, 2.0, 1, None),
        (None, 2.0, 1, 0),
        (None, 2.0, 2, None),
        (0.05, 2.0, 1, None),
        (0.05, math.inf, 2, 0),
    ):
        assert_same(loop(mesh, False, rank, *case), loop(mesh, True, rank, *case))
    torch.distributed.destroy_process_group()
