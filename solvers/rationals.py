"""Vectors of rationals: 64-bit where a bound shows that nothing can overflow, FLINT's where not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from solvers.compiled import compiled

Integers = NDArray[np.int64]

WORD = 2.0**62
"""Products up to this magnitude are formed in 64 bits: half their range, because the estimate of a product is rounded."""


@dataclass(frozen=True, eq=False)
class Rationals:
    """A vector of rationals: ``numerator / denominator``, and those of denominator 0 in `large`."""

    numerator: Integers
    denominator: Integers
    large: Mapping[int, fmpq]

    def __getitem__(self, index: int) -> fmpq:
        """Return one entry."""
        bottom = int(self.denominator[index])
        return fmpq(int(self.numerator[index]), bottom) if bottom else self.large[index]

    def fractions(self) -> list[Fraction]:
        """Return all entries as :class:`fractions.Fraction`."""
        found = [Fraction(p, q or 1) for p, q in zip(self.numerator.tolist(), self.denominator.tolist(), strict=True)]
        for index, value in self.large.items():
            found[index] = Fraction(int(value.p), int(value.q))
        return found

    def first_negative(self, order: Integers) -> int | None:
        """Return the index of a negative entry, of all those the one that is least by `order`; None if there is none."""
        found = np.flatnonzero((self.numerator < 0) & (self.denominator > 0)).tolist()
        found += [index for index, value in self.large.items() if value < 0]
        return min(found, key=lambda index: int(order[index]), default=None)

    def dot(self, factors: Integers) -> fmpq:
        """Return the sum of the entries times `factors`."""
        total = sum((value * int(factors[index]) for index, value in self.large.items()), fmpq(0))
        order = np.argsort(self.denominator, kind="stable")
        for same in np.split(order, np.flatnonzero(np.diff(self.denominator[order])) + 1):
            bottom = int(self.denominator[same[0]]) if same.size else 0
            if not bottom:
                continue
            top, times = self.numerator[same], factors[same]
            if float(np.dot(np.abs(top.astype(np.float64)), np.abs(times.astype(np.float64)))) < WORD:
                total += fmpq(int(np.dot(top, times)), bottom)
            else:
                total += fmpq(sum(p * t for p, t in zip(top.tolist(), times.tolist(), strict=True)), bottom)
        return total


@compiled
def _divisor(a: int, b: int) -> int:
    a, b = abs(a), abs(b)
    while b:
        a, b = b, a % b
    return a


@compiled
def subtract(p: int, q: int, times: int, r: int, s: int, word: float) -> tuple[int, int]:
    """Return p / q - times * r / s in lowest terms; (0, 0) if a product reaches `word`."""
    common = _divisor(q, s)
    left, right = s // common, q // common
    if abs(float(p) * float(left)) + abs(float(times) * float(r) * float(right)) >= word or float(q) * float(left) >= word:
        return 0, 0
    top, bottom = p * left - times * r * right, q * left
    common = _divisor(top, bottom)
    return top // common, bottom // common


@compiled
def divide(p: int, q: int, by: int, word: float) -> tuple[int, int]:
    """Return p / (q * by) in lowest terms; (0, 0) if a product reaches `word`."""
    common = _divisor(p, by)
    if by < 0:
        common = -common
    if float(q) * abs(float(by)) >= word:
        return 0, 0
    return p // common, q * (by // common)
