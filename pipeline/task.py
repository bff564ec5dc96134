"""What a worker does with a block: solve what is pending, keep what fails as data, write, and send back a receipt.

A worker reads everything it needs from the store itself, so a task is a few short values and a receipt a few numbers; no array
crosses the network.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.isolate import solve_carefully
from pipeline.lock import holds
from pipeline.solve import Failure, Place, solve_points
from pipeline.space import Block
from pipeline.store import DONE, EXCLUDED, FAILED, FAILURE, PENDING, TRACEBACK, Store, open_store, write_details


class StaleRunError(Exception):
    """The run that sent a block does not hold the store any more."""


@dataclass(frozen=True)
class Receipt:
    """What became of a block.

    Attributes
    ----------
    block : tuple of int
        Position of the block.
    done, failed, excluded : int
        Points that changed to that state.
    seconds : float
        Time that the worker took.
    failure : str
        Why the first failing point failed; empty if none did.
    """

    block: tuple[int, ...]
    done: int
    failed: int
    excluded: int
    seconds: float
    failure: str = ""

    @property
    def points(self) -> int:
        """Points that are no longer pending."""
        return self.done + self.failed + self.excluded


def run_block(
    path: str, index: tuple[int, ...], run: str | None = None, *, careful: bool = False, timeout: float | None = None
) -> Receipt:
    """Solve the pending points of one block and write them to the store at `path`.

    Parameters
    ----------
    run : str, optional
        The run that sent the block; nothing is written unless it holds the lock of the store.
    careful : bool
        Solve in a child process, so that points that crash are known.
    timeout : float, optional
        Seconds after which a point has failed; implies `careful`.

    Raises
    ------
    StaleRunError
        If the run does not hold the store.
    """
    started = time.perf_counter()
    store = open_store(path)
    block = store.block(index)
    status = store.status(block)
    pending = status == PENDING
    excluded = pending & store.sweep.excluded(block.region)
    wanted = pending & ~excluded
    results = store.blank(block) if pending.all() else {name: store.read(name, block) for name in store.blank(block)}
    if careful or timeout is not None:
        failures = solve_carefully(store, block, wanted, results, timeout)
    else:
        failures = solve_points(store.sweep, block, wanted, results)
    if run is not None and not holds(path, run):
        raise StaleRunError(f"{path}: run {run} does not hold this store any more")
    failures |= _keep_details(store, block, wanted, failures)
    status[pending] = DONE
    status[excluded] = EXCLUDED
    for name in (FAILURE.name, TRACEBACK.name):
        results[name][pending] = ""
    for place, failure in failures.items():
        status[place] = FAILED
        results[FAILURE.name][place], results[TRACEBACK.name][place] = failure.reason, failure.traceback
    store.write(block, results, status)
    failed, left_out = len(failures), int(excluded.sum())
    reason = next((failure.reason for failure in failures.values()), "")
    return Receipt(index, int(pending.sum()) - left_out - failed, failed, left_out, time.perf_counter() - started, reason)


def _keep_details(
    store: Store, block: Block, wanted: NDArray[np.bool_], failures: dict[Place, Failure]
) -> dict[Place, Failure]:
    """Write the tables of each point that has some, and return those points for which this failed."""
    details = store.sweep.study.details
    failed: dict[Place, Failure] = {}
    if details is None:
        return failed
    for place in map(tuple, np.argwhere(wanted).tolist()):
        if place in failures:
            continue
        index = tuple(part.start + i for part, i in zip(block.region, place, strict=True))
        try:
            columns: Any = details({name: value.value for name, value in store.sweep.at(index).items()})
        except Exception as error:
            failed[place] = Failure.of(error)
            continue
        if columns:
            write_details(store, index, columns)
    return failed
