"""Squares by falling probability, and the modal string of the top three."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from solvers.compiled import compiled

Array = NDArray[np.float64]

TIE = 1e-14
"""Probabilities closer than this are ranked by square: above the error of the solution, below any gap that is known."""


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
