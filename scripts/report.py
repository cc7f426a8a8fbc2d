#!/usr/bin/env python3
"""One HTML file that shows a memory_timelines.json: `report.py FILE [--out report.html]`.

The file holds its own styles and pictures, so it can be copied from a GPU machine and opened anywhere, without a
network and without JavaScript. Needs matplotlib and jinja2.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import files

TITLE = "Where the memory of one training step goes"
# Rows of the table of figures: key of a timeline, name, unit, number of places.
FIGURES = (
    ("peak_gb", "Peak memory of the tensors", "GB", 4),
    ("allocator_peak_gb", "Peak of the CUDA allocator", "GB", 4),
    ("reserved_gb", "Reserved by the CUDA allocator", "GB", 4),
    ("rss_peak_gb", "Peak resident set of the process", "GB", 3),
    ("step_ms", "Time of a step, not profiled", "ms", 2),
    ("timed_steps", "Steps timed", "", 0),
    ("cuda_mallocs_per_step", "cudaMalloc calls in a step", "", 0),
    ("cuda_frees_per_step", "cudaFree calls in a step", "", 0),
)


def figures(data: dict[str, Any]) -> list[dict[str, str]]:
    """Rows of the table of figures; a figure that neither mode has (a CUDA counter on a CPU) has no row."""
    import facts

    rows = []
    for key, name, unit, places in FIGURES:
        values = [data[mode][key] for mode in facts.MODES]
        if any(value is not None for value in values):
            default, backprop = ("–" if v is None else f"{v:,.{places}f}\u00a0{unit}".strip() for v in values)
            rows.append({"name": name, "default": default, "backprop": backprop})
    return rows


def holdings(timeline: dict[str, Any]) -> dict[str, Any]:
    """Table of what each category holds at the peak and at the end of each phase, GB, with totals."""
    import facts

    moments = [("peak", timeline["peak_t"]), *((f"end of {p['name']}", p["end"]) for p in timeline["phases"])]
    columns = [facts.held_at(timeline, time) for _, time in moments]
    names = files.categories.CATEGORIES
    rows = [(files.categories.LABELS[name], [c[i] for c in columns]) for i, name in enumerate(names)]
    return {"moments": moments, "rows": rows, "totals": [sum(column) for column in columns]}


def page(data: dict[str, Any]) -> str:
    """The whole HTML page. Every text from the data goes through the template's escaping."""
    import jinja2
    from markupsafe import Markup

    import facts
    import plot
    import render

    # The only markup that is not escaped: made here, with its texts drawn as shapes or escaped by render.svg.
    looks = {name: plot.theme(name) for name in ("light", "dark")}
    pictures = {
        name: Markup(render.svg(plot.compare(data, look), TITLE, facts.summary(data), prefix=f"{name}-"))
        for name, look in looks.items()
    }
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("report.html.j2").render(
        title=TITLE,
        data=data,
        facts=facts,
        looks=looks,
        pictures=pictures,
        figures=figures(data),
        holdings={mode: holdings(data[mode]) for mode in facts.MODES},
        meanings=[(files.categories.LABELS[name], files.categories.MEANING[name]) for name in data["categories"]],
    )


def report(source: Path, out: Path) -> None:
    """Writes the page of `source` to `out`.

    Raises:
        Stop: the source is not a valid memory_timelines.json, or the page cannot be written.
    """
    # Lone surrogates are valid in JSON and in Python, but not in UTF-8.
    content = page(files.read(source)).encode("utf-8", "replace")
    files.write(out, content)
    print(f"{out}: {len(content) / 1000:.0f} kB")


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit code, 2 after one sentence on stderr where something stopped it."""
    parser = argparse.ArgumentParser(description="Show a memory_timelines.json in one self-contained HTML file.")
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.add_argument("--out", metavar="report.html", type=Path, help="default: report.html beside FILE")
    chosen = parser.parse_args(arguments)
    out = chosen.out or chosen.file.with_name("report.html")
    return files.exit_code("report", lambda: report(chosen.file, out))


if __name__ == "__main__":
    sys.exit(main())
