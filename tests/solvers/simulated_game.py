"""Two plain ways to the odds of decks that are drawn in order, for tests: games played with ordinary cards, and rationals.

Neither shares a table, a matrix or a random number with the solvers; both read the rules off :mod:`solvers.board`.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction

from solvers.board import JAIL, Board, Card, Deck, deck_of, draws_again
from solvers.dice import count_rolls
from solvers.exact import long_run


def cards_of(deck: Deck) -> list[Card]:
    return [card for card, count in deck.counts for _ in range(count)]


def play(
    board: Board,
    decks: Mapping[str, Deck],
    memory: str,
    *,
    dice: int,
    sides: int,
    limit: int,
    reset: bool,
    rolls: int,
    seed: int,
) -> Counter[int]:
    """Play one game with piles of cards and return how many rolls ended on each square."""
    chance = random.Random(seed)
    piles: dict[str, list[Card]] = {}
    laid: dict[str, list[Card]] = {name: [] for name in decks}
    for name, deck in decks.items():
        piles[name] = cards_of(deck)
        chance.shuffle(piles[name])
    square, doubles = board.start, 0
    ends: Counter[int] = Counter()
    for _ in range(rolls):
        faces = [chance.randint(1, sides) for _ in range(dice)]
        doubles = doubles + 1 if limit and dice > 1 and len(set(faces)) == 1 else 0
        if limit and doubles == limit:
            square, doubles = board.jail, 0
            ends[square] += 1
            continue
        square = (square + sum(faces)) % board.size
        jailed = square in board.go_to_jail
        drawing = square in board.draw_squares
        while drawing:
            name = deck_of(board, square)
            card = piles[name].pop(0)
            if memory == "cycle":
                piles[name].append(card)
            else:
                laid[name].append(card)
            if memory == "shuffled" or not piles[name]:
                piles[name] += laid[name]
                laid[name] = []
                chance.shuffle(piles[name])
            drawing = draws_again(board, square, card, "chain")
            target = board.arrival(square, card)
            jailed = target == JAIL
            square = square if jailed else target
        if jailed:
            square = board.jail
            doubles = 0 if reset else doubles
        ends[square] += 1
    return ends


Place = tuple[int, int, int, int]
"""Square, doubles, and the position in the chest and the chance deck."""


def exact_cycle(
    board: Board, chest: tuple[Card, ...], chance: tuple[Card, ...], *, dice: int, sides: int, limit: int, reset: bool
) -> list[Fraction]:
    """Return the exact long-run odds for one order of each deck, from the whole chain, state by state."""
    piles = {"chest": chest, "chance": chance}
    counts = count_rolls(dice, sides)
    rolls = [
        (t, Fraction(n, counts.rolls), eq)
        for eq, law in ((False, counts.single), (True, counts.double))
        for t, n in enumerate(law)
        if n
    ]

    def ends(square: int, doubles: int, at: dict[str, int]) -> Place:
        if square in board.go_to_jail:
            return board.jail, 0 if reset else doubles, at["chest"], at["chance"]
        if square not in board.draw_squares:
            return square, doubles, at["chest"], at["chance"]
        name = deck_of(board, square)
        card = piles[name][at[name]]
        at = {**at, name: (at[name] + 1) % len(piles[name])}
        target = board.arrival(square, card)
        if target == JAIL:
            return board.jail, 0 if reset else doubles, at["chest"], at["chance"]
        if draws_again(board, square, card, "chain"):
            return ends(target, doubles, at)
        return target, doubles, at["chest"], at["chance"]

    def steps(place: Place) -> Iterator[tuple[Place, Fraction]]:
        square, doubles, i, j = place
        for total, weight, equal in rolls:
            counter = doubles + 1 if equal and limit else 0
            if limit and counter == limit:
                yield (board.jail, 0, i, j), weight
            else:
                yield ends((square + total) % board.size, counter, {"chest": i, "chance": j}), weight

    chain: dict[Place, dict[Place, Fraction]] = {}
    waiting = [(board.start, 0, 0, 0)]
    while waiting:
        place = waiting.pop()
        if place in chain:
            continue
        chain[place] = {}
        for following, weight in steps(place):
            chain[place][following] = chain[place].get(following, Fraction(0)) + weight
            waiting.append(following)
    odds = [Fraction(0)] * board.size
    for (square, *_), share in long_run(chain, (board.start, 0, 0, 0)).items():  # type: ignore[arg-type]
        odds[square] += share
    return odds


def all_orders(deck: Deck) -> list[tuple[Card, ...]]:
    """Return every order of a deck, equal cards told apart, so that each is as likely."""
    return list(itertools.permutations(cards_of(deck)))
