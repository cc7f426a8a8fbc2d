import io
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from timelines import plan_table
from timelines.categories import CATEGORIES
from timelines.recorder import Moment, Storage
from timelines.recording import Peak

GB = 10**9
IN_BACKWARD = Moment("head", "aten.mm.default", "backward")
IN_WALK = Moment("", "aten.add.Tensor", "the walk inside optimizer step")


def _plan(moment: Moment, floor: int, foreign: int = 0, **by_category: int) -> Any:
    held = {**dict.fromkeys(CATEGORIES, 0), **by_category}
    weight = Storage(by_category["PARAMETER"], (3, 4), "bfloat16", "head.weight", "", "PARAMETER")
    peak = Peak(sum(held.values()), 1.0, held, moment, [("PARAMETER", weight)])
    return SimpleNamespace(recording=SimpleNamespace(peak=lambda: peak, floor=lambda: floor, foreign_bytes=foreign))


def _two(default: dict[str, int], backprop: dict[str, int], floor: int = 8 * GB) -> dict[str, Any]:
    return {"default": _plan(IN_BACKWARD, 0, **default), "backprop": _plan(IN_WALK, floor, **backprop)}


SAVING = _two({"PARAMETER": 8 * GB, "GRADIENT": 2 * GB}, {"PARAMETER": 8 * GB, "GRADIENT": GB // 10})


@pytest.mark.parametrize(
    ("plans", "capacity", "sentences"),
    [
        (
            SAVING,
            9 * GB,
            [
                "BackProp saves 1.90 GB, 19.0 % of the peak.",
                "The floor (parameters, optimizer state, and the largest moment of activations and one gradient) is "
                "8.00 GB; backprop is 1.25 % above it.",
                "default does not fit in 9.00 GB: 1.00 GB too much.",
                "backprop fits in 9.00 GB with 0.90 GB to spare, which CUDA's context, libraries and fragmentation "
                "share.",
            ],
        ),
        ({"default": SAVING["default"]}, None, []),
        (
            # A few bytes more, as rounding to the allocator's blocks can make it.
            _two({"PARAMETER": 8 * GB}, {"PARAMETER": 7 * GB, "ACTIVATION": GB, "TEMPORARY": 512}, 8 * GB + 512),
            None,
            [
                "BackProp saves nothing worth having here (-0.5 kB): with it the peak is in the walk inside optimizer "
                "step, at aten.add.Tensor, where activations, their gradients and temporaries take 1.00 GB. What "
                "lowers that is checkpointed activations, a smaller batch or a shorter sequence.",
                "The floor (parameters, optimizer state, and the largest moment of activations and one gradient) is "
                "8.00 GB; backprop is 0.00 % above it.",
            ],
        ),
    ],
)
def test_what_the_figures_mean(plans: dict[str, Any], capacity: int | None, sentences: list[str]):
    assert plan_table.conclusions(plans, capacity) == sentences


def _shown(plans: dict[str, Any]) -> str:
    text = io.StringIO()
    plan_table.show(Console(file=text, soft_wrap=True, width=200), plans, "a title", None)
    return text.getvalue()


def test_the_table_adds_up_and_the_peaks_are_explained():
    text = _shown(SAVING)
    assert "a title" in text
    assert "gradients       │  2.0000 │   0.1000" in text
    assert "all             │ 10.0000 │   8.1000" in text
    assert (
        "default peaks in backward, module head, at aten.mm.default; largest there: parameters 3 x 4 bfloat16 "
        "(8.00 GB, head.weight)." in text
    )


@pytest.mark.parametrize(("nbytes", "amount"), [(GB // 2, "0.50 GB"), (20_000_000, "20.0 MB"), (100, "0.1 kB")])
def test_what_belongs_to_nobody_is_shown_apart(nbytes: int, amount: str):
    sentence = "more was there before the step and is neither the model's nor the optimizer's; it is not counted."
    assert f"default: {amount} {sentence}" in _shown({"default": _plan(IN_BACKWARD, 0, nbytes, PARAMETER=GB)})
    assert sentence not in _shown({"default": _plan(IN_BACKWARD, 0, PARAMETER=GB)})
