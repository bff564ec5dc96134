"""Time the hidden die: the certified packing programme against HiGHS, scipy and, if it is installed, pygambit.

Run ``python benchmarks/hidden_die.py``.  Each time is a median of building and solving, in one process on one core; the ratios
are to the certified packing programme of the same run.  HiGHS on the packing programme is certified too.  The others are given
the game with multisets or with ordered rolls as states, and prove nothing.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Callable
from itertools import combinations_with_replacement, product
from math import factorial, prod
from typing import Any, TypeVar

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from solvers.exact_lp import certify
from solvers.hidden_die import METHODS, solve_packing
from solvers.hidden_die_programme import build_programme, greedy_basis
from solvers.network_simplex import improve_basis

try:
    import pygambit
except ImportError:
    pygambit = None

GAMES = ((2, 6), (3, 6), (6, 6), (3, 20), (5, 12), (4, 20), (3, 50))
TIME_LIMIT = 30.0
"""Seconds that scipy may take."""
LARGEST_ORDERED = 50_000
"""Ordered rolls beyond which the ordered programme does not end within the limit."""
LARGEST_GAMBIT = 216
"""Ordered rolls beyond which pygambit takes minutes."""

T = TypeVar("T")
States = list[tuple[tuple[int, ...], int, list[int]]]


def multisets(dice: int, sides: int) -> States:
    """Return rolls as multisets, how many ordered rolls each stands for, and a die for each distinct face."""
    rolls = combinations_with_replacement(range(1, sides + 1), dice)
    return [
        (roll, factorial(dice) // prod(map(factorial, Counter(roll).values())), [roll.index(face) for face in set(roll)])
        for roll in rolls
    ]


def ordered(dice: int, sides: int) -> States:
    """Return ordered rolls, each standing for itself, and all their dice."""
    return [(roll, 1, list(range(dice))) for roll in product(range(1, sides + 1), repeat=dice)]


def by_scipy(states: States, total: int) -> float:
    """Return the value of the game by the programme with these states; NaN if scipy does not solve it in time."""
    seen: dict[tuple[int, ...], int] = {}
    rows, columns, entries, owner = [], [], [], []
    for number, (roll, weight, dice) in enumerate(states):
        for die in dice:
            visible = tuple(sorted(roll[:die] + roll[die + 1 :]))
            at = seen.setdefault(visible, len(seen))
            rows += [2 * at, 2 * at + 1]
            columns += [len(owner)] * 2
            entries += [weight * roll[die], weight * visible[-1]]
            owner.append(number)
    actions = len(owner)
    for at in range(len(seen)):
        rows += [2 * at, 2 * at + 1]
        columns += [actions + at] * 2
        entries += [-1, -1]
    limits = csr_array((entries, (rows, columns)), shape=(2 * len(seen), actions + len(seen)))
    sums = csr_array((np.ones(actions), (owner, np.arange(actions))), shape=(len(states), actions + len(seen)))
    gain = np.concatenate([np.zeros(actions), np.ones(len(seen))])
    found = linprog(
        gain,
        limits,
        np.zeros(2 * len(seen)),
        sums,
        np.ones(len(states)),
        method="highs",
        options={"time_limit": TIME_LIMIT},
    )
    return found.fun / total if found.status == 0 else float("nan")


def timed(run: Callable[[], T]) -> tuple[float, T]:
    """Return the median seconds of up to eleven runs, within about two seconds, and the last result."""
    seconds: list[float] = []
    while not seconds or (len(seconds) < 11 and sum(seconds) < 2):
        began = time.perf_counter()
        result = run()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds), result


def by_gambit(states: States, total: int) -> float:
    """Return the value of the game by pygambit's ``lcp_solve``, in rationals; its ``lp_solve`` of 16.7 gives wrong values."""
    game = pygambit.Game.new_tree(players=["hider", "taker"])
    game.append_move(game.root, game.players.chance, [str(roll) for roll, _, _ in states])
    game.set_chance_probs(game.root.infoset, [pygambit.Rational(weight, total) for _, weight, _ in states])
    seen: dict[tuple[int, ...], Any] = {}
    for (roll, _, dice), node in zip(states, list(game.root.children), strict=True):
        game.append_move(node, "hider", [str(roll[die]) for die in dice])
        for die, shown in zip(dice, list(node.children), strict=True):
            visible = roll[:die] + roll[die + 1 :]
            if visible in seen:
                game.append_infoset(shown, seen[visible])
            else:
                game.append_move(shown, "taker", ["hidden", "visible"])
                seen[visible] = shown.infoset
            for end, taken, face in zip(shown.children, ("hidden", "visible"), (roll[die], visible[-1]), strict=True):
                game.set_outcome(end, game.add_outcome(f"{roll} {die} {taken}", payoffs=[-face, face]))
    return float(pygambit.nash.lcp_solve(game, rational=True).equilibria[0].payoff("taker"))


def tried(solve: Callable[[], float], value: float, whole: float) -> str:
    """Return milliseconds and ratio of another way to the value, which must agree."""
    taken, found = timed(solve)
    if np.isnan(found):
        return f" {f'> {TIME_LIMIT:.0f} s':>9} {'':>6}"
    if abs(found - value) > 1e-6:
        raise SystemExit(f"{found} is not {value}")
    return f" {1e3 * taken:9.1f} {taken / whole:6.0f}"


def compared(dice: int, sides: int) -> str:
    """Return a line of the table."""
    whole, solution = timed(lambda: solve_packing(dice, sides))
    programme = build_programme(dice, sides)
    network = programme.network()
    basis, _ = improve_basis(network, greedy_basis(programme))
    exact, _ = timed(lambda: certify(network, basis))
    rolls, value = sides**dice, float(solution.value)
    others: list[Callable[[], float] | None] = [
        lambda: float(METHODS["packing-highs"](dice, sides).value),
        lambda: by_scipy(multisets(dice, sides), rolls),
        (lambda: by_scipy(ordered(dice, sides), rolls)) if rolls <= LARGEST_ORDERED else None,
        (lambda: by_gambit(multisets(dice, sides), rolls)) if pygambit and rolls <= LARGEST_GAMBIT else None,
    ]
    line = f"{f'{dice},{sides}':>10} {1e3 * whole:8.2f} {1e3 * exact:6.2f}"
    line += "".join(tried(other, value, whole) if other else f" {'-':>9} {'':>6}" for other in others)
    return f"{line}  {value:.9f}"


def main() -> None:
    for method in METHODS.values():
        method(3, 6)
    print("milliseconds to build and solve, medians of one run, ratios to packing; exact is the part of packing that proves")
    names = ("HiGHS packing", "scipy multiset", "scipy ordered", "gambit lcp")
    print(f"{'dice,sides':>10} {'packing':>8} {'exact':>6}" + "".join(f" {name:>16}" for name in names) + "  value")
    for dice, sides in GAMES:
        print(compared(dice, sides), flush=True)


if __name__ == "__main__":
    main()
