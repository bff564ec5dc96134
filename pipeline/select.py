"""Selections as a command line writes them: ``sides=6``, ``sides=4:8``, ``sides=4,6``, ``chance=jail=1,back-3=1``.

What stands before the first equal sign is a dimension or any coordinate along one.  The rest is a label; or a range from one
label to another, both included; or several labels.  Labels may hold commas, colons and equal signs themselves: a text that
is a label as it stands is that label.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.answer import label_text
from pipeline.errors import UserError, suggestion


def select(dataset: xr.Dataset, selections: Iterable[str]) -> xr.Dataset:
    """Narrow a dataset.

    Parameters
    ----------
    dataset : xarray.Dataset
    selections : iterable of str
        Each one narrows what the ones before have left.  One label along a dimension removes the dimension, as ``.sel`` does;
        ranges, lists, and labels of other coordinates keep it.

    Raises
    ------
    UserError
        If there is no such name or label; the message names the nearest.
    """
    for text in selections:
        name, equals, wanted = (part.strip() for part in text.partition("="))
        if not equals or not name or not wanted:
            raise UserError(f"--select {text}: write it as name=label, such as --select sides=6")
        dataset = _narrowed(dataset, name, wanted, text)
    return dataset


def name_of(selection: str) -> str:
    """Return what stands before the first equal sign."""
    return selection.partition("=")[0].strip()


def _narrowed(dataset: xr.Dataset, name: str, wanted: str, text: str) -> xr.Dataset:
    known = [str(coordinate) for coordinate in dataset.coords]
    if name not in known:
        raise UserError(f"--select {text}: there is no {name!r}{suggestion(name, known)} (known: {', '.join(sorted(known))})")
    coordinate = dataset.coords[name]
    if coordinate.ndim > 1:
        raise UserError(f"--select {text}: {name} runs along several dimensions; select along one of {', '.join(known)}")
    found = positions(np.atleast_1d(coordinate.values), wanted)
    if not found:
        labels = [label_text(label) for label in np.atleast_1d(coordinate.values)]
        what = "is" if coordinate.ndim == 0 else "has"
        some = ", ".join(labels if len(labels) <= 6 else [*labels[:4], "...", labels[-1]])
        raise UserError(f"--select {text}: no label of {name} is {wanted!r}{suggestion(wanted, labels)} (it {what} {some})")
    if coordinate.ndim == 0:
        return dataset
    dim = coordinate.dims[0]
    single = name == dim and len(found) == 1 and _exact(coordinate.values, wanted) == found
    return dataset.isel({dim: found[0] if single else found})


def positions(labels: NDArray[Any], wanted: str) -> list[int]:
    """Return where the labels are that a text asks for, in ascending order; none if it asks for one that is not there."""
    return sorted(set(_exact(labels, wanted) or _range(labels, wanted) or _several(labels, wanted)))


def _exact(labels: NDArray[Any], wanted: str) -> list[int]:
    if labels.dtype.kind == "b":
        truth = {"true": True, "false": False}.get(wanted.lower())
        return [] if truth is None else np.flatnonzero(labels == truth).tolist()
    if labels.dtype.kind in "iuf":
        number = _number(wanted)
        return [] if number is None else np.flatnonzero(labels == number).tolist()
    return [i for i, label in enumerate(labels) if str(label) == wanted]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _range(labels: NDArray[Any], wanted: str) -> list[int]:
    first, colon, last = (part.strip() for part in wanted.partition(":"))
    if not colon:
        return []
    if labels.dtype.kind in "iuf":
        low, high = (_number(first) if first else -np.inf), (_number(last) if last else np.inf)
        return [] if low is None or high is None else np.flatnonzero((labels >= low) & (labels <= high)).tolist()
    begin = _exact(labels, first) if first else [0]
    end = _exact(labels, last) if last else [len(labels) - 1]
    return list(range(min(begin), max(end) + 1)) if begin and end else []


def _several(labels: NDArray[Any], wanted: str) -> list[int]:
    """Split at commas, the longest label first, since labels hold commas too."""
    parts = wanted.split(",")
    return _joined(labels, parts) if len(parts) > 1 else []


def _joined(labels: NDArray[Any], parts: Sequence[str]) -> list[int]:
    found: list[int] = []
    while parts:
        for length in range(len(parts), 0, -1):
            if here := _exact(labels, ",".join(parts[:length]).strip()):
                found += here
                parts = parts[length:]
                break
        else:
            return []
    return found
