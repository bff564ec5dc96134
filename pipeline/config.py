"""A YAML file to a validated :class:`~pipeline.sweep.Sweep`; every error names the file, the line, the key and the cure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.document import COMMAND_LINE, Key, Source, parse_document, read_document
from pipeline.errors import UserError, lowered, shown, suggestion
from pipeline.resolve import Resolver
from pipeline.sweep import Sweep
from solvers.study import UnknownStudyError, find_study


class SweepFile(BaseModel):
    """The top level of a sweep file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    study: str
    title: str = ""
    store: str | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    zip: dict[str, dict[str, Any]] = Field(default_factory=dict)
    cases: list[dict[str, Any]] = Field(default_factory=list)
    exclude: str | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    timeout_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    notes: str = ""


@dataclass(frozen=True)
class SweepConfig:
    """What a sweep file says: the sweep, and where its answer goes.

    Attributes
    ----------
    sweep : Sweep
    store : str
        Path of the store; `outputs/<name of the file>.zarr` if the file names none.
    timeout : float or None
        Seconds after which a point has failed.
    notes : str
        A line for the record.
    text : str
        The file, as it was given.
    settings : tuple of str
        What replaced values of the file.
    """

    sweep: Sweep
    store: str
    timeout: float | None = None
    notes: str = ""
    text: str = ""
    settings: tuple[str, ...] = ()


def load_sweep(path: str | Path, overrides: Sequence[str] = ()) -> SweepConfig:
    """Read and validate a sweep file.

    Parameters
    ----------
    path : path
    overrides : sequence of str
        ``key=value`` with the value in YAML: a parameter, or a dotted path from the top of the file.

    Raises
    ------
    UserError
        One line that says which file, line and key, what is wrong, and what would be right.
    """
    path = Path(path)
    raw, source = read_document(path)
    if not isinstance(raw, dict):
        raise source.error((), "a sweep file is a mapping with the keys study and parameters")
    lines = dict(source.lines)
    for override in overrides:
        _override(raw, lines, override)
    config = build_sweep(raw, Source(source.name, lines), path.parent, f"outputs/{path.stem}.zarr")
    return replace(config, text=path.read_text(encoding="utf-8"), settings=tuple(overrides))


def build_sweep(raw: Mapping[str, Any], source: Source, folder: Path, store: str) -> SweepConfig:
    """Validate the plain form of a sweep file; `folder` is searched first for named documents.  See :func:`load_sweep`."""
    try:
        file = SweepFile.model_validate(raw)
    except ValidationError as error:
        raise _from_pydantic(error, source) from None
    try:
        study = find_study(file.study)
    except UnknownStudyError as error:
        raise source.error(("study",), str(error)) from None
    sweep = Resolver(study, file.parameters, file.zip, file.cases, source, folder).resolve(file.title, file.exclude, file.seed)
    return SweepConfig(sweep, file.store or store, file.timeout_s, file.notes)


def _override(raw: dict[str, Any], lines: dict[Key, int], override: str) -> None:
    path, equals, text = override.partition("=")
    keys = path.strip().split(".")
    if not equals or not all(keys):
        raise UserError(f"--set {override}: write it as key=value, such as --set sides=6")
    if len(keys) == 1 and keys[0] not in SweepFile.model_fields:
        keys = ["parameters", *keys]
    value, _ = parse_document(text, f"--set {path}")
    target: Any = raw
    for key in keys[:-1]:
        target = target.setdefault(key, {})
        if not isinstance(target, dict):
            raise UserError(f"--set {override}: {key} is not a mapping")
    target[keys[-1]] = value
    for inner in [key for key in lines if key[: len(keys)] == tuple(keys)]:
        del lines[inner]
    lines[tuple(keys)] = COMMAND_LINE


def _from_pydantic(error: ValidationError, source: Source) -> UserError:
    first = error.errors()[0]
    known = SweepFile.model_fields
    if first["type"] == "extra_forbidden":
        name = str(first["loc"][-1])
        message = f"unknown key{suggestion(name, known)} (known: {', '.join(known)})"
    elif first["type"] == "missing":
        message = "this key is required"
    else:
        message = f"{lowered(first['msg'])} (got {shown(first['input'])})"
    return source.error(first["loc"], message)
