"""Who lands on a square first: n players race round a board of dice, cards and a jail.

The race.  Players are independent copies of one token.  Let f(k) be the probability that a lone token lands on the target for
the first time in its turn k, and S(k) = 1 - f(1) - ... - f(k).  Player j of n moves j-th in each round, so it is first if it
lands in round k, those before it have not landed by round k, and those after it not by round k - 1:

    first(j) = sum over k of f(k) S(k)^(j-1) S(k-1)^(n-j).

Over j these sum to S(k-1)^n - S(k)^n and telescope.  With e = sum of f, and u the part of 1 - e that may still land after the
last turn computed (nothing on a single lap), nobody = (1 - e - u)^n and unresolved = (1 - e)^n - nobody.

Where the law f comes from.  On a single lap where jail is final, positions only increase, a token lands on a square at most
once, and one pass over the squares gives f for all targets: :mod:`solvers.landing_single`.  Everything else needs first
landings proper, by a taboo at each target: :mod:`solvers.landing_laps`.

Rulings.  Reaching a square counts as landing there, whatever it then does to the token.

* Reaching a go-to-jail square, by dice or by card, counts; then the turn ends in jail.  Going to jail is not landing on the
  jail square; a card that leads there by number is, and it is a visit.
* Doubles roll again from where the card left the token.  The L-th doubles of a turn goes to jail without moving; with a limit
  of 0 doubles mean nothing.  One die shows no doubles.
* A draw square counts even when its card moves the token on, and so does every square on which a card makes it land.
* A card that leads to another draw square draws there, from a deck reshuffled first; cards that could go on for ever are
  refused.  A card that leads to the square where the token stands does not move it: no new landing, no new card.
* ``lap: single``: the squares are a line from the start.  Past the last square, by dice or by card, a token is out.  A card
  to a lower square takes it out before it lands there: back-n, or next-group with no member of the group further on.
* ``lap: endless``: the squares are a circle, on which cards go either way, and a total of a whole circle lands again.
* ``jail: out``: jailed is out of the game.  ``jail: visit``: the token plays on from the jail square in its next turn,
  wherever that lies; on a single lap it may be behind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvers.board import BOARD, Board, deck_document
from solvers.compiled import compiled
from solvers.decks import DECKS, check_chains, check_decks, own_deck
from solvers.landing_exact import as_text, exact_race, exact_single_lap
from solvers.landing_laps import Turns, first_landings
from solvers.landing_single import single_lap
from solvers.landing_squares import Squares
from solvers.study import (
    Boolean,
    Choice,
    Coordinate,
    Grid,
    Headline,
    Integer,
    Law,
    Parameter,
    ParameterError,
    Real,
    Results,
    Study,
    Values,
    Variable,
)

Array = NDArray[np.float64]

MAX_PLAYERS = 8

TOGETHER = ("target", "players")
"""Parameters that need no new pass over the board."""

NUMBERS = ("nobody", "ever", "mean_turn", "later", "unresolved")
"""Variables with one number a point, in the order of the rows of what :func:`_race` fills."""


def race(law: Array, left: Array, players: Sequence[int], turns: int, most: int | None = None) -> dict[str, Array]:
    """Turn the law of a lone token's first landing into the answers of a race.

    Parameters
    ----------
    law : ndarray of float64, shape (targets, K + 1)
        P(first landing in turn k) for k = 0 ... K.
    left : ndarray of float64, shape (targets,)
        P(no landing yet, but one still possible).
    players : sequence of int
        Numbers of players.
    turns : int
        Length of ``turn_pmf``.
    most : int, optional
        Length of ``first``, if larger than all of `players`.

    Returns
    -------
    dict of str to ndarray of float64, shape (targets, len(players), ...)
        The variables of the study, by name.
    """
    shape = (len(law), len(players))
    first, turn_pmf = np.empty((*shape, most or max(players))), np.empty((*shape, turns))
    numbers = np.empty((5, *shape))
    _race(law, left, np.array(players, np.int64), first, turn_pmf, numbers)
    return {"first": first, "turn_pmf": turn_pmf, **dict(zip(NUMBERS, numbers, strict=True))}


@compiled
def _race(law: Array, left: Array, players: NDArray[np.int64], first: Array, turn_pmf: Array, numbers: Array) -> None:
    nobody, ever, mean_turn, later, unresolved = numbers
    turns = turn_pmf.shape[2]
    for g in range(law.shape[0]):
        for i in range(players.size):
            n = players[i]
            first[g, i] = np.nan
            first[g, i, :n] = 0
            turn_pmf[g, i] = 0
            landing = beyond = turn = 0.0
            before = 1.0
            for k in range(1, law.shape[1]):
                f = law[g, k]
                if f == 0:
                    continue
                after = max(before - f, 0.0)
                ahead = f
                for j in range(n):
                    first[g, i, j] += ahead * before ** (n - 1 - j)
                    ahead *= after
                landing += f
                turn += k * f
                if k <= turns:
                    turn_pmf[g, i, k - 1] = f
                else:
                    beyond += f
                before = after
            out = max(before - left[g], 0.0)
            nobody[g, i] = out**n
            unresolved[g, i] = before**n - out**n
            ever[g, i] = landing
            later[g, i] = beyond
            mean_turn[g, i] = turn / landing if landing > 0 else np.nan


def solve(grid: Grid) -> Results:
    """Answer a grid of points; targets and numbers of players share one pass over the board.

    Raises
    ------
    ParameterError
        If some value makes no sense on its board.
    """
    values = {**{name: (value,) for name, value in grid.fixed.items()}, **grid.axes}
    check(values)
    targets, players, turns, exact = values["target"], values["players"], values["turns"][0], values["exact"][0]
    most = grid.sizes.get("player", max(players))
    outer = [parameter.name for parameter in STUDY.parameters if parameter.name not in TOGETHER]
    combinations = [chosen for _, chosen in grid.over(*outer)]
    layouts: dict[Any, Squares] = {}
    results: dict[str, NDArray[Any]] = {}
    for i, chosen in enumerate(combinations):
        key = (id(chosen["board"]), *(chosen[name] for name in (*DECKS, "lap")))
        if key not in layouts:
            layouts[key] = Squares.of(chosen["board"], {name: chosen[name] for name in DECKS}, chosen["lap"])
        law, left = _first_landings(layouts[key], chosen, targets)
        answers: dict[str, NDArray[Any]] = {**race(law, left, players, turns, most)}
        if exact:
            answers["first_exact"] = _exact(layouts[key], chosen, targets, players, most)
        for name, answer in answers.items():
            if not i:
                results[name] = np.empty((len(combinations), *answer.shape), answer.dtype)
            results[name][i] = answer
    return {name: _in_order(grid, result) for name, result in results.items()}


def _first_landings(squares: Squares, chosen: Mapping[str, Any], targets: Sequence[int]) -> tuple[Array, Array]:
    dice = chosen["dice"], chosen["sides"], chosen["doubles_limit"]
    if _passes_once(chosen):
        return single_lap(chosen["board"], squares, *dice)[list(targets)], np.zeros(len(targets))
    turns = Turns(chosen["board"], squares, *dice, chosen["lap"] == "endless", chosen["jail"] == "visit")
    return first_landings(turns, targets, chosen["unresolved_below"] / MAX_PLAYERS)


def _passes_once(chosen: Mapping[str, Any]) -> bool:
    return bool(chosen["lap"] == "single" and chosen["jail"] == "out")


def _exact(
    squares: Squares, chosen: Mapping[str, Any], targets: Sequence[int], players: Sequence[int], most: int
) -> NDArray[Any]:
    """Return the exact probabilities as text, shape (targets, len(players), most); "" for players there are not."""
    text = np.full((len(targets), len(players), most), "", dtype=object)
    law = exact_single_lap(chosen["board"], squares, chosen["dice"], chosen["sides"], chosen["doubles_limit"])
    for g, target in enumerate(targets):
        for i, n in enumerate(players):
            text[g, i, :n] = [as_text(value) for value in exact_race(law[target], n)]
    return text


def _in_order(grid: Grid, result: NDArray[Any]) -> NDArray[Any]:
    """Turn (combinations, targets, players, own dimensions ...) into the grid's axes and the own dimensions."""
    outer = [name for name in grid.axes if name not in TOGETHER]
    names = [*outer, *TOGETHER]
    lengths = [len(grid.axes.get(name, (None,))) for name in names]
    own = result.shape[3:]
    unordered = result.reshape((*lengths, *own))
    order = [names.index(name) for name in grid.axes] + [i for i, name in enumerate(names) if name not in grid.axes]
    ordered = unordered.transpose(*order, *range(len(names), unordered.ndim))
    return np.asarray(ordered.reshape((*grid.shape, *own)), order="C")


def check(values: Values) -> None:
    """Raise ParameterError for targets and decks that do not fit the boards, and for what cannot be answered exactly."""
    for board in values["board"]:
        for target in values["target"]:
            if not 0 <= target < board.size or target == board.start:
                raise ParameterError("target", f"target {target} must be {_allowed(board)}")
    check_decks(values)
    if "endless" in values["lap"]:
        check_chains(values, ("chain",))
    for name, what in (("turns", "the length of a dimension"), ("exact", "about which variables there are")):
        if len(set(values[name])) > 1:
            raise ParameterError(name, f"{name} is {what}: give one value for the whole sweep")
    if any(values["exact"]) and not (set(values["lap"]) == {"single"} and set(values["jail"]) == {"out"}):
        raise ParameterError("exact", "exact: true needs lap: single and jail: out; other races go on without end")


def _allowed(board: Board) -> str:
    last = board.size - 1
    if board.start == 0:
        return f"a square from 1 to {last} (square 0 is the start)"
    return f"a square from 0 to {last} other than the start, {board.start}"


def coordinates(values: Values) -> Mapping[str, Coordinate]:
    """Label the players and the turns."""
    return {
        "player": Coordinate(
            ("player",), np.arange(1, max(values["players"]) + 1, dtype=np.int16), "player, in order of moving"
        ),
        "turn": Coordinate(("turn",), np.arange(1, max(values["turns"]) + 1, dtype=np.int32), "turn of a player"),
    }


def cost(values: Mapping[str, Any]) -> float:
    """Seconds that a point takes on one core, when it is one of all targets: the operations of its column."""
    size: int = values["board"].size
    dice: int = values["dice"]
    totals: int = min(dice * (values["sides"] - 1) + 1, size)
    levels: int = 2 * max(values["doubles_limit"], 1) - 1
    if not _passes_once(values):
        return 2.5e-10 * size * totals * levels * 27 * size
    exact = 1.5e-4 * (size / 40) ** 2 if values["exact"] else 0.0
    return 5e-7 + 2e-10 * totals * levels * size / dice + exact


LAWS = (
    Law(
        "first over the players, nobody and unresolved sum to one",
        lambda answers: np.abs(np.nansum(answers["first"], axis=1) + answers["nobody"] + answers["unresolved"] - 1) < 1e-12,
    ),
    Law(
        "the law of the turn sums to ever",
        lambda answers: np.abs(answers["turn_pmf"].sum(axis=1) + answers["later"] - answers["ever"]) < 1e-12,
    ),
)


def recompute(values: Mapping[str, Any], answers: Mapping[str, Any]) -> str | None:
    """Compare the answers of a single lap with fractions; other races have no independent way."""
    if not _passes_once(values):
        return None
    squares = Squares.of(values["board"], {name: values[name] for name in DECKS}, values["lap"])
    law = exact_single_lap(values["board"], squares, values["dice"], values["sides"], values["doubles_limit"])
    exact = np.array([float(share) for share in exact_race(law[values["target"]], values["players"])])
    error = float(np.abs(exact - answers["first"][: len(exact)]).max())
    return f"first is off by {error:.2g} from fractions" if error > 1e-12 else ""


def prepare() -> None:
    """Compile the kernels, or load them from the cache, by using them once."""
    board = Board(2, 0, 0, (), {}, {}, {}, ("0", "1"))
    squares = Squares.of(board, {}, "single")
    race(single_lap(board, squares, 1, 1, 1), np.zeros(2), [2], 1)
    first_landings(Turns(board, squares, 1, 1, 1, endless=True, released=True), [1], 0.5)


STUDY = Study(
    name="landing",
    version=1,
    title="Probability that each player is the first to land on a square",
    parameters=(
        Parameter("board", BOARD, "the squares, and what they do", default="monopolies"),
        Parameter("dice", Integer(1, 100), "number of dice rolled together", default=2),
        Parameter("sides", Integer(1, 10_000), "sides of each die", default=6),
        Parameter("chest", deck_document("chest"), "deck of the chest squares", default=own_deck("chest")),
        Parameter("chance", deck_document("chance"), "deck of the chance squares", default=own_deck("chance")),
        Parameter("target", Integer(0), "square that the players race for", shared=True),
        Parameter("players", Integer(2, MAX_PLAYERS), "number of players", default=2, shared=True),
        Parameter(
            "doubles_limit", Integer(0, 20), "this many doubles in a turn go to jail; 0 = doubles mean nothing", default=3
        ),
        Parameter(
            "lap", Choice(("single", "endless")), "past the last square: out of the game, or round again", default="single"
        ),
        Parameter("jail", Choice(("out", "visit")), "jailed: out of the game, or on from the jail square", default="out"),
        Parameter(
            "unresolved_below",
            Real(1e-300, 1.0),
            "without a last lap, turns are played until at most this probability is unresolved",
            default=1e-12,
        ),
        Parameter("turns", Integer(1, 100_000), "turns that turn_pmf lists", default=40),
        Parameter("exact", Boolean(), "also give the answers as fractions", default=False),
    ),
    variables=(
        Variable(
            "first",
            "probability that this player lands on the target before all others",
            ("player",),
            missing="the point has fewer players",
        ),
        Variable("nobody", "probability that no player ever lands on the target"),
        Variable("ever", "probability that a lone player ever lands on the target"),
        Variable("turn_pmf", "probability that a lone player first lands on the target in this turn", ("turn",)),
        Variable("later", "probability that a lone player first lands on the target after the last turn listed"),
        Variable(
            "mean_turn",
            "mean turn of a lone player's first landing, given that it lands",
            unit="turns",
            missing="the target is never landed on",
        ),
        Variable("unresolved", "probability that the race is still open after the last turn played"),
        Variable(
            "first_exact",
            "first, as a fraction in lowest terms; empty if the point has fewer players",
            ("player",),
            "str",
            when=lambda values: any(values["exact"]),
        ),
    ),
    solve=solve,
    cost=cost,
    headline=(Headline("first", {"player": 2}, ".6f"),),
    coordinates=coordinates,
    check=check,
    prepare=prepare,
    contained=True,
    laws=LAWS,
    recompute=recompute,
    reference="TopCoder Collegiate Challenge 2006, Online Round 1B, Monopolies",
)
