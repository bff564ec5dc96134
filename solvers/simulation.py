"""Long-run square odds by playing: independent games, each with its own shuffle, and errors that can be believed.

A point is `games` independent games.  Each shuffles its decks, plays `burn_in` rolls that are not counted, and then its share
of `rolls`; what is reported is the fraction of counted rolls that end on each square.  Errors come from the spread between
games (:mod:`solvers.replicates`), so that neither the correlation of successive rolls nor that of a whole game with its one
order of cards makes them too small.

What a deck remembers (``deck_memory``):

* ``shuffled``: nothing.  It is reshuffled before each draw, as in the study ``stationary``.
* ``cycle``: it is shuffled once, before the game; cards are drawn in order and go to the bottom.
* ``exhaust``: cards are drawn in order and laid aside; when all are used up, the deck is shuffled.

In all three a card that makes the token draw again uses up a card of its own.

Seeds.  There is no parameter for them: the key ``seed`` of a sweep gives each point a :class:`numpy.random.SeedSequence`, of
which each game takes a child of its own, and the bootstrap another.  What a point gives depends on nothing else, but for
``rolls_per_second``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvers.board import Board, parse_deck
from solvers.decks import DECKS
from solvers.game import MEMORIES, Game
from solvers.ranking import ranks
from solvers.replicates import confidence, frequency_and_error, gaps_and_errors, resolved
from solvers.rules import PARAMETERS, Rules, check_rules, coordinates
from solvers.simulation_tables import Tables, build_tables
from solvers.study import Choice, Grid, Headline, Integer, Law, Parameter, ParameterError, Results, Study, Values, Variable

ROLLS_PER_SECOND = 8e7
"""What one core does at the least, for the estimate of costs."""


@dataclass(frozen=True)
class Plan:
    """How much is played at a point: counted rolls in all, games, and rolls of each game that are not counted."""

    rolls: int
    games: int
    burn_in: int

    def shares(self) -> NDArray[np.int64]:
        """Return the counted rolls of each game: equal, but that the first ones take what is left over."""
        share, left = divmod(self.rolls, self.games)
        return share + (np.arange(self.games) < left).astype(np.int64)


def play_games(
    tables: Tables,
    memory: str,
    plan: Plan,
    seeds: list[np.random.SeedSequence],
    squares: int,
    progress: Callable[[float], None],
) -> NDArray[np.int64]:
    """Play the games of one point.

    Returns
    -------
    ndarray of int64, shape (games, squares)
        Rolls of each game that ended on each square.
    """
    played, in_all = 0, plan.rolls + plan.games * plan.burn_in

    def watch(rolls: int) -> None:
        nonlocal played
        played += rolls
        progress(played / in_all)

    counts = np.empty((plan.games, squares), np.int64)
    for row, share, seed in zip(counts, plan.shares(), seeds, strict=True):
        game = Game(tables, memory, seed)
        game.play(plan.burn_in, np.zeros(tables.states, np.int64), watch)
        ends = np.zeros(tables.states, np.int64)
        game.play(int(share), ends, watch)
        row[:] = ends.reshape(-1, squares).sum(axis=0)
    return counts


def simulate(
    point: Mapping[str, Any], seed: np.random.SeedSequence, progress: Callable[[float], None] = lambda done: None
) -> dict[str, Any]:
    """Answer one point, given all parameters of the study; the variables of the study, by name."""
    started = time.perf_counter()
    decks = {name: point[name] for name in DECKS}
    rules = Rules(*(point[name] for name in ("board", "dice", "sides", "doubles_limit", "doubles_after_jail")))
    plan = Plan(point["rolls"], point["games"], point["burn_in"])
    tables = build_tables(rules, decks, point["back_onto_draw"])
    # Children are named and not spawned: spawning would make a second answer from the same sequence another one.
    children = [np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, i)) for i in range(plan.games + 1)]
    counts = play_games(tables, point["deck_memory"], plan, children[:-1], rules.board.size, progress)
    seconds = time.perf_counter() - started
    rolls = plan.shares()
    frequency, error = frequency_and_error(counts, rolls)
    ranking, _, modal = ranks(frequency[None])
    gap, gap_error = gaps_and_errors(counts, rolls, ranking[0])
    return {
        "frequency": frequency,
        "standard_error": error,
        "ranking": ranking[0],
        "rank_gap": gap,
        "rank_gap_error": gap_error,
        "modal": modal[0],
        "modal_confidence": confidence(counts, rolls, modal[0], np.random.default_rng(children[-1])),
        "resolved": np.int8(resolved(gap, gap_error, plan.games)),
        "rolls_done": counts.sum(),
        "rolls_per_second": (plan.rolls + plan.games * plan.burn_in) / seconds,
    }


def solve(grid: Grid) -> Results:
    """Answer a grid of points, one after the other."""
    points = list(grid.points())
    check_plans({name: (value,) for name, value in grid.fixed.items()} | dict(grid.axes))
    answers = []
    for before, (index, point) in enumerate(points):

        def watch(done: float, before: int = before) -> None:
            grid.progress((before + done) / len(points))

        answers.append(simulate(point, grid.seed(index), watch))
    results: dict[str, NDArray[Any]] = {}
    for name in answers[0]:
        some = np.array([answer[name] for answer in answers])
        results[name] = some.reshape((*grid.shape, *some.shape[1:]))
    return results


def check(values: Values) -> None:
    """Raise ParameterError for decks that do not fit the boards, and for fewer rolls than games."""
    check_rules(values)
    check_plans(values)


def check_plans(values: Values) -> None:
    """Raise ParameterError if some game would have no roll."""
    if min(values["rolls"]) < max(values["games"]):
        raise ParameterError("rolls", f"{min(values['rolls'])} rolls cannot be shared out to {max(values['games'])} games")


def cost(values: Mapping[str, Any]) -> float:
    """Seconds that a point takes on one core."""
    games: int = values["games"]
    rolls: int = values["rolls"] + games * values["burn_in"]
    return 3e-3 + 1e-4 * games + rolls / ROLLS_PER_SECOND


def prepare() -> None:
    """Compile the kernels, or load them from the cache, by playing a few rolls."""
    nothing = parse_deck({"cards": {"stay": 2}})
    board = Board(3, 0, 0, (), {"chest": (1,)}, {}, {}, ("0", "1", "2"))
    tables = build_tables(Rules(board, 2, 6, 3, "keep"), dict.fromkeys(DECKS, nothing), "chain")
    play_games(tables, "exhaust", Plan(4, 2, 1), [np.random.SeedSequence(i) for i in range(2)], 3, lambda done: None)
    ranks(np.ones((1, 3)))


LAWS = (
    Law("frequencies are not negative and sum to one", lambda answers: _is_law(answers["frequency"])),
    Law("frequencies are whole numbers of rolls", lambda answers: _is_whole(answers["frequency"], answers["rolls_done"])),
    Law(
        "a resolved ranking is one that the games agree on",
        lambda answers: np.asarray((answers["resolved"] == 0) | (answers["modal_confidence"] > 0.5)),
    ),
)


def _is_law(frequency: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray((frequency >= 0).all(axis=1) & (np.abs(frequency.sum(axis=1) - 1) < 1e-12))


def _is_whole(frequency: NDArray[np.float64], rolls: NDArray[np.int64]) -> NDArray[np.bool_]:
    counts = frequency * rolls[:, None]
    return np.asarray((np.abs(counts - counts.round()) <= 1e-15 * rolls[:, None] + 1e-9).all(axis=1))


STUDY = Study(
    name="simulation",
    version=1,
    title="Fraction of rolls that end on each square, by playing",
    parameters=(
        *PARAMETERS,
        Parameter(
            "deck_memory",
            Choice(tuple(MEMORIES)),
            "decks are reshuffled at each draw, drawn in order for ever, or drawn in order and reshuffled when used up",
            default="shuffled",
        ),
        Parameter("rolls", Integer(2, 10**13), "counted rolls of all games together", default=1_000_000, unit="rolls"),
        Parameter("games", Integer(2, 10_000), "independent games, each with its own shuffle", default=64),
        Parameter(
            "burn_in", Integer(0, 10**9), "rolls at the start of each game that are not counted", default=1000, unit="rolls"
        ),
    ),
    variables=(
        Variable("frequency", "fraction of rolls that end on the square", ("square",)),
        Variable("standard_error", "standard error of frequency, from the spread between games", ("square",)),
        Variable("ranking", "squares by falling frequency", ("rank",), "int16"),
        Variable("rank_gap", "frequency of a rank minus that of the next", ("rank",), missing="the last rank has no next"),
        Variable("rank_gap_error", "standard error of rank_gap", ("rank",), missing="the last rank has no next"),
        Variable("modal", "three most frequent squares, two digits each", (), "str"),
        Variable("modal_confidence", "share of bootstrap samples of the games with the same modal"),
        Variable("resolved", "1 if the gaps that make the modal are too wide to be chance, else 0", (), "int8"),
        Variable("rolls_done", "rolls counted", (), "int64", unit="rolls"),
        Variable(
            "rolls_per_second",
            "rolls played in a second, burn-in included; differs from run to run",
            unit="rolls/s",
            reproducible=False,
        ),
    ),
    solve=solve,
    cost=cost,
    headline=(Headline("modal"), Headline("resolved")),
    coordinates=coordinates,
    check=check,
    prepare=prepare,
    contained=True,
    laws=LAWS,
    reference="Project Euler, problem 84, Monopoly odds; random words: Salmon et al., SC '11 (Philox)",
)
