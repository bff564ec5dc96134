"""Two answers side by side, aligned by their labels: what they share, and where they differ most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pipeline.answer import axes, label_text, numeric, variables
from pipeline.errors import UserError
from pipeline.store import DONE
from pipeline.table import PIECE_BYTES, regions


@dataclass(frozen=True)
class Difference:
    """How much one variable differs.

    Attributes
    ----------
    variable : str
    compared, differing : int
        Values that both have, and those that are not the same.
    largest : float
        The largest absolute difference; NaN for words.
    where : mapping of str to object
        The labels of the first place where that is; empty if nothing differs.
    first, second : object
        The values there.
    """

    variable: str
    compared: int
    differing: int
    largest: float
    where: Mapping[str, Any]
    first: Any
    second: Any


@dataclass(frozen=True)
class Comparison:
    """What two answers have in common, and how it differs.

    Attributes
    ----------
    points : int
        Points with labels that both have, done or not.
    only : tuple of str
        What just one of them has, in words.
    differences : tuple of Difference
    """

    points: int
    only: tuple[str, ...]
    differences: tuple[Difference, ...]

    @property
    def largest(self) -> float:
        """The largest absolute difference of a number; infinite if words differ."""
        return max((np.inf if np.isnan(d.largest) else d.largest for d in self.differences if d.differing), default=0.0)


def compare(first: xr.Dataset, second: xr.Dataset) -> Comparison:
    """Compare two answers at the labels that they share.

    An axis of one that is a fixed value in the other is compared at that value.  Points that are not done in both are left
    out; NaN equals NaN.

    Raises
    ------
    UserError
        If they share no point or no variable.
    """
    only: list[str] = []
    first, second = _at_fixed(first, second), _at_fixed(second, first)
    if set(axes(first)) != set(axes(second)):
        strange = sorted(set(axes(first)) ^ set(axes(second)))
        raise UserError(f"the two have no points in common: only one has the axis {strange[0]}")
    for dim in (*axes(first), *(str(d) for d in first.sizes if d in second.sizes and d not in axes(first))):
        first, second = _shared(first, second, dim, only)
    names = [name for name in variables(first) if name in second.data_vars]
    for one, other, which in ((first, second, "first"), (second, first, "second")):
        only += [f"variable {name}: only the {which} has it" for name in variables(one) if name not in other.data_vars]
    if not names:
        raise UserError("the two have no variable in common")
    for name in sorted(str(n) for n in first.coords if first[n].ndim == 0 and n in second.coords and second[n].ndim == 0):
        if first[name].item() != second[name].item():
            only.append(
                f"{name} is {label_text(first[name].item())} in the first and {label_text(second[name].item())} in the second"
            )
    points = int(np.prod([first.sizes[dim] for dim in axes(first)], dtype=np.int64))
    return Comparison(points, tuple(only), tuple(_difference(first, second, name) for name in names))


def _at_fixed(dataset: xr.Dataset, other: xr.Dataset) -> xr.Dataset:
    for dim in axes(dataset):
        if dim in other.coords and other[dim].ndim == 0:
            label = other[dim].values[()]
            found = np.flatnonzero(dataset[dim].values == label)
            if not len(found):
                raise UserError(f"the two have no points in common: {dim} is {label_text(label)} in one and never in the other")
            dataset = dataset.isel({dim: int(found[0])})
    return dataset


def _shared(first: xr.Dataset, second: xr.Dataset, dim: str, only: list[str]) -> tuple[xr.Dataset, xr.Dataset]:
    here, there = first[dim].values.tolist(), second[dim].values.tolist()
    place = {label: i for i, label in enumerate(there)}
    shared = [(i, place[label]) for i, label in enumerate(here) if label in place]
    if not shared:
        raise UserError(f"the two have no points in common: no label of {dim} is in both")
    for labels, other, which in ((here, set(there), "first"), (there, set(here), "second")):
        if extra := [label_text(label) for label in labels if label not in other]:
            some = ", ".join(extra[:3]) + (", ..." if len(extra) > 3 else "")
            only.append(f"{dim}: only the {which} has {some}")
    if len(shared) == len(here) == len(there) and all(i == j for i, j in shared):
        return first, second
    return first.isel({dim: [i for i, _ in shared]}), second.isel({dim: [j for _, j in shared]})


def _difference(first: xr.Dataset, second: xr.Dataset, name: str) -> Difference:
    """Walk over both in regions of bounded size."""
    dims = [str(dim) for dim in first[name].dims]
    number = numeric(first, name) and numeric(second, name)
    found = Difference(name, 0, 0, 0.0 if number else np.nan, {}, None, None)
    for region in regions([first.sizes[dim] for dim in dims], PIECE_BYTES // 8):
        at = dict(zip(dims, region, strict=True))
        here, there = first.isel(at), second.isel(at)
        done = (here["status"] == DONE) & (there["status"].transpose(*here["status"].dims) == DONE).values
        one, other = here[name].values, there[name].transpose(*dims).values
        known = np.broadcast_to(done.values.reshape([here.sizes[d] if d in done.dims else 1 for d in dims]), one.shape)
        found = _worse(found, here, dims, known, one, other, number=number)
    return found


def _worse(
    found: Difference, here: xr.Dataset, dims: list[str], known: Any, one: Any, other: Any, *, number: bool
) -> Difference:
    same = one == other
    if number:
        one, other = one.astype(float), other.astype(float)
        same = same | (np.isnan(one) & np.isnan(other))
    differs = known & ~same
    compared, differing = found.compared + int(known.sum()), found.differing + int(differs.sum())
    size = np.where(differs, np.nan_to_num(abs(one - other), nan=np.inf) if number else 1.0, 0.0)
    worst = float(size.max(initial=0.0))
    if worst > (found.largest if number else float(found.differing > 0)):
        place = np.unravel_index(int(size.argmax()), size.shape)
        where = {dim: here[dim].values[i] if dim in here.coords else int(i) for dim, i in zip(dims, place, strict=True)}
        largest = worst if number else np.nan
        return Difference(found.variable, compared, differing, largest, where, one[place], other[place])
    return Difference(found.variable, compared, differing, found.largest, found.where, found.first, found.second)


def show_comparison(comparison: Comparison) -> RenderableType:
    """Return a comparison for a terminal."""
    table = Table(header_style="bold", box=SIMPLE_HEAD)
    for column in ("variable", "values", "differing", "largest", "where", "first", "second"):
        table.add_column(column, justify="left" if column in ("variable", "where") else "right", overflow="fold")
    for d in comparison.differences:
        where = "  ".join(f"{dim}={label_text(label)}" for dim, label in d.where.items())
        size = "" if np.isnan(d.largest) else f"{d.largest:.3g}"
        values = ("", "") if d.first is None else (label_text(d.first), label_text(d.second))
        table.add_row(d.variable, f"{d.compared:,}", f"{d.differing:,}", size, where, *values)
    head = Text(f"{comparison.points:,} points in common", style="bold")
    return Group(head, *(Text(line, style="dim") for line in comparison.only), table)


def records(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON can hold it."""

    def plain(item: Any) -> Any:
        item = item.item() if isinstance(item, np.generic) else item
        return None if isinstance(item, float) and not np.isfinite(item) else item

    rows = [
        {
            "variable": d.variable,
            "compared": d.compared,
            "differing": d.differing,
            "largest": plain(d.largest),
            "where": {dim: plain(label) for dim, label in d.where.items()},
            "first": plain(d.first),
            "second": plain(d.second),
        }
        for d in comparison.differences
    ]
    return {"points": comparison.points, "only": list(comparison.only), "differences": rows}
