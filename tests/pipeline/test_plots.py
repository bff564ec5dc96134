"""Pictures show the numbers that they are given."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure

from pipeline.plots import board


def values(size: int) -> xr.DataArray:
    numbers = np.linspace(0.01, 0.04, size)
    return xr.DataArray(numbers, dims="square", coords={"square": np.arange(size)})


def test_every_square_is_drawn_with_its_number_and_the_first_three_are_marked() -> None:
    ax = Figure().subplots()
    assert board(ax, values(40), {"red": [21, 23, 24]}, title="odds") is ax
    texts = [text.get_text() for text in ax.texts]
    assert texts.count("1.00") == texts.count("4.00") == 1
    assert {"1", "2", "3"} <= set(texts)
    assert "odds" in texts


def test_no_two_squares_overlap_and_none_is_missing() -> None:
    from pipeline.plots import _place

    for side in (2, 10):
        corners = {tuple(round(v, 6) for v in _place(square, side)[:2]) for square in range(4 * side)}
        assert len(corners) == 4 * side
        assert sum(np.prod(_place(square, side)[2:]) for square in range(4 * side)) == pytest.approx(
            4 * 1.45**2 + 4 * (side - 1) * 1.45
        )


@pytest.mark.parametrize("size", [4, 39])
def test_a_board_that_does_not_close_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="multiple of four"):
        board(Figure().subplots(), values(size))
