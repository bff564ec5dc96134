"""Time the landing race for all targets of the published board, against a direct transcription of its rules.

Both sides answer the same points in one run, on one core, and must agree before they are timed:

    python benchmarks/landing.py
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.document import read_document
from solvers.board import Board, Deck, parse_board, parse_deck, vary_deck
from solvers.landing import STUDY
from solvers.study import Grid

CONFIGS = Path(__file__).parents[1] / "configs"
SIDES = range(2, 13)
TARGETS = range(1, 40)


def main() -> None:
    board = parse_board(read_document(CONFIGS / "boards" / "monopolies.yaml")[0])
    deck = parse_deck(read_document(CONFIGS / "decks" / "monopolies.yaml")[0]["chance"])
    decks = [vary_deck(deck, {"jail": a, "to-24": b, "to-39": c}) for a in range(7) for b in range(4) for c in range(3)]
    few, passes = decks[::28], len(SIDES) * len(decks)
    STUDY.prepare()

    expected = np.array([[transcription(board, few_deck, sides) for few_deck in few] for sides in SIDES])
    answer = STUDY.solve(grid(board, few))["first"]
    print(f"largest difference: {np.abs(answer - expected).max():.1e}\n")

    plain = timed(lambda: [transcription(board, few_deck, sides) for few_deck in few for sides in SIDES], 3)
    plain /= len(few) * len(SIDES)
    fast = {
        "study, two players": timed(lambda: STUDY.solve(grid(board, decks)), 9) / passes,
        "study, 2, 3 and 4 players": timed(lambda: STUDY.solve(grid(board, decks, players=(2, 3, 4))), 9) / passes,
        "study, two players, one target only": timed(lambda: STUDY.solve(grid(board, decks, targets=(22,))), 9) / passes,
        "study, one point on its own": timed(lambda: STUDY.solve(grid(board, (deck,), (22,), sides=(6,))), 99),
    }
    exact = timed(lambda: STUDY.solve(grid(board, few, exact=True)), 3) / len(few) / len(SIDES)
    endless = timed(lambda: STUDY.solve(grid(board, few, lap="endless", jail="visit")), 3) / len(few) / len(SIDES)
    print(f"{'median time per (dice, sides, deck), all 39 targets':<55}{'microseconds':>12}")
    print(f"{'transcription in plain Python, two players':<55}{plain * 1e6:>12,.1f}")
    for name, seconds in fast.items():
        print(f"{name:<55}{seconds * 1e6:>12,.1f}{plain / seconds:>8,.0f}x faster")
    print(f"{'study, two players, fractions as well':<55}{exact * 1e6:>12,.1f}")
    print(f"{'study, two players, endless laps to 1e-12':<55}{endless * 1e6:>12,.1f}")


def grid(
    board: Board,
    decks: Sequence[Deck],
    targets: Sequence[int] = TARGETS,
    players: Sequence[int] = (2,),
    sides: Sequence[int] = SIDES,
    **rules: Any,
) -> Grid:
    fixed = {
        "board": board,
        "dice": 2,
        "chest": parse_deck({"cards": {"stay": 1}}),
        "doubles_limit": 3,
        "lap": "single",
        "jail": "out",
        "unresolved_below": 1e-12,
        "turns": 13,
        "exact": False,
        **rules,
    }
    axes: dict[str, Sequence[Any]] = {"sides": sides, "chance": decks, "target": targets}
    if len(players) > 1:
        return Grid({**axes, "players": players}, fixed)
    return Grid(axes, {**fixed, "players": players[0]})


def timed(work: Callable[[], object], repeats: int) -> float:
    """Return the median time of several runs, in seconds, after one that is not counted."""
    work()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def transcription(board: Board, deck: Deck, sides: int) -> list[tuple[float, float]]:
    """Follow the rules outcome by outcome; return, for each target, the probability that each of two players is first."""
    outcomes = list(itertools.product(range(1, sides + 1), repeat=2))
    land = landing_on(board, deck)
    landed: list[list[float]] = []
    standing = {board.start: 1.0}
    while standing:
        touched = [0.0] * board.size
        after: dict[int, float] = defaultdict(float)
        rolling = standing
        for doubles in (1, 2, 3):
            again: dict[int, float] = defaultdict(float)
            for square, mass in rolling.items():
                for a, b in outcomes:
                    if a != b or doubles < 3:
                        land(square + a + b, mass / len(outcomes), again if a == b else after, touched)
            rolling = again
        landed.append(touched)
        standing = after
    return [first_of_two([touched[target] for touched in landed]) for target in TARGETS]


def landing_on(board: Board, deck: Deck) -> Callable[[int, float, dict[int, float], list[float]], None]:
    draws = frozenset(board.draw_squares)
    cards = [(card.kind, card.number, count / deck.size) for card, count in deck.counts]

    def land(square: int, mass: float, places: dict[int, float], touched: list[float]) -> None:
        if square >= board.size:
            return
        touched[square] += mass
        if square in draws:
            for kind, number, share in cards:
                if kind == "stay":
                    places[square] += mass * share
                elif kind == "to" and number > square:
                    land(number, mass * share, places, touched)
        elif square not in board.go_to_jail:
            places[square] += mass

    return land


def first_of_two(law: list[float]) -> tuple[float, float]:
    open_, first, second = 1.0, 0.0, 0.0
    for landing in law:
        first += landing * open_
        second += landing * (open_ - landing)
        open_ -= landing
    return first, second


if __name__ == "__main__":
    main()
