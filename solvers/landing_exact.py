"""The single lap in rational numbers, with one generating polynomial a square instead of floating-point sums.

With z marking turns, let B_c(s) be the polynomial whose coefficient at z^k is P(the token lands on s in turn k as its c-th
doubles of that turn; c = 0: as the last roll of the turn).  A token that ends a turn rolls next in the following one, so the
mass about to roll from s is stay(s) z B_0(s) and stay(s) B_c(s), and squares are settled in ascending order as in
:func:`solvers.landing_single.single_lap`.  The law of the turn of the landing on s is B_0(s) + B_1(s) + ..., with exact
coefficients: the oracle for the floating-point answer, and the answer itself when it is asked for.
"""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq, fmpq_poly

from solvers.board import Board
from solvers.dice import count_rolls
from solvers.landing_squares import Squares


def exact_single_lap(board: Board, squares: Squares, dice: int, sides: int, doubles_limit: int) -> list[list[Fraction]]:
    """Return, for each square, P(a lone token lands there in turn k) for k = 0, 1, ...

    The rules are those of :func:`solvers.landing_single.single_lap`.
    """
    rolls = count_rolls(dice, sides)
    levels = max(doubles_limit, 1)
    single, double = list(rolls.single), list(rolls.double)
    if not doubles_limit:
        single, double = [one + two for one, two in zip(single, double, strict=True)], [0] * len(double)
    draws = {draw.square: draw for draw in squares.draws}
    mass = [[fmpq_poly([0])] * levels for _ in range(board.size)]
    mass[board.start][0] = fmpq_poly([1])
    turn = fmpq_poly([0, 1])
    for square in range(board.start, board.size):
        here = mass[square]
        if square != board.start:
            if squares.arrest[square]:
                continue
            if draw := draws.get(square):
                for to, count in draw.moves:
                    mass[to] = [one + two * fmpq(count, draw.size) for one, two in zip(mass[to], here, strict=True)]
                here = [one * fmpq(draw.stay, draw.size) for one in here]
        for level, landed in enumerate(here):
            rolling = (landed if level else landed * turn) / rolls.rolls
            _roll(mass, square, 0, single, rolling)
            if level + 1 < levels:
                _roll(mass, square, level + 1, double, rolling)
    mass[board.start] = []
    return [[_fraction(one) for one in sum(landed, fmpq_poly([0])).coeffs()] for landed in mass]


def _roll(mass: list[list[fmpq_poly]], square: int, level: int, counts: list[int], rolling: fmpq_poly) -> None:
    for total in range(1, min(len(counts), len(mass) - square)):
        if counts[total]:
            mass[square + total][level] += rolling * counts[total]


def exact_race(law: list[Fraction], players: int) -> list[Fraction]:
    """Return the probability that each player is the first to land, given the law of the turn of a lone one's landing."""
    first = [Fraction(0)] * players
    before = Fraction(1)
    for landing in law:
        after = before - landing
        for player in range(players):
            first[player] += landing * after**player * before ** (players - 1 - player)
        before = after
    return first


def as_text(value: Fraction) -> str:
    """Write a fraction as "p/q" in lowest terms, whole numbers too."""
    return f"{value.numerator}/{value.denominator}"


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))
