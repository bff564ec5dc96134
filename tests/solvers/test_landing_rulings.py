"""One test for each ruling of the landing race."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from solvers.board import Board, Deck, parse_board
from solvers.study import ParameterError
from tests.solvers.landing_game import MONOPOLIES, Reading, deck, solve, transcribed


def second_of_two(law: list[float]) -> float:
    landed, second = 0.0, 0.0
    for f in law:
        second += f * (1 - landed - f)
        landed += f
    return second


# The published wrong values, to the digits that are known.
WRONG = [
    (Reading(third_double_moves=True), 22, 0.121864, 1e-6),
    (Reading(third_double_moves=True), 30, 0.1195507, 1e-7),
    (Reading(no_roll_after_card=True), 22, 0.1212276566, 1e-10),
    (Reading(no_roll_after_card=True), 30, 0.1190601016, 1e-10),
    (Reading(passing_counts=False), 22, 0.0875094, 1e-7),
]


@pytest.mark.parametrize(("reading", "target", "wrong", "digits"), WRONG)
def test_another_reading_of_the_rules_gives_the_published_wrong_value(
    reading: Reading, target: int, wrong: float, digits: float
) -> None:
    assert second_of_two(transcribed(target, reading=reading)) == pytest.approx(wrong, abs=digits)
    right = solve(target=target)["first"][1]
    assert second_of_two(transcribed(target)) == pytest.approx(right, abs=1e-14)
    assert abs(right - wrong) > 10 * digits


@pytest.mark.parametrize(("target", "wrong"), [(22, 0.1285529), (30, 0.1244821)])
def test_the_first_player_is_earlier_within_a_round(target: int, wrong: float) -> None:
    first = solve(target=target)["first"]
    assert first[0] == pytest.approx(wrong, abs=1e-7)
    assert first[0] > first[1]


# With one die of one side a token moves one square a turn, so that what happens to it is certain.


def path(cards: Deck | None = None, chest: Deck | None = None, **rules: Any) -> dict[int, int]:
    """Return the turn in which a lone token first lands on each square of a board of ten, for those it lands on.

    Square 3 draws from the chance deck, square 6 from the chest deck, square 8 goes to jail, and jail is square 5.
    """
    board = parse_board(
        {
            "size": 10,
            "jail": 5,
            "go_to_jail": [8],
            "draws": {"chance": [3], "chest": [6]},
            "groups": {"ahead": [2, 7], "behind": [1], "here": [3]},
        }
    )
    stay = deck(stay=1)
    rules = {"dice": 1, "sides": 1, "chance": cards or stay, "chest": chest or stay, "doubles_limit": 0, **rules}
    return landed_on(board, **rules)


def landed_on(board: Board, **rules: Any) -> dict[int, int]:
    targets = [square for square in range(board.size) if square != board.start]
    answer = solve({"target": targets}, board=board, **rules)
    assert set(np.unique(answer["ever"].round(12))) <= {0.0, 1.0}
    assert np.array_equal(answer["first"][:, 0], answer["ever"])
    return {square: int(turn) for square, turn in zip(targets, answer["mean_turn"], strict=True) if not np.isnan(turn)}


def test_reaching_the_go_to_jail_square_counts_and_jail_is_final() -> None:
    assert path() == {1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 8: 8}


def test_a_card_square_counts_though_its_card_moves_the_token_on_and_so_does_where_it_leads() -> None:
    assert path(deck(to_5=1)) == {1: 1, 2: 2, 3: 3, 5: 3, 6: 4, 7: 5, 8: 6}


def test_going_to_jail_is_not_landing_on_the_jail_square() -> None:
    assert path(deck(jail=1)) == {1: 1, 2: 2, 3: 3}
    assert 5 not in path(deck(to_6=1))


def test_a_card_that_leads_to_the_jail_square_by_number_is_a_visit() -> None:
    visit = path(deck(to_5=1))
    assert visit[5] == 3
    assert visit[6] == 4


def test_a_card_that_leads_to_another_draw_square_draws_there() -> None:
    assert path(deck(to_6=1), deck(to_7=1)) == {1: 1, 2: 2, 3: 3, 6: 3, 7: 3, 8: 4}


def test_a_card_that_leads_to_the_go_to_jail_square_lands_there_first() -> None:
    assert path(deck(to_8=1)) == {1: 1, 2: 2, 3: 3, 8: 3}


def test_a_card_that_leads_to_the_square_where_the_token_stands_does_not_move_it() -> None:
    still = path(deck(stay=1))
    for card in ("to_3", "next_here", "back_0", "forward_0"):
        assert path(deck(**{card: 1})) == still
        assert path(deck(**{card: 1}), **ENDLESS) == path(deck(stay=1), **ENDLESS)


@pytest.mark.parametrize("card", ["to_1", "back_1", "back_9", "back_10", "next_behind"])
def test_on_a_single_lap_a_card_to_a_lower_square_takes_the_token_out_before_it_lands(card: str) -> None:
    assert path(deck(**{card: 1})) == {1: 1, 2: 2, 3: 3}


@pytest.mark.parametrize("card", ["forward_7", "forward_10", "forward_12"])
def test_on_a_single_lap_a_card_past_the_last_square_takes_the_token_out(card: str) -> None:
    assert path(deck(**{card: 1})) == {1: 1, 2: 2, 3: 3}


def test_a_next_card_leads_to_the_nearest_member_of_the_group_further_on() -> None:
    assert path(deck(next_ahead=1)) == {1: 1, 2: 2, 3: 3, 7: 3, 8: 4}


ENDLESS: dict[str, Any] = {"lap": "endless", "jail": "visit"}


def test_on_an_endless_lap_cards_go_either_way_round() -> None:
    assert path(deck(back_1=1), **ENDLESS) == {1: 1, 2: 2, 3: 3}
    assert path(deck(forward_7=1), **ENDLESS) == {1: 1, 2: 2, 3: 3}
    assert path(deck(next_behind=1), **ENDLESS) == {1: 1, 2: 2, 3: 3}
    assert path(deck(back_4=1), **ENDLESS) == {1: 1, 2: 2, 3: 3, 9: 3}
    assert path(deck(back_7=1), **ENDLESS) == {1: 1, 2: 2, 3: 3, 6: 3, 7: 4, 8: 5}


def test_a_jailed_token_that_visits_plays_on_from_the_jail_square_in_its_next_turn_without_landing_there() -> None:
    assert path(deck(to_8=1), **ENDLESS) == {1: 1, 2: 2, 3: 3, 8: 3, 6: 4, 7: 5}
    assert path(deck(jail=1), **ENDLESS) == {1: 1, 2: 2, 3: 3, 6: 4, 7: 5, 8: 6}


def test_with_jail_final_an_endless_lap_ends_there() -> None:
    assert path(deck(jail=1), lap="endless", jail="out") == {1: 1, 2: 2, 3: 3}


def test_on_a_single_lap_jail_may_be_behind_and_the_token_passes_the_squares_again() -> None:
    assert path(deck(to_8=1), lap="single", jail="visit") == {1: 1, 2: 2, 3: 3, 8: 3, 6: 4, 7: 5}


def test_on_an_endless_lap_a_total_of_a_whole_circle_lands_again() -> None:
    board = parse_board({"size": 4, "jail": 3, "draws": {"chance": [2]}})
    cards = deck(stay=1, to_3=1)
    answer = solve(board=board, chance=cards, target=3, dice=2, sides=1, doubles_limit=0, **ENDLESS)
    assert answer["turn_pmf"][:5] == pytest.approx([0.5, 0, 0.25, 0, 0.125])
    answer = solve(board=board, chance=cards, target=3, dice=4, sides=1, doubles_limit=0, **ENDLESS)
    assert answer["ever"] == 0
    landed_again = {"board": parse_board({"size": 4, "start": 2, "jail": 3, "draws": {"chance": [2]}}), "chance": cards}
    answer = solve(target=3, dice=4, sides=1, doubles_limit=0, **landed_again, **ENDLESS)
    assert answer["turn_pmf"][:3] == pytest.approx([0.5, 0.25, 0.125])


def test_the_last_doubles_of_a_turn_does_not_move() -> None:
    plain = parse_board({"size": 10, "jail": 5})
    assert landed_on(plain, dice=2, sides=1, doubles_limit=3) == {2: 1, 4: 1}
    assert landed_on(plain, dice=2, sides=1, doubles_limit=1) == {}
    assert landed_on(plain, dice=2, sides=1, doubles_limit=3, **ENDLESS) == {2: 1, 4: 1, 7: 2, 9: 2}


def test_with_no_limit_doubles_mean_nothing() -> None:
    plain = parse_board({"size": 10, "jail": 5})
    assert landed_on(plain, dice=2, sides=1, doubles_limit=0) == {2: 1, 4: 2, 6: 3, 8: 4}


def test_one_die_shows_no_doubles() -> None:
    assert path(doubles_limit=1) == path(doubles_limit=0)


def test_doubles_roll_again_from_where_the_card_left_the_token() -> None:
    board = parse_board({"size": 12, "jail": 5, "draws": {"chance": [2]}})
    assert landed_on(board, chance=deck(to_5=1), dice=2, sides=1, doubles_limit=3) == {2: 1, 5: 1, 7: 1}


def test_a_start_off_square_zero_makes_a_shorter_line_and_does_not_act_on_the_token() -> None:
    board = parse_board({"size": 6, "start": 2, "jail": 0, "draws": {"chance": [2]}})
    assert landed_on(board, chance=deck(jail=1), dice=1, sides=1) == {3: 1, 4: 2, 5: 3}


def test_cards_that_could_go_on_for_ever_are_refused_on_an_endless_lap_only() -> None:
    round_trip = {"chance": deck(to_22=1, to_7=1, stay=1)}
    assert solve(**round_trip)["ever"] > 0
    with pytest.raises(ParameterError, match="for ever: 7 -> 22 -> 7"):
        solve(**round_trip, **ENDLESS)


SWEPT = [
    deck(to_22=2, to_36=1, jail=1, stay=4),
    deck(to_30=2, to_7=1, to_8=1, stay=3),
    deck(back_3=2, forward_15=2, forward_8=1, stay=2),
    deck(to_0=1, to_10=2, to_39=1, forward_14=3),
]


@pytest.mark.parametrize("cards", SWEPT, ids=str)
@pytest.mark.parametrize("target", [10, 22, 30, 36, 39])
def test_swept_decks_follow_the_rules_outcome_by_outcome(cards: Deck, target: int) -> None:
    game = {"board": MONOPOLIES, "dice": 2, "sides": 4, "chance": cards, "lap": "single", "jail": "out"}
    answer = solve(target=target, **game)["turn_pmf"]
    assert answer == pytest.approx(transcribed(target, game), abs=1e-15)
