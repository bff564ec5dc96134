"""Landings of one token on a single lap where jail is final: every target in one pass over the squares.

Positions only increase, so a token lands on a square at most once and every landing is a first one.  Let b_c(s, k) be the mass
that lands on s in turn k as its c-th doubles of that turn, and b_0 the mass that ends turn k there; p1 and p2 the laws of the
total without and with doubles; L the doubles limit; stay(s) the share of cards that leave a token on s (one if s draws none,
zero if s arrests).  Settling the squares in ascending order,

    r_0(s, k + 1) = stay(s) b_0(s, k),        r_c(s, k) = stay(s) b_c(s, k)                  about to roll,
    b_0(s + t, k) += p1(t) r_c(s, k),         b_{c+1}(s + t, k) += p2(t) r_c(s, k)           for c < L - 1,
    b_c(s', k) += P(card on s leads to s') b_c(s, k)                                         for s' > s,

    P(landing on s in turn k) = sum over c of b_c(s, k).

The L-th doubles does not move and what passes the last square is out, so both simply stay out of the sums.  Nothing is
subtracted.  With d dice a token that is on s has played at most (s - start) / d turns.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from solvers.board import Board
from solvers.compiled import compiled
from solvers.dice import turn_laws
from solvers.landing_squares import Squares

Array = NDArray[np.float64]


def single_lap(board: Board, squares: Squares, dice: int, sides: int, doubles_limit: int) -> Array:
    """Return the law of the turn of a lone token's landing on every square, on a single lap where jail is final.

    Parameters
    ----------
    board : Board
    squares : Squares
        What the squares do, laid out for a single lap.
    dice, sides : int
    doubles_limit : int
        Doubles of a turn that go to jail; 0 = doubles mean nothing.

    Returns
    -------
    ndarray of float64, shape (squares, turns + 1)
        P(landing on the square in turn k), nothing in turn 0; no token plays more turns than the array has.
    """
    single, double = turn_laws(dice, sides, doubles_limit)
    turns = (board.size - 1 - board.start) // dice
    levels = max(doubles_limit, 1)
    mass = np.zeros((board.size, levels, turns + 2))
    mass[board.start, 0, 0] = 1
    landed = np.zeros((board.size, turns + 1))
    _sweep(
        mass,
        landed,
        board.start,
        dice,
        single,
        double,
        squares.arrest,
        squares.row,
        squares.stay,
        squares.onto,
        squares.chance,
    )
    return landed


@compiled
def _sweep(
    mass: Array,
    landed: Array,
    start: int,
    fewest: int,
    single: Array,
    double: Array,
    arrest: NDArray[np.bool_],
    row: NDArray[np.int64],
    stay: Array,
    onto: NDArray[np.int64],
    chance: Array,
) -> None:
    """Settle the squares in ascending order; `mass` is b, indexed by square, doubles and turn."""
    size, levels, _ = mass.shape
    for square in range(start, size):
        here = mass[square]
        turns = (square - start) // fewest + 1
        if square > start:
            for level in range(levels):
                for k in range(turns):
                    landed[square, k] += here[level, k]
            if arrest[square]:
                continue
            if row[square] >= 0:
                _draw(mass, here, turns, stay[row[square]], onto[row[square]], chance[row[square]])
        _roll(mass, square, turns, fewest, single, double)


@compiled
def _draw(mass: Array, here: Array, turns: int, stay: float, onto: NDArray[np.int64], chance: Array) -> None:
    """Let the mass that has landed on a draw square draw its cards."""
    for j in range(onto.size):
        if onto[j] < 0:
            break
        there = mass[onto[j]]
        for level in range(here.shape[0]):
            for k in range(turns):
                there[level, k] += chance[j] * here[level, k]
    for level in range(here.shape[0]):
        for k in range(turns):
            here[level, k] *= stay


@compiled
def _roll(mass: Array, square: int, turns: int, fewest: int, single: Array, double: Array) -> None:
    """Let the mass that is left on a square roll on; what ended its turn there does so one turn later."""
    size, levels, _ = mass.shape
    here = mass[square]
    for k in range(turns, 0, -1):
        here[0, k] = here[0, k - 1]
    here[0, 0] = 0
    for total in range(fewest, min(single.size, size - square)):
        there = mass[square + total]
        for level in range(levels):
            for k in range(turns + 1):
                there[0, k] += single[total] * here[level, k]
        if double[total] > 0:
            for level in range(levels - 1):
                for k in range(turns + 1):
                    there[level + 1, k] += double[total] * here[level, k]
