"""Pictures of answers.

:func:`picture` makes a whole figure of a dataset, of a kind chosen by what it holds.  The functions that it uses, here under
one name, take Axes and labelled arrays and return the Axes: :func:`board`, :func:`heatmap`, :func:`lines`, :func:`errors`,
:func:`deviations` and :func:`strategy`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import xarray as xr
from matplotlib.figure import Figure

from pipeline.answer import main_variable, own_dims, require_variable, study_of
from pipeline.errors import UserError, suggestion
from pipeline.hover import INK, svg
from pipeline.plots_axes import MAX_LINES, deviations, errors, heatmap, lines
from pipeline.plots_board import board
from pipeline.plots_kinds import KINDS, Request, long_axes, on_squares
from pipeline.plots_strategy import strategy
from pipeline.select import name_of, select

__all__ = ["KINDS", "board", "choose_kind", "deviations", "errors", "heatmap", "lines", "picture", "save", "strategy"]

FORMATS = (".png", ".svg", ".pdf")

STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.titlesize": 12,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.titlecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "dicesweep",
    "pdf.fonttype": 42,
}
"""How all pictures look; text stays text in SVG and PDF."""


def picture(
    dataset: xr.Dataset,
    kind: str | None = None,
    *,
    selections: Iterable[str] = (),
    against: Iterable[str] = (),
    variable: str = "",
    exact: xr.Dataset | None = None,
) -> Figure:
    """Draw an answer.

    Where a kind has no room for an axis, the label is taken that the study takes by default, or the first, and the title
    says so.

    Parameters
    ----------
    dataset : xarray.Dataset
        As :func:`pipeline.open_sweep` gives it, or a selection of it.
    kind : str, optional
        One of :data:`KINDS`; by default chosen by what the dataset holds.
    selections : iterable of str
        Such as ``"sides=6"``, see :mod:`pipeline.select`.
    against : iterable of str
        Selections that take the place of those of the same name, and say what a change is measured from.
    variable : str
        What to show, where a kind leaves it open.
    exact : xarray.Dataset, optional
        Exact values for frequencies, found by their labels.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    UserError
        If the dataset does not hold what the kind needs.
    """
    chosen, other = list(selections), list(against)
    narrowed = select(dataset, chosen)
    base = None
    if other:
        replaced = {name_of(text) for text in other}
        base = select(dataset, [*(text for text in chosen if name_of(text) not in replaced), *other])
    request = Request(narrowed, require_variable(dataset, variable) if variable else "", base, exact)
    if kind is None:
        kind = "change" if other else choose_kind(narrowed, variable)
    if kind not in KINDS:
        raise UserError(f"there is no kind of picture {kind!r}{suggestion(kind, KINDS)} (known: {', '.join(KINDS)})")
    with mpl.rc_context(STYLE):
        try:
            return KINDS[kind](request)
        except ValueError as error:
            raise UserError(f"{kind}: {error}") from None


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure as PNG, SVG (whose parts say what they are when pointed at) or PDF, by the end of the name.

    Raises
    ------
    UserError
        If the name ends otherwise or the place cannot be written.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise UserError(f"{path}: a picture's name ends in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")
    try:
        with mpl.rc_context(STYLE):
            if suffix == ".svg":
                path.write_text(f'<?xml version="1.0" encoding="utf-8"?>\n{svg(figure)}', encoding="utf-8")
            else:
                figure.savefig(path, dpi=150, metadata={"CreationDate": None} if suffix == ".pdf" else None)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}") from None


def choose_kind(dataset: xr.Dataset, variable: str = "") -> str:
    """Return the kind of picture that suits a dataset, or one variable of it.

    Raises
    ------
    UserError
        If there is but one number.
    """
    long = long_axes(dataset)
    if not variable and {"frequency", "standard_error"} <= set(dataset.data_vars):
        return "errors"
    if not variable and {"value", "saving"} <= set(dataset.data_vars):
        study = study_of(dataset)
        if long or not (study and study.details):
            return "value"
        return "strategy"
    try:
        if dataset.sizes[on_squares(Request(dataset, variable))[1]] >= 8:
            return "board"
    except ValueError:
        pass
    name = variable or main_variable(dataset)[0]
    if not long and not any(dataset.sizes[dim] > 1 for dim in own_dims(dataset, name)):
        raise UserError(f"{name} is one number here, and a picture needs several: select less")
    return "heatmap" if len(long) > 1 and min(dataset.sizes[dim] for dim in long[:2]) > MAX_LINES else "lines"
