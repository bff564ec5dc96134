"""Pictures of answers: each function takes Axes and labelled arrays, draws, and returns the Axes.

Colours run from light to dark, so that a picture reads the same in grey and to a colour-blind eye.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, Normalize
from matplotlib.patches import Circle, Rectangle
from matplotlib.pyplot import get_cmap

BANDS = {
    "brown": "#8c5a3c",
    "light-blue": "#a6d8ee",
    "pink": "#d0679d",
    "orange": "#ee9336",
    "red": "#d7372f",
    "yellow": "#f5df4d",
    "green": "#3a9a5b",
    "dark-blue": "#2f5fa8",
    "railway": "#444444",
    "utility": "#b9b9b9",
}
"""Colours of groups of squares; groups of other names have no band."""

CORNER = 1.45
"""Width of a corner square; the others are one wide."""


def board(
    ax: Axes,
    values: xr.DataArray,
    groups: Mapping[str, Sequence[int]] | None = None,
    *,
    title: str = "",
    label: str = "",
    top: int = 3,
    cmap: str = "YlGnBu",
) -> Axes:
    """Draw a value of every square round the edge of a board.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    values : xarray.DataArray, dims ("square",)
        Fractions, printed as percentages; a coordinate ``square_name`` gives the names.  The number of squares must be a
        multiple of four.  Square 0 is at the lower right, and the numbers run clockwise.
    groups : mapping of str to sequence of int, optional
        Squares that have a band in the colour of their group, see :data:`BANDS`.
    title, label : str
        In the middle of the board, and below the colour bar.
    top : int
        How many of the largest values get a numbered mark.
    cmap : str
        Name of a colour map that runs from light to dark.

    Raises
    ------
    ValueError
        If the squares do not fit round a square board.
    """
    numbers = np.asarray(values, dtype=float)
    if numbers.ndim != 1 or numbers.size % 4 or numbers.size < 8:
        raise ValueError(f"a board needs a multiple of four squares, not values of shape {numbers.shape}")
    names = [str(name) for name in values.coords.get("square_name", values.coords["square"]).values]
    band_of = {square: BANDS[group] for group, squares in (groups or {}).items() if group in BANDS for square in squares}
    side = numbers.size // 4
    length = 2 * CORNER + side - 1
    shades, norm = get_cmap(cmap), Normalize(0, float(numbers.max()) * 1.05)
    rank = {int(square): place + 1 for place, square in enumerate(np.argsort(-numbers, kind="stable")[:top])}
    for square in range(numbers.size):
        _square(ax, _place(square, side), names[square], numbers[square], shades, norm, band_of.get(square), rank.get(square))
    ax.set_xlim(-0.25, length + 0.25)
    ax.set_ylim(-0.25, length + 0.25)
    ax.set_aspect("equal")
    ax.axis("off")
    ax.text(length / 2, length * 0.60, title, ha="center", va="center", fontsize=15, weight="bold", linespacing=1.4)
    bar = ax.inset_axes((length * 0.3, length * 0.40, length * 0.4, length * 0.025), transform=ax.transData)
    colours = ax.figure.colorbar(ScalarMappable(norm, shades), cax=bar, orientation="horizontal")
    colours.ax.xaxis.set_major_formatter(lambda x, _: f"{100 * x:.0f} %")
    colours.set_label(label, fontsize=10)
    return ax


def _place(square: int, side: int) -> tuple[float, float, float, float]:
    """Return x, y, width and height of a square."""
    quarter, i = divmod(square, side)
    length = 2 * CORNER + side - 1
    near, far = 0.0, length - CORNER
    if i == 0:
        x, y = ((far, near), (near, near), (near, far), (far, far))[quarter]
        return x, y, CORNER, CORNER
    up, down = CORNER + i - 1, length - CORNER - i
    return ((down, near, 1, CORNER), (near, up, CORNER, 1), (up, far, 1, CORNER), (far, down, CORNER, 1))[quarter]


def _square(
    ax: Axes,
    place: tuple[float, float, float, float],
    name: str,
    value: float,
    shades: Colormap,
    norm: Normalize,
    band: str | None,
    rank: int | None,
) -> None:
    x, y, width, height = place
    shade = shades(norm(value))
    ink = "white" if 0.299 * shade[0] + 0.587 * shade[1] + 0.114 * shade[2] < 0.5 else "black"
    marked = rank is not None
    edge = Rectangle(
        (x, y), width, height, facecolor=shade, edgecolor="black", linewidth=2.4 if marked else 0.8, zorder=2 + marked
    )
    ax.add_patch(edge)
    if band:
        ax.add_patch(Rectangle(*_band(x, y, width, height), facecolor=band, edgecolor="black", linewidth=0.6, zorder=4))
    middle_x, middle_y = x + width / 2, y + height / 2
    if band:
        shift = 0.1
        middle_x += -shift if width > height and x == 0 else shift if width > height else 0
        middle_y += -shift if height > width and y == 0 else shift if height > width else 0
    ax.text(middle_x, middle_y + 0.17, name, ha="center", va="center", color=ink, fontsize=8.5, weight="bold", zorder=5)
    ax.text(middle_x, middle_y - 0.17, f"{100 * value:.2f}", ha="center", va="center", color=ink, fontsize=8.5, zorder=5)
    if rank is not None:
        at = _badge(x, y, width, height)
        ax.add_patch(Circle(at, 0.19, facecolor="#d9480f", edgecolor="white", linewidth=1, zorder=6))
        ax.text(*at, str(rank), ha="center", va="center_baseline", color="white", fontsize=8, weight="bold", zorder=7)


def _band(x: float, y: float, width: float, height: float) -> tuple[tuple[float, float], float, float]:
    """Return the strip at the side of a square that faces the middle of the board."""
    thick = 0.22
    if height > width:
        return ((x, y + height - thick), width, thick) if y == 0 else ((x, y), width, thick)
    return ((x + width - thick, y), thick, height) if x == 0 else ((x, y), thick, height)


def _badge(x: float, y: float, width: float, height: float) -> tuple[float, float]:
    """Return the middle of the outer edge of a square, or the outer corner of a corner square."""
    if width == height:
        return (x if x == 0 else x + width), (y if y == 0 else y + height)
    if height > width:
        return x + width / 2, (y if y == 0 else y + height)
    return (x if x == 0 else x + width), y + height / 2
