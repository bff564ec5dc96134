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
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvers.board import BOARD, Board, Card, Deck, LandingLaw, deck_document, landing_law
from solvers.compiled import compiled
from solvers.decks import DECKS, check_chains, check_decks, own_deck
from solvers.dice import dice_law, wrap
from solvers.exact import exact_probability
from solvers.study import (
    Choice,
    Coordinate,
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

TIE = 1e-14
"""Probabilities closer than this are ranked by square: above the error of the solution, below any gap that is known."""

BATCH = 128
"""Decks solved at a time; their matrices stay in the second-level cache."""


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


@compiled
def _rank(probability: Array, tie: float, ranking: NDArray[np.int16], gap: Array) -> None:
    """Sort each row of `probability` (d, n) downwards, ties by index, into `ranking` and the gaps to the next."""
    decks, n = probability.shape
    before = np.empty(n, np.int64)
    for d in range(decks):
        p = probability[d]
        order = ranking[d]
        # Counting who comes before needs no branches, which makes it several times faster than sorting on some forty squares.
        before[:] = 0
        for i in range(n):
            behind = 0
            for k in range(i + 1, n):
                first_wins = 1 if p[i] >= p[k] else 0
                before[k] += first_wins
                behind += first_wins
            before[i] += n - 1 - i - behind
        for k in range(n):
            order[before[k]] = k
        first = 0
        for k in range(1, n + 1):
            if k < n and p[order[k - 1]] - p[order[k]] < tie:
                continue
            if k - first > 1:
                order[first:k].sort()
            first = k
        for k in range(n - 1):
            gap[d, k] = max(p[order[k]] - p[order[k + 1]], 0.0)
        gap[d, n - 1] = np.nan


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


def ranks(probability: Array) -> tuple[NDArray[np.int16], Array, NDArray[np.str_]]:
    """Rank squares by falling probability.

    Parameters
    ----------
    probability : ndarray of float64, shape (d, N)

    Returns
    -------
    ranking : ndarray of int16, shape (d, N)
        Squares by falling probability; squares closer than :data:`TIE` stand in the order of their numbers.
    rank_gap : ndarray of float64, shape (d, N)
        Probability of each ranked square minus that of the next; NaN in the last column, which has no next.
    modal : ndarray of str, shape (d,)
        The top three, two digits each (three digits on boards beyond a hundred squares).
    """
    ranking = np.empty(probability.shape, np.int16)
    gap = np.empty(probability.shape)
    _rank(np.ascontiguousarray(probability), TIE, ranking, gap)
    width = max(2, len(str(probability.shape[1] - 1)))
    digits = np.array([f"{square:0{width}d}" for square in range(probability.shape[1])])
    top = digits[ranking[:, :3]]
    modal = np.ascontiguousarray(top).view(f"<U{width * top.shape[1]}")[:, 0]
    return ranking, gap, modal


def solve(grid: Grid) -> Results:
    """Answer a grid of points; chest and chance decks share all the work that does not depend on them."""
    rules_names = [p.name for p in STUDY.parameters if p.name not in DECKS]
    decks = {name: tuple(grid.axes.get(name, (grid.fixed.get(name),))) for name in DECKS}
    inner = tuple(len(decks[name]) for name in decks if name in grid.axes)
    laws: dict[tuple[int, str], DeckLaws] = {}
    answers: list[tuple[tuple[int | slice, ...], dict[str, NDArray[Any]]]] = []
    for index, chosen in grid.over(*rules_names):
        back_onto_draw = chosen.pop("back_onto_draw")
        rules = Rules(**chosen)
        key = (id(rules.board), back_onto_draw)
        if key not in laws:
            laws[key] = DeckLaws.resolve(rules.board, decks, back_onto_draw)
        probability, residual = solve_decks(rules, laws[key])
        ranking, gap, modal = ranks(probability)
        answers.append(
            (
                index,
                {
                    "probability": probability,
                    "ranking": ranking,
                    "modal": modal,
                    "rank_gap": gap,
                    "residual": residual,
                },
            )
        )
    return _assembled(grid.shape, inner, answers)


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


def cost(values: Mapping[str, Any]) -> float:
    """Seconds that a point takes on one core, when it is one of many decks."""
    states: int = values["board"].size * max(values["doubles_limit"], 1)
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
    """Compare the probabilities of a point with exact rationals."""
    if values["dice"] * values["sides"] > SLOWEST_EXACT:
        return None
    exact = np.array([float(p) for p in exact_probability(**values)])
    error = float(np.abs(exact - answers["probability"]).max())
    return f"a probability is off by {error:.2g} from exact rationals" if error > 1e-13 else ""


def prepare() -> None:
    """Compile the kernels, or load them from the cache, by using them once."""
    _reach(np.ones((1, 1), np.bool_), 0)
    _stationary(np.ones((1, 1, 1)), np.empty((1, 1)))
    _place(np.ones((1, 1)), np.ones((1, 1, 1)), np.empty((1, 1, 1)))
    _residual(np.ones((1, 1)), np.zeros((1, 1)), np.ones((1, 1)), np.ones((1, 1, 1)), np.zeros((1, 1), np.intp), np.empty(1))
    ranks(np.ones((1, 1)))


STUDY = Study(
    name="stationary",
    version=1,
    title="Long-run probability that the token is on each square at the end of a roll",
    parameters=(
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
        Variable("residual", "1-norm of pi P - pi over the full chain"),
    ),
    solve=solve,
    cost=cost,
    headline=(Headline("modal"),),
    coordinates=coordinates,
    check=check,
    prepare=prepare,
    contained=True,
    laws=LAWS,
    recompute=recompute,
    reference="Project Euler, problem 84, Monopoly odds; T. Collins, Probabilities in the Game of Monopoly (1997)",
)
