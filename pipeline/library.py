"""Named documents: ``decks/classic.yaml`` beside the sweep file, or among those that come with the package."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.document import Key, Source, read_document
from pipeline.errors import shown, suggestion
from solvers.study import Document

_HERE = Path(__file__).resolve().parent
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


def shipped() -> Path:
    """Return the folder of the sweeps, boards and decks that come with the package."""
    installed = _HERE / "configs"
    return installed if installed.is_dir() else _HERE.parent / "configs"


def find_named(kind: Document, name: str, folder: Path, source: Source, key: Key) -> Mapping[str, Any]:
    """Read the document called `name`, from `folder` first and then from those that are shipped.

    Raises
    ------
    UserError
        If the name is not a plain file name, or there is no such document; it names the nearest that exists.
    """
    if not _NAME.fullmatch(name):
        raise source.error(key, f"{shown(name)} is not the name of a file in {kind.folder}/: letters, digits, '-', '_' and '.'")
    places = [place / kind.folder for place in (folder, shipped())]
    path = next((file for place in places if (file := place / f"{name}.yaml").is_file()), None)
    if path is None:
        known = sorted({file.stem for place in places if place.is_dir() for file in place.glob("*.yaml")})
        hint = suggestion(name, known)
        raise source.error(key, f"there is no {kind.folder}/{name}.yaml{hint} (known: {', '.join(known) or 'none'})")
    document, inner = read_document(path)
    if kind.key is not None:
        document = document.get(kind.key) if isinstance(document, Mapping) else None
        if document is None:
            raise source.error(key, f"{path} has no key {kind.key!r}")
    if not isinstance(document, Mapping):
        raise inner.error((), f"must hold a mapping (got {shown(document)})")
    return document
