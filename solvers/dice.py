"""Dice: the joint law of the total of n fair s-sided dice and of whether all n faces are equal.

The number of ordered rolls with total t is the coefficient of z^t in (z + z^2 + ... + z^s)^n, found by n running sums in
integers.  All faces are equal in s of the s^n rolls, with totals n, 2n, ..., sn.  One die shows no doubles, by definition.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Rolls:
    """Exact counts of ordered rolls.

    Attributes
    ----------
    single, double : tuple of int
        Entry t is the number of ordered rolls with total t whose faces are not all equal, and all equal; length n * s + 1.
    rolls : int
        Number of all ordered rolls, s ** n.
    """

    single: tuple[int, ...]
    double: tuple[int, ...]
    rolls: int


@dataclass(frozen=True)
class DiceLaw:
    """Joint law of total and doubles in double precision, each entry correctly rounded.

    Attributes
    ----------
    single, double : ndarray of float64, shape (n * s + 1,)
        Probability of total t without doubles, and with.
    """

    single: NDArray[np.float64]
    double: NDArray[np.float64]


@lru_cache(maxsize=1024)
def count_rolls(dice: int, sides: int) -> Rolls:
    """Count the ordered rolls of `dice` fair dice with `sides` sides by total and doubles.

    Raises
    ------
    ValueError
        If `dice` or `sides` is below one.
    """
    if dice < 1 or sides < 1:
        raise ValueError(f"need at least one die with one side, not {dice} dice of {sides} sides")
    counts = [1]
    for n in range(1, dice + 1):
        sums = [0, *accumulate(counts)]
        last = len(counts)
        counts = [sums[min(t, last)] - sums[max(t - sides, 0)] if t else 0 for t in range(n * sides + 1)]
    double = [0] * len(counts)
    if dice > 1:
        for face in range(1, sides + 1):
            double[dice * face] = 1
    single = [count - equal for count, equal in zip(counts, double, strict=True)]
    return Rolls(tuple(single), tuple(double), sides**dice)


@lru_cache(maxsize=1024)
def dice_law(dice: int, sides: int) -> DiceLaw:
    """Return the joint law of total and doubles; see :func:`count_rolls`."""
    counts = count_rolls(dice, sides)
    single = np.array([count / counts.rolls for count in counts.single])
    double = np.array([count / counts.rolls for count in counts.double])
    single.flags.writeable = double.flags.writeable = False
    return DiceLaw(single, double)


def turn_laws(dice: int, sides: int, doubles_limit: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the laws of totals that end a turn and of totals that roll again; with a limit of 0 doubles, all end it."""
    law = dice_law(dice, sides)
    if doubles_limit:
        return law.single.copy(), law.double.copy()
    return law.single + law.double, np.zeros_like(law.double)


def wrap(law: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Fold a law over totals onto a circle: entry r is the probability of total r modulo `size`; shape (size,)."""
    folded = np.zeros(size)
    np.add.at(folded, np.arange(law.size) % size, law)
    return folded
