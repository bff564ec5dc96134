"""A sweep as a value: a study over a parameter space, and the plain form in which a store remembers it.

A point is known by its labels.  Its key is the SHA-256 of canonical JSON of the labels of all parameters, fixed ones
included; in that form 1, 1.0, True and "1" are different.  The random stream of a point is drawn from the sweep's root seed
and that key alone, so it does not depend on the order of the points, on how they are cut into blocks, or on who solves them.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.expression import Expression, parse_expression
from solvers.study import Coordinate, Document, Parameter, Study, Values, Variable, find_study

Label: TypeAlias = bool | int | float | str


@dataclass(frozen=True)
class Value:
    """A value of a parameter and the label by which it is known; they are the same for plain numbers and options."""

    label: Label
    value: Any


@dataclass(frozen=True)
class Column:
    """The values that one parameter takes along a dimension.

    Attributes
    ----------
    parameter : str
    values : tuple of Value
    details : mapping of str to tuple
        More coordinates along the same dimension, such as the card counts of a family of decks.
    """

    parameter: str
    values: tuple[Value, ...]
    details: Mapping[str, tuple[Label, ...]] = field(default_factory=dict)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels in order."""
        return tuple(value.label for value in self.values)


@dataclass(frozen=True)
class Dimension:
    """An axis of one parameter, or several parameters that move together (a zip).

    Attributes
    ----------
    name : str
    columns : tuple of Column
        One, called like the dimension, for a plain axis.
    """

    name: str
    columns: tuple[Column, ...]

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.columns[0].values)

    @property
    def zipped(self) -> bool:
        """Whether several parameters, or one of another name, move along this dimension."""
        return len(self.columns) > 1 or self.columns[0].parameter != self.name

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """What tells the values apart; for a zip, the labels of its parameters in one string."""
        if not self.zipped:
            return self.columns[0].labels
        rows = zip(*(column.labels for column in self.columns), strict=True)
        names = [column.parameter for column in self.columns]
        return tuple(",".join(f"{name}={label}" for name, label in zip(names, row, strict=True)) for row in rows)

    def sorted_places(self) -> list[int]:
        """Return the places of the values in order: by number, by the counts of a family, or by label."""
        details = [labels for column in self.columns for labels in column.details.values()]
        if len(self.columns) == 1 and details:
            keys: list[Any] = list(zip(*details, strict=True))
        else:
            keys = list(zip(*(column.labels for column in self.columns), strict=True))
        return sorted(range(self.size), key=lambda place: keys[place])


@dataclass(frozen=True)
class Sweep:
    """A study over a parameter space.

    Attributes
    ----------
    study : Study
    dimensions : tuple of Dimension
        In the order in which the study declares their parameters.
    fixed : mapping of str to Value
        Every parameter that is in no dimension.
    title : str
    exclude : Expression or None
        Points where it holds are left out.
    seed : int
        Root of every random stream.
    """

    study: Study
    dimensions: tuple[Dimension, ...]
    fixed: Mapping[str, Value]
    title: str = ""
    exclude: Expression | None = None
    seed: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of values along each dimension."""
        return tuple(dimension.size for dimension in self.dimensions)

    @property
    def points(self) -> int:
        """Number of points, excluded ones included."""
        return math.prod(self.shape)

    @cached_property
    def values(self) -> Values:
        """Every value of every parameter."""
        varied = {c.parameter: tuple(v.value for v in c.values) for d in self.dimensions for c in d.columns}
        return {p.name: varied.get(p.name) or (self.fixed[p.name].value,) for p in self.study.parameters}

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that this sweep has."""
        return tuple(variable for variable in self.study.variables if variable.when(self.values))

    @cached_property
    def coordinates(self) -> Mapping[str, Coordinate]:
        """Labels along the dimensions that variables have of their own."""
        return self.study.coordinates(self.values)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Lengths of the dimensions that variables have of their own."""
        return {name: len(labels.values) for name, labels in self.coordinates.items() if labels.dims == (name,)}

    def at(self, index: tuple[int, ...]) -> dict[str, Value]:
        """Return the value of every parameter at a point."""
        point = dict(self.fixed)
        for dimension, i in zip(self.dimensions, index, strict=True):
            point.update((column.parameter, column.values[i]) for column in dimension.columns)
        return {parameter.name: point[parameter.name] for parameter in self.study.parameters}

    def key(self, index: tuple[int, ...]) -> bytes:
        """Return the 32 bytes by which a point is known; see the module docstring."""
        labels = {name: value.label for name, value in self.at(index).items()}
        return hashlib.sha256(canonical({"study": self.study.name, "point": labels}).encode()).digest()

    def seed_sequence(self, index: tuple[int, ...]) -> np.random.SeedSequence:
        """Return the root of the random stream of a point."""
        words = np.frombuffer(self.key(index), dtype=">u4")
        return np.random.SeedSequence(self.seed, spawn_key=tuple(int(word) for word in words))

    def excluded(self, region: tuple[slice, ...]) -> NDArray[np.bool_]:
        """Return where a region of the space is excluded; shape of the region.

        Raises
        ------
        ValueError
            If the condition does not fit the labels.
        """
        shape = tuple(len(range(*part.indices(n))) for part, n in zip(region, self.shape, strict=True))
        if self.exclude is None:
            return np.zeros(shape, np.bool_)
        names: dict[str, Any] = {name: value.label for name, value in self.fixed.items()}
        for axis, (dimension, part) in enumerate(zip(self.dimensions, region, strict=True)):
            spread = tuple(-1 if other == axis else 1 for other in range(len(shape)))
            for name, labels in _named_labels(dimension).items():
                if name in self.exclude.names:
                    names[name] = label_array(labels[part]).reshape(spread)
        return np.array(np.broadcast_to(self.exclude(names), shape))

    @cached_property
    def excluded_points(self) -> int:
        """Number of points that are excluded."""
        if self.exclude is None:
            return 0
        bears = [not self.exclude.names.isdisjoint(_named_labels(dimension)) for dimension in self.dimensions]
        region = tuple(slice(None) if on else slice(0, 1) for on in bears)
        alike = math.prod(n for n, on in zip(self.shape, bears, strict=True) if not on)
        return int(self.excluded(region).sum()) * alike

    def plain(self) -> dict[str, Any]:
        """Return everything that the answer depends on, as JSON can hold it; :func:`from_plain` reads it back."""
        return {
            "study": self.study.name,
            "study_version": self.study.version,
            "title": self.title,
            "dimensions": [_plain_dimension(self.study, dimension) for dimension in self.dimensions],
            "fixed": {name: _plain_value(self.study.parameter(name), value) for name, value in sorted(self.fixed.items())},
            "exclude": self.exclude.text if self.exclude else None,
            "seed": self.seed,
        }


def expression_names(dimensions: tuple[Dimension, ...], fixed: Mapping[str, Value]) -> set[str]:
    """Return the names that a condition may mention."""
    return {*fixed, *(name for dimension in dimensions for name in _named_labels(dimension))}


def _named_labels(dimension: Dimension) -> dict[str, tuple[Label, ...]]:
    named = {column.parameter: column.labels for column in dimension.columns}
    for column in dimension.columns:
        named.update(column.details)
    return named


def label_array(labels: tuple[Label, ...]) -> NDArray[Any]:
    """Return labels as a coordinate: strings as objects, numbers in the narrowest of bool, int64 and float64 that holds all."""
    if any(isinstance(label, str) for label in labels):
        return np.array([str(label) for label in labels], dtype=object)
    return np.array(labels)


def canonical(value: Any) -> str:
    """Return the one JSON text of a plain value: sorted keys, no spaces, shortest form of each number."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(plain: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a plain value, in hexadecimal."""
    return hashlib.sha256(canonical(plain).encode()).hexdigest()


def _plain_value(parameter: Parameter, value: Value) -> Any:
    if isinstance(parameter.kind, Document):
        return {"label": value.label, "value": parameter.kind.plain(value.value)}
    return value.label


def _plain_dimension(study: Study, dimension: Dimension) -> dict[str, Any]:
    columns = [
        {
            "parameter": column.parameter,
            "values": [_plain_value(study.parameter(column.parameter), value) for value in column.values],
            "details": {name: list(labels) for name, labels in column.details.items()},
        }
        for column in dimension.columns
    ]
    return {"name": dimension.name, "columns": columns}


def from_plain(plain: Mapping[str, Any]) -> Sweep:
    """Rebuild a sweep from its plain form.

    Raises
    ------
    UnknownStudyError
        If its study is not installed here.
    """
    study = find_study(plain["study"])

    def value(name: str, stored: Any) -> Value:
        kind = study.parameter(name).kind
        return Value(stored["label"], kind.parse(stored["value"])) if isinstance(kind, Document) else Value(stored, stored)

    def column(stored: Mapping[str, Any]) -> Column:
        name = stored["parameter"]
        values = tuple(value(name, item) for item in stored["values"])
        return Column(name, values, {key: tuple(labels) for key, labels in stored["details"].items()})

    dimensions = tuple(Dimension(d["name"], tuple(column(c) for c in d["columns"])) for d in plain["dimensions"])
    fixed = {name: value(name, stored) for name, stored in plain["fixed"].items()}
    varied = {column.parameter for dimension in dimensions for column in dimension.columns}
    for parameter in study.parameters:
        # A parameter that the study has got since, without a new version, has a default that means what was done before.
        if parameter.name not in fixed and parameter.name not in varied:
            fixed[parameter.name] = Value(parameter.default, parameter.default)
    exclude = parse_expression(plain["exclude"], expression_names(dimensions, fixed)) if plain["exclude"] else None
    return Sweep(study, dimensions, fixed, plain["title"], exclude, plain["seed"])
