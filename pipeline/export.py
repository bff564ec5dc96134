"""An answer as a file for other programs: CSV, Parquet or JSON as a tidy table, or netCDF as the labelled arrays themselves.

Everything is read and written piece by piece, so memory does not grow with the answer; a file appears whole or not at all.
"""

from __future__ import annotations

import csv
import json
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.answer import KEPT_APART, axes
from pipeline.errors import UserError, suggestion
from pipeline.table import PIECE_BYTES, Columns, Table, regions, tabulate


def export(dataset: xr.Dataset, form: str, path: str | Path, *, layout: str = "wide", names: Sequence[str] = ()) -> None:
    """Write an answer to a file.

    Parameters
    ----------
    dataset : xarray.Dataset
        As :func:`pipeline.open_sweep` gives it, or a selection of it.
    form : {"csv", "parquet", "netcdf", "json"}
    path : path
        ``-`` is standard output, for CSV and JSON.
    layout : {"wide", "long"}
        Of tables, see :mod:`pipeline.table`.
    names : sequence of str
        Variables to take; all by default.

    Raises
    ------
    UserError
        If there is no such form, a package that it needs is missing, or the file cannot be written.
    """
    if form not in FORMS:
        raise UserError(f"--to {form}: there is no such form{suggestion(form, FORMS)} (known: {', '.join(FORMS)})")
    if str(path) == "-":
        if form not in ("csv", "json"):
            raise UserError(f"--to {form}: needs a file, with -o FILE")
        (_csv if form == "csv" else _json)(tabulate(dataset, layout, names), sys.stdout)
        return
    with _whole(Path(path)) as partial:
        if form == "netcdf":
            _netcdf(dataset if not names else _only(dataset, names), partial)
        elif form == "parquet":
            _parquet(tabulate(dataset, layout, names), partial)
        else:
            with partial.open("w", encoding="utf-8", newline="") as file:
                (_csv if form == "csv" else _json)(tabulate(dataset, layout, names), file)


def _only(dataset: xr.Dataset, names: Sequence[str]) -> xr.Dataset:
    table = tabulate(dataset, names=names)
    return dataset[[*table.names, *(name for name in dataset.data_vars if name in KEPT_APART)]]


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """Give a name to write to, and rename it when all is written."""
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.partial")
    try:
        yield partial
        partial.replace(path)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}") from None
    finally:
        partial.unlink(missing_ok=True)


def _listed(columns: Columns, plain: Callable[[Any], Any]) -> Iterator[tuple[Any, ...]]:
    return zip(*([plain(item) for item in column.tolist()] for column in columns.values()), strict=True)


def _csv_cell(item: Any) -> Any:
    if isinstance(item, bool):
        return str(item).lower()
    return "" if isinstance(item, float) and np.isnan(item) else item


def _csv(table: Table, file: TextIO) -> None:
    writer = csv.writer(file, lineterminator="\n")
    for number, columns in enumerate(table.pieces()):
        if number == 0:
            writer.writerow(columns)
        writer.writerows(_listed(columns, _csv_cell))


def _json(table: Table, file: TextIO) -> None:
    separator = "[\n"
    for columns in table.pieces():
        for row in _listed(columns, lambda item: None if isinstance(item, float) and not np.isfinite(item) else item):
            file.write(separator + json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False))
            separator = ",\n"
    file.write("\n]\n")


def _needed(module: str, form: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise UserError(f"--to {form}: needs {module}; install it with: pip install 'dicesweep[export]'") from None


def _parquet(table: Table, path: Path) -> None:
    pa, pq = _needed("pyarrow", "parquet"), _needed("pyarrow.parquet", "parquet")
    pieces = table.pieces()
    first = next(pieces)
    schema = pa.schema(
        [pa.field(name, _arrow(pa, values), metadata=_about(table, name)) for name, values in first.items()],
        metadata={name: str(value) for name, value in table.dataset.attrs.items()},
    )
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for columns in chain([first], pieces):
            arrays = [pa.array(values, type=field.type) for values, field in zip(columns.values(), schema, strict=True)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _arrow(pa: Any, values: NDArray[Any]) -> Any:
    return pa.string() if values.dtype.kind in "OTU" else pa.from_numpy_dtype(values.dtype)


def _about(table: Table, column: str) -> Mapping[str, str]:
    name = table.sources().get(column, (column, {}))[0]
    attributes = table.dataset[name].attrs if name in table.dataset.variables else {}
    return {key: str(attributes[key]) for key in ("long_name", "units") if key in attributes}


def _netcdf(dataset: xr.Dataset, path: Path) -> None:
    """Write the arrays as netCDF 4, over the sweep's dimensions a region at a time."""
    h5netcdf, h5py = _needed("h5netcdf", "netcdf"), _needed("h5py", "netcdf")
    text = h5py.string_dtype()
    with h5netcdf.File(path, "w") as file:
        file.dimensions = {str(dim): size for dim, size in dataset.sizes.items()}
        for name, value in dataset.attrs.items():
            file.attrs[str(name)] = value
        along = [str(name) for name in dataset.coords if name not in dataset.sizes]
        if along:
            file.attrs["coordinates"] = " ".join(along)
        for name, variable in dataset.variables.items():
            string, boolean = variable.dtype.kind in "OTU", variable.dtype.kind == "b"
            dtype = text if string else np.dtype("int8") if boolean else variable.dtype
            options = {"compression": "gzip", "compression_opts": 1} if variable.ndim and not string else {}
            made = file.create_variable(str(name), variable.dims, dtype, **options)
            for key, value in variable.attrs.items():
                made.attrs[key] = value
            if boolean:
                made.attrs["dtype"] = "bool"
            _fill(made, variable, axes(dataset), plain=object if string else dtype)


def _fill(made: Any, variable: xr.Variable, outer: Sequence[str], plain: Any) -> None:
    if not variable.ndim:
        value = variable.values[()]
        made[...] = str(value) if plain is object else value
        return
    own = max(1, int(np.prod([n for dim, n in variable.sizes.items() if dim not in outer])))
    shape = [n if dim in outer else 1 for dim, n in variable.sizes.items()]
    for region in regions(shape, max(1, PIECE_BYTES // (8 * own))):
        place = tuple(r if dim in outer else slice(None) for dim, r in zip(variable.dims, region, strict=True))
        made[place] = variable[place].values.astype(plain)


FORMS = ("csv", "parquet", "netcdf", "json")
"""What an answer can be written as."""
