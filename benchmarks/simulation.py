"""Rolls per second of the study ``simulation``, beside the same game in plain Python and in Numba with its own random numbers.

All on one core in one run, two six-sided dice on the classic board with reshuffled decks.  Each must agree with the exact odds
before it is timed:

    python benchmarks/simulation.py
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from ruamel.yaml import YAML

from solvers.board import Board, Deck, parse_board, parse_deck
from solvers.game import MEMORIES, Game
from solvers.rules import Rules
from solvers.simulation_tables import build_tables
from solvers.stationary import STUDY as EXACT
from solvers.study import Grid

CONFIGS = Path(__file__).parents[1] / "configs"
REPEATS = 7

# The cards of the classic decks that move the token, for the two transcriptions.
STAYS = -1
CHEST = [0, 10] + [STAYS] * 14
CHANCE = [0, 10, 11, 24, 39, 5, 100, 100, 101, 102] + [STAYS] * 6


def main() -> None:
    yaml = YAML(typ="safe")
    board = parse_board(yaml.load(CONFIGS / "boards" / "monopoly.yaml"))
    decks = {name: parse_deck(deck) for name, deck in yaml.load(CONFIGS / "decks" / "classic.yaml").items()}
    exact = odds(board, decks)
    numba_play = numba.njit(numba_game)
    chest, chance = np.array(CHEST), np.array(CHANCE)
    rivals: dict[str, tuple[Callable[[int], Any], int]] = {
        "plain Python, random.randrange": (python_game, 300_000),
        "Numba, its own random numbers": (lambda rolls: numba_play(rolls, chest, chance), 10_000_000),
    }
    tables = build_tables(Rules(board, 2, 6, 3, "keep"), decks, "chain")
    for memory in MEMORIES:
        rivals[f"study simulation, {memory}"] = (player(tables, memory), 30_000_000)
    for name, (play, rolls) in rivals.items():
        frequency = np.asarray(play(rolls)) / rolls
        # The errors of one game, three times what independent rolls would have.
        allowed = 5 * 3 * np.sqrt(exact / rolls) + (5e-3 if "cycle" in name else 0)
        assert (np.abs(frequency - exact) <= allowed).all(), name

    speeds: dict[str, list[float]] = {name: [] for name in rivals}
    for _ in range(REPEATS):
        for name, (play, rolls) in rivals.items():
            started = time.perf_counter()
            play(rolls)
            speeds[name].append(rolls / (time.perf_counter() - started))
    base = statistics.median(speeds["plain Python, random.randrange"])
    print(f"{f'millions of rolls per second, {REPEATS} runs':<38}{'median':>10}{'best':>10}{'ratio':>8}")
    for name, found in speeds.items():
        middle = statistics.median(found)
        print(f"{name:<38}{middle / 1e6:>10.1f}{max(found) / 1e6:>10.1f}{middle / base:>8.0f}")


def odds(board: Board, decks: dict[str, Deck]) -> np.ndarray:
    rules = {"dice": 2, "sides": 6, "doubles_limit": 3, "doubles_after_jail": "keep", "back_onto_draw": "chain"}
    return np.asarray(EXACT.solve(Grid({}, {"board": board, **rules, **decks, "deck_memory": "shuffled"}))["probability"])


def player(tables: Any, memory: str) -> Callable[[int], np.ndarray]:
    game = Game(tables, memory, np.random.SeedSequence(1))

    def play(rolls: int) -> np.ndarray:
        counts = np.zeros(tables.states, np.int64)
        game.play(rolls, counts)
        return counts.reshape(3, -1).sum(axis=0)

    return play


def python_game(rolls: int) -> list[int]:
    counts = [0] * 40
    square = doubles = 0
    randrange = random.randrange
    for _ in range(rolls):
        first, second = randrange(6) + 1, randrange(6) + 1
        doubles = doubles + 1 if first == second else 0
        if doubles == 3:
            square, doubles = 10, 0
        else:
            square = (square + first + second) % 40
            if square == 30:
                square = 10
            if square in (7, 22, 36):
                card = CHANCE[randrange(16)]
                if card == 100:
                    square = {7: 15, 22: 25, 36: 5}[square]
                elif card == 101:
                    square = 28 if square == 22 else 12
                elif card == 102:
                    square -= 3
                elif card != STAYS:
                    square = card
            if square in (2, 17, 33):
                card = CHEST[randrange(16)]
                if card != STAYS:
                    square = card
        counts[square] += 1
    return counts


def numba_game(rolls: int, chest: np.ndarray, chance: np.ndarray) -> np.ndarray:
    counts = np.zeros(40, np.int64)
    square = doubles = 0
    for _ in range(rolls):
        first, second = np.random.randint(1, 7), np.random.randint(1, 7)  # noqa: NPY002 (the generator that Numba inlines)
        doubles = doubles + 1 if first == second else 0
        if doubles == 3:
            square, doubles = 10, 0
        else:
            square = (square + first + second) % 40
            if square == 30:
                square = 10
            if square in (7, 22, 36):
                card = chance[np.random.randint(16)]  # noqa: NPY002
                if card == 100:
                    square = 15 if square == 7 else 25 if square == 22 else 5
                elif card == 101:
                    square = 28 if square == 22 else 12
                elif card == 102:
                    square -= 3
                elif card != STAYS:
                    square = card
            if square in (2, 17, 33):
                card = chest[np.random.randint(16)]  # noqa: NPY002
                if card != STAYS:
                    square = card
        counts[square] += 1
    return counts


if __name__ == "__main__":
    main()
