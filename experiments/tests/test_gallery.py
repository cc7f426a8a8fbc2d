import json
from pathlib import Path
from typing import Any

import commands
import pytest
from hypothesis import given
from hypothesis import strategies as st

from timelines import contract, gallery, published, sources

PLANS = sources.DATA / "plans"


@st.composite
def timelines(draw: st.DrawFn) -> dict[str, Any]:
    n = draw(st.integers(1, 60))
    times = sorted(draw(st.sets(st.integers(1, 10_000), min_size=n, max_size=n)))
    column = st.lists(st.integers(0, 50).map(lambda gb: gb / 10), min_size=n, max_size=n)
    columns = [draw(column) for _ in range(3)]
    totals = [sum(values) for values in zip(*columns, strict=True)]
    peak = max(totals)
    return {
        "t": times,
        "gb": columns,
        "end_t": times[-1] + 1,
        "peak_gb": peak,
        "peak_t": times[totals.index(peak)],
    }


@given(timeline=timelines(), windows=st.integers(1, 20))
def test_reducing_keeps_what_a_picture_could_show(timeline: dict[str, Any], windows: int):
    reduced = gallery.reduce(timeline, windows)
    samples = dict(zip(timeline["t"], zip(*timeline["gb"], strict=True), strict=True))
    kept = dict(zip(reduced["t"], zip(*reduced["gb"], strict=True), strict=True))
    assert kept.items() <= samples.items()  # none is made up
    assert list(kept) == sorted(kept)
    assert len(kept) <= max(2 * windows + 5, 0)
    assert max(map(sum, kept.values())) == timeline["peak_gb"]
    assert timeline["peak_t"] in kept
    assert [max(column) for column in reduced["gb"]] == [max(column) for column in timeline["gb"]]

    def most(of: dict[int, Any]) -> dict[int, float]:
        windowed: dict[int, float] = {}
        for time, values in of.items():
            window = int(time / timeline["end_t"] * windows)
            windowed[window] = max(windowed.get(window, 0), sum(values))
        return windowed

    assert most(kept) == most(samples)


def test_each_entry_has_its_file_and_its_command():
    assert {path.stem for path in PLANS.glob("*.json")} == {*gallery.GALLERY, "published", "ladder"}
    for name, entry in gallery.GALLERY.items():
        document = contract.read(PLANS / f"{name}.json")
        assert document["environment"]["source"] == "simulated"
        assert document["environment"]["command"] == entry.command(f"data/plans/{name}.json")
        assert document["workload"]["dtype"] == entry.dtype


def test_one_of_them_gains_nothing_and_most_gain_much():
    saved = {}
    for name in gallery.GALLERY:
        document = contract.read(PLANS / f"{name}.json")
        saved[name] = 1 - document["backprop"]["peak_gb"] / document["default"]["peak_gb"]
    assert saved["resnet-50"] < 0.01
    assert saved["llama-3-8b"] > 0.15


def test_plans_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    assert commands.run(monkeypatch, "plans", "linear-stack", "--data", str(tmp_path)) == 0
    assert capsys.readouterr().out == "linear-stack: BackProp saves 2.15 GB, 16.5 % of the peak.\n"
    again, committed = (contract.read(path / "linear-stack.json") for path in (tmp_path / "plans", PLANS))
    for mode in contract.MODES:
        assert again[mode]["peak_gb"] == committed[mode]["peak_gb"]
        assert again[mode]["gb"] == committed[mode]["gb"]
    assert [path.name for path in (tmp_path / "plans").iterdir()] == ["linear-stack.json"]  # the rest with all only
    assert not (tmp_path / "simulated").exists()


@pytest.mark.parametrize("place", gallery.SIMULATED)
def test_the_headline_is_filed_like_a_run(place: str):
    document = contract.read(sources.DATA / place / contract.FILE_NAME)
    entry = gallery.SIMULATED[place]
    assert document["environment"]["source"] == "simulated"
    assert document["environment"]["command"] == entry.command(f"data/{place}/{contract.FILE_NAME}")
    assert document["workload"]["optimizer"]["implementation"] == entry.implementation


def test_simulated_runs_are_made_again(tmp_path: Path):
    gallery.make_simulated(tmp_path)
    for place in gallery.SIMULATED:
        again, committed = (contract.read(data / place / contract.FILE_NAME) for data in (tmp_path, sources.DATA))
        assert [again[mode]["gb"] for mode in contract.MODES] == [committed[mode]["gb"] for mode in contract.MODES]


def test_an_unknown_plan_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    assert commands.run(monkeypatch, "plans", "gpt-5") == 2
    assert capsys.readouterr().err == (
        f"timelines: error: unknown plan 'gpt-5'; choose from {', '.join(gallery.GALLERY)}\n"
    )


def test_published_figures_and_ours():
    rows = json.loads((PLANS / "published.json").read_text())
    assert len(rows) == 12
    for row in rows:
        assert set(row) == {"what", "published", "ours", "difference", "unit", "source", "why"}
        assert row["unit"] in published._UNITS
        assert row["difference"] == round(row["ours"] - row["published"], 2)
        assert row["source"].startswith("https://")
        assert row["why"]
        if not row["what"].startswith("Llama-2-7B"):  # whose setting is not known
            assert abs(row["difference"]) <= 0.03 * row["published"]
