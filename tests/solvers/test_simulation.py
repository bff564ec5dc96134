"""Simulated odds agree with the exact chains, their errors mean what they say, and a ranking that is not sure is said to be."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from scipy.stats import t as student

from solvers import game
from solvers.board import Board, Deck, parse_board, parse_deck, vary_deck
from solvers.deck_cycle import CycleSolver
from solvers.dice import count_rolls
from solvers.game import Game, roll_by_alias, roll_directly
from solvers.philox import below, next_word, stream
from solvers.replicates import frequency_and_error
from solvers.rules import Rules
from solvers.simulation import STUDY, Plan, simulate, solve
from solvers.simulation_tables import build_tables, dice_table
from solvers.stationary import solve as solve_exactly
from solvers.study import Grid, ParameterError
from tests.solvers.simulated_game import play

RULES = {"dice": 2, "sides": 6, "doubles_limit": 3, "doubles_after_jail": "keep", "back_onto_draw": "chain"}
SURE = 4.5
"""Errors that a square may be off: of forty squares with sixty degrees of freedom, one is by chance in a thousand tests."""


@pytest.fixture(scope="session")
def fixed(board: Board, decks: dict[str, Deck]) -> dict[str, Any]:
    return {"board": board, **RULES, **decks, "deck_memory": "shuffled", "rolls": 1_000_000, "games": 64, "burn_in": 1000}


def seed(*key: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(2026, spawn_key=key)


def exactly(point: dict[str, Any]) -> np.ndarray:
    return solve_exactly(Grid({}, {name: point[name] for name in ("board", *RULES, "chest", "chance")}))["probability"]


def worst(found: dict[str, Any], expected: np.ndarray) -> float:
    """The largest difference in errors; squares that are never visited have neither."""
    visited = found["frequency"] > 0
    assert (expected[~visited] == 0).all()
    return float((np.abs(found["frequency"] - expected)[visited] / found["standard_error"][visited]).max())


@pytest.mark.parametrize("entropy", [0, 1, 2**127])
def test_random_words_are_those_of_numpy(entropy: int) -> None:
    ours, theirs = stream(np.random.SeedSequence(entropy)), np.random.Philox(np.random.SeedSequence(entropy))
    assert [int(next_word(ours)) for _ in range(999)] == theirs.random_raw(999).tolist()


def test_the_counter_of_the_words_carries_over() -> None:
    ours, theirs = stream(seed()), np.random.Philox(seed())
    ours[2:5] = 2**64 - 1
    theirs.advance(2**192 - 1)
    assert [int(next_word(ours)) for _ in range(9)] == theirs.random_raw(9).tolist()


def words(key: np.random.SeedSequence) -> Iterator[int]:
    generator = np.random.Philox(key)
    while True:
        yield int(generator.random_raw())


def test_whole_numbers_below_a_bound_throw_away_the_words_that_would_favour_some() -> None:
    bound = 2**63 + 2**62
    ours, theirs = stream(seed(1)), words(seed(1))
    kept = (word * bound >> 64 for word in theirs if word * bound % 2**64 >= 2**64 % bound)
    assert [int(below(ours, np.uint64(bound))) % 2**64 for _ in range(200)] == list(itertools.islice(kept, 200))


def test_one_word_serves_several_rolls_each_exactly_as_likely() -> None:
    table = dice_table([3, 2, 1])
    assert np.bincount(table.step).tolist() == [3, 2, 1]
    assert table.digits == 15
    steps = np.empty(45 * 10, np.uint16)
    roll_directly(stream(seed(2)), steps, table.step, table.digits, np.uint64(table.spoiled))
    assert table.spoiled == 2**64 % 6**15
    expected = [
        table.step[word * 6 ** (k + 1) // 2**64 % 6] for word in itertools.islice(words(seed(2)), 30) for k in range(15)
    ]
    assert steps.tolist() == expected


def test_words_that_would_favour_a_roll_are_thrown_away() -> None:
    table = dice_table([3, 2, 1])
    spoiled = 2**63
    steps = np.empty(45, np.uint16)
    roll_directly(stream(seed(3)), steps, table.step, table.digits, np.uint64(spoiled))
    kept = (word for word in words(seed(3)) if word * 6**15 % 2**64 >= spoiled)
    assert steps[::15].tolist() == [table.step[word * 6 >> 64] for word in itertools.islice(kept, 3)]


@pytest.mark.parametrize(("dice", "sides"), [(2, 6), (3, 50), (30, 1000)])
def test_an_alias_table_is_the_law_of_the_dice_to_2_to_the_minus_52(dice: int, sides: int) -> None:
    counts = [n for n in count_rolls(dice, sides).single if n]
    counts = [sum(counts[i::1000]) for i in range(min(1000, len(counts)))]
    table = dice_table(counts, most=1)
    law = [Fraction(0)] * len(counts)
    for column, (other, threshold) in enumerate(zip(table.other.tolist(), table.threshold.tolist(), strict=True)):
        law[column] += Fraction(threshold, 2**64 * len(counts))
        law[other] += Fraction(2**64 - threshold, 2**64 * len(counts))
    assert max(abs(p - Fraction(n, sum(counts))) for p, n in zip(law, counts, strict=True)) < Fraction(1, 2**52)


def test_an_alias_table_is_read_as_it_is_built() -> None:
    table = dice_table([5, 1, 2], most=1)
    steps = np.empty(50, np.uint16)
    roll_by_alias(stream(seed(4)), steps, table.step, table.other, table.threshold)
    expected = []
    for word in itertools.islice(words(seed(4)), 50):
        column, fraction = divmod(word * 3, 2**64)
        expected.append(column if fraction < int(table.threshold[column]) else int(table.other[column]))
    assert steps.tolist() == expected


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"sides": 4},
        {"sides": 20},
        {"sides": 300},
        {"sides": 2, "doubles_after_jail": "reset"},
        {"dice": 1, "sides": 12},
        {"dice": 3, "sides": 4, "doubles_limit": 1},
        {"doubles_limit": 0, "back_onto_draw": "stop"},
    ],
)
def test_reshuffled_games_agree_with_the_exact_chain(fixed: dict[str, Any], changes: dict[str, Any]) -> None:
    point = fixed | changes
    assert worst(simulate(point, seed(5)), exactly(point)) < SURE


@pytest.mark.parametrize("cards", [{"jail": 6, "back-3": 0}, {"back-3": 5, "to-39": 0}, {"to-2": 3}])
def test_other_decks_agree_with_the_exact_chain(fixed: dict[str, Any], cards: dict[str, int]) -> None:
    point = fixed | {"chance": vary_deck(fixed["chance"], cards)}
    assert worst(simulate(point, seed(6)), exactly(point)) < SURE


@pytest.mark.parametrize(("sides", "cards"), [(4, {}), (6, {}), (6, {"jail": 4, "back-3": 2}), (11, {})])
def test_games_with_cycling_decks_agree_with_the_exact_answer_for_their_own_orders(
    fixed: dict[str, Any], sides: int, cards: dict[str, int]
) -> None:
    rules = Rules(fixed["board"], 2, sides, 3, "keep")
    decks = {"chest": fixed["chest"], "chance": vary_deck(fixed["chance"], cards)}
    tables, solver = build_tables(rules, decks, "chain"), CycleSolver(rules, decks, "chain")
    rolls = 100_000
    apart = []
    for i in range(40):
        one = Game(tables, "cycle", seed(7, i))
        order = tuple(pile.copy() for pile in one.piles)
        counts = np.zeros(tables.states, np.int64)
        one.play(1000, np.zeros_like(counts))
        one.play(rolls, counts)
        exact = solver.solve([order]).probability[0]
        apart.append(counts.reshape(3, -1).sum(axis=0) / rolls - exact)
        assert all(np.array_equal(now, before) for now, before in zip(one.piles, order, strict=True))
    mean, error = np.mean(apart, axis=0), np.std(apart, axis=0, ddof=1) / np.sqrt(len(apart))
    visited = error > 0
    assert (np.abs(mean[visited]) / error[visited]).max() < SURE


def test_cycling_decks_agree_with_the_mean_of_random_orders(fixed: dict[str, Any]) -> None:
    point = fixed | {"deck_memory": "cycle", "rolls": 20_000_000, "games": 200}
    found = simulate(point, seed(8))
    exact = solve_exactly(Grid({}, point | {"orders": 200}, lambda index: seed(9)))
    error = np.hypot(found["standard_error"], exact["standard_error"])
    visited = error > 0
    assert (np.abs(found["frequency"] - exact["probability"])[visited] / error[visited]).max() < SURE


SMALL: dict[str, Any] = {
    "board": parse_board(
        {"size": 12, "start": 0, "jail": 4, "go_to_jail": [9], "draws": {"chest": [2, 5], "chance": [3, 7, 10]}}
    ),
    "dice": 2,
    "sides": 3,
    "doubles_limit": 2,
    "doubles_after_jail": "reset",
    "back_onto_draw": "chain",
    "chest": parse_deck({"cards": {"to-0": 1, "jail": 1, "stay": 1}}),
    "chance": parse_deck({"cards": {"back-1": 1, "to-6": 1, "stay": 2}}),
    "rolls": 2_000_000,
    "games": 64,
    "burn_in": 100,
}


@pytest.mark.parametrize("memory", ["shuffled", "cycle", "exhaust"])
def test_every_memory_agrees_with_games_played_with_ordinary_cards(memory: str) -> None:
    decks = {name: SMALL[name] for name in ("chest", "chance")}
    games, rolls = 100, 6000
    ends = [
        play(SMALL["board"], decks, memory, dice=2, sides=3, limit=2, reset=True, rolls=rolls, seed=i) for i in range(games)
    ]
    counts = np.array([[end[square] for square in range(12)] for end in ends])
    plain, plain_error = frequency_and_error(counts, np.full(games, rolls))
    off = {}
    for other in ("shuffled", "cycle", "exhaust"):
        found = simulate(SMALL | {"deck_memory": other}, seed(10))
        error = np.hypot(plain_error, found["standard_error"])
        off[other] = (np.abs(found["frequency"] - plain)[error > 0] / error[error > 0]).max()
    assert off[memory] < SURE
    # A deck that is used up is told apart from one that is reshuffled; one fixed order differs too much from the next for that.
    if memory != "cycle":
        assert off["exhaust" if memory == "shuffled" else "shuffled"] > 5


@pytest.mark.parametrize(("memory", "games"), [("shuffled", 8), ("cycle", 30)])
def test_standard_errors_cover_the_truth_as_often_as_they_should(fixed: dict[str, Any], memory: str, games: int) -> None:
    point = fixed | {"deck_memory": memory, "rolls": 2000 * games, "games": games, "burn_in": 200}
    truth = exactly(point)
    if memory == "cycle":
        truth = solve_exactly(Grid({}, point | {"orders": 1500}, lambda index: seed(11)))["probability"]
    seen = truth > 0
    inside = []
    for run in range(250):
        found = simulate(point, seed(12, run))
        inside.append(np.abs(found["frequency"] - truth) < student.ppf(0.95, games - 1) * found["standard_error"])
    coverage = np.mean(inside, axis=0)[seen]
    low, high = binom.ppf([1e-5, 1 - 1e-5], 250, 0.9) / 250
    assert low <= coverage.min()
    assert coverage.max() <= high
    assert coverage.mean() == pytest.approx(0.9, abs=0.02)


def test_an_answer_depends_on_its_seed_alone(fixed: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    rest = {name: value for name, value in fixed.items() if name not in ("sides", "deck_memory")}
    rest |= {"rolls": 200_001, "games": 7}
    memories = ("exhaust", "shuffled", "cycle")
    grid = Grid({"sides": (6, 4, 200), "deck_memory": memories}, rest, lambda index: seed(*index))
    together = solve(grid)
    turned = Grid({"deck_memory": memories, "sides": (6, 4, 200)}, rest, lambda index: seed(*index[::-1]))
    other_way = solve(turned)
    monkeypatch.setattr(game, "PIECE", 1)
    for index, point in grid.points():
        alone = solve(Grid({}, point, lambda at, index=index: seed(*index)))
        for name in set(together) - {"rolls_per_second"}:
            nan = name != "modal"
            assert np.array_equal(together[name][index], alone[name], equal_nan=nan), name
            assert np.array_equal(other_way[name][index[::-1]], alone[name], equal_nan=nan), name


def test_asking_twice_with_one_sequence_gives_one_answer(fixed: dict[str, Any]) -> None:
    key = seed(13)
    first, second = (simulate(fixed | {"rolls": 1000}, key)["frequency"] for _ in range(2))
    assert np.array_equal(first, second)


def test_all_rolls_are_counted_and_no_more(fixed: dict[str, Any]) -> None:
    found = solve(Grid({}, fixed | {"rolls": 100_003, "games": 10}, lambda index: seed(14)))
    assert found["rolls_done"] == 100_003
    assert found["frequency"].sum() == pytest.approx(1)
    assert Plan(100_003, 10, 0).shares().tolist() == [10_001] * 3 + [10_000] * 7
    assert found["rolls_per_second"] > 0


def test_progress_goes_up_to_one(fixed: dict[str, Any]) -> None:
    rest = {name: value for name, value in fixed.items() if name != "sides"} | {"rolls": 10_000, "games": 4}
    seen: list[float] = []
    solve(Grid({"sides": (4, 6)}, rest, lambda index: seed(15), progress=seen.append))
    assert seen == sorted(seen)
    assert seen[-1] == 1
    assert 0 < seen[0] < 0.5
    assert 0.5 in seen


@pytest.mark.parametrize(("sides", "rolls", "truth"), [(6, 1_000_000, "102400"), (4, 100_000, "101524")])
def test_wrong_strings_are_said_to_be_unresolved(fixed: dict[str, Any], sides: int, rolls: int, truth: str) -> None:
    runs = [simulate(fixed | {"sides": sides, "rolls": rolls}, seed(16, sides, run)) for run in range(100)]
    wrong = [run for run in runs if run["modal"] != truth]
    assert 5 < len(wrong) < 60
    assert not any(run["resolved"] for run in wrong)
    confident = np.mean([run["modal_confidence"] for run in runs if run["modal"] == truth])
    assert np.mean([run["modal_confidence"] for run in wrong]) < confident


def test_a_clear_ranking_is_resolved_and_sure(fixed: dict[str, Any]) -> None:
    found = simulate(fixed | {"sides": 4, "rolls": 50_000_000}, seed(17))
    assert found["modal"] == "101524"
    assert found["resolved"] == 1
    assert found["modal_confidence"] > 0.99


def test_squares_that_are_never_told_apart_are_not_resolved() -> None:
    nothing = parse_deck({"cards": {"stay": 1}})
    point = SMALL | {"board": parse_board({"size": 2}), "dice": 1, "sides": 2, "chest": nothing, "chance": nothing}
    found = simulate(point | {"deck_memory": "cycle", "rolls": 1000}, seed(18))
    assert found["modal"] in ("0001", "0100")
    assert found["resolved"] == 0
    assert np.isnan(found["rank_gap"]).tolist() == [False, True]


def test_fewer_rolls_than_games_are_refused(fixed: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="3 rolls cannot be shared out to 64 games") as caught:
        STUDY.check({name: (value,) for name, value in (fixed | {"rolls": 3}).items()})
    assert caught.value.parameter == "rolls"
    STUDY.check({name: (value,) for name, value in fixed.items()})
