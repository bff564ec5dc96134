"""The deck parameters that studies on a board share: which deck a board has of its own, and whether decks fit the boards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from solvers.board import Card, check_deck, draw_order
from solvers.study import ParameterError, Values

DECKS = ("chest", "chance")
"""Names of the decks that a study can be given."""


def own_deck(name: str) -> Callable[[Values], Any]:
    """Return the default of the deck parameter `name`: the deck that the boards call their own, or one that does nothing."""

    def default(values: Values) -> Any:
        own = {board.decks.get(name) for board in values["board"] if name in board.draws}
        if len(own) > 1:
            raise ParameterError(name, f"the boards have different {name} decks of their own: say which to use")
        if None in own:
            raise ParameterError(name, f"the board draws from a {name} deck but names none of its own: say which to use")
        return own.pop() if own else {"name": "none", "cards": {"stay": 1}}

    return default


def check_decks(values: Values) -> None:
    """Raise ParameterError if a board draws from a deck that studies do not know, or a card leads where a board has nothing."""
    for board in values["board"]:
        if strange := sorted(set(board.draws) - set(DECKS)):
            raise ParameterError("board", f"squares draw from a deck {strange[0]!r}; the decks are {' and '.join(DECKS)}")
        for name in DECKS:
            for deck in values[name] if name in board.draws else ():
                with blaming(name):
                    check_deck(board, deck)


def check_chains(values: Values, back_onto_draw: Sequence[str]) -> None:
    """Raise ParameterError, naming a deck, if cards can send a token round between draw squares for ever."""
    for board in values["board"]:
        last = [name for name in DECKS if name in board.draws][-1:]
        for cards in _card_sets(values) if last else ():
            for rule in back_onto_draw:
                with blaming(last[0]):
                    draw_order(board, cards, rule)


def _card_sets(values: Values) -> Iterator[Mapping[str, Sequence[Card]]]:
    """Yield each distinct combination of the cards that can be drawn, by the name of the deck."""
    chest, chance = (sorted({tuple(card for card, _ in deck.counts) for deck in values[name]}) for name in DECKS)
    for first in chest:
        for second in chance:
            yield {"chest": first, "chance": second}


@contextmanager
def blaming(parameter: str) -> Iterator[None]:
    """Turn a ValueError about a value into one about the parameter that holds it."""
    try:
        yield
    except ValueError as error:
        raise ParameterError(parameter, str(error)) from error
