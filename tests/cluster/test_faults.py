"""Points that take their process down, and workers that are killed: only the guilty point is blamed, and nothing is lost."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
import zarr
from conftest import ROOT, tree

from pipeline import open_sweep, run
from pipeline.config import SweepConfig
from pipeline.plan import make_plan
from pipeline.run import Options, execute
from pipeline.store import DONE, FAILED

Load = Callable[..., SweepConfig]
pytestmark = pytest.mark.slow


def test_a_point_that_kills_its_worker_is_blamed_alone(load: Load, tmp_path: Path) -> None:
    sweep = load("study: crashing:STUDY\nparameters: {x: [1, 2, 666, 667, 3], mode: [a, b]}").sweep
    outcome = execute(make_plan(sweep, tmp_path / "s.zarr", workers=2))
    assert (outcome.done, outcome.failed, outcome.stopped) == (6, 4, "")
    dataset = open_sweep(tmp_path / "s.zarr")
    assert (dataset["status"].sel(x=[1, 2, 3]) == DONE).all()
    assert (dataset["status"].sel(x=[666, 667]) == FAILED).all()
    assert dataset["failure"].sel(x=666, mode="a").item() == "ProcessDiedError: its process was killed by SIGKILL"
    assert dataset["failure"].sel(x=667, mode="b").item() == "ProcessDiedError: its process was killed by SIGSEGV"
    assert dataset["product"].sel(x=3, mode="b").item() == 3.0


def test_a_point_that_never_ends_fails_at_its_time_limit(load: Load, tmp_path: Path) -> None:
    sweep = load("study: crashing:STUDY\nparameters: {x: [1, 668, 2]}").sweep
    outcome = execute(make_plan(sweep, tmp_path / "s.zarr", workers=1), options=Options(timeout=2.0))
    assert (outcome.done, outcome.failed) == (2, 1)
    assert open_sweep(tmp_path / "s.zarr")["failure"].sel(x=668).item() == "TookTooLongError: took longer than 2 s"


def start(command: str, config: Path, store: Path, *more: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    process = subprocess.Popen(
        [command, "run", str(config), "--store", str(store), *more],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not store.exists() or not (zarr.open_group(store, mode="r")["status"][:] == DONE).any():
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    return process


SLOW = "study: crashing:STUDY\nparameters: {x: {range: [100, 160]}, pause: 0.05}\nseed: 2"


def test_killed_workers_cost_nothing_but_time(command: str, write: Callable[..., Path], load: Load, tmp_path: Path) -> None:
    process = start(command, write(SLOW), tmp_path / "s.zarr", "--workers", "2")
    solving = [
        child
        for child in psutil.Process(process.pid).children(recursive=True)
        if "spawn_main" in " ".join(child.cmdline()) and not child.children()
    ]
    assert solving
    solving[0].kill()
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert "61 points done" in said
    run(load(SLOW), tmp_path / "whole.zarr")
    assert tree(tmp_path / "s.zarr") == tree(tmp_path / "whole.zarr")


def test_a_killed_driver_is_followed_by_a_run_that_does_only_the_rest(
    command: str, write: Callable[..., Path], load: Load, tmp_path: Path
) -> None:
    config, store = write(SLOW), tmp_path / "s.zarr"
    process = start(command, config, store, "--workers", "2")
    family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    for member in family:
        member.kill()
    process.communicate()
    left = int((zarr.open_group(store, mode="r")["status"][:] == 0).sum())
    assert 0 < left < 61
    done = subprocess.run(
        [command, "run", str(config), "--store", str(store)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(rf"\b{left} points done", done.stderr)
    run(load(SLOW), tmp_path / "whole.zarr")
    assert tree(store) == tree(tmp_path / "whole.zarr")
