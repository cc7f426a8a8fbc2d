import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from timeline_documents import document

from timelines import contract
from timelines.categories import CATEGORIES, LABELS, MEANING

PHASES = {"forward": (0.0, 0.0), "backward": (0.0, 0.0), "optimizer step": (0.0, 0.0)}


def test_the_schema_names_the_categories_and_phases_that_python_defines():
    schema = json.loads(contract.SCHEMA.read_text())
    assert schema["properties"]["categories"]["const"] == list(CATEGORIES)
    names = [
        p["properties"]["name"]["const"] for p in schema["$defs"]["timeline"]["properties"]["phases"]["prefixItems"]
    ]
    assert names == list(contract.PHASES)
    assert LABELS["OPTIMIZER_STATE"] == "optimizer state"
    assert set(MEANING) == set(CATEGORIES)


def test_what_is_written_is_read_back(tmp_path: Path):
    contract.write(tmp_path / "a.json", document())
    assert contract.read(tmp_path / "a.json") == document()


def test_a_timeline_is_a_step_function_of_running_totals():
    changes: list[contract.Change] = [
        (-1.0, {"PARAMETER": 4_000_000}),
        (1.0004, {"INPUT": 1_000_000}),
        (2.0, {"INPUT": -1_000_000, "ACTIVATION": 1_000_000}),
        (3.0, {"ACTIVATION": 2_000_000}),
        (9.0, {"ACTIVATION": 99_000_000}),
    ]
    built = contract.build_timeline(changes, 5.0, PHASES, {})
    assert built["t"] == [0.0, 1.0, 2.0, 3.0]
    columns = dict(zip(CATEGORIES, built["gb"], strict=True))
    assert columns["PARAMETER"] == [0.004] * 4
    assert columns["INPUT"] == [0.0, 0.001, 0.0, 0.0]
    assert columns["ACTIVATION"] == [0.0, 0.0, 0.001, 0.003]
    assert (built["peak_gb"], built["peak_t"], built["end_t"]) == (0.007, 3.0, 5.0)


def test_a_fall_in_the_microsecond_of_a_rise_does_not_hide_the_peak():
    changes: list[contract.Change] = [(1.0001, {"TEMPORARY": 5_000_000}), (1.0002, {"TEMPORARY": -5_000_000})]
    built = contract.build_timeline(changes, 2.0, PHASES, {})
    assert built["t"] == [0.0, 1.0, 1.001]
    assert built["gb"][-1] == [0.0, 0.005, 0.0]
    assert (built["peak_gb"], built["peak_t"]) == (0.005, 1.0)


@given(st.lists(st.tuples(st.integers(0, 40), st.sampled_from(CATEGORIES), st.integers(1, 10**7)), max_size=60))
def test_the_peak_is_that_of_the_changes_and_times_increase(births: list[tuple[int, str, int]]):
    """Against a brute-force running total: each allocation lives 3 microseconds."""
    changes = [(us / 1e4, {category: size}) for us, category, size in births]
    changes += [(us / 1e4 + 0.003, {category: -size}) for us, category, size in births]
    changes.sort(key=lambda change: change[0])
    total = peak = 0
    for _, change in changes:
        total += sum(change.values())
        peak = max(peak, total)
    built = contract.build_timeline(changes, 1.0, PHASES, {})
    assert built["peak_gb"] == round(peak / 1e9, 4)
    contract.check({**document(), "default": {**document()["default"], **built}}, "built")


def _set(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(target: Any) -> None:
        *parents, last = [int(key) if key.isdigit() else key for key in path.split(".")]
        for key in parents:
            target = target[key]
        target[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("categories", ["PARAMETER"]), r"f: categories: .* was expected"),
        (_set("default.gb.2", [0.0]), r"f: default.gb\[2\]: has 1 values for 3 times"),
        (_set("default.t", [0, 2.5, 1.0]), r"f: default.t\[2\]: 1.0 does not come after 2.5"),
        (_set("default.t", [0, 1.0, "x"]), r"f: default.t\[2\]: 'x' is not of type 'number'"),
        (_set("default.t", [0.1, 1.0, 2.5]), r"f: default.t\[0\]: 0 was expected"),
        (_set("backprop.end_t", 2.5), r"f: backprop.end_t: 2.5 does not come after the last time, 2.5"),
        (_set("backprop.peak_gb", 7.0), r"f: backprop.peak_gb: is 7.0, but the largest total is 0.0020"),
        (_set("backprop.peak_t", 0.7), r"f: backprop.peak_t: 0.7 is not one of the times"),
        (_set("default.phases.1.start", 0.1), r"f: default.phases\[1\]: starts before the one before it ends"),
        (_set("default.phases.1.name", "walk"), r"f: default.phases\[1\].name: 'backward' was expected"),
        (_set("environment.source", "tpu"), r"f: environment.source: 'tpu' is not one of"),
        (_set("environment.created", "yesterday"), r"f: environment.created: 'yesterday' does not match"),
        (_set("workload.parameters", 0), r"f: workload.parameters: 0 is less than the minimum of 1"),
        (_set("extra", 1), r"f: \$: Additional properties are not allowed \('extra' was unexpected\)"),
    ],
)
def test_a_fault_is_named_by_file_field_and_reason(change: Callable[[dict[str, Any]], None], message: str):
    broken = document()
    change(broken)
    with pytest.raises(contract.ContractError, match=message):
        contract.check(broken, "f")


def test_without_jsonschema_a_wrong_shape_is_still_one_sentence(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    contract.check(document(), "f")
    with pytest.raises(contract.ContractError, match=r"f: workload\.name: is missing"):
        contract.check({}, "f")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot be read: No such file"),
        ("{", "is not JSON"),
        ("[]", r"is not of type 'object'"),
        ('{"a": NaN}', "is not JSON: NaN is not a number that JSON knows"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_an_unreadable_file_is_named(tmp_path: Path, text: str | None, message: str):
    path = tmp_path / "a.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(contract.ContractError, match=rf"a\.json: .*{message}"):
        contract.read(path)


def test_a_document_that_breaks_the_contract_is_not_written(tmp_path: Path):
    contract.write(tmp_path / "a.json", document())
    with pytest.raises(contract.ContractError):
        contract.write(tmp_path / "a.json", {**document(), "default": {}})
    assert contract.read(tmp_path / "a.json") == document()
