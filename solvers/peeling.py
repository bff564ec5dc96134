"""Exact solutions of the equations of a basis whose columns have at most two entries, by peeling.

Rows are nodes and a column with two entries is an edge.  Each connected part of the graph of a basis has as many edges as
nodes, a column with one entry counting as a loop: it is a tree with one more edge or loop.  So the equations are solved by
peeling: a node with one edge left gives the value of that edge, which is then taken out of its other node.  All that can remain
is a set of disjoint cycles, a small dense system.  The transposed equations are solved in the opposite order.
"""

from __future__ import annotations

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from solvers.compiled import compiled
from solvers.rationals import Integers, Rationals, divide, subtract

Indices = NDArray[np.int32]


class Peeling:
    """The equations of a basis, in the order in which they solve one another.

    Parameters
    ----------
    tail, head : ndarray of int32, shape (size,)
        Rows of the entries of each basic column; `head` is -1 for a column with one.
    at_tail, at_head : ndarray of int64, shape (size,)
        The entries.
    word : float
        Magnitude from which arithmetic leaves 64-bit integers.
    """

    def __init__(self, tail: Indices, head: Indices, at_tail: Integers, at_head: Integers, word: float) -> None:
        self.tail, self.head, self.at_tail, self.at_head, self.word = tail, head, at_tail, at_head, word
        node, edge = np.empty(tail.size, np.int32), np.empty(tail.size, np.int32)
        steps = _peel(tail, head, node, edge)
        self.node, self.edge = node[:steps], edge[:steps]
        self.core_nodes: list[int] = np.setdiff1d(np.arange(tail.size), self.node, assume_unique=True).tolist()
        self.core_edges: list[int] = np.setdiff1d(np.arange(tail.size), self.edge, assume_unique=True).tolist()

    def primal(self, supply: Integers) -> Rationals:
        """Solve A_B x = supply; ArithmeticError if the basis is singular."""
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
        """Solve y A_B = cost; ArithmeticError if the basis is singular."""
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
        if core.det() == 0:
            raise ArithmeticError("the basis is singular")
        return core


@compiled
def _peel(
    tail: Indices,
    head: Indices,
    node: Indices,
    edge: Indices,
) -> int:
    """Order the basis by peeling; return the number of steps."""
    size = tail.size
    degree = np.zeros(size, np.int64)
    # The exclusive or of the edges at a node names the last one left, without a list of them.
    link = np.zeros(size, np.int64)
    for e in range(size):
        degree[tail[e]] += 1
        link[tail[e]] ^= e
        if head[e] >= 0:
            degree[head[e]] += 1
            link[head[e]] ^= e
    steps = 0
    for first in range(size):
        i = first
        while i >= 0 and degree[i] == 1:
            e = link[i]
            node[steps], edge[steps] = i, e
            steps += 1
            degree[i] = 0
            i = head[e] if tail[e] == i else tail[e]
            if i >= 0:
                degree[i] -= 1
                link[i] ^= e
    return steps


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
            top[e], bottom[e] = divide(rest_top[i], rest_bottom[i], here, word)
        if bottom[e] and (other < 0 or not frozen[other]):
            if other < 0:
                continue
            p, q = subtract(rest_top[other], rest_bottom[other], there, top[e], bottom[e], word)
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
            top[i], bottom[i] = divide(cost[e], 1, here, word)
        elif bottom[other]:
            p, q = subtract(cost[e], 1, there, top[other], bottom[other], word)
            if q:
                top[i], bottom[i] = divide(p, q, here, word)
