"""The store of a sweep: one Zarr v3 group that any reader opens, and the only module that touches Zarr.

Layout.  Every variable of the study is an array over the sweep's dimensions and then its own; its chunk is one block of
points and the whole of its own dimensions.  Beside them stand ``status`` (per point: 0 pending, 1 done, 2 failed, 3 excluded),
``failure`` (per point: why it failed) and the coordinates.  Tables whose length depends on the point, such as strategies, are
in groups of their own, ``details/dice=3,sides=6``, so that the whole is a tree for ``xr.open_datatree``.  The attribute
``dicesweep`` holds, as one JSON string, everything that the answer depends on.

Order of writes.  A block's data, then its ``status``: a point that is not pending has its data in the store.  A new store is
put together under another name and renamed, so there is never half of one.
"""

from __future__ import annotations

import glob
import json
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
import zarr
from numpy.typing import NDArray
from zarr.codecs import Crc32cCodec, ZstdCodec

from pipeline.errors import UserError
from pipeline.space import Block, block_at, blocks, chunk_shape
from pipeline.sweep import Label, Sweep, canonical, digest, from_plain, label_array
from solvers.study import Coordinate, UnknownStudyError, Variable

PENDING, DONE, FAILED, EXCLUDED = range(4)
STATES = ("pending", "done", "failed", "excluded")
ATTRIBUTE = "dicesweep"
DIGEST = "dicesweep_sha256"
DETAILS = "details"
FORMAT = 1

STATUS = Variable("status", "state of the point", dtype="uint8")
FAILURE = Variable("failure", "why the point failed", dtype="str")
TRACEBACK = Variable("traceback", "where the solver was when the point failed", dtype="str")
OWN = (FAILURE, TRACEBACK, STATUS)
"""Variables that every store has, beside those of its study."""

_CODECS = (ZstdCodec(level=1), Crc32cCodec())


@dataclass(frozen=True)
class Store:
    """A sweep's store, opened.

    Attributes
    ----------
    path : str
    sweep : Sweep
        As the store remembers it; its labels are in the order of the store.
    version : int
        Of the study, when the numbers were computed.
    chunk : tuple of int
        Points of a block along each dimension.
    group : zarr.Group
    arrays : mapping of str to zarr.Array
        The variables, and those of :data:`OWN`.
    """

    path: str
    sweep: Sweep
    version: int
    chunk: tuple[int, ...]
    group: zarr.Group
    arrays: Mapping[str, zarr.Array[Any]]

    def blocks(self) -> Iterator[Block]:
        """Yield all blocks."""
        return blocks(self.sweep.shape, self.chunk)

    def block(self, index: tuple[int, ...]) -> Block:
        """Return the block at a position of the lattice."""
        return block_at(index, self.sweep.shape, self.chunk)

    def blank(self, block: Block) -> dict[str, NDArray[Any]]:
        """Return arrays for the results of a block, filled with what stands for no answer."""
        results = {}
        for variable in (*self.sweep.variables, FAILURE, TRACEBACK):
            own = tuple(self.sweep.sizes[dim] for dim in variable.dims)
            dtype = object if variable.dtype == "str" else variable.dtype
            results[variable.name] = np.full((*block.shape, *own), fill_value(variable), dtype)
        return results

    def status(self, block: Block) -> NDArray[np.uint8]:
        """Read the state of a block's points."""
        return np.asarray(self.arrays["status"][block.region], dtype=np.uint8)

    def read(self, name: str, block: Block) -> NDArray[Any]:
        """Read a variable over a block; strings come as objects."""
        values = np.array(self.arrays[name][block.region])
        return values.astype(object) if values.dtype.kind == "T" else values

    def write(self, block: Block, results: Mapping[str, NDArray[Any]], status: NDArray[np.uint8]) -> None:
        """Write a block: its data, and when all of that is in the store, its status."""
        for name, values in results.items():
            self.arrays[name][block.region] = values
        self.arrays["status"][block.region] = status


def is_store(path: str | Path) -> bool:
    """Return whether something is at `path`: a file, or a folder that is not empty."""
    path = Path(path)
    return path.exists() and not (path.is_dir() and not any(path.iterdir()))


def create_store(path: str | Path, sweep: Sweep) -> Store:
    """Make the store of a sweep, with every point pending.

    Raises
    ------
    UserError
        If something is there already, or the place cannot be written.
    """
    path = Path(path)
    if is_store(path):
        raise UserError(f"{path}: something is there already")
    partial = partial_path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            fill_store(partial, sweep, chunk_shape(sweep))
            os.rename(partial, path)  # noqa: PTH104 - Path.rename would not say that it is atomic
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}") from None
    return open_store(path)


def partial_path(path: Path) -> Path:
    """Return a name beside a store for what is put together to take its place; see :func:`sweep_litter`."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.partial")


def sweep_litter(path: str | Path) -> int:
    """Remove what killed processes left behind; the lock of the store must be held.

    Returns
    -------
    int
        Number of files and folders removed.
    """
    path = Path(path)
    litter = [*path.parent.glob(f".{glob.escape(path.name)}.*.partial"), *path.rglob("*.partial")]
    for leftover in litter:
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)
    return len(litter)


def fill_store(path: Path, sweep: Sweep, chunk: tuple[int, ...]) -> None:
    """Write the metadata and the coordinates of a store, with every point pending."""
    coordinates = _coordinates(sweep)
    xr.Dataset(coords=coordinates).to_zarr(path, mode="w-", consolidated=False, zarr_format=3)
    group = zarr.open_group(path, mode="r+")
    for variable in (*sweep.variables, *OWN):
        _create_array(group, variable, sweep, chunk)
    spec = _spec(sweep, chunk)
    group.attrs.update(
        {
            "title": sweep.title or sweep.study.title,
            "study": f"{sweep.study.name}: {sweep.study.title}",
            "reference": sweep.study.reference,
            ATTRIBUTE: canonical(spec),
            DIGEST: digest(spec),
        }
    )


def _spec(sweep: Sweep, chunk: tuple[int, ...]) -> dict[str, Any]:
    return {"format": FORMAT, "chunk": list(chunk), "sweep": sweep.plain()}


def _create_array(group: zarr.Group, variable: Variable, sweep: Sweep, chunk: tuple[int, ...]) -> None:
    own = tuple(sweep.sizes[dim] for dim in variable.dims)
    attributes: dict[str, Any] = {"long_name": variable.long_name, "units": variable.unit}
    if variable.missing:
        attributes["missing"] = f"NaN: {variable.missing}"
    if variable is STATUS:
        attributes |= {"flag_values": list(range(4)), "flag_meanings": " ".join(STATES)}
    group.create_array(
        variable.name,
        shape=(*sweep.shape, *own),
        chunks=(*chunk, *own),
        dtype=str if variable.dtype == "str" else variable.dtype,
        fill_value=fill_value(variable),
        dimension_names=(*(dimension.name for dimension in sweep.dimensions), *variable.dims),
        attributes=attributes,
        compressors=_CODECS,
    )


def fill_value(variable: Variable) -> Any:
    """Return what stands where there is no answer: NaN, an empty string, -1, or 0 for unsigned integers and booleans."""
    if variable.dtype == "str":
        return ""
    kind = np.dtype(variable.dtype).kind
    return float("nan") if kind == "f" else -1 if kind == "i" else 0


def _coordinates(sweep: Sweep) -> dict[str, xr.Variable]:
    found: dict[str, xr.Variable] = {}
    parameters = {parameter.name: parameter for parameter in sweep.study.parameters}
    for dimension in sweep.dimensions:
        if dimension.zipped:
            found[dimension.name] = _labelled(dimension.name, dimension.labels, "parameters that move together", "1")
        for column in dimension.columns:
            parameter = parameters[column.parameter]
            found[parameter.name] = _labelled(dimension.name, column.labels, parameter.meaning, parameter.unit)
            for name, labels in column.details.items():
                found[name] = _labelled(dimension.name, labels, f"{name.replace('_', ' ')}, as varied", "1")
    for name, value in sweep.fixed.items():
        parameter = parameters[name]
        attributes = {"long_name": parameter.meaning, "units": parameter.unit}
        found[name] = xr.Variable((), label_array((value.label,)).reshape(()), attributes)
    for name, coordinate in sweep.coordinates.items():
        attributes = {"long_name": coordinate.long_name, "units": coordinate.unit}
        found[name] = xr.Variable(coordinate.dims, coordinate.values, attributes)
    return found


def read_coordinates(store: Store) -> Iterator[tuple[str, NDArray[Any], NDArray[Any] | Exception]]:
    """Yield each coordinate's name, what it should be, and what is in the store, or what went wrong with reading that."""
    for name, variable in _coordinates(store.sweep).items():
        try:
            array = store.group[name]
            found: NDArray[Any] | Exception = np.asarray(array[...]) if isinstance(array, zarr.Array) else KeyError(name)
        except Exception as error:
            found = error
        if isinstance(found, np.ndarray) and found.dtype.kind == "T":
            found = found.astype(object)
        yield name, np.asarray(variable.values), found


def write_coordinates(store: Store) -> None:
    """Write the coordinates of a store anew."""
    for name, variable in _coordinates(store.sweep).items():
        store.group[name][...] = variable.values  # type: ignore[index]  # a coordinate is an array


def _labelled(dimension: str, labels: tuple[Label, ...], long_name: str, unit: str) -> xr.Variable:
    return xr.Variable((dimension,), label_array(labels), {"long_name": long_name, "units": unit})


def read_attributes(path: str | Path) -> dict[str, Any]:
    """Return the attributes of the root group."""
    return dict(zarr.open_group(str(path), mode="r").attrs)


def write_attributes(path: str | Path, attributes: Mapping[str, Any]) -> None:
    """Set attributes of the root group, in one write."""
    zarr.open_group(str(path), mode="r+").attrs.update(dict(attributes))


def open_store(path: str | Path) -> Store:
    """Open the store of a sweep for work on it.

    Raises
    ------
    UserError
        If there is none, or its study is not installed.
    """
    spec = _read_spec(path)
    return _opened(str(path), digest(spec))


def _read_spec(path: str | Path) -> dict[str, Any]:
    try:
        group = zarr.open_group(str(path), mode="r")
        spec = json.loads(str(group.attrs[ATTRIBUTE]))
    except (OSError, KeyError, ValueError):
        reason = "there is no store" if not is_store(path) else "not the store of a sweep"
        raise UserError(f"{path}: {reason}") from None
    if not isinstance(spec, dict) or spec.get("format") != FORMAT:
        raise UserError(f"{path}: written in a format that this version does not read")
    return spec


def from_plain_or_error(path: str | Path, spec: Mapping[str, Any]) -> Sweep:
    """Rebuild the sweep of a store; UserError if its study is not installed here."""
    try:
        return from_plain(spec["sweep"])
    except UnknownStudyError as error:
        raise UserError(f"{path}: {error}") from None


@lru_cache(maxsize=8)
def _opened(path: str, key: str) -> Store:
    """Open a store once a process; the digest of its specification makes a store that has changed another one."""
    spec = _read_spec(path)
    sweep = from_plain_or_error(path, spec)
    group = zarr.open_group(path, mode="r+")
    names = [variable.name for variable in (*sweep.variables, *OWN)]
    arrays = {}
    for name in names:
        array = group[name]
        if not isinstance(array, zarr.Array):
            raise UserError(f"{path}: {name} is not an array")
        # A chunk that happens to equal the fill value is written all the same, so that a file that is missing is known to be
        # lost; failures alone are rare enough to leave out.
        arrays[name] = array.with_config({"write_empty_chunks": name not in (FAILURE.name, TRACEBACK.name)})
    return Store(path, sweep, spec["sweep"]["study_version"], tuple(spec["chunk"]), group, arrays)


def reset(store: Store, states: tuple[int, ...]) -> int:
    """Make points pending again that are in one of `states`, and return how many they were; the lock must be held."""
    count = 0
    for block in store.blocks():
        status = store.status(block)
        again = np.isin(status, states)
        if again.any():
            count += int(again.sum())
            status[again] = PENDING
            store.arrays["status"][block.region] = status
    return count


def restamp(store: Store) -> Store:
    """Say that the numbers of a store are those of the study's version that is installed."""
    spec = _spec(store.sweep, store.chunk)
    write_attributes(store.path, {ATTRIBUTE: canonical(spec), DIGEST: digest(spec)})
    return open_store(store.path)


def open_sweep(path: str | Path) -> xr.Dataset:
    """Open the answer of a sweep as an xarray dataset, its axes sorted, whose variables are loaded when they are used.

    A selection reads only the chunks that it touches; for reductions over more than fits into memory, call ``.chunk({})``.

    Parameters
    ----------
    path : path
        Of a store, which may be one that a run is writing to.

    Raises
    ------
    UserError
        If there is no store.
    """
    sweep = from_plain_or_error(path, _read_spec(path))
    dataset: xr.Dataset = xr.open_zarr(str(path), consolidated=False, chunks=None)
    orders = {dimension.name: dimension.sorted_places() for dimension in sweep.dimensions}
    unsorted = {name: places for name, places in orders.items() if places != sorted(places)}
    return dataset.isel(unsorted) if unsorted else dataset


def write_details(store: Store, index: tuple[int, ...], columns: Mapping[str, Coordinate]) -> None:
    """Write the tables that belong to one point, into a group of their own."""
    attributes = {name: {"long_name": column.long_name, "units": column.unit} for name, column in columns.items()}
    variables = {name: (column.dims, column.values, attributes[name]) for name, column in columns.items()}
    group = f"{DETAILS}/{point_name(store.sweep, index)}"
    xr.Dataset(variables).to_zarr(store.path, group=group, mode="w", consolidated=False, zarr_format=3)


def point_name(sweep: Sweep, index: tuple[int, ...]) -> str:
    """Return the name of the group of a point, such as ``dice=3,sides=6``."""
    pairs = zip(sweep.dimensions, index, strict=True)
    return ",".join(f"{dimension.name}={dimension.labels[i]}" for dimension, i in pairs) or "point"


@dataclass(frozen=True)
class Survey:
    """What is in a store.

    Attributes
    ----------
    counts : tuple of int
        Points that are pending, done, failed and excluded.
    pending : tuple of tuple of int
        Positions of the blocks that have pending points.
    """

    counts: tuple[int, int, int, int]
    pending: tuple[tuple[int, ...], ...] = ()


def survey(store: Store) -> Survey:
    """Read the status of all points, in slabs of bounded size."""
    counts = np.zeros(4, np.int64)
    pending: list[tuple[int, ...]] = []
    last: tuple[int, NDArray[np.uint8]] | None = None
    for block in store.blocks():
        if not block.index:
            status = store.status(block)
        else:
            if last is None or last[0] != block.index[0]:
                last = block.index[0], np.asarray(store.arrays["status"][block.region[0]], dtype=np.uint8)
            status = last[1][(slice(None), *block.region[1:])]
        found = np.bincount(status.ravel(), minlength=4)
        counts += found
        if found[PENDING]:
            pending.append(block.index)
    return Survey((int(counts[0]), int(counts[1]), int(counts[2]), int(counts[3])), tuple(pending))
