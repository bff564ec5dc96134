"""Solving in a child process, for points that may crash, be killed or never end.

A worker that is told to be careful hands its grids to a child, which it can kill.  A child that dies or takes too long over a
whole block is replaced, and the points are tried one by one, so that only the guilty one is blamed.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from pipeline.solve import Failure, Place, solve_points
from pipeline.space import Block
from pipeline.store import Store, open_store

_LENGTH = struct.Struct("!Q")


class ProcessDiedError(Exception):
    """The child ended before it answered; the text says how."""


class TookTooLongError(Exception):
    """The child did not answer in time, and was killed."""


@dataclass(frozen=True)
class _Request:
    path: str
    index: tuple[int, ...]
    wanted: NDArray[np.bool_]


class Child:
    """A child process that solves grids, started when it is first needed."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Child:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.kill()

    def kill(self) -> None:
        """End the child, if there is one."""
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def solve(self, request: _Request, seconds: float | None) -> tuple[dict[str, NDArray[Any]], dict[Place, Failure]]:
        """Have points solved.

        Returns
        -------
        answers : dict of str to ndarray
            Each variable at the wanted points, in C order.
        failures : dict
            See :func:`pipeline.solve.solve_points`.

        Raises
        ------
        ProcessDiedError, TookTooLongError
        """
        process = self.process or self._start()
        assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018 - both are pipes
        try:
            _send(process.stdin, request)
            answer = _receive(process.stdout, None if seconds is None else time.monotonic() + seconds)
        except TimeoutError:
            self.kill()
            raise TookTooLongError(f"took longer than {seconds:g} s") from None
        except (BrokenPipeError, EOFError):
            process.wait()
            code = process.returncode
            self.kill()
            raise ProcessDiedError(f"its process {_ending(code)}") from None
        found: tuple[dict[str, NDArray[Any]], dict[Place, Failure]] = answer
        return found

    def _start(self) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pipeline.isolate"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        ready = _receive(self.process.stdout, None) if self.process.stdout else None
        if ready != "ready":
            raise ProcessDiedError("its process did not start")
        return self.process


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"was killed by {name}"


def solve_carefully(
    store: Store, block: Block, wanted: NDArray[np.bool_], results: dict[str, NDArray[Any]], timeout: float | None
) -> dict[Place, Failure]:
    """Do what :func:`pipeline.solve.solve_points` does, in a child process.

    Parameters
    ----------
    timeout : float or None
        Seconds after which a point has failed.  The whole block is given as long as one point may take, before its points are
        tried one by one.
    """
    failures: dict[Place, Failure] = {}
    if not wanted.any():
        return failures
    with Child() as child:
        try:
            answers, failures = child.solve(_Request(store.path, block.index, wanted), timeout)
            _place(results, wanted, answers)
            return failures
        except (ProcessDiedError, TookTooLongError):
            pass
        for place in map(tuple, np.argwhere(wanted).tolist()):
            alone = np.zeros_like(wanted)
            alone[place] = True
            try:
                answers, failed = child.solve(_Request(store.path, block.index, alone), timeout)
            except (ProcessDiedError, TookTooLongError) as error:
                failures[place] = Failure(f"{type(error).__name__}: {error}")
            else:
                failures |= failed
                _place(results, alone, answers)
    return failures


def _place(results: dict[str, NDArray[Any]], wanted: NDArray[np.bool_], answers: dict[str, NDArray[Any]]) -> None:
    for name, answer in answers.items():
        results[name][wanted] = answer


def _send(stream: IO[bytes], value: object) -> None:
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def _receive(stream: Any, deadline: float | None) -> Any:
    (length,) = _LENGTH.unpack(_read(stream.fileno(), _LENGTH.size, deadline))
    return pickle.loads(_read(stream.fileno(), length, deadline))  # noqa: S301 - from our own child, over a pipe


def _read(descriptor: int, count: int, deadline: float | None) -> bytes:
    parts = []
    while count:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and (left <= 0 or not select.select([descriptor], [], [], left)[0]):
            raise TimeoutError
        part = os.read(descriptor, min(count, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def main() -> None:
    """Be the child: answer requests from standard input until it ends."""
    answers_to = os.fdopen(os.dup(1), "wb")
    # What a solver prints must not get between the answers.
    os.dup2(2, 1)
    _send(answers_to, "ready")
    while True:
        try:
            request: _Request = _receive(sys.stdin, None)
        except EOFError:
            return
        store = open_store(request.path)
        block = store.block(request.index)
        results = store.blank(block)
        failures = solve_points(store.sweep, block, request.wanted, results)
        _send(answers_to, ({name: values[request.wanted] for name, values in results.items()}, failures))


if __name__ == "__main__":
    main()
