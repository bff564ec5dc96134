"""The landing race told a second and a third time, for its tests: outcome by outcome, and game by game.

Plain Python that shares with the solver only the types of boards and decks, and the files they are read from.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.document import read_document
from solvers.board import Board, Card, Deck, parse_board, parse_deck
from solvers.landing import STUDY
from solvers.study import Grid

ROOT = Path(__file__).parents[2]
MONOPOLIES = parse_board(read_document(ROOT / "configs" / "boards" / "monopolies.yaml")[0])
MONOPOLY = parse_board(read_document(ROOT / "configs" / "boards" / "monopoly.yaml")[0])
TWENTY = parse_deck(read_document(ROOT / "configs" / "decks" / "monopolies.yaml")[0]["chance"])
CLASSIC = {name: parse_deck(found) for name, found in read_document(ROOT / "configs" / "decks" / "classic.yaml")[0].items()}
TARGETS = range(1, 40)


OUT = "out"


def deck(**cards: int) -> Deck:
    return parse_deck({"cards": {name.replace("_", "-"): count for name, count in cards.items()}})


PUBLISHED: dict[str, Any] = {
    "board": MONOPOLIES,
    "dice": 2,
    "sides": 6,
    "chest": deck(stay=1),
    "chance": TWENTY,
    "target": 22,
    "players": 2,
    "doubles_limit": 3,
    "lap": "single",
    "jail": "out",
    "unresolved_below": 1e-12,
    "turns": 40,
    "exact": False,
}
LAPS: dict[str, Any] = {"lap": "endless", "jail": "visit"}


def solve(axes: Mapping[str, Any] | None = None, **fixed: Any) -> dict[str, np.ndarray]:
    axes = axes or {}
    fixed = {**PUBLISHED, **fixed}
    return dict(STUDY.solve(Grid(axes, {name: value for name, value in fixed.items() if name not in axes})))


@dataclass(frozen=True)
class Reading:
    """How the rules are read; the defaults are the rulings."""

    third_double_moves: bool = False
    no_roll_after_card: bool = False
    passing_counts: bool = True


def transcribed(target: int, game: Mapping[str, Any] = PUBLISHED, reading: Reading = Reading(), turns: int = 40) -> list[float]:
    """Return P(first landing in turn k) of a lone player for k = 1 ... turns, outcome by outcome; three doubles go to jail."""
    board: Board = game["board"]
    standing: dict[Any, float] = {board.start: 1.0}
    law = []
    for _ in range(turns):
        hit = 0.0
        after: dict[Any, float] = defaultdict(float)
        rolling = standing
        for doubles in (1, 2, 3):
            again: dict[Any, float] = defaultdict(float)
            for square, mass in rolling.items():
                for p, touched, place, rolls_again in rolled(square, doubles, game, reading):
                    if target in touched:
                        hit += mass * p
                    elif rolls_again:
                        again[place] += mass * p
                    else:
                        after[place] += mass * p
            rolling = again
        jailed = after.pop("jail", 0.0)
        if game["jail"] == "visit":
            after[board.jail] += jailed
        after.pop(OUT, None)
        standing = after
        law.append(hit)
    return law


def rolled(
    square: int, doubles: int, game: Mapping[str, Any], reading: Reading
) -> Iterator[tuple[float, tuple[Any, ...], Any, bool]]:
    """Yield probability, squares that count, where the token then is, and whether it rolls again."""
    faces = range(1, game["sides"] + 1)
    rolls = [(a + b, a == b) for a in faces for b in faces] if game["dice"] == 2 else [(a, False) for a in faces]
    for total, double in rolls:
        third = double and doubles == 3
        if third and not reading.third_double_moves:
            yield 1 / len(rolls), (), "jail", False
            continue
        for p, touched, place, moved in landings(game, square + total):
            counted = touched if reading.passing_counts else (place,)
            rolls_again = double and isinstance(place, int) and not third and not (moved and reading.no_roll_after_card)
            yield p / len(rolls), counted, "jail" if third else place, rolls_again


def landings(game: Mapping[str, Any], square: int) -> Iterator[tuple[float, tuple[int, ...], Any, bool]]:
    """Yield probability, squares touched, final place and whether a card moved the token, for a token that reaches `square`."""
    board: Board = game["board"]
    if square >= board.size:
        if game["lap"] == "single":
            yield 1.0, (), OUT, False
            return
        square %= board.size
    name = next((name for name, squares in board.draws.items() if square in squares), None)
    if name is None:
        yield 1.0, (square,), "jail" if square in board.go_to_jail else square, False
        return
    for card, count in game[name].counts:
        p = count / game[name].size
        to = card_to(board, square, str(card), game["lap"])
        if to in (square, "jail", OUT):
            yield p, (square,), to, to != square
        else:
            for q, touched, place, _ in landings(game, to):
                yield p * q, (square, *touched), place, True


def card_to(board: Board, square: int, card: str, lap: str) -> Any:
    kind, _, rest = card.partition("-")
    if kind == "stay":
        return square
    if kind == "jail":
        return "jail"
    if kind == "next":
        ahead = [other for other in board.groups[rest] if other > square]
        to = min(ahead, default=min(board.groups[rest]))
    else:
        to = {"to": 0, "back": square, "forward": square}[kind] + (-1 if kind == "back" else 1) * int(rest)
    if lap == "endless":
        return to % board.size
    return to if square <= to else OUT


def simulated(game: Mapping[str, Any], target: int, players: int, games: int, seed: int, turns: int = 2000) -> list[list[int]]:
    """Play games; return, for each, the turn in which each player first landed on the target, 0 for never."""
    rng = random.Random(seed)
    return [[_played(rng, game, target, turns) for _ in range(players)] for _ in range(games)]


def _played(rng: random.Random, game: Mapping[str, Any], target: int, turns: int) -> int:
    board: Board = game["board"]
    here: Any = board.start
    for turn in range(1, turns + 1):
        for doubles in range(1, 100):
            dice = [rng.randint(1, game["sides"]) for _ in range(game["dice"])]
            double = len(dice) > 1 and len(set(dice)) == 1
            if double and doubles == game["doubles_limit"]:
                here = "jail"
                break
            here = _walk(rng, game, here + sum(dice), target)
            if here == "target":
                return turn
            if isinstance(here, str) or not double or not game["doubles_limit"]:
                break
        if here == "jail":
            here = board.jail if game["jail"] == "visit" else OUT
        if here == OUT:
            return 0
    raise AssertionError("a simulated game did not end")


def _walk(rng: random.Random, game: Mapping[str, Any], here: int, target: int) -> int | str:
    """Return where a token ends that reaches `here`: a square, "target" if it touched that on the way, "jail" or OUT."""
    board: Board = game["board"]
    single = game["lap"] == "single"
    while True:
        if here >= board.size and single:
            return OUT
        here %= board.size
        if here == target:
            return "target"
        if here in board.go_to_jail:
            return "jail"
        name = next((name for name, squares in board.draws.items() if here in squares), None)
        if name is None:
            return here
        (card,) = rng.choices([card for card, _ in game[name].counts], [count for _, count in game[name].counts])
        if card.kind == "jail":
            return "jail"
        steps = _steps(board, here, card)
        if single and steps < 0:
            return OUT
        if steps == 0 or (steps % board.size == 0 and not single):
            return here
        here += steps


def _steps(board: Board, here: int, card: Card) -> int:
    if card.kind == "next":
        return min((square - here - 1) % board.size + 1 for square in board.groups[card.group]) % board.size
    return {"stay": 0, "to": card.number - here, "back": -card.number, "forward": card.number}[card.kind]


def race_of(landed: list[list[int]]) -> list[int]:
    """Return the winner of each game, 1 for the first player, 0 for nobody."""
    winners = []
    for turns in landed:
        arrivals = [(turn, player) for player, turn in enumerate(turns, 1) if turn]
        winners.append(min(arrivals)[1] if arrivals else 0)
    return winners
