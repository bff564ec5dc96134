"""A strategy as a picture: for each state of knowledge, the chance of each thing that may be done there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.pyplot import get_cmap

from pipeline.hover import tip
from pipeline.plots_board import SEQUENTIAL, ink_on

MAX_ROWS = 130
"""States that one picture has room for."""


TAKE = "take hidden"


@dataclass(frozen=True)
class Mix:
    """What is done in each state.

    Attributes
    ----------
    states : tuple of str
    options : tuple of str
        What may be done.
    chances : mapping of (str, str) to (float, str)
        State and option to the chance and how it is written; what is not there cannot be done.
    """

    states: tuple[str, ...]
    options: tuple[str, ...]
    chances: dict[tuple[str, str], tuple[float, str]]


def hider(details: xr.Dataset) -> Mix:
    """Read which die is hidden of each roll, from the columns ``roll``, ``hide``, ``chance`` and ``chance_exact``."""
    rolls = [str(roll) for roll in details["roll"].values]
    faces = [int(face) for face in details["hide"].values]
    options = tuple(map(str, sorted({int(face) for roll in rolls for face in roll.split()})))
    chances = {(roll, face): (0.0, "0") for roll in rolls for face in roll.split()}
    for roll, face, chance, exact in zip(rolls, faces, details["chance"].values, details["chance_exact"].values, strict=True):
        chances[roll, str(face)] = float(chance), str(exact)
    return Mix(tuple(dict.fromkeys(rolls)), options, chances)


def taker(details: xr.Dataset) -> Mix:
    """Read whether the hidden die is taken, from the columns ``visible``, ``take_hidden`` and ``take_hidden_exact``."""
    states = tuple(str(visible) for visible in details["visible"].values)
    taken = zip(states, details["take_hidden"].values, details["take_hidden_exact"].values, strict=True)
    return Mix(states, (TAKE,), {(state, TAKE): (float(chance), str(exact)) for state, chance, exact in taken})


def strategy(
    axes: Sequence[Axes], mix: Mix, *, title: str = "", state: str = "", option: str = "", rows: int = 0
) -> Sequence[Axes]:
    """Draw a row for each state and a cell for each thing that may be done, shaded and marked with its chance.

    Parameters
    ----------
    axes : sequence of matplotlib.axes.Axes
        The rows are shared out among them, in order.
    mix : Mix
    title, state, option : str
        Above the first, and along the axes.
    rows : int
        Leave room for at least this many rows, so that pictures side by side have cells of one height.

    Returns
    -------
    sequence of matplotlib.axes.Axes
        The same.

    Raises
    ------
    ValueError
        If there are more states than a picture has room for.
    """
    if len(mix.states) > MAX_ROWS:
        raise ValueError(f"{len(mix.states)} states are too many for one picture (at most {MAX_ROWS}): choose a smaller game")
    shades = get_cmap(SEQUENTIAL)
    per = -(-len(mix.states) // len(axes))
    for k, ax in enumerate(axes):
        states = mix.states[k * per : (k + 1) * per]
        for row, name in enumerate(states):
            for column, what in enumerate(mix.options):
                if (found := mix.chances.get((name, what))) is None:
                    continue
                chance, text = found
                colour = shades(0.85 * chance)
                cell = Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=colour, edgecolor="#999999", linewidth=0.6)
                tip(cell, f"{state} {name}, {option} {what}: {text}")
                ax.add_patch(cell)
                if chance > 0:
                    size = 8 if len(text) <= 5 else 6
                    ax.text(column, row, text, ha="center", va="center", fontsize=size, color=ink_on(colour))
        ax.set_xlim(-0.5, len(mix.options) - 0.5)
        ax.set_ylim(max(per, rows) - 0.5, -0.5)
        ax.set_yticks(range(len(states)), states, fontsize=8, family="monospace")
        ax.set_xticks(range(len(mix.options)), mix.options, fontsize=9)
        ax.xaxis.tick_top()
        ax.xaxis.set_label_position("top")
        ax.set_xlabel(option)
        ax.set_ylabel(state if k == 0 else "")
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
    axes[0].set_title(title, loc="left")
    return axes


def columns_needed(mix: Mix) -> int:
    """Return over how many Axes the rows are best shared out."""
    return int(np.ceil(len(mix.states) / 34))
