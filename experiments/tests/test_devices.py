import pytest
import torch

from timelines import devices
from timelines.errors import UsageError


def test_auto_is_a_gpu_if_there_is_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert devices.named("auto") == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert devices.named("auto") == torch.device("cuda")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("tpu", "unknown device 'tpu'; choose auto, cpu, cuda or cuda:N"),
        ("meta", "unknown device 'meta'; choose auto, cpu, cuda or cuda:N"),
        ("cuda:2", "there is no device cuda:2 here; torch sees 2 CUDA devices, so take cpu"),
    ],
)
def test_other_names_get_a_sentence(name: str, sentence: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(UsageError) as refused:
        devices.named(name)
    assert str(refused.value) == sentence


def test_free_memory_of_the_cpu_is_what_the_system_says_is_available():
    free = devices.free_bytes(torch.device("cpu"))
    assert free is None or 0 < free < 2**50
