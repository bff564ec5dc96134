"""Conditions are evaluated over arrays, and can do nothing but compare and compute."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.expression import parse_expression

VALUES = {"x": np.arange(6), "deck": np.array(["a", "b", "a", "c", "b", "a"], object), "flag": np.array([True, False] * 3)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x < 3", [1, 1, 1, 0, 0, 0]),
        ("1 < x <= 4", [0, 0, 1, 1, 1, 0]),
        ("x in [1, 5]", [0, 1, 0, 0, 0, 1]),
        ("deck not in ['a', 'b']", [0, 0, 0, 1, 0, 0]),
        ("deck == 'a' and x > 0", [0, 0, 1, 0, 0, 1]),
        ("not (flag or x == 1)", [0, 0, 0, 1, 0, 1]),
        ("x % 2 == 1", [0, 1, 0, 1, 0, 1]),
        ("-x + 2 * 2 >= x // 1", [1, 1, 1, 0, 0, 0]),
        ("flag == True", [1, 0, 1, 0, 1, 0]),
        ("x / 0 > 1", [0, 1, 1, 1, 1, 1]),
    ],
)
def test_conditions_say_what_they_say(text: str, expected: list[int]) -> None:
    assert parse_expression(text, VALUES)(VALUES).astype(int).tolist() == expected


def test_values_broadcast_over_the_space() -> None:
    condition = parse_expression("x < y", ["x", "y"])
    assert condition({"x": np.arange(2)[:, None], "y": np.arange(3)[None, :]}).shape == (2, 3)


@pytest.mark.parametrize(
    "text",
    [
        "x.real",
        "x.__class__",
        "__import__('os')",
        "open('f')",
        "x[0]",
        "(lambda: 1)()",
        "[y for y in x]",
        "x ** 9",
        "x if x else x",
        "x := 1",
        "f'{x}'",
        "x is 1",
        "x in x",
        "1 +",
        "",
        "x; x",
        "9" * 30,
        "not " * 40 + "flag",
        "None",
        "b'x' == deck",
        "zzz > 1",
        "x > 1" + " " * 3000,
    ],
)
def test_anything_else_is_refused_when_it_is_read(text: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse_expression(text, VALUES)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["x", "x + 1", "deck > 1", "deck + 1 == 2", "x == 'a'", "flag + 1 == 2", "not x", "-deck == 1"]
)
def test_mixing_kinds_is_refused_when_it_is_evaluated(text: str) -> None:
    with pytest.raises(ValueError, match="cannot be evaluated"):
        parse_expression(text, VALUES)(VALUES)


def test_a_misspelt_name_is_put_right() -> None:
    with pytest.raises(ValueError, match="did you mean 'deck'"):
        parse_expression("dekc == 'a'", VALUES)


@given(st.text(alphabet="xflagdeck <>=!&|+-*/%()[]'\"0123456789.,andornoti", max_size=40))
def test_any_text_is_a_condition_or_a_value_error(text: str) -> None:
    try:
        parse_expression(text, VALUES)(VALUES)
    except ValueError as error:
        assert "\n" not in str(error)
