"""Pictures as SVG whose parts say what they are when pointed at.

Whoever draws a part gives it a tip; matplotlib carries it through as the name of a group, which here becomes the group's
title.  Other formats do not show it.
"""

from __future__ import annotations

import io
import re

from matplotlib.artist import Artist
from matplotlib.figure import Figure

INK = "#0b0b0c"
"""Colour of text and lines on the paper itself; a page may put its own in place of it."""

_TIP = re.compile(r'<g id="tip:([^"]*)">')


class Picture(Figure):
    """A figure that a notebook shows when it is the last value of a cell."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=72, metadata={"Software": None})
        return buffer.getvalue()


def tip(artist: Artist, text: str) -> None:
    """Say what a part of a picture is."""
    artist.set_gid(f"tip:{text}")


def svg(figure: Figure, ink: str = INK, prefix: str = "") -> str:
    """Return a figure as one ``<svg>`` element.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    ink : str
        Colour of text and lines on the paper; ``currentColor`` takes that of the page.
    prefix : str
        Put before the identifiers of the picture, so that several can stand on one page.
    """
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=ink != INK, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = _TIP.sub(lambda match: f'<g class="tip"><title>{match[1]}</title>', text)
    if prefix:
        text = re.sub(r'\bid="', f'id="{prefix}', text)
        text = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}", text)
    return text.replace(INK, ink)
