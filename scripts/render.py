"""A matplotlib figure as bytes: the same figure gives the same bytes, with no date and no random ids in them."""

from __future__ import annotations

import io
import re
from xml.sax.saxutils import escape

import matplotlib as mpl
from matplotlib.figure import Figure

from plot import STYLE


def png(figure: Figure, dpi: int) -> bytes:
    """The figure as PNG."""
    buffer = io.BytesIO()
    with mpl.rc_context(STYLE):
        figure.savefig(buffer, format="png", dpi=dpi, facecolor=figure.get_facecolor(), metadata={"Software": None})
    return buffer.getvalue()


def svg(figure: Figure, title: str, description: str, prefix: str = "") -> str:
    """The figure as an <svg> element, named for screen readers, its ids starting with `prefix`.

    A prefix keeps apart the ids of several figures within one page.
    """
    buffer = io.BytesIO()
    with mpl.rc_context(STYLE):
        figure.savefig(buffer, format="svg", facecolor=figure.get_facecolor(), metadata={"Date": None, "Creator": None})
    text = buffer.getvalue().decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL)
    text = re.sub(r" <metadata>.*?</metadata>\n", "", text, flags=re.DOTALL)
    text = re.sub(r'(<path[^>]* d=")([^"]*)"', lambda m: f'{m[1]}{compact(m[2])}"', text)
    if prefix:
        text = re.sub(r'(\bid="|href="#|url\(#)', lambda m: m[1] + prefix, text)
    text = text.replace("<svg ", '<svg role="img" ', 1)
    head, body = text.split(">", 1)
    return f"{head}>\n<title>{escape(title)}</title>\n<desc>{escape(description)}</desc>{body}"


def compact(d: str) -> str:
    """The same path in fewer bytes: without blanks, and as h and v moves where all its lines are level or upright.

    Staircases are most of a picture's bytes, and matplotlib writes each corner with both coordinates and six places.
    """
    d = re.sub(r"\s*([A-Za-z])\s*", r"\1", d.strip())
    corners = re.findall(r"([MLz])(?:(-?[\d.]+) (-?[\d.]+))?", d)
    if len(corners) < 5 or re.search(r"[^MLz\d. -]", d):
        return d
    out = ""
    x = y = 0.0
    for command, *to in corners:
        if command == "z":
            out += "z"
            continue
        to_x, to_y = (round(float(v), 2) for v in to)
        if command == "M":
            out += f"M{number(to_x)} {number(to_y)}"
        elif to_x != x and to_y != y:
            return d
        elif to_x != x:
            out += f"h{number(to_x - x)}"
        elif to_y != y:
            out += f"v{number(to_y - y)}"
        x, y = to_x, to_y
    return out


def number(value: float) -> str:
    """At most two places and no zero that says nothing: 0.50 is .5."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return re.sub(r"^(-?)0\.", r"\1.", text)
