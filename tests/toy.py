"""A study for tests of the pipeline: arithmetic, with faults on demand, and a log of every point that is solved."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from solvers.study import Choice, Coordinate, Grid, Headline, Integer, Law, Parameter, Real, Study, Variable


def solve(grid: Grid) -> dict[str, np.ndarray]:
    shape = grid.shape
    product = np.empty(shape)
    parts = np.empty((*shape, 3))
    text = np.empty(shape, object)
    draw = np.empty(shape)
    for index, point in grid.points():
        _log(f"{point['x']},{point['y']},{point['mode']}")
        time.sleep(point["pause"])
        if point["x"] == 13:
            raise ArithmeticError("thirteen brings bad luck")
        product[index] = np.nan if point["x"] == 14 else point["x"] * point["y"]
        parts[index] = point["x"], point["y"], np.nan
        text[index] = f"{point['x']}{point['mode']}"
        draw[index] = np.random.default_rng(grid.seed(index)).random()
    return {"product": product, "parts": parts, "text": text, "draw": draw}


def _log(line: str) -> None:
    if path := os.environ.get("TOY_LOG"):
        with Path(path).open("a", encoding="utf-8") as log:
            log.write(line + "\n")


STUDY = Study(
    name="toy",
    version=1,
    title="A product",
    parameters=(
        Parameter("x", Integer(0, 1000), "a whole number", default=1),
        Parameter("y", Real(0, 1e9), "a number", default=1.0, unit="m"),
        Parameter("mode", Choice(("a", "b", "c")), "a letter", default="a"),
        Parameter("pause", Real(0, 60), "seconds that a point takes", default=0.0, unit="s"),
    ),
    variables=(
        Variable("product", "x times y", unit="m"),
        Variable("parts", "x and y", ("part",), missing="the third part is never there"),
        Variable("text", "x and the mode", dtype="str"),
        Variable("draw", "a random number"),
    ),
    solve=solve,
    cost=lambda values: 1e-4 + values["pause"],
    contained=True,
    laws=(
        Law(
            "the product is the product", lambda answers: answers["product"] == answers["parts"][:, 0] * answers["parts"][:, 1]
        ),
    ),
    recompute=lambda values, answers: "" if answers["product"] == values["x"] * values["y"] else "the product is off",
    headline=(Headline("product", format=".1f"),),
    coordinates=lambda values: {"part": Coordinate(("part",), np.arange(3), "part")},
)
