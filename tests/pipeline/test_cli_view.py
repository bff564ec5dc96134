"""The commands that look at an answer, run as a user runs them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import CONFIGS, ROOT

from pipeline import load_sweep, run

Command = Callable[..., subprocess.CompletedProcess[str]]
CLASSIC = "chance=jail=1,back-3=1"


@pytest.fixture(scope="module")
def odds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stores") / "odds.zarr"
    run(load_sweep(CONFIGS / "monopoly_odds.yaml"), path)
    return path


@pytest.fixture
def dicesweep(command: str, tmp_path: Path) -> Command:
    def call(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT / "tests"),
            "COLUMNS": "140",
            "PYTHONWARNINGS": "error::UserWarning",
        }
        done = subprocess.run(
            [command, *map(str, arguments)], capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=120
        )
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return call


def test_a_selection_of_points_is_shown_with_the_headline(dicesweep: Command, odds: Path) -> None:
    shown = dicesweep("show", odds, "--select", "sides=4,6,8", "--select", CLASSIC).stdout
    rows = [line.split() for line in shown.splitlines() if line.split()[-1:] and line.split()[-1].isdigit()]
    assert [(row[0], row[-1]) for row in rows] == [("4", "101524"), ("6", "102400"), ("8", "102400")]


def test_the_first_squares_of_each_point_are_ranked(dicesweep: Command, odds: Path) -> None:
    shown = dicesweep("show", odds, "--select", "sides=4,6", "--select", CLASSIC, "--top", "3").stdout
    six = next(line for line in shown.splitlines() if line.split()[:1] == ["6"])
    assert six.split() == ["6", "JAIL", "0.06242", "E3", "0.03184", "GO", "0.03095"]


def test_data_is_json_on_request(dicesweep: Command, odds: Path) -> None:
    arguments = ("show", odds, "--select", "sides=6", "--select", CLASSIC)
    assert json.loads(dicesweep(*arguments, "--json").stdout) == [{"modal": "102400"}]
    (row,) = json.loads(dicesweep(*arguments, "--json", "--top", "1").stdout)
    assert row["1"]["label"] == "JAIL"
    assert row["1"]["value"] == pytest.approx(0.0624, abs=1e-4)


def test_the_points_with_the_largest_number_are_found(dicesweep: Command, tmp_path: Path) -> None:
    run(load_sweep(CONFIGS / "monopolies.yaml"), tmp_path / "race.zarr")
    rows = json.loads(dicesweep("show", tmp_path / "race.zarr", "--top", "3", "--json").stdout)
    assert [row["target"] for row in rows] == [7, 8, 24]
    assert "'first'" in dicesweep("show", tmp_path / "race.zarr", "--top", "3", "--variable", "frist", code=2).stderr


def test_two_stores_are_compared_and_a_tolerance_sets_the_exit_code(dicesweep: Command, odds: Path, tmp_path: Path) -> None:
    run(load_sweep(CONFIGS / "monopoly_odds.yaml", ["sides=6", "doubles_after_jail=reset"]), tmp_path / "reset.zarr")
    shown = dicesweep("compare", odds, tmp_path / "reset.zarr").stdout
    assert "14 points in common" in shown
    assert "doubles_after_jail is keep in the first and reset in the second" in shown
    dicesweep("compare", odds, odds, "--tolerance", "0")
    dicesweep("compare", odds, tmp_path / "reset.zarr", "--tolerance", "1e-9", code=1)
    found = json.loads(dicesweep("compare", odds, tmp_path / "reset.zarr", "--json", "--select", CLASSIC).stdout)
    assert found["differences"][0]["variable"] == "probability"
    assert found["differences"][0]["differing"] > 0


def test_a_table_goes_to_standard_output_alone(dicesweep: Command, odds: Path) -> None:
    done = dicesweep(
        "export", odds, "--to", "csv", "-o", "-", "--select", "sides=6", "--select", CLASSIC, "--variable", "modal"
    )
    assert done.stdout == "status,modal,failure\ndone,102400,\n"
    assert done.stderr == ""


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_picture_is_a_file_of_the_sort_that_its_name_says(
    dicesweep: Command, odds: Path, tmp_path: Path, suffix: str
) -> None:
    done = dicesweep("plot", odds, "--select", "sides=8", "-o", tmp_path / f"b.{suffix}")
    assert done.stdout == ""
    begins = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix]
    assert (tmp_path / f"b.{suffix}").read_bytes().startswith(begins)


def test_a_picture_needs_no_name(dicesweep: Command, odds: Path, tmp_path: Path) -> None:
    assert "odds.png" in dicesweep("plot", odds).stderr
    assert (tmp_path / "odds.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "--select", "sids=6"], "did you mean 'sides'"),
        (["show", "--top", "3", "--variable", "modal"], "modal is not a number"),
        (["plot", "--kind", "pie"], "there is no kind of picture 'pie'"),
        (["plot", "-o", "b.gif"], "a picture's name ends in"),
        (["export", "--to", "xls", "-o", "t"], "there is no such form"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_two(
    dicesweep: Command, odds: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    done = dicesweep(arguments[0], odds, *arguments[1:], code=2)
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []
