"""The benchmark's figures as tables for a terminal."""

from typing import Any

from rich.table import Table


def race(title: str, rows: list[dict[str, Any]]) -> Table:
    """One race: contestants down, figures across."""
    table = Table(title=title, title_justify="left")
    for heading in (
        "",
        "ms a step",
        "x plain fused",
        "BackProp fused, x this",
        "peak MB",
        "x floor",
        "RSS MB",
        "weights",
    ):
        table.add_column(heading, justify="left" if heading in ("", "weights") else "right")
    for row in rows:
        if "reason" in row:
            table.add_row(row["contestant"], "-", "-", "-", "-", "-", "-", row["reason"][:60])
            continue
        table.add_row(
            row["contestant"],
            f"{row['step_ms']['median']:.4g}",
            _interval(row["over_plain"]),
            _interval(row["backprop_over"]),
            f"{row['peak_bytes'] / 1e6:.1f}",
            f"{row['peak_bytes'] / row['floor_bytes']:.4f}",
            "-" if row["rss_peak_gb"] is None else f"{1000 * row['rss_peak_gb']:.0f}",
            "as " + row["same_weights_as"][-1] if row["same_weights_as"] else "differ",
        )
    return table


def growth(rows: list[dict[str, Any]]) -> Table:
    """Time and peak against the size of the network."""
    table = Table(title="growth", title_justify="left")
    for heading in ("along", "size", "", "ms a step", "x plain fused", "peak MB"):
        table.add_column(heading, justify="left" if heading in ("along", "") else "right")
    for row in rows:
        start = (row["along"], str(row["size"]), row["contestant"])
        if "reason" in row:
            table.add_row(*start, row["reason"][:60])
        else:
            peak = f"{row['peak_bytes'] / 1e6:.1f}"
            table.add_row(*start, f"{row['step_ms']['median']:.4g}", _interval(row["over_plain"]), peak)
    return table


def clipping(rows: list[dict[str, Any]]) -> Table:
    """What clip_grad_norm_ adds to a step, in backward walks."""
    table = Table(title="clip_grad_norm_", title_justify="left")
    for heading in ("model", "BackProp, ms a step", "clipped", "added, in backward walks", "beyond plain clipping"):
        table.add_column(heading, justify="left" if heading == "model" else "right")
    for row in rows:
        times = (f"{row['step_ms'][name]['median']:.4g}" for name in ("backprop fused", "backprop clipped"))
        table.add_row(row["model"], *times, _interval(row["added_walks"]), _interval(row["walks_beyond_plain"]))
    return table


def _interval(estimate: dict[str, float]) -> str:
    return f"{estimate['median']:.3f} ({estimate['low']:.3f} to {estimate['high']:.3f})"
