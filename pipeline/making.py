"""A sweep made in Python, without a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.config import build_sweep
from pipeline.document import Source
from pipeline.sweep import Sweep


def make_sweep(
    study: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    zips: Mapping[str, Mapping[str, Any]] | None = None,
    cases: Sequence[Mapping[str, Any]] = (),
    exclude: str | None = None,
    seed: int = 0,
    title: str = "",
    folder: str | Path = ".",
) -> Sweep:
    """Make a sweep of what a sweep file would say.

    Parameters
    ----------
    study : str
        Name of a study, or ``module:attribute``.
    parameters : mapping of str to object, optional
        A value is fixed; a list, a range or a NumPy array is an axis; decks and boards are names or mappings, as in a file.
    zips : mapping of str to mapping, optional
        Parameters that move together, by the name of their dimension; the key ``zip`` of a file.
    cases : sequence of mapping
    exclude : str, optional
    seed : int
    title : str
    folder : path
        Where named decks and boards are looked for, before those of the package.

    Returns
    -------
    Sweep
        For :func:`pipeline.run`.

    Raises
    ------
    UserError
        As for a file.

    Examples
    --------
    >>> make_sweep("landing", {"target": [10, 22, 30], "sides": range(4, 9)}).points
    15
    """
    raw = {
        "study": study,
        "title": title,
        "parameters": _plain(parameters or {}),
        "zip": _plain(zips or {}),
        "cases": _plain(cases),
        "exclude": exclude,
        "seed": seed,
    }
    return build_sweep(raw, Source("make_sweep", {}), Path(folder), "outputs/sweep.zarr").sweep


def _plain(value: Any) -> Any:
    """Return a value as a file would give it."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | range):
        return [_plain(item) for item in value]
    return value
