"""The hidden die: the exact value of a game of hiding one die and guessing, for any number of dice and sides.

The game
--------
n fair s-sided dice are rolled.  The hider sees them all and hides one.  The taker sees the other n - 1 faces, in no order, and
takes either the hidden die, unknown, or the best visible one.  The hider minimises, the taker maximises, the expected face
taken.  With one die nothing is visible and the hidden die must be taken: the value is (s + 1) / 2.

The programme
-------------
Let x[a, i] be the chance that die i of the ordered roll a is hidden.  When o is visible with best face m, the taker gets the
larger of two sums over the rolls and dice that show o: of the hidden faces, or of m.  Hence the *ordered programme*

    value * s^n = min over x of sum over o of T_o,   T_o >= sum of a_i x[a, i],   T_o >= m sum of x[a, i].

:mod:`solvers.ordered_simplex` solves just this.  What follows makes it small; n >= 2.

1. *Multisets.*  Permuting the dice maps the game onto itself, and the objective is convex, so the mean of an optimal x over all
   permutations is optimal too.  It depends on the multiset of faces alone.  States are therefore multisets r, standing for
   w_r ordered rolls; actions are their distinct faces h.  Let y(o, h) be the mass of rolls that hide h and show o.
2. *Savings.*  Whatever is hidden, max(h, m) is the largest face of the roll, and h = max(h, m) - (m - h)^+,
   m = max(h, m) - (h - m)^+.  Summed over all o the first terms give s^n E[largest face], so

       value * s^n = s^n E[largest] - max over x of sum over o of min(A_o, B_o),
       A_o = sum over h < m of (m - h) y(o, h),    B_o = sum over h > m of (h - m) y(o, h).

   A_o is the credit of hiding a low die and B_o the demand that covers it, from hiding the largest.
3. *Forced and inert.*  If m = 1, A_o = 0; if m = s, B_o = 0: those observations save nothing.  A roll that shows s can earn
   credit only where m = s, so it may as well hide s.  A roll of one face has no choice.  There remain the states with
   largest face below s and at least two faces, and the observations with 1 < m < s; and B_o has the fixed part
   room_o = (s - m) w[o + s].
4. *Packing.*  Some optimum has A_o <= B_o everywhere: from the largest m down, where A_o > B_o let rolls that hide a low die
   there hide their largest instead until A_o = B_o.  min(A_o, B_o) stays, other A do not change, and B can only rise, for
   smaller m.  So it is enough to maximise the sum of A_o subject to A_o <= B_o, which is linear.  With z[r, h] the mass that
   hides h below the largest face, and v_r = w_r - sum over h of z[r, h] the mass that hides the largest,

       maximise sum of (m - h) z[r, h]   subject to   z >= 0,  v >= 0,
       sum over h < m of (m - h) z[o + h, h] <= room_o + sum over m < h < s of (h - m) v[o + h].

   Without v all coefficients are non-negative: a packing programme, in which z = 0 is feasible.
5. *Network.*  In z, v and the slacks, each column has at most two entries: a generalised network.  So a simplex pivot touches
   few rows (:mod:`solvers.network_simplex`), and the equations of the basis that it ends with are solved exactly in one pass
   over its rows (:mod:`solvers.exact_lp`).

By duality the saving is also the minimum, over chances u_o that the taker takes the visible die, of

    sum over o of room_o u_o + sum over r of w_r max((M - m') u[r - M], max over h < M of (M - h) (1 - u[r - h])),

M and m' being the largest and second largest face of r, with u = 0 where only ones are visible.  At an optimum u_o <= 1:
lowering a larger one to 1 raises no term and lowers the first, as room_o > 0.  So 1 - u_o is the taker's optimal chance of
taking the hidden die.

The taker who always takes the hidden die for m <= s / 2, and elsewhere plays his best, gets a lower bound on the value.  It has
equalled the value wherever it was tried, but that it always does is not proved, so nothing here relies on it.

Two dice
--------
For n = 2 and k = floor(s / 2),  s^2 E[largest] - s^2 value = 2 [C(k+1, 3) + C(s-k+1, 3)].

*At most:* let the taker take the hidden die for m <= k and the visible one above.  The roll {a < M} then saves 2 (M - a) if
M <= k or a > k, and else nothing; these add up to the right-hand side.  *At least:* let the hider hide the low die if M <= k
and the high one if a > k.  Then A_o = o (o - 1) for o <= k, and B_o = (s - o)(s - o + 1) for o > k, which add up to it; it
remains to cover them from the rolls with a <= k < M.  Such a roll can give 2 (M - a) = 2 (s + 1 - a - a'), a' = s + 1 - M, to
B_a or to A_M, which need a (a - 1) and a' (a' - 1).  Let it give all to the one with the greater of a and a', and half to each
if they are equal.  Then a <= k gets at least 2 (a - 1)(s + 1 - a) - a (a - 1) + (s + 1 - 2a), which exceeds its need by
(2a - 1)(s + 1 - 2a) > 0; so does a' <= k; and a' = k + 1, which exists for odd s, gets the sum of 2 (k + 1 - a) over a <= k,
k (k + 1), which is its need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from solvers.exact_lp import Network, Optimum, certify
from solvers.hidden_die_certificate import (
    Certificate,
    Faces,
    Hiding,
    Taking,
    hider_bound,
    observations,
    rolls,
    taker_bound,
    verify_certificate,
)
from solvers.hidden_die_programme import Programme, build_programme, greedy_basis, programme_size
from solvers.hidden_die_rules import count_largest, rules
from solvers.highs_basis import highs_basis
from solvers.network_simplex import improve_basis
from solvers.ordered_simplex import solve_ordered
from solvers.rationals import Integers
from solvers.study import Boolean, Choice, Coordinate, Grid, Headline, Integer, Law, Parameter, Results, Study, Variable

LARGEST_PROGRAMME = 8_000_000
"""Columns of the packing programme beyond which a game is refused: a minute and a gigabyte."""

LARGEST_HIGHS = 1_000_000
"""Columns beyond which it is not given to HiGHS: half a minute."""

LARGEST_ORDERED = 1_296
"""Ordered rolls beyond which the published method refuses a game: five seconds."""


@dataclass(frozen=True)
class Solution:
    """The value of one game, and how it was found.

    Attributes
    ----------
    value : Fraction
        Expected face taken under optimal play.
    states, observations : int
        Size of the programme that was solved.
    gap : Fraction
        What is left between the bounds on the value that its primal and dual solutions give.
    pivots : int
        Simplex iterations, exact ones included.
    """

    value: Fraction
    states: int
    observations: int
    gap: Fraction
    pivots: int


Improver: TypeAlias = Callable[[Network, Integers], tuple[Integers, int]]
"""From a feasible basis to one that is optimal as far as floating-point numbers show, and the number of pivots."""


def solve_packing(dice: int, sides: int, improve: Improver = improve_basis, limit: int = LARGEST_PROGRAMME) -> Solution:
    """Solve the packing programme, and certify the value that its basis has.

    Parameters
    ----------
    dice, sides : int
        Both at least 1.
    improve : callable
        What finds the basis.
    limit : int
        Number of columns beyond which a game is refused.

    Raises
    ------
    ValueError
        If the programme has more columns, or if counts of ordered rolls do not fit 64 bits.
    """
    programme, optimum, pivots = _optimum(dice, sides, improve, limit)
    saved, bound = (_fraction(optimum.value), _fraction(optimum.bound)) if optimum else (Fraction(0), Fraction(0))
    largest, total = count_largest(dice, sides), sides**dice
    return Solution((largest - saved) / total, programme.states, programme.observations, (bound - saved) / total, pivots)


def _optimum(dice: int, sides: int, improve: Improver, limit: int) -> tuple[Programme, Optimum | None, int]:
    """Return the packing programme, its optimum (None if nothing can be saved), and the number of pivots."""
    columns = programme_size(dice, sides)[2]
    if columns > limit:
        raise ValueError(f"{dice} dice of {sides} sides need {columns:,} columns; the limit is {limit:,}")
    programme = build_programme(dice, sides)
    if not columns:
        return programme, None, 0
    network = programme.network()
    basis, pivots = improve(network, greedy_basis(programme))
    optimum = certify(network, basis)
    return programme, optimum, pivots + optimum.pivots


def solve_ordered_simplex(dice: int, sides: int) -> Solution:
    """Solve the ordered programme by the published method, and bound the value by the two strategies that it finds.

    Raises
    ------
    ValueError
        If there are more than ``LARGEST_ORDERED`` ordered rolls.
    """
    ordered = sides**dice
    if ordered > LARGEST_ORDERED:
        raise ValueError(f"{dice} dice of {sides} sides have {ordered:,} ordered rolls; the limit is {LARGEST_ORDERED:,}")
    certificate, pivots = solve_ordered(dice, sides)
    gap = hider_bound(certificate) - taker_bound(certificate)
    return Solution(certificate.value, ordered, len(certificate.taking), gap, pivots)


METHODS: Mapping[str, Callable[[int, int], Solution]] = {
    "packing": solve_packing,
    "packing-highs": partial(solve_packing, improve=highs_basis, limit=LARGEST_HIGHS),
    "ordered-simplex": solve_ordered_simplex,
}


def strategy(dice: int, sides: int) -> Certificate:
    """Return an optimal strategy for each side, checked against the rules of the game.

    Parameters
    ----------
    dice, sides : int
        Both at least 1.

    Returns
    -------
    Certificate
        The hider's mix for each roll, the taker's answer to each set of visible faces, and the value.  Others can be as good.

    Raises
    ------
    ValueError
        If the game is too large for :func:`solve_packing`.
    """
    programme, optimum, _ = _optimum(dice, sides, improve_basis, LARGEST_PROGRAMME)
    mixes: dict[Faces, dict[int, Fraction]] = {roll: {} for roll in rolls(dice, sides)}
    # What the programme leaves out: seeing s, nothing hidden is better; seeing only ones, or nothing, it is never worse.
    hidden = {visible: Fraction(int(max(visible, default=1) == 1)) for visible in observations(dice, sides)}
    saved = Fraction(0)
    if optimum:
        saved = _fraction(optimum.value)
        states = [roll for roll in sorted(rolls(dice, sides - 1), key=_colexicographic) if roll[0] < roll[-1]]
        for column, mass in zip(optimum.basis.tolist(), optimum.primal.fractions(), strict=True):
            if column < programme.roll.size and mass:
                state = int(programme.roll[column])
                mixes[states[state]][int(programme.face[column])] = mass / int(programme.weight[state])
        shown = sorted(observations(dice, sides - 1), key=_colexicographic)[1:]
        for visible, known in zip(shown, optimum.dual.fractions()[programme.states :], strict=True):
            hidden[visible] = 1 - known
    for roll, mix in mixes.items():
        if rest := 1 - sum(mix.values()):
            mix[roll[-1]] = Fraction(rest)
    certificate = Certificate(
        dice,
        sides,
        (count_largest(dice, sides) - saved) / sides**dice,
        tuple(Hiding(roll, tuple(sorted(mix.items()))) for roll, mix in mixes.items()),
        tuple(Taking(visible, chance) for visible, chance in hidden.items()),
    )
    verify_certificate(certificate)
    return certificate


def _colexicographic(faces: Faces) -> Faces:
    return faces[::-1]


def _fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def solve(grid: Grid) -> Results:
    """Solve every game of a grid."""
    results: dict[str, NDArray[Any]] = {
        variable.name: np.empty(grid.shape, object if variable.dtype == "str" else variable.dtype) for variable in VARIABLES
    }
    for index, values in grid.points():
        dice, sides = values["dice"], values["sides"]
        began = perf_counter()
        solution = METHODS[values["method"]](dice, sides)
        seconds = perf_counter() - began
        expected_max = Fraction(count_largest(dice, sides), sides**dice)
        found = {
            "value": float(solution.value),
            "value_exact": f"{solution.value.numerator}/{solution.value.denominator}",
            "expected_max": float(expected_max),
            "saving": float(expected_max - solution.value),
            **{name: float(worth) for name, worth in rules(dice, sides).items()},
            "states": solution.states,
            "observations": solution.observations,
            "primal_dual_gap": float(solution.gap),
            "pivots": solution.pivots,
            "seconds": seconds,
        }
        for name, value in found.items():
            results[name][index] = value
    return results


def details(values: Mapping[str, Any]) -> dict[str, Coordinate]:
    """Return the optimal strategies of one game as two tables, if they are asked for.

    Returns
    -------
    dict of str to Coordinate
        Along ``choice``, each die that the hider may hide of each roll, with its chance; along ``observation``, each set of
        visible faces with the taker's chance of taking the hidden die.
    """
    if not values["strategies"]:
        return {}
    certificate = strategy(values["dice"], values["sides"])
    choices = [(mix.roll, face, chance) for mix in certificate.hiding for face, chance in mix.chances]
    answers = [(answer.visible, answer.hidden) for answer in certificate.taking]

    def column(dim: str, items: Iterable[object], dtype: type, long_name: str) -> Coordinate:
        return Coordinate((dim,), np.array(list(items), dtype), long_name)

    return {
        "roll": column("choice", (_spaced(roll) for roll, _, _ in choices), object, "faces rolled"),
        "hide": column("choice", (face for _, face, _ in choices), np.int16, "face hidden"),
        "chance": column("choice", (float(chance) for _, _, chance in choices), np.float64, "chance of hiding it"),
        "chance_exact": column("choice", (str(chance) for _, _, chance in choices), object, "chance, exactly"),
        "visible": column("observation", (_spaced(visible) for visible, _ in answers), object, "visible faces"),
        "take_hidden": column(
            "observation", (float(chance) for _, chance in answers), np.float64, "chance of taking the hidden die"
        ),
        "take_hidden_exact": column("observation", (str(chance) for _, chance in answers), object, "chance, exactly"),
    }


def _spaced(faces: Faces) -> str:
    return " ".join(map(str, faces)) or "nothing"


def cost(values: Mapping[str, Any]) -> float:
    """Seconds that a game takes on one core, by measured powers of its size; next to nothing if it is refused."""
    dice, sides = values["dice"], values["sides"]
    if values["method"] == "ordered-simplex":
        size, limit, power, seconds = sides**dice, LARGEST_ORDERED, 2.0, 3.3e-6
    elif values["method"] == "packing-highs":
        size, limit, power, seconds = programme_size(dice, sides)[2], LARGEST_HIGHS, 1.6, 8e-9
    else:
        size, limit, power, seconds = programme_size(dice, sides)[2], LARGEST_PROGRAMME, 1.45, 6e-9
    if size > limit:
        return 2e-4
    # Strategies are turned into fractions roll by roll.
    tables = 1e-5 * float(size) if values["strategies"] else 0.0
    taken: float = 2e-4 + seconds * float(size) ** power + tables
    return taken


LAWS = (
    Law("the certificate closes: its two bounds are the same", lambda answers: answers["primal_dual_gap"] == 0),
    Law("hiding saves something or nothing", lambda answers: answers["saving"] >= 0),
    Law(
        "the value is the fraction, to the last digit",
        lambda answers: np.array([float(Fraction(text)) for text in answers["value_exact"]]) == answers["value"],
    ),
    Law(
        "no simple rule of the hider pays less than the value, and none of the taker gets more",
        lambda answers: (
            (answers["always_hide_largest"] >= answers["value"] - 1e-12)
            & (answers["hide_at_random"] >= answers["value"] - 1e-12)
            & (answers["always_take_hidden"] <= answers["value"] + 1e-12)
            & (answers["always_take_visible"] <= answers["value"] + 1e-12)
        ),
    ),
)

LARGEST_CHECK = 20_000
"""Columns up to which strategies are written out and checked on all rolls, which takes seconds there."""


def recompute(values: Mapping[str, Any], answers: Mapping[str, Any]) -> str | None:
    """Compare the value with the published method, or where that is too slow with strategies checked on all rolls."""
    dice, sides = values["dice"], values["sides"]
    if sides**dice <= LARGEST_ORDERED and values["method"] != "ordered-simplex":
        value, how = solve_ordered_simplex(dice, sides).value, "the ordered programme"
    elif programme_size(dice, sides)[2] <= LARGEST_CHECK:
        value, how = strategy(dice, sides).value, "strategies checked on all rolls"
    else:
        return None
    return f"the value is {value} by {how}" if value != Fraction(str(answers["value_exact"])) else ""


def prepare() -> None:
    """Compile the kernels, or load them from the cache, by solving a small game."""
    solve_packing(3, 6)


VARIABLES = (
    Variable("value", "expected face taken, under optimal play of both sides"),
    Variable("value_exact", "expected face taken, under optimal play, as an exact fraction p/q", (), "str"),
    Variable("expected_max", "expected largest face: what the taker would get if nothing were hidden"),
    Variable("saving", "what optimal hiding takes off the expected largest face"),
    Variable("always_hide_largest", "expected face if the hider always hides the largest die, and the taker knows"),
    Variable("hide_at_random", "expected face if the hider hides a die at random, and the taker knows"),
    Variable("always_take_hidden", "expected face if the taker always takes the hidden die, and the hider knows"),
    Variable("always_take_visible", "expected face if the taker always takes the best visible die, and the hider knows"),
    Variable("take_visible_above_mean", "expected face if the taker takes a visible die above the mean, and the hider knows"),
    Variable("states", "rolls in the programme that was solved", (), "int64"),
    Variable("observations", "sets of visible faces in the programme that was solved", (), "int64"),
    Variable("primal_dual_gap", "gap between the exact bounds on the value from the two sides; 0 is a proof"),
    Variable("pivots", "simplex iterations", (), "int64"),
    Variable("seconds", "time taken to build, solve and certify", unit="s", reproducible=False),
)

STUDY = Study(
    name="hidden-die",
    version=1,
    title="Exact value of the hidden die: one side hides one of n dice, the other takes it or the best visible one",
    parameters=(
        Parameter("dice", Integer(1, 100), "number of dice rolled; with one, nothing is visible and the hidden die is taken"),
        Parameter("sides", Integer(1, 10_000), "sides of each die"),
        Parameter(
            "method",
            Choice(tuple(METHODS)),
            "packing: the reduced programme; packing-highs: the same by HiGHS; ordered-simplex: as published, for small games",
            default="packing",
        ),
        Parameter("strategies", Boolean(), "whether to keep the optimal strategies of both sides too", default=False),
    ),
    variables=VARIABLES,
    solve=solve,
    cost=cost,
    headline=(Headline("value_exact"), Headline("value", format=".6f")),
    prepare=prepare,
    contained=True,
    laws=LAWS,
    recompute=recompute,
    details=details,
    reference="Project Euler, problem 982, The Third Dice: the game for two and three dice of six sides",
)
