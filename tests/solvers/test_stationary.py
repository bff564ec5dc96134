"""The stationary odds equal exact rationals, and follow the laws of Markov chains."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from solvers.board import Board, Deck, parse_board, parse_deck, vary_deck
from solvers.chain import recurrent_class
from solvers.exact import exact_probability
from solvers.ranking import ranks
from solvers.stationary import STUDY, solve
from solvers.study import Grid, ParameterError

RULES = {"dice": 2, "sides": 6, "doubles_limit": 3, "doubles_after_jail": "keep", "back_onto_draw": "chain"}


@pytest.fixture(scope="session")
def fixed(board: Board, decks: dict[str, Deck]) -> dict[str, Any]:
    return {"board": board, **RULES, **decks}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"sides": 1},
        {"sides": 2},
        {"sides": 4},
        {"sides": 20},
        {"sides": 100},
        {"sides": 300},
        {"dice": 1, "sides": 40},
        {"dice": 3},
        {"dice": 4, "sides": 1, "doubles_limit": 0},
        {"dice": 8, "sides": 1, "doubles_limit": 0},
        {"doubles_limit": 0},
        {"doubles_limit": 1},
        {"doubles_limit": 5, "doubles_after_jail": "reset"},
        {"doubles_after_jail": "reset"},
        {"back_onto_draw": "stop"},
    ],
)
def test_answers_equal_exact_rationals(fixed: dict[str, Any], changes: dict[str, Any]) -> None:
    point = fixed | changes
    exact = exact_probability(**point)
    found = solve(Grid({}, point))
    assert sum(exact) == 1
    assert np.abs(found["probability"] - np.array([float(p) for p in exact])).max() < 1e-15
    assert [p == 0 for p in exact] == [p == 0 for p in found["probability"]]
    assert found["residual"] < 1e-14


@pytest.mark.parametrize("changes", [{"jail": 0}, {"jail": 6, "back-3": 0}, {"to-24": 5}, {"back-3": 4}, {"to-2": 2}])
@pytest.mark.parametrize("sides", [3, 6])
def test_answers_for_other_decks_equal_exact_rationals(fixed: dict[str, Any], changes: dict[str, int], sides: int) -> None:
    point = fixed | {"sides": sides, "chance": vary_deck(fixed["chance"], {"to-39": 0, **changes})}
    exact = [float(p) for p in exact_probability(**point)]
    assert np.abs(solve(Grid({}, point))["probability"] - exact).max() < 1e-15


def test_a_grid_gives_what_its_points_give_alone(fixed: dict[str, Any]) -> None:
    chance = tuple(vary_deck(fixed["chance"], {"jail": n, "back-3": m}) for n in range(4) for m in (0, 1))
    chest = tuple(vary_deck(fixed["chest"], {"jail": n}) for n in (0, 3))
    rest = {name: value for name, value in fixed.items() if name not in ("sides", "chest", "chance", "back_onto_draw")}
    grid = Grid({"sides": (2, 6, 11), "back_onto_draw": ("stop", "chain"), "chest": chest, "chance": chance}, rest)
    together = solve(grid)
    assert together["probability"].shape == (3, 2, 2, 8, 40)
    for index, point in grid.points():
        alone = solve(Grid({}, point))
        assert np.abs(together["probability"][index] - alone["probability"]).max() < 1e-15
        assert (together["ranking"][index] == alone["ranking"]).all()
        assert together["modal"][index] == alone["modal"]


def test_an_axis_may_come_in_any_place(fixed: dict[str, Any]) -> None:
    chance = tuple(vary_deck(fixed["chance"], {"jail": n}) for n in range(3))
    rest = {name: value for name, value in fixed.items() if name not in ("sides", "chance")}
    one = solve(Grid({"chance": chance, "sides": (4, 6)}, rest))["probability"]
    two = solve(Grid({"sides": (4, 6), "chance": chance}, rest))["probability"]
    assert one.shape == (3, 2, 40)
    assert (one == two.swapaxes(0, 1)).all()


def test_a_shifted_board_has_shifted_odds(board: Board, fixed: dict[str, Any]) -> None:
    shift = 7
    turned = parse_board(
        {
            "size": 40,
            "start": shift,
            "jail": 10 + shift,
            "go_to_jail": [30 + shift],
            "draws": {name: [(q + shift) % 40 for q in squares] for name, squares in board.draws.items()},
            "groups": {name: [(q + shift) % 40 for q in squares] for name, squares in board.groups.items()},
        }
    )
    decks = {}
    for name in ("chest", "chance"):
        cards = {str(card): count for card, count in fixed[name].counts}
        moved = {f"to-{(int(c[3:]) + shift) % 40}" if c.startswith("to-") else c: n for c, n in cards.items()}
        decks[name] = parse_deck({"cards": moved})
    here = solve(Grid({}, fixed))["probability"]
    there = solve(Grid({}, fixed | decks | {"board": turned}))["probability"]
    assert np.abs(np.roll(here, shift) - there).max() < 1e-15


def test_a_board_without_decks_and_jail_is_uniform() -> None:
    board = parse_board({"size": 10})
    nothing = parse_deck({"cards": {"stay": 1}})
    point = {"board": board, **RULES, "doubles_limit": 0, "chest": nothing, "chance": nothing}
    found = solve(Grid({}, point))
    assert found["probability"] == pytest.approx(np.full(10, 0.1), abs=1e-16)
    assert found["ranking"].tolist() == list(range(10))
    assert found["modal"] == "000102"


def test_a_periodic_walk_has_long_run_fractions(fixed: dict[str, Any]) -> None:
    nothing = parse_deck({"cards": {"stay": 1}})
    found = solve(Grid({}, fixed | {"dice": 1, "sides": 1, "chest": nothing, "chance": nothing}))["probability"]
    exact = exact_probability(**(fixed | {"dice": 1, "sides": 1, "chest": nothing, "chance": nothing}))
    assert exact[10] == exact[20] == Fraction(1, 20)
    assert found[10] == pytest.approx(1 / 20, abs=1e-16)
    assert found[31] == 0.0


def test_two_sets_that_the_token_never_leaves_make_the_point_fail() -> None:
    board = parse_board({"size": 8, "draws": {"chance": [4]}})
    deck = parse_deck({"cards": {"to-1": 1, "to-2": 1}})
    point = {"board": board, **RULES, "dice": 4, "sides": 1, "doubles_limit": 0, "chest": deck, "chance": deck}
    with pytest.raises(ValueError, match="more than one closed set"):
        solve(Grid({}, point))
    with pytest.raises(ValueError, match="more than one closed class"):
        exact_probability(**point)


def test_ties_are_ranked_by_square_and_gaps_add_up() -> None:
    probability = np.array([[0.2, 0.3 - 1e-16, 0.3, 0.2]])
    ranking, gap, modal = ranks(probability)
    assert ranking.tolist() == [[1, 2, 0, 3]]
    assert gap[0, :3] == pytest.approx([0, 0.1, 0], abs=1e-15)
    assert np.isnan(gap[0, 3])
    assert (gap[0, :3] >= 0).all()
    assert modal.tolist() == ["010200"]


def test_large_boards_are_named_with_three_digits() -> None:
    probability = np.zeros((1, 120))
    probability[0, [110, 7, 30]] = 0.5, 0.3, 0.2
    assert ranks(probability)[2].tolist() == ["110007030"]


def test_the_closed_class_is_found_behind_transient_states() -> None:
    edges = np.zeros((5, 5), bool)
    for source, target in ((0, 1), (1, 0), (1, 2), (2, 3), (3, 2), (4, 0)):
        edges[source, target] = True
    assert recurrent_class(edges, 0).tolist() == [False, False, True, True, False]


boards = st.integers(4, 14).flatmap(
    lambda size: st.fixed_dictionaries(
        {
            "size": st.just(size),
            "start": st.integers(0, size - 1),
            "jail": st.integers(0, size - 1),
            "draws": st.just({"chance": [size - 1], "chest": [size // 2]}),
            "go_to_jail": st.lists(st.integers(0, size - 2).filter(lambda q: q != size // 2), max_size=2, unique=True),
        }
    )
)
cards = st.dictionaries(
    st.sampled_from(["stay", "jail", "to-0", "to-1", "to-2", "forward-1", "back-1"]), st.integers(1, 4), min_size=1
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    document=boards,
    chest=cards,
    chance=cards,
    dice=st.integers(1, 3),
    sides=st.integers(1, 5),
    limit=st.integers(0, 4),
    after=st.sampled_from(["keep", "reset"]),
    back=st.sampled_from(["chain", "stop"]),
)
def test_any_game_equals_exact_rationals_or_fails_as_they_do(
    document: dict[str, Any],
    chest: dict[str, int],
    chance: dict[str, int],
    dice: int,
    sides: int,
    limit: int,
    after: str,
    back: str,
) -> None:
    point = {
        "board": parse_board(document),
        "dice": dice,
        "sides": sides,
        "doubles_limit": limit,
        "doubles_after_jail": after,
        "back_onto_draw": back,
        "chest": parse_deck({"cards": chest}),
        "chance": parse_deck({"cards": chance}),
    }
    try:
        STUDY.check({name: (value,) for name, value in point.items()})
    except ParameterError:
        return
    try:
        exact = [float(p) for p in exact_probability(**point)]
    except ValueError:
        with pytest.raises(ValueError, match="more than one closed set"):
            solve(Grid({}, point))
        return
    found = solve(Grid({}, point))["probability"]
    assert np.abs(found - exact).max() < 1e-14
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1, abs=1e-14)


def test_a_deck_that_does_not_fit_is_blamed_on_its_parameter(fixed: dict[str, Any]) -> None:
    values = {name: (value,) for name, value in fixed.items()}
    for name in ("chest", "chance"):
        with pytest.raises(ParameterError, match="leads off the board") as caught:
            STUDY.check(values | {name: (parse_deck({"cards": {"to-40": 1}}),)})
        assert caught.value.parameter == name


def test_cards_that_go_round_for_ever_are_refused_for_the_pair_that_does(fixed: dict[str, Any]) -> None:
    values = {name: (value,) for name, value in fixed.items()}
    chest = parse_deck({"cards": {"to-7": 1, "stay": 15}})
    STUDY.check(values | {"chest": (chest,)})
    with pytest.raises(ParameterError, match="for ever"):
        STUDY.check(values | {"chest": (chest,), "chance": (parse_deck({"cards": {"to-2": 1, "stay": 1}}),)})


def test_boards_of_different_sizes_cannot_share_a_dataset(board: Board) -> None:
    with pytest.raises(ParameterError, match="different sizes"):
        STUDY.coordinates({"board": (board, parse_board({"size": 12}))})
