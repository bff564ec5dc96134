"""A sweep made in Python is the one that a file would give."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pipeline.making
from pipeline import UserError, make_sweep, run
from pipeline.config import SweepConfig


def test_a_sweep_needs_no_file(load: Callable[..., SweepConfig], tmp_path: Path) -> None:
    made = make_sweep(
        "toy:STUDY",
        {"y": np.array([0.5, 2.0])},
        zips={"variant": {"x": range(1, 4), "mode": ("a", "b", "c")}},
        exclude="x == 2",
        seed=3,
        title="made",
    )
    read = load(
        "parameters: {y: [0.5, 2.0]}\nzip: {variant: {x: [1, 2, 3], mode: [a, b, c]}}\nexclude: x == 2\nseed: 3\ntitle: made"
    ).sweep
    assert made.plain() == read.plain()
    assert run(made, tmp_path / "s.zarr")["product"].sel(variant="x=3,mode=c", y=2.0).item() == 6.0


def test_a_family_of_decks_needs_no_file() -> None:
    made = make_sweep("stationary", {"sides": np.int64(6), "chance": {"vary": "classic", "cards": {"jail": range(3)}}})
    assert made.dimensions[0].labels == ("jail=0", "jail=1", "jail=2")


def test_a_mistake_is_one_line() -> None:
    with pytest.raises(UserError, match="did you mean 'sides'"):
        make_sweep("stationary", {"sids": 6})


def test_the_example_is_true() -> None:
    assert doctest.testmod(pipeline.making) == doctest.TestResults(failed=0, attempted=1)
