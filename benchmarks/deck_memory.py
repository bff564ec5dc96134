"""What the odds of decks drawn in order cost, for the same standard error: exact orders against simulated games.

Both in one run on one core, for two six-sided dice on the classic board.  A method that takes t seconds for the standard error
e takes t e^2 / E^2 for the error E, so t e^2 is what is compared, square by square:

    python benchmarks/deck_memory.py
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
from ruamel.yaml import YAML
from scipy.sparse import block_diag, csr_array

from solvers.board import parse_board, parse_deck
from solvers.chain import kernel
from solvers.deck_cycle import CycleSolver
from solvers.memories import compare_memories
from solvers.rules import Rules
from solvers.simulation import prepare, simulate
from solvers.stationary import STUDY
from solvers.study import Grid

CONFIGS = Path(__file__).parents[1] / "configs"
ORDERS = 2000
ROLLS, GAMES, BURN_IN = 100_000_000, 1000, 1000


def main() -> None:
    yaml = YAML(typ="safe")
    board = parse_board(yaml.load(CONFIGS / "boards" / "monopoly.yaml"))
    decks = {name: parse_deck(deck) for name, deck in yaml.load(CONFIGS / "decks" / "classic.yaml").items()}
    rules = {"dice": 2, "sides": 6, "doubles_limit": 3, "doubles_after_jail": "keep", "back_onto_draw": "chain"}
    point: dict[str, Any] = {"board": board, **rules, **decks}
    STUDY.prepare()
    prepare()

    solver = CycleSolver(Rules(board, 2, 6, 3, "keep"), decks, "chain")
    orders = solver.orders(np.random.default_rng(np.random.SeedSequence(1)), ORDERS)
    seconds = []
    answers = []
    for order in orders:
        started = time.perf_counter()
        answers.append(solver.solve([order]).probability[0])
        seconds.append(time.perf_counter() - started)
    exact = np.array(answers)
    spread, error = exact.std(axis=0, ddof=1), exact.std(axis=0, ddof=1) / np.sqrt(ORDERS)
    print(f"one order, exactly: median {statistics.median(seconds) * 1e3:.2f} ms, slowest {max(seconds) * 1e3:.1f} ms")
    iterated, passes, took = power_iteration(solver, orders[0])
    off = np.abs(iterated - exact[0]).max()
    print(f"the same by power iteration on 30,720 states: {took * 1e3:.0f} ms, {passes} steps; they differ by {off:.0e}\n")

    started = time.perf_counter()
    found = simulate(
        point | {"deck_memory": "cycle", "rolls": ROLLS, "games": GAMES, "burn_in": BURN_IN}, np.random.SeedSequence(2)
    )
    simulated = time.perf_counter() - started
    far = np.abs(found["frequency"] - exact.mean(axis=0))
    both = np.hypot(found["standard_error"], error)
    worst = (far[both > 0] / both[both > 0]).max()
    print(f"{ROLLS:.0e} rolls in {GAMES} games: {simulated:.2f} s; the two differ by {worst:.1f} errors at most")

    print("\nseconds for a standard error of 1e-6")
    print(f"{'square':<8}{'spread of orders':>18}{'exact orders':>14}{'simulation':>12}{'ratio':>8}")
    ratios = []
    for q, name in enumerate(board.names):
        if error[q] == 0:
            continue
        by_order = statistics.mean(seconds) * spread[q] ** 2 * 1e12
        by_rolls = simulated * found["standard_error"][q] ** 2 * 1e12
        ratios.append(by_rolls / by_order)
        print(f"{name:<8}{spread[q] * 1e6:>18.1f}{by_order:>14.2f}{by_rolls:>12.0f}{ratios[-1]:>8.1f}")
    middle = statistics.median(ratios)
    print(f"simulation costs {min(ratios):.1f} to {max(ratios):.0f} times as much, {middle:.0f} at the median square\n")

    shuffled = STUDY.solve(Grid({}, point | {"deck_memory": "shuffled"}))["probability"]
    print(compare_memories(shuffled, exact.mean(axis=0), error, ORDERS).table(board.names))


def power_iteration(solver: CycleSolver, order: tuple[Any, ...]) -> tuple[np.ndarray, int, float]:
    """Multiply by the whole sparse chain until nothing changes; return the odds, the steps and the seconds."""
    started = time.perf_counter()
    base, draws = kernel(solver.rules), solver.draws(order)
    cells, m = draws.target.shape
    n = len(base.quiet)
    cards = csr_array(
        (np.ones(cells * m), (np.arange(cells * m), (draws.cell * n + draws.target).ravel())), shape=(cells * m, cells * n)
    )
    P = block_diag([csr_array(base.quiet)] * cells) + block_diag([csr_array(base.draw)] * cells) @ cards
    back = P.T.tocsr()
    pi = np.full(cells * n, 1 / (cells * n))
    steps, change = 0, 1.0
    while change > 1e-15:
        following = back @ pi
        change, pi, steps = np.abs(following - pi).sum(), following, steps + 1
    return pi.reshape(-1, solver.rules.board.size).sum(axis=0), steps, time.perf_counter() - started


if __name__ == "__main__":
    main()
