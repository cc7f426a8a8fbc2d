from pathlib import Path

import pytest
from timeline_documents import document

from timelines import contract, sources


def _put(data: Path, name: str, device: str) -> None:
    written = document()
    written["environment"]["device"] = device
    contract.write(data / name / contract.FILE_NAME, written)


def _shown(data: Path) -> str:
    return contract.read(data / contract.FILE_NAME)["environment"]["device"]


def test_the_most_real_run_present_is_shown(tmp_path: Path):
    with pytest.raises(contract.ContractError, match="holds no run; run `timelines run`"):
        sources.select(tmp_path)
    _put(tmp_path, "quick", "quick")
    assert sources.select(tmp_path).startswith("the article now shows quick/")
    _put(tmp_path, "cuda", "a GPU")
    assert sources.select(tmp_path) == "the article now shows cuda/memory_timelines.json: it was measured on a GPU"
    _put(tmp_path, "cpu", "a CPU")
    sources.select(tmp_path)
    assert _shown(tmp_path) == "a GPU"  # a laptop's own run never hides it


def test_a_broken_run_is_named_and_the_old_choice_kept(tmp_path: Path):
    _put(tmp_path, "quick", "quick")
    sources.select(tmp_path)
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / contract.FILE_NAME).write_text("{}")
    with pytest.raises(contract.ContractError, match=r"cpu/memory_timelines\.json"):
        sources.select(tmp_path)
    assert _shown(tmp_path) == "quick"


@pytest.mark.parametrize(
    ("source", "size", "implementation", "expected"),
    [
        ("cuda", "full", "for-loop", "cuda"),
        ("cpu", "full", "fused", "cpu/fused"),
        ("cuda", "quick", "for-loop", "quick"),
    ],
)
def test_each_run_has_its_folder(source: str, size: str, implementation: str, expected: str):
    assert sources.folder(Path("data"), source, size, implementation) == Path("data") / expected
