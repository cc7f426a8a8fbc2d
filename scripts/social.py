"""The picture that social networks show beside a link to the article."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import facts
from plot import STYLE, Scale, Theme, legend, panel

TITLE = "Gradients that never coexist"
DPI = 100


def card(data: dict[str, Any], look: Theme) -> Figure:
    """Title, the two peaks in large type and both plots: 1200 x 630 pixels at DPI."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(12, 6.3), facecolor=look.surface)
        canvas = FigureCanvasAgg(figure)
        across, up = 864.0, 453.6
        figure.text(
            44 / across, 396 / up, TITLE, size=37, weight="bold", family="DejaVu Serif", color=look.ink, va="baseline"
        )
        scale = Scale.shared(data, 362.0, 225.0, room=2)
        for left, mode in ((44.0, "default"), (458.0, "backprop")):
            panel(figure, (left, 62.0), scale, data, mode, look, plain=True)
            figure.text(left / across, 346 / up, facts.TITLES[mode], size=14, color=look.muted, va="baseline")
            value = figure.text(
                left / across,
                308 / up,
                facts.gb(data[mode]["peak_gb"]),
                size=30,
                weight="bold",
                color=look.ink,
                va="baseline",
            )
            box = value.get_window_extent(canvas.get_renderer())
            note = "peak" if mode == "default" else f"peak, {facts.difference(data)}"
            figure.text((box.x1 / DPI * 72 + 8) / across, 308 / up, note, size=14, color=look.muted, va="baseline")
        legend(figure, look, (44.0, 22.0), size=11.5)
        return figure
