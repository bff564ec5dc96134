"""The loop: pending blocks to Dask, receipts back.

The scheduler holds a rolling window of tasks, each a path and the position of a block; the workers write what they solve, and
a future is let go as soon as its receipt is read.  Neither the driver's memory nor the scheduler's grows with the sweep.
"""

from __future__ import annotations

import errno
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import xarray as xr
from distributed import Client, as_completed

from pipeline.cluster import Place, choose_place, connect
from pipeline.config import SweepConfig
from pipeline.errors import UserError
from pipeline.space import block_at, chunk_shape, element_bytes, lattice, point_cost, sample_costs
from pipeline.store import Store, Survey, create_store, is_store, open_store, open_sweep, require_same, survey
from pipeline.sweep import Sweep
from pipeline.task import Receipt, run_block

TASK_SECONDS = 0.003
"""About what Dask adds to a block."""

WINDOW = 3
"""Tasks that the scheduler holds for each thread: one that runs, and enough to never wait for the driver."""


@dataclass(frozen=True)
class Plan:
    """What a run would do; nothing is written to make one.

    Attributes
    ----------
    sweep : Sweep
    path : str
        Of the store.
    store : Store or None
        None if it is yet to be made.
    chunk : tuple of int
        Points of a block along each dimension.
    lattice : tuple of int
        Blocks along each dimension.
    survey : Survey
        What is in the store already.
    seconds : float
        Estimate of the work that is left, on one core.
    bytes : int
        Size of the whole answer before compression.
    place : Place
        Where it would run.
    """

    sweep: Sweep
    path: str
    store: Store | None
    chunk: tuple[int, ...]
    lattice: tuple[int, ...]
    survey: Survey
    seconds: float
    bytes: int
    place: Place

    @property
    def pending(self) -> int:
        """Points that are left to do."""
        return self.survey.counts[0]


@dataclass(frozen=True)
class Outcome:
    """What a run did.

    Attributes
    ----------
    done, failed, excluded : int
        Points that changed to that state.
    seconds : float
        From the first block on, beyond start-up.
    interrupted : bool
    failure : str
        Why the first failing point failed.
    """

    done: int
    failed: int
    excluded: int
    seconds: float
    interrupted: bool
    failure: str = ""


class Watcher:
    """Hears what a run does; every method may be overridden."""

    def preparing(self) -> AbstractContextManager[object]:
        """Surround the time in which the solver is compiled or loaded."""
        return nullcontext()

    def starting(self, plan: Plan) -> None:
        """Hear that the first block is about to be sent."""

    def received(self, receipt: Receipt) -> None:
        """Hear that a block is in the store."""


def make_plan(sweep: Sweep, path: str | Path, workers: int | None = None, scheduler: str | None = None) -> Plan:
    """Work out what is there, what is left, and how it would be done.

    Raises
    ------
    UserError
        If the store belongs to another sweep.
    """
    path = os.path.abspath(path)  # noqa: PTH100 - a string, since the store may be on an object store one day
    costs = sample_costs(sweep)
    store = None
    if is_store(path):
        store = open_store(path)
        require_same(store, sweep)
        sweep, chunk, found = store.sweep, store.chunk, survey(store)
        blocks = lattice(sweep.shape, chunk)
    else:
        chunk = chunk_shape(sweep)
        blocks = lattice(sweep.shape, chunk)
        found = Survey((sweep.points, 0, 0, 0), ())
    pending = found.counts[0]
    seconds = costs.mean * pending
    size = sweep.points * (1 + sum(element_bytes(variable, sweep.sizes) for variable in sweep.variables))
    return Plan(sweep, path, store, chunk, blocks, found, seconds, size, choose_place(seconds, workers, scheduler))


def execute(plan: Plan, watcher: Watcher | None = None, client: Client | None = None) -> Outcome:
    """Do what a plan says.

    Parameters
    ----------
    watcher : Watcher, optional
    client : distributed.Client, optional
        Where to run, instead of the plan's place.

    Returns
    -------
    Outcome
        A KeyboardInterrupt ends the run early, with whatever is done kept.

    Raises
    ------
    UserError
        If the store cannot be written or no scheduler answers.
    """
    watcher = watcher or Watcher()
    tally = _Tally()
    try:
        if plan.pending:
            with watcher.preparing():
                plan.sweep.study.prepare()
            with nullcontext(client) if client else connect(plan.place) as connected:
                store = plan.store or create_store(plan.path, plan.sweep)
                watcher.starting(plan)
                started = time.perf_counter()
                _drive(connected, store, _order(store, plan), tally, watcher)
                tally.seconds = time.perf_counter() - started
    except KeyboardInterrupt:
        tally.interrupted = True
    return tally.outcome()


@dataclass
class _Tally:
    counts: list[int] = field(default_factory=lambda: [0, 0, 0])
    failure: str = ""
    interrupted: bool = False
    seconds: float = 0.0

    def add(self, receipt: Receipt) -> None:
        for i, count in enumerate((receipt.done, receipt.failed, receipt.excluded)):
            self.counts[i] += count
        self.failure = self.failure or receipt.failure

    def outcome(self) -> Outcome:
        done, failed, excluded = self.counts
        return Outcome(done, failed, excluded, self.seconds, self.interrupted, self.failure)


def _order(store: Store, plan: Plan) -> Iterator[tuple[int, ...]]:
    """Return the pending blocks, the longest first where they differ."""
    if not plan.survey.pending and plan.store is None:
        pending: Iterator[tuple[int, ...]] = (block.index for block in store.blocks())
    else:
        pending = iter(plan.survey.pending)
    costs = sample_costs(plan.sweep)
    if costs.largest < 2 * costs.mean:
        return pending

    def cost(index: tuple[int, ...]) -> float:
        block = block_at(index, store.sweep.shape, store.chunk)
        return block.points * point_cost(store.sweep, tuple(part.stop - 1 for part in block.region))

    return iter(sorted(pending, key=cost, reverse=True))


def _drive(client: Client, store: Store, queue: Iterator[tuple[int, ...]], tally: _Tally, watcher: Watcher) -> None:
    run = uuid.uuid4().hex[:8]
    threads = max(1, sum(client.nthreads().values()))
    running = as_completed()

    def submit(count: int) -> None:
        for index in islice(queue, count):
            running.add(client.submit(run_block, store.path, index, key=f"block-{run}-{'.'.join(map(str, index))}", pure=False))

    try:
        submit(WINDOW * threads)
        for future in running:
            receipt = future.result()
            future.release()
            tally.add(receipt)
            watcher.received(receipt)
            submit(1)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS):
            raise
        reason = (error.strerror or str(error)).lower()
        raise UserError(f"{store.path}: cannot be written: {reason}; what is done is kept, and a rerun goes on") from None
    finally:
        client.cancel(list(running.futures))


def run(
    sweep: Sweep | SweepConfig,
    store: str | Path | None = None,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    client: Client | None = None,
    watcher: Watcher | None = None,
) -> xr.Dataset:
    """Compute whatever is pending of a sweep and open its answer.

    Parameters
    ----------
    sweep : Sweep or SweepConfig
        From :func:`pipeline.load_sweep`.
    store : path, optional
        Where the answer goes; by default where the sweep file says.
    workers : int, optional
        Threads or processes on this machine; all cores by default.
    scheduler : str, optional
        Address of a running Dask scheduler.
    client : distributed.Client, optional
        A client of your own, which is left as it is.
    watcher : Watcher, optional
        Hears of every block.

    Returns
    -------
    xarray.Dataset
        As :func:`pipeline.open_sweep` gives it.

    Raises
    ------
    UserError
        If the store belongs to another sweep, or cannot be written.
    KeyboardInterrupt
        If the run was interrupted; what is done is kept.
    """
    path = store or (sweep.store if isinstance(sweep, SweepConfig) else None)
    if path is None:
        raise UserError("run: say where the answer goes with store=PATH")
    plan = make_plan(sweep.sweep if isinstance(sweep, SweepConfig) else sweep, path, workers, scheduler)
    if execute(plan, watcher, client).interrupted:
        raise KeyboardInterrupt
    return open_sweep(plan.path)
