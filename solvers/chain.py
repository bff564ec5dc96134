"""The chain of a token on a board of dice, draw squares and a jail, split by whether a roll draws a card.

A state is (square q, consecutive doubles c) at the end of a roll; with a limit of L doubles there are L counters (one if there
is no limit) and n = N * L states on a board of N squares.  One roll is

    P = Q + H W,

Q (n x n) holds the rolls that draw none: moves round the circle, landings on a go-to-jail square and the L-th doubles; H
(n x m) the rolls that land on a draw square, an *event* (draw square s, counter after the roll); and W (m x n) where the
cards of that event leave the token.  Q and H depend on board, dice and rules alone; only W depends on the decks.

Where the decks are drawn in order, W is not a matrix but a table: each card leads from an event to a state, or to another event
where it makes the token draw again.  States and events are numbered together for that, the events after the n states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solvers.board import JAIL, Deck, deck_of, draws_again
from solvers.compiled import compiled
from solvers.dice import dice_law, wrap
from solvers.rules import Rules

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Kernel:
    """The part of the chain that no deck changes.

    Attributes
    ----------
    quiet : ndarray of float64, shape (n, n)
        Q: rolls that draw no card.  State (q, c) has index c * N + q.
    draw : ndarray of float64, shape (n, m)
        H: rolls that draw one.  Event (i-th draw square, c) has index c * squares + i.
    """

    quiet: Array
    draw: Array


def kernel(rules: Rules) -> Kernel:
    """Build Q and H for one set of rules."""
    board, size, counters = rules.board, rules.board.size, rules.counters
    law = dice_law(rules.dice, rules.sides)
    single, double = _circulant(law.single, size), _circulant(law.double, size)
    quiet = np.zeros((counters, size, counters, size))
    draw = np.zeros((counters, size, counters, len(board.draw_squares)))

    def move(source: int, step: Array, counter: int) -> None:
        plain = step.copy()
        plain[:, [*board.go_to_jail, *board.draw_squares]] = 0
        quiet[source, :, counter, :] += plain
        jailed = 0 if rules.doubles_after_jail == "reset" else counter
        quiet[source, :, jailed, board.jail] += step[:, list(board.go_to_jail)].sum(axis=1)
        draw[source, :, counter, :] += step[:, list(board.draw_squares)]

    for source in range(counters):
        if rules.doubles_limit == 0:
            move(source, single + double, 0)
            continue
        move(source, single, 0)
        if source + 1 < counters:
            move(source, double, source + 1)
        else:
            quiet[source, :, 0, board.jail] += law.double.sum()
    n = counters * size
    return Kernel(quiet.reshape(n, n), draw.reshape(n, -1))


def _circulant(law: Array, size: int) -> Array:
    start = np.arange(size)
    circulant: Array = wrap(law, size)[(start[None, :] - start[:, None]) % size]
    return circulant


def card_targets(rules: Rules, finals: Sequence[int]) -> NDArray[np.intp]:
    """Return the state in which each column of a landing law leaves the token; shape (counters, finals + 1)."""
    size = rules.board.size
    targets = np.array([[c * size + square for square in (*finals, rules.board.jail)] for c in range(rules.counters)])
    if rules.doubles_after_jail == "reset":
        targets[:, -1] = rules.board.jail
    return targets


@compiled
def _reach(edges: NDArray[np.bool_], start: int) -> NDArray[np.bool_]:
    """Return the states that can be reached from `start`, itself included."""
    n = edges.shape[0]
    seen = np.zeros(n, np.bool_)
    stack = np.empty(n, np.int64)
    seen[start] = True
    stack[0] = start
    top = 1
    while top:
        top -= 1
        state = stack[top]
        for following in range(n):
            if edges[state, following] and not seen[following]:
                seen[following] = True
                stack[top] = following
                top += 1
    return seen


def recurrent_class(forward: NDArray[np.bool_], start: int) -> NDArray[np.bool_]:
    """Return the one closed class that can be reached from `start`.

    Parameters
    ----------
    forward : ndarray of bool, shape (k, k)
        Which node can follow which in one step.

    Returns
    -------
    ndarray of bool, shape (k,)

    Raises
    ------
    ValueError
        If more than one closed class can be reached, so that the long run depends on chance.
    """
    backward = np.ascontiguousarray(forward.T)
    state = start
    reached = ahead = _reach(forward, start)
    while (beyond := ahead & ~(behind := _reach(backward, state))).any():
        state = int(np.argmax(beyond))
        ahead = _reach(forward, state)
    if (reached & ~behind).any():
        raise ValueError("the token can end up in more than one closed set of squares: the long-run odds depend on chance")
    return ahead


@dataclass(frozen=True)
class Cards:
    """Where single cards lead.

    Attributes
    ----------
    follows : ndarray of uint16, shape (m, kinds)
        What each kind of card of the event's own deck makes of an event: a state, or n plus another event.
    deck : ndarray of uint8, shape (m,)
        From which deck each event draws, in the order of the board.
    piles : tuple of ndarray of uint16
        For each deck of the board, the kind of each card, sorted.
    """

    follows: NDArray[np.uint16]
    deck: NDArray[np.uint8]
    piles: tuple[NDArray[np.uint16], ...]


def card_table(rules: Rules, decks: Mapping[str, Deck], back_onto_draw: str) -> Cards:
    """Look up where each card leads from each event; `decks` by name, those that the board does not draw from left aside."""
    board, size = rules.board, rules.board.size
    column = {square: i for i, square in enumerate(board.draw_squares)}
    names = [name for name in board.draws if board.draws[name]]
    kinds = max((len(decks[name].counts) for name in names), default=0)
    follows = np.zeros((rules.counters, len(column), kinds), np.uint16)
    deck = np.zeros((rules.counters, len(column)), np.uint8)
    for square, i in column.items():
        name = deck_of(board, square)
        deck[:, i] = names.index(name)
        for kind, (card, _) in enumerate(decks[name].counts):
            target = board.arrival(square, card)
            for counter in range(rules.counters):
                if target == JAIL:
                    jailed = 0 if rules.doubles_after_jail == "reset" else counter
                    follows[counter, i, kind] = jailed * size + board.jail
                elif draws_again(board, square, card, back_onto_draw):
                    follows[counter, i, kind] = rules.counters * size + counter * len(column) + column[target]
                else:
                    follows[counter, i, kind] = counter * size + target
    piles = tuple(
        np.repeat(np.arange(len(decks[name].counts), dtype=np.uint16), [count for _, count in decks[name].counts])
        for name in names
    )
    return Cards(follows.reshape(rules.counters * len(column), kinds), deck.ravel(), piles)
