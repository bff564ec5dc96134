"""Heat maps, lines and error bars over the axes of a sweep: each function takes Axes and labelled arrays, and returns the Axes.

Shades run from light to dark, and lines differ in dash and marker as well as in colour, so that a picture reads in grey.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle
from matplotlib.pyplot import get_cmap
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from pipeline.answer import described, labelled, unit_of
from pipeline.hover import tip
from pipeline.plots_board import DIVERGING, SEQUENTIAL

MAX_LINES = 10
"""Lines that can be told apart."""

MAX_TIPS = 4000
"""Cells or points beyond which a picture has no tips, which would make it slow to open."""

_DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))
_MARKERS = "osD^vPX<>*"
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")
"""Colours of Okabe and Ito, which stand out on white and on black."""


def heatmap(ax: Axes, values: xr.DataArray, *, title: str = "", label: str = "", signed: bool = False) -> Axes:
    """Shade a value over two dimensions.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    values : xarray.DataArray, two dimensions
        The first runs upwards and the second to the right.  NaN leaves a cell empty.
    title, label : str
        Above the picture, and beside the colour bar; by default what the variable says it is.
    signed : bool
        Whether the values are changes, shaded to both sides of zero.

    Returns
    -------
    matplotlib.axes.Axes
        The same.

    Raises
    ------
    ValueError
        If there are not two dimensions, or no value to draw.
    """
    if values.ndim != 2:
        raise ValueError(f"a heat map needs two dimensions, not {values.ndim}")
    numbers = np.asarray(values, dtype=float)
    finite = numbers[np.isfinite(numbers)]
    if not finite.size:
        raise ValueError("a heat map needs at least one value")
    signed = signed or bool(finite.min() < 0 < finite.max())
    largest = float(abs(finite).max()) or 1.0
    low = -largest if signed else 0.0 if 0 <= finite.min() < 0.6 * largest else float(finite.min())
    shades, norm = get_cmap(DIVERGING if signed else SEQUENTIAL), Normalize(low, largest if signed else float(finite.max()))
    rows, columns = (labelled(values[str(dim)]) for dim in values.dims)
    percent = _is_share(values, numbers)
    if numbers.size <= MAX_TIPS:
        for i, j in itertools.product(range(len(rows)), range(len(columns))):
            known = np.isfinite(numbers[i, j])
            colour = shades(norm(numbers[i, j])) if known else "none"
            cell = Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=colour, edgecolor=colour, linewidth=0.3)
            text = _number(numbers[i, j], percent) if known else "no value"
            tip(cell, f"{values.dims[0]} {rows[i]}, {values.dims[1]} {columns[j]}: {text}")
            ax.add_patch(cell)
    else:
        ax.pcolormesh(np.arange(len(columns)), np.arange(len(rows)), numbers, cmap=shades, norm=norm, rasterized=True)
    ax.set_xlim(-0.5, len(columns) - 0.5)
    ax.set_ylim(-0.5, len(rows) - 0.5)
    _label_ticks(ax, "y", rows)
    _label_ticks(ax, "x", columns)
    ax.set_ylabel(described(values[str(values.dims[0])]))
    ax.set_xlabel(described(values[str(values.dims[1])]))
    ax.set_title(title)
    bar = ax.figure.colorbar(ScalarMappable(norm, shades), ax=ax, label=label or described(values), pad=0.015)
    if percent:
        bar.ax.yaxis.set_major_formatter(lambda x, _: f"{100 * x:.3g} %")
    return ax


def lines(ax: Axes, values: xr.DataArray, *, title: str = "", label: str = "", legend: bool = True) -> Axes:
    """Draw a value against a dimension, with a line for each label of another.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    values : xarray.DataArray, one or two dimensions
        The last dimension runs to the right.  NaN leaves a gap.
    title, label : str
        Above the picture, and beside the vertical axis; by default what the variable says it is.
    legend : bool
        Whether to say which line is which, at the right.

    Returns
    -------
    matplotlib.axes.Axes
        The same.

    Raises
    ------
    ValueError
        If there are not one or two dimensions, more lines than can be told apart, or no value to draw.
    """
    if values.ndim not in (1, 2):
        raise ValueError(f"lines need one or two dimensions, not {values.ndim}")
    if values.ndim == 2 and len(values) > MAX_LINES:
        raise ValueError(f"{len(values)} lines cannot be told apart (at most {MAX_LINES} can): narrow {values.dims[0]}")
    numbers = np.asarray(values, dtype=float)
    if not np.isfinite(numbers).any():
        raise ValueError("lines need at least one value")
    x_name = str(values.dims[-1])
    names = labelled(values[x_name])
    x, categories = _positions(values[x_name])
    rows = labelled(values[str(values.dims[0])]) if values.ndim == 2 else [""]
    percent = _is_share(values, numbers)
    tips = numbers.size <= MAX_TIPS
    for k, (row, numbers_of) in enumerate(zip(rows, numbers.reshape(len(rows), -1), strict=True)):
        style: dict[str, Any] = {
            "color": _COLOURS[k % len(_COLOURS)],
            "linestyle": _DASHES[k % len(_DASHES)],
            "marker": _MARKERS[k % len(_MARKERS)],
        }
        ax.plot(x, numbers_of, label=row, markersize=4.5 if len(x) <= 60 else 0, linewidth=1.6, **style)
        for at, name, value in zip(x, names, numbers_of, strict=True):
            if tips and np.isfinite(value):
                (point,) = ax.plot([at], [value], marker="o", markersize=9, alpha=0.0)
                where = f"{values.dims[0]} {row}, " if row else ""
                tip(point, f"{where}{x_name} {name}: {_number(value, percent)}{_unit(values)}")
    if categories:
        _label_ticks(ax, "x", categories)
    elif values[x_name].dtype.kind in "iu":
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if percent:
        ax.yaxis.set_major_formatter(lambda y, _: f"{100 * y:.3g} %")
    ax.set_xlabel(described(values[x_name]))
    ax.set_ylabel(label or described(values))
    ax.set_title(title)
    ax.grid(alpha=0.25, linewidth=0.6)
    if legend and values.ndim == 2:
        handles, texts = ax.get_legend_handles_labels()
        last = [_last(numbers[k]) for k in range(len(rows))]
        order = sorted(range(len(rows)), key=lambda k: -last[k])
        shown = [(handle, text) for handle, text in zip(handles, texts, strict=True) if not text.startswith("_")]
        ax.legend(
            [shown[k][0] for k in order],
            [shown[k][1] for k in order],
            title=str(values.dims[0]),
            loc="center left",
            bbox_to_anchor=(1.01, 0.5),
            frameon=False,
            handlelength=3,
        )
    return ax


def errors(
    ax: Axes, frequency: xr.DataArray, standard_error: xr.DataArray, exact: xr.DataArray | None = None, *, title: str = ""
) -> Axes:
    """Draw frequencies with error bars of two standard errors, over the exact values if they are known.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    frequency, standard_error : xarray.DataArray, one dimension
    exact : xarray.DataArray, optional
        Of the same shape.  The title then says how many frequencies lie within two standard errors.
    title : str

    Returns
    -------
    matplotlib.axes.Axes
        The same.

    Raises
    ------
    ValueError
        If the shapes differ or there is more than one dimension.
    """
    if frequency.ndim != 1 or frequency.shape != standard_error.shape or (exact is not None and exact.shape != frequency.shape):
        raise ValueError("frequencies, standard errors and exact values need the same one dimension")
    names = labelled(frequency[str(frequency.dims[0])])
    x = np.arange(len(names))
    value, bar = np.asarray(frequency, float), 2 * np.asarray(standard_error, float)
    if exact is not None:
        truth = np.asarray(exact, float)
        ax.hlines(truth, x - 0.42, x + 0.42, color="#9aa5ad", linewidth=5, label="exact", zorder=1)
        inside = int((abs(value - truth) <= bar).sum())
        agreement = f"{inside} of {len(x)} within two standard errors of the exact value"
        title = f"{title}\n{agreement}" if title else agreement
    ax.errorbar(
        x,
        value,
        yerr=bar,
        fmt="o",
        color="#0072b2",
        markersize=3.5,
        capsize=2.5,
        linewidth=1.1,
        label="frequency ± 2 s.e.",
        zorder=3,
    )
    for k, name in enumerate(names):
        (point,) = ax.plot([x[k]], [value[k]], marker="o", markersize=9, alpha=0.0)
        known = f", exact {100 * float(exact[k]):.4f} %" if exact is not None else ""
        tip(point, f"{name}: {100 * value[k]:.4f} % ± {50 * bar[k]:.4f} %{known}")
    _label_ticks(ax, "x", names)
    ax.set_xlim(-0.8, len(x) - 0.2)
    ax.set_xlabel(described(frequency[str(frequency.dims[0])]))
    ax.set_ylabel(described(frequency))
    ax.yaxis.set_major_formatter(lambda y, _: f"{100 * y:.3g} %")
    ax.set_title(title)
    ax.grid(axis="y", alpha=0.25, linewidth=0.6)
    ax.legend(frameon=False, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    return ax


def deviations(ax: Axes, frequency: xr.DataArray, standard_error: xr.DataArray, exact: xr.DataArray) -> Axes:
    """Draw how many standard errors each frequency lies from the exact value, with the band of two.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    frequency, standard_error, exact : xarray.DataArray, one dimension
        Where the standard error is zero, there is nothing to draw.

    Returns
    -------
    matplotlib.axes.Axes
        The same.
    """
    names = labelled(frequency[str(frequency.dims[0])])
    error = np.asarray(standard_error, float)
    difference = np.asarray(frequency, float) - np.asarray(exact, float)
    steps = np.divide(difference, error, out=np.full(len(names), np.nan), where=error > 0)
    x = np.arange(len(names))
    ax.axhspan(-2, 2, color="#9aa5ad", alpha=0.25, linewidth=0)
    ax.vlines(x, 0, steps, color=_COLOURS[0], linewidth=1.4)
    for k, name in enumerate(names):
        if np.isfinite(steps[k]):
            (point,) = ax.plot([x[k]], [steps[k]], marker="o", markersize=4, color=_COLOURS[0])
            tip(point, f"{name}: {steps[k]:+.2f} standard errors")
    ax.set_xlim(-0.8, len(x) - 0.2)
    reach = max(3.2, 1.1 * float(np.nanmax(abs(steps), initial=0.0)))
    ax.set_ylim(-reach, reach)
    _label_ticks(ax, "x", names)
    ax.set_ylabel("difference\n[standard errors]")
    ax.set_xlabel(described(frequency[str(frequency.dims[0])]))
    return ax


def _positions(coordinate: xr.DataArray) -> tuple[NDArray[Any], list[str]]:
    """Return where labels stand on an axis, and their texts if they are words and stand one after another."""
    if coordinate.dtype.kind in "iuf" and f"{coordinate.dims[0]}_name" not in coordinate.coords:
        return np.asarray(coordinate.values, float), []
    names = labelled(coordinate)
    return np.arange(len(names)), names


def _label_ticks(ax: Axes, which: str, names: list[str]) -> None:
    """Write the labels along an axis, as many as there is room for, turned if they are long."""
    step = -(-len(names) // 40)
    places = list(range(0, len(names), step))
    turned = which == "x" and max(map(len, names)) * len(places) > 90
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_ticks(places, [names[i] for i in places], fontsize=8 if len(places) > 16 else 9, rotation=90 if turned else 0)


def _is_share(values: xr.DataArray, numbers: NDArray[Any]) -> bool:
    """Return whether to print percentages: plain numbers that are called a probability, a frequency or a change of one."""
    meaning = str(values.attrs.get("long_name", "")).lower()
    called = any(word in meaning for word in ("probability", "frequency", "fraction", "chance", "share"))
    return called and not unit_of(values) and bool(np.nanmax(abs(numbers)) <= 1)


def _number(value: float, percent: bool) -> str:
    return f"{100 * value:.4g} %" if percent else f"{value:.6g}"


def _unit(values: xr.DataArray) -> str:
    unit = unit_of(values)
    return f" {unit}" if unit else ""


def _last(row: NDArray[Any]) -> float:
    finite = row[np.isfinite(row)]
    return float(finite[-1]) if finite.size else -np.inf
