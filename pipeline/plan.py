"""What a run would do, worked out without writing anything."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline.cluster import Place, choose_place
from pipeline.errors import UserError
from pipeline.growth import merged, new_labels, obstacles
from pipeline.lock import read_holder
from pipeline.space import chunk_shape, element_bytes, lattice, sample_costs
from pipeline.store import Store, Survey, is_store, open_store, survey
from pipeline.sweep import Sweep


@dataclass(frozen=True)
class Plan:
    """What a run would do.

    Attributes
    ----------
    sweep : Sweep
        With the values in the order of the store, if there is one.
    path : str
        Of the store.
    store : Store or None
        None if it is yet to be made.
    chunk : tuple of int
        Points of a block along each dimension.
    lattice : tuple of int
        Blocks along each dimension.
    survey : Survey
        What is in the store already.
    new : dict of str to list
        Values that the axes of the store would get.
    seconds : float
        Estimate of the work that is left, on one core.
    bytes : int
        Size of the whole answer before compression.
    place : Place
        Where it would run.
    """

    sweep: Sweep
    path: str
    store: Store | None
    chunk: tuple[int, ...]
    lattice: tuple[int, ...]
    survey: Survey
    seconds: float
    bytes: int
    place: Place
    new: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def pending(self) -> int:
        """Points that are left to do, excluded ones that have not been marked included."""
        grown = self.sweep.points - self.store.sweep.points if self.store else 0
        return self.survey.counts[0] + grown


def make_plan(
    sweep: Sweep,
    path: str | Path,
    workers: int | None = None,
    scheduler: str | None = None,
    *,
    again: tuple[int, ...] = (),
    recompute: bool = False,
) -> Plan:
    """Work out what is there, what is left, and how it would be done.

    Parameters
    ----------
    again : tuple of int
        States of points that are to be computed again.
    recompute : bool
        Whether a store of another version of the study may be computed again from the start.

    Raises
    ------
    UserError
        If the store belongs to another sweep, or to another version of the study.
    """
    path = os.path.abspath(path)  # noqa: PTH100 - a string, since the store may be on an object store one day
    costs = sample_costs(sweep)
    if is_store(path):
        store: Store | None = open_store(path)
        assert store is not None  # noqa: S101 - tells the type checker
        require_same(store, sweep, recompute=recompute)
        new, sweep, chunk = new_labels(sweep, store), merged(sweep, store.sweep), store.chunk
        counts = survey(store).counts
        done, failed, excluded = (0 if state in again else counts[state] for state in (1, 2, 3))
        found = Survey((sum(counts) - done - failed - excluded, done, failed, excluded))
    else:
        store, new, chunk = None, {}, chunk_shape(sweep)
        found = Survey((sweep.points, 0, 0, 0))
    grown = sweep.points - store.sweep.points if store else 0
    seconds = costs.mean * (found.counts[0] + grown)
    size = sweep.points * (1 + sum(element_bytes(variable, sweep.sizes) for variable in sweep.variables))
    place = choose_place(seconds, workers, scheduler, contained=sweep.study.contained and not _crashed(path))
    return Plan(sweep, path, store, chunk, lattice(sweep.shape, chunk), found, seconds, size, place, new)


def _crashed(path: str) -> bool:
    """Return whether the last run on this host ended without letting go of the store, as a run does that a point took down."""
    holder = read_holder(path)
    return holder is not None and holder.here and not holder.alive()


def require_same(store: Store, sweep: Sweep, *, recompute: bool = False) -> None:
    """Raise UserError, showing the difference, unless the store is that of this sweep or can grow to it."""
    if found := obstacles(sweep, store):
        raise UserError(f"{store.path}: belongs to another sweep: {'; '.join(found)} (choose another --store)")
    there, here = store.version, sweep.study.version
    if there != here and not recompute:
        raise UserError(
            f"{store.path}: its numbers are from version {there} of {sweep.study.name}, this is version {here}: "
            "compute them again with --recompute, or choose another --store"
        )
