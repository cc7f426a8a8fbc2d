"""memory_timelines.json: build it, check it, read it, write it. data/memory_timelines.schema.json states its shape."""

import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from timelines.categories import CATEGORIES
from timelines.files import write_text

FILE_NAME = "memory_timelines.json"
MODES = ("default", "backprop")
PHASES = ("forward", "backward", "optimizer step")
SCHEMA = Path(__file__).parents[2] / "data" / "memory_timelines.schema.json"

Change = tuple[float, dict[str, int]]  # ms from the step's start, bytes gained or lost by category
_ROUNDING = len(CATEGORIES) * 0.5e-4 + 0.5e-4  # GB: of a sum of rounded columns against a rounded sum


class ContractError(ValueError):
    """A file or document that breaks the contract; one sentence with file, field and reason."""


def build_timeline(
    changes: Iterable[Change], end_ms: float, phases: dict[str, tuple[float, float]], measured: dict[str, Any]
) -> dict[str, Any]:
    """One mode's part of the file.

    Args:
        changes: in order of time; what was there before the step comes first, at times <= 0.
        end_ms: when the step ended. Later changes are dropped.
        phases: start and end in ms of each of PHASES.
        measured: step_ms and the counters, as in the schema.

    Times are rounded to microseconds. Changes within one are merged unless that would hide a peak: a fall that follows
    a rise in the same microsecond is moved to the next one.
    """
    times, rows, peak, peak_time = [0.0], [dict.fromkeys(CATEGORIES, 0)], 0, 0.0
    rose = False
    for ms, change in changes:
        if ms > end_ms:
            break
        gain = sum(change.values())
        time = max(round(ms, 3), times[-1])
        if time == times[-1] and rose and gain < 0:
            time = round(time + 0.001, 3)
        if time > times[-1]:
            times.append(time)
            rows.append(rows[-1].copy())
            rose = False
        rose = rose or (gain > 0 and ms > 0)
        for category, delta in change.items():
            rows[-1][category] += delta
        total = sum(rows[-1].values())
        if total > peak:
            peak, peak_time = total, time
    return {
        "t": times,
        "gb": [[round(row[category] / 1e9, 4) for row in rows] for category in CATEGORIES],
        "end_t": max(round(end_ms, 3), round(times[-1] + 0.001, 3)),
        "peak_gb": round(peak / 1e9, 4),
        "peak_t": peak_time,
        "phases": [{"name": n, "start": round(phases[n][0], 3), "end": round(phases[n][1], 3)} for n in PHASES],
        **measured,
    }


def check(document: Any, where: str) -> None:
    """Checks a document: its shape by the JSON Schema (where jsonschema is installed), then what no schema can say.

    Raises:
        ContractError: the first fault, as "where: field: reason".
    """
    _check_shape(document, where)
    try:
        for mode in MODES:
            for field, reason in _faults(document[mode]):
                raise ContractError(f"{where}: {mode}.{field}: {reason}")
    except (KeyError, IndexError, TypeError) as error:  # only where no jsonschema has checked the shape
        raise ContractError(f"{where}: not a memory_timelines.json: {type(error).__name__}: {error}") from error


def _check_shape(document: Any, where: str) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    try:
        import jsonschema.exceptions
    except ModuleNotFoundError:  # a GPU box where nothing can be installed
        return _check_required(document, schema, where)
    validator = jsonschema.Draft202012Validator(schema)
    error = jsonschema.exceptions.best_match(validator.iter_errors(document))
    if error is not None:
        raise ContractError(f"{where}: {error.json_path.removeprefix('$.')}: {error.message[:200]}")


def _check_required(document: Any, schema: dict[str, Any], where: str) -> None:
    parts = {"workload": "workload", "environment": "environment", **dict.fromkeys(MODES, "timeline")}
    for part, definition in parts.items():
        for key in schema["$defs"][definition]["required"]:
            if not isinstance(document, dict) or key not in (document.get(part) or {}):
                raise ContractError(f"{where}: {part}.{key}: is missing")


def _faults(timeline: dict[str, Any]) -> Iterable[tuple[str, str]]:
    times, columns, end = timeline["t"], timeline["gb"], timeline["end_t"]
    for index, (before, after) in enumerate(itertools.pairwise(times)):
        if after <= before:
            yield f"t[{index + 1}]", f"{after} does not come after {before}"
    if end <= times[-1]:
        yield "end_t", f"{end} does not come after the last time, {times[-1]}"
    for index, column in enumerate(columns):
        if len(column) != len(times):
            yield f"gb[{index}]", f"has {len(column)} values for {len(times)} times"
    totals = [sum(values) for values in zip(*columns, strict=False)]
    if abs(max(totals) - timeline["peak_gb"]) > _ROUNDING:
        yield "peak_gb", f"is {timeline['peak_gb']}, but the largest total is {max(totals):.4f}"
    if timeline["peak_t"] not in times:
        yield "peak_t", f"{timeline['peak_t']} is not one of the times"
    elif totals[times.index(timeline["peak_t"])] < timeline["peak_gb"] - _ROUNDING:
        yield "peak_t", f"at {timeline['peak_t']} the total is not the largest"
    clock = 0.0
    for index, phase in enumerate(timeline["phases"]):
        if not clock <= phase["start"] <= phase["end"] <= end:
            yield f"phases[{index}]", "starts before the one before it ends, or ends outside the step"
        clock = phase["end"]


def read(path: str | Path) -> dict[str, Any]:
    """Reads and checks a memory_timelines.json.

    Raises:
        ContractError: it is missing, not JSON, or breaks the contract.
    """
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=_no_number)
    except OSError as error:
        raise ContractError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # also of text that is not UTF-8
        raise ContractError(f"{path}: is not JSON: {error}") from error
    check(document, str(path))
    return document


def _no_number(constant: str) -> None:
    raise ValueError(f"{constant} is not a number that JSON knows")


def dumps(document: dict[str, Any]) -> str:
    """The file's text: one line a top-level key, so that a change of one mode shows as such."""
    parts = [f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in document.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def write(path: Path, document: dict[str, Any]) -> None:
    """Checks the document, then replaces `path` atomically."""
    check(document, str(path))
    write_text(path, dumps(document))
