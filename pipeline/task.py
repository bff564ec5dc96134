"""What a worker does with a block: solve what is pending, keep what fails as data, write, and send back a receipt.

A worker reads everything it needs from the store itself, so a task is two short values and a receipt is a few numbers; no
array crosses the network.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.space import Block, block_at, grids
from pipeline.store import DONE, EXCLUDED, FAILED, FAILURE, PENDING, Store, fill_value, open_store, write_details
from pipeline.sweep import Sweep
from solvers.study import Grid, Variable


@dataclass(frozen=True)
class Receipt:
    """What became of a block.

    Attributes
    ----------
    block : tuple of int
        Position of the block.
    done, failed, excluded : int
        Points that changed to that state.
    seconds : float
        Time that the worker took.
    failure : str
        Why the first failing point failed; empty if none did.
    """

    block: tuple[int, ...]
    done: int
    failed: int
    excluded: int
    seconds: float
    failure: str = ""

    @property
    def points(self) -> int:
        """Points that are no longer pending."""
        return self.done + self.failed + self.excluded


def run_block(path: str, index: tuple[int, ...]) -> Receipt:
    """Solve the pending points of one block and write them to the store at `path`."""
    started = time.perf_counter()
    store = open_store(path)
    block = block_at(index, store.sweep.shape, store.chunk)
    status = store.status(block)
    pending = status == PENDING
    excluded = pending & store.sweep.excluded(block.region)
    results = _empty_results(store, block, kept=not pending.all())
    failures = solve_points(store.sweep, block, pending & ~excluded, results)
    failures |= _keep_details(store, block, pending & ~excluded, failures)
    status[pending] = DONE
    status[excluded] = EXCLUDED
    for place, reason in failures.items():
        status[place] = FAILED
        results[FAILURE.name][place] = reason
    store.write(block, results, status)
    failed = len(failures)
    return Receipt(
        index,
        int(pending.sum()) - int(excluded.sum()) - failed,
        failed,
        int(excluded.sum()),
        time.perf_counter() - started,
        next(iter(failures.values()), ""),
    )


def _empty_results(store: Store, block: Block, *, kept: bool) -> dict[str, NDArray[Any]]:
    """Return arrays for a block's results: as they are in the store if some of its points are there already, else empty."""
    results = {}
    for variable in (*store.sweep.variables, FAILURE):
        if kept:
            results[variable.name] = store.read(variable.name, block).copy()
        else:
            own = store.arrays[variable.name].shape[len(block.shape) :]
            dtype = object if variable.dtype == "str" else variable.dtype
            results[variable.name] = np.full((*block.shape, *own), fill_value(variable), dtype)
    return results


def _keep_details(
    store: Store, block: Block, wanted: NDArray[np.bool_], failures: Mapping[tuple[int, ...], str]
) -> dict[tuple[int, ...], str]:
    """Write the tables of each point that has some, and return those points for which this failed, with the reason."""
    details = store.sweep.study.details
    failed: dict[tuple[int, ...], str] = {}
    if details is None:
        return failed
    for place in map(tuple, np.argwhere(wanted).tolist()):
        if place in failures:
            continue
        index = tuple(part.start + i for part, i in zip(block.region, place, strict=True))
        try:
            columns = details({name: value.value for name, value in store.sweep.at(index).items()})
        except Exception as error:
            failed[place] = reason(error)
            continue
        if columns:
            write_details(store, index, columns)
    return failed


def reason(error: Exception) -> str:
    """Return why a point failed, as it is kept beside it."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def solve_points(
    sweep: Sweep, block: Block, wanted: NDArray[np.bool_], results: Mapping[str, NDArray[Any]]
) -> dict[tuple[int, ...], str]:
    """Solve the wanted points of a block into `results`, grid by grid, and point by point where a grid fails.

    Returns
    -------
    failures : dict
        Place in the block to the reason, for points that have no answer.
    """
    failures: dict[tuple[int, ...], str] = {}
    for places, grid in grids(sweep, block, wanted):
        try:
            _put(results, places, _checked(sweep, grid), grid_ndim=len(grid.shape))
        except Exception as error:
            points = list(itertools.product(*(place.tolist() for place in places)))
            if len(points) == 1:
                failures[points[0]] = reason(error)
                continue
            for point in points:
                alone = np.zeros(block.shape, np.bool_)
                alone[point] = True
                failures |= solve_points(sweep, block, alone, results)
    return failures


def _put(
    results: Mapping[str, NDArray[Any]],
    places: tuple[NDArray[np.intp], ...],
    answers: Mapping[str, NDArray[Any]],
    *,
    grid_ndim: int,
) -> None:
    lengths = tuple(len(place) for place in places)
    for name, answer in answers.items():
        whole = lengths == results[name].shape[: len(lengths)]
        results[name][... if whole else np.ix_(*places)] = answer.reshape((*lengths, *answer.shape[grid_ndim:]))


def _checked(sweep: Sweep, grid: Grid) -> dict[str, NDArray[Any]]:
    """Solve a grid and make sure that the study kept its word about names, shapes, types and finite numbers."""
    answers = sweep.study.solve(grid)
    return {variable.name: _checked_variable(variable, answers, grid) for variable in sweep.variables}


def _checked_variable(variable: Variable, answers: Mapping[str, NDArray[Any]], grid: Grid) -> NDArray[Any]:
    if variable.name not in answers:
        raise TypeError(f"the solver returned no {variable.name}")
    answer = np.asarray(answers[variable.name])
    shape = (*grid.shape, *(grid.sizes[dim] for dim in variable.dims))
    if answer.shape != shape:
        raise TypeError(f"the solver returned {variable.name} with shape {answer.shape} instead of {shape}")
    if variable.dtype == "str":
        return answer.astype(object)
    if not np.can_cast(answer.dtype, variable.dtype, "same_kind"):
        raise TypeError(f"the solver returned {variable.name} as {answer.dtype} instead of {variable.dtype}")
    if answer.dtype.kind == "f" and not variable.missing and not np.isfinite(answer).all():
        raise ValueError(f"{variable.name} is not finite")
    return answer
