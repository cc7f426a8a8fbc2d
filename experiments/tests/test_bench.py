"""The benchmark on tiny models: every contestant steps, the exact ones exactly, and the document is complete."""

import importlib
import json
from dataclasses import replace
from typing import Any

import commands
import pytest
import torch

from timelines import devices, fresh
from timelines.bench import clipping, command, document, memory, models, peers
from timelines.bench.loops import OURS, REFERENCE, SUBJECT, Trainer
from timelines.bench.race import Lap, Outcome, Settings, race
from timelines.errors import UsageError

CPU = torch.device("cpu")
TINY = models.Encoder(layers=1, width=8, tokens=4)
FAST = Settings(rounds=6, seconds=0)
TORCH_ALONE = {name: peers.PEERS[name] for name in ("torch helper", "tutorial", "seed")}


def weights(make, optimizer, workload=TINY):
    trainer = Trainer(workload, make, models.OPTIMIZERS[optimizer], CPU)
    for _ in range(3):
        trainer()
    return [parameter.detach().clone() for parameter in trainer.parameters]


def test_the_small_tensors_are_290():
    assert len(list(models.MODELS["small-tensors"].model(torch.device("meta")).parameters())) == 290


def test_the_models_are_the_quick_ones_too():
    assert list(models.QUICK) == list(models.MODELS)
    assert list(models.QUICK_GROWTH) == list(models.GROWTH)
    assert [shape.layers for shape in models.GROWTH["layers"]] == [6, 24, 96, 384]


# torch.distributed.optim, which has _apply_optimizer_in_backward, still uses torch.jit.
@pytest.mark.filterwarnings("ignore:.torch.jit.*is deprecated:DeprecationWarning")
@pytest.mark.parametrize("optimizer", models.OPTIMIZERS)
@pytest.mark.parametrize("workload", models.QUICK.values(), ids=models.QUICK)
def test_peers_of_torch_alone_and_fused_backprop_equal_the_plain_loop(workload, optimizer):
    plain = weights(OURS[REFERENCE], optimizer, workload)
    assert not torch.equal(plain[0], workload.model(CPU).get_parameter(next(iter(workload.model(CPU).state_dict()))))
    for name, make in {SUBJECT: OURS[SUBJECT], **TORCH_ALONE}.items():
        ours = weights(make, optimizer, workload)
        assert all(torch.equal(a, b) for a, b in zip(plain, ours, strict=True)), name


@pytest.mark.parametrize("implementation", ["for-loop", "foreach"])
def test_each_implementation_equals_its_plain_loop(implementation):
    plain, ours = (weights(OURS[f"{name} {implementation}"], "adamw") for name in ("plain", "backprop"))
    assert all(torch.equal(a, b) for a, b in zip(plain, ours, strict=True))


def test_optimi_trains_by_gradient_release():
    before = [parameter.detach().clone() for parameter in TINY.model(CPU).parameters()]
    after = weights(peers.optimi, "sgd")
    assert not any(torch.equal(a, b) for a, b in zip(before, after, strict=True) if a.ndim == 2)
    assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(after, weights(OURS[REFERENCE], "sgd"), strict=True))


def missing(model, choice) -> Any:
    importlib.import_module("no_such_package")


def test_a_peer_that_cannot_run_is_listed_with_the_reason():
    contestants = {name: OURS[name] for name in (REFERENCE, SUBJECT)} | {"peer": missing}
    outcome = race(TINY, models.OPTIMIZERS["adamw"], contestants, FAST)
    assert list(outcome) == list(contestants)
    assert outcome["peer"] == "ModuleNotFoundError: No module named 'no_such_package'"
    memories: dict[str, memory.Memory | str] = {REFERENCE: here(REFERENCE), SUBJECT: here(SUBJECT), "peer": "not tried"}
    assert document.rows(outcome, memories)[2] == {"contestant": "peer", "reason": outcome["peer"]}


def test_a_peer_that_fails_while_it_trains_is_listed_too():
    def failing(model, choice):
        loop = OURS[REFERENCE](model, choice)
        return replace(loop, update=lambda: 1 / 0)

    contestants = {name: OURS[name] for name in (REFERENCE, SUBJECT)} | {"peer": failing}
    assert race(TINY, models.OPTIMIZERS["sgd"], contestants, FAST)["peer"] == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize("name", [REFERENCE, SUBJECT])
def test_nothing_is_compared_without_those_that_all_are_compared_with(name):
    contestants = {**{name: OURS[name] for name in (REFERENCE, SUBJECT)}, name: missing}
    with pytest.raises(UsageError) as refused:
        race(TINY, models.OPTIMIZERS["adamw"], contestants, FAST)
    assert str(refused.value) == (
        f"nothing can be compared: {name} does not run here (ModuleNotFoundError: No module named 'no_such_package')"
    )


def test_clipping_is_not_timed_without_all_of_its_steps(monkeypatch):
    monkeypatch.setitem(clipping.STEPS, "forward", missing)
    with pytest.raises(UsageError) as refused:
        clipping.cost(TINY, models.OPTIMIZERS["adamw"], FAST)
    assert str(refused.value) == (
        "clipping cannot be timed: forward does not run here (ModuleNotFoundError: No module named 'no_such_package')"
    )


def test_rounds_pair_each_step_with_those_of_the_two_that_all_heats_share(monkeypatch):
    monkeypatch.setattr(devices, "free_bytes", lambda device: 1)  # so that each other contestant has a heat of its own
    names = (REFERENCE, "plain foreach", SUBJECT, "backprop foreach")
    outcome = race(TINY, models.OPTIMIZERS["adamw"], {name: OURS[name] for name in names}, FAST)
    assert list(outcome) == list(names)
    laps = [lap for lap in outcome.values() if isinstance(lap, Lap)]
    assert [len(lap.times) for lap in laps] == [12, 6, 12, 6]
    assert all(len(lap.times) == len(lap.reference) == len(lap.subject) for lap in laps)
    assert laps[0].times == laps[0].reference
    assert laps[2].times == laps[2].subject
    assert laps[1].reference + laps[3].reference == pytest.approx(laps[0].times)


def here(name):
    return memory.measure_here(TINY, OURS[name], models.OPTIMIZERS["adamw"], CPU, torch.get_num_threads())


def test_memory_tells_the_gradients_apart():
    plain, ours = (
        here(REFERENCE),
        memory.measure_here(TINY, peers.tutorial, models.OPTIMIZERS["adamw"], CPU, torch.get_num_threads()),
    )
    assert plain.weights == ours.weights
    assert plain.peak > ours.peak
    assert plain.rss_peak_gb is None or plain.rss_peak_gb > 0


def test_memory_in_a_fresh_process_is_that_of_this_one():
    fresh = memory.measure_in_fresh_process(TINY, SUBJECT, models.OPTIMIZERS["adamw"], CPU, 1)
    assert isinstance(fresh, memory.Memory)
    assert (fresh.peak, fresh.weights) == (here(SUBJECT).peak, here(SUBJECT).weights)


def test_a_process_that_fails_gives_its_reason():
    found = memory.measure_in_fresh_process(TINY, "nobody", models.OPTIMIZERS["adamw"], CPU, 1)
    assert found == "KeyError: 'nobody'"


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        ("races", "small-tensors, adamw cannot be raced: killed"),
        ("clipping", "clipping of small-tensors cannot be timed: killed"),
    ],
)
def test_what_dies_in_its_process_is_told_in_a_sentence(bench, monkeypatch, part, sentence):
    monkeypatch.setattr(fresh, "call", lambda *_: "killed")
    status, printed = bench(part, "--quick", "--optimizer", "adamw")
    assert status == 2
    assert printed.err.endswith(f"timelines: error: {sentence}\n")


def test_one_heat_whatever_memory_it_takes(monkeypatch):
    monkeypatch.setattr(devices, "free_bytes", lambda device: 1)
    names = (REFERENCE, "plain foreach", SUBJECT, "backprop foreach")
    contestants = {name: OURS[name] for name in names}
    outcome = race(TINY, models.OPTIMIZERS["adamw"], contestants, FAST, together=True)
    assert {len(lap.times) for lap in outcome.values() if isinstance(lap, Lap)} == {6}


def test_weights_are_said_to_be_those_of_every_equal_plain_loop():
    outcome: Outcome = {
        name: Lap([2.0, 4.0], [1.0, 2.0], [1.0, 2.0]) for name in ("plain for-loop", REFERENCE, SUBJECT)
    }
    memories: dict[str, memory.Memory | str] = {
        "plain for-loop": memory.Memory(10, 8, None, "a"),
        REFERENCE: memory.Memory(10, 7, None, "b"),
        SUBJECT: memory.Memory(9, 8, 0.5, "b"),
    }
    first, second, third = document.rows(outcome, memories)
    assert [row["same_weights_as"] for row in (first, second, third)] == [["plain for-loop"], [REFERENCE], [REFERENCE]]
    assert third["floor_bytes"] == 7
    assert third["over_plain"]["median"] == 2.0
    assert third["backprop_over"]["median"] == 0.5
    assert (third["step_ms"]["median"], third["rounds"], third["rss_peak_gb"]) == (3.0, 2, 0.5)


def test_versions_of_peers_and_none_of_those_not_installed(monkeypatch):
    monkeypatch.setattr(document, "PACKAGES", ("torch", "no-such-package"))
    assert document.versions() == {"torch": torch.__version__, "no-such-package": None}


def test_clipping_is_told_in_walks():
    found = clipping.cost(TINY, models.OPTIMIZERS["adamw"], FAST)
    assert {"plain clipped", "backprop clipped", REFERENCE, SUBJECT} <= set(found["step_ms"])
    assert found["added_walks"]["median"] > 0


@pytest.fixture
def tiny(monkeypatch):
    two = {name: OURS[name] for name in (REFERENCE, SUBJECT)}
    monkeypatch.setattr(command, "CONTESTANTS", two)
    monkeypatch.setattr(command, "_GROWING", two)
    monkeypatch.setattr(models, "QUICK", {"small-tensors": TINY})
    monkeypatch.setattr(models, "MODELS", {"small-tensors": TINY})
    monkeypatch.setattr(models, "QUICK_GROWTH", {"layers": [TINY]})


@pytest.fixture
def bench(monkeypatch, tmp_path, capsys):
    threads = str(torch.get_num_threads())

    def run(*arguments):
        settings = ("--rounds", "6", "--seconds", "0", "--threads", threads, "--data", str(tmp_path))
        return commands.run(monkeypatch, "bench", *arguments, *settings), capsys.readouterr()

    return run


@pytest.mark.usefixtures("tiny")
def test_quick_end_to_end(bench, tmp_path):
    status, printed = bench("--quick")
    assert status == 0
    folder = tmp_path / "quick" / "benchmarks" / "cpu"
    written = ["small-tensors-adamw.json", "small-tensors-sgd.json", "growth.json", "clipping.json"]
    assert sorted(path.name for path in folder.iterdir()) == sorted(written)
    assert [line for line in printed.out.splitlines() if line.startswith("wrote")] == [
        f"wrote {folder / name}" for name in written
    ]
    assert "small-tensors, adamw" in printed.out
    assert "left]" in printed.err
    for name in written:
        found = json.loads((folder / name).read_text())
        assert {"device", "torch", "command", "commit", "peers", "threads"} <= set(found["environment"])
        assert found["environment"]["command"].startswith("timelines bench --quick --dtype float32 --rounds 6")
        assert set(found["settings"]) == {"rounds_at_most", "seconds_a_race", "warmup"}
        assert found["optimizer"]["implementation"] == "fused"
    found = json.loads((folder / written[1]).read_text())
    assert (found["model"]["name"], found["optimizer"]["name"]) == ("small-tensors", "SGD")
    assert [row["contestant"] for row in found["results"]] == [REFERENCE, SUBJECT]
    assert all(row["same_weights_as"] == [REFERENCE] for row in found["results"])
    assert all(row["peak_bytes"] >= row["floor_bytes"] for row in found["results"])
    grown = json.loads((folder / "growth.json").read_text())["growth"]
    assert [(row["along"], row["size"], row["contestant"]) for row in grown] == [
        ("layers", 1, REFERENCE),
        ("layers", 1, SUBJECT),
    ]


@pytest.mark.usefixtures("tiny")
def test_a_part_for_one_optimizer_files_that_alone(bench, tmp_path):
    status, _ = bench("races", "--quick", "--optimizer", "sgd")
    assert status == 0
    assert [path.name for path in tmp_path.rglob("*.json")] == ["small-tensors-sgd.json"]


@pytest.mark.usefixtures("tiny")
def test_another_dtype_has_a_folder_of_its_own(bench, tmp_path):
    status, _ = bench("races", "--quick", "--optimizer", "adamw", "--dtype", "bfloat16")
    assert status == 0
    found = json.loads((tmp_path / "quick" / "benchmarks" / "cpu-bfloat16" / "small-tensors-adamw.json").read_text())
    assert found["model"]["dtype"] == "bfloat16"
    plain, ours = found["results"]
    assert plain["same_weights_as"] == ours["same_weights_as"] == [REFERENCE]
    assert ours["peak_bytes"] < here(SUBJECT).peak  # of the same in float32
    assert ours["cuda_mallocs_per_step"] is None


def test_on_a_gpu_the_dtype_is_bfloat16(monkeypatch, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    chosen = command.plan([], [], [], None, False, (6, 0, 1), tmp_path)
    assert (chosen.dtype, chosen.out) == ("bfloat16", tmp_path / "benchmarks" / "cuda-bfloat16")
    assert chosen.command == "timelines bench --dtype bfloat16 --rounds 6 --seconds 0 --threads 1"


@pytest.mark.usefixtures("tiny")
def test_a_run_that_dies_leaves_the_last_file(bench, tmp_path, monkeypatch):
    file = tmp_path / "quick" / "benchmarks" / "cpu" / "clipping.json"
    file.parent.mkdir(parents=True)
    file.write_text("the last one")
    monkeypatch.setattr(fresh, "call", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        bench("clipping", "--quick")
    assert file.read_text() == "the last one"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("speed",), "unknown part 'speed'; choose races, growth, clipping"),
        (
            ("--model", "alexnet"),
            "unknown model 'alexnet'; choose small-tensors, gpt2-small, linear-stack, resnet-50, wide-mlp",
        ),
        (("--optimizer", "lion"), "unknown optimizer 'lion'; choose adamw, sgd"),
        (
            ("--dtype", "int8"),
            "unknown dtype 'int8'; choose one of float32, bfloat16, float16, bfloat16-autocast",
        ),
    ],
)
def test_unknown_names_get_a_sentence(bench, arguments, sentence):
    status, printed = bench(*arguments)
    assert status == 2
    assert printed.err == f"timelines: error: {sentence}\n"


def test_a_folder_that_cannot_be_written_gets_a_sentence(bench, tmp_path, tiny):
    (tmp_path / "quick").write_text("a file")
    status, printed = bench("races", "--quick", "--optimizer", "sgd")
    assert status == 2
    assert "timelines: error: cannot write to the folder" in printed.err
