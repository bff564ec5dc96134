"""What a store says about itself: how far it is, who is at it, what failed, and one point on its own."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.errors import UserError, shown, suggestion
from pipeline.lock import Holder, read_holder
from pipeline.run import read_runs
from pipeline.space import Block, grids
from pipeline.store import FAILED, FAILURE, STATES, TRACEBACK, Store, survey
from pipeline.sweep import Label


@dataclass(frozen=True)
class Status:
    """How far a sweep is.

    Attributes
    ----------
    points : int
    counts : dict of str to int
        Points in each state.
    holder : Holder or None
        The run that is at it, or the last that did not end by itself.
    running : bool
        Whether that run shows life.
    rate : float
        Points a second of that run.
    seconds_left : float or None
    runs : list of dict
        Record of each run that touched the store.
    """

    points: int
    counts: dict[str, int]
    holder: Holder | None
    running: bool
    rate: float
    seconds_left: float | None
    runs: list[dict[str, Any]]

    def plain(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {
            "points": self.points,
            **self.counts,
            "running": self.running,
            "holder": asdict(self.holder) if self.holder else None,
            "points_per_second": self.rate,
            "seconds_left": self.seconds_left,
            "runs": self.runs,
        }


def read_status(store: Store) -> Status:
    """Read how far a store is, from the store and the lock file beside it alone."""
    counts = dict(zip(STATES, survey(store).counts, strict=True))
    holder = read_holder(store.path)
    running = holder is not None and holder.alive()
    rate, left = 0.0, None
    if holder and running:
        rate = (holder.done + holder.failed) / max(time.time() - holder.started, 1e-9)
        left = counts["pending"] / rate if rate else None
    return Status(store.sweep.points, counts, holder, running, rate, left, read_runs(store.path))


def read_failures(store: Store) -> Iterator[dict[str, Any]]:
    """Yield each failed point: its labels, the reason, and the traceback if there was an exception."""
    for block in store.blocks():
        status = store.status(block)
        if not (status == FAILED).any():
            continue
        reasons, traces = store.read(FAILURE.name, block), store.read(TRACEBACK.name, block)
        for place in map(tuple, np.argwhere(status == FAILED).tolist()):
            index = tuple(part.start + i for part, i in zip(block.region, place, strict=True))
            labels = {d.name: d.labels[i] for d, i in zip(store.sweep.dimensions, index, strict=True)}
            yield {"point": labels, "reason": str(reasons[place]), "traceback": str(traces[place])}


def find_point(store: Store, wanted: Mapping[str, str]) -> tuple[int, ...]:
    """Return the index of the point with these labels.

    Parameters
    ----------
    wanted : mapping of str to str
        The label of each dimension, in words; a dimension of one value may be left out.

    Raises
    ------
    UserError
        If a dimension is not known or missing, or has no such label.
    """
    dimensions = store.sweep.dimensions
    names = [dimension.name for dimension in dimensions]
    if strange := [name for name in wanted if name not in names]:
        known = ", ".join(names) or "none"
        raise UserError(f"point: {store.path} has no axis {strange[0]!r}{suggestion(strange[0], names)} (its axes: {known})")
    index = []
    for dimension in dimensions:
        labels = [_words(label) for label in dimension.labels]
        if dimension.name not in wanted and len(labels) > 1:
            raise UserError(f"point: say which {dimension.name}, such as {dimension.name}={labels[0]}")
        label = wanted.get(dimension.name, labels[0])
        if label not in labels:
            raise UserError(f"point: {dimension.name} has no value {shown(label)}{suggestion(label, labels)}")
        index.append(labels.index(label))
    return tuple(index)


def _words(label: Label) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def solve_point(store: Store, index: tuple[int, ...]) -> dict[str, Any]:
    """Solve one point in this process, without catching anything, so that a debugger can look."""
    block = Block(index, tuple(slice(i, i + 1) for i in index))
    for _, grid in grids(store.sweep, block, np.ones(block.shape, np.bool_)):
        answers = store.sweep.study.solve(grid)
        return {name: np.asarray(answer).reshape(np.shape(answer)[len(grid.shape) :]) for name, answer in answers.items()}
    raise AssertionError("a point is one grid")


@dataclass(frozen=True)
class Difference:
    """How a variable of one store differs from that of another.

    Attributes
    ----------
    variable : str
    points : int
        Points at which it differs.
    largest : float
        Largest absolute difference; NaN for strings.
    """

    variable: str
    points: int
    largest: float


def differences_between(one: str | Path, other: str | Path, variables: list[str]) -> list[Difference]:
    """Compare two stores of the same sweep, aligned by labels; variables that are the same everywhere are left out."""
    from pipeline.store import open_sweep

    ours, theirs = open_sweep(one), open_sweep(other)
    found = []
    for name in variables:
        a, b = ours[name].values, theirs[name].values
        if a.dtype.kind == "f":
            unequal = ~((a == b) | (np.isnan(a) & np.isnan(b)))
            gap = np.abs(np.where(unequal, a - b, 0.0))
            largest = float(np.nanmax(gap)) if unequal.any() else 0.0
        else:
            unequal = a.astype(object) != b.astype(object)
            numeric = a.dtype.kind in "iub"
            largest = float(np.abs(a.astype(float) - b.astype(float)).max()) if numeric else float("nan")
        if unequal.any():
            axes = tuple(range(len(ours["status"].dims), unequal.ndim))
            found.append(Difference(name, int(unequal.any(axis=axes).sum()), largest))
    return found
