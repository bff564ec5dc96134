"""A dataset of a sweep knows its points."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest
import xarray as xr
from matplotlib.figure import Figure

from pipeline import run
from pipeline.config import SweepConfig
from pipeline.errors import UserError

Load = Callable[..., SweepConfig]


@pytest.fixture
def dataset(load: Load, tmp_path: Path) -> xr.Dataset:
    return run(load("parameters: {x: [12, 13, 15], mode: [a, b]}"), tmp_path / "s.zarr")


def test_failed_points_are_rows_with_their_reason(dataset: xr.Dataset) -> None:
    failed = dataset.sweep.failed
    assert failed[["x", "mode"]].values.tolist() == [[13, "a"], [13, "b"]]
    assert failed["failure"].unique().tolist() == ["ArithmeticError: thirteen brings bad luck"]
    assert len(dataset.sel(x=[12, 15]).sweep.failed) == 0


def test_points_are_rows(dataset: xr.Dataset) -> None:
    rows = dataset.sweep.points("product")
    assert rows.loc[rows["status"] == "done", "product"].tolist() == [12.0, 12.0, 15.0, 15.0]
    assert len(dataset.sweep.points("parts", layout="long")) == 18
    assert dataset.sweep.done.sum().item() == 4
    assert dataset.sweep.axes == ("x", "mode")


def test_the_headline_is_what_the_study_shows_first(dataset: xr.Dataset) -> None:
    headline = dataset.sweep.headline()
    assert list(headline) == ["product"]
    assert headline["product"].sel(x=15, mode="a").item() == 15.0


def test_a_picture_takes_labels_as_arguments(dataset: xr.Dataset) -> None:
    figure = dataset.sweep.plot(mode="b")
    assert isinstance(figure, Figure)
    (line,) = [line for line in figure.axes[0].lines if line.get_marker() == "o" and len(line.get_xdata()) > 1]
    assert line.get_ydata()[[0, 2]].tolist() == [12.0, 15.0]


def test_a_dataset_of_something_else_says_so() -> None:
    with pytest.raises(UserError, match="not the answer of a sweep"):
        _ = xr.Dataset({"a": 1}).sweep


def test_the_accessor_comes_with_whatever_gives_a_dataset_and_costs_nothing_before() -> None:
    code = "import sys, pipeline; assert 'xarray' not in sys.modules; pipeline.open_sweep; import xarray; xarray.Dataset.sweep"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_both_packages_are_typed() -> None:
    for package in ("pipeline", "solvers"):
        assert (resources.files(package) / "py.typed").is_file()
