"""The report: one HTML page that holds everything it shows, so that it opens anywhere and asks no network."""

from __future__ import annotations

import base64
import json
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import matplotlib as mpl
import numpy as np
import xarray as xr
from markupsafe import Markup
from numpy.typing import NDArray

from pipeline.answer import (
    axes,
    described,
    headlines,
    label_text,
    main_variable,
    numeric,
    own_dims,
    specification,
    study_of,
    title_of,
    variables,
)
from pipeline.errors import UserError
from pipeline.hover import svg
from pipeline.plots import STYLE, choose_kind, picture
from pipeline.run import GIVEN
from pipeline.store import ATTRIBUTE, STATES
from pipeline.table import Table

MAX_POINTS = 500_000
"""Rows that a browser scrolls and sorts without complaint."""

MAX_SPREAD = 6
"""Labels up to which a variable with a dimension of its own is spread over columns of the table."""

MAX_LISTED = 8
"""Labels of an axis, answers of a headline, and reasons of failures that are listed one by one."""


@dataclass(frozen=True)
class Exhibit:
    """A picture on the page, with the command that draws it."""

    drawing: Markup
    title: str
    command: str


def write_page(dataset: xr.Dataset, path: str | Path, store: str, selections: Sequence[str] = ()) -> None:
    """Write the report of an answer.

    Parameters
    ----------
    dataset : xarray.Dataset
        As :func:`pipeline.open_sweep` gives it, or a selection of it.
    path : path
        Of the page.
    store : str
        How the store is called in the commands on the page.
    selections : sequence of str
        What the dataset was narrowed by, for the same commands.

    Raises
    ------
    UserError
        If there are more points than a browser can hold, or the page cannot be written.
    """
    text = page(dataset, store, selections)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {(error.strerror or str(error)).lower()}") from None


def page(dataset: xr.Dataset, store: str, selections: Sequence[str] = ()) -> str:
    """Return the report of an answer as HTML; see :func:`write_page`."""
    points = int(np.prod([dataset.sizes[dim] for dim in axes(dataset)], dtype=np.int64))
    if points > MAX_POINTS:
        raise UserError(f"{points:,} points are more than a page can hold ({MAX_POINTS:,}): narrow them with --select")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pipeline"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["lines"] = lambda text: Markup("<br>").join(str(text).split("\n"))
    data = table_data(dataset)
    study = study_of(dataset)
    return environment.get_template("report.html").render(
        title=title_of(dataset),
        question=str(dataset.attrs.get("study", "")),
        reference=str(dataset.attrs.get("reference", "")),
        points=points,
        states=_states(dataset),
        headlines=[_headline(dataset, headline.variable, headline.select) for headline in headlines(dataset)],
        axes=[_axis(dataset, dim) for dim in axes(dataset)],
        fixed=_fixed(dataset),
        variables=[(name, described(dataset[name]), ", ".join(own_dims(dataset, name))) for name in variables(dataset)],
        pictures=list(_pictures(dataset, store, selections)),
        failures=_failures(dataset),
        provenance=list(_provenance(dataset)),
        given=_given(dataset),
        store=store,
        study=study.name if study else str(specification(dataset).get("study", "")),
        data=Markup(json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")),  # noqa: S704 - nothing is left that could end the element
    )


def table_data(dataset: xr.Dataset) -> dict[str, Any]:
    """Return the table of points as the page holds it: labels once, numbers as base 64 of doubles, words as codes.

    Returns
    -------
    dict
        ``rows``, and ``columns`` with a ``name``, a ``title`` and one of ``axis`` (labels that repeat, each for ``stride``
        rows), ``numbers`` (little-endian doubles) and ``words`` with ``codes`` (little-endian 32-bit).
    """
    dims = axes(dataset)
    strides = {dim: int(np.prod([dataset.sizes[d] for d in dims[k + 1 :]], dtype=np.int64)) for k, dim in enumerate(dims)}
    narrowed, names = _columns(dataset)
    table = Table(narrowed, dims, tuple(names))
    columns: list[dict[str, Any]] = []
    for name in table.labels:
        values = [value.item() if isinstance(value, np.generic) else value for value in dataset[name].values]
        labels = [
            label_text(value) if not isinstance(value, int | float) or isinstance(value, bool) else value for value in values
        ]
        stride = strides[str(dataset[name].dims[0])]
        columns.append({"name": name, "title": described(dataset[name]), "axis": labels, "stride": stride})
    pieces = list(table.pieces())
    sources = table.sources()
    read = {
        name: np.concatenate([piece[name] for piece in pieces]) for name in ("status", *sources, "failure") if name in pieces[0]
    }
    for name, found in read.items():
        if name == "failure" and not any(found.tolist()):
            continue
        title = described(narrowed[sources[name][0] if name in sources else name])
        columns.append({"name": name, "title": title, **_encoded(found, read["status"])})
    return {"rows": table.rows, "columns": columns}


def _columns(dataset: xr.Dataset) -> tuple[xr.Dataset, list[str]]:
    """Return the variables that fit a table: those of one number or word, and short ones; the headline at its labels."""
    main = main_variable(dataset) if any(numeric(dataset, name) for name in variables(dataset)) else ("", {})
    names = []
    for name in variables(dataset):
        size = int(np.prod([dataset.sizes[dim] for dim in own_dims(dataset, name)], dtype=np.int64))
        if size <= MAX_SPREAD:
            names.append(name)
        elif name == main[0] and main[1]:
            dataset = dataset.assign({name: dataset[name].sel(main[1])})
            names.append(name)
    return dataset, names


def _encoded(values: NDArray[Any], status: NDArray[Any]) -> dict[str, Any]:
    if values.dtype.kind in "fiu":
        numbers = np.where(status == "done", values.astype("<f8"), np.nan)
        return {"numbers": base64.b64encode(numbers.tobytes()).decode()}
    words, codes = np.unique(np.array([label_text(value) for value in values.tolist()], dtype=object), return_inverse=True)
    return {"words": words.tolist(), "codes": base64.b64encode(codes.astype("<u4").tobytes()).decode()}


def _states(dataset: xr.Dataset) -> list[tuple[str, int]]:
    counts = np.bincount(np.asarray(dataset["status"].values).ravel(), minlength=len(STATES))
    return [(state, int(count)) for state, count in zip(STATES, counts, strict=True) if count]


def _headline(dataset: xr.Dataset, name: str, labels: Mapping[str, Any]) -> dict[str, Any]:
    """Sum up one headline: the answers in words by how often they are given, numbers by their range."""
    at = {dim: label for dim, label in labels.items() if dim in dataset[name].dims}
    array = dataset[name].sel(at)
    values, status = np.asarray(array.values), np.asarray(dataset["status"].values)
    done = np.broadcast_to(status.reshape(status.shape + (1,) * (values.ndim - status.ndim)), values.shape) == STATES.index(
        "done"
    )
    where = f" at {', '.join(f'{dim} {label_text(label)}' for dim, label in at.items())}" if at else ""
    rows: list[tuple[str, str, str]] = []
    found = {"name": f"{name}{where}", "meaning": described(array), "rows": rows}
    places = np.argwhere(done)
    if not len(places):
        return found
    if values.dtype.kind in "fiu":
        numbers = np.where(done, values.astype(float), np.nan)
        if not np.isfinite(numbers).any():
            return found
        for what, at_place in (("largest", np.nanargmax(numbers)), ("smallest", np.nanargmin(numbers))):
            index = np.unravel_index(int(at_place), numbers.shape)
            rows.append((what, f"{numbers[index]:.6g}", _where(array, index)))
        rows.append(("mean", f"{np.nanmean(numbers):.6g}", f"of {int(np.isfinite(numbers).sum()):,} values"))
        return found
    words = [str(values[tuple(place)]) for place in places]
    counts = Counter(words)
    first: dict[str, NDArray[Any]] = {}
    for word, place in zip(words, places, strict=True):
        first.setdefault(word, place)
    for word, count in counts.most_common(MAX_LISTED):
        rows.append(
            (word, f"{count:,} of {len(words):,}", f"such as {_where(array, first[word].tolist())}" if array.ndim else "")
        )
    if len(counts) > MAX_LISTED:
        rows.append((f"{len(counts) - MAX_LISTED:,} more", "", ""))
    return found


def _where(array: xr.DataArray, index: Sequence[Any]) -> str:
    labels = [(str(dim), array[dim].values[i]) for dim, i in zip(array.dims, index, strict=True)]
    return ", ".join(f"{dim}={label_text(label)}" for dim, label in labels)


def _axis(dataset: xr.Dataset, dim: str) -> dict[str, Any]:
    labels = [label_text(label) for label in dataset[dim].values]
    shown = labels if len(labels) <= MAX_LISTED else [*labels[:3], "…", labels[-1]]
    return {"name": dim, "meaning": described(dataset[dim]), "size": len(labels), "labels": shown}


def _fixed(dataset: xr.Dataset) -> list[tuple[str, str, str]]:
    own = {dim for name in variables(dataset) for dim in own_dims(dataset, name)}
    scalars = [str(name) for name in dataset.coords if dataset[name].ndim == 0 and name not in own]
    return [(name, label_text(dataset[name].values[()]), described(dataset[name])) for name in sorted(scalars)]


def _pictures(dataset: xr.Dataset, store: str, selections: Sequence[str]) -> Iterator[Exhibit]:
    """Yield the pictures that suit, those that cannot be drawn left out."""
    try:
        wanted: list[tuple[str, list[str], list[str]]] = [(choose_kind(dataset), [], [])]
    except UserError:
        return
    variable, labels = main_variable(dataset)
    for dim, label in labels.items():
        if dim in dataset[variable].dims and dataset[dim].values[0] != label:
            wanted.append(("change", [f"{dim}={label_text(dataset[dim].values[0])}"], [f"{dim}={label_text(label)}"]))
    wanted += [(kind, [], []) for kind in ("heatmap", "lines") if kind not in wanted[0] and wanted[0][0] != "value"]
    for number, (kind, narrowing, against) in enumerate(wanted):
        try:
            figure = picture(dataset, kind, selections=narrowing, against=against)
        except UserError:
            continue
        options = [("--select", text) for text in (*selections, *narrowing)] + [("--against", text) for text in against]
        words = ["dicesweep", "plot", store, "--kind", kind, *(word for option in options for word in option)]
        with mpl.rc_context(STYLE):
            drawing = Markup(svg(figure, "currentColor", f"p{number}-"))  # noqa: S704 - matplotlib has escaped its texts
        yield Exhibit(drawing, {"change": "Difference"}.get(kind, kind.capitalize()), shlex.join(words))


def _failures(dataset: xr.Dataset) -> list[tuple[str, int, str]]:
    """Return the reasons of failures, the most frequent first, each with a point that it befell."""
    places = np.argwhere(np.asarray(dataset["status"].values) == STATES.index("failed"))
    reasons = np.asarray(dataset["failure"].values) if len(places) else np.array([])
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for place in places:
        reason = str(reasons[tuple(place)])
        counts[reason] += 1
        first.setdefault(reason, _where(dataset["status"], tuple(place)))
    return [(reason, count, first[reason]) for reason, count in counts.most_common(MAX_LISTED)]


def _provenance(dataset: xr.Dataset) -> Iterator[tuple[str, str]]:
    """Yield what the attributes of the store say, however they are nested."""
    plain = specification(dataset)
    for name in ("study", "study_version", "seed", "exclude"):
        if plain.get(name) is not None:
            yield name.replace("_", " "), str(plain[name])
    for name, value in dataset.attrs.items():
        if name not in (ATTRIBUTE, GIVEN, "title", "study", "reference") and (text := _readable(value)):
            yield str(name).removeprefix("dicesweep_").replace("_", " "), text


def _given(dataset: xr.Dataset) -> dict[str, Any]:
    """Return the sweep file as it was given, and the settings that replaced some of it."""
    try:
        found = json.loads(str(dataset.attrs.get(GIVEN, "{}")))
    except ValueError:
        return {}
    return {"file": found["file"], "set": found.get("set", ())} if isinstance(found, dict) and found.get("file") else {}


def _readable(value: Any) -> str:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return str(value)
    if isinstance(value, dict | list):
        return json.dumps(value, indent=1, ensure_ascii=False)
    return str(value)
