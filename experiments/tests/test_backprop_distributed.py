"""fully_shard over two processes: each rank's shards take the plain loop's steps, bit for bit."""

# Modules are indexed, optimizers get attributes, wrong types are given on purpose: more than torch's types allow.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false, reportGeneralTypeIssues=false
# pyright: reportOptionalMemberAccess=false, reportPrivateImportUsage=false

import time

import pytest
import torch
from fully_sharded import compare

LIMIT = 120  # seconds


@pytest.mark.exact
def test_fully_shard_with_clipping_and_micro_batches(tmp_path):
    context = torch.multiprocessing.start_processes(
        compare, (str(tmp_path / "rendezvous"),), nprocs=2, join=False, start_method="spawn"
    )
    deadline = time.monotonic() + LIMIT
    try:
        while not context.join(timeout=1):
            assert time.monotonic() < deadline, f"two processes did not finish within {LIMIT} s"
    finally:
        for process in context.processes:
            if process.is_alive():
                process.kill()
