"""Exact optima of linear programmes in which every column has at most two entries (generalised networks).

    maximise c x   subject to   A x = b,  x >= 0,      with dual   minimise b y   subject to   A^T y >= c.

Rows are nodes and a column with two entries is an edge.  Each connected part of the graph of a basis has as many edges as
nodes, a column with one entry counting as a loop: it is a tree with one more edge or loop.  So the equations of a basis are
solved by peeling: a node with one edge left gives the value of that edge, which is then taken out of its other node.  All that
can remain is a set of disjoint cycles, a small dense system.  The dual equations are solved in the opposite order.

For a basis, c x = b y holds identically; the basis is optimal if x >= 0 and A^T y >= c.  Any such pair proves the value of the
programme, wherever the basis came from, since c x <= y A x = y b for every feasible x.  A basis that fails is repaired by exact
pivots under Bland's rule: dual pivots until x >= 0, then primal pivots until A^T y >= c.

Arithmetic is exact throughout: in 64-bit rationals where a bound shows that they cannot overflow, else in FLINT's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from solvers.compiled import compiled

Indices = NDArray[np.int32]
Integers = NDArray[np.int64]

WORD = 2.0**62
"""Largest magnitude of a product of 64-bit integers that is worked out as one; half the range, against rounded estimates."""


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
class Rationals:
    """A vector of rationals: ``numerator / denominator``, and those of denominator 0 in `large`."""

    numerator: Integers
    denominator: Integers
    large: Mapping[int, fmpq]

    def __getitem__(self, index: int) -> fmpq:
        """Return one entry."""
        bottom = int(self.denominator[index])
        return fmpq(int(self.numerator[index]), bottom) if bottom else self.large[index]

    def fractions(self) -> list[Fraction]:
        """Return all entries as :class:`fractions.Fraction`."""
        found = [Fraction(p, q or 1) for p, q in zip(self.numerator.tolist(), self.denominator.tolist(), strict=True)]
        for index, value in self.large.items():
            found[index] = Fraction(int(value.p), int(value.q))
        return found

    def first_negative(self, order: Integers) -> int | None:
        """Return the index of a negative entry, of all those the one that is least by `order`; None if there is none."""
        found = np.flatnonzero((self.numerator < 0) & (self.denominator > 0)).tolist()
        found += [index for index, value in self.large.items() if value < 0]
        return min(found, key=lambda index: int(order[index]), default=None)

    def dot(self, factors: Integers) -> fmpq:
        """Return the sum of the entries times `factors`."""
        total = sum((value * int(factors[index]) for index, value in self.large.items()), fmpq(0))
        order = np.argsort(self.denominator, kind="stable")
        for same in np.split(order, np.flatnonzero(np.diff(self.denominator[order])) + 1):
            bottom = int(self.denominator[same[0]]) if same.size else 0
            if not bottom:
                continue
            top, times = self.numerator[same], factors[same]
            if float(np.dot(np.abs(top.astype(np.float64)), np.abs(times.astype(np.float64)))) < WORD:
                total += fmpq(int(np.dot(top, times)), bottom)
            else:
                total += fmpq(sum(p * t for p, t in zip(top.tolist(), times.tolist(), strict=True)), bottom)
        return total


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
        peeling = _Peeling(network, basis, word)
        primal, dual = peeling.primal(network.supply), peeling.dual(network.cost[basis])
        entering = _first_improving(network, dual, network.cost, word)
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


def _restore(network: Network, basis: Integers, cost: Integers, word: float) -> int:
    """Make the primal solution of `basis` feasible by dual pivots, in place; `cost` is one for which it is dual feasible."""
    pivots = 0
    while True:
        peeling = _Peeling(network, basis, word)
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


def _enter(network: Network, basis: Integers, entering: int, primal: Rationals, peeling: _Peeling) -> None:
    """Bring a column into the basis, in place."""
    column = np.zeros(network.supply.size, np.int64)
    column[network.tail[entering]] = network.at_tail[entering]
    if network.head[entering] >= 0:
        column[network.head[entering]] = network.at_head[entering]
    rates = peeling.primal(column)
    ratios = [
        (primal[index] / rates[index], int(basis[index]), index) for index in range(basis.size) if rates[index] > 0
    ]
    if not ratios:
        raise ArithmeticError("the programme is unbounded")
    basis[min(ratios)[2]] = entering


def _product(network: Network, dual: Rationals, column: int) -> fmpq:
    """Return y A for one column."""
    total = dual[int(network.tail[column])] * int(network.at_tail[column])
    if network.head[column] >= 0:
        total += dual[int(network.head[column])] * int(network.at_head[column])
    return total


def _first_improving(network: Network, dual: Rationals, cost: Integers, word: float) -> int | None:
    """Return the first column with cost above y A."""
    sign = _compare(
        network.tail, network.head, network.at_tail, network.at_head, cost, dual.numerator, dual.denominator, word
    )
    for column in np.flatnonzero(sign > 0).tolist():
        if sign[column] == 1 or _product(network, dual, column) < int(cost[column]):
            return int(column)
    return None


class _Peeling:
    """The equations of a basis in the order in which they solve one another."""

    def __init__(self, network: Network, basis: Integers, word: float) -> None:
        self.word = word
        self.tail, self.head = network.tail[basis], network.head[basis]
        self.at_tail, self.at_head = network.at_tail[basis], network.at_head[basis]
        self.node, self.edge = np.empty(basis.size, np.int32), np.empty(basis.size, np.int32)
        left_nodes, left_edges = np.empty(basis.size, np.bool_), np.empty(basis.size, np.bool_)
        steps = _peel(self.tail, self.head, self.node, self.edge, left_nodes, left_edges)
        self.node, self.edge = self.node[:steps], self.edge[:steps]
        self.core_nodes: list[int] = np.flatnonzero(left_nodes).tolist()
        self.core_edges: list[int] = np.flatnonzero(left_edges).tolist()
        if len(self.core_nodes) != len(self.core_edges):
            raise ArithmeticError("the basis is singular")

    def primal(self, supply: Integers) -> Rationals:
        """Solve A_B x = supply."""
        size = supply.size
        top, bottom = np.zeros(size, np.int64), np.zeros(size, np.int64)
        rest_top, rest_bottom, late = supply.astype(np.int64), np.ones(size, np.int64), np.zeros(size, np.int64)
        arrays = (self.node, self.edge, self.tail, self.head, self.at_tail, self.at_head)
        _peel_primal(*arrays, rest_top, rest_bottom, late, top, bottom, self.word)
        large: dict[int, fmpq] = {}
        rest: dict[int, fmpq] = {}

        def remainder(node: int) -> fmpq:
            return rest[node] if node in rest else fmpq(int(rest_top[node]), int(rest_bottom[node]))

        for step in np.flatnonzero(late[: self.node.size]).tolist():
            node, edge = int(self.node[step]), int(self.edge[step])
            here, there, other = self._ends(node, edge)
            if not bottom[edge]:
                large[edge] = remainder(node) / here
            if other >= 0:
                value = large[edge] if edge in large else fmpq(int(top[edge]), int(bottom[edge]))
                rest[other] = remainder(other) - there * value
        if self.core_nodes:
            values = self._core().solve(fmpq_mat([[remainder(node)] for node in self.core_nodes]))
            large |= {edge: values[place, 0] for place, edge in enumerate(self.core_edges)}
        return Rationals(top, bottom, large)

    def dual(self, cost: Integers) -> Rationals:
        """Solve y A_B = cost."""
        size = cost.size
        top, bottom = np.zeros(size, np.int64), np.zeros(size, np.int64)
        large: dict[int, fmpq] = {}
        if self.core_nodes:
            values = self._core().transpose().solve(fmpq_mat([[fmpq(int(cost[edge]))] for edge in self.core_edges]))
            large |= {node: values[place, 0] for place, node in enumerate(self.core_nodes)}
        arrays = (self.node, self.edge, self.tail, self.head, self.at_tail, self.at_head)
        _peel_dual(*arrays, cost.astype(np.int64), top, bottom, self.word)
        found = Rationals(top, bottom, large)
        for step in np.flatnonzero(bottom[self.node] == 0)[::-1].tolist():
            node, edge = int(self.node[step]), int(self.edge[step])
            here, there, other = self._ends(node, edge)
            known = there * found[other] if other >= 0 else fmpq(0)
            large[node] = (int(cost[edge]) - known) / here
        return found

    def _ends(self, node: int, edge: int) -> tuple[int, int, int]:
        """Entry of the edge at the node, entry at its other end, and that end."""
        if self.tail[edge] == node:
            return int(self.at_tail[edge]), int(self.at_head[edge]), int(self.head[edge])
        return int(self.at_head[edge]), int(self.at_tail[edge]), int(self.tail[edge])

    def _core(self) -> fmpq_mat:
        place = {node: row for row, node in enumerate(self.core_nodes)}
        core = fmpq_mat(len(place), len(place))
        for column, edge in enumerate(self.core_edges):
            core[place[int(self.tail[edge])], column] = int(self.at_tail[edge])
            if self.head[edge] >= 0:
                core[place[int(self.head[edge])], column] = int(self.at_head[edge])
        if not core.det():
            raise ArithmeticError("the basis is singular")
        return core


@compiled
def _peel(
    tail: Indices,
    head: Indices,
    node: Indices,
    edge: Indices,
    left_nodes: NDArray[np.bool_],
    left_edges: NDArray[np.bool_],
) -> int:
    """Order the basis by peeling; return the number of steps."""
    size = tail.size
    degree = np.zeros(size, np.int64)
    # The exclusive or of the edges at a node names the last one left, without a list of them.
    link = np.zeros(size, np.int64)
    stack = np.empty(size, np.int64)
    for e in range(size):
        degree[tail[e]] += 1
        link[tail[e]] ^= e
        if head[e] >= 0:
            degree[head[e]] += 1
            link[head[e]] ^= e
    left_nodes[:] = True
    left_edges[:] = True
    steps = 0
    for first in range(size):
        height = 0
        if degree[first] == 1:
            stack[0] = first
            height = 1
        while height:
            height -= 1
            i = stack[height]
            if degree[i] != 1:
                continue
            e = link[i]
            node[steps], edge[steps] = i, e
            steps += 1
            degree[i] = 0
            left_nodes[i] = left_edges[e] = False
            other = head[e] if tail[e] == i else tail[e]
            if other >= 0:
                degree[other] -= 1
                link[other] ^= e
                if degree[other] == 1:
                    stack[height] = other
                    height += 1
    return steps


@compiled
def _divisor(a: int, b: int) -> int:
    a, b = abs(a), abs(b)
    while b:
        a, b = b, a % b
    return a


@compiled
def _subtract(p: int, q: int, times: int, r: int, s: int, word: float) -> tuple[int, int]:
    """Return p / q - times * r / s in lowest terms; (0, 0) if a product reaches `word`."""
    common = _divisor(q, s)
    left, right = s // common, q // common
    if abs(float(p) * float(left)) + abs(float(times) * float(r) * float(right)) >= word or float(q) * float(left) >= word:
        return 0, 0
    top, bottom = p * left - times * r * right, q * left
    common = _divisor(top, bottom)
    return top // common, bottom // common


@compiled
def _divide(p: int, q: int, by: int, word: float) -> tuple[int, int]:
    """Return p / (q * by) in lowest terms; (0, 0) if a product reaches `word`."""
    common = _divisor(p, by)
    if by < 0:
        common = -common
    if float(q) * abs(float(by)) >= word:
        return 0, 0
    return p // common, q * (by // common)


@compiled
def _peel_primal(
    node: Indices,
    edge: Indices,
    tail: Indices,
    head: Indices,
    at_tail: Integers,
    at_head: Integers,
    rest_top: Integers,
    rest_bottom: Integers,
    late: Integers,
    top: Integers,
    bottom: Integers,
    word: float,
) -> None:
    """Solve what fits in 64 bits; mark the steps that, in whole or in part, do not."""
    frozen = np.zeros(rest_top.size, np.bool_)
    for step in range(node.size):
        i, e = node[step], edge[step]
        if tail[e] == i:
            here, there, other = at_tail[e], at_head[e], head[e]
        else:
            here, there, other = at_head[e], at_tail[e], tail[e]
        if not frozen[i]:
            top[e], bottom[e] = _divide(rest_top[i], rest_bottom[i], here, word)
        if bottom[e] and (other < 0 or not frozen[other]):
            if other < 0:
                continue
            p, q = _subtract(rest_top[other], rest_bottom[other], there, top[e], bottom[e], word)
            if q:
                rest_top[other], rest_bottom[other] = p, q
                continue
        late[step] = 1
        if other >= 0:
            frozen[other] = True


@compiled
def _peel_dual(
    node: Indices,
    edge: Indices,
    tail: Indices,
    head: Indices,
    at_tail: Integers,
    at_head: Integers,
    cost: Integers,
    top: Integers,
    bottom: Integers,
    word: float,
) -> None:
    """Solve what fits in 64 bits; the others keep denominator 0."""
    for step in range(node.size - 1, -1, -1):
        i, e = node[step], edge[step]
        if tail[e] == i:
            here, there, other = at_tail[e], at_head[e], head[e]
        else:
            here, there, other = at_head[e], at_tail[e], tail[e]
        if other < 0:
            top[i], bottom[i] = _divide(cost[e], 1, here, word)
        elif bottom[other]:
            p, q = _subtract(cost[e], 1, there, top[other], bottom[other], word)
            if q:
                top[i], bottom[i] = _divide(p, q, here, word)


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
        p, q = _subtract(cost[column], 1, at_tail[column], top[i], bottom[i], word)
        if q and j >= 0:
            p, q = _subtract(p, q, at_head[column], top[j], bottom[j], word)
        if q:
            sign[column] = 1 if p > 0 else 0
    return sign
