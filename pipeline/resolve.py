"""The parameters of a sweep file to dimensions and fixed values.

A parameter given one value is fixed; one given several (a list, a series, a family) is an axis.  Parameters under a name in
``zip``, or in ``cases``, move together along one dimension.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, TypeAdapter, ValidationError

from pipeline.document import Key, Source
from pipeline.errors import lowered, shown, suggestion
from pipeline.expression import Expression, parse_expression
from pipeline.library import find_named
from pipeline.series import expand_series, is_series
from pipeline.sweep import Column, Dimension, Label, Sweep, Value, expression_names
from solvers.study import REQUIRED, Boolean, Choice, Document, Integer, Kind, Parameter, ParameterError, Real, Study

MAX_AXIS = 1_000_000
MAX_POINTS = 10**10

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}")
_LABEL = re.compile(r"[^\x00-\x1f\x7f/\\]{1,200}")
_RESERVED = frozenset({"method", "tolerance", "drop", "indexers", "missing_dims"})
"""Names that xarray's ``.sel`` and ``.isel`` take for options of their own."""
_STORE_NAMES = frozenset({"status", "failure", "traceback"})


@lru_cache(maxsize=256)
def adapter(kind: Kind) -> TypeAdapter[Any]:
    """Return the validator of plain values of a kind; documents are validated by their own ``parse``."""
    match kind:
        case Integer(minimum, maximum):
            return TypeAdapter(Annotated[int, Field(strict=True, ge=minimum, le=maximum)])
        case Real(minimum, maximum):
            return TypeAdapter(Annotated[float, Field(strict=True, ge=minimum, le=maximum, allow_inf_nan=False)])
        case Boolean():
            return TypeAdapter(StrictBool)
        case Choice(options):
            return TypeAdapter(Literal[options])  # type: ignore[arg-type]  # options are known at run time only
        case Document():
            return TypeAdapter(Mapping[str, Any])


def allowed(kind: Kind) -> str:
    """Return in words which values a kind allows."""
    match kind:
        case Integer(minimum, maximum) | Real(minimum, maximum):
            what = "whole number" if isinstance(kind, Integer) else "number"
            if minimum is not None and maximum is not None:
                return f"{what} from {minimum} to {maximum}"
            return f"{what} from {minimum}" if minimum is not None else what
        case Boolean():
            return "true or false"
        case Choice(options):
            return " or ".join(options)
        case Document(folder):
            family = f", or {{vary: name, {kind.varied}: ...}}" if kind.vary else ""
            return f"name of a file in {folder}/, a mapping{family}"


@dataclass
class Resolver:
    """Turns one validated file into a sweep, parameter by parameter in the order of the study's declaration."""

    study: Study
    parameters: Mapping[str, Any]
    zips: Mapping[str, Mapping[str, Any]]
    cases: Sequence[Mapping[str, Any]]
    source: Source
    folder: Path
    columns: dict[str, Column] = field(default_factory=dict)
    fixed: dict[str, Value] = field(default_factory=dict)
    keys: dict[str, Key] = field(default_factory=dict)

    def resolve(self, title: str, exclude: str | None, seed: int) -> Sweep:
        """Return the sweep, or raise UserError."""
        groups = self._groups()
        for parameter in self.study.parameters:
            self._parameter(parameter)
        dimensions = self._dimensions(groups)
        self._check_names(dimensions)
        sweep = Sweep(self.study, dimensions, self.fixed, title, None, seed)
        try:
            self.study.check(sweep.values)
            self.study.coordinates(sweep.values)
        except ParameterError as error:
            raise self.source.error(self.keys.get(error.parameter, ("parameters",)), str(error)) from None
        if sweep.points > MAX_POINTS:
            raise self.source.error(("parameters",), f"{sweep.points:,} points are more than {MAX_POINTS:,}")
        return replace(sweep, exclude=self._exclude(sweep, exclude)) if exclude is not None else sweep

    def _groups(self) -> dict[str, Mapping[str, Any]]:
        """Return the named groups of parameters that move together, with every parameter given once and known."""
        known = [parameter.name for parameter in self.study.parameters]
        groups: dict[str, Mapping[str, Any]] = dict(self.zips)
        for name in self.parameters:
            self._claim(name, ("parameters", name), known)
        for group, members in groups.items():
            if not members:
                raise self.source.error(("zip", group), "a zip needs at least one parameter")
            for name in members:
                self._claim(name, ("zip", group, name), known)
        if cases := self.cases:
            if "case" in groups:
                raise self.source.error(("zip", "case"), "the name 'case' is taken by cases")
            for row, case in enumerate(cases):
                if set(case) != set(cases[0]) or not case:
                    wanted = ", ".join(cases[0])
                    raise self.source.error(("cases", row), f"each case must give the same parameters ({wanted})")
            groups["case"] = {name: [case[name] for case in cases] for name in cases[0]}
            for name in cases[0]:
                self._claim(name, ("cases", 0, name), known)
        return groups

    def _claim(self, name: str, key: Key, known: Sequence[str]) -> None:
        if name not in known:
            message = f"{self.study.name} has no parameter {name!r}{suggestion(name, known)} (known: {', '.join(known)})"
            raise self.source.error(key, message)
        if name in self.keys:
            raise self.source.error(key, f"{name!r} is given twice")
        self.keys[name] = key

    def _raw(self, parameter: Parameter) -> Any:
        key = self.keys.get(parameter.name)
        if key is None:
            default = parameter.default
            if default is REQUIRED:
                raise self.source.error(("parameters",), f"{parameter.name} must be given: {parameter.meaning}")
            if not callable(default):
                return default
            try:
                return default(self._values_so_far())
            except ParameterError as error:
                raise self.source.error(("parameters",), f"{error.parameter}: {error}") from None
        match key[0]:
            case "cases":
                return [case[parameter.name] for case in self.cases]
            case "zip":
                return self.zips[str(key[1])][parameter.name]
            case _:
                return self.parameters[parameter.name]

    def _values_so_far(self) -> dict[str, tuple[Any, ...]]:
        values = {name: tuple(value.value for value in column.values) for name, column in self.columns.items()}
        return values | {name: (value.value,) for name, value in self.fixed.items()}

    def _parameter(self, parameter: Parameter) -> None:
        raw, key = self._raw(parameter), self.keys.get(parameter.name, ("parameters", parameter.name))
        document = isinstance(parameter.kind, Document)
        if isinstance(raw, list) or is_series(raw) or (document and isinstance(raw, Mapping) and "vary" in raw):
            self.columns[parameter.name] = self._column(parameter, raw, key)
        elif key[0] == "parameters":
            self.fixed[parameter.name] = self._value(parameter, raw, key)
        else:
            raise self.source.error(key, "needs several values: a list, range, linspace or geomspace")

    def _column(self, parameter: Parameter, raw: Any, key: Key) -> Column:
        if isinstance(raw, Mapping) and "vary" in raw:
            column = self._family(parameter, raw, key)
        else:
            items = self._series(raw, key)
            column = Column(
                parameter.name,
                tuple(
                    self._value(parameter, item, (*key, i) if isinstance(raw, list) and key[0] != "cases" else key)
                    for i, item in enumerate(items)
                ),
            )
        if not column.values:
            raise self.source.error(key, "needs at least one value")
        if key[0] == "parameters" and len(set(map(_exactly, column.labels))) < len(column.labels):
            twice = next(label for label in column.labels if column.labels.count(label) > 1)
            raise self.source.error(key, f"the value {shown(twice)} is given twice")
        return column

    def _series(self, raw: Any, key: Key) -> Sequence[Any]:
        try:
            return expand_series(raw, MAX_AXIS)
        except ValueError as error:
            raise self.source.error(key, str(error)) from None

    def _value(self, parameter: Parameter, raw: Any, key: Key) -> Value:
        kind = parameter.kind
        if isinstance(kind, Document):
            return self._document(kind, raw, key)
        if isinstance(kind, Real) and isinstance(raw, int) and not isinstance(raw, bool):
            raw = float(raw)
        try:
            label = adapter(kind).validate_python(raw)
        except ValidationError as error:
            near = ""
            if isinstance(kind, Choice) and isinstance(raw, str):
                near = suggestion(raw, kind.options)
            message = f"{lowered(error.errors()[0]['msg'])} (got {shown(raw)}){near}; allowed: {allowed(kind)}"
            raise self.source.error(key, message) from None
        return Value(label, label)

    def _document(self, kind: Document, raw: Any, key: Key) -> Value:
        label = None
        if isinstance(raw, str):
            label = raw
            raw = find_named(kind, raw, self.folder, self.source, key)
        if not isinstance(raw, Mapping):
            raise self.source.error(key, f"must be the {allowed(kind)} (got {shown(raw)})")
        try:
            value = kind.parse({name: item for name, item in raw.items() if name != "name"})
        except ValueError as error:
            raise self.source.error(key, f"{label}: {error}" if label else str(error)) from None
        label = label or raw.get("name") or kind.label(value)
        if not isinstance(label, str) or not _LABEL.fullmatch(label):
            raise self.source.error(key, f"the name must be a short line without slashes (got {shown(label)})")
        return Value(label, value)

    def _family(self, parameter: Parameter, raw: Mapping[str, Any], key: Key) -> Column:
        kind = parameter.kind
        if not isinstance(kind, Document) or kind.vary is None:
            raise self.source.error(key, f"{parameter.name} cannot be varied; allowed: {allowed(kind)}")
        known = ("vary", kind.varied)
        if strange := [name for name in raw if name not in known]:
            hint = suggestion(strange[0], known)
            raise self.source.error((*key, strange[0]), f"unknown key{hint} (known: {', '.join(known)})")
        changes = raw.get(kind.varied)
        if not isinstance(changes, Mapping) or not changes:
            raise self.source.error(key, f"a family needs '{kind.varied}', such as {{jail: {{range: [0, 6]}}}}")
        base = self._document(kind, raw["vary"], (*key, "vary"))
        at = (*key, kind.varied)
        series = {
            name: tuple(self._series(item if isinstance(item, list) or is_series(item) else [item], (*at, name)))
            for name, item in changes.items()
        }
        return self._members(parameter.name, kind, base, series, at)

    def _members(self, name: str, kind: Document, base: Value, series: Mapping[str, tuple[Any, ...]], key: Key) -> Column:
        assert kind.vary is not None  # noqa: S101 - the caller has checked; this tells the type checker
        combinations: list[dict[str, Any]] = [{}]
        for change, items in series.items():
            combinations = [{**chosen, change: item} for chosen in combinations for item in items]
            if len(combinations) > MAX_AXIS:
                raise self.source.error(key, f"the family has more than {MAX_AXIS:,} members")
        values = []
        for chosen in combinations:
            label = ",".join(f"{change}={item}" for change, item in chosen.items())
            try:
                values.append(Value(label, kind.vary(base.value, chosen)))
            except ValueError as error:
                guilty = next((change for change in chosen if change in str(error)), None)
                raise self.source.error((*key, guilty) if guilty else key, f"{label}: {error}") from None
        details = {
            f"{name}_{re.sub(r'[^a-zA-Z0-9_]', '_', change)}": tuple(chosen[change] for chosen in combinations)
            for change in series
        }
        return Column(name, tuple(values), details)

    def _dimensions(self, groups: Mapping[str, Mapping[str, Any]]) -> tuple[Dimension, ...]:
        member_of = {name: group for group, members in groups.items() for name in members}
        dimensions: dict[str, Dimension] = {}
        for name, column in self.columns.items():
            group = member_of.get(name)
            if group is None:
                dimensions[name] = Dimension(name, (column,))
            elif group not in dimensions:
                columns = tuple(self.columns[member] for member in self.columns if member_of.get(member) == group)
                sizes = {c.parameter: len(c.values) for c in columns}
                if len(set(sizes.values())) > 1:
                    lengths = ", ".join(f"{parameter}: {size}" for parameter, size in sizes.items())
                    raise self.source.error(("zip", group), f"these must have equally many values ({lengths})")
                dimensions[group] = Dimension(group, columns)
                if len(set(dimensions[group].labels)) < dimensions[group].size:
                    key = ("cases",) if group == "case" else ("zip", group)
                    raise self.source.error(key, "the same combination is given twice")
        return tuple(dimensions.values())

    def _check_names(self, dimensions: Sequence[Dimension]) -> None:
        own = {variable.name for variable in self.study.variables}
        own |= {dim for variable in self.study.variables for dim in variable.dims}
        taken = own | _STORE_NAMES
        parameters = {parameter.name for parameter in self.study.parameters}
        for dimension in dimensions:
            name = dimension.name
            key = self.keys.get(name, ("cases",) if name == "case" else ("zip", name))
            if name in _RESERVED:
                raise self.source.error(key, f"an axis cannot be called {name!r}: xarray's .sel takes it for an option")
            if not _NAME.fullmatch(name):
                raise self.source.error(key, f"the name of an axis must be a word such as 'variant' (got {shown(name)})")
            if name in taken or (dimension.zipped and name in parameters):
                raise self.source.error(key, f"the name {name!r} is taken")
            taken |= {name, *(detail for column in dimension.columns for detail in column.details)}

    def _exclude(self, sweep: Sweep, text: str) -> Expression:
        try:
            exclude = parse_expression(text, expression_names(sweep.dimensions, sweep.fixed))
            replace(sweep, exclude=exclude).excluded(tuple(slice(0, 1) for _ in sweep.dimensions))
        except ValueError as error:
            raise self.source.error(("exclude",), str(error)) from None
        return exclude


def _exactly(label: Label) -> tuple[str, Label]:
    return type(label).__name__, label
