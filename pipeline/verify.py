"""Is what a store says true?  Checksums, laws, and a sample computed again by independent methods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.lock import hold
from pipeline.space import Block
from pipeline.store import (
    DONE,
    FAILED,
    FAILURE,
    OWN,
    PENDING,
    STATUS,
    TRACEBACK,
    Store,
    open_store,
    point_name,
    read_coordinates,
    write_coordinates,
)

_SPARSE = (FAILURE.name, TRACEBACK.name)
"""Variables whose chunks are left out where they are empty."""


@dataclass(frozen=True)
class Untruth:
    """Something in a store that is not so.

    Attributes
    ----------
    text : str
        One line.
    block : tuple of int or None
        The block that has to be computed again to put it right, if there is one.
    """

    text: str
    block: tuple[int, ...] | None = None


def untruths(store: Store, sample: int = 0, seed: int = 0) -> Iterator[Untruth]:
    """Look through a store and yield what is not so, as it is found.

    Parameters
    ----------
    sample : int
        Number of points to compute again by the study's independent method.
    seed : int
        Of the choice of that sample.
    """
    yield from _coordinate_untruths(store)
    places: list[tuple[tuple[int, ...], int]] = []
    for block in store.blocks():
        found = list(block_untruths(store, block))
        yield from found
        if sample and not found:
            status = store.status(block)
            places.append((block.index, int((status == DONE).sum())))
    yield from _sample_untruths(store, places, sample, seed)


def _coordinate_untruths(store: Store) -> Iterator[Untruth]:
    for name, wanted, found in read_coordinates(store):
        if isinstance(found, Exception):
            yield Untruth(f"coordinate {name}: cannot be read: {_said(found)}")
        elif not np.array_equal(wanted, found):
            yield Untruth(f"coordinate {name}: its labels are not those that the store was made for")


def block_untruths(store: Store, block: Block) -> Iterator[Untruth]:
    """Yield what is not so about one block: chunks that are lost or damaged, and laws that do not hold."""
    answers: dict[str, NDArray[Any]] = {}
    for variable in (STATUS, *store.sweep.variables, *OWN):
        if variable.name in answers:
            continue
        chunk = chunk_path(store, variable.name, block)
        try:
            answers[variable.name] = store.read(variable.name, block)
        except Exception as error:
            yield Untruth(f"{chunk}: damaged: {_said(error)}", block.index)
            return
        if variable is STATUS and (answers["status"] == PENDING).all():
            return
        if variable.name not in _SPARSE and not chunk.is_file():
            yield Untruth(f"{chunk}: lost, though its block is not pending", block.index)
            return
    status = answers["status"]
    if (status > 3).any():
        yield Untruth(f"{chunk_path(store, 'status', block)}: holds a state that does not exist", block.index)
        return
    silent = (status == FAILED) & (answers[FAILURE.name] == "")
    if silent.any():
        yield Untruth(f"point {_name(store, block, silent)}: failed without a reason", block.index)
    done = status == DONE
    at_done = {variable.name: answers[variable.name][done] for variable in store.sweep.variables}
    for law in store.sweep.study.laws if done.any() else ():
        broken = np.zeros(block.shape, np.bool_)
        broken[done] = ~np.asarray(law.holds(at_done), np.bool_)
        if broken.any():
            yield Untruth(f"point {_name(store, block, broken)}: it does not hold that {law.text}", block.index)


def _name(store: Store, block: Block, where: NDArray[np.bool_]) -> str:
    place = np.argwhere(where)[0]
    return point_name(store.sweep, tuple(part.start + int(i) for part, i in zip(block.region, place, strict=True)))


def chunk_path(store: Store, name: str, block: Block) -> Path:
    """Return the file of a variable's chunk."""
    array = store.arrays[name]
    own = (0,) * (array.ndim - len(block.index))
    return Path(store.path) / name / array.metadata.encode_chunk_key((*block.index, *own))


def _said(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def _sample_untruths(store: Store, places: list[tuple[tuple[int, ...], int]], sample: int, seed: int) -> Iterator[Untruth]:
    recompute = store.sweep.study.recompute
    total = sum(count for _, count in places)
    if not sample or recompute is None or not total:
        return
    chosen = np.sort(np.random.default_rng(seed).choice(total, min(sample, total), replace=False))
    first = 0
    for index, count in places:
        inside = chosen[(chosen >= first) & (chosen < first + count)] - first
        first += count
        if not inside.size:
            continue
        block = store.block(index)
        done = np.argwhere(store.status(block) == DONE)
        answers = {variable.name: store.read(variable.name, block) for variable in store.sweep.variables}
        for place in done[inside]:
            at = tuple(part.start + int(i) for part, i in zip(block.region, place, strict=True))
            values = {name: value.value for name, value in store.sweep.at(at).items()}
            said = recompute(values, {name: answer[tuple(place)] for name, answer in answers.items()})
            if said:
                yield Untruth(f"point {point_name(store.sweep, at)}: {said}", index)


def repair(path: str | Path, *, wait: bool = False, force: bool = False) -> int:
    """Make every damaged block of a store pending again, and write its coordinates anew.

    Returns
    -------
    int
        Number of blocks that a run will compute again.

    Raises
    ------
    UserError
        If another run holds the store.
    """
    with hold(path, wait=wait, force=force):
        store = open_store(path)
        if list(_coordinate_untruths(store)):
            write_coordinates(store)
        damaged = 0
        for block in store.blocks():
            if any(untruth.block is not None for untruth in block_untruths(store, block)):
                damaged += 1
                store.write(block, store.blank(block), np.zeros(block.shape, np.uint8))
        return damaged
