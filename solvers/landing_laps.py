"""First landings of one token that may pass the same square many times: endless laps, or a jail that it leaves again.

A landing is the first one only if the token never touched the target before, so each target needs its own process: the
token's law over the squares, killed as soon as it touches the target (a taboo).  All targets advance together, as columns of
one array

    x_k[q, g] = P(on square q before turn k + 1, target g never touched in turns 1 ... k),

and the mass killed in column g during turn k is P(first landing on g in turn k).

A turn is at most L rolls (L = doubles limit).  With S and D the moves of a roll without and with doubles, and R_g what the
squares do to a token that lands (cards, arrest, the taboo at g),

    y_1 = x,    y_{c+1} = R_g D y_c,    x' = R_g S (y_1 + ... + y_L)    (+ jailed mass on the jail square if jail is `visit`),

where the last doubles, D y_L, is jailed without moving.  Columns never mix and nothing is subtracted.

Mass from which the target cannot be touched any more is dropped as soon as it arises: it belongs to `nobody`, not to
`unresolved`.  Whether it can is read off the graph of whole turns, closed under composition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from solvers.board import Board
from solvers.compiled import compiled
from solvers.dice import turn_laws, wrap
from solvers.landing_squares import Squares

Array = NDArray[np.float64]

MAX_TURNS = 20_000
"""Turns after which a race is given up; what is left is then reported as unresolved."""


@dataclass(frozen=True)
class Turns:
    """The rules of a turn, for any lap and jail.

    Attributes
    ----------
    board : Board
    squares : Squares
    dice, sides, doubles_limit : int
    endless : bool
        Whether the token goes round, or is out past the last square.
    released : bool
        Whether a jailed token plays on from the jail square, or is out.
    """

    board: Board
    squares: Squares
    dice: int
    sides: int
    doubles_limit: int
    endless: bool
    released: bool

    @cached_property
    def _laws(self) -> tuple[Array, Array, float]:
        single, double = turn_laws(self.dice, self.sides, self.doubles_limit)
        lost = float(double.sum())
        if self.endless:
            single, double = wrap(single, self.board.size), wrap(double, self.board.size)
        return single, double, lost

    def play(self, state: Array, taboo: NDArray[np.int64]) -> tuple[Array, Array]:
        """Play one turn from every column of `state`.

        Parameters
        ----------
        state : ndarray of float64, shape (squares, columns)
            Mass on each square before the turn.
        taboo : ndarray of int64, shape (columns,)
            Square on which the mass of each column ends; -1 for none.

        Returns
        -------
        state : ndarray of float64, shape (squares, columns)
            Mass on each square after the turn.
        touched : ndarray of float64, shape (squares, columns)
            Expected number of landings on each square during the turn.
        """
        single, double, lost = self._laws
        squares = self.squares
        return _turn(
            state,
            taboo,
            single,
            double,
            lost,
            max(self.doubles_limit, 1),
            self.endless,
            self.board.jail if self.released else -1,
            squares.arrest,
            squares.place,
            squares.stay,
            squares.jail,
            squares.onto,
            squares.chance,
        )


def first_landings(turns: Turns, targets: Sequence[int], unresolved_below: float) -> tuple[Array, Array]:
    """Return the law of the turn in which a lone token first lands on each target.

    Parameters
    ----------
    turns : Turns
    targets : sequence of int
        Squares of the board other than the start.
    unresolved_below : float
        Turns are played until less than this is left of every target's mass, or :data:`MAX_TURNS` of them.

    Returns
    -------
    law : ndarray of float64, shape (targets, turns played + 1)
        P(first landing in turn k); nothing in turn 0.
    left : ndarray of float64, shape (targets,)
        P(not landed yet, and still able to).
    """
    taboo = np.array(targets, np.int64)
    able = reachable(turns)[:, taboo].astype(np.float64)
    state = np.zeros((turns.board.size, taboo.size))
    state[turns.board.start] = 1
    state *= able
    landed = [np.zeros(taboo.size)]
    columns = np.arange(taboo.size)
    while state.sum(axis=0).max() >= unresolved_below and len(landed) <= MAX_TURNS:
        state, touched = turns.play(state, taboo)
        state *= able
        landed.append(touched[taboo, columns])
    return np.ascontiguousarray(np.array(landed).T), state.sum(axis=0)


def reachable(turns: Turns) -> NDArray[np.bool_]:
    """Return whether a token that stands on square q before its turn can ever land on square g; shape (q, g)."""
    size = turns.board.size
    after, touched = turns.play(np.eye(size), np.full(size, -1, np.int64))
    closure = np.eye(size) + (after.T > 0)
    for _ in range(size.bit_length()):
        closure = (closure @ closure > 0).astype(np.float64)
    found: NDArray[np.bool_] = closure @ (touched.T > 0) > 0
    return found


@compiled
def _turn(
    state: Array,
    taboo: NDArray[np.int64],
    single: Array,
    double: Array,
    lost: float,
    limit: int,
    endless: bool,
    release: int,
    arrest: NDArray[np.bool_],
    place: NDArray[np.int64],
    stay: Array,
    jail: Array,
    onto: NDArray[np.int64],
    chance: Array,
) -> tuple[Array, Array]:
    size, width = state.shape
    after = np.zeros((size, width))
    touched = np.zeros((size, width))
    jailed = np.zeros(width)
    thrown = state.copy()
    rolling = state
    for _ in range(1, limit):
        again = np.zeros((size, width))
        _move(rolling, double, endless, again)
        _land(again, touched, jailed, taboo, arrest, place, stay, jail, onto, chance)
        thrown += again
        rolling = again
    for square in range(size):
        for g in range(width):
            jailed[g] += lost * rolling[square, g]
    _move(thrown, single, endless, after)
    _land(after, touched, jailed, taboo, arrest, place, stay, jail, onto, chance)
    if release >= 0:
        after[release] += jailed
    return after, touched


@compiled
def _move(rolling: Array, law: Array, endless: bool, landing: Array) -> None:
    size, width = rolling.shape
    for source in range(size):
        for total in range(law.size):
            to = source + total
            if to >= size:
                if not endless:
                    break
                to -= size
            if law[total] > 0:
                for g in range(width):
                    landing[to, g] += law[total] * rolling[source, g]


@compiled
def _land(
    landing: Array,
    touched: Array,
    jailed: Array,
    taboo: NDArray[np.int64],
    arrest: NDArray[np.bool_],
    place: NDArray[np.int64],
    stay: Array,
    jail: Array,
    onto: NDArray[np.int64],
    chance: Array,
) -> None:
    """Let the squares act on what a roll brings, in place, and count every landing."""
    touched += landing
    for g in range(taboo.size):
        if taboo[g] >= 0:
            landing[taboo[g], g] = 0
    for i in range(place.size):
        drawing = landing[place[i]].copy()
        landing[place[i]] = stay[i] * drawing
        jailed += jail[i] * drawing
        for j in range(onto.shape[1]):
            if onto[i, j] >= 0:
                moved = chance[i, j] * drawing
                touched[onto[i, j]] += moved
                _end(moved, taboo, onto[i, j])
                landing[onto[i, j]] += moved
    for square in range(arrest.size):
        if arrest[square]:
            jailed += landing[square]
            landing[square] = 0


@compiled
def _end(moved: Array, taboo: NDArray[np.int64], square: int) -> None:
    """Take out the columns whose taboo is the square just landed on."""
    for g in range(taboo.size):
        if taboo[g] == square:
            moved[g] = 0
