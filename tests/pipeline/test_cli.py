"""The command line, run as a user runs it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import zarr
from conftest import CONFIGS, ROOT, tree

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def dicesweep(command: str, tmp_path: Path) -> Command:
    def call(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [command, *map(str, arguments)], capture_output=True, text=True, cwd=tmp_path, env=environment(), timeout=120
        )
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return call


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "tests"), "COLUMNS": "120", "PYTHONWARNINGS": "error::UserWarning"}


def test_the_shipped_sweep_prints_the_published_answers_and_then_has_nothing_to_do(dicesweep: Command, tmp_path: Path) -> None:
    store = tmp_path / "odds.zarr"
    first = dicesweep("run", CONFIGS / "monopoly_odds.yaml", "--store", store)
    assert "266 points done" in first.stderr
    again = dicesweep("run", CONFIGS / "monopoly_odds.yaml", "--store", store)
    assert "nothing was computed" in again.stderr
    assert again.stdout == first.stdout == dicesweep("show", store).stdout
    for sides, modal in ((4, "101524"), (6, "102400"), (8, "102400"), (10, "100024"), (20, "100005")):
        row = next(line for line in first.stdout.splitlines() if re.match(rf"\s+{sides}\s", line))
        # Columns run jail=0,back-3=0; jail=0,back-3=1; jail=1,back-3=0; jail=1,back-3=1.
        assert row.split()[4] == modal


def test_the_shipped_games_print_their_published_answers(dicesweep: Command, tmp_path: Path) -> None:
    race = dicesweep("run", CONFIGS / "monopolies.yaml", "--store", tmp_path / "race.zarr").stdout
    assert re.search(r"^\s+1\s+0.000000", race, re.MULTILINE)
    assert re.search(r"^\s+22\s+0.121227", race, re.MULTILINE)
    assert re.search(r"^\s+30\s+0.119055", race, re.MULTILINE)
    die = dicesweep("run", CONFIGS / "hidden_die.yaml", "--store", tmp_path / "die.zarr").stdout
    assert re.search(r"^\s+6\s+145/36\s+631/144", die, re.MULTILINE)


def test_strategies_are_printed_in_fractions(dicesweep: Command) -> None:
    text = dicesweep("strategy", "--dice", "3", "--sides", "6").stdout
    assert re.search(r"^\s+1 3 4\s+1\s+0.416667\s+5/12", text, re.MULTILINE)
    assert re.search(r"^\s+4 5\s+0.250000\s+1/4", text, re.MULTILINE)
    assert "the limit is" in dicesweep("strategy", "--dice", "12", "--sides", "60", code=2).stderr


@pytest.mark.parametrize("target", ["0", "40", "-1"])
def test_a_target_off_the_board_is_a_mistake(dicesweep: Command, tmp_path: Path, target: str) -> None:
    done = dicesweep("run", CONFIGS / "monopolies.yaml", "--store", tmp_path / "s.zarr", "--set", f"target={target}", code=2)
    assert "parameters.target" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_settings_replace_what_the_file_says(dicesweep: Command, tmp_path: Path) -> None:
    config = CONFIGS / "monopoly_odds.yaml"
    done = dicesweep("run", config, "--store", tmp_path / "s.zarr", "--set", "sides=4", "--set", "chance=classic")
    assert "101524" in done.stdout
    assert "sides=4" in done.stdout


def test_plan_says_what_is_left(dicesweep: Command, tmp_path: Path) -> None:
    store = tmp_path / "s.zarr"
    config = CONFIGS / "monopoly_odds.yaml"
    before = dicesweep("plan", config, "--store", store).stdout
    assert "266 points (nothing is in the store yet)" in before
    assert not store.exists()
    dicesweep("run", config, "--store", store)
    assert "nothing: a run would compute nothing" in dicesweep("plan", config, "--store", store).stdout


def test_studies_and_describe_teach(dicesweep: Command) -> None:
    assert "stationary  Long-run probability" in dicesweep("studies").stdout
    text = dicesweep("describe", "stationary").stdout
    for word in ("doubles_after_jail", "keep or reset", "whole number from 1 to 10000", "rank_gap", "Project Euler"):
        assert word in text


def test_help_has_examples(dicesweep: Command) -> None:
    assert "dicesweep run configs/monopoly_odds.yaml --store" in dicesweep("run", "--help").stdout
    assert "Commands:" in dicesweep("--help").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "sidess=6"], "did you mean 'sides'?"),
        (["--set", "chance={vary: classic, cards: {jail: [-1]}}"], "whole number from 0 (got -1)"),
        (["--set", "chance={vary: classic, cards: {jail: [8]}}"], "need 17 cards, the deck has 16"),
        (["--set", "sides=0"], "should be greater than or equal to 1 (got 0)"),
        (["--set", "study=stationery"], "did you mean 'stationary'?"),
        (["--set", "chance={cards: {to-2: 1, stay: 1}}", "--set", "chest={cards: {to-7: 1, stay: 1}}"], "for ever"),
        (["--scheduler", "tcp://127.0.0.1:9"], "no Dask scheduler answers there"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_two_with_nothing_written(
    dicesweep: Command, tmp_path: Path, arguments: Sequence[str], message: str
) -> None:
    done = dicesweep("run", CONFIGS / "monopoly_odds.yaml", "--store", tmp_path / "s.zarr", *arguments, code=2)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("266 points")]
    assert len(lines) == 1
    assert message in lines[0]
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_a_store_of_another_sweep_is_refused(dicesweep: Command, tmp_path: Path) -> None:
    config, store = CONFIGS / "monopoly_odds.yaml", tmp_path / "s.zarr"
    dicesweep("run", config, "--store", store, "--set", "sides=6", "--set", "chance=classic")
    before = tree(store)
    done = dicesweep("run", config, "--store", store, code=2)
    assert "belongs to another sweep" in done.stderr
    assert tree(store) == before


def test_showing_what_is_no_store_is_a_mistake(dicesweep: Command, tmp_path: Path) -> None:
    assert "there is no store" in dicesweep("show", tmp_path / "none.zarr", code=2).stderr
    (tmp_path / "file").write_text("x")
    assert "not the store of a sweep" in dicesweep("show", tmp_path / "file", code=2).stderr


def test_points_that_fail_are_summed_up_and_end_in_exit_code_one(
    dicesweep: Command, write: Callable[..., Path], tmp_path: Path
) -> None:
    done = dicesweep("run", write("parameters: {x: [12, 13]}"), "--store", tmp_path / "s.zarr", code=1)
    assert "1 points failed, the first because: ArithmeticError: thirteen brings bad luck" in done.stderr
    assert re.search(r"12\s+12.0", done.stdout)
    assert re.search(r"13\s+failed", done.stdout)


def test_many_points_are_summed_up(dicesweep: Command, write: Callable[..., Path], tmp_path: Path) -> None:
    text = "parameters: {x: {range: [1, 200]}, y: {range: [1, 10]}, mode: [a, b]}\nexclude: x in [13, 14]"
    done = dicesweep("run", write(text), "--store", tmp_path / "s.zarr")
    assert re.search(r"largest\s+2000.0\s+x=200\s+y=10.0\s+mode=a", done.stdout)
    assert re.search(r"smallest\s+1.0\s+x=1\s+y=1.0", done.stdout)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_goes_on_where_it_stopped(
    command: str, dicesweep: Command, write: Callable[..., Path], tmp_path: Path, number: int
) -> None:
    path = write("parameters: {x: {range: [100, 140]}, pause: 0.05}")
    store = tmp_path / "s.zarr"
    running = subprocess.Popen(
        [command, "run", path, "--store", store], env=environment(), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not store.exists() or not (zarr.open_group(store, mode="r")["status"][:] == 1).any():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    running.send_signal(number)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130, said
    assert "the same command goes on" in said
    assert "Traceback" not in said
    left = int((zarr.open_group(store, mode="r")["status"][:] == 0).sum())
    assert 0 < left < 41
    finished = dicesweep("run", path, "--store", store)
    assert f"{left} points done" in finished.stderr
    dicesweep("run", path, "--store", tmp_path / "whole.zarr")
    assert tree(store) == tree(tmp_path / "whole.zarr")
