"""Growing a store: new values on its axes, with what is there kept to the byte.

Labels decide.  The values of the store stay where they are, new ones follow them, and ``open_sweep`` sorts.  The grown store is
put together beside the old one, from new metadata and hard links to the chunks that are there, and the two change places in one
step of the operating system; so the store is the old one or the new one, whole, at any moment.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline.identity import differences
from pipeline.store import (
    ATTRIBUTE,
    DETAILS,
    DIGEST,
    OWN,
    Store,
    fill_store,
    open_store,
    partial_path,
    read_attributes,
    write_attributes,
)
from pipeline.sweep import Column, Dimension, Sweep

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def new_labels(sweep: Sweep, store: Store) -> dict[str, list[Any]]:
    """Return the values of each axis that a sweep has and its store has not; axes without new ones are left out."""
    there = {dimension.name: set(map(_exactly, dimension.labels)) for dimension in store.sweep.dimensions}
    found = {
        dimension.name: [label for label in dimension.labels if _exactly(label) not in there.get(dimension.name, ())]
        for dimension in sweep.dimensions
    }
    return {name: labels for name, labels in found.items() if labels}


def _exactly(label: Any) -> tuple[str, Any]:
    return type(label).__name__, label


def obstacles(sweep: Sweep, store: Store) -> list[str]:
    """Return, in words, what keeps a store from being that of `sweep`, or from growing to it; empty if nothing does."""
    found = differences(sweep.plain(), store.sweep.plain(), growing=True)
    if not found:
        grown = merged(sweep, store.sweep)
        found = [
            f"{dim} would grow from {size} to {grown.sizes[dim]}, which needs a store of its own"
            for dim, size in store.sweep.sizes.items()
            if grown.sizes[dim] != size
        ]
    return found


def merged(sweep: Sweep, there: Sweep) -> Sweep:
    """Return the sweep of a store with the new values of `sweep` after its own."""
    here = {dimension.name: dimension for dimension in sweep.dimensions}
    dimensions = tuple(_extended(dimension, here[dimension.name]) for dimension in there.dimensions)
    return replace(sweep, dimensions=dimensions)


def _extended(there: Dimension, here: Dimension) -> Dimension:
    known = set(map(_exactly, there.labels))
    added = [i for i, label in enumerate(here.labels) if _exactly(label) not in known]
    columns = {column.parameter: column for column in here.columns}
    return Dimension(there.name, tuple(_longer(column, columns[column.parameter], added) for column in there.columns))


def _longer(there: Column, here: Column, added: list[int]) -> Column:
    details = {
        name: (*labels, *(here.details[name][i] for i in added))
        for name, labels in there.details.items()
        if name in here.details
    }
    return Column(there.parameter, (*there.values, *(here.values[i] for i in added)), details)


def grow(store: Store, sweep: Sweep) -> Store:
    """Give a store the new values of `sweep`; the lock of the store must be held.

    Raises
    ------
    OSError
        If the place cannot be written; the store is then as it was.
    """
    path = Path(store.path)
    beside = partial_path(path)
    try:
        fill_store(beside, merged(sweep, store.sweep), store.chunk)
        kept = {name: value for name, value in read_attributes(path).items() if name not in (ATTRIBUTE, DIGEST, "title")}
        _carry_over(path, beside, [variable.name for variable in (*store.sweep.variables, *OWN)])
        write_attributes(beside, kept)
        exchange(beside, path)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return open_store(path)


def _carry_over(old: Path, new: Path, names: list[str]) -> None:
    """Link every chunk of the variables, and everything in the groups of single points."""
    for tree in (*(Path(name) / "c" for name in names), Path(DETAILS)):
        for folder, _, files in os.walk(old / tree):
            target = new / Path(folder).relative_to(old)
            target.mkdir(parents=True, exist_ok=True)
            for file in files:
                if not file.endswith(".partial"):
                    _link(Path(folder) / file, target / file)


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EXDEV, errno.EMLINK, errno.EOPNOTSUPP):
            raise
        shutil.copy2(source, target)


def exchange(one: Path, other: Path) -> None:
    """Let two folders change places, in one step where the operating system can; else the second is away for a moment."""
    libc = ctypes.CDLL(None, use_errno=True)
    renameat2 = getattr(libc, "renameat2", None)
    if renameat2 and not renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE):
        return
    aside = partial_path(other)
    other.rename(aside)
    one.rename(other)
    aside.rename(one)
