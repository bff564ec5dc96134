"""The packing programme of the hidden die: built by one enumeration, and started by a greedy filling.

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
from math import comb

import numpy as np
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
    """Build the programme of `dice` dice with `sides` sides; empty for one die, and for fewer than three sides.

    Raises
    ------
    ValueError
        If counts of ordered rolls do not fit 64 bits.
    """
    states, observations, columns = programme_size(dice, sides)
    if columns and sides ** (dice + 1) >= 2**62:
        raise ValueError(f"{dice} dice of {sides} sides have more ordered rolls than 64-bit counts hold")
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
        rolls, run = 1, 0
        for i in range(visible):
            run = run + 1 if i and faces[i] == faces[i - 1] else 1
            rolls = rolls * (i + 1) // run
        rolls *= visible + 1
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


def greedy_basis(programme: Programme) -> Integers:
    """Fill the columns one after the other as far as they go, from the highest observation down, the lowest face first.

    That order is nearly the optimum's: a low face saves most, and what a high observation saves is worth more than the demand
    that it takes from a lower one.

    Returns
    -------
    ndarray of int64, shape (states + observations,)
        For each row of ``programme.network()`` the basic column that belongs to it: the one that filled it, else v of a state
        and the slack of an observation.  The basis is feasible, and a forest: along z from row to row these were filled later
        and later, and v leads to observations with a smaller largest face.
    """
    states = programme.states
    spare = np.concatenate([programme.weight, programme.room]).astype(np.float64)
    counted = programme.above >= 0
    np.add.at(spare[states:], programme.above[counted], (programme.weight * programme.demand)[counted])
    keys = np.arange(programme.roll.size, programme.roll.size + spare.size)
    _fill(programme.roll, programme.seen, programme.credit, programme.above, programme.demand, spare, keys)
    return keys


@compiled
def _fill(
    roll: Indices,
    seen: Indices,
    credit: Integers,
    above: Indices,
    demand: Integers,
    spare: NDArray[np.float64],
    keys: Integers,
) -> None:
    states, last = above.size, seen.size
    while last > 0:
        first = last - 1
        while first > 0 and seen[first - 1] == seen[first]:
            first -= 1
        for column in range(first, last):
            state, shown, covered = roll[column], states + seen[column], states + above[roll[column]]
            amount, tight = spare[state], state
            if spare[shown] < amount * credit[column]:
                amount, tight = spare[shown] / credit[column], shown
            if demand[state] and spare[covered] < amount * demand[state]:
                amount, tight = spare[covered] / demand[state], covered
            if amount > 1e-9:
                spare[state] -= amount
                spare[shown] -= amount * credit[column]
                if demand[state]:
                    spare[covered] -= amount * demand[state]
                spare[tight] = 0.0
                keys[tight] = column
        last = first
