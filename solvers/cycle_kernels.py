"""Passes over the cells of a chain whose decks are drawn in order, in compiled code; the mathematics is in `deck_cycle`.

Arrays over nodes have shape (cells, m).  `target`, `cell` and `again` are those of :class:`solvers.deck_cycle.Draws`, and K
(n, m) is the law of the next event after each state.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from solvers.compiled import compiled

Array = NDArray[np.float64]
Order = NDArray[np.uint16]

REDUCTION = 1e-8
"""How far GMRES brings the residual down before it starts again: rounding spoils more."""


@compiled
def draw_cards(
    first: Order,
    second: Order,
    follows: NDArray[np.uint16],
    deck: NDArray[np.uint8],
    states: int,
    target: NDArray[np.int32],
    cell: NDArray[np.int32],
    again: NDArray[np.bool_],
) -> None:
    """Fill the arrays of :class:`Draws` for one order of the first deck and of the second."""
    for i in range(first.size):
        for j in range(second.size):
            here = i * second.size + j
            for event in range(deck.size):
                a, b, code = i, j, states + event
                again[here, event] = False
                while code >= states:
                    if deck[code - states] == 0:
                        code = follows[code - states, first[a]]
                        a += 1
                        if a == first.size:
                            a = 0
                            again[here, event] = True
                    else:
                        code = follows[code - states, second[b]]
                        b += 1
                        if b == second.size:
                            b = 0
                            again[here, event] = True
                target[here, event] = code
                cell[here, event] = a * second.size + b


@compiled
def pass_cells(
    target: NDArray[np.int32], cell: NDArray[np.int32], again: NDArray[np.bool_], K: Array, rates: Array, outflow: Array
) -> None:
    """Turn the inflow in `rates` (cells, m) into the rates of all nodes, and write the next inflow to `outflow`."""
    outflow[:] = 0.0
    cells, events = rates.shape
    for here in range(cells):
        for event in range(events):
            rate = rates[here, event]
            if rate == 0.0:
                continue
            row = K[target[here, event]]
            ahead = outflow[cell[here, event]] if again[here, event] else rates[cell[here, event]]
            for following in range(events):
                ahead[following] += rate * row[following]


@compiled
def spread_rates(target: NDArray[np.int32], cell: NDArray[np.int32], K: Array, rates: Array, ahead: Array) -> None:
    """Add w T to `ahead` for the rates w (cells, m)."""
    cells, events = rates.shape
    for here in range(cells):
        for event in range(events):
            row = K[target[here, event]]
            for following in range(events):
                ahead[cell[here, event], following] += rates[here, event] * row[following]


@compiled
def _around(
    x: Array,
    frontier: NDArray[np.intp],
    target: NDArray[np.int32],
    cell: NDArray[np.int32],
    again: NDArray[np.bool_],
    K: Array,
    rates: Array,
    outflow: Array,
    y: Array,
) -> None:
    """Write x F to `y`; both hold the inflow of the frontier nodes."""
    rates[:] = 0.0
    flat, out = rates.reshape(-1), outflow.reshape(-1)
    for k in range(frontier.size):
        flat[frontier[k]] = x[k]
    pass_cells(target, cell, again, K, rates, outflow)
    for k in range(frontier.size):
        y[k] = out[frontier[k]]


@compiled
def improve_inflow(
    x: Array,
    frontier: NDArray[np.intp],
    target: NDArray[np.int32],
    cell: NDArray[np.int32],
    again: NDArray[np.bool_],
    K: Array,
    rates: Array,
    outflow: Array,
    steps: int,
    tolerance: float,
) -> float:
    """Improve `x`, whose sum is one, by at most `steps` steps; return the 1-norm of x F - x that there was before."""
    n = x.size
    y = np.empty(n)
    basis = np.empty((steps + 1, n))
    hessenberg = np.zeros((steps + 1, steps))
    cosine, sine = np.empty(steps), np.empty(steps)
    right = np.zeros(steps + 1)
    _around(x, frontier, target, cell, again, K, rates, outflow, y)
    # Exactly, nothing is lost on the way round.  What rounding loses is put back: beside a small residual it is not small.
    total = x.sum()
    basis[0] = y - y.sum() / total * x
    before: float = np.abs(basis[0]).sum()
    if before <= tolerance:
        return before
    right[0] = np.sqrt((basis[0] ** 2).sum())
    basis[0] /= right[0]
    # In the 2-norm, of which the 1-norm is at most sqrt(n) times; and no further than rounding allows within one restart.
    enough = max(0.1 * tolerance / np.sqrt(n), REDUCTION * right[0])
    used = 0
    for k in range(steps):
        _around(basis[k], frontier, target, cell, again, K, rates, outflow, y)
        following = basis[k] - y
        for i in range(k + 1):
            hessenberg[i, k] = (following * basis[i]).sum()
            following -= hessenberg[i, k] * basis[i]
        following -= following.sum() / total * x
        length = np.sqrt((following**2).sum())
        for i in range(k):
            upper, lower = hessenberg[i, k], hessenberg[i + 1, k]
            hessenberg[i, k] = cosine[i] * upper + sine[i] * lower
            hessenberg[i + 1, k] = cosine[i] * lower - sine[i] * upper
        radius = np.hypot(hessenberg[k, k], length)
        if radius == 0.0:
            break
        cosine[k], sine[k] = hessenberg[k, k] / radius, length / radius
        hessenberg[k, k] = radius
        right[k + 1] = -sine[k] * right[k]
        right[k] *= cosine[k]
        used = k + 1
        if abs(right[k + 1]) <= enough or length <= 1e-14:
            break
        basis[k + 1] = following / length
    for i in range(used - 1, -1, -1):
        for j in range(i + 1, used):
            right[i] -= hessenberg[i, j] * right[j]
        right[i] /= hessenberg[i, i]
    for i in range(used):
        x += right[i] * basis[i]
    return before
