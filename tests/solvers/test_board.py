"""Boards and decks are data, and a landing is resolved to the law of the final square."""

from __future__ import annotations

from typing import Any

import pytest

from solvers.board import (
    JAIL,
    Board,
    Card,
    Deck,
    check_deck,
    landing_law,
    parse_board,
    parse_deck,
    plain_board,
    plain_deck,
    vary_deck,
)


def small_board(**changes: Any) -> Board:
    document = {"size": 12, "jail": 3, "go_to_jail": [9], "draws": {"chance": [5, 8]}, "groups": {"railway": [2, 7]}}
    return parse_board(document | changes)


def law_of(board: Board, deck: Deck, square: int, back_onto_draw: str = "chain") -> dict[int, float]:
    found = landing_law(board, {"chance": [deck]}, back_onto_draw)
    row = found.law[0, board.draw_squares.index(square)]
    return {place: p for place, p in zip((*found.finals, JAIL), row, strict=True) if p}


def test_the_shipped_board_is_the_published_one(board: Board, decks: dict[str, Deck]) -> None:
    assert (board.size, board.start, board.jail, board.go_to_jail) == (40, 0, 10, (30,))
    assert board.draws == {"chest": (2, 17, 33), "chance": (7, 22, 36)}
    assert board.groups["railway"] == (5, 15, 25, 35)
    assert board.groups["utility"] == (12, 28)
    assert {str(card): count for card, count in decks["chest"].counts} == {"to-0": 1, "jail": 1, "stay": 14}
    assert decks["chance"].size == 16
    assert decks["chance"].count(Card("stay")) == 6
    assert decks["chance"].count(Card("next", group="railway")) == 2


@pytest.mark.parametrize("text", ["stay", "jail", "to-24", "next-railway", "back-3", "forward-2"])
def test_a_card_reads_back_as_it_is_written(text: str) -> None:
    assert str(Card.parse(text)) == text


@pytest.mark.parametrize("text", ["", "Jail", "to", "to-", "to--1", "next-", "back-x", "to-24 ", "sideways-2"])
def test_other_words_are_no_cards(text: str) -> None:
    with pytest.raises(ValueError, match="unknown card"):
        Card.parse(text)


def test_the_next_of_a_group_lies_ahead_even_round_the_corner() -> None:
    board = small_board()
    card = Card("next", group="railway")
    assert board.arrival(5, card) == 7
    assert board.arrival(8, card) == 2
    assert board.arrival(7, card) == 2


def test_back_and_forward_go_round_the_board() -> None:
    board = small_board()
    assert board.arrival(1, Card("back", 3)) == 10
    assert board.arrival(11, Card("forward", 3)) == 2


def test_a_card_onto_a_go_to_jail_square_is_an_arrest_and_one_onto_the_jail_square_a_visit() -> None:
    board = small_board()
    assert board.arrival(5, Card("to", 9)) == JAIL
    assert board.arrival(5, Card("forward", 4)) == JAIL
    assert board.arrival(5, Card("to", 3)) == 3


def test_back_three_onto_a_draw_square_draws_again_or_stops_there() -> None:
    board = small_board()
    deck = parse_deck({"cards": {"back-3": 1, "jail": 1}})
    assert law_of(board, deck, 8) == {2: 0.25, JAIL: 0.75}
    assert law_of(board, deck, 8, "stop") == {5: 0.5, JAIL: 0.5}


def test_stop_is_for_cards_that_go_back_only() -> None:
    board = small_board()
    deck = parse_deck({"cards": {"to-8": 1, "stay": 1}})
    assert law_of(board, deck, 5, "stop") == {5: 0.5, 8: 0.5}
    deck = parse_deck({"cards": {"to-8": 1, "forward-1": 1}})
    assert law_of(board, deck, 5, "stop") == {6: 0.5, 8: 0.25, JAIL: 0.25}


def test_a_card_to_the_square_where_one_stands_draws_no_other() -> None:
    board = small_board()
    deck = parse_deck({"cards": {"to-5": 1}})
    assert law_of(board, deck, 5) == {5: 1.0}
    assert law_of(board, deck, 8) == {5: 1.0}
    assert law_of(board, parse_deck({"cards": {"forward-12": 1}}), 8) == {8: 1.0}


def test_cards_that_could_go_round_for_ever_are_refused_with_the_way_round() -> None:
    board = small_board()
    deck = parse_deck({"cards": {"to-5": 1, "to-8": 1, "stay": 30}})
    with pytest.raises(ValueError, match="for ever: 5 -> 8 -> 5"):
        landing_law(board, {"chance": [deck]}, "chain")


def test_every_combination_of_decks_has_a_law_that_sums_to_one(board: Board, decks: dict[str, Deck]) -> None:
    chance = [vary_deck(decks["chance"], {"jail": n}) for n in range(7)]
    found = landing_law(board, {"chest": [decks["chest"]] * 2, "chance": chance}, "chain")
    assert found.law.shape == (2, 7, 6, len(found.finals) + 1)
    assert found.law.sum(axis=-1) == pytest.approx(1.0, abs=1e-15)
    row = board.draw_squares.index(36)
    assert found.law[0, 3, row, found.finals.index(33)] == pytest.approx(14 / 16 / 16)


def test_stays_are_taken_up_and_given_back_so_that_the_size_holds(decks: dict[str, Deck]) -> None:
    for count in range(8):
        varied = vary_deck(decks["chance"], {"jail": count})
        assert varied.size == 16
        assert varied.count(Card("jail")) == count
        assert varied.count(Card("stay")) == 7 - count


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"jail": 8}, "need 17 cards, the deck has 16"),
        ({"jail": -1}, "whole number from 0"),
        ({"jail": True}, "whole number from 0"),
        ({"jail": 1.0}, "whole number from 0"),
        ({"stay": 3}, "cannot be varied"),
        ({"gaol": 1}, "unknown card 'gaol'"),
    ],
)
def test_impossible_changes_of_a_deck_are_refused(decks: dict[str, Deck], changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        vary_deck(decks["chance"], changes)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, "needs 'cards'"),
        ({"cards": {}}, "empty"),
        ({"cards": {"stay": 0}}, "empty"),
        ({"cards": {"jail": "two"}}, "whole number from 0"),
        ({"cards": {"jail": 17}, "size": 16}, "need 17 cards, the deck has 16"),
        ({"cards": {"jail": 1, "stay": 1}, "size": 16}, "add up to 2"),
        ({"cards": {"jail": 10**6}}, "more than 10000 cards"),
        ({"crads": {}}, "unknown key 'crads'"),
    ],
)
def test_bad_decks_are_refused_in_one_line(document: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        parse_deck(document)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"size": 1}, "from 2 to 1000"),
        ({"size": "forty"}, "whole number"),
        ({"size": 40, "jail": 40}, "from 0 to 39"),
        ({"size": 40, "draws": {"chance": [7, 41]}}, "draws.chance"),
        ({"size": 40, "draws": {"chance": []}}, "has no squares"),
        ({"size": 40, "draws": {"chance": [7], "chest": [7]}}, "square 7 has two roles"),
        ({"size": 40, "go_to_jail": [7], "draws": {"chest": [7]}}, "square 7 has two roles"),
        ({"size": 4, "names": ["a"]}, "list of 4"),
        ({"size": 4, "names": "abcd"}, "list of 4"),
        ({"size": 4, "decks": {"chance": "classic"}}, "no square draws"),
        ({"size": 4, "squares": 4}, "unknown key 'squares'"),
        ({"size": 4, "groups": [1]}, "map names to lists"),
    ],
)
def test_bad_boards_are_refused_in_one_line(document: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        parse_board(document)
    assert "\n" not in str(caught.value)


def test_cards_must_fit_the_board(board: Board) -> None:
    with pytest.raises(ValueError, match="to-40 leads off the board"):
        check_deck(board, parse_deck({"cards": {"to-40": 1}}))
    with pytest.raises(ValueError, match="needs a group 'ferry'"):
        check_deck(board, parse_deck({"cards": {"next-ferry": 1}}))


def test_boards_and_decks_survive_the_trip_through_plain_data(board: Board, decks: dict[str, Deck]) -> None:
    assert parse_board(plain_board(board)) == board
    for deck in decks.values():
        assert parse_deck(plain_deck(deck)) == deck
