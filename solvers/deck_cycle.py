"""Long-run square odds when decks are shuffled once and drawn in order for ever, exactly for one order of the cards.

The chain.  A card that has been drawn goes to the bottom, so a deck is a cycle and only its position matters: the state is
(square, doubles, position in each deck), 30,720 states on the standard board.  Only draws advance a deck.  With Q, H of
:mod:`solvers.chain` and K = (I - Q)^-1 H, and watching the chain only when it draws, a node is (event e, cell): the cell holds
the positions (i, j) before the draw.  What happens there is certain: the card on top leads to one state t(e, i, j), through
further cards if it makes the token draw again, and to the cell (i', j') that is ahead by the number of cards drawn.  So the
rates w of the nodes obey

    w(., i', j') = sum over the nodes (e, i, j) that lead to (i', j') of w(e, i, j) K[t(e, i, j), .].

The solution.  Cells come in order: a draw leads to a later one (row by row), unless a deck starts over.  Given the *inflow* x,
the rates that come in where a deck starts over, one pass over the cells gives all rates, and with them the next inflow, x F.
F is the chain watched only when a deck starts over, a stochastic complement again: on the standard board 558 x 558.  It is
never formed.  x = x F is solved by GMRES on x (I - F), which for a chain with one closed class converges to the stationary
vector, periodic or not, because the range and the null space of I - F meet in zero alone (P. N. Brown and H. F. Walker, SIAM J.
Matrix Anal. Appl. 18 (1997) 37); a pass costs 83,000 multiplications, and about a dozen are needed.  If it stalls, w = w T is
solved by sparse elimination instead.  The state probabilities are those of the states to which cards lead, spread by
(I - Q)^-1 and scaled to one.

Which states.  As for reshuffled decks the answer is the long-run fraction of rolls from the start square, here with both decks
at their tops, and there must be just one closed class to be reached.  It may hold no draws at all: a *trap*.

Orders.  Averaged over independent random orders, an answer has the standard error s / sqrt(orders), where s, the standard
deviation over orders, says how much the odds of one shuffled game differ from those of another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.sparse.linalg import splu

from solvers.board import Board, Card, Deck
from solvers.chain import Cards, card_table, kernel
from solvers.cycle_kernels import draw_cards, improve_inflow, pass_cells, spread_rates
from solvers.decks import DECKS
from solvers.rules import PARAMETERS, Rules
from solvers.study import Grid

Array = NDArray[np.float64]
Order = NDArray[np.uint16]

MOST_NODES = 2**22
"""Most (event, positions) that are solved for: some hundreds of megabytes."""

TOLERANCE = 2e-14
"""GMRES ends when the 1-norm of x F - x is below this, for an inflow of one; rounding is ten times smaller."""

KRYLOV = 30
"""Steps after which GMRES starts again."""


@dataclass(frozen=True)
class CycleAnswer:
    """The long run for several orders.

    Attributes
    ----------
    probability : ndarray of float64, shape (orders, N)
        Long-run probability of each square.
    residual : ndarray of float64, shape (orders,)
        1-norm of w - w T in units of one roll, which bounds that of pi P - pi over the whole chain.
    """

    probability: Array
    residual: Array

    @property
    def spread(self) -> Array:
        """Standard deviation over orders; NaN for a single one."""
        if len(self.probability) < 2:
            return np.full(self.probability.shape[1], np.nan)
        return np.asarray(self.probability.std(axis=0, ddof=1))


@dataclass(frozen=True)
class Draws:
    """What each node leads to, in arrays of shape (cells, m).

    Attributes
    ----------
    target : ndarray of int32
        The state after all cards are drawn.
    cell : ndarray of int32
        The cell that follows.
    again : ndarray of bool
        Whether a deck started over on the way.
    """

    target: NDArray[np.int32]
    cell: NDArray[np.int32]
    again: NDArray[np.bool_]


def smallest_period(order: Order) -> Order:
    """Return the shortest beginning of an order whose repetition it is: with it, positions that look alike are one."""
    n = len(order)
    for period in range(1, n):
        if n % period == 0 and (order[period:] == order[:-period]).all():
            return order[:period]
    return order


def _backward(edges: NDArray[np.bool_], reached: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the nodes from which one of `reached` can be reached, those included."""
    while True:
        wider: NDArray[np.bool_] = reached | edges[:, reached].any(axis=1)
        if (wider == reached).all():
            return reached
        reached = wider


class CycleSolver:
    """Solves one set of rules and decks for any order of the cards.

    Parameters
    ----------
    rules : Rules
    decks : mapping of str to Deck
    back_onto_draw : {"chain", "stop"}
    """

    def __init__(self, rules: Rules, decks: Mapping[str, Deck], back_onto_draw: str) -> None:
        self.rules = rules
        self.cards: Cards = card_table(rules, decks, back_onto_draw)
        base = kernel(rules)
        self.n, self.m = base.draw.shape
        steps = base.quiet > 0
        draws = _backward(steps, np.asarray((base.draw > 0).any(axis=1)))
        # Within the states from which a draw can be reached Q is substochastic, and I - Q can be inverted.
        inside = np.flatnonzero(draws)
        self.visits = np.zeros((self.n, self.n))
        quiet = base.quiet[np.ix_(inside, inside)]
        self.visits[np.ix_(inside, inside)] = np.linalg.inv(np.eye(len(inside)) - quiet).clip(min=0)
        self.K = np.ascontiguousarray(self.visits @ base.draw)
        self.traps, self.trapped = _traps(steps, np.flatnonzero(~draws))
        # Whether any event can come next, and nothing else, wherever cards lead or the game starts: then all events mix.
        led = np.unique([rules.board.start, *self.cards.follows[self.cards.follows < self.n]])
        self.mixes = bool((self.K[led] > 0).all()) and not self.trapped[:, led].any()
        self.quiet = base.quiet

    @classmethod
    def prepare(cls) -> None:
        """Compile the kernels, or load them from the cache, by solving a tiny game."""
        board = Board(2, 0, 0, (), {"chest": (1,)}, {}, {}, ("0", "1"))
        solver = cls(Rules(board, 1, 2, 0, "keep"), {"chest": Deck(((Card("stay"), 2),))}, "chain")
        solver.solve([tuple(solver.cards.piles)])

    def orders(self, random: np.random.Generator, number: int) -> list[tuple[Order, ...]]:
        """Shuffle the decks `number` times."""
        return [tuple(random.permutation(pile) for pile in self.cards.piles) for _ in range(number)]

    def solve(self, orders: Sequence[tuple[Order, ...]], progress: Callable[[float], None] | None = None) -> CycleAnswer:
        """Solve for each order.

        Parameters
        ----------
        orders : sequence of tuple of ndarray of uint16
            For each deck that is drawn from, in the order of the board, its cards from the top, numbered as in the deck.
        progress : callable, optional
            Called after each order with the fraction of them that is done.

        Raises
        ------
        ValueError
            If for some order the long run depends on chance.
        """
        known: dict[tuple[bytes, ...], tuple[Array, float]] = {}
        answers = []
        for done, order in enumerate(orders, 1):
            key = tuple(pile.tobytes() for pile in order)
            if key not in known:
                known[key] = self._solve(order)
            answers.append(known[key])
            if progress:
                progress(done / len(orders))
        return CycleAnswer(np.array([p for p, _ in answers]), np.array([residual for _, residual in answers]))

    def draws(self, order: tuple[Order, ...]) -> Draws:
        """Play out every node of one order."""
        none = np.zeros(1, np.uint16)
        first, second = (*(smallest_period(pile) for pile in order), none, none)[:2]
        shape = (len(first) * len(second), self.m)
        draws = Draws(np.empty(shape, np.int32), np.empty(shape, np.int32), np.empty(shape, np.bool_))
        draw_cards(first, second, self.cards.follows, self.cards.deck, self.n, draws.target, draws.cell, draws.again)
        return draws

    def _solve(self, order: tuple[Order, ...]) -> tuple[Array, float]:
        draws = self.draws(order)
        closed, trap = self._closed_class(draws)
        if trap is not None:
            states = np.flatnonzero(self.traps[trap])
            flow = np.eye(len(states)) - self.quiet[np.ix_(states, states)].T
            flow[0] = 1
            pi = np.zeros(self.n)
            pi[states] = np.linalg.solve(flow, np.eye(len(states))[0]).clip(min=0)
            return self._squares(pi), float(np.abs(pi @ self.quiet - pi).sum())
        rates = self.rates(draws, closed)
        arrivals = np.bincount(draws.target.ravel(), weights=rates.ravel(), minlength=self.n)
        pi = arrivals @ self.visits
        residual = np.abs(self.step(draws, rates) - rates).sum() / pi.sum()
        return self._squares(pi / pi.sum()), float(residual)

    def _squares(self, pi: Array) -> Array:
        return np.asarray(pi.reshape(self.rules.counters, -1).sum(axis=0))

    def step(self, draws: Draws, rates: Array) -> Array:
        """Return w T for the rates w of all nodes; both of shape (cells, m)."""
        ahead = np.zeros_like(rates)
        spread_rates(draws.target, draws.cell, self.K, rates, ahead)
        return ahead

    def rates(self, draws: Draws, closed: NDArray[np.bool_]) -> Array:
        """Return the stationary rates of all nodes, for a total inflow of one; zero outside the closed class (cells, m)."""
        frontier_cells = np.unique(draws.cell[draws.again])
        frontier = (frontier_cells[:, None] * self.m + np.arange(self.m)).ravel()
        frontier = frontier[closed.ravel()[frontier]]
        x = np.full(len(frontier), 1 / len(frontier))
        rates, outflow = np.empty(closed.shape), np.empty(closed.shape)
        table = draws.target, draws.cell, draws.again, self.K, rates, outflow
        last = np.inf
        while (off := improve_inflow(x, frontier, *table, KRYLOV, TOLERANCE)) > TOLERANCE:
            if off > last / 2:
                return self.eliminate(draws, closed)
            last = off
            x = x.clip(min=0)
            x /= x.sum()
        rates[:] = 0
        rates.ravel()[frontier] = x
        pass_cells(*table)
        return rates

    def eliminate(self, draws: Draws, closed: NDArray[np.bool_]) -> Array:
        """Return what :meth:`rates` does, up to a factor, by sparse elimination."""
        nodes = np.flatnonzero(closed)
        within = self._edges(draws, weighted=True)[nodes][:, nodes]
        # The balance equations add up to zero: the first rate is set to one and its equation left out.
        rest = (eye_array(len(nodes)) - within.T).tocsc()[1:]
        rates = np.zeros(closed.size)
        rates[nodes[0]] = 1
        rates[nodes[1:]] = splu(rest[:, 1:]).solve(-rest[:, [0]].toarray().ravel()).clip(min=0)
        return np.asarray(rates.reshape(closed.shape) / rates.sum())

    def _edges(self, draws: Draws, *, weighted: bool = False) -> csr_array:
        """Return T, or a matrix of ones with its pattern."""
        row_of = draws.target.ravel()
        following = self.K > 0
        each = following.sum(axis=1)
        events = np.flatnonzero(following[row_of]) % self.m
        indices = np.repeat(draws.cell.ravel() * self.m, each[row_of]) + events
        indptr = np.concatenate(([0], np.cumsum(each[row_of])))
        data = self.K[row_of][following[row_of]] if weighted else np.ones(len(indices))
        return csr_array((data, indices, indptr), shape=(len(row_of), len(row_of)))

    def _cells_connect(self, draws: Draws) -> bool:
        """Return whether every cell leads to every other; if any event can follow any draw, that is so for nodes as well."""
        cells, m = draws.cell.shape
        if m == 0:
            return False
        indptr = np.arange(0, cells * m + 1, m)
        edges = csr_array((np.ones(cells * m, np.int8), draws.cell.ravel(), indptr), shape=(cells, cells))
        number, _ = connected_components(edges, directed=True, connection="strong")
        return int(number) == 1

    def _closed_class(self, draws: Draws) -> tuple[NDArray[np.bool_], int | None]:
        """Return the nodes of the one closed class that can be reached, or none and the number of the trap that it is."""
        if self.mixes and self._cells_connect(draws):
            return np.ones(draws.target.shape, np.bool_), None
        edges = self._edges(draws)
        _, label = connected_components(edges, directed=True, connection="strong")
        start = self.rules.board.start
        seen = np.zeros(len(label), np.bool_)
        for event in np.flatnonzero(self.K[start] > 0):
            if not seen[event]:
                seen[breadth_first_order(edges, event, return_predecessors=False)] = True
        leaves = label[edges.indices] != np.repeat(label, np.diff(edges.indptr))
        open_ = np.zeros(label.max(initial=-1) + 1, np.bool_)
        open_[np.repeat(label, np.diff(edges.indptr))[leaves]] = True
        open_[label[self.trapped[:, draws.target.ravel()].any(axis=0)]] = True
        classes = np.unique(label[seen & ~open_[label]])
        traps = np.flatnonzero(self.trapped[:, [start, *np.unique(draws.target.ravel()[seen])]].any(axis=1))
        if len(classes) + len(traps) != 1:
            raise ValueError("the token can end up in more than one closed set of squares: the long-run odds depend on chance")
        if len(traps):
            return np.zeros(draws.target.shape, np.bool_), int(traps[0])
        return (label == classes[0]).reshape(draws.target.shape), None


def _traps(steps: NDArray[np.bool_], states: NDArray[np.intp]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Find the closed classes without draws.

    Parameters
    ----------
    steps : ndarray of bool, shape (n, n)
        Where Q is positive.
    states : ndarray of int
        The states from which no draw can be reached.

    Returns
    -------
    traps, trapped : ndarray of bool, shape (number of traps, n)
        The states of each, and the states from which it can be reached without a draw.
    """
    number, label = connected_components(csr_array(steps[np.ix_(states, states)]), directed=True, connection="strong")
    traps = np.zeros((number, len(steps)), np.bool_)
    traps[label, states] = True
    closed = [trap for trap in traps if not steps[trap][:, ~trap].any()]
    trapped = [_backward(steps, trap) for trap in closed]
    shape = (len(closed), len(steps))
    return np.array(closed, np.bool_).reshape(shape), np.array(trapped, np.bool_).reshape(shape)


def solve_orders(grid: Grid) -> dict[str, NDArray[Any]]:
    """Answer a grid of points whose decks are drawn in order: means over as many random orders as ``orders`` says.

    Returns
    -------
    dict of str to ndarray of float64
        ``probability``, ``standard_error`` and ``order_spread``, of shape ``grid.shape + (N,)``, and ``residual``, the largest
        of all orders, of shape ``grid.shape``.
    """
    last: tuple[tuple[Any, ...], CycleSolver] | None = None
    answers: dict[str, list[Any]] = {"probability": [], "standard_error": [], "order_spread": [], "residual": []}
    points = list(grid.points())
    for before, (index, point) in enumerate(points):

        def watch(done: float, before: int = before) -> None:
            grid.progress((before + done) / len(points))

        decks = {name: point[name] for name in DECKS}
        given = [point[p.name] for p in PARAMETERS if p.name not in (*DECKS, "back_onto_draw")]
        key = (id(given[0]), *given[1:], point["back_onto_draw"], *decks.values())
        if last is None or last[0] != key:
            last = key, CycleSolver(Rules(*given), decks, point["back_onto_draw"])
        orders = last[1].orders(np.random.default_rng(grid.seed(index)), point["orders"])
        found = last[1].solve(orders, watch)
        answers["probability"].append(found.probability.mean(axis=0))
        answers["standard_error"].append(found.spread / math.sqrt(len(orders)))
        answers["order_spread"].append(found.spread)
        answers["residual"].append(found.residual.max())
    arrays = {name: np.array(some) for name, some in answers.items()}
    return {name: some.reshape((*grid.shape, *some.shape[1:])) for name, some in arrays.items()}
