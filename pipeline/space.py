"""How a parameter space is cut: points into blocks, a block into the grids that a solver is asked.

A block is a hyper-rectangle of points that is exactly one chunk of every variable in the store, and one Dask task.  Chunks
form a regular lattice that is fixed when the store is made, so no two tasks ever share one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.sweep import Sweep
from solvers.study import Grid, Variable

BLOCK_SECONDS = 1.0
"""Longest that a block should take: what a lost worker costs, and how often progress is seen."""

BLOCK_BYTES = 16 * 2**20
"""Largest chunk of a variable: what a reader must load to see one number."""

SPREAD = 16
"""A sweep that takes a while is cut into at least so many blocks, for workers to share."""

SHORTEST = 0.02
"""Seconds below which a block is not cut further, a task costing about a tenth of that."""

SAMPLES = 4096
"""Points at which the cost of a sweep is looked up."""


@dataclass(frozen=True)
class Block:
    """A rectangle of points, one chunk of the store.

    Attributes
    ----------
    index : tuple of int
        Position in the lattice of chunks.
    region : tuple of slice
        The points, as they are numbered in the store.
    """

    index: tuple[int, ...]
    region: tuple[slice, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of points along each dimension."""
        return tuple(part.stop - part.start for part in self.region)

    @property
    def points(self) -> int:
        """Number of points, excluded ones included."""
        return math.prod(self.shape)


def lattice(shape: Sequence[int], chunk: Sequence[int]) -> tuple[int, ...]:
    """Return the number of blocks along each dimension."""
    return tuple(-(-n // size) for n, size in zip(shape, chunk, strict=True))


def block_at(index: Sequence[int], shape: Sequence[int], chunk: Sequence[int]) -> Block:
    """Return the block at a position of the lattice."""
    region = tuple(slice(i * size, min((i + 1) * size, n)) for i, size, n in zip(index, chunk, shape, strict=True))
    return Block(tuple(index), region)


def blocks(shape: Sequence[int], chunk: Sequence[int]) -> Iterator[Block]:
    """Yield all blocks, last dimension fastest."""
    for index in itertools.product(*(range(n) for n in lattice(shape, chunk))):
        yield block_at(index, shape, chunk)


def element_bytes(variable: Variable, sizes: Mapping[str, int]) -> int:
    """Return the bytes that a variable takes at one point; strings are counted as sixteen."""
    each = 16 if variable.dtype == "str" else np.dtype(variable.dtype).itemsize
    return each * math.prod(sizes[dim] for dim in variable.dims)


@dataclass(frozen=True)
class Costs:
    """Seconds that points take on one core, by the study's own estimate, looked up at a lattice of up to SAMPLES points."""

    mean: float
    largest: float


def sample_costs(sweep: Sweep) -> Costs:
    """Look up the cost of a sweep at evenly spaced points, the corners of the space among them."""
    each = max(2, math.floor(SAMPLES ** (1 / max(len(sweep.shape), 1))))
    places = [np.unique(np.linspace(0, n - 1, min(n, each)).round().astype(int)) for n in sweep.shape]
    found = [point_cost(sweep, tuple(int(i) for i in index)) for index in itertools.product(*places)]
    return Costs(math.fsum(found) / len(found), max(found))


def point_cost(sweep: Sweep, index: tuple[int, ...]) -> float:
    """Return the seconds that one point takes on one core, by the study's own estimate."""
    return sweep.study.cost({name: value.value for name, value in sweep.at(index).items()})


def chunk_shape(sweep: Sweep) -> tuple[int, ...]:
    """Choose the shape of blocks, from the sweep alone, so that it is the same wherever the sweep runs.

    A block holds as many points as fit into BLOCK_SECONDS, by the cost of the dearest, and into BLOCK_BYTES for the largest
    variable, but no more than leaves SPREAD blocks.  It extends first along the parameters whose points share work.
    """
    costs = sample_costs(sweep)
    seconds = min(BLOCK_SECONDS, max(SHORTEST, costs.mean * sweep.points / SPREAD))
    largest = max(element_bytes(variable, sweep.sizes) for variable in sweep.variables)
    room = max(1, min(int(seconds / max(costs.largest, 1e-9)), BLOCK_BYTES // max(largest, 1)))
    shared = {parameter.name for parameter in sweep.study.parameters if parameter.shared}

    def works_alone(axis: int) -> bool:
        return not all(column.parameter in shared for column in sweep.dimensions[axis].columns)

    chunk = [1] * len(sweep.shape)
    for axis in sorted(range(len(chunk)), key=lambda axis: (works_alone(axis), -axis)):
        size = sweep.shape[axis]
        pieces = -(-size // min(size, room))
        chunk[axis] = -(-size // pieces)
        room = max(1, room // chunk[axis])
    return tuple(chunk)


def rectangles(mask: NDArray[np.bool_]) -> Iterator[tuple[NDArray[np.intp], ...]]:
    """Cover the true entries of `mask`, each once, by products of index arrays; few of them if the mask is regular."""
    if mask.ndim == 0:
        if mask:
            yield ()
        return
    if mask.all():
        yield tuple(np.arange(n) for n in mask.shape)
        return
    rows, group = np.unique(mask.reshape(len(mask), -1), axis=0, return_inverse=True)
    for label, row in enumerate(rows):
        if row.any():
            for inner in rectangles(row.reshape(mask.shape[1:])):
                yield np.flatnonzero(group.reshape(-1) == label), *inner


def grids(sweep: Sweep, block: Block, wanted: NDArray[np.bool_]) -> Iterator[tuple[tuple[NDArray[np.intp], ...], Grid]]:
    """Split the wanted points of a block into grids that a study can solve.

    Parameters
    ----------
    wanted : ndarray of bool, shape of the block

    Yields
    ------
    places : tuple of ndarray of int
        The points, for ``np.ix_``, as they are numbered in the block.
    grid : Grid
        Zipped dimensions are taken value by value, since their parameters move together; its results, reshaped to the
        lengths of `places`, belong there.
    """
    zipped = [axis for axis, dimension in enumerate(sweep.dimensions) if dimension.zipped]
    for rectangle in rectangles(wanted):
        for choice in itertools.product(*(rectangle[axis] for axis in zipped)):
            places = list(rectangle)
            for axis, place in zip(zipped, choice, strict=True):
                places[axis] = np.array([place])
            yield tuple(places), _grid(sweep, block, tuple(places))


def _grid(sweep: Sweep, block: Block, places: tuple[NDArray[np.intp], ...]) -> Grid:
    axes, fixed = {}, {name: value.value for name, value in sweep.fixed.items()}
    kept: list[int] = []
    for axis, (dimension, part, place) in enumerate(zip(sweep.dimensions, block.region, places, strict=True)):
        for column in dimension.columns:
            values = tuple(column.values[part.start + i].value for i in place)
            if dimension.zipped:
                fixed[column.parameter] = values[0]
            else:
                axes[column.parameter] = values
                kept.append(axis)

    def seed(index: tuple[int, ...]) -> np.random.SeedSequence:
        at = [int(place[0]) for place in places]
        for axis, i in zip(kept, index, strict=True):
            at[axis] = int(places[axis][i])
        return sweep.seed_sequence(tuple(part.start + i for part, i in zip(block.region, at, strict=True)))

    return Grid(axes, fixed, seed, sweep.sizes)
