"""Exact optima of linear programmes in which every column has at most two entries (generalised networks).

    maximise c x   subject to   A x = b,  x >= 0,      with dual   minimise b y   subject to   A^T y >= c.

For a basis, c x = b y holds identically; the basis is optimal if x >= 0 and A^T y >= c.  Any such pair proves the value of the
programme, wherever the basis came from, since c x <= y A x = y b for every feasible x.  A basis that fails is repaired by exact
pivots under Bland's rule: dual pivots until x >= 0, then primal pivots until A^T y >= c.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from solvers.compiled import compiled
from solvers.peeling import Indices, Peeling
from solvers.rationals import WORD, Integers, Rationals, subtract


@dataclass(frozen=True, eq=False)
class Network:
    """A programme whose columns have one or two entries.

    Attributes
    ----------
    tail, head : ndarray of int32, shape (columns,)
        Rows of the entries of each column; `head` is -1 for a column with one.
    at_tail, at_head : ndarray of int64, shape (columns,)
        The entries; never 0 at a row.
    cost : ndarray of int64, shape (columns,)
    supply : ndarray of int64, shape (rows,)
    """

    tail: Indices
    head: Indices
    at_tail: Integers
    at_head: Integers
    cost: Integers
    supply: Integers


@dataclass(frozen=True, eq=False)
class Optimum:
    """An optimal basis of a network with its exact solutions.

    Attributes
    ----------
    basis : ndarray of int64, shape (rows,)
    primal : Rationals
        Values of the basic columns; the others are 0.
    dual : Rationals
        Values of the rows.
    value, bound : fmpq
        Objective of the primal and of the dual solution; equal.
    pivots : int
        Exact pivots that the basis needed.
    """

    basis: Integers
    primal: Rationals
    dual: Rationals
    value: fmpq
    bound: fmpq
    pivots: int


def certify(network: Network, basis: Integers, word: float = WORD) -> Optimum:
    """Solve exactly from a basis that is thought to be optimal.

    Parameters
    ----------
    network : Network
    basis : ndarray of int, shape (rows,)
        Basic columns.
    word : float
        Magnitude from which arithmetic leaves 64-bit integers; the answer does not depend on it.

    Returns
    -------
    Optimum

    Raises
    ------
    ArithmeticError
        If the basis is singular, or if the programme has no optimum.
    """
    basis = np.array(basis, np.int64)
    pivots = 0
    while True:
        peeling = _peeling(network, basis, word)
        primal, dual = peeling.primal(network.supply), peeling.dual(network.cost[basis])
        entering = _first_improving(network, dual, word)
        leaving = primal.first_negative(basis)
        if leaving is not None:
            cost = network.cost if entering is None else np.zeros_like(network.cost)
            pivots += _restore(network, basis, cost, word)
        elif entering is not None:
            _enter(network, basis, entering, primal, peeling)
            pivots += 1
        else:
            value, bound = primal.dot(network.cost[basis]), dual.dot(network.supply)
            if value != bound:
                raise ArithmeticError(f"objectives of an optimal basis differ by {value - bound}")
            return Optimum(basis, primal, dual, value, bound, pivots)


def _peeling(network: Network, basis: Integers, word: float) -> Peeling:
    return Peeling(network.tail[basis], network.head[basis], network.at_tail[basis], network.at_head[basis], word)


def _restore(network: Network, basis: Integers, cost: Integers, word: float) -> int:
    """Make the primal solution of `basis` feasible by dual pivots, in place; `cost` is one for which it is dual feasible."""
    pivots = 0
    while True:
        peeling = _peeling(network, basis, word)
        leaving = peeling.primal(network.supply).first_negative(basis)
        if leaving is None:
            return pivots
        unit = np.zeros(basis.size, np.int64)
        unit[leaving] = 1
        dual, row = peeling.dual(cost[basis]), peeling.dual(unit)
        outside = np.setdiff1d(np.arange(network.cost.size), basis)
        slopes = ((column, _product(network, row, column)) for column in outside.tolist())
        ratios = [
            ((_product(network, dual, column) - int(cost[column])) / -slope, column) for column, slope in slopes if slope < 0
        ]
        if not ratios:
            raise ArithmeticError("the programme is infeasible")
        basis[leaving] = min(ratios)[1]
        pivots += 1


def _enter(network: Network, basis: Integers, entering: int, primal: Rationals, peeling: Peeling) -> None:
    """Bring a column into the basis, in place."""
    column = np.zeros(network.supply.size, np.int64)
    column[network.tail[entering]] = network.at_tail[entering]
    if network.head[entering] >= 0:
        column[network.head[entering]] = network.at_head[entering]
    rates = peeling.primal(column)
    ratios = [(primal[index] / rates[index], int(basis[index]), index) for index in range(basis.size) if rates[index] > 0]
    if not ratios:
        raise ArithmeticError("the programme is unbounded")
    basis[min(ratios)[2]] = entering


def _product(network: Network, dual: Rationals, column: int) -> fmpq:
    """Return y A for one column."""
    total = dual[int(network.tail[column])] * int(network.at_tail[column])
    if network.head[column] >= 0:
        total += dual[int(network.head[column])] * int(network.at_head[column])
    return total


def _first_improving(network: Network, dual: Rationals, word: float) -> int | None:
    """Return the first column with cost above y A."""
    columns = (network.tail, network.head, network.at_tail, network.at_head, network.cost)
    sign = _compare(*columns, dual.numerator, dual.denominator, word)
    for column in np.flatnonzero(sign > 0).tolist():
        if sign[column] == 1 or _product(network, dual, column) < int(network.cost[column]):
            return int(column)
    return None


@compiled
def _compare(
    tail: Indices,
    head: Indices,
    at_tail: Integers,
    at_head: Integers,
    cost: Integers,
    top: Integers,
    bottom: Integers,
    word: float,
) -> NDArray[np.int8]:
    """Return for each column whether its cost is above y A: 0 no, 1 yes, 2 not known in 64 bits."""
    sign = np.full(tail.size, 2, np.int8)
    for column in range(tail.size):
        i, j = tail[column], head[column]
        if not bottom[i] or (j >= 0 and not bottom[j]):
            continue
        p, q = subtract(cost[column], 1, at_tail[column], top[i], bottom[i], word)
        if q and j >= 0:
            p, q = subtract(p, q, at_head[column], top[j], bottom[j], word)
        if q:
            sign[column] = 1 if p > 0 else 0
    return sign
