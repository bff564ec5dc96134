"""A run computes what is pending, once, and what it says is in the store is in the store."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import toy
import xarray as xr
from conftest import tree

import pipeline.store
from pipeline import load_sweep, open_sweep, run
from pipeline.cluster import choose_place
from pipeline.config import SweepConfig
from pipeline.errors import UserError
from pipeline.plan import Plan, make_plan
from pipeline.run import Watcher, execute
from pipeline.store import DONE, EXCLUDED, FAILED, PENDING, create_store, open_store, survey
from pipeline.task import Receipt, run_block

Load = Callable[..., SweepConfig]
TOY = "parameters: {x: {range: [1, 12]}, mode: [a, b], y: [0.5, 2.0], pause: 0.002}\nseed: 7"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "log"
    path.touch()
    monkeypatch.setenv("TOY_LOG", str(path))
    return path


def solved(log: Path) -> list[str]:
    return sorted(log.read_text().split())


def test_a_run_gives_one_labelled_dataset(load: Load, tmp_path: Path) -> None:
    dataset = run(load(TOY), tmp_path / "s.zarr")
    assert dict(dataset.sizes) == {"x": 12, "y": 2, "mode": 2, "part": 3}
    point = dataset.sel(x=3, y=2.0, mode="b")
    assert point["product"].item() == 6.0
    assert point["text"].item() == "3b"
    assert point["parts"].values[:2].tolist() == [3.0, 2.0]
    assert (dataset["status"] == DONE).all()
    assert dataset["product"].attrs == {"long_name": "x times y", "units": "m"}
    assert dataset["y"].attrs == {"long_name": "a number", "units": "m"}
    assert dataset["status"].attrs["flag_meanings"] == "pending done failed excluded"
    assert dataset["pause"].item() == 0.002


def test_the_store_opens_in_plain_xarray_without_a_warning(load: Load, tmp_path: Path) -> None:
    run(load(TOY), tmp_path / "s.zarr")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dataset = xr.open_zarr(tmp_path / "s.zarr", consolidated=False)
        assert dataset.sel(mode="a")["product"].sum().compute().item() == pytest.approx(78 * 2.5)
        assert dataset["text"].dtype.kind in "OT"
        assert set(dataset.coords) == {"x", "y", "mode", "pause", "part"}


def test_variables_are_loaded_when_they_are_used(load: Load, tmp_path: Path) -> None:
    dataset = run(load(TOY), tmp_path / "s.zarr")
    assert not dataset["product"].variable._in_memory
    assert not dataset["product"].sel(x=3).variable._in_memory
    assert dataset["product"].sel(x=3, y=2.0, mode="b").item() == 6.0


def test_a_second_run_computes_nothing(load: Load, tmp_path: Path, log: Path) -> None:
    run(load(TOY), tmp_path / "s.zarr")
    assert len(solved(log)) == len(set(solved(log))) == 48
    before = tree(tmp_path / "s.zarr")
    run(load(TOY), tmp_path / "s.zarr")
    assert len(solved(log)) == 48
    assert tree(tmp_path / "s.zarr") == before


def test_an_interrupted_run_goes_on_where_it_stopped_and_ends_in_the_same_bytes(load: Load, tmp_path: Path, log: Path) -> None:
    class Stop(Watcher):
        seen = 0

        def received(self, receipt: Receipt) -> None:
            self.seen += 1
            if self.seen == 3:
                raise KeyboardInterrupt

    sweep = load(TOY).sweep
    outcome = execute(make_plan(sweep, tmp_path / "s.zarr", workers=1), Stop())
    assert outcome.interrupted
    left = make_plan(sweep, tmp_path / "s.zarr")
    assert 0 < left.pending < sweep.points
    assert len(survey(open_store(left.path)).pending) > 1
    log.write_text("")
    finished = execute(left)
    assert finished.done == left.pending == len(solved(log))
    run(sweep, tmp_path / "t.zarr")
    assert tree(tmp_path / "s.zarr") == tree(tmp_path / "t.zarr")


def test_the_number_of_workers_does_not_show_in_the_answer(load: Load, tmp_path: Path) -> None:
    for workers in (1, 3):
        run(load(TOY), tmp_path / f"{workers}.zarr", workers=workers)
    assert tree(tmp_path / "1.zarr") == tree(tmp_path / "3.zarr")


def test_the_order_of_values_in_the_file_does_not_matter(load: Load, tmp_path: Path, log: Path) -> None:
    run(load("parameters: {x: [1, 2, 3]}"), tmp_path / "s.zarr")
    dataset = run(load("parameters: {x: [3, 1, 2]}"), tmp_path / "s.zarr")
    assert len(solved(log)) == 3
    assert dataset["product"].sel(x=3).item() == 3.0


def test_a_failing_point_is_data_and_its_neighbours_are_done(load: Load, tmp_path: Path) -> None:
    sweep = load("parameters: {x: [12, 13, 14, 15], mode: [a, b]}").sweep
    outcome = execute(make_plan(sweep, tmp_path / "s.zarr"))
    assert (outcome.done, outcome.failed) == (4, 4)
    dataset = open_sweep(tmp_path / "s.zarr")
    assert dataset["status"].values.tolist() == [[DONE] * 2, [FAILED] * 2, [FAILED] * 2, [DONE] * 2]
    assert dataset["failure"].sel(x=13, mode="a").item() == "ArithmeticError: thirteen brings bad luck"
    assert dataset["failure"].sel(x=14, mode="b").item() == "ValueError: product is not finite"
    assert dataset["failure"].sel(x=12, mode="a").item() == ""
    assert np.isnan(dataset["product"].sel(x=13)).all()
    assert dataset["product"].sel(x=15, mode="b").item() == 15.0
    assert make_plan(sweep, tmp_path / "s.zarr").pending == 0


def test_excluded_points_are_left_out_and_said_to_be(load: Load, tmp_path: Path, log: Path) -> None:
    sweep = load("parameters: {x: [1, 2, 3], mode: [a, b]}\nexclude: x > 1 and mode == 'b'").sweep
    outcome = execute(make_plan(sweep, tmp_path / "s.zarr"))
    assert (outcome.done, outcome.excluded) == (4, 2)
    assert len(solved(log)) == 4
    status = open_sweep(tmp_path / "s.zarr")["status"]
    assert status.values.tolist() == [[DONE, DONE], [DONE, EXCLUDED], [DONE, EXCLUDED]]


def test_strategies_are_kept_in_a_group_for_each_point(write: Callable[..., Path], tmp_path: Path) -> None:
    path = write("study: hidden-die\nparameters: {dice: [1, 2], sides: [3, 4], strategies: true}")
    run(load_sweep(path), tmp_path / "s.zarr")
    tree = xr.open_datatree(tmp_path / "s.zarr", engine="zarr", consolidated=False)
    assert set(tree["details"].children) == {"dice=1,sides=3", "dice=1,sides=4", "dice=2,sides=3", "dice=2,sides=4"}
    point = tree["details/dice=2,sides=4"].dataset
    assert point["roll"].dims == point["hide"].dims == ("choice",)
    assert point["chance"].groupby(point["roll"]).sum().values == pytest.approx(1)
    assert point["visible"].values.tolist() == ["1", "2", "3", "4"]
    assert not (tmp_path / "t.zarr").exists()
    run(load_sweep(path, ["strategies=false"]), tmp_path / "t.zarr")
    assert not (tmp_path / "t.zarr" / "details").exists()


def test_a_game_that_is_too_large_fails_with_the_reason(write: Callable[..., Path], tmp_path: Path) -> None:
    dataset = run(load_sweep(write("study: hidden-die\nparameters: {dice: [2, 12], sides: 60}")), tmp_path / "s.zarr")
    assert dataset["status"].values.tolist() == [DONE, FAILED]
    assert "96,965,920,133,368 columns; the limit is 8,000,000" in dataset["failure"].values[1]


def test_a_zip_has_one_dimension_with_all_its_coordinates(load: Load, tmp_path: Path) -> None:
    dataset = run(load("zip: {variant: {x: [2, 3], mode: [b, c]}}\nparameters: {y: [1.0, 4.0]}"), tmp_path / "s.zarr")
    assert dataset["product"].dims == ("variant", "y")
    assert dataset["product"].sel(variant="x=3,mode=c", y=4.0).item() == 12.0
    assert dataset["x"].dims == dataset["mode"].dims == ("variant",)
    assert dataset["text"].values.tolist() == [["2b", "2b"], ["3c", "3c"]]


def test_a_sweep_of_one_point_has_no_dimensions(load: Load, tmp_path: Path) -> None:
    dataset = run(load("parameters: {x: 6, y: 2}"), tmp_path / "s.zarr")
    assert dataset["product"].item() == 12.0
    assert dataset["product"].dims == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("parameters: {x: [1, 2], mode: b}", "mode is a there and b here"),
        ("parameters: {x: [1, 3]}", "axis x differs: 2 only there"),
        ("parameters: {x: 1}", "x is an axis there and 1 here"),
        ("parameters: {x: [1, 2], y: [1.0]}", "y is 1.0 there and an axis here"),
        ("parameters: {x: [1, 2]}\nseed: 1", "seed is 0 there and 1 here"),
        ("parameters: {x: [1, 2]}\nexclude: x > 5", "exclude is None there and 'x > 5' here"),
        ("study: stationary\nparameters: {sides: [4, 6]}", "study is 'toy:STUDY' there and 'stationary' here"),
    ],
)
def test_a_store_of_another_sweep_is_refused_with_the_difference(load: Load, tmp_path: Path, change: str, message: str) -> None:
    run(load("parameters: {x: [1, 2]}"), tmp_path / "s.zarr")
    before = tree(tmp_path / "s.zarr")
    with pytest.raises(UserError, match="belongs to another sweep") as caught:
        make_plan(load(change).sweep, tmp_path / "s.zarr")
    assert message in str(caught.value)
    assert tree(tmp_path / "s.zarr") == before


def test_a_deck_whose_contents_changed_is_another_sweep(write: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "decks").mkdir()
    deck = tmp_path / "decks" / "mine.yaml"
    path = write("study: stationary\nparameters: {chance: mine}")
    deck.write_text("chance: {cards: {jail: 3, stay: 1}}")
    run(load_sweep(path), tmp_path / "s.zarr")
    deck.write_text("chance: {cards: {jail: 2, stay: 1}}")
    with pytest.raises(UserError, match="chance mine has other contents there than here"):
        run(load_sweep(path), tmp_path / "s.zarr")


def test_what_is_there_and_is_no_store_is_left_alone(load: Load, tmp_path: Path) -> None:
    (tmp_path / "s.zarr").mkdir()
    (tmp_path / "s.zarr" / "thesis.txt").write_text("years of work")
    with pytest.raises(UserError, match="not the store of a sweep"):
        run(load(TOY), tmp_path / "s.zarr")
    assert (tmp_path / "s.zarr" / "thesis.txt").read_text() == "years of work"
    with pytest.raises(UserError, match="something is there already"):
        create_store(tmp_path / "s.zarr", load(TOY).sweep)


def test_a_new_store_appears_whole_or_not_at_all(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*args: object) -> None:
        raise RuntimeError("power cut")

    monkeypatch.setattr("pipeline.store._create_array", crash)
    with pytest.raises(RuntimeError, match="power cut"):
        create_store(tmp_path / "s.zarr", load(TOY).sweep)
    assert [path.name for path in tmp_path.glob("*.zarr*")] == [path.name for path in tmp_path.glob(".*partial")] == []


def test_data_is_written_before_the_status_that_vouches_for_it(load: Load, tmp_path: Path) -> None:
    store = create_store(tmp_path / "s.zarr", load(TOY).sweep)
    block = next(iter(store.blocks()))
    written: list[str] = []

    class Spy(dict):  # type: ignore[type-arg]
        def __getitem__(self, name: str) -> object:
            written.append(name)
            return super().__getitem__(name)

    object.__setattr__(store, "arrays", Spy(store.arrays))
    results = {"product": np.zeros(block.shape), "draw": np.zeros(block.shape)}
    store.write(block, results, np.ones(block.shape, np.uint8))
    assert written == ["product", "draw", "status"]


def test_a_partly_done_block_keeps_what_it_has(load: Load, tmp_path: Path, log: Path) -> None:
    store = create_store(tmp_path / "s.zarr", load("parameters: {x: [1, 2, 3, 4]}").sweep)
    run_block(store.path, (0,))
    store.arrays["status"][1] = PENDING
    store.arrays["product"][2] = 77.0
    log.write_text("")
    receipt = run_block(store.path, (0,))
    assert receipt.done == 1
    assert solved(log) == ["2,1.0,a"]
    assert store.arrays["product"][:].tolist() == [1.0, 2.0, 77.0, 4.0]
    assert survey(open_store(store.path)).counts == (0, 4, 0, 0)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (lambda answers: {}, "the solver returned no product"),
        (lambda answers: answers | {"product": np.zeros(9)}, "the solver returned product with shape (9,) instead of"),
        (lambda answers: answers | {"product": answers["text"]}, "the solver returned product as object instead of float64"),
    ],
)
def test_a_solver_that_breaks_its_word_makes_points_fail(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: Callable[..., object], reason: str
) -> None:
    honest = toy.STUDY
    monkeypatch.setattr(toy, "STUDY", dataclasses.replace(honest, solve=lambda grid: broken(honest.solve(grid))))
    pipeline.store._opened.cache_clear()
    execute(make_plan(load("parameters: {x: [1, 2]}").sweep, tmp_path / "s.zarr"))
    failures = open_sweep(tmp_path / "s.zarr")["failure"].values
    assert all(reason in str(failure) for failure in failures)


def test_a_plan_says_what_a_run_would_do_and_writes_nothing(load: Load, tmp_path: Path) -> None:
    plan = make_plan(load(TOY).sweep, tmp_path / "s.zarr")
    assert isinstance(plan, Plan)
    assert (plan.pending, plan.store) == (48, None)
    assert np.prod(plan.lattice) > 1
    assert plan.seconds == pytest.approx(48 * 0.0021)
    assert not (tmp_path / "s.zarr").exists()


def test_small_work_stays_in_this_process_and_large_work_does_not() -> None:
    assert choose_place(0.5).kind == "threads"
    assert choose_place(5000.0, workers=3).kind == "processes"
    assert choose_place(5000.0, workers=3).workers == 3
    assert choose_place(0.5, scheduler="tcp://127.0.0.1:1").kind == "address"


def test_a_read_only_place_is_one_clear_line(load: Load) -> None:
    with pytest.raises(UserError, match="cannot be written"):
        run(load(TOY), "/proc/s.zarr")
