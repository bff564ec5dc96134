"""The board itself: a value of every square, round the edge.

Colours run from light to dark, so that a picture reads the same in grey and to a colour-blind eye; changes carry their sign.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, Normalize
from matplotlib.patches import Circle, Rectangle
from matplotlib.pyplot import get_cmap

from pipeline.hover import INK, tip

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

SEQUENTIAL, DIVERGING = "YlGnBu", "PuOr_r"


def board(
    ax: Axes,
    values: xr.DataArray,
    groups: Mapping[str, Sequence[int]] | None = None,
    *,
    title: str = "",
    subtitle: str = "",
    label: str = "",
    top: int = 3,
    cmap: str = "",
    signed: bool = False,
) -> Axes:
    """Draw a value of every square round the edge of a board.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    values : xarray.DataArray, dims ("square",)
        Plain numbers (unit "1") between -1 and 1 are printed as percentages, others as they are; NaN leaves a square empty.
        A coordinate ``square_name`` gives the names.  The number of squares must be a multiple of four.  Square 0 is at the
        lower right, and the numbers run clockwise.
    groups : mapping of str to sequence of int, optional
        Squares that have a band in the colour of their group, see :data:`BANDS`.
    title, subtitle, label : str
        In the middle of the board, below it in lighter type, and below the colour bar.
    top : int
        How many of the largest values, or the largest changes, get a numbered mark.
    cmap : str
        Name of a colour map that runs from light to dark, or, for changes, from dark through white to dark.
    signed : bool
        Whether the values are changes, which are shaded to both sides of zero and printed with their sign.

    Returns
    -------
    matplotlib.axes.Axes
        The same.

    Raises
    ------
    ValueError
        If the squares do not fit round a square board, or there is no value to draw.
    """
    numbers = np.asarray(values, dtype=float)
    if numbers.ndim != 1 or numbers.size % 4 or numbers.size < 8:
        raise ValueError(f"a board needs a multiple of four squares, not values of shape {numbers.shape}")
    if not np.isfinite(numbers).any():
        raise ValueError("a board needs a value on at least one square")
    names = [str(name) for name in values.coords.get("square_name", values.coords["square"]).values]
    band_of = {square: BANDS[group] for group, squares in (groups or {}).items() if group in BANDS for square in squares}
    group_of = {square: group for group, squares in (groups or {}).items() for square in squares}
    side = numbers.size // 4
    length = 2 * CORNER + side - 1
    style = _Style.of(numbers, cmap, signed, percent=str(values.attrs.get("units", "1")) == "1", length=length)
    size = np.where(np.isfinite(numbers), abs(numbers) if signed else numbers, -np.inf)
    rank = {int(s): place + 1 for place, s in enumerate(np.argsort(-size, kind="stable")[:top]) if size[s] > 0}
    for square in range(numbers.size):
        whole = f"{names[square]}, {group_of[square]}" if square in group_of else names[square]
        _square(ax, _place(square, side), names[square], numbers[square], style, band_of.get(square), rank.get(square), whole)
    ax.set_xlim(-0.25, length + 0.25)
    ax.set_ylim(-0.25, length + 0.25)
    ax.set_aspect("equal")
    ax.axis("off")
    ax.text(length / 2, length * 0.60, title, ha="center", va="bottom", fontsize=15, weight="bold", linespacing=1.4)
    ax.text(length / 2, length * 0.585, subtitle, ha="center", va="top", fontsize=11, linespacing=1.4)
    bar = ax.inset_axes((length * 0.3, length * 0.40, length * 0.4, length * 0.025), transform=ax.transData)
    colours = ax.figure.colorbar(ScalarMappable(style.norm, style.shades), cax=bar, orientation="horizontal")
    colours.ax.xaxis.set_major_formatter(lambda x, _: style.tick(x))
    colours.set_label(label, fontsize=10)
    return ax


@dataclass(frozen=True)
class _Style:
    """How numbers become shades and text."""

    shades: Colormap
    norm: Normalize
    text: Callable[[float], str]
    tick: Callable[[float], str]
    long: Callable[[float], str]
    points: float

    @staticmethod
    def of(numbers: np.ndarray, cmap: str, signed: bool, *, percent: bool, length: float) -> _Style:
        finite = numbers[np.isfinite(numbers)]
        largest = float(abs(finite).max()) * 1.05 or 1.0
        percent = percent and largest <= 1.05
        sign = "+" if signed else ""
        scale = 100 if percent else 1
        unit = (" %p" if signed else " %") if percent else ""
        digits = 2 if percent or largest < 100 else 0
        if signed and percent and largest < 0.001:
            digits = 3

        def text(x: float) -> str:
            return f"{scale * x:{sign}.{digits}f}".replace("-", "\N{MINUS SIGN}")

        def tick(x: float) -> str:
            return f"{scale * x:{sign if x else ''}.3g}".replace("-", "\N{MINUS SIGN}") + unit.replace("p", "")

        return _Style(
            get_cmap(cmap or (DIVERGING if signed else SEQUENTIAL)),
            Normalize(-largest if signed or finite.min() < 0 else 0, largest),
            text,
            tick,
            lambda x: f"{scale * x:{sign}.6g}{unit.replace('%p', 'percentage points')}",
            8.5 * min(1.0, 12 / length),
        )


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
    style: _Style,
    band: str | None,
    rank: int | None,
    whole: str,
) -> None:
    x, y, width, height = place
    known = np.isfinite(value)
    shade = style.shades(style.norm(value)) if known else (1.0, 1.0, 1.0, 1.0)
    ink = ink_on(shade)
    marked = rank is not None
    edge = Rectangle((x, y), width, height, facecolor=shade, edgecolor=INK, linewidth=2.4 if marked else 0.8, zorder=2 + marked)
    tip(edge, f"{whole}: {style.long(value) if known else 'no value'}")
    ax.add_patch(edge)
    if band:
        ax.add_patch(Rectangle(*_band(x, y, width, height), facecolor=band, edgecolor=INK, linewidth=0.6, zorder=4))
    middle_x, middle_y = x + width / 2, y + height / 2
    if band:
        shift = 0.1
        middle_x += -shift if width > height and x == 0 else shift if width > height else 0
        middle_y += -shift if height > width and y == 0 else shift if height > width else 0
    points = style.points * min(1.0, 5.5 * width / max(len(name), 1))
    figure = style.text(value) if known else "\N{EN DASH}"
    ax.text(middle_x, middle_y + 0.17, name, ha="center", va="center", color=ink, fontsize=points, weight="bold", zorder=5)
    digits = style.points * min(1.0, 5.5 * width / max(len(figure), 1))
    ax.text(middle_x, middle_y - 0.17, figure, ha="center", va="center", color=ink, fontsize=digits, zorder=5)
    if rank is not None:
        at = _badge(x, y, width, height)
        ax.add_patch(Circle(at, 0.19, facecolor="#d9480f", edgecolor="white", linewidth=1, zorder=6))
        ax.text(*at, str(rank), ha="center", va="center_baseline", color="white", fontsize=8, weight="bold", zorder=7)


def ink_on(shade: Sequence[float]) -> str:
    """Return black or white, whichever reads better on a colour."""
    return "white" if 0.299 * shade[0] + 0.587 * shade[1] + 0.114 * shade[2] < 0.5 else "black"


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
