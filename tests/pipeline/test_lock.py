"""One writer at a time, and a lock that ends with its holder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from conftest import ROOT, tree

from pipeline.config import SweepConfig
from pipeline.errors import UserError
from pipeline.lock import SILENT, Holder, hold, holds, lock_path, read_holder
from pipeline.plan import make_plan
from pipeline.run import Options, execute
from pipeline.store import create_store
from pipeline.task import StaleRunError, run_block

Load = Callable[..., SweepConfig]


def test_a_lock_says_who_holds_it_and_goes_when_it_is_released(tmp_path: Path) -> None:
    store = tmp_path / "s.zarr"
    with hold(store) as lock:
        holder = read_holder(store)
        assert holder is not None
        assert (holder.process, holder.run) == (os.getpid(), lock.run)
        assert holds(store, lock.run)
        assert holder.alive()
        lock.say(done=7)
        assert read_holder(store).done == 7  # type: ignore[union-attr]
    assert not lock_path(store).exists()
    assert read_holder(store) is None


def test_a_second_run_stops_with_the_name_of_the_first(tmp_path: Path) -> None:
    with hold(tmp_path / "s.zarr"), pytest.raises(UserError) as caught, hold(tmp_path / "s.zarr"):
        pass
    assert f"is being written by process {os.getpid()}" in str(caught.value)
    assert "--wait" in str(caught.value)


HOLDING = "import sys, time; from pipeline.lock import hold\nwith hold(sys.argv[1]): print('held', flush=True); time.sleep(60)"


def holding(store: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", HOLDING, str(store)], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout
    assert process.stdout.readline() == "held\n"
    return process


def test_the_lock_of_a_killed_process_is_taken_over_at_once(tmp_path: Path) -> None:
    process = holding(tmp_path / "s.zarr")
    with pytest.raises(UserError, match=f"process {process.pid}"), hold(tmp_path / "s.zarr"):
        pass
    process.kill()
    process.communicate()
    assert lock_path(tmp_path / "s.zarr").exists()
    with hold(tmp_path / "s.zarr") as lock:
        assert lock.previous is not None
        assert lock.previous.process == process.pid
        assert not lock.previous.alive()


def test_a_run_can_wait_for_another(tmp_path: Path) -> None:
    process = holding(tmp_path / "s.zarr")
    said: list[str] = []

    def hear(text: str) -> None:
        said.append(text)
        process.kill()
        process.communicate()

    with hold(tmp_path / "s.zarr", wait=True, said=hear):
        pass
    assert len(said) == 1
    assert said[0].startswith("waiting: ")


@pytest.mark.parametrize("silent", [False, True])
def test_a_run_on_another_host_is_respected_until_its_lock_is_broken(tmp_path: Path, silent: bool) -> None:
    store = tmp_path / "s.zarr"
    beat = time.time() - (2 * SILENT if silent else 0)
    other = Holder("abc", "another-host", "ann", 1, beat - 10, beat)
    lock_path(store).write_text(json.dumps(asdict(other)))
    with pytest.raises(UserError, match="ann on another-host") as caught, hold(store):
        pass
    assert ("--break-lock" in str(caught.value)) == silent
    if silent:
        with hold(store, force=True) as lock:
            assert holds(store, lock.run)
    else:
        with pytest.raises(UserError), hold(store, force=True):
            pass


def test_only_one_of_many_that_want_a_lock_gets_it(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pipeline.lock import hold; from pipeline.errors import UserError\n"
        "time.sleep(max(0, float(sys.argv[2]) - time.time()))\n"
        "try:\n"
        "    with hold(sys.argv[1]): time.sleep(3)\n"
        "except UserError: sys.exit(2)\n"
    )
    start = str(time.time() + 1.5)
    arguments = [sys.executable, "-c", code, str(tmp_path / "s.zarr"), start]
    processes = [subprocess.Popen(arguments, cwd=ROOT) for _ in range(4)]
    assert sorted(process.wait(30) for process in processes) == [0, 2, 2, 2]


def test_an_orphan_of_a_run_that_is_gone_writes_nothing(load: Load, tmp_path: Path) -> None:
    store = create_store(tmp_path / "s.zarr", load("parameters: {x: [1, 2]}").sweep)
    before = tree(tmp_path / "s.zarr")
    with hold(store.path), pytest.raises(StaleRunError):
        run_block(store.path, (0,), "a run that was killed")
    assert tree(tmp_path / "s.zarr") == before


def test_a_run_that_finds_the_store_held_computes_nothing(load: Load, tmp_path: Path) -> None:
    plan = make_plan(load("parameters: {x: [1, 2]}").sweep, tmp_path / "s.zarr")
    with hold(tmp_path / "s.zarr"), pytest.raises(UserError, match="is being written by"):
        execute(plan, options=Options())
    assert not (tmp_path / "s.zarr").exists()
