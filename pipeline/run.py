"""A run: under the lock of the store, pending blocks to Dask, receipts back.

The scheduler holds a rolling window of tasks, each a path and the position of a block; the workers write what they solve, and
a future is let go as soon as its receipt is read.  Neither the driver's memory nor the scheduler's grows with the sweep.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import xarray as xr
from distributed import Client

from pipeline.cluster import connect
from pipeline.config import SweepConfig
from pipeline.drive import Tally, drive
from pipeline.errors import UserError
from pipeline.growth import grow
from pipeline.lock import Lock, hold
from pipeline.plan import Plan, make_plan, require_same
from pipeline.provenance import now, run_record, version_changes
from pipeline.store import (
    DONE,
    FAILED,
    Store,
    create_store,
    is_store,
    open_store,
    open_sweep,
    read_attributes,
    reset,
    restamp,
    survey,
    sweep_litter,
    write_attributes,
)
from pipeline.sweep import Sweep
from pipeline.task import Receipt

RUNS = "dicesweep_runs"
"""Attribute with one record for each run that touched the store, as a JSON list."""

GIVEN = "dicesweep_given"
"""Attribute with the sweep as it was given: the text of the file, the settings that replaced parts of it, and notes."""


@dataclass(frozen=True)
class Options:
    """How a run goes about it; none of these has a part in the answer.

    Attributes
    ----------
    wait : bool
        Wait for a run that holds the store, rather than stop.
    break_lock : bool
        Break the lock of a run on another host that shows no life.
    retry_failed : bool
        Compute failed points again.
    recompute : bool
        Compute everything again, also if the study's version has changed.
    max_failures : int or None
        Stop when more points than that have failed.
    timeout : float or None
        Seconds after which a point has failed.
    """

    wait: bool = False
    break_lock: bool = False
    retry_failed: bool = False
    recompute: bool = False
    max_failures: int | None = None
    timeout: float | None = None

    @property
    def again(self) -> tuple[int, ...]:
        """States of points that are computed again."""
        return (DONE, FAILED) if self.recompute else (FAILED,) if self.retry_failed else ()


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
        Whether the user stopped it.
    stopped : str
        Why it stopped by itself before the end; empty if it did not.
    failure : str
        Why the first failing point failed.
    """

    done: int
    failed: int
    excluded: int
    seconds: float
    interrupted: bool
    stopped: str = ""
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

    def say(self, text: str) -> None:
        """Hear one line that a person should know."""


@dataclass(frozen=True)
class Given:
    """The sweep as it was given, for the record."""

    text: str = ""
    settings: tuple[str, ...] = ()
    notes: str = ""


def execute(
    plan: Plan,
    watcher: Watcher | None = None,
    client: Client | None = None,
    options: Options | None = None,
    given: Given | None = None,
) -> Outcome:
    """Do what a plan says.

    Parameters
    ----------
    watcher : Watcher, optional
    client : distributed.Client, optional
        Where to run, instead of the plan's place.
    options : Options, optional
    given : Given, optional

    Returns
    -------
    Outcome
        A KeyboardInterrupt ends the run early, with whatever is done kept.

    Raises
    ------
    UserError
        If another run holds the store, if it cannot be written, or if no scheduler answers.
    """
    watcher, options = watcher or Watcher(), options or Options()
    tally = Tally(options.max_failures)
    try:
        if plan.pending or plan.new:
            with hold(plan.path, wait=options.wait, force=options.break_lock, said=watcher.say) as lock:
                _run_locked(plan, lock, watcher, client, options, given or Given(), tally)
    except KeyboardInterrupt:
        tally.interrupted = True
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        reason = (error.strerror or str(error)).lower()
        raise UserError(f"{plan.path}: cannot be written: {reason}; what is done is kept, and a rerun goes on") from None
    return Outcome(tally.done, tally.failed, tally.excluded, tally.seconds, tally.interrupted, tally.stopped, tally.failure)


def _run_locked(
    plan: Plan, lock: Lock, watcher: Watcher, client: Client | None, options: Options, given: Given, tally: Tally
) -> None:
    sweep_litter(plan.path)
    with watcher.preparing():
        plan.sweep.study.prepare()
    # The cluster comes first, so that nothing is written if there is none.
    with nullcontext(client) if client else connect(plan.place) as connected:
        store = _ready_store(plan, options)
        _keep_given(store, given)
        found = survey(store)
        with _Record(store, lock, plan, watcher, tally):
            lock.say(pending=found.counts[0], place=str(plan.place))
            lock.beat(lambda: {"done": tally.done + tally.excluded, "failed": tally.failed})
            watcher.starting(plan)
            drive(connected, store, found.pending, lock.run, tally, watcher.received, timeout=options.timeout)


def _ready_store(plan: Plan, options: Options) -> Store:
    """Make the store, or grow it, or mark again what is to be computed again."""
    if not is_store(plan.path):
        return create_store(plan.path, plan.sweep)
    store = open_store(plan.path)
    require_same(store, plan.sweep, recompute=options.recompute)
    if store.sweep.shape != plan.sweep.shape:
        store = grow(store, plan.sweep)
    if options.again:
        reset(store, options.again)
    if store.version != plan.sweep.study.version:
        store = restamp(store)
    return store


def _keep_given(store: Store, given: Given) -> None:
    if given != Given():
        said = {"file": given.text, "set": list(given.settings), "notes": given.notes}
        write_attributes(store.path, {GIVEN: json.dumps(said)})


def read_runs(path: str | Path) -> list[dict[str, Any]]:
    """Return the record of each run that touched a store."""
    runs: list[dict[str, Any]] = json.loads(str(read_attributes(path).get(RUNS, "[]")))
    return runs


@dataclass
class _Record(AbstractContextManager[None]):
    """Writes a run into the store's attributes, when it starts and when it ends."""

    store: Store
    lock: Lock
    plan: Plan
    watcher: Watcher
    tally: Tally
    runs: list[dict[str, Any]] = field(default_factory=list)

    def __enter__(self) -> None:
        self.runs = read_runs(self.store.path)
        record = run_record(self.lock.run, self.store.sweep.study.version, str(self.plan.place))
        if self.runs and (changes := version_changes(self.runs[-1]["versions"], record["versions"])):
            self.watcher.say(f"other versions than the last run used: {', '.join(changes)}")
        self.runs.append(record)
        self._write({})

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._write({"ended": now(), "done": self.tally.done, "failed": self.tally.failed, "complete": kind is None})

    def _write(self, changes: Mapping[str, Any]) -> None:
        self.runs[-1] |= changes
        write_attributes(self.store.path, {RUNS: json.dumps(self.runs)})


def run(
    sweep: Sweep | SweepConfig,
    store: str | Path | None = None,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    client: Client | None = None,
    watcher: Watcher | None = None,
    options: Options | None = None,
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
    options : Options, optional

    Returns
    -------
    xarray.Dataset
        As :func:`pipeline.open_sweep` gives it; points that failed are marked so in ``status``.

    Raises
    ------
    UserError
        If the store belongs to another sweep, is held by another run, or cannot be written.
    KeyboardInterrupt
        If the run was interrupted; what is done is kept.
    """
    given, options = None, options or Options()
    path: str | Path | None = store
    if isinstance(sweep, SweepConfig):
        path, given = store or sweep.store, Given(sweep.text, sweep.settings, sweep.notes)
        sweep = sweep.sweep
    if path is None:
        raise UserError("run: say where the answer goes with store=PATH")
    plan = make_plan(sweep, path, workers, scheduler, again=options.again, recompute=options.recompute)
    if execute(plan, watcher, client, options, given).interrupted:
        raise KeyboardInterrupt
    return open_sweep(plan.path)
