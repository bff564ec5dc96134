"""An answer as a tidy table: a row for each point, the last axis fastest, read in pieces of bounded size.

In the wide layout a variable with dimensions of its own takes a column for each of its labels, ``probability_0`` to
``probability_39``; in the long layout each label takes a row.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.answer import axes, label_text, own_dims, require_variable, variables
from pipeline.errors import UserError
from pipeline.store import FAILURE, STATES

PIECE_BYTES = 32_000_000
"""Size of what is read at a time."""

LAYOUTS = ("wide", "long")

Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Table:
    """An answer as a table, not yet read.

    Attributes
    ----------
    dataset : xarray.Dataset
    dims : tuple of str
        What a row is: the axes, and in the long layout the dimensions of the variables.
    names : tuple of str
        The variables.
    """

    dataset: xr.Dataset
    dims: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return math.prod(self.dataset.sizes[dim] for dim in self.dims)

    @property
    def labels(self) -> list[str]:
        """Columns that say which point a row is: the axes, and the coordinates along them."""
        along = [
            str(n) for n, c in self.dataset.coords.items() if n not in self.dims and c.ndim == 1 and c.dims[0] in self.dims
        ]
        return [*(dim for dim in self.dims if dim in self.dataset.coords), *along]

    def sources(self) -> dict[str, tuple[str, Mapping[str, Any]]]:
        """Return for each column of answers its variable, and the labels of the variable's other dimensions."""
        found: dict[str, tuple[str, Mapping[str, Any]]] = {}
        for name in self.names:
            rest = [str(dim) for dim in self.dataset[name].dims if dim not in self.dims]
            for labels in itertools.product(*(self.dataset[dim].values for dim in rest)):
                column = "_".join([name, *map(label_text, labels)])
                found[column] = name, dict(zip(rest, labels, strict=True))
        return found

    def pieces(self) -> Iterator[Columns]:
        """Read the table piece by piece; the columns of each are arrays of one length."""
        sources = self.sources()
        width = 8 * (len(sources) + len(self.labels) + 2)
        for region in regions([self.dataset.sizes[dim] for dim in self.dims], max(1, PIECE_BYTES // width)):
            yield self._piece(self.dataset.isel(dict(zip(self.dims, region, strict=True))))

    def _piece(self, part: xr.Dataset) -> Columns:
        shape = tuple(part.sizes[dim] for dim in self.dims)
        columns: Columns = {name: self._spread(part[name].variable, shape) for name in self.labels}
        columns["status"] = self._spread(xr.Variable(part["status"].dims, _states(part["status"].values)), shape)
        for name in self.names:
            rest = [str(dim) for dim in part[name].dims if dim not in self.dims]
            variable = part[name].variable.transpose(*(d for d in self.dims if d in part[name].dims), *rest)
            values = variable.values.reshape(*variable.shape[: variable.ndim - len(rest)], -1)
            keys = [column for column, (source, _) in self.sources().items() if source == name]
            own = variable.dims[: variable.ndim - len(rest)]
            for k, column in enumerate(keys):
                columns[column] = self._spread(xr.Variable(own, values[..., k]), shape)
        if FAILURE.name in part.data_vars:
            columns[FAILURE.name] = self._spread(part[FAILURE.name].variable, shape)
        return columns

    def _spread(self, variable: xr.Variable, shape: tuple[int, ...]) -> NDArray[Any]:
        """Repeat values along the dimensions that they do not have."""
        sizes = tuple(n if dim in variable.dims else 1 for dim, n in zip(self.dims, shape, strict=True))
        ordered = variable.transpose(*(dim for dim in self.dims if dim in variable.dims))
        return np.broadcast_to(ordered.values.reshape(sizes), shape).reshape(-1)


def tabulate(dataset: xr.Dataset, layout: str = "wide", names: Sequence[str] = ()) -> Table:
    """Lay out an answer as a table.

    Parameters
    ----------
    dataset : xarray.Dataset
    layout : {"wide", "long"}
    names : sequence of str
        Variables to take; all by default.

    Raises
    ------
    UserError
        If there is no such variable or layout, or the long layout is asked for variables over different dimensions.
    """
    if layout not in LAYOUTS:
        raise UserError(f"there is no layout {layout!r} (known: {', '.join(LAYOUTS)})")
    chosen = [require_variable(dataset, name) for name in names] or variables(dataset)
    if layout == "wide":
        return Table(dataset, axes(dataset), tuple(chosen))
    groups = {own_dims(dataset, name) for name in chosen if own_dims(dataset, name)}
    if len(groups) > 1:
        examples = [next(name for name in chosen if own_dims(dataset, name) == group) for group in sorted(groups)]
        raise UserError(f"the long layout takes variables over the same dimensions: choose with --variable {examples[0]}")
    own = groups.pop() if groups else ()
    taken = chosen if names else [name for name in chosen if own_dims(dataset, name) == own]
    return Table(dataset, (*axes(dataset), *own), tuple(taken))


def regions(shape: Sequence[int], rows: int) -> Iterator[tuple[slice, ...]]:
    """Cut a space into regions of at most `rows` points, each a run of points in row-major order, and together all of them."""
    whole = len(shape)
    while whole and math.prod(shape[whole - 1 :]) <= rows:
        whole -= 1
    step = max(1, rows // math.prod(shape[whole:]))
    for outer in itertools.product(*(range(n) for n in shape[: max(whole - 1, 0)])):
        front = tuple(slice(i, i + 1) for i in outer)
        back = tuple(slice(0, n) for n in shape[whole:])
        if whole == 0:
            yield back
        else:
            for start in range(0, shape[whole - 1], step):
                yield (*front, slice(start, min(start + step, shape[whole - 1])), *back)


def _states(status: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(np.array(STATES, dtype=object)[status])
