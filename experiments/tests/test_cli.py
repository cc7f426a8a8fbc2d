import subprocess
import sys
from pathlib import Path

import commands
import pytest
from timeline_documents import document

from timelines import contract, headline, sources

EXPERIMENTS = Path(__file__).parents[1]


def test_check_accepts_and_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    contract.write(good, document())
    bad.write_text(contract.dumps({**document(), "categories": []}))
    assert commands.run(monkeypatch, "check", str(good)) == 0
    assert capsys.readouterr().out == f"{good}: follows the contract\n"
    assert commands.run(monkeypatch, "check", str(bad)) == 2
    assert capsys.readouterr().err.startswith(f"timelines: error: {bad}: categories: ")


def test_run_files_the_data_and_says_what_the_article_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    from test_headline import TINY

    monkeypatch.setitem(headline.SIZES, "quick", TINY.stack)
    assert commands.run(monkeypatch, "run", "--device", "cpu", "--data", str(tmp_path)) == 0
    assert capsys.readouterr().out.endswith(
        "wrote data/quick\nthe article now shows quick/memory_timelines.json: it was measured, at 1/8 width; "
        "there is no run in cuda, cpu\n"
    )
    shown = contract.read(tmp_path / contract.FILE_NAME)
    assert shown == contract.read(tmp_path / "quick" / contract.FILE_NAME)
    assert shown["environment"]["command"] == (
        "python experiments/backprop.py data/quick --size quick --optimizer-impl for-loop"
    )
    assert (
        commands.run(monkeypatch, "run", "--optimizer-impl", "fused", "--device", "cpu", "--data", str(tmp_path)) == 0
    )
    assert "wrote data/quick/fused\n" in capsys.readouterr().out
    assert contract.read(tmp_path / contract.FILE_NAME) == shown


def test_run_refuses_an_unknown_device(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    assert commands.run(monkeypatch, "run", "--device", "abacus") == 2
    assert capsys.readouterr().err == ("timelines: error: unknown device 'abacus'; choose auto, cpu, cuda or cuda:N\n")


def test_check_needs_no_torch(tmp_path: Path):
    contract.write(tmp_path / "good.json", document())
    code = "import sys; sys.modules['torch'] = None; sys.argv[0] = 'timelines'; from timelines.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "check", str(tmp_path / "good.json")],
        cwd=EXPERIMENTS,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_the_committed_data_follows_the_contract():
    files = [sources.DATA / contract.FILE_NAME, *sources.DATA.glob("*/**/memory_timelines.json")]
    assert len(files) >= 3
    for file in files:
        contract.read(file)
