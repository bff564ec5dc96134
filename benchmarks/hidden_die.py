"""Time the hidden die: the certified packing programme against the multiset and the ordered programme in scipy.

Run ``python benchmarks/hidden_die.py``.  Each time is a median of building and solving, in one process on one core; the ratios
are to the certified packing programme of the same run.  The others give a floating-point value and no proof.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Callable
from itertools import combinations_with_replacement, product
from math import factorial, prod

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from solvers.exact_lp import certify
from solvers.hidden_die import solve_packing
from solvers.hidden_die_programme import build_programme, optimal_basis

GAMES = ((2, 6), (3, 6), (6, 6), (3, 20), (5, 12), (4, 20), (3, 50))
TIME_LIMIT = 30.0
"""Seconds that scipy may take."""
LARGEST_ORDERED = 50_000
"""Ordered rolls beyond which the ordered programme does not end within the limit."""

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


def timed(run: Callable[[], object]) -> tuple[float, object]:
    """Return the median seconds of up to eleven runs, within about two seconds, and the last result."""
    seconds: list[float] = []
    while not seconds or (len(seconds) < 11 and sum(seconds) < 2):
        began = time.perf_counter()
        result = run()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds), result


def main() -> None:
    solve_packing(3, 6)
    print("milliseconds; build and solve, median; the exact step is part of the whole; ratios are to the whole")
    print(f"{'dice,sides':>10} {'whole':>8} {'exact':>7} {'multiset':>10} {'ratio':>7} {'ordered':>10} {'ratio':>7}  value")
    for dice, sides in GAMES:
        whole, solution = timed(lambda game=(dice, sides): solve_packing(*game))
        network = build_programme(dice, sides).network()
        basis, _ = optimal_basis(build_programme(dice, sides))
        exact, _ = timed(lambda case=(network, basis): certify(*case))
        line = f"{f'{dice},{sides}':>10} {1e3 * whole:8.2f} {1e3 * exact:7.2f}"
        for states in (multisets, ordered):
            if states is ordered and sides**dice > LARGEST_ORDERED:
                line += f" {'-':>10} {'-':>7}"
                continue
            taken, value = timed(lambda game=(dice, sides), states=states: by_scipy(states(*game), game[1] ** game[0]))
            if value != value:
                line += f" {f'> {TIME_LIMIT:.0f} s':>10} {'-':>7}"
                continue
            if abs(value - float(solution.value)) > 1e-6:
                raise SystemExit(f"{states.__name__} gives {value}, not {float(solution.value)}")
            line += f" {1e3 * taken:10.1f} {taken / whole:7.0f}"
        print(f"{line}  {float(solution.value):.9f}", flush=True)


if __name__ == "__main__":
    main()
