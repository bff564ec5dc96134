"""Worker processes and clusters that are running already give the same bytes as threads."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import ROOT, tree
from distributed import Client, LocalCluster

from pipeline import run
from pipeline.cluster import Place, connect
from pipeline.config import SweepConfig
from pipeline.plan import make_plan
from pipeline.run import execute

TOY = "parameters: {x: {range: [20, 60]}, mode: [a, b], pause: 0.001}\nseed: 7"


@pytest.fixture
def expected(load: Callable[..., SweepConfig], tmp_path: Path) -> dict[str, bytes]:
    run(load(TOY), tmp_path / "threads.zarr")
    return tree(tmp_path / "threads.zarr")


def test_worker_processes_give_the_same_bytes(
    load: Callable[..., SweepConfig], tmp_path: Path, expected: dict[str, bytes]
) -> None:
    plan = make_plan(load(TOY).sweep, tmp_path / "s.zarr")
    with connect(Place("processes", 2)) as client:
        assert len(client.scheduler_info()["workers"]) == 2
        assert execute(plan, client=client).done == 82
        threads = client.run(lambda: [pool["num_threads"] for pool in __import__("threadpoolctl").threadpool_info()])
    assert all(number == 1 for pools in threads.values() for number in pools)
    assert tree(tmp_path / "s.zarr") == expected


def test_a_client_of_ones_own_is_used_and_left_running(
    load: Callable[..., SweepConfig], tmp_path: Path, expected: dict[str, bytes]
) -> None:
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as client,
    ):
        run(load(TOY), tmp_path / "s.zarr", client=client)
        assert client.submit(sum, [1, 2]).result() == 3
    assert tree(tmp_path / "s.zarr") == expected


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    """A scheduler and two workers, each a process of its own, as on any cluster."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    file = tmp_path / "scheduler.json"
    common = {"env": environment, "cwd": tmp_path, "stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    dask = [sys.executable, "-m", "dask"]
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    processes = [subprocess.Popen([*dask, "scheduler", *options], **common)]
    try:
        deadline = time.monotonic() + 60
        while not file.exists():
            assert time.monotonic() < deadline, "the scheduler did not start"
            time.sleep(0.05)
        worker = [*dask, "worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-dashboard", "--no-nanny"]
        processes += [subprocess.Popen(worker, **common) for _ in range(2)]
        with Client(scheduler_file=str(file)) as client:
            client.wait_for_workers(2, timeout=60)
            yield client.scheduler.address
    finally:
        for process in reversed(processes):
            process.kill()
        for process in processes:
            process.wait(20)


def test_a_running_cluster_gives_the_same_bytes(
    load: Callable[..., SweepConfig], tmp_path: Path, expected: dict[str, bytes], scheduler: str
) -> None:
    run(load(TOY), tmp_path / "s.zarr", scheduler=scheduler)
    assert tree(tmp_path / "s.zarr") == expected
