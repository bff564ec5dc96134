"""Frequencies and their errors from independent replicates, and how sure a ranking is.

Replicate g of G counts square q n_g(q) times in r_g rolls, R rolls in all.  The frequency is f = sum_g n_g / R, and, the
replicates being independent, whatever the correlation of rolls within each,

    standard error^2 = G / (G - 1) * sum_g (n_g - f r_g)^2 / R^2,

which holds for the difference of two squares as well, with n_g the difference of their counts.  Errors from G replicates follow
Student's t with G - 1 degrees of freedom.

A gap between two ranks is resolved if it is so many errors wide that, were the squares truly the other way round, it would
come up by chance with a probability below :data:`LEVEL`; the gaps that make a top three share that (Bonferroni).  The
confidence in a top three is the share of bootstrap samples of replicates, drawn with replacement, that show the same one
(B. Efron and R. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 6; for rankings P. Hall and H. Miller, Annals of
Statistics 37 (2009) 3929, who warn that it is optimistic about nothing but near ties).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from solvers.ranking import ranks

Array = NDArray[np.float64]

LEVEL = 0.01
TOP = 3
RESAMPLES = 1000
"""Bootstrap samples: the confidence is good to about 0.015."""

BATCH = 2**20
"""Numbers drawn at a time for bootstrap samples."""


def frequency_and_error(counts: NDArray[np.int64], rolls: NDArray[np.int64]) -> tuple[Array, Array]:
    """Return the frequency and the standard error of each column of `counts`.

    Parameters
    ----------
    counts : ndarray of int64, shape (games, n)
        Counts, or differences of counts.
    rolls : ndarray of int64, shape (games,)
        Rolls of each game.
    """
    games, total = len(rolls), rolls.sum()
    frequency = counts.sum(axis=0) / total
    apart = counts - frequency * rolls[:, None]
    error: Array = np.sqrt(games / (games - 1) * (apart**2).sum(axis=0)) / total
    return frequency, error


def gaps_and_errors(counts: NDArray[np.int64], rolls: NDArray[np.int64], ranking: NDArray[np.int16]) -> tuple[Array, Array]:
    """Return how far the frequency at each rank is above that of the next, and the standard error of that; NaN for the last."""
    falling = counts[:, ranking]
    gap, error = frequency_and_error(falling[:, :-1] - falling[:, 1:], rolls)
    return np.append(gap, np.nan), np.append(error, np.nan)


def resolved(gap: Array, error: Array, games: int) -> bool:
    """Return whether the gaps after each of the first three ranks are all too wide to be chance."""
    some = slice(min(TOP, len(gap) - 1))
    quantile = stdtrit(games - 1, 1 - LEVEL / TOP)
    return bool((gap[some] > quantile * error[some]).all())


def confidence(
    counts: NDArray[np.int64], rolls: NDArray[np.int64], modal: str, random: np.random.Generator, resamples: int = RESAMPLES
) -> float:
    """Return the share of bootstrap samples of games whose top three is `modal`."""
    games = len(rolls)
    same = 0
    each = max(BATCH // games, 1)
    for first in range(0, resamples, each):
        some = min(each, resamples - first)
        drawn = random.integers(games, size=(some, games)) + games * np.arange(some)[:, None]
        weights = np.bincount(drawn.ravel(), minlength=some * games).reshape(some, games).astype(np.float64)
        frequency = (weights @ counts) / (weights @ rolls)[:, None]
        same += int((ranks(frequency)[2] == modal).sum())
    return same / resamples
