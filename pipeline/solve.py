"""A block's points to answers: grid by grid, point by point where a grid fails, and every answer checked."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.space import Block, grids
from pipeline.sweep import Sweep
from solvers.study import Grid, Variable

Place: TypeAlias = tuple[int, ...]
"""A point, by its position in a block."""

LONGEST_REASON = 500


@dataclass(frozen=True)
class Failure:
    """Why a point has no answer: one line, and the traceback if there was an exception."""

    reason: str
    traceback: str = ""

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Describe an exception."""
        text = " ".join(str(error).split())[:LONGEST_REASON]
        name = type(error).__name__
        return cls(f"{name}: {text}" if text else name, "".join(traceback.format_exception(error)))


def solve_points(
    sweep: Sweep, block: Block, wanted: NDArray[np.bool_], results: Mapping[str, NDArray[Any]]
) -> dict[Place, Failure]:
    """Solve the wanted points of a block into `results`.

    Parameters
    ----------
    wanted : ndarray of bool, shape of the block
    results : mapping of str to ndarray, shape of the block and the variable's own
        Written at the wanted points that have an answer.

    Returns
    -------
    failures : dict
        Points that have none.
    """
    failures: dict[Place, Failure] = {}
    for places, grid in grids(sweep, block, wanted):
        try:
            _put(results, places, _checked(sweep, grid), grid_ndim=len(grid.shape))
        except Exception as error:
            points = list(itertools.product(*(place.tolist() for place in places)))
            if len(points) == 1:
                failures[points[0]] = Failure.of(error)
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
