"""One thread and one seed for every test, so that the same loop gives the same bits each time it is run."""

import gc

import pytest
import torch


@pytest.fixture(autouse=True)
def repeatable():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def collected():
    """Frees what earlier tests left in cycles, and keeps the collector off, so that only references count."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()
