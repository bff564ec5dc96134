"""Tables and files hold every point once, with its labels, and give back the numbers that the store has."""

from __future__ import annotations

import csv
import json
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import pipeline.table
from pipeline import run
from pipeline.config import SweepConfig
from pipeline.errors import UserError
from pipeline.export import export
from pipeline.select import select
from pipeline.table import regions, tabulate

Load = Callable[..., SweepConfig]
SWEEP = "parameters: {x: [12, 13, 15], y: [0.5, 2.0], mode: [a, b]}\nexclude: x == 15 and mode == 'b'"


@pytest.fixture
def dataset(load: Load, tmp_path: Path) -> xr.Dataset:
    return run(load(SWEEP), tmp_path / "s.zarr")


@given(st.lists(st.integers(1, 6), max_size=4), st.integers(1, 40))
def test_regions_cover_a_space_once_in_order_and_are_bounded(shape: list[int], rows: int) -> None:
    whole = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    pieces = [whole[region].ravel() for region in regions(shape, rows)]
    assert np.concatenate(pieces).tolist() == whole.ravel().tolist()
    assert max(map(len, pieces)) <= rows


def test_a_row_is_a_point_with_its_labels_and_its_state(dataset: xr.Dataset) -> None:
    (piece,) = tabulate(dataset).pieces()
    rows = pd.DataFrame(piece)
    assert len(rows) == 12
    assert list(rows.columns) == [
        "x",
        "y",
        "mode",
        "status",
        "product",
        "parts_0",
        "parts_1",
        "parts_2",
        "text",
        "draw",
        "failure",
    ]
    assert rows.groupby("status").size().to_dict() == {"done": 6, "excluded": 2, "failed": 4}
    point = rows[(rows["x"] == 12) & (rows["y"] == 2.0) & (rows["mode"] == "b")].iloc[0]
    assert (point["product"], point["parts_0"], point["text"], point["status"]) == (24.0, 12.0, "12b", "done")


def test_the_long_layout_has_a_row_for_each_label(dataset: xr.Dataset) -> None:
    table = tabulate(dataset, "long")
    (piece,) = table.pieces()
    rows = pd.DataFrame(piece)
    assert len(rows) == table.rows == 36
    done = rows[(rows["status"] == "done") & (rows["part"] == 1)]
    assert (done["parts"] == done["y"]).all()
    assert "product" not in rows


def test_coordinates_along_an_axis_are_columns(load: Load, tmp_path: Path) -> None:
    dataset = run(load("zip: {variant: {x: [2, 3], mode: [b, c]}}\nparameters: {y: [1.0, 4.0]}"), tmp_path / "s.zarr")
    (piece,) = tabulate(dataset).pieces()
    assert piece["variant"].tolist() == ["x=2,mode=b"] * 2 + ["x=3,mode=c"] * 2
    assert piece["x"].tolist() == [2, 2, 3, 3]
    assert piece["product"].tolist() == [2.0, 8.0, 3.0, 12.0]


def test_many_pieces_say_the_same_as_one(dataset: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    (whole,) = tabulate(dataset).pieces()
    monkeypatch.setattr(pipeline.table, "PIECE_BYTES", 300)
    parts = list(tabulate(dataset).pieces())
    assert len(parts) > 3
    pd.testing.assert_frame_equal(pd.concat(map(pd.DataFrame, parts), ignore_index=True), pd.DataFrame(whole))


def test_a_csv_file_gives_back_every_number(dataset: xr.Dataset, tmp_path: Path) -> None:
    export(dataset, "csv", tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as file:
        again = list(csv.DictReader(file))
    (piece,) = tabulate(dataset).pieces()
    assert list(again[0]) == list(piece)
    for column in ("product", "draw", "parts_2"):
        assert [float(row[column] or "nan") for row in again] == pytest.approx(
            piece[column].tolist(), rel=0, abs=0, nan_ok=True
        )
    for column in ("mode", "status", "failure"):
        assert [row[column] for row in again] == piece[column].tolist()


def test_a_json_file_has_null_where_there_is_no_number(dataset: xr.Dataset, tmp_path: Path) -> None:
    export(dataset, "json", tmp_path / "t.json", names=["product"])
    rows = json.loads((tmp_path / "t.json").read_text())
    assert len(rows) == 12
    assert rows[0] == {"x": 12, "y": 0.5, "mode": "a", "status": "done", "product": 6.0, "failure": ""}
    assert rows[4]["product"] is None
    assert rows[4]["failure"].startswith("ArithmeticError")


@pytest.mark.parametrize("layout", ["wide", "long"])
def test_a_parquet_file_gives_back_every_row_with_units(dataset: xr.Dataset, tmp_path: Path, layout: str) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    export(dataset, "parquet", tmp_path / "t.parquet", layout=layout)
    read = pq.read_table(tmp_path / "t.parquet")
    (piece,) = tabulate(dataset, layout).pieces()
    wanted = pd.DataFrame(piece)
    again = read.to_pandas()
    for column in wanted:
        assert again[column].tolist() == pytest.approx(wanted[column].tolist(), nan_ok=True), column
    assert read.schema.field("y").metadata[b"units"] == b"m"
    assert b"dicesweep" in read.schema.metadata


@pytest.mark.parametrize("budget", [32_000_000, 200])
def test_a_netcdf_file_is_the_same_dataset(
    dataset: xr.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: int
) -> None:
    pytest.importorskip("h5netcdf")
    monkeypatch.setattr("pipeline.export.PIECE_BYTES", budget)
    export(dataset, "netcdf", tmp_path / "t.nc")
    with xr.open_dataset(tmp_path / "t.nc", engine="h5netcdf") as again:
        xr.testing.assert_identical(again.load().drop_encoding(), dataset.load())


def test_truth_survives_netcdf(load: Load, tmp_path: Path) -> None:
    pytest.importorskip("h5netcdf")
    config = load("study: hidden-die\nparameters: {dice: 2, sides: 3, strategies: [true, false]}")
    export(run(config, tmp_path / "s.zarr"), "netcdf", tmp_path / "t.nc")
    with xr.open_dataset(tmp_path / "t.nc", engine="h5netcdf") as again:
        assert again["strategies"].values.tolist() == [False, True]


def test_a_selection_is_all_that_is_written(dataset: xr.Dataset, tmp_path: Path) -> None:
    export(select(dataset, ["x=12", "mode=a"]), "csv", tmp_path / "t.csv", names=["product"])
    assert (tmp_path / "t.csv").read_text() == "y,status,product,failure\n0.5,done,6.0,\n2.0,done,24.0,\n"


def test_memory_does_not_grow_with_the_answer(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline.table, "PIECE_BYTES", 200_000)
    sizes = {}
    for points in (4_000, 32_000):
        store = tmp_path / f"{points}.zarr"
        text = f"parameters: {{x: {{range: [101, 104]}}, y: {{linspace: [0, 1, {points // 4}]}}}}"
        dataset = run(load(text), store)
        export(dataset, "csv", tmp_path / "t.csv")
        tracemalloc.start()
        export(dataset, "csv", tmp_path / "t.csv")
        sizes[points] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 32_001
    assert sizes[32_000] < 3 * sizes[4_000]


@pytest.mark.parametrize(("form", "module"), [("parquet", "pyarrow"), ("netcdf", "h5netcdf")])
def test_a_package_that_is_missing_is_named_with_what_installs_it(
    dataset: xr.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UserError, match=rf"--to {form}: needs {module}; install it with: pip install 'dicesweep\[export\]'"):
        export(dataset, form, tmp_path / "t")
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    ("form", "options", "message"),
    [
        ("cvs", {}, "did you mean 'csv'"),
        ("csv", {"names": ["prodct"]}, "did you mean 'product'"),
        ("csv", {"layout": "tall"}, "known: wide, long"),
    ],
)
def test_a_mistake_leaves_no_file(
    dataset: xr.Dataset, tmp_path: Path, form: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        export(dataset, form, tmp_path / "t.csv", **options)  # type: ignore[arg-type]
    assert not list(tmp_path.glob("*t.csv*"))
    with pytest.raises(UserError, match="cannot be written"):
        export(dataset, "csv", tmp_path / "nowhere" / "t.csv")
    with pytest.raises(UserError, match="needs a file"):
        export(dataset, "parquet", "-")


def test_the_long_layout_needs_one_set_of_dimensions(tmp_path: Path) -> None:
    from conftest import CONFIGS

    from pipeline import load_sweep

    dataset = run(load_sweep(CONFIGS / "monopoly_odds.yaml", ["sides=6"]), tmp_path / "s.zarr")
    with pytest.raises(UserError, match="choose with --variable"):
        tabulate(dataset, "long")
    (piece,) = tabulate(dataset, "long", ["probability"]).pieces()
    assert len(piece["square_name"]) == 14 * 40
