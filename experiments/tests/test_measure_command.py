"""A model is trained for real, and its plan is the oracle of its peak, to the byte."""

import json
from typing import Any

import commands
import pytest

from timelines import devices, fresh

PERCEPTRON = "user_models:perceptron"


def _measure(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert commands.run(monkeypatch, "measure", *arguments, "--device", "cpu", "--steps", "1", "--json") == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "arguments",
    [
        (PERCEPTRON, "--batch", "8"),
        (
            PERCEPTRON,
            "--dtype",
            "bfloat16",
            "--optimizer",
            "SGD",
            "--set",
            "momentum=0.9",
            "--optimizer-impl",
            "foreach",
        ),
    ],
)
def test_the_measured_peak_is_the_planned_one(monkeypatch, capsys, arguments):
    found = _measure(monkeypatch, capsys, *arguments)
    assert list(found["modes"]) == ["default", "backprop"]
    for figures in found["modes"].values():
        assert figures["peak_bytes"] == figures["planned_peak_bytes"] > 0
        assert figures["step_ms"] > 0
        assert (figures["timed_steps"], figures["cuda_mallocs_per_step"]) == (1, None)
    assert found["model"]["parameters"] > 0
    assert found["environment"]["source"] == "cpu"


def test_a_table_and_a_file(monkeypatch, capsys, tmp_path):
    out = tmp_path / "measured.json"
    status = commands.run(
        monkeypatch, "measure", PERCEPTRON, "--device", "cpu", "--mode", "backprop", "--steps", "2", "--out", str(out)
    )
    assert status == 0
    found = json.loads(out.read_text())
    assert list(found["modes"]) == ["backprop"]
    assert found["environment"]["command"].endswith("--out measured.json")
    printed = capsys.readouterr()
    gigabytes = f"{found['modes']['backprop']['peak_bytes'] / 1e9:.4f}"
    assert printed.out.count(gigabytes) == 2
    assert printed.out.endswith(f"wrote {out}\n")
    assert "backprop: 2 + 2 steps on cpu" in printed.err


def test_a_mode_that_dies_is_told_and_the_other_measured(monkeypatch, capsys):
    def call(function: Any, *arguments: Any) -> Any:
        return "OutOfMemoryError: CUDA out of memory" if "default" in arguments else function(*arguments)

    monkeypatch.setattr(fresh, "call", call)
    assert commands.run(monkeypatch, "measure", PERCEPTRON, "--device", "cpu", "--steps", "1") == 0
    printed = capsys.readouterr().out
    assert "did not run" in printed
    assert printed.endswith("default did not run: OutOfMemoryError: CUDA out of memory\n")


def test_a_model_that_has_no_plan_is_measured_without(monkeypatch, capsys):
    assert commands.run(monkeypatch, "measure", "user_models:branches", "--device", "cpu", "--json") == 0
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert {figures["planned_peak_bytes"] for figures in found["modes"].values()} == {None}
    assert all(figures["peak_bytes"] > 0 for figures in found["modes"].values())
    assert "backprop is measured without a plan: this model cannot be planned: " in printed.err


def test_what_a_cpu_has_no_memory_for_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(devices, "free_bytes", lambda device: 10**9)
    status = commands.run(monkeypatch, "measure", "linear-stack", "--device", "cpu", "--optimizer-impl", "fused")
    assert status == 2
    assert capsys.readouterr().err == (
        "timelines: error: default needs about 13.0 GB by its plan, and 1.0 GB are free here; take a smaller batch, "
        "another device, or --mode with the one that fits\n"
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothing"], "unknown target 'nothing'; choose linear-stack, "),
        ([PERCEPTRON, "--device", "abacus"], "unknown device 'abacus'; choose auto, cpu, cuda or cuda:N"),
        ([PERCEPTRON, "--steps", "0"], "Invalid value for '--steps': "),
        ([PERCEPTRON, "--dtype", "int8"], "unknown dtype 'int8'; choose one of float32, "),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(monkeypatch, capsys, arguments, sentence):
    assert commands.run(monkeypatch, "measure", *arguments) == 2
    assert capsys.readouterr().err.startswith(f"timelines: error: {sentence}")
