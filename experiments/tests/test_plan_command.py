import json
from pathlib import Path
from typing import Any

import commands
import pytest

from timelines import contract, optimizers, plan, plan_command
from workloads import transformer

PERCEPTRON = "user_models:perceptron"
CANNOT = (
    "; values are not known without running, so replace .item(), `if tensor:` and custom kernels there, "
    "or measure the model on a device"
)


def _plan(*arguments: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert commands.run(monkeypatch, "plan", *arguments, "--json") == 0
    return json.loads(capsys.readouterr().out)


def _peak(batch: int, mode: str) -> int:
    workload = plan_command.Model(PERCEPTRON, batch, None, "float32", False).workload()
    return plan.predict(workload, optimizers.parse("AdamW"), mode, plan_command.gpus.DEFAULT).recording.peak().nbytes


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["gtp2"],
            "unknown target 'gtp2'; choose linear-stack, gpt2-small, gpt2-medium, gpt2-large, gpt2-xl, megatron-8.3b, "
            "vit-b-16, vit-l-16, resnet-50, the path of a config.json, or package.module:function",
        ),
        (
            ["linear-stack", "--bogus"],
            "No such option: --bogus (Possible options: --gpu, --out); timelines plan --help",
        ),
        (["linear-stack", "--mode", "x"], "Invalid value for '--mode': "),
        (["linear-stack", "--batch", "many"], "Invalid value for '--batch': "),
        ([], "Missing argument 'target'; timelines plan --help lists what there is"),
        (["linear-stack", "--batch", "0"], "--batch 0: must be at least 1"),
        (["gpt2-small", "--seq-len", "-1"], "--seq-len -1: must be at least 1"),
        (["linear-stack", "--seq-len", "8"], "--seq-len 8: linear-stack reads no sequence of tokens; leave it out"),
        (["gpt2-small", "--seq-len", "2000"], "--seq-len 2000: gpt2-small reads at most 1024 tokens"),
        (
            ["linear-stack", "--dtype", "float8"],
            "unknown dtype 'float8'; choose one of float32, bfloat16, float16, bfloat16-autocast",
        ),
        (["linear-stack", "--optimizer", "Magic"], "unknown optimizer 'Magic'; choose one of ASGD, Adadelta, "),
        (
            ["linear-stack", "--optimizer-impl", "quick"],
            "unknown optimizer implementation 'quick'; choose for-loop, foreach, fused",
        ),
        (["linear-stack", "--set", "speed=3"], "'speed=3' is no setting of AdamW; write key=value with a key of lr, "),
        (
            ["linear-stack", "--set", "lr=fast"],
            "'fast' is no value for lr; write a number, a tuple, True, False or None",
        ),
        (["linear-stack", "--set", "lr=-1"], "AdamW refuses these settings or parameters: Invalid learning rate: -1"),
        (["linear-stack", "--gpu", "abacus"], "unknown GPU 'abacus'; choose one of t4, v100-32gb, "),
        (
            ["linear-stack", "--memory", "24"],
            "'24' is no size of memory; write a number and its unit, such as 24GB or 24GiB",
        ),
        (
            ["linear-stack", "--memory", "0GB"],
            "'0GB' is no size of memory; write a number and its unit, such as 24GB or 24GiB",
        ),
        (
            ["linear-stack", "--find-batch"],
            "--find-batch needs to know what must suffice; add --memory or --gpu",
        ),
        (
            ["linear-stack", "--mode", "default", "--out", "x.json"],
            "--out and --report show both modes; leave out --mode",
        ),
        (
            ["linear-stack", "--checkpoint-activations"],
            "Sequential cannot checkpoint its activations: leave out --checkpoint-activations, or give the model an "
            "attribute `checkpointed` that its forward() heeds",
        ),
        (["no_such_module:f"], "no_such_module:f: cannot import no_such_module: ModuleNotFoundError: "),
        (["user_models:nothing"], "user_models:nothing: user_models has no function nothing"),
        (
            ["user_models:two_things"],
            "user_models:two_things: must return (model, batch, loss_fn), not a tuple of 2",
        ),
        (["missing.json"], "missing.json: cannot be read: No such file or directory"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(
    arguments: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert commands.run(monkeypatch, "plan", *arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"timelines: error: {sentence}")
    assert said.err.count("\n") == 1


def test_a_config_without_architectures_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    config = tmp_path / "config.json"
    config.write_text('{"model_type": "llama"}')
    assert commands.run(monkeypatch, "plan", str(config)) == 2
    assert capsys.readouterr().err == (
        f'timelines: error: {config}: has no "architectures"; add the class to train, such as ["LlamaForCausalLM"]\n'
    )


@pytest.mark.parametrize(
    ("function", "where"),
    [
        ("reads_a_value", "in module '1', at aten._local_scalar_dense.default, "),
        ("branches", "in module '1', at aten._local_scalar_dense.default, "),
        ("calls_a_kernel", "in module '1', at user_models.kernel.default, "),
    ],
)
def test_a_model_that_needs_values_says_where(
    function: str, where: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    assert commands.run(monkeypatch, "plan", f"user_models:{function}", "--optimizer", "SGD") == 2
    error = capsys.readouterr().err
    assert error.startswith(f"timelines: error: this model cannot be planned: {where}fake tensors cannot go on (")
    assert error.endswith(f"{CANNOT}\n")
    assert error.count("\n") == 1


def test_an_optimizer_that_needs_values_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    assert commands.run(monkeypatch, "plan", PERCEPTRON, "--optimizer", "user_models:ReadingSGD") == 2
    assert capsys.readouterr().err == (
        "timelines: error: ReadingSGD cannot be planned: its update cannot go on with fake tensors "
        "(DataDependentOutputException: aten._local_scalar_dense.default); plan another optimizer, or measure this one "
        "on a device\n"
    )


def test_json_holds_the_plans_figures(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    said = _plan(PERCEPTRON, "--batch", "8", "--memory", "1MB", monkeypatch=monkeypatch, capsys=capsys)
    assert said["capacity_bytes"] == 10**6
    assert list(said["modes"]) == list(contract.MODES)
    for mode, figures in said["modes"].items():
        assert figures["peak_bytes"] == _peak(8, mode) == sum(figures["by_category"].values())
        assert figures["fits"] == (figures["peak_bytes"] <= 10**6)
        assert figures["floor_bytes"] <= figures["peak_bytes"]
        assert figures["largest"][0]["shape"]
    assert len(said["conclusions"]) == 4


@pytest.mark.parametrize("mode", contract.MODES)
def test_one_mode_alone(mode: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    said = _plan(PERCEPTRON, "--mode", mode, monkeypatch=monkeypatch, capsys=capsys)
    assert list(said["modes"]) == [mode]
    assert not any("saves" in sentence for sentence in said["conclusions"])


def test_the_largest_batch_is_that_of_trying_them_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    capacity = 700_000
    said = _plan(PERCEPTRON, "--memory", f"{capacity / 1e6}MB", "--find-batch", monkeypatch=monkeypatch, capsys=capsys)
    for mode in contract.MODES:
        batch = said["found"]["largest batch"][mode]
        assert batch > 1
        assert _peak(batch, mode) <= capacity < _peak(batch + 1, mode)
    assert "longest sequence" not in said["found"]


def test_the_longest_sequence_ends_where_the_model_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setitem(transformer.SIZES, "gpt2-small", (1, 1, 8))
    monkeypatch.setattr(plan_command, "_LARGEST", 1 << 11)  # longer than the context of 1,024 tokens
    said = _plan("gpt2-small", "--memory", "80GB", "--find-batch", monkeypatch=monkeypatch, capsys=capsys)
    assert said["found"]["longest sequence"] == dict.fromkeys(contract.MODES, 1024)
    assert all(1 < batch < 1 << 11 for batch in said["found"]["largest batch"].values())


def test_out_and_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    out, report = tmp_path / "plan.json", tmp_path / "plan.html"
    arguments = ("plan", PERCEPTRON, "--gpu", "rtx-4090", "--out", str(out), "--report", str(report))
    assert commands.run(monkeypatch, *arguments) == 0
    said = capsys.readouterr().out
    assert said.endswith(f"wrote {out}\nwrote {report}\n")
    assert "nothing was run" in said
    document = contract.read(out)
    assert document["environment"]["source"] == "simulated"
    assert document["environment"]["device"] == "rtx-4090: sizes predicted, times estimated"
    assert str(tmp_path) not in document["environment"]["command"]
    assert document["default"]["step_ms"] is None
    assert "://" not in report.read_text().replace("http://www.w3.org", "")  # self-contained


def test_a_file_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    out = tmp_path / "taken"
    out.mkdir()
    assert commands.run(monkeypatch, "plan", PERCEPTRON, "--out", str(out)) == 2
    assert capsys.readouterr().err == f"timelines: error: cannot write {out} (Is a directory); name another file\n"
