"""The answers that the problem "Monopolies" itself publishes (TopCoder Collegiate Challenge 2006, Online Round 1B)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.document import read_document
from solvers.board import parse_board, parse_deck
from solvers.landing import STUDY
from solvers.study import Grid

CONFIGS = Path(__file__).parents[2] / "configs"
PUBLISHED = json.loads(Path(__file__).with_name("landing_published.json").read_text())["second_player_first"]


@pytest.fixture(scope="module")
def second_first() -> dict[int, float]:
    board = parse_board(read_document(CONFIGS / "boards" / "monopolies.yaml")[0])
    deck = parse_deck(read_document(CONFIGS / "decks" / "monopolies.yaml")[0]["chance"])
    fixed = {
        "board": board,
        "dice": 2,
        "sides": 6,
        "chest": parse_deck({"cards": {"stay": 1}}),
        "chance": deck,
        "players": 2,
        "doubles_limit": 3,
        "lap": "single",
        "jail": "out",
        "unresolved_below": 1e-12,
        "turns": 40,
        "exact": False,
    }
    targets = range(1, 40)
    return dict(zip(targets, STUDY.solve(Grid({"target": targets}, fixed))["first"][:, 1], strict=True))


@pytest.mark.parametrize("square", PUBLISHED)
def test_the_published_answers_are_met_to_a_part_in_1e12(second_first: dict[int, float], square: str) -> None:
    assert second_first[int(square)] == pytest.approx(PUBLISHED[square], rel=1e-12, abs=1e-15)
