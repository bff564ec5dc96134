"""The study ``stationary`` beside what one would use instead, in one process on one core.

Every method gives the 40 probabilities of a point.  Ours also gives ranks, gaps and the residual, and is timed with them.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from pipeline.config import load_sweep
from pipeline.library import shipped
from solvers.board import Deck, parse_deck, vary_deck
from solvers.exact import Game
from solvers.stationary import STUDY, solve
from solvers.study import Grid

SIDES = tuple(range(2, 21))
DECKS = 500


def seconds(call: Callable[[], object], repeats: int) -> float:
    """Median time of a call after one that is not counted."""
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def fixed_values() -> dict[str, object]:
    sweep = load_sweep(shipped() / "monopoly_odds.yaml", ["sides=6", "chance=classic"]).sweep
    return {name: value.value for name, value in sweep.fixed.items()}


def many_decks(base: Deck) -> tuple[Deck, ...]:
    """Vary five cards of a deck of 24."""
    bigger = parse_deck({"size": 24, "cards": {str(card): count for card, count in base.counts if card.kind != "stay"}})
    cards = ("jail", "back-3", "to-24", "to-0", "next-railway")
    sizes = itertools.product(range(1, 5), range(1, 3), range(1, 6), range(1, 6), range(1, 6))
    fitting = [dict(zip(cards, counts, strict=True)) for counts in sizes if sum(counts) <= 13]
    return tuple(vary_deck(bigger, changes) for changes in fitting[:DECKS])


def full_matrix(point: dict[str, object]) -> np.ndarray:
    """Build the transition matrix of one point over (square, doubles) as most programs do: state by state."""
    decks = {name: point[name] for name in ("chest", "chance")}
    rules = {name: point[name] for name in ("board", "dice", "sides", "doubles_limit", "doubles_after_jail", "back_onto_draw")}
    chain = Game(decks=decks, **rules).chain()
    order = {state: i for i, state in enumerate(sorted(chain))}
    matrix = np.zeros((len(order), len(order)))
    for state, following in chain.items():
        for other, probability in following.items():
            matrix[order[state], order[other]] = float(probability)
    return matrix


def power_iteration(matrix: np.ndarray) -> np.ndarray:
    pi = np.full(len(matrix), 1 / len(matrix))
    for _ in range(300):
        pi = pi @ matrix
    return pi


def linear_solve(matrix: np.ndarray) -> np.ndarray:
    system = matrix.T - np.eye(len(matrix))
    system[-1] = 1
    right = np.zeros(len(matrix))
    right[-1] = 1
    return np.linalg.solve(system, right)


def batched_solve(matrices: np.ndarray) -> np.ndarray:
    systems = matrices.swapaxes(1, 2) - np.eye(matrices.shape[1])
    systems[:, -1] = 1
    right = np.zeros((len(systems), matrices.shape[1], 1))
    right[:, -1] = 1
    return np.linalg.solve(systems, right)


def main() -> None:
    STUDY.prepare()
    point = fixed_values()
    decks = many_decks(point["chance"])
    rest = {name: value for name, value in point.items() if name not in ("sides", "chance")}
    grid = Grid({"sides": SIDES, "chance": decks}, rest)
    points = len(SIDES) * len(decks)
    ours = seconds(lambda: solve(grid), 7) / points
    matrix = full_matrix(point)
    stack = np.repeat(matrix[None], 64, axis=0)
    rows = [
        (f"this study, {len(SIDES)} sides x {len(decks)} decks, everything included", ours),
        ("this study, one point at a time", seconds(lambda: solve(Grid({}, point)), 30)),
        ("numpy.linalg.solve in stacks of 64, matrices given", seconds(lambda: batched_solve(stack), 10) / 64),
        ("numpy.linalg.solve, matrix given", seconds(lambda: linear_solve(matrix), 50)),
        ("300 rounds of power iteration, matrix given", seconds(lambda: power_iteration(matrix), 30)),
        ("matrix built state by state, and power iteration", seconds(lambda: power_iteration(full_matrix(point)), 5)),
    ]
    try:
        from quantecon import MarkovChain
        from quantecon.markov import gth_solve
    except ImportError:
        print("(quantecon is not installed: pip install quantecon adds two rows)")
    else:
        rows.append(("quantecon gth_solve, matrix given", seconds(lambda: gth_solve(matrix), 30)))
        rows.append(("quantecon MarkovChain, matrix given", seconds(lambda: MarkovChain(matrix).stationary_distributions, 10)))
    print(f"{'microseconds a point':>22}  {'ratio':>8}")
    for name, each in rows:
        print(f"{1e6 * each:22.1f}  {each / ours:8.1f}  {name}")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
