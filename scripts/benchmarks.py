#!/usr/bin/env python3
"""Draws how a step grows with the network, from a growth.json in data/benchmarks: `benchmarks.py [FILE] [--out SVG]`.

Step time and peak memory against the number of layers and against width, a line for each way to train. Needs
matplotlib alone.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import files

TITLE = "Step time and peak memory as a network grows"
LABELS = {"step_ms": "ms a step", "peak_bytes": "peak, MB"}


def draw(source: Path, out: Path) -> None:
    """Draws the growth in `source` into the SVG `out`.

    Raises:
        files.Stop: the source is missing or holds no growth, or the picture cannot be written.
    """
    import render

    rows = read(source)
    content = f"{render.svg(figure(rows), TITLE, summary(rows))}".encode()
    files.write(out, content)
    print(f"{out}: {len(content) / 1000:.0f} kB")


def read(source: Path) -> list[dict[str, Any]]:
    """The rows of growth that were measured.

    Raises:
        files.Stop: the file is missing, is not JSON, or holds none.
    """
    try:
        rows = json.loads(source.read_text(encoding="utf-8"))["growth"]
        rows = [{**row, "step_ms": row["step_ms"]["median"]} for row in rows if "reason" not in row]
    except OSError as error:
        raise files.Stop(f"cannot read {source} ({error.strerror}); `make bench` writes it") from error
    except (ValueError, KeyError, TypeError) as error:
        raise files.Stop(f"{source} is no file of `timelines bench`; `make bench` writes one") from error
    if not rows:
        raise files.Stop(f"{source} holds no growth that was measured; `make bench` measures it")
    return rows


def figure(rows: list[dict[str, Any]]) -> Any:
    """Two rows of two plots: time and peak, against layers and width, both axes logarithmic."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    import plot

    look = plot.theme("light")
    ways = list(dict.fromkeys(row["contestant"] for row in rows))
    with mpl.rc_context(plot.STYLE):
        drawn = Figure(figsize=(8.4, 5.4), facecolor=look.surface, layout="constrained")
        for place, (along, key) in enumerate((a, k) for k in LABELS for a in dict.fromkeys(r["along"] for r in rows)):
            columns = len({row["along"] for row in rows})
            axes = drawn.add_subplot(len(LABELS), columns, place + 1, facecolor=look.surface)
            for way, style in zip(ways, ("-", "--", ":"), strict=False):
                points = [row for row in rows if row["along"] == along and row["contestant"] == way]
                values = [row[key] / (1e6 if key == "peak_bytes" else 1) for row in points]
                axes.plot([row["size"] for row in points], values, style, marker="o", markersize=3, label=way)
            axes.set(xscale="log", yscale="log", xlabel=along, ylabel=LABELS[key])
            axes.set_xticks(sorted({row["size"] for row in rows if row["along"] == along}))
            axes.minorticks_off()
            axes.xaxis.set_major_formatter("{x:.0f}")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(color=look.rule, linewidth=0.5)
        drawn.axes[0].legend(frameon=False)
    return drawn


def summary(rows: list[dict[str, Any]]) -> str:
    """The figures in words, for those who do not see the picture."""
    return " ".join(
        f"{row['contestant']}, {row['size']} {row['along']}: {row['step_ms']:.4g} ms, {row['peak_bytes'] / 1e6:.1f} MB."
        for row in rows
    )


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit code, 2 after one sentence on stderr where something stopped it."""
    parser = argparse.ArgumentParser(description="Draw the growth that `timelines bench growth` measured.")
    parser.add_argument(
        "file", nargs="?", type=Path, default=files.ROOT / "data" / "benchmarks" / "cpu" / "growth.json"
    )
    parser.add_argument(
        "--out", metavar="FILE", type=Path, default=files.ROOT / "site" / "public" / "figures" / "growth.svg"
    )
    chosen = parser.parse_args(arguments)
    return files.exit_code("benchmarks", lambda: draw(chosen.file, chosen.out))


if __name__ == "__main__":
    sys.exit(main())
