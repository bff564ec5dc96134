"""Whether two sweeps ask the same, and if not, where they differ, in words.

Labels decide, and what they stand for; the order of the values along an axis and the title do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.errors import shown
from pipeline.sweep import canonical


def differences(here: Mapping[str, Any], there: Mapping[str, Any], *, growing: bool = False) -> list[str]:
    """Compare the plain forms of two sweeps, one here (in a file) and one there (in a store).

    Parameters
    ----------
    growing : bool
        Values of an axis that are only here are no difference, and neither is the version of the study.
    """
    found = [
        f"{key.replace('_', ' ')} is {shown(there[key])} there and {shown(here[key])} here"
        for key in ("study", "study_version", "exclude", "seed")
        if here[key] != there[key] and not (growing and key == "study_version")
    ]
    if here["study"] != there["study"]:
        return found
    names = sorted({*here["fixed"], *there["fixed"]})
    for name in names:
        ours, theirs = (sweep["fixed"].get(name, "an axis") for sweep in (here, there))
        if ours != theirs:
            found.append(_fixed_difference(name, ours, theirs))
    axes = [{axis["name"]: axis["columns"] for axis in sweep["dimensions"]} for sweep in (here, there)]
    for name in sorted({*axes[0], *axes[1]} - set(names)):
        ours, theirs = axes[0].get(name), axes[1].get(name)
        if ours is None or theirs is None:
            found.append(f"axis {name} is only {'there' if ours is None else 'here'}")
        elif difference := _axis_difference(ours, theirs, growing=growing):
            found.append(f"axis {name} differs: {difference}")
    return found


def _fixed_difference(name: str, ours: Any, theirs: Any) -> str:
    if _label(ours) == _label(theirs):
        return f"{name} {_label(ours)} has other contents there than here"
    return f"{name} is {_label(theirs)} there and {_label(ours)} here"


def _axis_difference(ours: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]], *, growing: bool) -> str:
    if [column["parameter"] for column in ours] != [column["parameter"] for column in theirs]:
        return "other parameters move along it there than here"
    here, there = _rows(ours), _rows(theirs)
    parts = [
        f"{', '.join(some[:4])}{', ...' if len(some) > 4 else ''} only {place}"
        for some, place in (
            ([] if growing else [label for label in here if label not in there], "here"),
            ([label for label in there if label not in here], "there"),
        )
        if some
    ]
    changed = [label for label in here if label in there and here[label] != there[label]]
    return "; ".join([*parts, *(f"{label} has other contents there than here" for label in changed[:1])])


def _rows(columns: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the label and the contents of each value along an axis."""
    rows = zip(*(column["values"] for column in columns), strict=True)
    return {" ".join(_shown(_label(value)) for value in row): canonical(list(row)) for row in rows}


def _shown(label: Any) -> str:
    """Return a label in words; 1, 1.0 and True stay apart."""
    return str(label)


def _label(plain: Any) -> Any:
    return plain["label"] if isinstance(plain, Mapping) else plain
