"""What a person sees of a run: a live bar on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from rich import progress
from rich.console import Console

from pipeline.plan import Plan
from pipeline.report import duration
from pipeline.run import Watcher
from pipeline.task import Receipt

COMPILING_AFTER = 1.0
"""Seconds after which a solver that is not ready is being compiled; loading one takes a tenth of that."""

LINE_EVERY = 5.0
"""Seconds between lines where there is no terminal."""


class Progress(Watcher):
    """Shows blocks as they come in, with their rate and the time that is left."""

    def __init__(self, plan: Plan, console: Console) -> None:
        self.console = console
        self.pending = plan.pending
        self.bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.fields[rate]}"),
            progress.TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        self.task = self.bar.add_task("points", total=plan.pending, rate="")
        self.finished = 0
        self.started = self.said = time.monotonic()

    def __enter__(self) -> Progress:
        self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.stop()

    def preparing(self) -> AbstractContextManager[object]:
        """Say so if the solver has to be compiled."""
        return self._compiling()

    @contextmanager
    def _compiling(self) -> Iterator[None]:
        text = "compiling the solver; later runs will start at once"
        note = threading.Timer(COMPILING_AFTER, self.console.print, (text,))
        note.daemon = True
        note.start()
        try:
            yield
        finally:
            note.cancel()

    def say(self, text: str) -> None:
        """Print a line."""
        self.console.print(text, markup=False, soft_wrap=True)

    def starting(self, plan: Plan) -> None:
        """Start the clock."""
        self.started = self.said = time.monotonic()

    def received(self, receipt: Receipt) -> None:
        """Move the bar, or write a line now and then."""
        self.finished += receipt.points
        now = time.monotonic()
        rate = self.finished / max(now - self.started, 1e-9)
        self.bar.update(self.task, completed=self.finished, rate=f"{rate:,.0f}/s")
        if not self.console.is_terminal and now - self.said > LINE_EVERY:
            self.said = now
            left = duration((self.pending - self.finished) / rate)
            line = f"{self.finished:,} of {self.pending:,} points, {rate:,.0f}/s, {left} left"
            self.console.print(line, soft_wrap=True)
