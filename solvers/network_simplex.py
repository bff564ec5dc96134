"""The primal simplex method for programmes whose columns have at most two entries, in floating point.

    maximise c x   subject to   A x = b,  x >= 0.

Rows are nodes and columns edges, or loops if they have one entry.  A basis can be written with one column for each row, its
*key*, which leads to a *parent*, the row at the key's other end; following parents ends at a loop or goes round a cycle.  Hence

* the change of x for one unit of an entering column travels from its two ends along their parents, and is a geometric series on
  a cycle;
* when the key of row k leaves, on the way from an end a of the entering column, the keys from a to k move up by one row, and
  the entering column becomes the key of a;
* only a and the rows that hang below it get new prices y.

So a pivot costs no more than the rows that it touches.  Columns are priced in blocks, starting where the last search ended, and
the best column of the first block that has one enters.  What comes out is a basis to be certified by :mod:`solvers.exact_lp`,
not an answer.
"""

from __future__ import annotations

from math import isqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvers.compiled import compiled
from solvers.exact_lp import Network
from solvers.peeling import Indices
from solvers.rationals import Integers

Reals = NDArray[np.float64]

TOLERANCE = 1e-9
BLOCK = 64
"""Columns that are priced at a time, at least; else about the square root of their number."""
PIVOTS_PER_ROW = 100
"""More than that and the method is taken to run in circles, as a primal simplex method without a special rule may."""


class _Columns(NamedTuple):
    tail: Indices
    head: Indices
    at_tail: Reals
    at_head: Reals
    cost: Reals


class _Basis(NamedTuple):
    """By row: its key, the key's other row (-1 if none), the two entries, x of the key, y of the row; and lists of children."""

    key: Integers
    parent: Indices
    here: Reals
    there: Reals
    amount: Reals
    price: Reals
    child: Indices
    after: Indices
    before: Indices


class _Work(NamedTuple):
    """Scratch: the change of x by row with the rows where it is not 0, a walk with what it carries, and marks of walks."""

    rate: Reals
    touched: Indices
    path: Indices
    carried: Reals
    mark: Integers
    walk: Integers


def improve_basis(network: Network, keys: Integers) -> tuple[Integers, int]:
    """Improve a feasible basis until no price says that it can be.

    Parameters
    ----------
    network : Network
    keys : ndarray of int64, shape (rows,)
        For each row a basic column with an entry in it, all different, such that parents end at loops.

    Returns
    -------
    basis : ndarray of int64, shape (rows,)
        Basic columns, keyed by row.
    pivots : int

    Raises
    ------
    ArithmeticError
        If the parents of `keys` do not end at loops, or if the programme is unbounded.
    RuntimeError
        If it takes more than ``PIVOTS_PER_ROW`` pivots for each row.
    """
    rows = keys.size
    columns = _Columns(
        network.tail,
        network.head,
        network.at_tail.astype(np.float64),
        network.at_head.astype(np.float64),
        network.cost.astype(np.float64),
    )
    basis = _Basis(
        key=keys.astype(np.int64),
        parent=np.empty(rows, np.int32),
        here=np.empty(rows),
        there=np.empty(rows),
        amount=network.supply.astype(np.float64),
        price=np.empty(rows),
        child=np.full(rows, -1, np.int32),
        after=np.empty(rows, np.int32),
        before=np.empty(rows, np.int32),
    )
    work = _Work(
        rate=np.zeros(rows),
        touched=np.empty(2 * rows, np.int32),
        path=np.empty(rows, np.int32),
        carried=np.empty(rows),
        mark=np.zeros(rows, np.int64),
        walk=np.zeros(1, np.int64),
    )
    if not _start(columns, basis, work):
        raise ArithmeticError("the keys of the first basis lead round a cycle")
    pivots, ended = _improve(columns, basis, work, max(BLOCK, isqrt(network.cost.size)), PIVOTS_PER_ROW * rows)
    if ended < 0:
        raise ArithmeticError("the programme is unbounded")
    if not ended:
        raise RuntimeError(f"no optimum after {pivots:,} pivots")
    return basis.key, pivots


@compiled
def _start(columns: _Columns, basis: _Basis, work: _Work) -> bool:
    """Hang the rows of a forest below their parents, and solve for x and y; False if the keys are no forest."""
    rows = basis.key.size
    for row in range(rows):
        _hang(columns, basis, row, basis.key[row])
    reached = 0
    for row in range(rows):
        if basis.parent[row] < 0:
            work.path[reached] = row
            reached += 1
    done = 0
    while done < reached:
        row = work.path[done]
        done += 1
        basis.price[row] = _price_below(columns, basis, row)
        below = basis.child[row]
        while below >= 0:
            work.path[reached] = below
            reached += 1
            below = basis.after[below]
    for place in range(reached - 1, -1, -1):
        row = work.path[place]
        basis.amount[row] /= basis.here[row]
        if basis.parent[row] >= 0:
            basis.amount[basis.parent[row]] -= basis.there[row] * basis.amount[row]
    return reached == rows


@compiled
def _hang(columns: _Columns, basis: _Basis, row: int, key: int) -> None:
    """Give a row a key, and make it a child of the row at the other end."""
    basis.key[row] = key
    if columns.tail[key] == row:
        parent = columns.head[key]
        basis.here[row], basis.there[row] = columns.at_tail[key], columns.at_head[key]
    else:
        parent = columns.tail[key]
        basis.here[row], basis.there[row] = columns.at_head[key], columns.at_tail[key]
    basis.parent[row] = parent
    basis.before[row] = basis.after[row] = -1
    if parent >= 0:
        eldest = basis.child[parent]
        basis.after[row] = eldest
        if eldest >= 0:
            basis.before[eldest] = row
        basis.child[parent] = row


@compiled
def _unhang(basis: _Basis, row: int) -> None:
    parent, before, after = basis.parent[row], basis.before[row], basis.after[row]
    if before >= 0:
        basis.after[before] = after
    elif parent >= 0:
        basis.child[parent] = after
    if after >= 0:
        basis.before[after] = before


@compiled
def _price_below(columns: _Columns, basis: _Basis, row: int) -> float:
    """Return the price at which a row's key breaks even, given the price of its parent."""
    rest = columns.cost[basis.key[row]]
    if basis.parent[row] >= 0:
        rest -= basis.there[row] * basis.price[basis.parent[row]]
    return float(rest / basis.here[row])


@compiled
def _improve(columns: _Columns, basis: _Basis, work: _Work, block: int, limit: int) -> tuple[int, int]:
    """Pivot; return how often, and 1 at an optimum, 0 at the limit, -1 if the programme is unbounded."""
    position = 0
    for pivot in range(limit):
        entering, position = _search(columns, basis, position, block)
        if entering < 0:
            return pivot, 1
        touched = _spread(columns, basis, work, entering)
        leaving, step = _limiting(basis, work, touched)
        if leaving < 0:
            return pivot, -1
        for place in range(touched):
            row = work.touched[place]
            basis.amount[row] -= step * work.rate[row]
            work.rate[row] = 0.0
        top = _exchange(columns, basis, work, entering, leaving, step)
        _reprice(columns, basis, work, top)
    return limit, 0


@compiled
def _search(columns: _Columns, basis: _Basis, position: int, block: int) -> tuple[int, int]:
    """Return the column to enter, -1 if none would gain, and where to search next."""
    best, entering, left = TOLERANCE, -1, columns.cost.size
    while left > 0 and entering < 0:
        for _ in range(min(block, left)):
            gain = columns.cost[position] - columns.at_tail[position] * basis.price[columns.tail[position]]
            if columns.head[position] >= 0:
                gain -= columns.at_head[position] * basis.price[columns.head[position]]
            if gain > best:
                best, entering = gain, position
            position += 1
            if position == columns.cost.size:
                position = 0
        left -= block
    return entering, position


@compiled
def _spread(columns: _Columns, basis: _Basis, work: _Work, entering: int) -> int:
    """Work out what x of each key loses for one unit of the entering column; return the number of rows touched."""
    touched = 0
    for end in range(2):
        row = columns.head[entering] if end else columns.tail[entering]
        carried = columns.at_head[entering] if end else columns.at_tail[entering]
        work.walk[0] += 1
        length = 0
        while row >= 0 and work.mark[row] != work.walk[0]:
            work.mark[row] = work.walk[0]
            work.path[length], work.carried[length] = row, carried
            length += 1
            carried *= -basis.there[row] / basis.here[row]
            row = basis.parent[row]
        cycle, turns = length, 1.0
        if row >= 0:
            cycle = 0
            while work.path[cycle] != row:
                cycle += 1
            turns = 1.0 / (1.0 - carried / work.carried[cycle])
        for place in range(length):
            on = work.path[place]
            if work.rate[on] == 0.0:
                work.touched[touched] = on
                touched += 1
            work.rate[on] += work.carried[place] * (turns if place >= cycle else 1.0) / basis.here[on]
    return touched


@compiled
def _limiting(basis: _Basis, work: _Work, touched: int) -> tuple[int, float]:
    """Return the row whose key is first to reach 0, by preference the one that falls fastest, and when; -1 if there is none."""
    leaving, step, fastest = -1, np.inf, 0.0
    for place in range(touched):
        row = work.touched[place]
        rate = work.rate[row]
        if rate > TOLERANCE:
            when = max(basis.amount[row], 0.0) / rate
            if when < step - TOLERANCE or (when < step + TOLERANCE and rate > fastest):
                leaving, step, fastest = row, when, rate
    return leaving, step


@compiled
def _exchange(columns: _Columns, basis: _Basis, work: _Work, entering: int, leaving: int, step: float) -> int:
    """Move the keys between an end of the entering column and the leaving row; return that end."""
    work.walk[0] += 1
    row = columns.tail[entering]
    while row >= 0 and row != leaving and work.mark[row] != work.walk[0]:
        work.mark[row] = work.walk[0]
        row = basis.parent[row]
    top = columns.tail[entering] if row == leaving else columns.head[entering]
    row, key, amount = top, entering, step
    while True:
        next_row, next_key, next_amount = basis.parent[row], basis.key[row], basis.amount[row]
        _unhang(basis, row)
        _hang(columns, basis, row, key)
        basis.amount[row] = amount
        if row == leaving:
            return int(top)
        row, key, amount = next_row, next_key, next_amount


@compiled
def _reprice(columns: _Columns, basis: _Basis, work: _Work, top: int) -> None:
    """Give new prices to a row and to all that hangs below it."""
    length, row = 0, basis.parent[top]
    work.walk[0] += 1
    while row >= 0 and row != top and work.mark[row] != work.walk[0]:
        work.mark[row] = work.walk[0]
        work.path[length] = row
        length += 1
        row = basis.parent[row]
    if row == top:
        # Round the cycle, from the last row before the top down to it, the price comes back as fixed + slope times itself.
        fixed, slope = 0.0, 1.0
        for place in range(length - 1, -2, -1):
            on = work.path[place] if place >= 0 else top
            fixed = (columns.cost[basis.key[on]] - basis.there[on] * fixed) / basis.here[on]
            slope *= -basis.there[on] / basis.here[on]
        basis.price[top] = fixed / (1.0 - slope)
    else:
        basis.price[top] = _price_below(columns, basis, top)
    height = 1
    work.path[0] = top
    while height:
        height -= 1
        below = basis.child[work.path[height]]
        while below >= 0:
            if below != top:
                basis.price[below] = _price_below(columns, basis, below)
                work.path[height] = below
                height += 1
            below = basis.after[below]
