import pytest

from timelines import gpus
from timelines.errors import UsageError


def test_every_figure_has_a_source():
    for name, gpu in gpus.GPUS.items():
        assert name == gpu.name == name.lower()
        assert min(gpu.memory, gpu.bandwidth, gpu.half_flops, gpu.single_flops) > 0
        assert gpu.half_flops > gpu.single_flops
        assert gpu.source


def test_a_card_is_found_in_any_case():
    assert gpus.named("RTX-4090") is gpus.GPUS["rtx-4090"]
    assert gpus.named("rtx-4090").memory == 24 * 2**30


@pytest.mark.parametrize(
    ("text", "nbytes"),
    [
        ("24GB", 24 * 10**9),
        ("24GiB", 24 * 2**30),
        ("24gib", 24 * 2**30),
        (" 1.5 TB ", 15 * 10**11),
        ("500MB", 5 * 10**8),
        ("500MiB", 500 * 2**20),
        ("2TiB", 2**41),
    ],
)
def test_memory_is_read_with_its_unit(text: str, nbytes: int):
    assert gpus.parse_memory(text) == nbytes


@pytest.mark.parametrize("text", ["24", "GB", "24 KB", "-1GB", "0GB", "1e3GB", ""])
def test_memory_without_a_number_or_unit_is_refused(text: str):
    with pytest.raises(UsageError) as refused:
        gpus.parse_memory(text)
    assert str(refused.value) == (f"{text!r} is no size of memory; write a number and its unit, such as 24GB or 24GiB")
