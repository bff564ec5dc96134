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
from ruamel.yaml import YAML

from solvers.board import Board, Deck, parse_board, parse_deck
from solvers.landing import STUDY
from solvers.study import Grid

ROOT = Path(__file__).parents[2]
_YAML = YAML(typ="safe")
MONOPOLIES = parse_board(_YAML.load(ROOT / "configs" / "boards" / "monopolies.yaml"))
MONOPOLY = parse_board(_YAML.load(ROOT / "configs" / "boards" / "monopoly.yaml"))
TWENTY = parse_deck(_YAML.load(ROOT / "configs" / "decks" / "monopolies.yaml")["chance"])
CLASSIC = {name: parse_deck(found) for name, found in _YAML.load(ROOT / "configs" / "decks" / "classic.yaml").items()}
TARGETS = range(1, 40)


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
    """Return P(first landing in turn k) of a lone player for k = 1 ... turns, outcome by outcome."""
    board: Board = game["board"]
    faces = range(1, game["sides"] + 1)
    rolls = [(a + b, a == b) for a in faces for b in faces] if game["dice"] == 2 else [(a, False) for a in faces]
    standing = {board.start: 1.0}
    law = []
    for _ in range(turns):
        hit = 0.0
        after: dict[int, float] = defaultdict(float)
        rolling: dict[int, float] = standing
        for doubles in range(1, 4):
            again: dict[int, float] = defaultdict(float)
            for square, mass in rolling.items():
                for total, double in rolls:
                    p = mass / len(rolls)
                    jailed = double and doubles == 3
                    if jailed and not reading.third_double_moves:
                        if game["jail"] == "visit":
                            after[board.jail] += p
                        continue
                    for q, touched, place, moved in landings(board, game, square + total):
                        if target in (touched if reading.passing_counts else (place,)):
                            hit += p * q
                        elif place == "out" or (place == "jail" or jailed) and game["jail"] == "out":
                            pass
                        elif place == "jail" or jailed:
                            after[board.jail] += p * q
                        elif double and not (moved and reading.no_roll_after_card):
                            again[place] += p * q
                        else:
                            after[place] += p * q
            rolling = again
        standing = after
        law.append(hit)
    return law


def landings(board: Board, game: Mapping[str, Any], square: int) -> Iterator[tuple[float, tuple[int, ...], Any, bool]]:
    """Yield probability, squares touched, final place and whether a card moved the token, for a token that reaches `square`."""
    if square >= board.size:
        if game["lap"] == "single":
            yield 1.0, (), "out", False
            return
        square %= board.size
    if square in board.go_to_jail:
        yield 1.0, (square,), "jail", False
        return
    name = next((name for name, squares in board.draws.items() if square in squares), None)
    if name is None:
        yield 1.0, (square,), square, False
        return
    for card, count in game[name].counts:
        p = count / game[name].size
        match str(card).split("-"):
            case ["stay"]:
                to = square
            case ["jail"]:
                yield p, (square,), "jail", True
                continue
            case ["to", number]:
                to = int(number)
            case ["back", number]:
                to = square - int(number)
                if game["lap"] == "endless":
                    to %= board.size
            case ["forward", number]:
                to = square + int(number)
            case ["next", group]:
                ahead = [other for other in board.groups[group] if other > square]
                to = min(ahead, default=min(board.groups[group]) + board.size)
        if to == square:
            yield p, (square,), square, False
        elif to < square and game["lap"] == "single":
            yield p, (square,), "out", True
        else:
            for q, touched, place, _ in landings(board, game, to):
                yield p * q, (square, *touched), place, True


def second_of_two(law: list[float]) -> float:
    landed, second = 0.0, 0.0
    for f in law:
        second += f * (1 - landed - f)
        landed += f
    return second


OUT = "out"


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
        if card.kind == "stay":
            return here
        if card.kind == "next":
            steps = min((square - here - 1) % board.size + 1 for square in board.groups[card.group])
        else:
            steps = {"to": card.number - here, "back": -card.number, "forward": card.number}[card.kind]
        if single and steps < 0:
            return OUT
        if steps % board.size == 0:
            return here
        here += steps


def race_of(landed: list[list[int]]) -> list[int]:
    """Return the winner of each game, 1 for the first player, 0 for nobody."""
    winners = []
    for turns in landed:
        arrivals = [(turn, player) for player, turn in enumerate(turns, 1) if turn]
        winners.append(min(arrivals)[1] if arrivals else 0)
    return winners
