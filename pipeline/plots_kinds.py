"""The kinds of pictures: what each takes from an answer, and how it lays it out on a figure."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from pipeline.answer import (
    answers,
    axes,
    contents,
    described,
    label_text,
    main_variable,
    numeric,
    own_dims,
    point_details,
    specification,
    title_of,
    usual,
    variables,
)
from pipeline.hover import Picture
from pipeline.plots_axes import MAX_LINES, deviations, errors, heatmap, lines
from pipeline.plots_board import board
from pipeline.plots_strategy import columns_needed, hider, strategy, taker


@dataclass(frozen=True)
class Request:
    """What is to be drawn.

    Attributes
    ----------
    dataset : xarray.Dataset
    variable : str
        Empty for the one that the study shows first.
    base : xarray.Dataset or None
        What a change is measured from.
    exact : xarray.Dataset or None
        The answer that frequencies are compared with.
    """

    dataset: xr.Dataset
    variable: str = ""
    base: xr.Dataset | None = None
    exact: xr.Dataset | None = None


def on_squares(request: Request) -> tuple[str, str]:
    """Return a variable and the dimension of squares that it is drawn over.

    Raises
    ------
    ValueError
        If there is none.
    """
    dataset = request.dataset
    names = [request.variable] if request.variable else [main_variable(dataset)[0], *variables(dataset)]
    for name in names:
        if numeric(dataset, name) and "square" in dataset[name].dims:
            return name, "square"
    if _board_of(dataset):
        for dim in axes(dataset):
            if str(dataset[dim].attrs.get("long_name", "")).startswith("square"):
                return names[0], dim
    raise ValueError("no variable has a dimension of squares")


def long_axes(dataset: xr.Dataset) -> list[str]:
    """Return the axes of the sweep that have several labels left, numbers before words and long before short."""
    found = [dim for dim in axes(dataset) if dataset.sizes[dim] > 1]
    return sorted(found, key=lambda dim: (not numeric(dataset, dim), -dataset.sizes[dim]))


def _board_of(dataset: xr.Dataset) -> Mapping[str, Any]:
    """Return the contents of the board that all points share, empty if there is none."""
    found = specification(dataset).get("fixed", {}).get("board")
    return found["value"] if isinstance(found, dict) and isinstance(found.get("value"), dict) else {}


def _pinned(dataset: xr.Dataset, name: str, keep: Iterable[str]) -> tuple[xr.DataArray, str]:
    """Reduce a variable to the dimensions that a picture has room for, and say at which labels of the others."""
    main, chosen = main_variable(dataset)
    kept = set(keep)
    own = own_dims(dataset, name)
    for dim in map(str, dataset[name].dims):
        if dim in kept:
            continue
        label = chosen.get(dim, dataset[dim].values[0]) if dim in own and name == main else usual(dataset, dim)
        dataset = dataset.sel({dim: label})
    values = answers(dataset, name).load()
    varied = [str(dimension["name"]) for dimension in specification(dataset).get("dimensions", ())]
    scalars = [dim for dim in dict.fromkeys([*varied, *own, *chosen]) if dim in values.coords and values.coords[dim].ndim == 0]
    return values, ", ".join(f"{dim}={label_text(values.coords[dim].values[()])}" for dim in scalars)


def _titled(dataset: xr.Dataset, said: str) -> str:
    return f"{title_of(dataset)}\n{said}" if said else title_of(dataset)


def _wrapped(text: str, width: int) -> str:
    return "\n".join(line for part in text.split("\n") for line in textwrap.wrap(part, width, break_on_hyphens=False))


def _around(dataset: xr.Dataset, values: xr.DataArray, dim: str) -> xr.DataArray:
    """Return values on every square of the board; squares that are not on the axis have none."""
    size = _board_of(dataset).get("size")
    if not isinstance(size, int) or (dim == "square" and values.sizes[dim] == size):
        return values
    whole = values.drop_vars([name for name in values.coords if name != dim]).rename({dim: "square"})
    whole = whole.reindex(square=np.arange(size))
    names = _board_of(dataset).get("names")
    if isinstance(names, list) and len(names) == size:
        whole = whole.assign_coords(square_name=("square", names))
    return whole


def _groups(dataset: xr.Dataset) -> Mapping[str, list[int]]:
    groups = _board_of(dataset).get("groups", {})
    return groups if isinstance(groups, dict) else {}


def _board(request: Request) -> Figure:
    name, dim = on_squares(request)
    values, said = _pinned(request.dataset, name, {dim})
    figure = Picture(figsize=(9, 9), layout="constrained")
    _draw_board(figure, request.dataset, _around(request.dataset, values, dim), said, described(values), signed=False)
    return figure


def _change(request: Request) -> Figure:
    dataset = request.dataset
    if request.base is None:
        raise ValueError("say what the change is from, such as --against sides=6")
    try:
        name, dim = on_squares(request)
        keep = [dim]
    except ValueError:
        name, dim = request.variable or main_variable(dataset)[0], ""
        keep = long_axes(dataset)[:2]
    values, said = _pinned(dataset, name, keep)
    base, base_said = _pinned(request.base, name, keep)
    change = (values - base).assign_attrs(values.attrs)
    differing = sorted(set(base_said.split(", ")) - set(said.split(", "))) if base_said != said else [base_said]
    said = f"{said}\nchange from {', '.join(differing)}".strip()
    label = f"change of {described(values)}"
    if dim:
        figure = Picture(figsize=(9, 9), layout="constrained")
        _draw_board(figure, dataset, _around(dataset, change, dim), said, label, signed=True)
        return figure
    if change.ndim == 2:
        figure = _heatmap_figure(change)
        heatmap(figure.subplots(), change, title=_titled(dataset, said), label=_wrapped(label, 52), signed=True)
        return figure
    figure = Picture(figsize=(9, 5.2), layout="constrained")
    lines(figure.subplots(), change, title=_titled(dataset, said), label=_wrapped(label, 52))
    return figure


def _draw_board(figure: Figure, dataset: xr.Dataset, values: xr.DataArray, said: str, label: str, *, signed: bool) -> None:
    board(
        figure.subplots(),
        values,
        _groups(dataset),
        title=_wrapped(title_of(dataset), 34),
        subtitle=_wrapped(said, 48),
        label=_wrapped(label, 52),
        signed=signed,
    )


def _heatmap_figure(values: xr.DataArray) -> Picture:
    rows, columns = values.shape
    return Picture(figsize=(min(14.0, 5 + 0.2 * columns), min(10.0, 3.4 + 0.17 * rows)), layout="constrained")


def _heatmap(request: Request) -> Figure:
    dataset = request.dataset
    names = [request.variable] if request.variable else [main_variable(dataset)[0], *variables(dataset)]
    long = long_axes(dataset)
    own = {name: [dim for dim in own_dims(dataset, name) if dataset.sizes[dim] > 1] for name in names if numeric(dataset, name)}
    if "square" in dataset.dims and long:
        wanted = next((name for name in own if own[name] == ["square"]), names[0])
        keep = [long[0], "square"]
    else:
        wanted = names[0]
        keep = [*reversed(long), *own.get(wanted, ())][:2] if len(long) < 2 else [long[1], long[0]]
    if len(keep) < 2:
        raise ValueError("two dimensions with several labels are needed: select less")
    values, said = _pinned(dataset, wanted, keep)
    values = values.transpose(*keep)
    figure = _heatmap_figure(values)
    heatmap(figure.subplots(), values, title=_titled(dataset, said), label=_wrapped(described(values), 48))
    return figure


def _lines(request: Request) -> Figure:
    dataset = request.dataset
    figure = Picture(figsize=(9, 5.2), layout="constrained")
    name, _ = _line_variable(request)
    values, said = _line_values(dataset, name)
    title = _titled(dataset, said)
    lines(figure.subplots(), values, title=title, label=_wrapped(described(values), 48))
    return figure


def _line_variable(request: Request) -> tuple[str, bool]:
    if request.variable:
        return request.variable, True
    main, _ = main_variable(request.dataset)
    try:
        return on_squares(request)[0], True
    except ValueError:
        return main, False


def _line_values(dataset: xr.Dataset, name: str) -> tuple[xr.DataArray, str]:
    """Return a variable against its best axis, with a line for each label of the next; the largest ones if there are many."""
    main, chosen = main_variable(dataset)
    long = long_axes(dataset)
    own = [dim for dim in own_dims(dataset, name) if dataset.sizes[dim] > 1 and not (name == main and dim in chosen)]
    room = [*long, *own] if not own or own == ["square"] or not long else [own[0], *long]
    if not room:
        raise ValueError(f"{name} is one number here: select less")
    x, rest = room[0], room[1:]
    series = (
        next(iter(own), None) if own == ["square"] and rest else next((d for d in rest if dataset.sizes[d] <= MAX_LINES), None)
    )
    series = series or (rest[0] if rest else None)
    if series is None:
        return _pinned(dataset, name, {x})
    values, said = _pinned(dataset, name, {x, series})
    values = values.transpose(series, x)
    if values.sizes[series] > MAX_LINES:
        order = np.argsort(-np.nan_to_num(values.mean(x).values), kind="stable")[:6]
        said = f"{said}; the six largest of {values.sizes[series]} along {series}".removeprefix("; ")
        values = values.isel({series: order})
    return values, said


def _value(request: Request) -> Figure:
    dataset = request.dataset
    names = [request.variable] if request.variable else ["value", "saving"]
    if missing := [name for name in names if name not in dataset.data_vars]:
        raise ValueError(f"there is no variable {missing[0]!r}")
    figure = Picture(figsize=(6 * len(names) + 1.2, 5.2), layout="constrained")
    panels = np.atleast_1d(figure.subplots(1, len(names)))
    said = ""
    for ax, name in zip(panels, names, strict=True):
        values, said = _line_values(dataset, name)
        lines(ax, values, title=name, label=_wrapped(described(values), 44), legend=ax is panels[-1])
    figure.suptitle(_titled(dataset, said), fontsize=12)
    return figure


def _errors(request: Request) -> Figure:
    dataset = request.dataset
    if missing := [name for name in ("frequency", "standard_error") if name not in dataset.data_vars]:
        raise ValueError(f"there is no variable {missing[0]!r}")
    keep = set(own_dims(dataset, "frequency")) or set(long_axes(dataset)[:1])
    frequency, said = _pinned(dataset, "frequency", keep)
    error, _ = _pinned(dataset, "standard_error", keep)
    exact = _exact_values(request, frequency, keep)
    if exact is None:
        figure = Picture(figsize=(12, 5.4), layout="constrained")
        errors(figure.subplots(), frequency, error, title=_titled(dataset, said))
        return figure
    figure = Picture(figsize=(12, 7.4), layout="constrained")
    upper, lower = figure.subplots(2, 1, height_ratios=[2.2, 1])
    errors(upper, frequency, error, exact, title=_titled(dataset, said)).set_xlabel("")
    deviations(lower, frequency, error, exact)
    return figure


def _exact_values(request: Request, frequency: xr.DataArray, keep: set[str]) -> xr.DataArray | None:
    """Return the exact values at the labels of the frequencies, from the other answer or from this one if it has them."""
    other = request.exact if request.exact is not None else request.dataset
    name = next((name for name in ("exact", "probability", "expected") if name in other.data_vars), None)
    if name is None:
        if request.exact is not None:
            raise ValueError("the exact answer has no variable called exact, probability or expected")
        return None
    if other is not request.dataset:
        other = _same_point(other, request.dataset, frequency)
    exact, _ = _pinned(other, name, keep)
    (dim,) = frequency.dims
    return exact.reindex({dim: frequency[dim].values}) if dim in exact.dims else None


def _same_point(other: xr.Dataset, dataset: xr.Dataset, values: xr.DataArray) -> xr.Dataset:
    """Narrow an answer to the point of another one's values; decks and boards are the same if their contents are.

    Raises
    ------
    ValueError
        If it has no such point, or has it under another rule.
    """
    plain = specification(dataset)
    asked = {*plain.get("fixed", ()), *(str(dimension["name"]) for dimension in plain.get("dimensions", ()))}
    for name in map(str, other.coords):
        if name not in values.coords or values.coords[name].ndim or (plain and name not in asked):
            continue
        label = values.coords[name].values[()]
        wanted = contents(dataset, name, label)
        labels = np.atleast_1d(other[name].values)
        found = [i for i, here in enumerate(labels) if (contents(other, name, here) == wanted if plain else here == label)]
        if not found:
            raise ValueError(f"the exact answer has no point with {name}={label_text(label)}")
        if name in other.dims:
            other = other.isel({name: found[0]})
    return other


def _strategy(request: Request) -> Figure:
    dataset = request.dataset
    for dim in axes(dataset):
        dataset = dataset.isel({dim: 0}) if dataset.sizes[dim] == 1 else dataset.sel({dim: usual(dataset, dim)})
    details = point_details(dataset)
    if not {"roll", "hide", "chance", "visible", "take_hidden"} <= set(details.variables):
        raise ValueError("the study keeps no strategy")
    hiding, taking = hider(details), taker(details)
    parts = columns_needed(hiding), columns_needed(taking)
    rows = max(-(-len(mix.states) // n) for mix, n in zip((hiding, taking), parts, strict=True))
    widths = [*[len(hiding.options) * 0.42 + 1.1] * parts[0], *[1.7] * parts[1]]
    figure = Picture(figsize=(sum(widths) + 1, 0.215 * rows + 1.7), layout="constrained")
    panels = list(np.atleast_1d(figure.subplots(1, len(widths), width_ratios=widths)))
    strategy(panels[: parts[0]], hiding, title="hider", state="roll", option="face hidden", rows=rows)
    strategy(panels[parts[0] :], taking, title="taker", state="faces seen", option="choice", rows=rows)
    said = ", ".join(f"{dim}={label_text(dataset[dim].values[()])}" for dim in ("dice", "sides") if dim in dataset.coords)
    figure.suptitle(f"An optimal strategy for each side, with its chances\n{said}", fontsize=12)
    return figure


KINDS: Mapping[str, Callable[[Request], Figure]] = {
    "board": _board,
    "heatmap": _heatmap,
    "lines": _lines,
    "change": _change,
    "value": _value,
    "strategy": _strategy,
    "errors": _errors,
}
"""Names of the kinds and what draws them."""
