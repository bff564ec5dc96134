"""What the squares of a board do to a token that lands on them, seen card by card.

A race counts every square that a token lands on, also those that it only passes through: a draw square whose card moves the
token on, a go-to-jail square reached by a card.  So a draw square is kept here as its single steps, not as the law of the
final square.  The token is at (or lands next on)

    s           with probability stay / size        the card leaves it where it is,
    s'          with probability moves[s'] / size   it lands on s', which counts, and which may draw or arrest in turn,
    jail        with probability jail / size        no landing,
    nowhere     with the rest                       it is out of the game before it lands anywhere.

Rulings are listed in :mod:`solvers.landing`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from solvers.board import JAIL, Board, Card, Deck, check_deck, deck_of, draw_order

Lap = Literal["single", "endless"]

OUT = -2
"""Where a card leads that takes the token out of the game."""


@dataclass(frozen=True)
class Draw:
    """One draw square as numbers of cards.

    Attributes
    ----------
    square : int
    size : int
        Cards in the deck.
    stay, jail : int
        Cards that leave the token there, and that jail it.
    moves : tuple of (int, int)
        Squares on which cards make the token land, ascending, with the number of cards that lead there.
    """

    square: int
    size: int
    stay: int
    jail: int
    moves: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Squares:
    """All squares that do something, in the form that kernels take.

    Attributes
    ----------
    draws : tuple of Draw
        In an order in which cards lead only from earlier ones to later ones.
    arrest : ndarray of bool, shape (squares,)
        Whether landing there leads to jail.
    row : ndarray of int64, shape (squares,)
        Position in `draws`, or -1.
    place : ndarray of int64, shape (draws,)
        The square of each draw.
    stay, jail : ndarray of float64, shape (draws,)
        Probability that the card leaves the token there, and that it jails it.
    onto : ndarray of int64, shape (draws, most moves)
        Squares on which the cards make the token land, padded with -1.
    chance : ndarray of float64, shape (draws, most moves)
        Their probabilities.
    """

    draws: tuple[Draw, ...]
    arrest: NDArray[np.bool_]
    row: NDArray[np.int64]
    place: NDArray[np.int64]
    stay: NDArray[np.float64]
    jail: NDArray[np.float64]
    onto: NDArray[np.int64]
    chance: NDArray[np.float64]

    @classmethod
    def of(cls, board: Board, decks: Mapping[str, Deck], lap: Lap) -> Squares:
        """Lay out `board` with these decks.

        Raises
        ------
        ValueError
            If a card leads off the board or to a group it lacks, or if cards can send a token round for ever.
        """
        draws = resolve(board, decks, lap)
        width = max((len(draw.moves) for draw in draws), default=0)
        onto = np.full((len(draws), width), -1, np.int64)
        chance = np.zeros((len(draws), width))
        row = np.full(board.size, -1, np.int64)
        for i, draw in enumerate(draws):
            row[draw.square] = i
            for j, (square, count) in enumerate(draw.moves):
                onto[i, j], chance[i, j] = square, count / draw.size
        arrest = np.zeros(board.size, np.bool_)
        arrest[list(board.go_to_jail)] = True
        return cls(
            draws=draws,
            arrest=arrest,
            row=row,
            place=np.array([draw.square for draw in draws], np.int64),
            stay=np.array([draw.stay / draw.size for draw in draws]),
            jail=np.array([draw.jail / draw.size for draw in draws]),
            onto=onto,
            chance=chance,
        )


def resolve(board: Board, decks: Mapping[str, Deck], lap: Lap) -> tuple[Draw, ...]:
    """Return the draw squares of `board`, each after all those whose cards lead to it.

    Raises
    ------
    ValueError
        If a card leads off the board or to a group it lacks, or if cards can send a token round for ever.
    """
    for name in board.draws:
        check_deck(board, decks[name])
    if lap == "single":
        order = list(board.draw_squares)
    else:
        cards = {name: [card for card, _ in decks[name].counts] for name in board.draws}
        order = draw_order(board, cards, "chain")[::-1]
    return tuple(_draw(board, square, decks[deck_of(board, square)], lap) for square in order)


def _draw(board: Board, square: int, deck: Deck, lap: Lap) -> Draw:
    leads: Counter[int] = Counter()
    for card, count in deck.counts:
        leads[card_leads(board, square, card, lap)] += count
    moves = tuple(sorted((to, count) for to, count in leads.items() if to >= 0 and to != square))
    return Draw(square, deck.size, leads[square], leads[JAIL], moves)


def card_leads(board: Board, square: int, card: Card, lap: Lap) -> int:
    """Return where `card`, drawn on `square`, takes the token before anything happens there.

    Returns
    -------
    int
        A square (`square` itself if the card does not move the token), :data:`solvers.board.JAIL` or :data:`OUT`.
    """
    target = board.destination(square, card)
    if lap == "endless":
        return target
    match card.kind:
        case "back" if card.number:
            return OUT
        case "forward":
            return square + card.number if square + card.number < board.size else OUT
        case "to" | "next":
            return target if target >= square else OUT
        case _:
            return target
