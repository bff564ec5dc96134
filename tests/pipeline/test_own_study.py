"""A study from another package gets everything that the shipped ones have, in worker processes too."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT

PAGE = (ROOT / "docs" / "own-study.md").read_text(encoding="utf-8")

IN_PROCESSES = """
import sys
from distributed import Client, LocalCluster
from pipeline import load_sweep, run

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster, Client(cluster) as client:
        dataset = run(load_sweep("named.yaml"), client=client)
        workers = client.run(lambda: "ruin" in sys.modules)
    print(sum(workers.values()), int((dataset["status"] == 1).sum()), float(dataset["wins"].sel(p=0.5, stake=5)))
"""


def block(language: str) -> str:
    (text,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    return str(text)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page's files, and the package installed beside it."""
    folder = tmp_path_factory.mktemp("ruin")
    source = folder / "source"
    source.mkdir()
    (source / "ruin.py").write_text(block("python"), encoding="utf-8")
    (source / "pyproject.toml").write_text(block("toml"), encoding="utf-8")
    (folder / "ruin.yaml").write_text(block("yaml"), encoding="utf-8")
    named = block("yaml").replace("ruin:STUDY", "ruin").replace("outputs/ruin.zarr", "outputs/named.zarr")
    (folder / "named.yaml").write_text(named, encoding="utf-8")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, "--target", folder / "site", source], check=True)
    return folder


@pytest.fixture
def call(place: Path, command: str) -> Callable[..., str]:
    def run(*arguments: str, program: str = command) -> str:
        environment = {**os.environ, "PYTHONPATH": str(place / "site"), "COLUMNS": "120"}
        done = subprocess.run([program, *arguments], cwd=place, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_the_example_is_as_short_as_it_looks() -> None:
    lines = [line for line in block("python").splitlines() if line.strip()]
    assert len(lines) <= 28


def test_an_installed_study_is_listed_and_described(call: Callable[..., str]) -> None:
    assert re.search(r"^ruin\s+Chance of reaching a goal before going broke", call("studies"), re.MULTILINE)
    assert "what the player starts with" in call("describe", "ruin")


def test_the_commands_of_the_page_give_answers_pictures_and_tables(call: Callable[..., str], place: Path) -> None:
    for line in block("sh").splitlines():
        program, *arguments = line.split()
        assert program == "dicesweep"
        call(*arguments)
    assert (place / "ruin.svg").read_text().count('class="tip"') == 4 * 19
    assert len((place / "ruin.csv").read_text().splitlines()) == 1 + 4 * 19
    rows = json.loads(call("show", "outputs/ruin.zarr", "--select", "p=0.5", "--select", "stake=5", "--json"))
    assert rows == [{"wins": 0.25}]


def test_a_study_is_solved_in_worker_processes_and_resumed(call: Callable[..., str], place: Path) -> None:
    script = place / "script.py"
    script.write_text(IN_PROCESSES)
    used, done, wins = call(str(script), program=sys.executable).split()
    assert int(used) >= 1
    assert int(done) == 76
    assert float(wins) == 0.25
    assert json.loads(call("status", "outputs/named.zarr", "--json"))["pending"] == 0


def test_a_sweep_of_a_study_grows(call: Callable[..., str]) -> None:
    call("run", "named.yaml", "--store", "outputs/grown.zarr", "--set", "p=[0.5]")
    call("run", "named.yaml", "--store", "outputs/grown.zarr")
    found = json.loads(call("compare", "outputs/named.zarr", "outputs/grown.zarr", "--tolerance", "0", "--json"))
    assert found["points"] == 76
