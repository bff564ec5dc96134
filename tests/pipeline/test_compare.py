"""A comparison finds what differs, how much and where, by labels and never by positions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pipeline import run
from pipeline.compare import Difference, compare, records
from pipeline.config import SweepConfig
from pipeline.errors import UserError

Load = Callable[..., SweepConfig]


@pytest.fixture
def dataset(load: Load, tmp_path: Path) -> xr.Dataset:
    return run(load("parameters: {x: [11, 12, 13], y: [0.5, 2.0], mode: [a, b]}"), tmp_path / "s.zarr").load()


def of(found: object, name: str) -> Difference:
    return next(d for d in found.differences if d.variable == name)  # type: ignore[attr-defined]


def test_an_answer_does_not_differ_from_itself_in_another_order(dataset: xr.Dataset) -> None:
    turned = dataset.isel(x=[2, 0, 1], mode=[1, 0]).transpose("mode", "x", "y", "part")
    found = compare(dataset, turned)
    assert found.points == 12
    assert found.largest == 0
    assert found.only == ()
    assert of(found, "product").compared == 8
    assert of(found, "parts").compared == 24


def test_the_largest_difference_is_named_with_its_labels(dataset: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    other = dataset.copy(deep=True)
    other["product"].loc[{"x": 12, "y": 2.0, "mode": "b"}] += 0.5
    other["product"].loc[{"x": 11, "y": 0.5, "mode": "a"}] -= 0.25
    other["text"].loc[{"x": 11, "y": 0.5, "mode": "a"}] = "other"
    for budget in (32_000_000, 16):
        monkeypatch.setattr("pipeline.compare.PIECE_BYTES", budget)
        found = compare(dataset, other)
        worst = of(found, "product")
        assert (worst.differing, worst.largest) == (2, 0.5)
        assert dict(worst.where) == {"x": 12, "y": 2.0, "mode": "b"}
        assert (worst.first, worst.second) == (24.0, 24.5)
        words = of(found, "text")
        assert (words.differing, words.second, dict(words.where)) == (1, "other", {"x": 11, "y": 0.5, "mode": "a"})
        assert found.largest == np.inf
    assert records(found)["differences"][0]["where"] == {"x": 12, "y": 2.0, "mode": "b"}


def test_points_that_are_not_done_in_both_do_not_count(dataset: xr.Dataset) -> None:
    other = dataset.copy(deep=True)
    other["product"][:] = 0
    other["status"][:] = 0
    found = compare(dataset, other)
    assert of(found, "product").compared == of(found, "product").differing == 0
    assert of(found, "product").where == {}


def test_only_shared_labels_are_compared_and_the_others_are_named(dataset: xr.Dataset) -> None:
    found = compare(dataset.isel(x=[0, 1]), dataset.isel(x=[1, 2]).drop_vars("draw"))
    assert found.points == 4
    assert set(found.only) == {"x: only the first has 11", "x: only the second has 13", "variable draw: only the first has it"}


def test_an_axis_meets_a_fixed_value(dataset: xr.Dataset, load: Load, tmp_path: Path) -> None:
    fixed = run(load("parameters: {x: 12, y: 2, mode: [a, b], pause: 0.001}"), tmp_path / "t.zarr")
    found = compare(dataset, fixed)
    assert found.points == 2
    assert of(found, "product").differing == 0
    assert found.only == ("pause is 0 in the first and 0.001 in the second",)
    assert compare(fixed, dataset).points == 2


def test_answers_with_nothing_in_common_are_refused(dataset: xr.Dataset) -> None:
    with pytest.raises(UserError, match="no label of x is in both"):
        compare(dataset.isel(x=[0]), dataset.isel(x=[1]))
    with pytest.raises(UserError, match="no variable in common"):
        compare(dataset[["product", "status"]], dataset[["draw", "status"]])
    with pytest.raises(UserError, match="x is 11 in one and never in the other"):
        compare(dataset.isel(x=[1, 2]), dataset.isel(x=0))
    with pytest.raises(UserError, match="only one has the axis x"):
        compare(dataset, dataset.isel(x=0, drop=True))
