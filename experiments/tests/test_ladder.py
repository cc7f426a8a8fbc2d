import json
import sys
from dataclasses import replace
from pathlib import Path

import commands
import pytest

from timelines import contract, gallery, ladder, sources
from timelines.errors import UsageError

SMALL = {
    what: replace(entry, target="gpt2-small", seq_len=64, batch=1, dtype="float32")
    for what, entry in ladder.RUNGS.items()
}


def test_every_rung_is_lower_or_as_high_and_backprop_below_the_plain_loop():
    found = json.loads((sources.DATA / "plans" / ladder.NAME).read_text())
    assert [rung["what"] for rung in found["rungs"]] == list(ladder.RUNGS)
    for mode in contract.MODES:
        peaks = [rung[mode] for rung in found["rungs"]]
        assert peaks == sorted(peaks, reverse=True)
    assert all(rung["backprop"] < rung["default"] for rung in found["rungs"])
    assert found["environment"]["source"] == "simulated"
    assert (found["batch_size"], found["seq_len"], found["dtype"]) == (1, 2048, "bfloat16")


def test_a_rung_says_how_to_plan_it_and_is_what_that_plans(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(ladder, "RUNGS", SMALL)
    monkeypatch.chdir(Path(__file__).parents[2])
    ladder.write(tmp_path)
    assert capsys.readouterr().out.count("with BackProp") == len(SMALL)
    for rung in json.loads((tmp_path / ladder.NAME).read_text())["rungs"]:
        assert commands.run(monkeypatch, "plan", *rung["setting"].split(), "--out", str(tmp_path / "plan.json")) == 0
        planned = contract.read(tmp_path / "plan.json")
        assert {mode: planned[mode]["peak_gb"] for mode in contract.MODES} == {m: rung[m] for m in contract.MODES}


def test_without_bitsandbytes_the_sentence_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    eight_bit = {what: entry for what, entry in SMALL.items() if "bitsandbytes" in entry.optimizer}
    monkeypatch.setattr(ladder, "RUNGS", eight_bit)
    monkeypatch.setitem(sys.modules, "bitsandbytes.optim", None)
    with pytest.raises(UsageError, match="bitsandbytes"):
        ladder.write(tmp_path)
    assert not (tmp_path / ladder.NAME).exists()


def test_the_model_is_one_of_the_gallery():
    assert ladder._MODEL.target in gallery.GALLERY
