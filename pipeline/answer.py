"""A store's dataset as an answer: which dimensions are the sweep's, which variables the study's, and what to show first.

Everything here works on the dataset that :func:`pipeline.open_sweep` gives, or on any selection of it, and needs the study's
package only where it says so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from pipeline.document import Source
from pipeline.errors import UserError, suggestion
from pipeline.library import find_named, shipped
from pipeline.store import ATTRIBUTE, DETAILS, DONE, OWN, point_name
from pipeline.sweep import Dimension, Sweep, from_plain
from solvers.study import Boolean, Document, Headline, Study, UnknownStudyError, find_study

KEPT_APART = frozenset(variable.name for variable in OWN)
"""Variables that speak of points and not of the question."""


def axes(dataset: xr.Dataset) -> tuple[str, ...]:
    """Return the dimensions of the sweep, as distinct from those that variables have of their own.

    Raises
    ------
    UserError
        If the dataset is not the answer of a sweep.
    """
    if "status" not in dataset.data_vars:
        raise UserError("the dataset has no variable 'status': it is not the answer of a sweep")
    return tuple(str(dim) for dim in dataset["status"].dims)


def own_dims(dataset: xr.Dataset, name: str) -> tuple[str, ...]:
    """Return the dimensions that a variable has beside those of the sweep."""
    return tuple(str(dim) for dim in dataset[name].dims if dim not in axes(dataset))


def specification(dataset: xr.Dataset) -> Mapping[str, Any]:
    """Return the sweep in its plain form, as the store remembers it; empty if the attribute is gone."""
    try:
        found = json.loads(str(dataset.attrs.get(ATTRIBUTE, "{}"))).get("sweep", {})
    except (ValueError, AttributeError):
        return {}
    return found if isinstance(found, dict) else {}


def study_of(dataset: xr.Dataset) -> Study | None:
    """Return the study that gave the answer, or None if it is not installed here."""
    try:
        return find_study(str(specification(dataset)["study"]))
    except (KeyError, UnknownStudyError):
        return None


def sweep_of(dataset: xr.Dataset) -> Sweep | None:
    """Return the sweep that was asked, or None if its study is not installed here."""
    plain = specification(dataset)
    return from_plain(plain) if plain and study_of(dataset) else None


def variables(dataset: xr.Dataset) -> list[str]:
    """Return the variables of the study, in the order in which it declares them if it is installed."""
    names = [str(name) for name in dataset.data_vars if name not in KEPT_APART]
    study = study_of(dataset)
    declared = [variable.name for variable in study.variables] if study else []
    return sorted(names, key=lambda name: declared.index(name) if name in declared else len(declared))


def require_variable(dataset: xr.Dataset, name: str) -> str:
    """Return the name of a variable, or raise UserError with the nearest that exists."""
    known = variables(dataset)
    if name not in known:
        raise UserError(f"there is no variable {name!r}{suggestion(name, known)} (known: {', '.join(known)})")
    return name


def numeric(dataset: xr.Dataset, name: str) -> bool:
    """Return whether a variable or coordinate holds numbers."""
    return dataset[name].dtype.kind in "fiu"


def headlines(dataset: xr.Dataset) -> tuple[Headline, ...]:
    """Return what to show first: what the study says, or its first variable where it is not installed."""
    study = study_of(dataset)
    if study:
        return tuple(headline for headline in study.headline if headline.variable in dataset.data_vars)
    scalar = [name for name in variables(dataset) if not own_dims(dataset, name)]
    return tuple(Headline(name) for name in scalar[:1])


def main_variable(dataset: xr.Dataset) -> tuple[str, Mapping[str, Any]]:
    """Return the variable that a picture shows, and the labels of its own dimensions to show it at.

    The first headline that is a number; else the first number there is.

    Raises
    ------
    UserError
        If the study answers in words only.
    """
    for headline in headlines(dataset):
        if numeric(dataset, headline.variable):
            return headline.variable, headline.select
    for name in variables(dataset):
        if numeric(dataset, name):
            return name, {}
    raise UserError("the answer has no variable that is a number")


def answers(dataset: xr.Dataset, name: str) -> xr.DataArray:
    """Return a variable as floating-point numbers, with NaN at points that are not done."""
    values: xr.DataArray = dataset[name].astype(float).where(dataset["status"] == DONE)
    values.attrs = dict(dataset[name].attrs)
    return values


def unit_of(variable: xr.DataArray) -> str:
    """Return the unit of a variable, empty for plain numbers."""
    unit = str(variable.attrs.get("units", "1"))
    return "" if unit == "1" else unit


def described(variable: xr.DataArray) -> str:
    """Return what a variable or coordinate is, with its unit, as an axis label says it: up to the first semicolon."""
    meaning = str(variable.attrs.get("long_name", variable.name)).partition(";")[0]
    unit = unit_of(variable)
    return f"{meaning} [{unit}]" if unit else meaning


def title_of(dataset: xr.Dataset) -> str:
    """Return the title of the sweep, or the question of its study."""
    return str(dataset.attrs.get("title", "")) or "Answer of a sweep"


def usual(dataset: xr.Dataset, axis: str) -> Any:
    """Return the label along an axis that the study takes when it is asked for nothing else, or the first one.

    Decks and boards are compared by their contents, so that the member of a family that is the standard deck is found under
    whatever label it has.
    """
    labels = dataset[axis].values
    sweep = sweep_of(dataset)
    dimension = next((d for d in sweep.dimensions if d.name == axis), None) if sweep else None
    if sweep and dimension and not dimension.zipped:
        found = _default_label(sweep, dimension)
        if found is not None and (labels == found).any():
            return found
    return labels[0]


def _default_label(sweep: Sweep, dimension: Dimension) -> Any:
    try:
        parameter = sweep.study.parameter(dimension.name)
        default = parameter.default(sweep.values) if callable(parameter.default) else parameter.default
        kind = parameter.kind
        if not isinstance(kind, Document):
            return default
        here = Source("the defaults", {})
        raw = find_named(kind, default, shipped(), here, (parameter.name,)) if isinstance(default, str) else default
        wanted = kind.parse(raw)
    except (KeyError, ValueError, UserError):  # a KeyError if the study has gained parameters since the store was made
        return None
    return next((v.label for v in dimension.columns[0].values if _contents(kind, v.value) == _contents(kind, wanted)), None)


def _contents(kind: Document, value: Any) -> dict[str, Any]:
    return {key: item for key, item in kind.plain(value).items() if key not in {"name", "label"}}


def contents(dataset: xr.Dataset, parameter: str, label: Any) -> Any:
    """Return what a label of a parameter stands for: the contents of a deck or board, or the label itself."""
    plain = specification(dataset)
    columns = [column for dimension in plain.get("dimensions", ()) for column in dimension["columns"]]
    stored = [value for column in columns if column["parameter"] == parameter for value in column["values"]]
    stored += [plain["fixed"][parameter]] if parameter in plain.get("fixed", {}) else []
    return next((value["value"] for value in stored if isinstance(value, dict) and value["label"] == label), _plain(label))


def labelled(coordinate: xr.DataArray) -> list[str]:
    """Return the labels along a dimension as people write them: the names that go with them if there are some."""
    dim = str(coordinate.dims[0])
    named = coordinate.coords.get(f"{dim}_name")
    return [label_text(value) for value in (named if named is not None else coordinate).values]


def label_text(value: Any) -> str:
    """Return a label as people write it."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def point_details(dataset: xr.Dataset) -> xr.Dataset:
    """Return the tables that belong to one point: those in the store, or else as the study works them out.

    Parameters
    ----------
    dataset : xarray.Dataset
        Of one point.

    Raises
    ------
    ValueError
        If the study has none for this point.
    """
    sweep = sweep_of(dataset)
    if sweep is None or sweep.study.details is None:
        raise ValueError("the study keeps no tables of single points")
    index = tuple(d.labels.index(_plain(dataset[d.name].values[()])) for d in sweep.dimensions)
    source = str(dataset.encoding.get("source", ""))
    try:
        kept: xr.Dataset = xr.open_zarr(source, group=f"{DETAILS}/{point_name(sweep, index)}", consolidated=False, chunks=None)
    except (OSError, KeyError):
        asked = {parameter.name: True for parameter in sweep.study.parameters if isinstance(parameter.kind, Boolean)}
        columns = sweep.study.details({name: value.value for name, value in sweep.at(index).items()} | asked)
        return xr.Dataset({name: (column.dims, column.values) for name, column in columns.items()})
    return kept


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
