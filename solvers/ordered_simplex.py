"""The hidden die over ordered rolls, by a two-phase tableau simplex in exact rationals.

This is the programme as the game is told, with no reduction at all, and the textbook method:

    minimise    sum over o of T_o
    subject to  sum over dice i of x[a, i] = 1                                   for each ordered roll a,
                T_o >= sum of a_i x[a, i],   T_o >= best(o) sum of x[a, i]       for each observation o, over a without a_i = o,
                x >= 0,  T >= 0.

The value of the game is the optimum over s^n.  The first phase brings in a mix for each roll by artificial columns.  Slow, and
independent of :mod:`solvers.hidden_die_programme`: it is there to be compared with.  The multipliers of an observation's two
rows are the taker's chances of taking the hidden die and the visible one.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import product

from flint import fmpq

from solvers.hidden_die_certificate import (
    Certificate,
    Faces,
    Hiding,
    Taking,
    best_visible,
    observations,
    orders,
    rolls,
)

Row = dict[int, fmpq]


class Tableau:
    """A simplex tableau in equations, sparse, in exact rationals; it minimises.

    Parameters
    ----------
    rows : list of dict of int to fmpq
        Non-zero entries of each equation by column.
    rhs : list of fmpq
        Right-hand sides, none negative.
    basis : list of int
        For each row a column with entry 1 there and 0 in the other rows.
    """

    def __init__(self, rows: list[Row], rhs: list[fmpq], basis: list[int]) -> None:
        self.rows = rows
        self.rhs = rhs
        self.basis = basis
        self.reduced: Row = {}
        self.pivots = 0

    def minimise(self, cost: Row, banned: frozenset[int] = frozenset()) -> None:
        """Pivot from the present basis to one of least `cost`; columns in `banned` do not enter.

        The column of steepest cost enters; after a pivot that gained nothing the first that improves (Bland), until one gains
        again, so that the method cannot cycle.
        """
        self.reduced = dict(cost)
        for row, column in zip(self.rows, self.basis, strict=True):
            if factor := self.reduced.get(column):
                _eliminate(self.reduced, row, factor)
        stalled = False
        while True:
            improving = {column: rate for column, rate in self.reduced.items() if rate < 0 and column not in banned}
            if not improving:
                return
            entering = min(improving) if stalled else min(improving, key=lambda column: (improving[column], column))
            ratios = [
                (self.rhs[place] / row[entering], self.basis[place], place)
                for place, row in enumerate(self.rows)
                if row.get(entering, 0) > 0
            ]
            if not ratios:
                raise ArithmeticError("the programme is unbounded")
            step, _, leaving = min(ratios)
            stalled = step == 0
            self._pivot(leaving, entering)

    def expel(self, columns: frozenset[int]) -> None:
        """Pivot `columns`, all of value 0, out of the basis, so that no later pivot can raise them."""
        for place, basic in enumerate(self.basis):
            if basic in columns and (others := self.rows[place].keys() - columns):
                self._pivot(place, min(others))

    def _pivot(self, place: int, entering: int) -> None:
        pivot = self.rows[place][entering]
        scaled = {column: value / pivot for column, value in self.rows[place].items()}
        self.rows[place] = scaled
        self.rhs[place] /= pivot
        for other, row in enumerate(self.rows):
            if other != place and (factor := row.get(entering)):
                _eliminate(row, scaled, factor)
                self.rhs[other] -= factor * self.rhs[place]
        _eliminate(self.reduced, scaled, self.reduced.get(entering, fmpq(0)))
        self.basis[place] = entering
        self.pivots += 1


def _eliminate(row: Row, pivot_row: Row, factor: fmpq) -> None:
    """Subtract `factor` times the pivot row, dropping what cancels."""
    for column, value in pivot_row.items():
        changed = row.get(column, 0) - factor * value
        if changed != 0:
            row[column] = changed
        else:
            row.pop(column, None)


def solve_ordered(dice: int, sides: int) -> tuple[Certificate, int]:
    """Solve the ordered programme of `dice` dice with `sides` sides; return what it proves, and the number of pivots."""
    ordered = list(product(range(1, sides + 1), repeat=dice))
    seen = {visible: place for place, visible in enumerate(observations(dice, sides))}
    first_total = len(ordered) * dice
    first_slack = first_total + len(seen)
    first_artificial = first_slack + 2 * len(seen)

    rows: list[Row] = []
    for place in seen.values():
        rows.append({first_total + place: fmpq(-1), first_slack + 2 * place: fmpq(1)})
        rows.append({first_total + place: fmpq(-1), first_slack + 2 * place + 1: fmpq(1)})
    for number, roll in enumerate(ordered):
        mix: Row = {first_artificial + number: fmpq(1)}
        for die, face in enumerate(roll):
            column = number * dice + die
            visible = tuple(sorted(roll[:die] + roll[die + 1 :]))
            rows[2 * seen[visible]][column] = fmpq(face)
            if best := best_visible(visible):
                rows[2 * seen[visible] + 1][column] = fmpq(best)
            mix[column] = fmpq(1)
        rows.append(mix)
    artificial = frozenset(range(first_artificial, first_artificial + len(ordered)))
    start = list(range(first_slack, first_artificial + len(ordered)))
    tableau = Tableau(rows, [fmpq(0)] * (2 * len(seen)) + [fmpq(1)] * len(ordered), start)
    tableau.minimise(dict.fromkeys(artificial, fmpq(1)))
    tableau.expel(artificial)
    tableau.minimise({first_total + place: fmpq(1) for place in seen.values()}, artificial)

    values = dict(zip(tableau.basis, tableau.rhs, strict=True))
    total = sum((values.get(first_total + place, fmpq(0)) for place in seen.values()), fmpq(0))
    hidden: dict[Faces, dict[int, fmpq]] = defaultdict(dict)
    for number, roll in enumerate(ordered):
        for die, face in enumerate(roll):
            if chance := values.get(number * dice + die):
                mixed = hidden[tuple(sorted(roll))]
                mixed[face] = mixed.get(face, fmpq(0)) + chance
    hiding = tuple(
        Hiding(roll, tuple((face, _fraction(mass / orders(roll))) for face, mass in sorted(hidden[roll].items())))
        for roll in rolls(dice, sides)
    )
    taking = []
    for visible, place in seen.items():
        unknown, known = (tableau.reduced.get(first_slack + 2 * place + row, fmpq(0)) for row in range(2))
        weighed = unknown + known != 0
        taking.append(Taking(visible, _fraction(unknown / (unknown + known)) if weighed else Fraction(1)))
    value = _fraction(total / sides**dice)
    return Certificate(dice, sides, value, hiding, tuple(taking)), tableau.pivots


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))
