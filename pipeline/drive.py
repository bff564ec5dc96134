"""The loop of a run: a rolling window of blocks, and what to do about workers that die."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from distributed import Client, KilledWorker, as_completed

from pipeline.space import point_cost, sample_costs
from pipeline.store import Store
from pipeline.task import Receipt, run_block

WINDOW = 3
"""Tasks that the scheduler holds for each thread: one that runs, and enough to never wait for the driver."""

MOST_DEATHS = 5
"""Workers that a block may lose before it is left pending."""

_Index = tuple[int, ...]


@dataclass
class Tally:
    """What has come of a run so far.

    Attributes
    ----------
    max_failures : int or None
        Failed points beyond which the run stops.
    done, failed, excluded : int
    seconds : float
        From the first block on.
    failure : str
        Why the first failing point failed.
    stopped : str
        Why the run stopped before the end.
    interrupted : bool
    """

    max_failures: int | None = None
    done: int = 0
    failed: int = 0
    excluded: int = 0
    seconds: float = 0.0
    failure: str = ""
    stopped: str = ""
    interrupted: bool = False

    def add(self, receipt: Receipt) -> None:
        """Count a block, and stop if too many points have failed."""
        self.done += receipt.done
        self.failed += receipt.failed
        self.excluded += receipt.excluded
        self.failure = self.failure or receipt.failure
        if self.max_failures is not None and self.failed > self.max_failures:
            self.stopped = f"more than {self.max_failures:,} points have failed" if self.max_failures else "a point has failed"


def drive(
    client: Client,
    store: Store,
    pending: Sequence[_Index],
    run: str,
    tally: Tally,
    received: Callable[[Receipt], None],
    *,
    timeout: float | None = None,
) -> None:
    """Send the pending blocks to the workers and read their receipts.

    A block whose worker died is sent again to be solved with care, so that points that take a process down are found and their
    neighbours are not lost; one that keeps losing workers, which may be no fault of its own, is left pending.
    """
    queue = _longest_first(store, pending)
    started = time.perf_counter()
    threads = max(1, sum(client.nthreads().values()))
    running = as_completed()
    index_of: dict[str, _Index] = {}
    deaths: Counter[_Index] = Counter()

    def submit(index: _Index) -> None:
        key = f"block-{run}-{'.'.join(map(str, index))}-{deaths[index]}"
        index_of[key] = index
        careful = deaths[index] > 0
        running.add(
            client.submit(run_block, store.path, index, run, careful=careful, timeout=timeout, key=key, pure=False, retries=0)
        )

    def finish(future: Any) -> None:
        index = index_of.pop(future.key)
        try:
            receipt = future.result()
        except KilledWorker:
            deaths[index] += 1
            if deaths[index] <= MOST_DEATHS:
                submit(index)
            else:
                tally.stopped = f"a block has lost {deaths[index]} workers and is left pending"
            return
        finally:
            future.release()
        tally.add(receipt)
        received(receipt)

    try:
        for index in islice(queue, WINDOW * threads):
            submit(index)
        for future in running:
            finish(future)
            if tally.stopped and tally.max_failures is not None and tally.failed > tally.max_failures:
                break
            for index in islice(queue, 1):
                submit(index)
    finally:
        tally.seconds = time.perf_counter() - started
        client.cancel(list(running.futures))


def _longest_first(store: Store, pending: Sequence[_Index]) -> Iterator[_Index]:
    """Return the pending blocks, the longest first where they differ."""
    costs = sample_costs(store.sweep)
    if costs.largest < 2 * costs.mean:
        return iter(pending)

    def cost(index: _Index) -> float:
        block = store.block(index)
        return block.points * point_cost(store.sweep, tuple(part.stop - 1 for part in block.region))

    return iter(sorted(pending, key=cost, reverse=True))
