"""Squares are said to differ when they do, and hardly ever when they do not."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.memories import compare_memories


def test_holm_holds_back_more_the_fewer_squares_differ() -> None:
    errors = np.array([10.0, 2.6, 3.0, 0.0])
    found = compare_memories(np.zeros(4), errors * 1e-6, np.full(4, 1e-6), orders=10**6, level=0.01)
    # Two-sided: 2.6 has p = 0.0093 and 3.0 has 0.0027, against 0.01 / 2 and 0.01 / 3.
    assert found.differs.tolist() == [True, False, True, False]
    assert found.errors == pytest.approx(errors)
    assert not compare_memories(np.zeros(4), errors * 1e-6, np.full(4, 1e-6), orders=2).differs.any()


def test_chance_alone_hardly_ever_makes_a_board_differ() -> None:
    random = np.random.default_rng(1)
    orders, boards, squares = 12, 4000, 40
    answers = random.normal(0.025, 1e-5, (orders, boards, squares))
    found = compare_memories(
        np.full((boards, squares), 0.025), answers.mean(axis=0), answers.std(axis=0, ddof=1) / np.sqrt(orders), orders
    )
    assert 0.004 < found.differs.any(axis=1).mean() < 0.016


def test_rounding_is_no_difference() -> None:
    found = compare_memories(np.array([0.5, 0.5]), np.array([0.5 + 1e-16, 0.5]), np.array([1e-18, 0.0]), orders=9)
    assert not found.differs.any()
    assert (found.errors == 0).all()


def test_the_table_names_the_squares_that_differ() -> None:
    found = compare_memories(np.array([0.6, 0.4]), np.array([0.6001, 0.4]), np.array([1e-6, 1e-6]), orders=100)
    lines = found.table(["GO", "A1"]).splitlines()
    assert lines[1].split() == ["GO", "60.0000", "60.0100", "+100.0", "1.0", "+100.0", "differs"]
    assert "differs" not in lines[2]
    assert lines[-1] == "differ significantly: GO"
    assert compare_memories(found.cycle, found.cycle, found.standard_error, 9).table(["GO", "A1"]).endswith(": none")


def test_one_order_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="two"):
        compare_memories(np.zeros(1), np.zeros(1), np.zeros(1), orders=1)
