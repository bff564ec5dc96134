"""Tables for the terminal: the headline of a store, a plan, a study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pipeline.inspection import Status
from pipeline.plan import Plan
from pipeline.resolve import allowed
from pipeline.store import DONE, FAILED, PENDING, STATES, Store
from pipeline.sweep import Sweep
from solvers.study import REQUIRED, Coordinate, Document, Headline, Kind, Parameter, Study

MAX_CELLS = 800
"""Points beyond which a headline is folded into a summary."""

MAX_ROWS = 12
"""Rows of a summary."""


def show_headline(store: Store, width: int) -> RenderableType:
    """Return the headline of a store: every point if they fit, else what the answers are and how often."""
    sweep = store.sweep
    parts: list[RenderableType] = [_title(sweep)]
    for headline in sweep.study.headline:
        if headline.variable not in store.arrays:
            continue
        whole = sweep.points <= MAX_CELLS and len([n for n in sweep.shape if n > 1]) <= 2
        parts.extend(_every_point(store, headline, width) if whole else _summary(store, headline))
    parts.extend(Text(paragraph) for paragraph in _remarks(store) if paragraph)
    return Group(*parts)


def _remarks(store: Store) -> Iterator[str]:
    """Yield what the study has to say about a sweep that is small, done, and has no zips."""
    sweep = store.sweep
    if sweep.study.remarks is None or sweep.points > MAX_CELLS or any(dimension.zipped for dimension in sweep.dimensions):
        return
    everything = tuple(slice(None) for _ in sweep.shape)
    if not (np.asarray(store.arrays["status"][everything]) == DONE).all():
        return
    axes = {dimension.name: dimension.labels for dimension in sweep.dimensions}
    fixed = {name: value.value for name, value in sweep.fixed.items()}
    yield from sweep.study.remarks(axes, fixed, {v.name: np.asarray(store.arrays[v.name][...]) for v in sweep.variables})


def _title(sweep: Sweep) -> Text:
    fixed = ", ".join(f"{name}={value.label}" for name, value in sweep.fixed.items())
    text = Text(sweep.title or sweep.study.title, style="bold")
    return text.append(f"\n{fixed}", style="not bold dim") if fixed else text


def _caption(store: Store, headline: Headline) -> str:
    variable = next(v for v in store.sweep.variables if v.name == headline.variable)
    at = ", ".join(f"{dim}={label}" for dim, label in headline.select.items())
    return f"{variable.name}{f' at {at}' if at else ''}: {variable.long_name}"


def _cells(store: Store, headline: Headline, region: tuple[slice, ...]) -> tuple[Any, Any]:
    """Read the headline variable and the status over a region of points."""
    names = next(v for v in store.sweep.variables if v.name == headline.variable).dims
    own = tuple(_position(store, dim, headline.select[dim]) for dim in names)
    selection: Any = (*region, *own)
    values = np.asarray(store.arrays[headline.variable][selection])
    return values, np.asarray(store.arrays["status"][region])


def _position(store: Store, dim: str, label: Any) -> int:
    labels = np.asarray(store.sweep.coordinates[dim].values)
    return int(np.flatnonzero(labels == label)[0])


def _text(value: Any, status: int, headline: Headline) -> Text:
    if status == DONE:
        return Text(format(value, headline.format) if headline.format else str(value))
    return Text("·" if status == PENDING else STATES[status], style="red" if status == FAILED else "dim")


def _every_point(store: Store, headline: Headline, width: int) -> Iterator[RenderableType]:
    sweep = store.sweep
    everything = tuple(slice(None) for _ in sweep.shape)
    values, status = _cells(store, headline, everything)
    long = sorted((i for i, n in enumerate(sweep.shape) if n > 1), key=lambda i: -sweep.shape[i])
    rows, columns = (*long, None, None)[:2]
    row_labels = [str(label) for label in sweep.dimensions[rows].labels] if rows is not None else [""]
    column_labels = [str(label) for label in sweep.dimensions[columns].labels] if columns is not None else [headline.variable]
    order = [axis for axis in (rows, columns) if axis is not None]
    rest = [axis for axis in range(len(sweep.shape)) if axis not in order]
    shape = (len(row_labels), len(column_labels))
    values, status = (np.transpose(array, [*order, *rest]).reshape(shape) for array in (values, status))
    texts = [[_text(values[i, j], int(status[i, j]), headline) for j in range(shape[1])] for i in range(shape[0])]
    yield Text(_caption(store, headline), style="italic")
    row_name = sweep.dimensions[rows].name if rows is not None else ""
    heads = [label.replace(",", "\n") for label in column_labels]
    for part in _panels(heads, row_labels, row_name, texts, width):
        name = sweep.dimensions[columns].name if columns is not None else None
        table = Table(title=name, title_justify="right", title_style="bold", header_style="bold", box=SIMPLE_HEAD)
        table.add_column(row_name, justify="right", no_wrap=True)
        for j in part:
            table.add_column(heads[j], justify="right", no_wrap=True)
        for label, cells in zip(row_labels, texts, strict=True):
            table.add_row(label, *(cells[j] for j in part))
        yield table


def _panels(
    heads: Sequence[str], row_labels: Sequence[str], row_name: str, texts: Sequence[Sequence[Text]], width: int
) -> Iterator[list[int]]:
    """Split the columns into runs that fit the screen."""
    first = max(len(label) for label in (*row_labels, row_name)) + 5
    part: list[int] = []
    used = first
    for j, head in enumerate(heads):
        needed = 3 + max([len(line) for line in head.split("\n")] + [len(row[j]) for row in texts])
        if part and used + needed > width:
            yield part
            part, used = [], first
        part.append(j)
        used += needed
    yield part


def _summary(store: Store, headline: Headline) -> Iterator[RenderableType]:
    variable = next(v for v in store.sweep.variables if v.name == headline.variable)
    yield Text(_caption(store, headline), style="italic")
    yield _counted(store, headline) if variable.dtype == "str" else _spread(store, headline)


def _where(sweep: Sweep, index: Sequence[int]) -> str:
    pairs = zip(sweep.dimensions, index, strict=True)
    return "  ".join(f"{dimension.name}={dimension.labels[i]}" for dimension, i in pairs)


def _counted(store: Store, headline: Headline) -> Table:
    """Tabulate which answers there are, how often, and one point that gives each."""
    counts: Counter[str] = Counter()
    example: dict[str, tuple[int, ...]] = {}
    for block in store.blocks():
        values, status = _cells(store, headline, block.region)
        done = status == DONE
        found, first, number = np.unique(values[done].astype(object), return_index=True, return_counts=True)
        places = np.argwhere(done)
        for value, at, count in zip(found.tolist(), first, number, strict=True):
            counts[value] += int(count)
            if value not in example:
                example[value] = tuple(part.start + int(i) for part, i in zip(block.region, places[at], strict=True))
    table = Table(header_style="bold", box=SIMPLE_HEAD)
    for name, justify in (("answer", "left"), ("points", "right"), ("share", "right"), ("for example", "left")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]  # both are justifications
    total = max(sum(counts.values()), 1)
    for value, count in counts.most_common(MAX_ROWS):
        table.add_row(value, f"{count:,}", f"{count / total:.1%}", _where(store.sweep, example[value]))
    if (rest := len(counts) - MAX_ROWS) > 0:
        others = total - sum(count for _, count in counts.most_common(MAX_ROWS))
        table.add_row(f"{rest:,} more", f"{others:,}", f"{others / total:.1%}", "", style="dim")
    return table


def _spread(store: Store, headline: Headline) -> Table:
    """Tabulate the smallest and the largest answer, and where they are."""
    best: dict[str, tuple[float, tuple[int, ...]]] = {}
    total, number = 0.0, 0
    for block in store.blocks():
        values, status = _cells(store, headline, block.region)
        good = (status == DONE) & np.isfinite(values.astype(float))
        if not good.any():
            continue
        total += float(values[good].sum())
        number += int(good.sum())
        for name, pick, worst in (("smallest", np.argmin, np.inf), ("largest", np.argmax, -np.inf)):
            at = np.unravel_index(int(pick(np.where(good, values, worst))), values.shape)
            value = float(values[at])
            if name not in best or (value < best[name][0]) == (name == "smallest"):
                best[name] = value, tuple(part.start + int(i) for part, i in zip(block.region, at, strict=True))
    table = Table(header_style="bold", box=SIMPLE_HEAD)
    for column in ("", "value", "where"):
        table.add_column(column)
    for name, (value, index) in best.items():
        table.add_row(name, format(value, headline.format or ".6g"), _where(store.sweep, index))
    if number:
        table.add_row("mean", format(total / number, headline.format or ".6g"), f"of {number:,} points")
    return table


def show_plan(plan: Plan) -> RenderableType:
    """Return what a run would do and why."""
    sweep = plan.sweep
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column()
    table.add_row("study", f"{sweep.study.name}: {sweep.study.title}")
    table.add_row("store", f"{plan.path} ({'exists' if plan.store else 'new'})")
    for dimension in sweep.dimensions:
        labels = dimension.labels
        some = ", ".join(map(str, labels if len(labels) <= 6 else (*labels[:3], "...", labels[-1])))
        table.add_row(f"axis {dimension.name}", f"{dimension.size:,} values: {some}")
    table.add_row("fixed", ", ".join(f"{name}={value.label}" for name, value in sweep.fixed.items()))
    excluded = sweep.excluded_points
    table.add_row("points", f"{sweep.points:,}" + (f", {excluded:,} of them excluded" if excluded else ""))
    number = int(np.prod(plan.lattice, dtype=object))
    shape = " x ".join(f"{size} {d.name}" for size, d in zip(plan.chunk, sweep.dimensions, strict=True)) or "the one point"
    table.add_row("blocks", f"{number:,}, each one chunk of the store and one Dask task, of {shape}")
    table.add_row("size", f"{_bytes(plan.bytes)} before compression")
    _, done, failed, out = plan.survey.counts
    table.add_row("done", f"{done:,} done, {failed:,} failed, {out:,} excluded")
    for name, added in plan.new.items():
        some = ", ".join(map(str, added[:4])) + (", ..." if len(added) > 4 else "")
        table.add_row("new", f"{name}: {some}, which the store would grow by")
    left = plan.pending
    reason = "the rest is in the store" if plan.store and left < sweep.points else "nothing is in the store yet"
    table.add_row("left", f"{left:,} points ({reason})" if left else "nothing: a run would compute nothing")
    if left:
        table.add_row("work", f"about {duration(plan.seconds)} on one core, by the study's estimate")
        table.add_row("where", f"{plan.place} ({plan.place.reason})")
    return table


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 1000 or unit == "TB":
            return f"{count:.3g} {unit}"
        count /= 1000
    raise AssertionError


def duration(seconds: float) -> str:
    """Return a length of time in two units at most."""
    if seconds < 60:
        return f"{seconds:.2g} s"
    minutes, hours = seconds / 60, seconds / 3600
    return f"{minutes:.0f} min" if minutes < 90 else f"{hours:.1f} h" if hours < 48 else f"{hours / 24:.1f} days"


def show_study(study: Study) -> RenderableType:
    """Return what a study may be asked and what it answers."""
    asked = Table(title="parameters", title_justify="left", title_style="bold", header_style="bold", box=SIMPLE_HEAD)
    for column in ("name", "values", "default", "unit", "meaning"):
        asked.add_column(column, overflow="fold")
    for p in study.parameters:
        asked.add_row(p.name, _kind(p.kind), _default(p), p.unit, p.meaning)
    answered = Table(title="variables", title_justify="left", title_style="bold", header_style="bold", box=SIMPLE_HEAD)
    for column in ("name", "dimensions", "type", "unit", "meaning"):
        answered.add_column(column, overflow="fold")
    for v in study.variables:
        meaning = f"{v.long_name} (NaN: {v.missing})" if v.missing else v.long_name
        answered.add_row(v.name, ", ".join(v.dims) or "-", v.dtype, v.unit, meaning)
    head = Text(f"{study.name} (version {study.version}): {study.title}", style="bold")
    shown = ", ".join(headline.variable for headline in study.headline)
    tail = Text(f"headline: {shown}\nreference: {study.reference}")
    return Group(head, asked, answered, tail)


def show_status(status: Status) -> RenderableType:
    """Return how far a sweep is."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column()
    for name in ("done", "failed", "pending", "excluded"):
        share = status.counts[name] / status.points
        table.add_row(name, f"{status.counts[name]:>14,}  {share:7.2%}")
    if status.holder and status.running:
        table.add_row("running", f"{status.holder}; {status.holder.place}")
        left = f", about {duration(status.seconds_left)} left" if status.seconds_left is not None else ""
        table.add_row("rate", f"{status.rate:,.0f} points a second{left}")
    elif status.holder:
        table.add_row("running", f"no: {status.holder} shows no life; the next run takes over")
    else:
        table.add_row("running", "no")
    for run in status.runs[-5:]:
        done = "did not end by itself" if run["ended"] is None else f"{run['done']:,} done, {run['failed']:,} failed"
        table.add_row("run", f"{run['started']} on {run['host']}: {done}")
    return table


def show_details(columns: Mapping[str, Coordinate]) -> RenderableType:
    """Return the tables of one point: columns with the same dimension side by side."""
    tables: dict[tuple[str, ...], dict[str, Coordinate]] = {}
    for name, column in columns.items():
        tables.setdefault(column.dims, {})[name] = column
    shown: list[RenderableType] = []
    for group in tables.values():
        table = Table(header_style="bold", box=SIMPLE_HEAD)
        for column in group.values():
            table.add_column(column.long_name, justify="right")
        for row in zip(*(column.values.tolist() for column in group.values()), strict=True):
            table.add_row(*(f"{item:.6f}" if isinstance(item, float) else str(item) for item in row))
        shown.append(table)
    return Group(*shown)


def _kind(kind: Kind) -> str:
    return f"{kind.folder[:-1]}: {allowed(kind)}" if isinstance(kind, Document) else allowed(kind)


def _default(parameter: Parameter) -> str:
    if parameter.default is REQUIRED:
        return "required"
    if not callable(parameter.default):
        return str(parameter.default).lower() if isinstance(parameter.default, bool) else str(parameter.default)
    return (parameter.default.__doc__ or "by the other parameters").strip().rstrip(".").lower()
