"""What a recorder has seen, as a timeline and as an explanation of its peak."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from timelines import contract
from timelines.categories import CATEGORIES
from timelines.recorder import Moment, Recorder, Storage


@dataclass(frozen=True)
class Peak:
    """The moment of most memory: bytes by category, when (ms), what ran, and the ten largest tensors alive."""

    nbytes: int
    ms: float
    by_category: dict[str, int]
    moment: Moment
    largest: list[tuple[str, Storage]]  # category at the peak, storage


class Recording:
    """The result of one recorded step."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.foreign_bytes = sum(nbytes for *_, nbytes in recorder.foreign)

    def changes(self) -> Iterator[contract.Change]:
        """The memory changes, in order."""
        became: set[int] = set()
        for ms, storage, nbytes in self.recorder.log:
            category = storage.became if id(storage) in became and storage.became else storage.category
            if nbytes:
                yield ms, {category: nbytes}
            elif storage.became:
                became.add(id(storage))
                yield ms, {storage.category: -storage.nbytes, storage.became: storage.nbytes}

    def timeline(self, measured: dict[str, Any]) -> dict[str, Any]:
        """One mode's part of memory_timelines.json."""
        return contract.build_timeline(self.changes(), self.recorder.end, self.recorder.phases, measured)

    def peak(self) -> Peak:
        """The moment of most memory."""
        sizes: dict[int, int] = {}
        alive: dict[int, tuple[str, Storage]] = {}
        for _, storage, nbytes in self.recorder.log[: self.recorder.peak_entry + 1]:
            key = id(storage)
            sizes[key] = sizes.get(key, 0) + nbytes
            alive[key] = (storage.category if nbytes or not storage.became else storage.became, storage)
        by_category = dict.fromkeys(CATEGORIES, 0)
        for key, (category, _) in alive.items():
            by_category[category] += sizes[key]
        order = sorted((key for key in alive if sizes[key]), key=lambda key: -sizes[key])
        return Peak(
            nbytes=sum(by_category.values()),
            ms=self.recorder.log[self.recorder.peak_entry][0] if self.recorder.log else 0.0,
            by_category=by_category,
            moment=self.recorder.peak_moment,
            largest=[alive[key] for key in order[:10]],
        )

    def floor(self) -> int:
        """Bytes below which no step could go that keeps its activations.

        The largest moment of all that is not the optimizer's temporary, with only the largest of the gradients alive.
        """
        rest = floor = 0
        gradients: dict[int, int] = {}
        for _, storage, nbytes in self.recorder.log:
            if storage.category == "GRADIENT" and not storage.became:
                gradients[id(storage)] = gradients.get(id(storage), 0) + nbytes
                if not gradients[id(storage)]:
                    del gradients[id(storage)]
            elif not (storage.by_update and storage.category == "TEMPORARY"):
                rest += nbytes
            if nbytes > 0:
                floor = max(floor, rest + max(gradients.values(), default=0))
        return floor
