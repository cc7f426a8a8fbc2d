#!/usr/bin/env python3
"""Draws the site's pictures from a memory_timelines.json: `figures.py [FILE] [--out DIR]`.

Writes figures/memory_timelines-{light,dark}.{svg,png} into DIR. Needs matplotlib alone.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import files

TITLE = "Memory of one training step over time, default beside BackProp"


def draw(source: Path, out: Path) -> None:
    """Draws all pictures of `source` and writes them into `out`; none is written where one cannot be drawn.

    Raises:
        Stop: the source is not a valid memory_timelines.json, or a picture cannot be written.
    """
    # Late, so that a Python without matplotlib gets a sentence and not a traceback.
    import facts
    import plot
    import render

    data = files.read(source)
    pictures: dict[str, bytes] = {}
    for name in ("light", "dark"):
        figure = plot.compare(data, plot.theme(name))
        stem = f"figures/memory_timelines-{name}"
        pictures[f"{stem}.svg"] = f"{render.svg(figure, TITLE, facts.summary(data))}".encode()
        pictures[f"{stem}.png"] = render.png(figure, dpi=200)
    for name, content in pictures.items():
        files.write(out / name, content)
        print(f"{out / name}: {len(content) / 1000:.0f} kB")


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit code, 2 after one sentence on stderr where something stopped it."""
    parser = argparse.ArgumentParser(description="Draw the plots of a memory_timelines.json.")
    parser.add_argument("file", nargs="?", type=Path, default=files.ROOT / "data" / "memory_timelines.json")
    parser.add_argument("--out", metavar="DIR", type=Path, default=files.ROOT / "site" / "public")
    chosen = parser.parse_args(arguments)
    return files.exit_code("figures", lambda: draw(chosen.file, chosen.out))


if __name__ == "__main__":
    sys.exit(main())
