"""Boards, decks and cards, and where a token ends up that lands on a square.

A board is a circle of squares.  Landing on a go-to-jail square puts the token in jail; landing on a draw square draws a card
from that square's deck, reshuffled first, so card c comes with probability count(c) / size.  A card moves the token, and
where it arrives it lands again.  The law of the final square is therefore, for each draw square s,

    law(s) = sum over cards c of P(c) * (one-hot of where c leads, or law(s') where c leads to another draw square s').

Rulings, each a choice that published games leave open:

* a card that leads to the square where the token already stands does not move it: no new landing, no new card;
* a card that leads to a go-to-jail square sends the token to jail, as any landing there does;
* a card that leads to the jail square by number is a visit, not an arrest;
* a card that leads to another draw square draws there, and with ``back_onto_draw="stop"`` a back-n card does not;
* cards that could send the token round between draw squares for ever are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from solvers.study import Document

JAIL = -1
"""Where a card or a square leads that puts the token in jail, as distinct from a visit to the jail square."""

MAX_SQUARES = 1000
MAX_CARDS = 10_000

CardKind = Literal["stay", "jail", "to", "next", "back", "forward"]
_NUMBERED = re.compile(r"(to|back|forward)-(\d{1,4})")
_GROUPED = re.compile(r"next-([a-z][a-z0-9-]*)")
_CARDS = "stay, jail, to-N, next-GROUP, back-N, forward-N"


@dataclass(frozen=True, order=True)
class Card:
    """One kind of card: ``stay``, ``jail``, ``to-24``, ``next-railway``, ``back-3`` or ``forward-2``."""

    kind: CardKind
    number: int = 0
    group: str = ""

    @classmethod
    def parse(cls, text: str) -> Card:
        """Read a card as it is written in a deck; ValueError if it is none."""
        if text == "stay":
            return cls("stay")
        if text == "jail":
            return cls("jail")
        if numbered := _NUMBERED.fullmatch(text):
            kind: Any = numbered[1]
            return cls(kind, int(numbered[2]))
        if grouped := _GROUPED.fullmatch(text):
            return cls("next", group=grouped[1])
        raise ValueError(f"unknown card {text!r} (a card is one of {_CARDS})")

    def __str__(self) -> str:
        match self.kind:
            case "stay" | "jail":
                return self.kind
            case "next":
                return f"next-{self.group}"
            case _:
                return f"{self.kind}-{self.number}"


STAY = Card("stay")


@dataclass(frozen=True)
class Deck:
    """Cards and how many there are of each; only cards that are present, in a fixed order.

    Attributes
    ----------
    counts : tuple of (Card, int)
        Sorted, every count at least one.
    """

    counts: tuple[tuple[Card, int], ...]

    @property
    def size(self) -> int:
        """Number of cards."""
        return sum(count for _, count in self.counts)

    def count(self, card: Card) -> int:
        """Return how many of `card` there are."""
        return dict(self.counts).get(card, 0)

    def __str__(self) -> str:
        return ",".join(f"{card}={count}" for card, count in self.counts)


def parse_deck(document: Mapping[str, Any]) -> Deck:
    """Read a deck: ``{cards: {jail: 1, back-3: 1, stay: 14}}``, or with ``size: 16`` and the stays left to fill it up.

    Raises
    ------
    ValueError
        One line: an unknown card or key, a count that is no whole number from 0, too many cards for the size, no card.
    """
    _known_keys(document, ("size", "cards"), "a deck")
    cards = document.get("cards")
    if not isinstance(cards, Mapping):
        raise ValueError("a deck needs 'cards', a mapping from card to count, such as {jail: 1, stay: 15}")
    counts = {Card.parse(str(text)): _count(text, count) for text, count in cards.items()}
    size = document.get("size")
    if size is not None:
        total = _count("size", size)
        if STAY not in counts:
            return _filled(counts, total)
        if sum(counts.values()) != total:
            raise ValueError(f"the cards add up to {sum(counts.values())}, but size says {total}")
    return _deck(counts)


def plain_deck(deck: Deck) -> dict[str, Any]:
    """Return the deck as a mapping that :func:`parse_deck` reads back."""
    return {"cards": {str(card): count for card, count in deck.counts}}


def vary_deck(deck: Deck, changes: Mapping[str, Any]) -> Deck:
    """Return the deck with the counts of some cards changed and its size held by taking up or giving back stays.

    Raises
    ------
    ValueError
        If a count is no whole number from 0, or the other cards alone are more than the deck holds.
    """
    counts = {card: count for card, count in deck.counts if card != STAY}
    for text, count in changes.items():
        card = Card.parse(text)
        if card == STAY:
            raise ValueError("the count of 'stay' cannot be varied: stays fill the deck up to its size")
        counts[card] = _count(text, count)
    return _filled(counts, deck.size)


def _filled(counts: Mapping[Card, int], size: int) -> Deck:
    needed = sum(counts.values())
    if needed > size:
        raise ValueError(f"these counts need {needed} cards, the deck has {size}")
    return _deck({**counts, STAY: size - needed})


def _deck(counts: Mapping[Card, int]) -> Deck:
    if not sum(counts.values()):
        raise ValueError("the deck is empty: it needs at least one card (a deck that does nothing is {stay: 1})")
    if sum(counts.values()) > MAX_CARDS:
        raise ValueError(f"the deck has more than {MAX_CARDS} cards")
    return Deck(tuple(sorted((card, count) for card, count in counts.items() if count)))


def _count(name: object, count: object) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise ValueError(f"the count of {name!s} must be a whole number from 0 (got {count!r})")
    return count


def _known_keys(document: Mapping[str, Any], known: Sequence[str], what: str) -> None:
    for key in document:
        if key not in known:
            raise ValueError(f"unknown key {key!r} in {what} (known: {', '.join(known)})")


@dataclass(frozen=True)
class Board:
    """A circle of squares numbered from 0.

    Attributes
    ----------
    size : int
        Number of squares.
    start, jail : int
        Where a token starts, and where it sits when jailed.
    go_to_jail : tuple of int
        Squares that put a token that lands there in jail.
    draws : mapping of str to tuple of int
        Name of a deck to the squares that draw from it.
    groups : mapping of str to tuple of int
        Named sets of squares: railways, utilities, colours.
    decks : mapping of str to str
        The board's own deck for each name in `draws`, by the name of its file.
    names : tuple of str
        One short name per square.
    """

    size: int
    start: int
    jail: int
    go_to_jail: tuple[int, ...]
    draws: Mapping[str, tuple[int, ...]]
    groups: Mapping[str, tuple[int, ...]]
    decks: Mapping[str, str]
    names: tuple[str, ...]

    @property
    def draw_squares(self) -> tuple[int, ...]:
        """All squares that draw a card, ascending."""
        return tuple(sorted(square for squares in self.draws.values() for square in squares))

    def destination(self, square: int, card: Card) -> int:
        """Return the square to which `card`, drawn on `square`, moves the token, or :data:`JAIL`; no arrest there yet."""
        match card.kind:
            case "stay":
                return square
            case "jail":
                return JAIL
            case "to":
                return card.number
            case "next":
                return min(self.groups[card.group], key=lambda other: (other - square - 1) % self.size)
            case "back":
                return (square - card.number) % self.size
            case "forward":
                return (square + card.number) % self.size

    def arrival(self, square: int, card: Card) -> int:
        """Return the square where `card`, drawn on `square`, takes the token, or :data:`JAIL`."""
        target = self.destination(square, card)
        return JAIL if target in self.go_to_jail and target != square else target


def parse_board(document: Mapping[str, Any]) -> Board:
    """Read a board from a mapping with the attributes of :class:`Board` as keys; only ``size`` is required.

    Raises
    ------
    ValueError
        One line: an unknown key, a square that is off the board, a square with two roles, a list of names that does not fit.
    """
    known = ("size", "start", "jail", "go_to_jail", "draws", "groups", "decks", "names")
    _known_keys(document, known, "a board")
    size = _whole("size", document.get("size"), 2, MAX_SQUARES)
    jail = document.get("jail")
    go_to_jail = _squares("go_to_jail", document.get("go_to_jail", []), size)
    draws = _groups("draws", document.get("draws", {}), size)
    special = [*go_to_jail, *(square for squares in draws.values() for square in squares)]
    if repeated := {square for square in special if special.count(square) > 1}:
        raise ValueError(f"square {min(repeated)} has two roles in go_to_jail and draws")
    decks = document.get("decks", {})
    if not isinstance(decks, Mapping) or not all(isinstance(name, str) for name in decks.values()):
        raise ValueError("decks must map the name of a deck to the name of its file")
    if strange := sorted(set(decks) - set(draws)):
        raise ValueError(f"decks names {strange[0]!r}, from which no square draws")
    names = document.get("names", [str(square) for square in range(size)])
    if not isinstance(names, Sequence) or isinstance(names, str) or len(names) != size:
        raise ValueError(f"names must be a list of {size} square names")
    return Board(
        size=size,
        start=_whole("start", document.get("start", 0), 0, size - 1),
        jail=_whole("jail", 0 if jail is None else jail, 0, size - 1),
        go_to_jail=go_to_jail,
        draws=draws,
        groups=_groups("groups", document.get("groups", {}), size),
        decks=dict(decks),
        names=tuple(str(name) for name in names),
    )


def plain_board(board: Board) -> dict[str, Any]:
    """Return the board as a mapping that :func:`parse_board` reads back."""
    return {
        "size": board.size,
        "start": board.start,
        "jail": board.jail,
        "go_to_jail": list(board.go_to_jail),
        "draws": {name: list(squares) for name, squares in board.draws.items()},
        "groups": {name: list(squares) for name, squares in board.groups.items()},
        "decks": dict(board.decks),
        "names": list(board.names),
    }


def _whole(name: str, value: object, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"{name} must be a whole number from {low} to {high} (got {value!r})")
    return value


def _squares(name: str, squares: object, size: int) -> tuple[int, ...]:
    if not isinstance(squares, Sequence) or isinstance(squares, str):
        raise ValueError(f"{name} must be a list of squares (got {squares!r})")
    return tuple(sorted(_whole(f"a square in {name}", square, 0, size - 1) for square in squares))


def _groups(name: str, groups: object, size: int) -> dict[str, tuple[int, ...]]:
    if not isinstance(groups, Mapping):
        raise ValueError(f"{name} must map names to lists of squares")
    parsed = {str(key): _squares(f"{name}.{key}", squares, size) for key, squares in groups.items()}
    if empty := [key for key, squares in parsed.items() if not squares]:
        raise ValueError(f"{name}.{empty[0]} has no squares")
    return parsed


def check_deck(board: Board, deck: Deck) -> None:
    """Raise ValueError, in one line, if a card leads to a square or a group that the board does not have."""
    for card, _ in deck.counts:
        if card.kind == "to" and card.number >= board.size:
            raise ValueError(f"card {card} leads off the board, whose squares are 0 to {board.size - 1}")
        if card.kind == "next" and card.group not in board.groups:
            known = ", ".join(board.groups) or "none"
            raise ValueError(f"card {card} needs a group {card.group!r} on the board (its groups: {known})")


def draw_order(board: Board, cards: Mapping[str, Sequence[Card]], back_onto_draw: str) -> list[int]:
    """Order the draw squares so that each comes after those to which its cards lead.

    Parameters
    ----------
    cards : mapping of str to sequence of Card
        The cards that each deck can show.
    back_onto_draw : {"chain", "stop"}

    Raises
    ------
    ValueError
        If the cards can send a token round for ever; the message shows the way round.
    """
    order: list[int] = []
    path: list[int] = []

    def visit(square: int, deck: str) -> None:
        if square in path:
            way = " -> ".join(map(str, [*path[path.index(square) :], square]))
            raise ValueError(f"these cards can send a token round for ever: {way}")
        if square in order:
            return
        path.append(square)
        for card in cards[deck]:
            following = board.arrival(square, card)
            if draws_again(board, square, card, back_onto_draw):
                visit(following, deck_of(board, following))
        order.append(path.pop())

    for deck, squares in board.draws.items():
        for square in squares:
            visit(square, deck)
    return order


def draws_again(board: Board, square: int, card: Card, back_onto_draw: str) -> bool:
    """Return whether `card`, drawn on `square`, makes the token draw another card."""
    target = board.arrival(square, card)
    if target == square or target not in board.draw_squares:
        return False
    return back_onto_draw == "chain" or card.kind != "back"


def deck_of(board: Board, square: int) -> str:
    """Return the name of the deck from which `square` draws."""
    return next(name for name, squares in board.draws.items() if square in squares)


@dataclass(frozen=True)
class LandingLaw:
    """Where tokens end up that land on a draw square, for every combination of decks.

    Attributes
    ----------
    finals : tuple of int
        Squares on which a card can leave a token.
    law : ndarray of float64, shape (decks of the first name, decks of the second, ..., draw squares, finals + 1)
        Probability of each final square; the last column is the probability of jail.
    """

    finals: tuple[int, ...]
    law: NDArray[np.float64]


def landing_law(board: Board, decks: Mapping[str, Sequence[Deck]], back_onto_draw: str) -> LandingLaw:
    """Resolve the draw squares of `board` for all combinations of `decks` at once; see the module docstring.

    Parameters
    ----------
    decks : mapping of str to sequence of Deck
        For each deck name that the board may draw from, the decks to try; each name is one dimension of the result.
    back_onto_draw : {"chain", "stop"}

    Raises
    ------
    ValueError
        If cards can send a token round for ever.
    """
    cards = {name: tuple(sorted({card for deck in some for card, _ in deck.counts})) for name, some in decks.items()}
    order = draw_order(board, cards, back_onto_draw)
    finals = _finals(board, cards, back_onto_draw)
    column = {square: i for i, square in enumerate(finals)} | {JAIL: len(finals)}
    row = {square: i for i, square in enumerate(board.draw_squares)}
    probabilities = {name: _card_probabilities(some, cards[name]) for name, some in decks.items()}
    law = np.zeros((*(len(some) for some in decks.values()), len(row), len(column)))
    for square in order:
        name = deck_of(board, square)
        shape = [1] * len(decks)
        shape[list(decks).index(name)] = -1
        for card, probability in zip(cards[name], probabilities[name].T, strict=True):
            weight = probability.reshape(shape)
            target = board.arrival(square, card)
            if draws_again(board, square, card, back_onto_draw):
                law[..., row[square], :] += weight[..., None] * law[..., row[target], :]
            else:
                law[..., row[square], column[target]] += weight
    return LandingLaw(finals, law)


def _finals(board: Board, cards: Mapping[str, Sequence[Card]], back_onto_draw: str) -> tuple[int, ...]:
    reached = {
        board.arrival(square, card)
        for name, squares in board.draws.items()
        for square in squares
        for card in cards[name]
        if not draws_again(board, square, card, back_onto_draw)
    }
    return tuple(sorted(reached - {JAIL}))


def _card_probabilities(decks: Sequence[Deck], cards: Sequence[Card]) -> NDArray[np.float64]:
    column = {card: i for i, card in enumerate(cards)}
    probabilities = np.zeros((len(decks), len(cards)))
    for row, deck in enumerate(decks):
        size = deck.size
        for card, count in deck.counts:
            probabilities[row, column[card]] = count / size
    return probabilities


def _describe_board(board: Board) -> str:
    return f"{board.size} squares"


BOARD = Document("boards", parse_board, plain_board, _describe_board)


def deck_document(name: str) -> Document:
    """Return the kind of a parameter that is the deck called `name` on the board, kept under that key in a deck file."""
    return Document("decks", parse_deck, plain_deck, str, key=name, vary=vary_deck, varied="cards")
