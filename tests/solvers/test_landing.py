"""The landing race: the laws it must obey, independent ways to the same numbers, and the shape of the answers."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers import landing, landing_laps, landing_single
from solvers.board import MAX_SQUARES, Board, Deck, parse_board, vary_deck
from solvers.landing import MAX_PLAYERS, STUDY
from solvers.landing_laps import Turns, first_landings
from solvers.landing_single import single_lap
from solvers.landing_squares import Squares
from solvers.study import Grid, ParameterError
from tests.solvers.landing_game import (
    CLASSIC,
    MONOPOLIES,
    MONOPOLY,
    PUBLISHED,
    ROOT,
    TARGETS,
    TWENTY,
    deck,
    race_of,
    simulated,
    solve,
    transcribed,
)

LAPS: dict[str, Any] = {"lap": "endless", "jail": "visit"}
CARDS = ["stay", "jail", "to-0", "to-3", "to-7", "to-10", "to-11", "back-2", "forward-4", "forward-12", "next-end", "next-own"]


@st.composite
def games(draw: st.DrawFn, laps: tuple[str, ...] = ("single",)) -> dict[str, Any]:
    """Draw rules on a board of twelve squares."""
    board = parse_board(
        {
            "size": 12,
            "start": draw(st.sampled_from([0, 0, 2])),
            "jail": draw(st.integers(0, 11)),
            "go_to_jail": draw(st.sampled_from([[], [10], [5, 10]])),
            "draws": {"chance": [3, 7], "chest": [9]},
            "groups": {"end": [4, 11], "own": [7]},
        }
    )
    decks = st.dictionaries(st.sampled_from(CARDS), st.integers(1, 5), min_size=1)
    return {
        "board": board,
        "chance": deck(**draw(decks)),
        "chest": deck(**draw(decks)),
        "dice": draw(st.integers(1, 3)),
        "sides": draw(st.integers(1, 7)),
        "doubles_limit": draw(st.integers(0, 4)),
        "players": draw(st.integers(2, MAX_PLAYERS)),
        "lap": draw(st.sampled_from(laps)),
        "jail": draw(st.sampled_from(["out", "visit"])),
        "turns": 12,
    }


def all_targets(board: Board) -> list[int]:
    return [square for square in range(board.size) if square != board.start]


def solved(game: dict[str, Any]) -> dict[str, np.ndarray]:
    """Solve for all targets; decks that can go on for ever on an endless lap are played on a single one."""
    axes = {"target": all_targets(game["board"])}
    try:
        return solve(axes, **game)
    except ParameterError:
        return solve(axes, **{**game, "lap": "single"})


@settings(max_examples=150, deadline=None)
@given(games(laps=("single", "endless")))
def test_what_happens_adds_up_to_one(game: dict[str, Any]) -> None:
    answer = solved(game)
    total = answer["first"].sum(axis=-1) + answer["nobody"] + answer["unresolved"]
    assert total == pytest.approx(np.ones_like(total), abs=1e-12)
    assert answer["turn_pmf"].sum(axis=-1) + answer["later"] == pytest.approx(answer["ever"], abs=1e-14)
    assert np.all(answer["unresolved"] <= PUBLISHED["unresolved_below"])
    assert all(np.all(answer[name] >= 0) for name in ("first", "nobody", "ever", "turn_pmf", "later", "unresolved"))
    assert np.array_equal(np.isnan(answer["mean_turn"]), answer["ever"] == 0)
    assert np.nanmin(answer["mean_turn"], initial=1) >= 1


@settings(max_examples=150, deadline=None)
@given(games(laps=("single", "endless")))
def test_nobody_gains_by_moving_later(game: dict[str, Any]) -> None:
    first = solved(game)["first"]
    assert np.all(np.diff(first, axis=-1) <= 1e-15)


@settings(max_examples=100, deadline=None)
@given(games())
def test_one_pass_in_ascending_order_and_a_taboo_at_each_target_give_the_same_law(game: dict[str, Any]) -> None:
    board, dice = game["board"], (game["dice"], game["sides"], game["doubles_limit"])
    squares = Squares.of(board, game, "single")
    targets = all_targets(board)
    law, left = first_landings(Turns(board, squares, *dice, endless=False, released=False), targets, 1e-300)
    assert not left.any()
    once = single_lap(board, squares, *dice)[targets]
    turns = min(law.shape[1], once.shape[1])
    assert law[:, :turns] == pytest.approx(once[:, :turns], abs=1e-15)
    assert not law[:, turns:].any()
    assert not once[:, turns:].any()


@settings(max_examples=60, deadline=None)
@given(games(laps=("single", "endless")), st.data())
def test_any_game_equals_its_turns_worked_out_outcome_by_outcome(game: dict[str, Any], data: st.DataObject) -> None:
    game.update(dice=min(game["dice"], 2), doubles_limit=3)
    target = data.draw(st.sampled_from(all_targets(game["board"])))
    try:
        answer = solve(target=target, **game)
    except ParameterError:
        game["lap"] = "single"
        answer = solve(target=target, **game)
    # The transcription adds up thousands of outcomes one by one, which costs it some digits: 2.3e-14 has been seen.
    assert answer["turn_pmf"] == pytest.approx(transcribed(target, game, turns=12), abs=1e-13)


@settings(max_examples=60, deadline=None)
@given(games())
def test_exact_fractions_equal_the_floating_point_answer(game: dict[str, Any]) -> None:
    game["jail"] = "out"
    answer = solve({"target": all_targets(game["board"])}, **game, exact=True)
    exact = [[Fraction(text) for text in row] for row in answer["first_exact"]]
    assert np.array(exact, float) == pytest.approx(answer["first"], rel=1e-13, abs=1e-14)
    for row, nobody in zip(exact, answer["nobody"], strict=True):
        assert float(1 - sum(row)) == pytest.approx(nobody, abs=1e-14)


def test_the_published_answers_as_fractions() -> None:
    axes = {"target": TARGETS, "players": [2, 3]}
    answer = solve(axes, exact=True)
    assert answer["first_exact"].dtype == object
    assert answer["first_exact"].shape == (39, 2, 3)
    assert answer["first_exact"][0].tolist() == [["0/1", "0/1", ""], ["0/1", "0/1", "0/1"]]
    second = Fraction(answer["first_exact"][21, 0, 1])
    assert answer["first_exact"][21, 0, 1] == f"{second.numerator}/{second.denominator}"
    assert float(second) == pytest.approx(0.12122739832411301, abs=1e-16)
    differences = [
        abs(float(Fraction(text)) - number)
        for text, number in zip(answer["first_exact"].ravel(), answer["first"].ravel(), strict=True)
        if text
    ]
    assert max(differences) < 1e-15


def test_fractions_are_given_on_request_only() -> None:
    assert "first_exact" not in solve()
    (variable,) = [variable for variable in STUDY.variables if variable.name == "first_exact"]
    assert variable.when({"exact": (True,)})
    assert not variable.when({"exact": (False,)})


SIMULATED: dict[str, dict[str, Any]] = {
    "the published game": {"target": 22},
    "three players, four-sided dice, cards onto cards": {
        "target": 36,
        "players": 3,
        "sides": 4,
        "chance": deck(to_22=3, to_36=2, jail=1, stay=4, back_2=1),
    },
    "three dice, doubles without a limit": {"target": 30, "dice": 3, "sides": 3, "doubles_limit": 0, "players": 4},
    "endless laps": {"target": 24, "players": 3, **LAPS},
    "endless laps, jail final": {"target": 11, "lap": "endless"},
    "endless laps on the standard board": {
        "board": MONOPOLY,
        "target": 33,
        "chest": CLASSIC["chest"],
        "chance": CLASSIC["chance"],
        **LAPS,
    },
    "a single lap with the jail behind": {"target": 36, "jail": "visit", "sides": 5},
}


@pytest.mark.parametrize("name", SIMULATED)
def test_simulated_games_agree_within_their_error_bars(name: str) -> None:
    game = {**PUBLISHED, **SIMULATED[name]}
    games, players, target = 12_000, game["players"], game["target"]
    landed = simulated(game, target, players, games, seed=20260101)
    answer = solve(**game)
    winners = Counter(race_of(landed))
    for winner, probability in enumerate([answer["nobody"], *answer["first"]]):
        deviation = math.sqrt(probability * (1 - probability) / games) + 1e-4
        assert abs(winners[winner] / games - probability) < 4 * deviation
    turns = np.array([turn for row in landed for turn in row])
    listed = Counter(turns.tolist())
    for turn, probability in enumerate(answer["turn_pmf"], 1):
        deviation = math.sqrt(probability * (1 - probability) / turns.size) + 1e-4
        assert abs(listed[turn] / turns.size - probability) < 4.5 * deviation
    landing = turns[turns > 0]
    assert abs(landing.mean() - answer["mean_turn"]) < 4 * landing.std() / math.sqrt(landing.size)


@pytest.mark.parametrize("jail", ["visit", "out"])
@pytest.mark.parametrize("target", [7, 10, 29, 30])
def test_an_endless_lap_equals_its_turns_worked_out_outcome_by_outcome(jail: str, target: int) -> None:
    game = {**PUBLISHED, "lap": "endless", "jail": jail, "chance": deck(jail=2, back_3=1, to_24=1, forward_14=1, stay=9)}
    expected = transcribed(target, game, turns=60)
    assert solve(**{**game, "target": target, "turns": 60})["turn_pmf"] == pytest.approx(expected, abs=1e-15)


def test_a_tighter_tolerance_changes_an_endless_lap_by_no_more_than_what_was_unresolved() -> None:
    loose = solve({"target": TARGETS}, **LAPS, unresolved_below=1e-3)
    tight = solve({"target": TARGETS}, **LAPS, unresolved_below=1e-14)
    assert np.all(loose["unresolved"] <= 1e-3)
    assert loose["unresolved"].max() > 1e-9
    assert np.all(np.abs(loose["first"] - tight["first"]).sum(axis=-1) <= loose["unresolved"] + 1e-13)
    assert tight["ever"] == pytest.approx(np.ones(39), abs=1e-13)


def test_a_race_that_is_given_up_says_how_much_was_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landing_laps, "MAX_TURNS", 5)
    answer = solve(target=24, turns=8, **LAPS)
    assert answer["unresolved"] > 0.1
    assert answer["first"].sum() + answer["nobody"] + answer["unresolved"] == pytest.approx(1, abs=1e-14)
    assert answer["turn_pmf"][4] > 0
    assert not answer["turn_pmf"][5:].any()


def test_a_square_that_is_never_reached_is_nobodys_and_not_unresolved() -> None:
    board = parse_board({"size": 10, "jail": 5})
    answer = solve({"target": [3, 4]}, board=board, dice=2, sides=1, doubles_limit=0, **LAPS)
    assert answer["nobody"].tolist() == [1, 0]
    assert answer["unresolved"].tolist() == [0, 0]
    assert answer["ever"].tolist() == [0, 1]
    assert np.isnan(answer["mean_turn"][0])
    assert answer["mean_turn"][1] == 2


def test_turns_beyond_those_listed_are_reported() -> None:
    listed, short = solve(target=39), solve(target=39, turns=3)
    assert short["turn_pmf"].tolist() == listed["turn_pmf"][:3].tolist()
    assert short["later"] == pytest.approx(listed["turn_pmf"][3:].sum(), abs=1e-16)
    assert listed["later"] == 0
    assert all(short[name] == listed[name] for name in ("ever", "mean_turn", "nobody"))


def test_the_slowest_way_round_a_single_lap_has_its_turn() -> None:
    answer = solve(target=39, board=parse_board({"size": 40}), dice=1, sides=2)
    assert answer["turn_pmf"][38] == 0.5**39
    assert answer["turn_pmf"].sum() == pytest.approx(answer["ever"], abs=1e-15)


AXES: dict[str, list[Any]] = {
    "players": [2, 4, 3],
    "sides": [6, 2, 9],
    "target": [30, 1, 22, 39],
    "chance": [TWENTY, vary_deck(TWENTY, {"jail": 6, "to-24": 2})],
}


@pytest.mark.parametrize("names", [list(AXES), ["target", "chance", "players", "sides"], ["chance", "target"], ["players"], []])
def test_every_point_of_a_grid_is_the_point_solved_alone(names: list[str]) -> None:
    grid = Grid(
        {name: AXES[name] for name in names},
        {name: value for name, value in {**PUBLISHED, "turns": 9}.items() if name not in names},
    )
    answer = STUDY.solve(grid)
    players = max(grid.axes.get("players", [2]))
    assert answer["first"].shape == (*grid.shape, players)
    assert answer["turn_pmf"].shape == (*grid.shape, 9)
    assert all(answer[name].shape == grid.shape for name in ("nobody", "ever", "mean_turn", "later", "unresolved"))
    for index, point in grid.points():
        alone = STUDY.solve(Grid({}, point))
        n = point["players"]
        assert np.array_equal(answer["first"][index][:n], alone["first"])
        assert np.isnan(answer["first"][index][n:]).all()
        assert all(np.array_equal(answer[name][index], alone[name], equal_nan=True) for name in alone if name != "first")


def test_labels_of_players_and_turns_count_from_one() -> None:
    labels = STUDY.coordinates({"players": (2, 4), "turns": (7,)})
    assert labels["player"].values.tolist() == [1, 2, 3, 4]
    assert labels["turn"].values.tolist() == [1, 2, 3, 4, 5, 6, 7]


BAD = [
    ("target", {"target": (0,)}, "target 0 must be a square from 1 to 39 (square 0 is the start)"),
    ("target", {"target": (3, 40)}, "target 40 must be a square from 1 to 39 (square 0 is the start)"),
    (
        "target",
        {"board": (parse_board({"size": 5, "start": 2}),), "target": (2,)},
        "target 2 must be a square from 0 to 4 other than the start, 2",
    ),
    ("chance", {"chance": (deck(to_40=1),)}, "card to-40 leads off the board, whose squares are 0 to 39"),
    (
        "chance",
        {"chance": (deck(next_railway=1),)},
        "card next-railway needs a group 'railway' on the board (its groups: none)",
    ),
    (
        "chance",
        {"lap": ("endless",), "chance": (deck(to_7=1, to_22=1),)},
        "these cards can send a token round for ever: 7 -> 22 -> 7",
    ),
    ("exact", {"exact": (True,), "lap": ("endless",)}, "exact: true needs lap: single and jail: out"),
    ("exact", {"exact": (True,), "jail": ("out", "visit")}, "exact: true needs lap: single and jail: out"),
    ("turns", {"turns": (3, 4)}, "turns is the length of a dimension: give one value for the whole sweep"),
    ("exact", {"exact": (False, True)}, "exact is about which variables there are: give one value for the whole sweep"),
    (
        "board",
        {"board": (parse_board({"size": 40, "draws": {"fate": [2]}}),)},
        "squares draw from a deck 'fate'; the decks are chest and chance",
    ),
]


@pytest.mark.parametrize(("parameter", "changes", "message"), BAD)
def test_values_that_make_no_sense_are_refused_in_one_line(parameter: str, changes: dict[str, Any], message: str) -> None:
    values = {**{name: (value,) for name, value in PUBLISHED.items()}, **changes}
    with pytest.raises(ParameterError) as refused:
        STUDY.check(values)
    assert refused.value.parameter == parameter
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)
    with pytest.raises(ParameterError):
        STUDY.solve(Grid(values, {}))


def test_sensible_values_meet_no_objection() -> None:
    STUDY.check({**{name: (value,) for name, value in PUBLISHED.items()}, "lap": ("single", "endless"), "target": TARGETS})


def test_a_deck_that_is_not_given_is_the_boards_own() -> None:
    default = {name: STUDY.parameter(name).default for name in ("chest", "chance")}
    nothing = {"name": "none", "cards": {"stay": 1}}
    assert default["chance"]({"board": (MONOPOLIES,)}) == "monopolies"
    assert default["chest"]({"board": (MONOPOLIES,)}) == nothing
    assert default["chance"]({"board": (MONOPOLIES, parse_board({"size": 5}))}) == "monopolies"
    with pytest.raises(ParameterError, match="the boards have different chance decks of their own: say which to use"):
        default["chance"]({"board": (MONOPOLIES, MONOPOLY)})
    with pytest.raises(ParameterError, match="names none of its own: say which to use"):
        default["chance"]({"board": (parse_board({"size": 5, "draws": {"chance": [1]}}),)})


def test_the_study_is_registered_and_describes_what_it_gives() -> None:
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["dicesweep.studies"]
    module, _, name = entries["landing"].partition(":")
    assert getattr(import_module(module), name) is STUDY
    assert {variable.name for variable in STUDY.variables if variable.name != "first_exact"} == set(solve())
    assert {parameter.name for parameter in STUDY.parameters} == set(PUBLISHED)
    assert {parameter.name for parameter in STUDY.parameters if parameter.shared} == {"target", "players"}


def test_preparing_compiles_each_kernel_for_the_types_that_every_rule_uses() -> None:
    STUDY.prepare()
    solve({"target": TARGETS, "players": [2, 3], "doubles_limit": [0, 3]})
    solve({"lap": ["single", "endless"], "jail": ["out", "visit"]}, dice=1, unresolved_below=1e-3)
    kernels = (landing._race, landing_single._sweep, landing_laps._turn)
    assert [len(kernel.signatures) for kernel in kernels] == [1, 1, 1]


def test_costs_grow_with_the_work() -> None:
    cost = STUDY.cost
    assert 0 < cost(PUBLISHED) < cost({**PUBLISHED, "exact": True})
    assert cost(PUBLISHED) < cost({**PUBLISHED, **LAPS})
    assert cost(PUBLISHED) < cost({**PUBLISHED, "board": parse_board({"size": MAX_SQUARES})})


def test_cards_of_decks_that_no_square_draws_change_nothing() -> None:
    plain, given_ = solve({"target": TARGETS}), solve({"target": TARGETS}, chest=deck(jail=1))
    assert all(np.array_equal(plain[name], given_[name], equal_nan=True) for name in plain)


def test_the_order_and_scale_of_a_deck_do_not_matter() -> None:
    def scaled(cards: Deck, factor: int) -> Deck:
        return Deck(tuple((card, count * factor) for card, count in cards.counts))

    once, thrice = solve({"target": TARGETS}), solve({"target": TARGETS}, chance=scaled(TWENTY, 3))
    assert once["first"] == pytest.approx(thrice["first"], abs=1e-15)
