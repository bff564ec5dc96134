"""Where Dask runs: threads of this process, worker processes on this machine, or a cluster that is running already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import dask
from dask.system import CPU_COUNT
from distributed import Client, LocalCluster
from distributed.diagnostics.plugin import WorkerPlugin
from threadpoolctl import threadpool_limits

from pipeline.errors import UserError

PROCESSES_FROM = 30.0
"""Seconds of work, on one core, from which worker processes pay for their start of about two seconds each."""

CONNECT_SECONDS = 10

_QUIET = {
    "distributed.comm.timeouts.connect": f"{CONNECT_SECONDS}s",
    "distributed.worker.memory.spill": False,
    # A block whose worker died is tried again with care by the run itself, and not as it was by the scheduler.
    "distributed.scheduler.allowed-failures": 0,
    "logging.distributed": "error",
}


@dataclass(frozen=True)
class Place:
    """Where the blocks of a run are worked on.

    Attributes
    ----------
    kind : {"threads", "processes", "address", "client"}
    workers : int
        Threads or processes on this machine; 0 where they are not ours to choose.
    address : str
        Of the scheduler, if it is one that is running already.
    reason : str
        Why here, in words.
    """

    kind: Literal["threads", "processes", "address", "client"]
    workers: int = 0
    address: str = ""
    reason: str = ""

    def __str__(self) -> str:
        match self.kind:
            case "threads":
                return f"{self.workers} threads of this process"
            case "processes":
                return f"{self.workers} worker processes on this machine"
            case "address":
                return f"the Dask cluster at {self.address}"
            case "client":
                return "the client that was given"


def choose_place(seconds: float, workers: int | None = None, scheduler: str | None = None, *, contained: bool = True) -> Place:
    """Choose where to run.

    Parameters
    ----------
    seconds : float
        Estimate of the work that is left, on one core.
    contained : bool
        Whether the solver cannot take its process down.
    workers : int, optional
        Threads or processes; all cores by default.
    scheduler : str, optional
        Address of a running Dask scheduler, such as ``tcp://host:8786``.
    """
    if scheduler:
        return Place("address", 0, scheduler, "the scheduler that was named")
    count = workers or CPU_COUNT
    if not contained:
        return Place("processes", count, reason="points that crash then cost a worker, and not the run")
    if seconds < PROCESSES_FROM:
        return Place("threads", count, reason=f"about {seconds:.2g} s of work would not repay the start of worker processes")
    return Place("processes", count, reason=f"about {seconds:.2g} s of work repays the start of worker processes")


class _OneThread(WorkerPlugin):
    """Holds the linear algebra libraries of a worker to one thread: blocks are what runs in parallel."""

    def setup(self, worker: Any) -> None:
        self.limits = threadpool_limits(limits=1)

    def teardown(self, worker: Any) -> None:
        self.limits.restore_original_limits()


@contextmanager
def connect(place: Place) -> Iterator[Client]:
    """Start or reach the cluster, and leave nothing behind.

    Raises
    ------
    UserError
        If no scheduler answers at the address.
    """
    with dask.config.set(_QUIET):
        if place.kind == "address":
            with _client_at(place.address) as client:
                client.register_plugin(_OneThread(), name="dicesweep-one-thread")
                yield client
            return
        threads = place.kind == "threads"
        with (
            LocalCluster(
                n_workers=1 if threads else place.workers,
                threads_per_worker=place.workers if threads else 1,
                processes=not threads,
                memory_limit=0 if threads else "auto",
                dashboard_address="127.0.0.1:0",
                host="127.0.0.1" if not threads else None,
            ) as cluster,
            Client(cluster) as client,
        ):
            client.register_plugin(_OneThread(), name="dicesweep-one-thread")
            yield client


def _client_at(address: str) -> Client:
    try:
        return Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise UserError(
            f"--scheduler {address}: no Dask scheduler answers there ({type(error).__name__}); "
            "an address looks like tcp://host:8786"
        ) from None
