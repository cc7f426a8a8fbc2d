"""The two plots, default beside backprop, as a matplotlib figure: one scale of GB from 0, one scale of time.

Needs matplotlib alone. The same data gives the same bytes on the same matplotlib: the only fonts used are the ones that
it brings, SVG ids come from a fixed salt, and no date is written.
"""

from __future__ import annotations

import json
import textwrap
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

import facts
import steps
from files import ROOT, categories

# Points, matplotlib's unit for SVG. No detail of a picture is finer than a cell, so its size is bounded whatever the
# number of samples; a quarter point is less than a pixel of a sharp screen at the size at which it is shown.
CELL = 0.25
# A second channel beside colour for the category that the argument is about.
HATCHES = {"GRADIENT": "////"}
SUBTITLES = {
    "default": "backward computes every gradient; then the optimizer uses them",
    "backprop": "each gradient is used and freed as it lands",
}
FOOTNOTE = "One step under the profiler; GB = 10⁹ bytes."
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    # Paths, not text: a viewer's own fonts have other widths, and labels would collide. Words for screen readers
    # are in <title> and <desc>.
    "svg.fonttype": "path",
    "svg.hashsalt": "memory_timelines",
    "hatch.linewidth": 0.5,
    "axes.unicode_minus": True,
    # A device may be named with a dollar sign.
    "text.parse_math": False,
}


@dataclass(frozen=True)
class Theme:
    """Colours of one of the two looks; `fills` has one for each category, by name."""

    name: str
    surface: str
    ink: str
    muted: str
    rule: str
    fills: dict[str, str]


def theme(name: str) -> Theme:
    """The theme named light or dark: the site's own colours, and those of the categories from data/palette.json."""
    palette = json.loads((ROOT / "data" / "palette.json").read_text(encoding="utf-8"))
    surface, ink, muted, rule = {
        "light": ("#fcfbf8", "#211f1c", "#635e56", "#dcd8cf"),
        "dark": ("#16181c", "#e4e1da", "#a39e95", "#34373d"),
    }[name]
    return Theme(name, surface, ink, muted, rule, {key: colours[name] for key, colours in palette.items()})


@dataclass(frozen=True)
class Scale:
    """Data to points within a panel of `width` x `height` points: `end` ms and `top` GB are its far corner."""

    width: float
    height: float
    end: float
    top: float

    @classmethod
    def shared(cls, data: dict[str, Any], width: float, height: float, room: float) -> Scale:
        """The scale that both modes of `data` fit, with `room` points of the height left above the higher peak."""
        end = max(data[mode]["end_t"] for mode in facts.MODES)
        top = max(max(steps.running_totals(data[mode]["gb"])[-1]) for mode in facts.MODES)
        return cls(width, height, end, (top or 1) * height / (height - room))

    def x(self, ms: float) -> float:
        """Points from the left edge."""
        return ms / self.end * self.width

    def y(self, gb: float) -> float:
        """Points from the bottom, to a tenth."""
        return round(gb / self.top * self.height, 1)


def compare(data: dict[str, Any], look: Theme) -> Figure:
    """Both modes side by side with legend and caption, 10.8 x 5.5 inches."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(10.8, 5.5), facecolor=look.surface)
        FigureCanvasAgg(figure)  # measures texts
        width, height, bottom = 352.0, 250.0, 72.0
        scale = Scale.shared(data, width, height, room=24)
        for left, mode in ((40.0, "default"), (412.0, "backprop")):
            axes = panel(figure, (left, bottom), scale, data, mode, look)
            axes.annotate(
                facts.TITLES[mode], (0, height + 53), xycoords="axes points", weight="bold", size=12, color=look.ink
            )
            axes.annotate(SUBTITLES[mode], (0, height + 40), xycoords="axes points", size=8.5, color=look.muted)
            brackets(axes, scale, data[mode], look)
            direct_labels(axes, scale, data[mode], look)
        legend(figure, look, (40.0, 34.0))
        lines = (f"{facts.place(data)}. {facts.optimizer(data)}.", f"{facts.sizes(data)}. {FOOTNOTE}")
        caption = "\n".join(textwrap.shorten(line, 172, placeholder=" …") for line in lines)
        figure.text(40 / 777.6, 27 / 396, caption, size=7.5, color=look.muted, va="top", linespacing=1.35)
        return figure


def panel(
    figure: Figure,
    at: tuple[float, float],
    scale: Scale,
    data: dict[str, Any],
    mode: str,
    look: Theme,
) -> Axes:
    """One mode's areas over a time axis, its lower left corner `at` points from the figure's."""
    across, up = (72 * inches for inches in figure.get_size_inches())
    axes = figure.add_axes((at[0] / across, at[1] / up, scale.width / across, scale.height / up))
    axes.set(xlim=(0, scale.width), ylim=(0, scale.height), facecolor=look.surface, xticks=[], yticks=[])
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(look.ink)
    axes.spines["bottom"].set_linewidth(0.8)
    areas(axes, scale, data[mode], mode, look)
    if mode == "backprop":
        level = scale.y(data["default"]["peak_gb"])
        axes.plot([0, scale.width], [level, level], color=look.muted, linewidth=0.8, linestyle=(0, (1, 2)))
    # One scale serves both, so its numbers stand once, at the left.
    ticks(axes, scale, look, numbered=mode == "default")
    peak(axes, scale, data[mode], look)
    if mode == "backprop":
        difference(axes, scale, data, look)
    return axes


def ticks(axes: Axes, scale: Scale, look: Theme, numbered: bool) -> None:
    """Round numbers on the time axis and, where `numbered`, at the level lines."""
    seconds = scale.end >= 10_000
    unit, per_unit = ("s", 1000) if seconds else ("ms", 1)
    times = [v for v in MaxNLocator(5).tick_values(0, scale.end / per_unit) if 0 <= v <= scale.end / per_unit]
    amounts = [v for v in MaxNLocator(5).tick_values(0, scale.top) if 0 <= v <= scale.top]
    named = [f"{v:g}" for v in times[:-1]] + [f"{times[-1]:g} {unit}"]
    axes.set_xticks([scale.x(v * per_unit) for v in times], named)
    if scale.width - scale.x(times[-1] * per_unit) < 18:
        axes.get_xticklabels()[-1].set_horizontalalignment("right")
    axes.set_yticks([scale.y(v) for v in amounts], [f"{v:g}" if numbered else "" for v in amounts])
    if numbered:
        axes.annotate(
            "GB",
            (-3.5, scale.y(amounts[-1]) + 9),
            ha="right",
            va="center",
            size=8.5,
            color=look.muted,
            annotation_clip=False,
        )
    axes.tick_params(axis="x", length=3, width=0.8, color=look.ink, labelcolor=look.muted, labelsize=8.5)
    axes.tick_params(axis="y", length=0, labelcolor=look.muted, labelsize=8.5)
    axes.grid(axis="y", color=look.rule, linewidth=0.6)


def edges(scale: Scale, timeline: dict[str, Any]) -> list[list[float]]:
    """Height of each area's upper edge in points, cell by cell."""
    width = CELL / scale.width * scale.end
    totals = steps.running_totals(timeline["gb"])
    return [
        [scale.y(value) for value in steps.cells(timeline["t"], total, timeline["end_t"], width)] for total in totals
    ]


def areas(axes: Axes, scale: Scale, timeline: dict[str, Any], mode: str, look: Theme) -> None:
    """The stack. Each area reaches down to 0 and the ones below it are drawn over it, so no gap can open between."""
    stack = list(zip(categories.CATEGORIES, edges(scale, timeline), strict=True))
    for name, edge in reversed(stack):
        patch = PathPatch(
            Path(steps.outline(edge, CELL)),
            facecolor=look.fills[name],
            edgecolor=look.surface,
            linewidth=0,
            hatch=HATCHES.get(name),
            gid=f"area-{mode}-{name}",
        )
        axes.add_patch(patch)


def peak(axes: Axes, scale: Scale, timeline: dict[str, Any], look: Theme) -> None:
    """A dot and the value where memory is highest."""
    x, y = scale.x(timeline["peak_t"]), scale.y(timeline["peak_gb"])
    dot = {"markersize": 4.5, "color": look.ink, "markeredgecolor": look.surface, "markeredgewidth": 0.8}
    axes.plot([x], [y], "o", clip_on=False, **dot)
    text = f"peak {facts.gb(timeline['peak_gb'])}"
    label = axes.text(x, y + 6, text, ha="center", va="bottom", size=9.5, weight="bold", color=look.ink)
    keep_inside(axes, label)


def difference(axes: Axes, scale: Scale, data: dict[str, Any], look: Theme) -> None:
    """How far backprop's peak is from default's: an arrow with its length, or words alone where it would be short."""
    here, there = (scale.y(data[mode]["peak_gb"]) for mode in ("backprop", "default"))
    if abs(there - here) < 18:
        saved = facts.saving(data)
        words = f"{facts.gb(abs(saved))} {'below' if saved > 0 else 'above'} default's peak"
        # At the side where the peak's own label is not.
        late = scale.x(data["backprop"]["peak_t"]) > scale.width / 2
        at, side = (0, "left") if late else (scale.width, "right")
        axes.text(
            at,
            max(here, there) + 3,
            words if saved else "the same peak as default's",
            ha=side,
            va="bottom",
            size=8,
            color=look.muted,
        )
        return
    axes.text(scale.width, there + 3, "default's peak", ha="right", va="bottom", size=8, color=look.muted)
    right = scale.width - 5
    arrow = {"arrowstyle": "->", "color": look.ink, "lw": 0.8, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (right, here), (right, there), arrowprops=arrow)
    axes.plot([right - 5, scale.width], [here, here], color=look.ink, linewidth=0.8)
    words = facts.difference(data)
    axes.text(right - 5, (here + there) / 2, words, ha="right", va="center", size=9.5, weight="bold", color=look.ink)


def keep_inside(axes: Axes, label: Text) -> tuple[float, float]:
    """Moves a label sideways until it lies within its panel; returns its left and right side in points."""
    left, right = sides(axes, label)
    width = axes.get_xlim()[1]
    shift = max(0.0, 2 - left) - max(0.0, right - (width - 2))
    label.set_x(label.get_position()[0] + shift)
    return left + shift, right + shift


def sides(axes: Axes, label: Text) -> tuple[float, float]:
    """Left and right side of a label in its panel's points."""
    box = label.get_window_extent().transformed(axes.transData.inverted())
    return box.x0, box.x1


def brackets(axes: Axes, scale: Scale, timeline: dict[str, Any], look: Theme) -> None:
    """The three calls of the training loop, above the panel; a name wider than its call stands one row higher."""
    y = scale.height + 7
    ends: dict[int, float] = {}
    for phase in timeline["phases"]:
        start, end = scale.x(phase["start"]), scale.x(phase["end"])
        # A very short call keeps a width that can be seen.
        end = max(end, start + 1.2)
        axes.plot(
            [start, start, end, end],
            [y - 4, y, y, y - 4],
            color=look.ink,
            linewidth=0.9,
            clip_on=False,
            solid_joinstyle="miter",
            solid_capstyle="butt",
        )
        label = axes.text((start + end) / 2, y + 3, phase["name"], ha="center", va="bottom", size=8.5, color=look.ink)
        left, right = sides(axes, label)
        row = 0 if right - left <= end - start else 1
        left, right = keep_inside(axes, label)
        if left < ends.get(row, 0) + 4:
            label.set_x(label.get_position()[0] + ends.get(row, 0) + 4 - left)
        if row:
            label.set_y(y + 15)
            axes.plot([(start + end) / 2] * 2, [y, y + 14], color=look.muted, linewidth=0.7, clip_on=False)
        ends[row] = sides(axes, label)[1]


def direct_labels(axes: Axes, scale: Scale, timeline: dict[str, Any], look: Theme) -> None:
    """Names written into the areas that have room for them."""
    low = [0.0] * len(steps.cells(timeline["t"], timeline["t"], timeline["end_t"], CELL / scale.width * scale.end))
    for name, high in zip(categories.CATEGORIES, edges(scale, timeline), strict=True):
        label = axes.text(
            0, 0, categories.LABELS[name], ha="center", va="center", size=9, color=readable_on(look.fills[name])
        )
        box = label.get_window_extent().transformed(axes.transData.inverted())
        span = int((box.width + 10) / CELL)
        room = steps.roomiest(low, high, span)
        if room and room[2] - room[1] >= box.height + 3:
            first, bottom, top = room
            label.set_position(((first + span / 2) * CELL, (bottom + top) / 2))
            if name in HATCHES:
                label.set_bbox({"facecolor": look.fills[name], "edgecolor": "none", "pad": 1.5})
        else:
            label.remove()
        low = high


def readable_on(fill: str) -> str:
    """Black or white, whichever has the higher contrast (WCAG) on a colour."""
    channels = [int(fill[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#ffffff" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else "#000000"


def legend(figure: Figure, look: Theme, at: tuple[float, float], size: float = 8.5) -> None:
    """All categories in the order of the stack, bottom first, in one row that starts `at` points."""
    across, up = (72 * inches for inches in figure.get_size_inches())
    swatches = [
        Patch(
            facecolor=look.fills[name],
            edgecolor=look.surface,
            linewidth=0,
            hatch=HATCHES.get(name),
            label=categories.LABELS[name],
        )
        for name in categories.CATEGORIES
    ]
    figure.legend(
        handles=swatches,
        loc="lower left",
        bbox_to_anchor=(at[0] / across, at[1] / up),
        ncols=len(swatches),
        frameon=False,
        borderpad=0,
        borderaxespad=0,
        handlelength=1.2,
        handleheight=1.0,
        handletextpad=0.5,
        columnspacing=1.6,
        labelcolor=look.ink,
        prop={"size": size},
    )
