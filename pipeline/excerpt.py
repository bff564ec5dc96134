"""A few rows of an answer: the points of a selection, or the largest ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nlargest
from typing import Any

import numpy as np
import xarray as xr
from rich.box import SIMPLE_HEAD
from rich.table import Table as RichTable

from pipeline.answer import axes, described, headlines, label_text, labelled, main_variable, numeric, own_dims, require_variable
from pipeline.answer import variables as variables_of
from pipeline.errors import UserError
from pipeline.store import DONE
from pipeline.table import tabulate

MAX_ROWS = 200
"""Rows that a terminal is shown."""


@dataclass(frozen=True)
class Excerpt:
    """Rows with names.

    Attributes
    ----------
    columns : tuple of str
    rows : list of tuple
        Plain values; a label with its value is a pair.
    left_out : int
        Rows that there would be beyond these.
    caption : str
    """

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    left_out: int
    caption: str

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as JSON can hold them."""
        return [dict(zip(self.columns, map(_plain, row), strict=True)) for row in self.rows]

    def table(self) -> RichTable:
        """Return the rows for a terminal."""
        table = RichTable(title=self.caption, title_justify="left", title_style="italic", header_style="bold", box=SIMPLE_HEAD)
        for column in self.columns:
            table.add_column(column, justify="right", no_wrap=True)
        for row in self.rows:
            table.add_row(*map(_text, row))
        if self.left_out:
            table.caption = f"{self.left_out:,} more; --select narrows, export writes them all"
            table.caption_justify = "left"
        return table


def _text(item: Any) -> str:
    if isinstance(item, tuple):
        return f"{item[0]} {item[1]:.4g}"
    return f"{item:.6g}" if isinstance(item, float) else label_text(item)


def _plain(item: Any) -> Any:
    item = item.item() if isinstance(item, np.generic) else item
    if isinstance(item, tuple):
        return {"label": item[0], "value": _plain(item[1])}
    return None if isinstance(item, float) and not np.isfinite(item) else item


def excerpt(dataset: xr.Dataset, top: int | None = None, variable: str = "", limit: int | None = MAX_ROWS) -> Excerpt:
    """Return points of an answer with their headline, or the largest values.

    Parameters
    ----------
    dataset : xarray.Dataset
    top : int, optional
        With a variable that has one number a point: that many points where it is largest.  With one that has several: each
        point with that many of its own labels, the largest first.
    variable : str
        What to show instead of the headline.
    limit : int, optional
        Rows to stop at; None for all.
    """
    name = require_variable(dataset, variable) if variable else ""
    if top is None:
        return _points(dataset, name, limit)
    name, narrowed = _ranked_variable(dataset, name)
    return _labels(narrowed, name, top, limit) if own_dims(narrowed, name) else _largest(narrowed, name, top)


def _headline(dataset: xr.Dataset, name: str) -> tuple[xr.Dataset, list[str]]:
    """Return the dataset at the labels of the headline, and its variables."""
    shown = [headline for headline in headlines(dataset) if not name or headline.variable == name]
    for headline in shown:
        dataset = dataset.sel({dim: label for dim, label in headline.select.items() if dim in dataset.dims})
    return dataset, [name] if name else [headline.variable for headline in shown]


def _points(dataset: xr.Dataset, name: str, limit: int | None) -> Excerpt:
    narrowed, names = _headline(dataset, name)
    table = tabulate(narrowed, names=names)
    hidden = {"status", "failure"} if bool((narrowed["status"] == DONE).all()) else {"failure"}
    rows: list[tuple[Any, ...]] = []
    columns: tuple[str, ...] = ()
    for piece in table.pieces():
        columns = tuple(column for column in piece if column not in hidden)
        rows.extend(zip(*(piece[column].tolist() for column in columns), strict=True))
        if limit is not None and len(rows) >= limit:
            rows = rows[:limit]
            break
    return Excerpt(columns, rows, table.rows - len(rows), "; ".join(f"{name}: {described(dataset[name])}" for name in names))


def _ranked_variable(dataset: xr.Dataset, name: str) -> tuple[str, xr.Dataset]:
    if name and not numeric(dataset, name):
        raise UserError(f"--top: {name} is not a number (numbers are {', '.join(_numbers(dataset))})")
    if not name:
        name, labels = main_variable(dataset)
        dataset = dataset.sel({dim: label for dim, label in labels.items() if dim in dataset.dims})
    return name, dataset


def _numbers(dataset: xr.Dataset) -> Iterator[str]:
    return (name for name in variables_of(dataset) if numeric(dataset, name))


def _largest(dataset: xr.Dataset, name: str, top: int) -> Excerpt:
    table = tabulate(dataset, names=[name])
    labels = table.labels
    best: list[tuple[float, tuple[Any, ...]]] = []
    done = 0
    for piece in table.pieces():
        values = np.where(piece["status"] == "done", piece[name].astype(float), np.nan)
        good = np.flatnonzero(np.isfinite(values))
        done += len(good)
        first = good[np.argsort(-values[good], kind="stable")[:top]]
        rows = zip(*(piece[label][first].tolist() for label in labels), strict=True) if labels else [()] * len(first)
        best = nlargest(top, [*best, *zip(values[first].tolist(), rows, strict=True)], key=lambda item: item[0])
    rows = [(*where, value) for value, where in best]
    return Excerpt((*labels, name), rows, 0, f"the largest of {done:,}: {described(dataset[name])}")


def _labels(dataset: xr.Dataset, name: str, top: int, limit: int | None) -> Excerpt:
    dim, *others = own_dims(dataset, name)
    if others:
        raise UserError(f"--top: {name} has the dimensions {dim}, {', '.join(others)}: choose one with --select")
    names = labelled(dataset[dim])
    table = tabulate(dataset, names=[name])
    labels = [label for label in table.labels if label in axes(dataset)]
    rows: list[tuple[Any, ...]] = []
    for piece in table.pieces():
        values = np.stack([piece[column] for column in table.sources()], axis=-1).astype(float)
        for k in np.flatnonzero(piece["status"] == "done"):
            order = np.argsort(-np.nan_to_num(values[k], nan=-np.inf), kind="stable")[:top]
            rows.append((*(piece[label][k] for label in labels), *((names[i], float(values[k, i])) for i in order)))
        if limit is not None and len(rows) >= limit:
            break
    rows = rows[:limit]
    heads = tuple(str(place) for place in range(1, min(top, len(names)) + 1))
    return Excerpt((*labels, *heads), rows, table.rows - len(rows), f"{described(dataset[name])}, the largest first")
