"""Several values in few words: lists, ``{range: [2, 20]}``, ``{linspace: [0, 1, 11]}``, ``{geomspace: [1, 1000, 4]}``.

A range includes its end, as people say it.  The values of a linspace and a geomspace are those of NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pipeline.errors import shown

_FORMS = {
    "range": "[first, last] or [first, last, step]",
    "linspace": "[first, last, count]",
    "geomspace": "[first, last, count]",
}


def is_series(raw: Any) -> bool:
    """Return whether a value of a sweep file is a mapping that stands for several values."""
    return isinstance(raw, Mapping) and len(raw) == 1 and next(iter(raw)) in _FORMS


def expand_series(raw: Any, limit: int) -> Sequence[Any]:
    """Return the values that a list or a series stands for.

    Raises
    ------
    ValueError
        One line, if it is malformed, empty, or has more than `limit` values.
    """
    if isinstance(raw, list):
        values: Sequence[Any] = raw
    else:
        form, numbers = next(iter(raw.items()))
        if not isinstance(numbers, list) or not all(_is_number(number) for number in numbers):
            raise ValueError(f"{form} needs {_FORMS[form]} (got {shown(numbers)})")
        values = _range(numbers, limit) if form == "range" else _spaced(form, numbers, limit)
    if len(values) > limit:
        raise ValueError(f"{len(values):,} values are more than {limit:,}")
    return values


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**53 and math.isfinite(value)


def _range(numbers: list[Any], limit: int) -> Sequence[Any]:
    if len(numbers) not in (2, 3):
        raise ValueError(f"range needs {_FORMS['range']} (got {len(numbers)} numbers)")
    first, last, step = [*numbers, 1][:3]
    if step == 0:
        raise ValueError("the step of a range cannot be 0")
    # The slack lets 0.3 be the end of 0, 0.1, 0.2, 0.3, which floating-point division would miss.
    count = math.floor((last - first) / step + 1e-9) + 1
    if count < 1:
        raise ValueError(f"the range from {first} to {last} in steps of {step} is empty")
    if count > limit:
        raise ValueError(f"the range has {count:,} values, more than {limit:,}")
    return [first + i * step for i in range(count)]


def _spaced(form: str, numbers: list[Any], limit: int) -> Sequence[Any]:
    if len(numbers) != 3 or not isinstance(numbers[2], int) or numbers[2] < 1:
        raise ValueError(f"{form} needs {_FORMS[form]}, with a count from 1 (got {shown(numbers)})")
    first, last, count = numbers
    if count > limit:
        raise ValueError(f"{form} has {count:,} values, more than {limit:,}")
    if form == "geomspace" and first * last <= 0:
        raise ValueError("geomspace needs two numbers of the same sign, neither of them 0")
    spaced: list[float] = (np.linspace if form == "linspace" else np.geomspace)(first, last, count).tolist()
    return spaced
