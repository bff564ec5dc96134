"""One writer at a time: the lock of a store, and who holds it.

The lock is a file beside the store, ``odds.zarr.lock``, held by an advisory lock of the operating system, which ends with the
process that holds it, however that ends; so a lock whose process is gone is taken over at once.  What the file says (host,
process, since when, a heartbeat, how far it has come) is for people, for ``dicesweep status``, and for workers: a worker
writes a block only while the file still names the run that sent it, so the orphans of a run that is gone can do no harm.

Some network file systems do not carry advisory locks between hosts.  So a lock file of another host with a recent heartbeat
is respected even if the operating system would grant the lock, and one whose heartbeat has stopped has to be broken by hand.
"""

from __future__ import annotations

import fcntl
import getpass
import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pipeline.errors import UserError

HEARTBEAT = 2.0
"""Seconds between two signs of life."""

SILENT = 30.0
"""Seconds without one after which a run on another host may be taken for dead."""


@dataclass(frozen=True)
class Holder:
    """Who holds a store, and how far it has come.

    Attributes
    ----------
    run : str
        Name of the run, different for each.
    host, user : str
    process : int
    started, heartbeat : float
        Seconds since the epoch.
    done, failed, pending : int
        Points of this run so far, and what was pending when it started.
    place : str
        Where its blocks are worked on, in words.
    """

    run: str
    host: str
    user: str
    process: int
    started: float
    heartbeat: float
    done: int = 0
    failed: int = 0
    pending: int = 0
    place: str = ""

    @property
    def here(self) -> bool:
        """Whether it is a process of this host."""
        return self.host == socket.gethostname()

    def alive(self) -> bool:
        """Return whether it shows life: the process, on this host; the heartbeat, on another."""
        if not self.here:
            return time.time() - self.heartbeat < SILENT
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True

    def __str__(self) -> str:
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.started))
        return f"process {self.process} of {self.user} on {self.host}, since {since}"


def lock_path(store: str | Path) -> Path:
    """Return the path of the lock file of a store."""
    path = Path(store)
    return path.with_name(f"{path.name}.lock")


def read_holder(store: str | Path) -> Holder | None:
    """Return what the lock file of a store says, or None if there is none that can be read."""
    try:
        said = json.loads(lock_path(store).read_text(encoding="utf-8"))
        return Holder(**said)
    except (OSError, ValueError, TypeError):
        return None


def holds(store: str | Path, run: str) -> bool:
    """Return whether `run` is the one that may write to a store."""
    holder = read_holder(store)
    return holder is not None and holder.run == run


class Lock:
    """A lock that is held; see :func:`hold`."""

    def __init__(self, store: str | Path, descriptor: int, holder: Holder, previous: Holder | None) -> None:
        self.store = store
        self.path = lock_path(store)
        self.descriptor = descriptor
        self.holder = holder
        self.previous = previous
        self._stop = threading.Event()

    @property
    def run(self) -> str:
        """Name of the run that holds it."""
        return self.holder.run

    def say(self, **changes: object) -> None:
        """Change what the lock file says, with the time."""
        self.holder = replace(self.holder, heartbeat=time.time(), **changes)  # type: ignore[arg-type]
        text = json.dumps(asdict(self.holder)).encode()
        # One write over the old text, then cut: a reader that comes between sees trailing characters and takes it for unread.
        os.pwrite(self.descriptor, text, 0)
        os.ftruncate(self.descriptor, len(text))

    def beat(self, progress: Callable[[], dict[str, int]]) -> threading.Thread:
        """Start to say how far the run has come, every HEARTBEAT seconds, until the lock is released."""

        def keep_saying() -> None:
            while not self._stop.wait(HEARTBEAT):
                self.say(**progress())

        thread = threading.Thread(target=keep_saying, name="dicesweep-heartbeat", daemon=True)
        thread.start()
        return thread

    def release(self) -> None:
        """Remove the lock file and let go."""
        self._stop.set()
        if holds(self.store, self.run):
            self.path.unlink(missing_ok=True)
        os.close(self.descriptor)


@contextmanager
def hold(
    store: str | Path, *, wait: bool = False, force: bool = False, said: Callable[[str], None] | None = None
) -> Iterator[Lock]:
    """Hold the lock of a store.

    Parameters
    ----------
    wait : bool
        Wait for another run to end, rather than stop.
    force : bool
        Break the lock of a run on another host that shows no life.
    said : callable, optional
        Hears one line when it has to wait.

    Raises
    ------
    UserError
        If another run holds it; the line says who, and how to break a lock that is stale.
    """
    path = lock_path(store)
    told = False
    while True:
        held = _try(path, store, force=force)
        if isinstance(held, Lock):
            break
        if not wait:
            raise UserError(held)
        if said and not told:
            said(f"waiting: {held}")
            told = True
        time.sleep(HEARTBEAT / 4)
    try:
        yield held
    finally:
        held.release()


def _try(path: Path, store: str | Path, *, force: bool) -> Lock | str:
    """Take the lock, or say in one line who has it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        ours = path.exists() and os.fstat(descriptor).st_ino == path.stat().st_ino
    except BlockingIOError:
        ours = False
    previous = read_holder(store)
    refusal = _refusal(store, path, previous, ours=ours, force=force)
    if refusal:
        os.close(descriptor)
        return refusal
    now = time.time()
    holder = Holder(uuid.uuid4().hex, socket.gethostname(), _user(), os.getpid(), now, now)
    lock = Lock(store, descriptor, holder, previous)
    lock.say()
    return lock


def _refusal(store: str | Path, path: Path, previous: Holder | None, *, ours: bool, force: bool) -> str:
    who = str(previous) if previous else "another run"
    if not ours:
        return f"{store}: is being written by {who}; wait for it (--wait), or end it"
    if previous and not previous.here and previous.alive():
        return f"{store}: is being written by {who}; wait for it (--wait), or end it"
    if previous and not previous.here and not force:
        return f"{store}: was being written by {who}, which shows no life; if it is gone, run again with --break-lock ({path})"
    return ""


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
