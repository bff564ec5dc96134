"""Games played roll by roll in compiled code, from tables and one random stream each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from solvers.compiled import compiled
from solvers.philox import Stream, below, high_half, next_word, stream
from solvers.simulation_tables import Tables

SHUFFLED, CYCLE, EXHAUST = range(3)
MEMORIES = {"shuffled": SHUFFLED, "cycle": CYCLE, "exhaust": EXHAUST}
"""What a deck remembers: nothing (reshuffled at each draw), its order for ever, or its order until it is used up."""

BUFFER = 1024
"""Rolls made at a time, before they are played."""

PIECE = 2**14
"""Buffers played between two looks at the outside world: about a tenth of a second."""


@compiled
def shuffle(state: Stream, pile: NDArray[np.uint16], size: int) -> None:
    """Put the first `size` cards of `pile` in random order, each exactly as likely (R. Durstenfeld, CACM 7 (1964) 420)."""
    for last in range(size - 1, 0, -1):
        chosen = below(state, np.uint64(last + 1))
        pile[last], pile[chosen] = pile[chosen], pile[last]


@compiled
def roll_directly(state: Stream, steps: NDArray[np.uint16], step: NDArray[np.uint16], digits: int, spoiled: np.uint64) -> None:
    """Fill `steps`, a multiple of `digits` long, from a direct table."""
    rolls = np.uint64(step.size)
    filled = 0
    while filled < steps.size:
        word = next_word(state)
        for place in range(filled, filled + digits):
            steps[place] = step[high_half(word, rolls)]
            word *= rolls
        if word >= spoiled:
            filled += digits


@compiled
def roll_by_alias(
    state: Stream,
    steps: NDArray[np.uint16],
    step: NDArray[np.uint16],
    other: NDArray[np.uint16],
    threshold: NDArray[np.uint64],
) -> None:
    """Fill `steps` from an alias table."""
    columns = np.uint64(step.size)
    for place in range(steps.size):
        word = next_word(state)
        column = high_half(word, columns)
        steps[place] = step[column] if word * columns < threshold[column] else other[column]


@compiled
def walk(
    state: Stream,
    token: np.uint64,
    steps: NDArray[np.uint16],
    following: NDArray[np.uint16],
    shift: np.uint64,
    states: np.uint64,
    follows: NDArray[np.uint16],
    deck: NDArray[np.uint8],
    piles: NDArray[np.uint16],
    sizes: NDArray[np.int64],
    at: NDArray[np.int64],
    memory: int,
    counts: NDArray[np.int64],
) -> np.uint64:
    """Move the token by each of `steps`, count the states that it comes to, and return the last."""
    for roll in range(steps.size):
        token = np.uint64(following[(token << shift) | np.uint64(steps[roll])])
        while token >= states:
            event = token - states
            pile = deck[event]
            if memory == SHUFFLED:
                card = piles[pile, below(state, np.uint64(sizes[pile]))]
            else:
                top = at[pile]
                card = piles[pile, top]
                top += 1
                if top == sizes[pile]:
                    top = 0
                    if memory == EXHAUST:
                        shuffle(state, piles[pile], sizes[pile])
                at[pile] = top
            token = np.uint64(follows[event, card])
        counts[token] += 1
    return token


@compiled
def play(
    state: Stream,
    token: np.uint64,
    rolls: int,
    buffer: NDArray[np.uint16],
    step: NDArray[np.uint16],
    other: NDArray[np.uint16],
    threshold: NDArray[np.uint64],
    digits: int,
    spoiled: np.uint64,
    following: NDArray[np.uint16],
    shift: np.uint64,
    states: np.uint64,
    follows: NDArray[np.uint16],
    deck: NDArray[np.uint8],
    piles: NDArray[np.uint16],
    sizes: NDArray[np.int64],
    at: NDArray[np.int64],
    memory: int,
    counts: NDArray[np.int64],
) -> np.uint64:
    """Roll and move `rolls` times from `token`, and return the last state; see :class:`Game`."""
    while rolls > 0:
        if other.size:
            roll_by_alias(state, buffer, step, other, threshold)
        else:
            roll_directly(state, buffer, step, digits, spoiled)
        steps = buffer[: min(rolls, buffer.size)]
        token = walk(state, token, steps, following, shift, states, follows, deck, piles, sizes, at, memory, counts)
        rolls -= steps.size
    return token


class Game:
    """One game, with its own stream and its own order of the decks.

    Parameters
    ----------
    tables : Tables
    memory : {"shuffled", "cycle", "exhaust"}
    seed : numpy.random.SeedSequence
    """

    def __init__(self, tables: Tables, memory: str, seed: np.random.SeedSequence) -> None:
        self.tables = tables
        self.memory = MEMORIES[memory]
        self.stream = stream(seed)
        self.token = np.uint64(tables.start)
        piles = tables.cards.piles
        self.sizes = np.array([pile.size for pile in piles], np.int64)
        self.piles = np.zeros((len(piles), max(self.sizes, default=0)), np.uint16)
        self.at = np.zeros(len(piles), np.int64)
        for row, pile in zip(self.piles, piles, strict=True):
            row[: pile.size] = pile
            if self.memory != SHUFFLED:
                shuffle(self.stream, row, pile.size)
        digits = tables.dice.digits
        self.buffer = np.empty(max(BUFFER // digits, 1) * digits, np.uint16)

    def play(self, rolls: int, counts: NDArray[np.int64], watch: Callable[[int], None] | None = None) -> None:
        """Play on for `rolls` rolls.

        Parameters
        ----------
        counts : ndarray of int64, shape (states,)
            How often each state was the end of a roll; added to.
        watch : callable, optional
            Called now and then with the number of rolls played since the last call.
        """
        tables, dice, cards = self.tables, self.tables.dice, self.tables.cards
        while rolls > 0:
            # A whole number of buffers, so that where a game is looked at does not change it.
            some = min(rolls, PIECE * self.buffer.size)
            self.token = np.uint64(
                play(
                    self.stream,
                    self.token,
                    some,
                    self.buffer,
                    dice.step,
                    dice.other,
                    dice.threshold,
                    dice.digits,
                    np.uint64(dice.spoiled),
                    tables.following,
                    np.uint64(tables.shift),
                    np.uint64(tables.states),
                    cards.follows,
                    cards.deck,
                    self.piles,
                    self.sizes,
                    self.at,
                    self.memory,
                    counts,
                )
            )
            rolls -= some
            if watch:
                watch(some)
