"""Stationary odds in rationals, by playing the rules out state by state.

An independent way to the numbers of :mod:`solvers.stationary`: no matrix of that module is used, no law is folded or shared.
From the start state every roll and every card is followed with its exact probability; the states found form the chain, its
closed class is looked for by reachability, and the linear system  pi (P - I) = 0,  sum pi = 1  is solved over the rationals.
It serves to certify floating-point answers, at some hundredths of a second a point on the standard board.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import flint

from solvers.board import JAIL, Board, Deck
from solvers.dice import count_rolls

State: TypeAlias = tuple[int, int]
"""A square and the number of doubles in a row that led there."""


@dataclass(frozen=True)
class Game:
    """The rules of one point, with the parameters of the study ``stationary``."""

    board: Board
    dice: int
    sides: int
    decks: Mapping[str, Deck]
    doubles_limit: int
    doubles_after_jail: str
    back_onto_draw: str

    def landings(self, square: int, weight: Fraction, *, draws: bool = True) -> Iterator[tuple[int, Fraction]]:
        """Yield where a landing ends, or JAIL, with the probability `weight` shared out."""
        deck = next((self.decks[name] for name, squares in self.board.draws.items() if square in squares), None)
        if square in self.board.go_to_jail:
            yield JAIL, weight
        elif deck is None or not draws:
            yield square, weight
        else:
            for card, count in deck.counts:
                share = weight * Fraction(count, deck.size)
                target = self.board.arrival(square, card)
                if target in (JAIL, square):
                    yield target, share
                else:
                    yield from self.landings(target, share, draws=card.kind != "back" or self.back_onto_draw == "chain")

    def roll(self, state: State, total: int, weight: Fraction, *, equal: bool) -> Iterator[tuple[State, Fraction]]:
        """Yield where one roll leads from a state."""
        square, doubles = state
        counter = doubles + 1 if equal and self.doubles_limit else 0
        if self.doubles_limit and counter == self.doubles_limit:
            yield (self.board.jail, 0), weight
            return
        jailed = 0 if self.doubles_after_jail == "reset" else counter
        for target, share in self.landings((square + total) % self.board.size, weight):
            yield (self.board.jail, jailed) if target == JAIL else (target, counter), share

    def chain(self) -> dict[State, dict[State, Fraction]]:
        """Return each state that can be reached from the start, with the states that can follow it."""
        counts = count_rolls(self.dice, self.sides)
        rolls = [
            (total, Fraction(count, counts.rolls), equal)
            for equal, law in ((False, counts.single), (True, counts.double))
            for total, count in enumerate(law)
            if count
        ]
        chain: dict[State, dict[State, Fraction]] = {}
        waiting: list[State] = [(self.board.start, 0)]
        while waiting:
            state = waiting.pop()
            if state in chain:
                continue
            following: dict[State, Fraction] = defaultdict(Fraction)
            for total, weight, equal in rolls:
                for target, share in self.roll(state, total, weight, equal=equal):
                    following[target] += share
            chain[state] = dict(following)
            waiting.extend(following)
        return chain


def long_run(chain: Mapping[State, Mapping[State, Fraction]], start: State) -> dict[State, Fraction]:
    """Return the long-run fraction of steps in each state of the closed class that is reached from `start`.

    Raises
    ------
    ValueError
        If more than one closed class can be reached.
    """
    reach = {state: _reachable(chain, state) for state in chain}
    closed = {
        frozenset(ahead) for state, ahead in reach.items() if state in reach[start] and all(state in reach[s] for s in ahead)
    }
    if len(closed) > 1:
        raise ValueError("more than one closed class can be reached")
    states = sorted(closed.pop())
    n = len(states)
    system = flint.fmpq_mat(n, n)
    for j, source in enumerate(states):
        system[j, j] = flint.fmpq(-1)
        for target, probability in chain[source].items():
            i = states.index(target)
            system[i, j] += flint.fmpq(probability.numerator, probability.denominator)
    right = flint.fmpq_mat(n, 1)
    # The balance equations add up to zero, so the last one is spared for the normalisation.
    for j in range(n):
        system[n - 1, j] = flint.fmpq(1)
    right[n - 1, 0] = flint.fmpq(1)
    solution = system.solve(right)
    return {state: Fraction(int(solution[i, 0].p), int(solution[i, 0].q)) for i, state in enumerate(states)}


def _reachable(chain: Mapping[State, Mapping[State, Fraction]], start: State) -> set[State]:
    seen, waiting = {start}, [start]
    while waiting:
        for following in chain[waiting.pop()]:
            if following not in seen:
                seen.add(following)
                waiting.append(following)
    return seen


def exact_probability(
    board: Board,
    dice: int = 2,
    sides: int = 6,
    *,
    chest: Deck,
    chance: Deck,
    doubles_limit: int = 3,
    doubles_after_jail: str = "keep",
    back_onto_draw: str = "chain",
) -> list[Fraction]:
    """Return the exact long-run probability of each square at the end of a roll; the parameters of the study ``stationary``."""
    decks = {"chest": chest, "chance": chance}
    chain = Game(board, dice, sides, decks, doubles_limit, doubles_after_jail, back_onto_draw).chain()
    probability = [Fraction(0)] * board.size
    for (square, _), share in long_run(chain, (board.start, 0)).items():
        probability[square] += share
    return probability
