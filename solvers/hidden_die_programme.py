"""The packing programme of the hidden die: built by one enumeration, started greedily, solved in floating point.

:mod:`solvers.hidden_die` derives the programme.  In short: a *state* is a roll, as a multiset, whose largest face is below s
and which is not all one face; an *observation* is a multiset of n - 1 faces whose largest, m, is neither 1 nor s.  With
z[r, h] of the w_r ordered rolls of state r hiding a face h below the largest, and the rest, v_r, hiding the largest,

    maximise    sum of (m - h) z[r, h]
    subject to  sum over h of z[r, h] + v_r = w_r                                                  for each state r,
                sum of (m - h) z[o + h, h]  <=  room_o + sum over r = o + h of (h - m) v_r         for each observation o,

where m is the largest face of what is left to see and room_o = (s - m) w[o + s].  Putting v_r = w_r - sum of z[r, h] in the
second line leaves non-negative coefficients only, so that z = 0 is feasible and a greedy filling is a vertex.

A multiset f_1 <= f_2 <= ... <= f_n has the rank  sum over i of C(f_i + i - 2, i),  its place in colexicographic order; so
the rank of a roll is found from that of what remains visible without any look-up, and ranks rise with the largest face.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, factorial, inf
from typing import Any

import highspy
import numpy as np
from highspy._core import _Highs
from numpy.typing import NDArray

from solvers.compiled import compiled
from solvers.exact_lp import Network
from solvers.peeling import Indices
from solvers.rationals import Integers


@dataclass(frozen=True, eq=False)
class Programme:
    """The packing programme of `dice` dice with `sides` sides; both at least 1.

    Attributes
    ----------
    dice, sides : int
    roll, seen : ndarray of int32, shape (columns,)
        State in which a face is hidden, and observation that is left.  Columns are ordered by observation, then by face.
    face, credit : ndarray of int64, shape (columns,)
        The hidden face h, and m - h.
    weight : ndarray of int64, shape (states,)
        Ordered rolls of each state.
    above : ndarray of int32, shape (states,)
        Observation left by hiding the largest face; -1 where that saves nothing, because the face shows twice or because
        the others are all ones.
    demand : ndarray of int64, shape (states,)
        Largest face less the second largest; 0 where `above` is -1.
    room : ndarray of int64, shape (observations,)
    """

    dice: int
    sides: int
    roll: Indices
    seen: Indices
    face: Integers
    credit: Integers
    weight: Integers
    above: Indices
    demand: Integers
    room: Integers

    @property
    def states(self) -> int:
        """Number of states."""
        return self.weight.size

    @property
    def observations(self) -> int:
        """Number of observations."""
        return self.room.size

    def network(self) -> Network:
        """Return the programme in equations with at most two entries a column: first z, then v, then the slack of each o."""
        states, observations = self.states, self.observations
        count = self.roll.size + states + observations
        tail, head = np.empty(count, np.int32), np.full(count, -1, np.int32)
        at_tail, at_head, cost = np.ones(count, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64)
        hide, keep, slack = np.split(np.arange(count), [self.roll.size, self.roll.size + states])
        tail[hide], head[hide], at_head[hide] = self.roll, self.seen + states, self.credit
        cost[hide] = self.credit
        tail[keep] = np.arange(states)
        head[keep], at_head[keep] = np.where(self.above >= 0, self.above + states, -1), -self.demand
        tail[slack] = np.arange(states, states + observations)
        return Network(tail, head, at_tail, at_head, cost, np.concatenate([self.weight, self.room]))


def programme_size(dice: int, sides: int) -> tuple[int, int, int]:
    """Return the numbers of states, observations and columns of a programme, without building it."""
    if dice < 2 or sides < 3:
        return 0, 0, 0
    states = comb(sides + dice - 2, dice) - (sides - 1)
    observations = comb(sides + dice - 3, dice - 1) - 1
    columns = sum((m - 1) * comb(m + dice - 3, dice - 2) for m in range(2, sides))
    return states, observations, columns


def build_programme(dice: int, sides: int) -> Programme:
    """Build the programme of `dice` dice with `sides` sides; empty for one die, and for fewer than three sides."""
    states, observations, columns = programme_size(dice, sides)
    programme = Programme(
        dice,
        sides,
        roll=np.empty(columns, np.int32),
        seen=np.empty(columns, np.int32),
        face=np.empty(columns, np.int64),
        credit=np.empty(columns, np.int64),
        weight=np.empty(states, np.int64),
        above=np.full(states, -1, np.int32),
        demand=np.zeros(states, np.int64),
        room=np.empty(observations, np.int64),
    )
    if states:
        binomial = np.array([[comb(a, b) for b in range(dice + 1)] for a in range(sides + dice)])
        _enumerate(
            factorial(dice),
            sides,
            binomial,
            programme.roll,
            programme.seen,
            programme.face,
            programme.credit,
            programme.weight,
            programme.above,
            programme.demand,
            programme.room,
        )
    return programme


@compiled
def _enumerate(
    orders: int,
    sides: int,
    binomial: Integers,
    roll: Indices,
    seen: Indices,
    face: Integers,
    credit: Integers,
    weight: Integers,
    above: Indices,
    demand: Integers,
    room: Integers,
) -> None:
    visible = binomial.shape[1] - 2
    faces = np.ones(visible, np.int64)
    below = np.zeros(visible + 1, np.int64)
    over = np.zeros(visible + 1, np.int64)
    column = 0
    for observation in range(room.size):
        # The next multiset in order; the very first, all ones, is inert.
        place = 0
        while place < visible - 1 and faces[place] == faces[place + 1]:
            faces[place] = 1
            place += 1
        faces[place] += 1
        largest = faces[visible - 1]

        # Ranks of the faces before a place and, moved up by one place, from it on.
        for i in range(visible):
            below[i + 1] = below[i] + binomial[faces[i] + i - 1, i + 1]
        for i in range(visible - 1, -1, -1):
            over[i] = over[i + 1] + binomial[faces[i] + i, i + 2]
        rolls, run = orders, 0
        for i in range(visible):
            run = run + 1 if i and faces[i] == faces[i - 1] else 1
            rolls //= run
        room[observation] = (sides - largest) * rolls

        place = 0
        for hidden in range(1, sides):
            same = 0
            while place < visible and faces[place] <= hidden:
                same += faces[place] == hidden
                place += 1
            if hidden == largest:
                continue
            # Rolls of one face are no states: one of them stands before each higher largest face.
            state = below[place] + binomial[hidden + place - 1, place + 1] + over[place] - (max(hidden, largest) - 1)
            if hidden < largest:
                roll[column], seen[column] = state, observation
                face[column], credit[column] = hidden, largest - hidden
                weight[state] = rolls // (same + 1)
                column += 1
            else:
                above[state], demand[state] = observation, hidden - largest


@compiled
def _pack(
    roll: Indices,
    seen: Indices,
    credit: Integers,
    above: Indices,
    demand: Integers,
    start: Indices,
    row: Indices,
    entry: NDArray[np.float64],
) -> int:
    """Write the columns of the packing form, with states as the first rows; return the number of entries."""
    states, at = above.size, 0
    for column in range(roll.size):
        start[column] = at
        row[at], entry[at] = roll[column], 1.0
        row[at + 1], entry[at + 1] = states + seen[column], credit[column]
        at += 2
        if above[roll[column]] >= 0:
            row[at], entry[at] = states + above[roll[column]], demand[roll[column]]
            at += 1
    start[roll.size] = at
    return at


@compiled
def _fill(
    seen: Indices,
    start: Indices,
    row: Indices,
    entry: NDArray[np.float64],
    spare: NDArray[np.float64],
    used: NDArray[np.bool_],
    full: NDArray[np.bool_],
) -> None:
    """Fill columns as far as they go, from the highest observation down, the lowest face first.

    That order is nearly the optimum's: a low face saves most, and what a high observation saves is worth more than the
    demand that it takes from a lower one.
    """
    last = seen.size
    while last > 0:
        first = last - 1
        while first > 0 and seen[first - 1] == seen[last - 1]:
            first -= 1
        for column in range(first, last):
            amount, tight = np.inf, -1
            for at in range(start[column], start[column + 1]):
                if spare[row[at]] < amount * entry[at]:
                    amount, tight = spare[row[at]] / entry[at], row[at]
            if amount > 1e-9:
                for at in range(start[column], start[column + 1]):
                    spare[row[at]] -= amount * entry[at]
                spare[tight] = 0.0
                used[column] = full[tight] = True
        last = first


def optimal_basis(programme: Programme, time_limit: float = inf) -> tuple[Integers, int]:
    """Find an optimal basis of a programme that is not empty, in floating point, by the primal simplex method of HiGHS.

    Parameters
    ----------
    programme : Programme
    time_limit : float
        Seconds after which to give up.

    Returns
    -------
    basis : ndarray of int64, shape (states + observations,)
        Basic columns of ``programme.network()``.
    pivots : int
        Simplex iterations.

    Raises
    ------
    RuntimeError
        If HiGHS did not report an optimum.  A run that reached its time limit also holds numbers; they mean nothing.
    """
    columns, states, observations = programme.roll.size, programme.states, programme.observations
    start, row = np.empty(columns + 1, np.int32), np.empty(3 * columns, np.int32)
    entry = np.empty(3 * columns)
    entries = _pack(programme.roll, programme.seen, programme.credit, programme.above, programme.demand, start, row, entry)
    bound = np.concatenate([programme.weight, programme.room]).astype(np.float64)
    counted = programme.above >= 0
    np.add.at(bound[states:], programme.above[counted], (programme.weight * programme.demand)[counted])
    used, full = np.zeros(columns, np.bool_), np.zeros(states + observations, np.bool_)
    _fill(programme.seen, start, row, entry, bound.copy(), used, full)

    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = columns, states + observations
    lp.col_cost_ = -programme.credit.astype(np.float64)
    lp.col_lower_, lp.col_upper_ = np.zeros(columns), np.full(columns, inf)
    lp.row_lower_, lp.row_upper_ = np.full(bound.size, -inf), bound
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = start, row[:entries], entry[:entries]
    # The class that highspy exports wraps this one in callbacks: they double the time of a small programme, and print a banner
    # before they can be told not to.
    solver: Any = _Highs()
    for option, value in {
        "output_flag": False,
        "solver": "simplex",
        "simplex_strategy": int(highspy.simplex_constants.SimplexStrategy.kSimplexStrategyPrimal),
        "presolve": "off",
        "simplex_scale_strategy": 0,
        "time_limit": time_limit,
    }.items():
        solver.setOptionValue(option, value)
    solver.passModel(lp)
    solver.setBasis(_highs_basis(used, full))
    solver.run()
    status = solver.getModelStatus()
    if status != highspy.HighsModelStatus.kOptimal:
        raise RuntimeError(f"HiGHS found no optimum: {solver.modelStatusToString(status).lower()}")
    _, basic = solver.getBasicVariables()
    chosen = np.asarray(basic, np.int64)
    # HiGHS numbers the slack of row i as -1 - i; the network has it as the column after z of the same number.
    return np.where(chosen >= 0, chosen, columns - 1 - chosen), int(solver.getInfo().simplex_iteration_count)


def _highs_basis(used: NDArray[np.bool_], full: NDArray[np.bool_]) -> highspy.HighsBasis:
    status = highspy.HighsBasisStatus
    basis = highspy.HighsBasis()
    basis.col_status = [status.kBasic if basic else status.kLower for basic in used.tolist()]
    basis.row_status = [status.kUpper if tight else status.kBasic for tight in full.tolist()]
    basis.valid, basis.alien = True, False
    return basis
