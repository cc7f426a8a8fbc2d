"""Which measured run the article shows: the most real one present."""

from dataclasses import dataclass
from pathlib import Path

from timelines import contract

DATA = Path(__file__).parents[2] / "data"


@dataclass(frozen=True)
class Source:
    """A place in data/ where a run may lie, and why it would be shown."""

    path: str
    reason: str


# From the most real to the least.
SOURCES = (
    Source("cuda/memory_timelines.json", "it was measured on a GPU"),
    Source("cpu/memory_timelines.json", "it is the full size, measured on a CPU"),
    Source("quick/memory_timelines.json", "it was measured, at 1/8 width"),
    Source("plans/linear-stack.json", "it is predicted"),
)


def folder(data: Path, source: str, size: str, implementation: str) -> Path:
    """Where a run belongs: data/cuda, data/cpu or data/quick; other than for-loop in a folder of its own in there."""
    where = data / ("quick" if size == "quick" else source)
    return where if implementation == "for-loop" else where / implementation


def select(data: Path) -> str:
    """Makes the most real run present the one that the article shows. Returns a sentence that says which, and why.

    Raises:
        ContractError: there is none, or the most real one breaks the contract; then nothing is changed.
    """
    present = [source for source in SOURCES if (data / source.path).exists()]
    if not present:
        raise contract.ContractError(f"{data}: holds no run; run `timelines run`")
    chosen = present[0]
    contract.write(data / contract.FILE_NAME, contract.read(data / chosen.path))
    missing = ", ".join(s.path.split("/")[0] for s in SOURCES[: SOURCES.index(chosen)])
    without = f"; there is no run in {missing}" if missing else ""
    return f"the article now shows {chosen.path}: {chosen.reason}{without}"
