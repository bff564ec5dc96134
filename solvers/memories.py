"""Reshuffled decks against decks drawn in order, square by square: which squares really differ.

The reshuffled odds are exact.  Those of decks drawn in order are a mean over random orders with a standard error, so that their
difference in errors follows Student's t with one degree of freedom less than there are orders.  Many squares are looked at
together, and some would differ by chance: Holm's procedure (Scandinavian Journal of Statistics 6 (1979) 65) keeps the
probability that any square is wrongly said to differ below the level, however the squares depend on each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

Array = NDArray[np.float64]

LEVEL = 0.01

MOST_TABLES = 24
"""Boards beyond which a sweep is not told square by square."""


@dataclass(frozen=True)
class Comparison:
    """Two kinds of decks on the same board; every array has the squares last.

    Attributes
    ----------
    shuffled, cycle, standard_error : ndarray of float64
        Odds with reshuffled decks, with decks drawn in order, and the error of the latter.
    difference : ndarray of float64
        ``cycle - shuffled``.
    errors : ndarray of float64
        The difference in standard errors; 0 where there is neither.
    differs : ndarray of bool
        Where the difference is significant.
    """

    shuffled: Array
    cycle: Array
    standard_error: Array
    difference: Array
    errors: Array
    differs: NDArray[np.bool_]

    def table(self, names: Sequence[str]) -> str:
        """Return one line a square, for a single board: odds in per cent, the difference and its error in 1e-6."""
        lines = [f"{'square':<8}{'reshuffled %':>14}{'in order %':>14}{'difference':>12}{'error':>8}{'in errors':>11}"]
        for q, name in enumerate(names):
            lines.append(
                f"{name:<8}{self.shuffled[q] * 100:>14.4f}{self.cycle[q] * 100:>14.4f}{self.difference[q] * 1e6:>+12.1f}"
                f"{self.standard_error[q] * 1e6:>8.1f}{self.errors[q]:>+11.1f}{'  differs' if self.differs[q] else ''}"
            )
        differing = [name for q, name in enumerate(names) if self.differs[q]]
        lines.append(f"differ significantly: {', '.join(differing) or 'none'}")
        return "\n".join(lines)


def compare_memories(shuffled: Array, cycle: Array, standard_error: Array, orders: int, level: float = LEVEL) -> Comparison:
    """Compare the ``probability`` of the study ``stationary`` for the two values of ``deck_memory``.

    Parameters
    ----------
    shuffled, cycle, standard_error : ndarray of float64, shape (..., N)
        ``probability`` with reshuffled decks, and ``probability`` and ``standard_error`` with decks drawn in order.
    orders : int
        Number of orders behind the latter, at least two.
    level : float
        Most probable that any square of a board is said to differ that does not.

    Raises
    ------
    ValueError
        If there are fewer than two orders.
    """
    if orders < 2:
        raise ValueError("one order of the decks has no error; it takes two or more")
    difference = cycle - shuffled
    # Both are rounded: where all orders agree, the difference and its error are nothing but that.
    real = np.maximum(np.abs(difference), standard_error) > 1e-13
    errors = np.divide(difference, standard_error, out=np.zeros_like(difference), where=real & (standard_error > 0))
    p = 2 * stdtr(orders - 1, -np.abs(errors))
    rank = p.argsort(axis=-1).argsort(axis=-1)
    fails = p > level / (p.shape[-1] - rank)
    first = np.where(fails, rank, p.shape[-1]).min(axis=-1, keepdims=True)
    return Comparison(shuffled, cycle, standard_error, difference, errors, rank < first)


def remarks(axes: Mapping[str, Sequence[Any]], fixed: Mapping[str, Any], answers: Mapping[str, NDArray[Any]]) -> Iterator[str]:
    """Yield a table for each point of a sweep of ``stationary`` over both values of ``deck_memory``; nothing for others."""
    memories = list(axes.get("deck_memory", ()))
    if not {"shuffled", "cycle"} <= set(memories) or "board" in axes or fixed.get("orders", 0) < 2:
        return
    place = list(axes).index("deck_memory")
    shuffled, cycle, error = (
        np.take(answers[name], memories.index(memory), axis=place)
        for name, memory in (("probability", "shuffled"), ("probability", "cycle"), ("standard_error", "cycle"))
    )
    rest = {name: labels for name, labels in axes.items() if name != "deck_memory"}
    shape = tuple(len(labels) for labels in rest.values())
    for index in np.ndindex(*shape) if np.prod(shape, dtype=int) <= MOST_TABLES else ():
        point = ", ".join(f"{name}={labels[i]}" for (name, labels), i in zip(rest.items(), index, strict=True))
        table = compare_memories(shuffled[index], cycle[index], error[index], fixed["orders"]).table(fixed["board"].names)
        yield f"{point or 'the one point'}: {fixed['orders']:,} orders\n{table}"
