"""The benchmark on tiny models: every contestant steps, the exact ones exactly, and the document is complete."""

import json
import sys
from dataclasses import replace

import pytest
import torch

from timelines import cli
from timelines.bench import clipping, command, document, memory, models, peers
from timelines.bench.loops import OURS, REFERENCE, SUBJECT, Trainer
from timelines.bench.race import Lap, Settings, race, reason

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


def missing(model, choice):
    import no_such_package  # noqa: F401  # pyright: ignore


def test_a_peer_that_cannot_run_is_listed_with_the_reason():
    contestants = {name: OURS[name] for name in (REFERENCE, SUBJECT)} | {"peer": missing}
    outcome = race(TINY, models.OPTIMIZERS["adamw"], contestants, FAST)
    assert list(outcome) == list(contestants)
    assert outcome["peer"] == "ModuleNotFoundError: No module named 'no_such_package'"
    memories = {REFERENCE: here(REFERENCE), SUBJECT: here(SUBJECT), "peer": outcome["peer"]}
    assert document.rows(outcome, memories)[2] == {"contestant": "peer", "reason": outcome["peer"]}


def test_a_peer_that_fails_while_it_trains_is_listed_too():
    def failing(model, choice):
        loop = OURS[REFERENCE](model, choice)
        return replace(loop, update=lambda: 1 / 0)

    contestants = {name: OURS[name] for name in (REFERENCE, SUBJECT)} | {"peer": failing}
    assert race(TINY, models.OPTIMIZERS["sgd"], contestants, FAST)["peer"] == "ZeroDivisionError: division by zero"


def test_a_reason_is_one_short_line():
    assert reason(ImportError("\n  not installed.\n  Please\n" + "x" * 300)) == (
        "ImportError: " + ("not installed. Please " + "x" * 300)[:200]
    )


def test_rounds_pair_each_step_with_those_of_the_two_that_all_heats_share(monkeypatch):
    monkeypatch.setattr("timelines.bench.race._HEAT_BYTES", 1)  # so that each other contestant has a heat of its own
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


def test_weights_are_said_to_be_those_of_every_equal_plain_loop():
    outcome = {name: Lap([2.0, 4.0], [1.0, 2.0], [1.0, 2.0]) for name in ("plain for-loop", REFERENCE, SUBJECT)}
    memories = {
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
    def run(*arguments):
        threads = str(torch.get_num_threads())
        settings = ["--rounds", "6", "--seconds", "0", "--threads", threads, "--data", str(tmp_path)]
        monkeypatch.setattr(sys, "argv", ["timelines", "bench", *arguments, *settings])
        status = 0
        try:
            cli.main()
        except SystemExit as stop:
            status = stop.code
        return status, capsys.readouterr()

    return run


@pytest.mark.usefixtures("tiny")
def test_quick_end_to_end(bench, tmp_path):
    status, printed = bench("--quick")
    assert status in (0, None)
    file = tmp_path / "quick" / "benchmarks" / "cpu.json"
    assert f"wrote {file}" in printed.out
    assert "small-tensors, adamw" in printed.out
    assert "left]" in printed.err
    found = json.loads(file.read_text())
    assert set(found) == {
        "environment", "settings", "models", "optimizers", "results", "growth", "clipping"
    }  # fmt: skip
    assert {"device", "torch", "command", "commit", "peers"} <= set(found["environment"])
    assert found["environment"]["command"].startswith("timelines bench --quick --rounds 6")
    assert [(row["optimizer"], row["contestant"]) for row in found["results"]] == [
        (optimizer, name) for optimizer in models.OPTIMIZERS for name in (REFERENCE, SUBJECT)
    ]
    assert all(row["same_weights_as"] == [REFERENCE] for row in found["results"])
    assert all(row["peak_bytes"] >= row["floor_bytes"] for row in found["results"])


@pytest.mark.usefixtures("tiny")
def test_a_part_of_the_models_is_filed_nowhere(bench, tmp_path):
    status, printed = bench("--quick", "--optimizer", "sgd")
    assert status in (0, None)
    assert "nothing was filed" in printed.out
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.usefixtures("tiny")
def test_a_run_that_dies_leaves_the_last_file(bench, tmp_path, monkeypatch):
    file = tmp_path / "quick" / "benchmarks" / "cpu.json"
    file.parent.mkdir(parents=True)
    file.write_text("the last one")
    monkeypatch.setattr(clipping, "cost", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        bench("--quick")
    assert file.read_text() == "the last one"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("--model", "alexnet"),
            "unknown model 'alexnet'; choose small-tensors, gpt2-small, linear-stack, resnet-50, wide-mlp",
        ),
        (("--optimizer", "lion"), "unknown optimizer 'lion'; choose adamw, sgd"),
    ],
)
def test_unknown_names_get_a_sentence(bench, arguments, sentence):
    status, printed = bench(*arguments)
    assert status == 2
    assert printed.err == f"timelines: error: {sentence}\n"
