"""Long-run square odds of a token on a board of dice, decks and a jail.

The chain.  A state is (square q, consecutive doubles c) at the end of a roll; with a limit of L doubles there are L counters
(one if there is no limit) and n = N * L states on a board of N squares.  One roll is split by whether it draws a card:

    P = Q + H W,

Q (n x n) holds the rolls that draw none: moves round the circle, landings on a go-to-jail square and the L-th doubles; H
(n x m) the rolls that land on a draw square, an *event* (draw square s, counter after the roll); and W (m x n) where the
cards of that event leave the token, known from :func:`solvers.board.landing_law`.  Q and H depend on board, dice and rules
alone; only W depends on the decks.

The solution.  Let w = pi H be the rates of the events.  From pi = pi Q + w W,

    pi = w W (I - Q)^-1,        w = w T,    T = W K,    K = (I - Q)^-1 H,

so w is the stationary vector of T, the chain watched only when it draws a card (its stochastic complement; C. D. Meyer,
SIAM Review 31 (1989) 240).  On the standard board T is 18 x 18 where P is 120 x 120, and (I - Q)^-1 and K are worked out once
for all decks.  w comes from the elimination of Grassmann, Taksar and Heyman (Operations Research 33 (1985) 1107).  Every
number in it is nonnegative and nothing is subtracted but in I - Q, whose inverse is well conditioned because a card is drawn
every few rolls; so the error does not grow with the number of sides, and no second method is needed for large dice.

Which states.  The answer is the long-run fraction of rolls, from the start square, which exists for periodic chains too.  It
is unique if and only if just one closed class can be reached from the start; all of the above is done within that class, and
every other state gets exactly zero.

Deck memory.  All of this is for decks that are reshuffled at each draw.  With ``deck_memory: cycle`` they are shuffled once and
drawn in order for ever; the answer is the mean over random orders, each solved exactly by :mod:`solvers.deck_cycle`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from solvers.board import Board, Card, Deck, LandingLaw, landing_law
from solvers.chain import Kernel, card_targets, kernel, recurrent_class
from solvers.compiled import compiled
from solvers.deck_cycle import MOST_NODES, CycleSolver, solve_orders
from solvers.decks import DECKS
from solvers.exact import exact_probability
from solvers.memories import remarks
from solvers.ranking import TIE, ranks
from solvers.rules import PARAMETERS, Rules, check_rules, coordinates
from solvers.study import (
    Choice,
    Grid,
    Headline,
    Integer,
    Law,
    Parameter,
    ParameterError,
    Results,
    Study,
    Values,
    Variable,
)

Array = NDArray[np.float64]

BATCH = 128
"""Decks solved at a time; their matrices stay in the second-level cache."""


@compiled
def _stationary(chain: Array, rates: Array) -> None:
    """Write the stationary vector of each irreducible matrix of `chain` (d, m, m), which is used up, to `rates` (d, m)."""
    m = chain.shape[1]
    for d in range(chain.shape[0]):
        a = chain[d]
        for k in range(m - 1, 0, -1):
            total = 0.0
            for j in range(k):
                total += a[k, j]
            scale = 1.0 / total
            for i in range(k):
                a[i, k] *= scale
            for i in range(k):
                factor = a[i, k]
                for j in range(k):
                    a[i, j] += factor * a[k, j]
        rates[d, 0] = 1.0
        total = 1.0
        for k in range(1, m):
            flow = 0.0
            for i in range(k):
                flow += rates[d, i] * a[i, k]
            rates[d, k] = flow
            total += flow
        for k in range(m):
            rates[d, k] /= total


@compiled
def _place(rates: Array, law: Array, placed: Array) -> None:
    """Spread event rates (d, counters * squares) over the columns of the landing law: `placed` (d, counters, columns)."""
    decks, counters, columns = placed.shape
    squares = law.shape[1]
    for d in range(decks):
        for c in range(counters):
            for f in range(columns):
                placed[d, c, f] = 0.0
            for i in range(squares):
                rate = rates[d, c * squares + i]
                for f in range(columns):
                    placed[d, c, f] += rate * law[d, i, f]


@compiled
def _residual(pi: Array, quiet: Array, rates: Array, law: Array, targets: NDArray[np.intp], residual: Array) -> None:
    """Finish one step of each chain, from pi Q and pi H, in place in `quiet`, and write its distance from pi."""
    counters, columns = targets.shape
    squares = law.shape[1]
    for d in range(len(pi)):
        for c in range(counters):
            for i in range(squares):
                rate = rates[d, c * squares + i]
                for f in range(columns):
                    quiet[d, targets[c, f]] += rate * law[d, i, f]
        total = 0.0
        for state in range(pi.shape[1]):
            total += abs(quiet[d, state] - pi[d, state])
        residual[d] = total


@dataclass(frozen=True)
class DeckLaws:
    """Landing laws of many decks, and which of them have the same closed classes.

    Attributes
    ----------
    landing : LandingLaw
        Its law has shape (d, draw squares, finals + 1).
    patterns : tuple of ndarray of int
        Decks grouped by which cards they hold, and so by which entries of their law are positive.
    """

    landing: LandingLaw
    patterns: tuple[NDArray[np.intp], ...]

    @classmethod
    def resolve(cls, board: Board, decks: Mapping[str, Sequence[Deck]], back_onto_draw: str) -> DeckLaws:
        """Resolve all combinations of decks, those of the last name fastest."""
        landing = landing_law(board, decks, back_onto_draw)
        shape = landing.law.shape[:-2]
        law = landing.law.reshape(math.prod(shape), *landing.law.shape[-2:])
        groups = [_by_cards(some) for some in decks.values()]
        patterns = tuple(np.ravel_multi_index(np.ix_(*some), shape).ravel() for some in itertools.product(*groups))
        return cls(LandingLaw(landing.finals, law), patterns)


def _by_cards(decks: Sequence[Deck]) -> list[NDArray[np.intp]]:
    groups: dict[tuple[Card, ...], list[int]] = {}
    for i, deck in enumerate(decks):
        groups.setdefault(tuple(card for card, _ in deck.counts), []).append(i)
    return [np.array(members) for members in groups.values()]


def solve_decks(rules: Rules, decks: DeckLaws) -> tuple[Array, Array]:
    """Solve the chain of one set of rules for many decks.

    Returns
    -------
    probability : ndarray of float64, shape (d, N)
        Long-run probability of each square.
    residual : ndarray of float64, shape (d,)
        1-norm of pi P - pi over all n states.

    Raises
    ------
    ValueError
        If the long run of some deck depends on chance.
    """
    base, law = kernel(rules), decks.landing.law
    n = len(base.quiet)
    targets = card_targets(rules, decks.landing.finals)
    spread = np.zeros((*targets.shape, n))
    spread[(*np.indices(targets.shape), targets)] = 1
    members: dict[bytes, list[NDArray[np.intp]]] = {}
    follows = np.zeros((n + base.draw.shape[1],) * 2, np.bool_)
    follows[:n, :n], follows[:n, n:] = base.quiet > 0, base.draw > 0
    for pattern in decks.patterns:
        follows[n:, :n] = ((law[pattern[0]] > 0) @ spread).reshape(-1, n) > 0
        members.setdefault(recurrent_class(follows, rules.board.start).tobytes(), []).append(pattern)
    probability, residual = np.empty((len(law), rules.board.size)), np.empty(len(law))
    for inside, some in members.items():
        solver = _ClassSolver(base, targets, np.frombuffer(inside, np.bool_))
        for batch in _batches(np.concatenate(some)):
            batch_law = np.ascontiguousarray(law[batch])
            pi = solver.solve(batch_law)
            probability[batch] = pi.reshape(len(batch), rules.counters, -1).sum(axis=1)
            after = np.empty(len(batch))
            _residual(pi, pi @ base.quiet, pi @ base.draw, batch_law, targets, after)
            residual[batch] = after
    return probability, residual


def _batches(decks: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    decks = np.sort(decks)
    return [decks[first : first + BATCH] for first in range(0, len(decks), BATCH)]


class _ClassSolver:
    """Solves within one closed class of states and events, a mask over the former and then the latter."""

    def __init__(self, base: Kernel, targets: NDArray[np.intp], inside: NDArray[np.bool_]) -> None:
        self.n = len(base.quiet)
        self.targets = targets
        states, self.events = np.flatnonzero(inside[: self.n]), np.flatnonzero(inside[self.n :])
        self.pi: Array | None = None
        quiet = base.quiet[np.ix_(states, states)]
        if not self.events.size:
            rates = np.empty((1, len(states)))
            _stationary(quiet[None].copy(), rates)
            self.pi = np.zeros(self.n)
            self.pi[states] = rates[0]
            return
        # Only the rows of (I - Q)^-1 from which cards send a token on are needed.
        sources, row = np.unique(targets, return_inverse=True)
        rows = np.flatnonzero(inside[sources])
        starts = (states[:, None] == sources[rows]).astype(float)
        visits = np.zeros((len(sources), self.n))
        visits[np.ix_(rows, states)] = np.linalg.solve((np.eye(len(states)) - quiet).T, starts).T.clip(min=0)
        self.visits = visits[row.ravel()]
        self.drawn = (visits @ base.draw[:, self.events])[row.reshape(targets.shape)]

    def solve(self, law: Array) -> Array:
        """Return the stationary distributions (d, n) for landing laws (d, draw squares, columns)."""
        if self.pi is not None:
            return np.broadcast_to(self.pi, (len(law), self.n))
        decks, squares, columns = law.shape
        rows = law.reshape(-1, columns)
        chain = np.empty((decks, len(self.drawn), squares, self.events.size))
        for c, drawn in enumerate(self.drawn):
            chain[:, c] = (rows @ drawn).reshape(decks, squares, -1)
        square = chain.reshape(decks, -1, self.events.size)
        if square.shape[1] != self.events.size:
            square = np.ascontiguousarray(square[:, self.events])
        some = np.empty((decks, self.events.size))
        _stationary(square, some)
        rates = np.zeros((decks, self.targets.shape[0] * squares))
        rates[:, self.events] = some
        placed = np.empty((decks, *self.targets.shape))
        _place(rates, law, placed)
        pi = placed.reshape(decks, -1) @ self.visits
        pi /= pi.sum(axis=1, keepdims=True)
        return pi


def solve(grid: Grid) -> Results:
    """Answer a grid of points; with reshuffled decks these share all the work that does not depend on them."""
    parts = []
    for index, chosen in grid.over("deck_memory"):
        part = _without_memory(grid, index)
        parts.append((index, _solve_in_order(part) if chosen.get("deck_memory") == "cycle" else _solve_shuffled(part)))
    if len(parts) == 1:
        return {name: answer.reshape((*grid.shape, *answer.shape[len(part.shape) :])) for name, answer in parts[0][1].items()}
    results: dict[str, NDArray[Any]] = {}
    for name, first in parts[0][1].items():
        results[name] = np.empty((*grid.shape, *first.shape[len(part.shape) :]), first.dtype)
        for index, answer in parts:
            results[name][index] = answer[name]
    return results


def _without_memory(grid: Grid, index: tuple[int | slice, ...]) -> Grid:
    """Return the part of a grid at an index that is whole numbers along ``deck_memory`` alone, with seeds as in the whole."""
    if "deck_memory" not in grid.axes:
        return grid
    place = list(grid.axes).index("deck_memory")
    chosen = cast("int", index[place])

    def seed(at: tuple[int, ...]) -> np.random.SeedSequence:
        return grid.seed((*at[:place], chosen, *at[place:]))

    axes = {name: values for name, values in grid.axes.items() if name != "deck_memory"}
    return Grid(axes, grid.fixed, seed, grid.sizes, grid.progress)


def _solve_shuffled(grid: Grid) -> Results:
    rules_names = [p.name for p in PARAMETERS if p.name not in DECKS]
    decks = {name: tuple(grid.axes.get(name, (grid.fixed.get(name),))) for name in DECKS}
    inner = tuple(len(decks[name]) for name in decks if name in grid.axes)
    laws: dict[tuple[int, str], DeckLaws] = {}
    answers: list[tuple[tuple[int | slice, ...], dict[str, NDArray[Any]]]] = []
    for index, chosen in grid.over(*rules_names, "orders"):
        chosen.pop("orders", None)
        back_onto_draw = chosen.pop("back_onto_draw")
        rules = Rules(**chosen)
        key = (id(rules.board), back_onto_draw)
        if key not in laws:
            laws[key] = DeckLaws.resolve(rules.board, decks, back_onto_draw)
        probability, residual = solve_decks(rules, laws[key])
        answers.append((index, _answer(probability, residual)))
    return _assembled(grid.shape, inner, answers)


def _answer(probability: Array, residual: Array) -> dict[str, NDArray[Any]]:
    ranking, gap, modal = ranks(probability)
    none = np.broadcast_to(np.nan, probability.shape)
    return {
        "probability": probability,
        "ranking": ranking,
        "modal": modal,
        "rank_gap": gap,
        "residual": residual,
        "standard_error": none,
        "order_spread": none,
    }


def _solve_in_order(grid: Grid) -> Results:
    answer = solve_orders(grid)
    flat = answer["probability"].reshape(-1, answer["probability"].shape[-1])
    ranked = _answer(flat, answer["residual"].ravel())
    return {name: some.reshape((*grid.shape, *some.shape[1:])) for name, some in ranked.items()} | answer


def _assembled(
    shape: tuple[int, ...], inner: tuple[int, ...], answers: Sequence[tuple[tuple[int | slice, ...], dict[str, NDArray[Any]]]]
) -> Results:
    """Put the answers of the parts of a grid together; a single part is only given the shape of the grid."""
    results: dict[str, NDArray[Any]] = {}
    for name, first in answers[0][1].items():
        own = first.shape[1:]
        if len(answers) == 1:
            results[name] = first.reshape((*shape, *own))
            continue
        results[name] = np.empty((*shape, *own), first.dtype)
        for index, answer in answers:
            results[name][index] = answer[name].reshape((*inner, *own))
    return results


def check(values: Values) -> None:
    """Raise ParameterError for decks that do not fit the boards or each other, and for decks too large to be kept in order."""
    check_rules(values)
    if "cycle" not in values.get("deck_memory", ()):
        return
    for board in values["board"]:
        nodes = max(max(values["doubles_limit"]), 1) * len(board.draw_squares)
        nodes *= math.prod(max(deck.size for deck in values[name]) for name in DECKS if name in board.draws)
        if nodes > MOST_NODES:
            raise ParameterError(
                "deck_memory", f"cycle: these decks make a chain of {nodes} draws; at most {MOST_NODES} are solved"
            )


def cost(values: Mapping[str, Any]) -> float:
    """Seconds that a point takes on one core, when it is one of many decks."""
    states: int = values["board"].size * max(values["doubles_limit"], 1)
    if values["deck_memory"] == "cycle":
        cells: int = math.prod(values[name].size for name in DECKS if name in values["board"].draws)
        orders: int = values["orders"]
        return 1e-2 * (states / 120) ** 2 + 8e-4 * orders * cells / 256 * (states / 120)
    return 5e-6 * (states / 120) ** 2


def _sums_to_one(answers: Results) -> NDArray[np.bool_]:
    probability = answers["probability"]
    return np.asarray((probability >= 0).all(axis=1) & (np.abs(probability.sum(axis=1) - 1) < 1e-12))


def _ranked(answers: Results) -> NDArray[np.bool_]:
    ranked = np.take_along_axis(answers["probability"], answers["ranking"].astype(np.intp), axis=1)
    every = (np.sort(answers["ranking"], axis=1) == np.arange(ranked.shape[1])).all(axis=1)
    return np.asarray(every & (np.diff(ranked, axis=1) < TIE).all(axis=1))


LAWS = (
    Law("probabilities are not negative and sum to one", _sums_to_one),
    Law("the ranking has every square once, by falling probability", _ranked),
    Law("the residual is below 1e-12", lambda answers: answers["residual"] < 1e-12),
)

SLOWEST_EXACT = 2000
"""Largest total of the dice for which rational arithmetic is asked for; it takes a few seconds there."""


def recompute(values: Mapping[str, Any], answers: Mapping[str, Any]) -> str | None:
    """Compare the probabilities of a point with exact rationals; a mean over random orders of the decks has none."""
    if values["deck_memory"] == "cycle" or values["dice"] * values["sides"] > SLOWEST_EXACT:
        return None
    game = {parameter.name: values[parameter.name] for parameter in PARAMETERS}
    exact = np.array([float(p) for p in exact_probability(**game)])
    error = float(np.abs(exact - answers["probability"]).max())
    return f"a probability is off by {error:.2g} from exact rationals" if error > 1e-13 else ""


def prepare() -> None:
    """Compile the kernels, or load them from the cache, by using them once."""
    recurrent_class(np.ones((1, 1), np.bool_), 0)
    _stationary(np.ones((1, 1, 1)), np.empty((1, 1)))
    _place(np.ones((1, 1)), np.ones((1, 1, 1)), np.empty((1, 1, 1)))
    _residual(np.ones((1, 1)), np.zeros((1, 1)), np.ones((1, 1)), np.ones((1, 1, 1)), np.zeros((1, 1), np.intp), np.empty(1))
    ranks(np.ones((1, 1)))
    CycleSolver.prepare()


def _keeps_order(values: Values) -> bool:
    return "cycle" in values["deck_memory"]


STUDY = Study(
    name="stationary",
    version=1,
    title="Long-run probability that the token is on each square at the end of a roll",
    parameters=(
        *PARAMETERS,
        Parameter(
            "deck_memory",
            Choice(("shuffled", "cycle")),
            "decks are reshuffled at each draw, or shuffled once and drawn in order for ever",
            default="shuffled",
        ),
        Parameter("orders", Integer(1, 100_000), "random orders of the decks, where they are drawn in order", default=32),
    ),
    variables=(
        Variable("probability", "long-run probability at the end of a roll", ("square",)),
        Variable("ranking", "squares by falling probability", ("rank",), "int16"),
        Variable("modal", "three most probable squares, two digits each", (), "str"),
        Variable(
            "rank_gap",
            "probability of a rank minus that of the next",
            ("rank",),
            missing="the last rank has no next",
        ),
        Variable("residual", "1-norm of pi P - pi over the full chain, the largest of all orders"),
        Variable(
            "standard_error",
            "standard error of probability, from the spread between orders",
            ("square",),
            missing="the decks are reshuffled, or there is only one order",
            when=_keeps_order,
        ),
        Variable(
            "order_spread",
            "standard deviation of the probability from one order of the decks to another",
            ("square",),
            missing="the decks are reshuffled, or there is only one order",
            when=_keeps_order,
        ),
    ),
    solve=solve,
    cost=cost,
    headline=(Headline("modal"),),
    coordinates=coordinates,
    check=check,
    prepare=prepare,
    contained=True,
    laws=LAWS,
    remarks=remarks,
    recompute=recompute,
    reference="Project Euler, problem 84, Monopoly odds; T. Collins, Probabilities in the Game of Monopoly (1997)",
)
