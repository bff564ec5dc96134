"""Points are cut into blocks that tile the space, and blocks into grids that cover what is wanted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pipeline.config import SweepConfig
from pipeline.space import BLOCK_BYTES, block_at, blocks, chunk_shape, grids, lattice, rectangles, sample_costs
from pipeline.sweep import Sweep, from_plain

Load = Callable[..., SweepConfig]


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=3))
def test_blocks_tile_the_space(pairs: list[tuple[int, int]]) -> None:
    shape, chunk = [n for n, _ in pairs], [size for _, size in pairs]
    seen = np.zeros(shape, int)
    for block in blocks(shape, chunk):
        seen[block.region] += 1
        assert all(n <= size for n, size in zip(block.shape, chunk, strict=True))
    assert (seen == 1).all()
    assert len(list(blocks(shape, chunk))) == np.prod(lattice(shape, chunk))


@given(hnp.arrays(bool, hnp.array_shapes(min_dims=0, max_dims=3, max_side=5)))
def test_rectangles_cover_each_wanted_point_once(mask: np.ndarray) -> None:
    seen = np.zeros(mask.shape, int)
    for places in rectangles(mask):
        seen[np.ix_(*places) if places else ()] += 1
    assert (seen == mask).all()


def test_a_regular_mask_takes_few_rectangles() -> None:
    mask = np.ones((50, 40), bool)
    mask[10:20, 5:] = False
    assert len(list(rectangles(mask))) == 2


def test_cheap_points_share_a_block_and_dear_ones_do_not(load: Load) -> None:
    assert chunk_shape(load("parameters: {x: {range: [0, 99]}}").sweep) == (100,)
    assert chunk_shape(load("parameters: {x: {range: [0, 99]}, pause: 0.09}").sweep) == (6,)
    assert chunk_shape(load("parameters: {x: {range: [0, 99]}, pause: 5.0}").sweep) == (1,)
    assert chunk_shape(load("parameters: {pause: 5.0}").sweep) == ()


def test_blocks_are_sized_by_the_dearest_point(load: Load) -> None:
    sweep = load("parameters: {x: {range: [0, 99]}, pause: [0.0, 10.0]}").sweep
    assert sample_costs(sweep).largest == pytest.approx(10.0001)
    assert chunk_shape(sweep) == (1, 1)


def test_no_chunk_is_too_large_to_read(load: Load) -> None:
    sweep = load("parameters: {x: {range: [0, 1000]}, y: {linspace: [0, 1, 100000]}}").sweep
    chunk = chunk_shape(sweep)
    assert np.prod(chunk) * 24 <= BLOCK_BYTES


def test_blocks_extend_first_along_parameters_that_share_work() -> None:
    from conftest import CONFIGS

    from pipeline.config import load_sweep

    sweep = load_sweep(CONFIGS / "monopoly_odds_large.yaml").sweep
    assert chunk_shape(sweep) == (1, *sweep.shape[1:])


def points_of(sweep: Sweep, wanted: np.ndarray) -> list[tuple[object, ...]]:
    block = block_at([0] * wanted.ndim, sweep.shape, sweep.shape)
    return [(point["x"], point["y"], point["mode"]) for _, grid in grids(sweep, block, wanted) for _, point in grid.points()]


def test_grids_ask_for_the_wanted_points_and_no_others(load: Load) -> None:
    sweep = load("zip: {variant: {x: [1, 2, 3], mode: [a, b, c]}}\nparameters: {y: [0.0, 1.0]}").sweep
    wanted = np.array([[True, False], [True, True], [False, False]])
    assert sorted(points_of(sweep, wanted)) == [(1, 0.0, "a"), (2, 0.0, "b"), (2, 1.0, "b")]


def test_a_seed_depends_on_the_labels_of_a_point_alone(load: Load) -> None:
    def seeds(text: str) -> dict[tuple[object, ...], int]:
        sweep = load(text).sweep
        block = block_at([0] * len(sweep.shape), sweep.shape, sweep.shape)
        return {
            (point["x"], point["mode"]): int(grid.seed(index).generate_state(1)[0])
            for _, grid in grids(sweep, block, np.ones(sweep.shape, bool))
            for index, point in grid.points()
        }

    all_seeds = seeds("seed: 5\nparameters: {x: [1, 2, 3], mode: [a, b]}")
    assert len(set(all_seeds.values())) == 6
    assert seeds("seed: 5\nparameters: {x: 2, mode: b}") == {(2, "b"): all_seeds[2, "b"]}
    assert seeds("seed: 5\nparameters: {mode: [b], x: [3, 9]}")[3, "b"] == all_seeds[3, "b"]
    assert seeds("seed: 5\nzip: {v: {x: [3], mode: [a]}}")[3, "a"] == all_seeds[3, "a"]
    assert seeds("seed: 6\nparameters: {x: 2, mode: b}")[2, "b"] != all_seeds[2, "b"]


def test_one_and_one_point_zero_are_different_points(load: Load) -> None:
    import dataclasses

    from pipeline.sweep import Value

    sweep = load("parameters: {x: 1}").sweep
    keys = {
        dataclasses.replace(sweep, fixed={**sweep.fixed, "x": Value(label, label)}).key(()) for label in (1, 1.0, True, "1")
    }
    assert len(keys) == 4


def test_a_sweep_survives_the_trip_through_its_plain_form(load: Load) -> None:
    sweep = load("zip: {v: {x: [1, 2], mode: [a, b]}}\nparameters: {y: [0.5, 1]}\nexclude: x > 1\nseed: 9\ntitle: t").sweep
    again = from_plain(sweep.plain())
    assert again.plain() == sweep.plain()
    assert again.excluded_points == sweep.excluded_points == 2


def test_a_parameter_that_a_study_has_got_since_takes_its_default(load: Load) -> None:
    sweep = load("parameters: {x: [1, 2]}").sweep
    plain = sweep.plain()
    del plain["fixed"]["pause"]
    assert from_plain(plain).plain() == sweep.plain()
