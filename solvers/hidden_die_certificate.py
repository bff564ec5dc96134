"""Certificates of the hidden die: a strategy for each side, and the value that both prove.

A certificate is checked in the game itself, not in the reduced programme: over all rolls, as multisets, with all their faces.
A strategy for multisets is one for ordered rolls, which does not look at the order, and a payoff does not depend on it either.

What the hider's mix pays at most, and what the taker's answer gets at least, bound the value from both sides:

    value * s^n  <=  sum over o of max(sum over h of h y(o, h),  m(o) sum over h of y(o, h)),    y(o, h) = w[o + h] x[o + h, h],
    value * s^n  >=  sum over r of w_r min over h in r of (t_o h + (1 - t_o) m(o)),              o = r - h,

with w_r the ordered rolls of multiset r, x[r, h] the chance that h is hidden, m(o) the best visible face and t_o the chance
that the hidden die is taken.  Equality proves the value and both strategies, and needs no trust in how they were found.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from math import factorial, prod

Faces = tuple[int, ...]


@dataclass(frozen=True)
class Hiding:
    """What the hider does with a roll.

    Attributes
    ----------
    roll : tuple of int
        The faces, lowest first.
    chances : tuple of (int, Fraction)
        The faces that may be hidden, lowest first, each with its chance; they sum to one.
    """

    roll: Faces
    chances: tuple[tuple[int, Fraction], ...]


@dataclass(frozen=True)
class Taking:
    """How the taker answers what is visible.

    Attributes
    ----------
    visible : tuple of int
        The visible faces, lowest first; empty with one die.
    hidden : Fraction
        The chance that the hidden die is taken, rather than the best visible one.
    """

    visible: Faces
    hidden: Fraction


@dataclass(frozen=True)
class Certificate:
    """An optimal strategy for each side, and the value of the game.

    Attributes
    ----------
    dice, sides : int
    value : Fraction
    hiding : tuple of Hiding
        One for each roll, in the order of :func:`rolls`.
    taking : tuple of Taking
        One for each set of visible faces, in the order of :func:`observations`.
    """

    dice: int
    sides: int
    value: Fraction
    hiding: tuple[Hiding, ...]
    taking: tuple[Taking, ...]


def rolls(dice: int, sides: int) -> Iterator[Faces]:
    """Yield every roll as a multiset of faces, lowest face first, in lexicographic order."""
    return combinations_with_replacement(range(1, sides + 1), dice)


def observations(dice: int, sides: int) -> Iterator[Faces]:
    """Yield everything that can be visible, lowest face first, in lexicographic order."""
    return rolls(dice - 1, sides)


def orders(roll: Faces) -> int:
    """Return the number of ordered rolls that show these faces."""
    return factorial(len(roll)) // prod(factorial(count) for count in Counter(roll).values())


def without(roll: Faces, face: int) -> Faces:
    """Return what is visible when one die showing `face` is hidden."""
    place = roll.index(face)
    return roll[:place] + roll[place + 1 :]


def best_visible(visible: Faces) -> int:
    """Return the best visible face; 0 if nothing is visible, so that nobody takes it."""
    return max(visible, default=0)


def hider_bound(certificate: Certificate) -> Fraction:
    """Return what the hider's strategy pays, at most, to a taker who knows it: no less than the value of the game.

    Raises
    ------
    ValueError
        If it is not a strategy: a roll is missing or stands twice, or its chances are no mix of its faces.
    """
    _same_order("rolls", [mix.roll for mix in certificate.hiding], rolls(certificate.dice, certificate.sides))
    behind: dict[Faces, Fraction] = defaultdict(Fraction)
    shown: dict[Faces, Fraction] = defaultdict(Fraction)
    for mix in certificate.hiding:
        faces = [face for face, _ in mix.chances]
        if not set(faces) <= set(mix.roll) or len(set(faces)) < len(faces):
            raise ValueError(f"roll {mix.roll} hides {faces}")
        if any(chance < 0 for _, chance in mix.chances) or sum(chance for _, chance in mix.chances) != 1:
            raise ValueError(f"the chances of roll {mix.roll} are no probabilities that sum to one")
        for face, chance in mix.chances:
            visible = without(mix.roll, face)
            behind[visible] += face * orders(mix.roll) * chance
            shown[visible] += best_visible(visible) * orders(mix.roll) * chance
    total = sum((max(behind[visible], shown[visible]) for visible in behind), Fraction(0))
    return total / Fraction(certificate.sides) ** certificate.dice


def taker_bound(certificate: Certificate) -> Fraction:
    """Return what the taker's strategy gets, at least, from a hider who knows it: no more than the value of the game.

    Raises
    ------
    ValueError
        If it is not a strategy: an observation is missing or stands twice, or a chance is no probability.
    """
    dice, sides = certificate.dice, certificate.sides
    _same_order("observations", [answer.visible for answer in certificate.taking], observations(dice, sides))
    hidden = {answer.visible: answer.hidden for answer in certificate.taking}
    for visible, chance in hidden.items():
        if not 0 <= chance <= 1:
            raise ValueError(f"the chance at {visible} is no probability: {chance}")
    if dice == 1 and hidden[()] != 1:
        raise ValueError("with one die the hidden one must be taken: nothing is visible")

    def pays(roll: Faces, face: int) -> Fraction:
        visible = without(roll, face)
        return hidden[visible] * face + (1 - hidden[visible]) * best_visible(visible)

    total = sum((orders(roll) * min(pays(roll, face) for face in set(roll)) for roll in rolls(dice, sides)), Fraction(0))
    return total / Fraction(sides) ** dice


def verify_certificate(certificate: Certificate) -> None:
    """Check a certificate in exact rationals, from the rules of the game alone.

    Raises
    ------
    ValueError
        If the hider's or the taker's side is no strategy, or if the two do not prove the value; one line says which.
    """
    upper, lower = hider_bound(certificate), taker_bound(certificate)
    if upper != lower:
        raise ValueError(f"the strategies prove no value: the hider pays up to {upper}, the taker gets {lower}")
    if upper != certificate.value:
        raise ValueError(f"the strategies prove the value {upper}, not {certificate.value}")


def _same_order(what: str, found: list[Faces], wanted: Iterator[Faces]) -> None:
    expected = list(wanted)
    if found != expected:
        stray = next(iter(sorted(set(found) ^ set(expected))), None)
        raise ValueError(
            f"the {what} are not those of the game" + (f": {stray}" if stray is not None else ", each once, in order")
        )
