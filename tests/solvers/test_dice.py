"""The law of dice is the count of ordered rolls."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from solvers.dice import count_rolls, dice_law, wrap


@pytest.mark.parametrize(("dice", "sides"), [(1, 1), (1, 6), (2, 1), (2, 2), (2, 6), (3, 4), (4, 3), (5, 2)])
def test_counts_are_those_of_every_ordered_roll(dice: int, sides: int) -> None:
    single: Counter[int] = Counter()
    double: Counter[int] = Counter()
    for roll in itertools.product(range(1, sides + 1), repeat=dice):
        (double if dice > 1 and len(set(roll)) == 1 else single)[sum(roll)] += 1
    counts = count_rolls(dice, sides)
    assert {t: n for t, n in enumerate(counts.single) if n} == single
    assert {t: n for t, n in enumerate(counts.double) if n} == double
    assert sum(counts.single) + sum(counts.double) == counts.rolls == sides**dice


def test_one_die_shows_no_doubles() -> None:
    assert not any(count_rolls(1, 6).double)


def test_one_sided_dice_show_nothing_but_doubles() -> None:
    assert count_rolls(3, 1).double == (0, 0, 0, 1)
    assert not any(count_rolls(3, 1).single)


def test_many_dice_are_exact_beyond_the_range_of_doubles() -> None:
    counts = count_rolls(60, 20)
    assert sum(counts.single) + sum(counts.double) == 20**60
    assert float(Fraction(counts.single[600], counts.rolls)) == dice_law(60, 20).single[600]


def test_folding_onto_a_circle_keeps_the_mass() -> None:
    law = dice_law(2, 30).single
    folded = wrap(law, 40)
    assert folded.shape == (40,)
    assert folded.sum() == pytest.approx(law.sum(), abs=1e-15)
    assert folded[3] == law[3] + law[43]
    assert np.all(folded >= 0)


@pytest.mark.parametrize(("dice", "sides"), [(0, 6), (2, 0)])
def test_no_dice_and_no_sides_are_refused(dice: int, sides: int) -> None:
    with pytest.raises(ValueError, match="at least one"):
        count_rolls(dice, sides)
