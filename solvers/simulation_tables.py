"""The tables from which a simulated game is played: what a random word makes of the dice, and what a roll makes of a state.

Dice.  A roll is told apart only by how it moves the token: its total on the circle, and whether it is doubles.  Two ways lead
from random words to these *steps*:

* Direct.  If the s^n ordered rolls, divided by the greatest common divisor of the counts of the steps, are at most 2^15, one
  entry of a table stands for each.  A whole number below their number R picks one; a 64-bit word holds k such numbers, as many
  as keep R^k below 2^40.  Words that would favour some are thrown away (:mod:`solvers.philox`): the law is exact.
* Alias (A. J. Walker, ACM TOMS 3 (1977) 253; M. D. Vose, IEEE Trans. Software Eng. 17 (1991) 972).  Otherwise each step owns
  one of M columns and may share it with one other.  A word times M gives the column and a 64-bit fraction, which picks one of
  the two.  The columns are cut in whole numbers of rolls and only then rounded, so that each step's probability is off by at
  most 2 M / 2^64, which with M <= 2000 is below 2^-52.

Rolls.  ``following[state * width + step]`` is the state or the event that the step leads to; states and events are numbered as
in :mod:`solvers.chain`.  `width` is a power of two, so that the address takes a shift and not a multiplication.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solvers.board import Deck
from solvers.chain import Cards, card_table
from solvers.dice import count_rolls
from solvers.rules import Rules

MOST_ROLLS = 2**15
"""Entries of the largest direct table: those of 64 KiB, which stay in the second-level cache."""

WORD = 2**64
BATCH_BITS = 40
"""Bits of a word that its numbers may use up; the others make it rare that a word is thrown away (once in 2^24)."""


@dataclass(frozen=True)
class DiceTable:
    """How random words become steps.

    Attributes
    ----------
    step : ndarray of uint16, shape (columns,)
        The step of each number or column.
    other : ndarray of uint16, shape (columns,) or (0,)
        The step that shares each column; empty if the table is direct.
    threshold : ndarray of uint64, shape of `other`
        Fractions from here on, in units of 2^-64, belong to the other step.
    digits : int
        Steps that a word is good for.
    spoiled : int
        Words whose last fraction is below this are thrown away.
    """

    step: NDArray[np.uint16]
    other: NDArray[np.uint16]
    threshold: NDArray[np.uint64]
    digits: int
    spoiled: int


def dice_table(counts: Sequence[int], most: int = MOST_ROLLS) -> DiceTable:
    """Build the table of steps that come up in these numbers of all rolls.

    Parameters
    ----------
    counts : sequence of int
        Positive, of any size.
    most : int
        Number of entries up to which the table is direct.
    """
    common = math.gcd(*counts)
    counts = [count // common for count in counts]
    rolls = sum(counts)
    if rolls <= most:
        digits = max(1, int(BATCH_BITS / math.log2(rolls))) if rolls > 1 else BATCH_BITS
        step = np.repeat(np.arange(len(counts), dtype=np.uint16), counts)
        return DiceTable(step, np.empty(0, np.uint16), np.empty(0, np.uint64), digits, WORD % rolls**digits)
    # In units of one roll times the number of columns, every column holds `rolls`.
    columns = len(counts)
    left = [count * columns for count in counts]
    other, threshold = np.arange(columns, dtype=np.uint16), np.full(columns, WORD - 1, np.uint64)
    small = [i for i, amount in enumerate(left) if amount < rolls]
    large = [i for i, amount in enumerate(left) if amount >= rolls]
    while small:
        poor, rich = small.pop(), large[-1]
        other[poor], threshold[poor] = rich, left[poor] * WORD // rolls
        left[rich] -= rolls - left[poor]
        if left[rich] < rolls:
            small.append(large.pop())
    return DiceTable(np.arange(columns, dtype=np.uint16), other, threshold, 1, 0)


@dataclass(frozen=True)
class Tables:
    """Everything that a game is played from, but the order of its decks.

    Attributes
    ----------
    dice : DiceTable
    following : ndarray of uint16, shape (states * 2 ** shift,)
    shift : int
        Binary logarithm of the width of `following`.
    cards : Cards
    start, states : int
        The first state, and their number.
    """

    dice: DiceTable
    following: NDArray[np.uint16]
    shift: int
    cards: Cards
    start: int
    states: int


def build_tables(rules: Rules, decks: Mapping[str, Deck], back_onto_draw: str) -> Tables:
    """Build the tables of one point."""
    steps = _steps(rules)
    return Tables(
        dice=dice_table(list(steps.values())),
        following=_following(rules, list(steps)).ravel(),
        shift=_shift(len(steps)),
        cards=card_table(rules, decks, back_onto_draw),
        start=rules.board.start,
        states=rules.counters * rules.board.size,
    )


def _steps(rules: Rules) -> dict[tuple[int, bool], int]:
    """Return how many ordered rolls move the token so far round the circle, with doubles that count or without."""
    counts = count_rolls(rules.dice, rules.sides)
    steps: dict[tuple[int, bool], int] = defaultdict(int)
    for equal, law in ((False, counts.single), (bool(rules.doubles_limit), counts.double)):
        for total, count in enumerate(law):
            if count:
                steps[total % rules.board.size, equal] += count
    return dict(steps)


def _shift(steps: int) -> int:
    return (steps - 1).bit_length()


def _following(rules: Rules, steps: Sequence[tuple[int, bool]]) -> NDArray[np.uint16]:
    board, size, counters = rules.board, rules.board.size, rules.counters
    role = np.arange(size)
    following = np.zeros((counters, size, 1 << _shift(len(steps))), np.uint16)
    for source in range(counters):
        for i, (total, equal) in enumerate(steps):
            counter = source + 1 if equal else 0
            if rules.doubles_limit and counter == counters:
                following[source, :, i] = board.jail
                continue
            lands = counter * size + role
            lands[list(board.go_to_jail)] = board.jail + (0 if rules.doubles_after_jail == "reset" else counter * size)
            events = counters * size + counter * len(board.draw_squares)
            lands[list(board.draw_squares)] = events + np.arange(len(board.draw_squares))
            following[source, :, i] = lands[(role + total) % size]
    return following
