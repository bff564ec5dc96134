"""The rules that long-run studies of a token on a board share: their parameters, what fits together, and their labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from solvers.board import BOARD, Board, deck_document
from solvers.decks import check_chains, check_decks, own_deck
from solvers.study import Choice, Coordinate, Integer, Parameter, ParameterError, Values


@dataclass(frozen=True)
class Rules:
    """Everything that the chain depends on but the decks."""

    board: Board
    dice: int
    sides: int
    doubles_limit: int
    doubles_after_jail: str

    @property
    def counters(self) -> int:
        """Number of values that the doubles counter takes."""
        return max(self.doubles_limit, 1)


PARAMETERS = (
    Parameter("board", BOARD, "the squares, and what they do", default="monopoly"),
    Parameter("dice", Integer(1, 100), "number of dice rolled together", default=2),
    Parameter("sides", Integer(1, 10_000), "sides of each die", default=6),
    Parameter("doubles_limit", Integer(0, 20), "this many doubles in a row go to jail; 0 = no such rule", default=3),
    Parameter(
        "doubles_after_jail",
        Choice(("keep", "reset")),
        "doubles counter after jail by square or card",
        default="keep",
    ),
    Parameter(
        "back_onto_draw",
        Choice(("chain", "stop")),
        "whether a back-n card onto a draw square draws another card",
        default="chain",
    ),
    Parameter("chest", deck_document("chest"), "deck of the chest squares", default=own_deck("chest"), shared=True),
    Parameter("chance", deck_document("chance"), "deck of the chance squares", default=own_deck("chance"), shared=True),
)
"""Everything that a long-run study can be asked about, but how it works it out."""


def check_rules(values: Values) -> None:
    """Raise ParameterError for decks that do not fit the boards, and for cards that can send a token round for ever."""
    check_decks(values)
    check_chains(values, values["back_onto_draw"])


def coordinates(values: Values) -> Mapping[str, Coordinate]:
    """Label the squares and the ranks."""
    sizes = sorted({board.size for board in values["board"]})
    if len(sizes) > 1:
        raise ParameterError("board", f"boards of different sizes ({sizes[0]} and {sizes[-1]}) cannot share one dataset")
    found = {
        "square": Coordinate(("square",), np.arange(sizes[0], dtype=np.int16), "square, counted from the start"),
        "rank": Coordinate(("rank",), np.arange(1, sizes[0] + 1, dtype=np.int16), "rank, 1 = most probable"),
    }
    if len({board.names for board in values["board"]}) == 1:
        names = np.array(values["board"][0].names, dtype=object)
        found["square_name"] = Coordinate(("square",), names, "name of the square")
    return found
