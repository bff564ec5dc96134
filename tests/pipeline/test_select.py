"""A selection finds the labels that it names, and no others."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import UserError
from pipeline.select import positions, select

DECKS = ["jail=0,back-3=0", "jail=0,back-3=1", "jail=1,back-3=0", "jail=1"]


@pytest.fixture
def dataset() -> xr.Dataset:
    return xr.Dataset(
        {"value": (("sides", "chance", "fair"), np.arange(5 * 4 * 2).reshape(5, 4, 2))},
        coords={
            "sides": [2, 4, 6, 8, 12],
            "chance": np.array(DECKS, object),
            "chance_jail": ("chance", [0, 0, 1, 1]),
            "fair": [False, True],
            "dice": 2,
        },
    )


def test_one_label_removes_its_dimension(dataset: xr.Dataset) -> None:
    found = select(dataset, ["sides=6", "fair=true", "chance=jail=1,back-3=0"])
    assert found["value"].item() == dataset["value"].sel(sides=6, fair=True, chance="jail=1,back-3=0").item()


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("4:8", [4, 6, 8]),
        ("3:9", [4, 6, 8]),
        (":4", [2, 4]),
        ("8:", [8, 12]),
        ("12,2", [2, 12]),
        ("4:4", [4]),
        ("6.0,8", [6, 8]),
    ],
)
def test_ranges_include_both_ends_and_lists_keep_the_order_of_the_store(
    dataset: xr.Dataset, text: str, sides: list[int]
) -> None:
    assert select(dataset, [f"sides={text}"])["sides"].values.tolist() == sides


@pytest.mark.parametrize(
    ("text", "decks"),
    [
        ("jail=0,back-3=1,jail=1", ["jail=0,back-3=1", "jail=1"]),
        ("jail=1,jail=1,back-3=0", ["jail=1,back-3=0", "jail=1"]),
        ("jail=0,back-3=1:jail=1", ["jail=0,back-3=1", "jail=1,back-3=0", "jail=1"]),
    ],
)
def test_labels_may_hold_commas_and_equal_signs(dataset: xr.Dataset, text: str, decks: list[str]) -> None:
    assert select(dataset, [f"chance={text}"])["chance"].values.tolist() == decks


def test_a_coordinate_along_a_dimension_selects_and_keeps_it(dataset: xr.Dataset) -> None:
    assert select(dataset, ["chance_jail=1"])["chance"].values.tolist() == DECKS[2:]


def test_a_fixed_parameter_may_be_named_if_it_has_that_value(dataset: xr.Dataset) -> None:
    assert select(dataset, ["dice=2"]).identical(dataset)
    with pytest.raises(UserError, match=r"no label of dice is '3' \(it is 2\)"):
        select(dataset, ["dice=3"])


def test_selections_narrow_one_another(dataset: xr.Dataset) -> None:
    assert select(dataset, ["sides=4:8", "sides=6:"])["sides"].values.tolist() == [6, 8]
    with pytest.raises(UserError, match="no label of sides is '2'"):
        select(dataset, ["sides=4:8", "sides=2"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("side=6", "did you mean 'sides'"),
        ("sides=7", r"it has 2, 4, 6, 8, 12"),
        ("sides=six", "no label of sides is 'six'"),
        ("sides=2,7", "no label of sides is '2,7'"),
        ("sides=9:11", "no label of sides is '9:11'"),
        ("chance=jail=0,back-3=2", "did you mean 'jail=0,back-3="),
        ("fair=maybe", "it has false, true"),
        ("sides", "write it as name=label"),
        ("sides=", "write it as name=label"),
    ],
)
def test_a_mistake_is_one_line_with_the_cure(dataset: xr.Dataset, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        select(dataset, [text])
    assert "\n" not in str(caught.value)


@given(st.lists(st.text("ab,:=1", min_size=1, max_size=6), min_size=1, max_size=6, unique=True), st.data())
def test_a_label_as_it_stands_is_that_label(labels: list[str], data: st.DataObject) -> None:
    wanted = data.draw(st.sampled_from(labels))
    assert positions(np.array(labels, object), wanted) == [labels.index(wanted)]


@given(st.lists(st.integers(-50, 50), unique=True, min_size=1), st.integers(-50, 50), st.integers(-50, 50))
def test_a_range_holds_what_lies_between(labels: list[int], low: int, high: int) -> None:
    found = positions(np.array(labels), f"{low}:{high}")
    assert found == [i for i, label in enumerate(labels) if low <= label <= high]
