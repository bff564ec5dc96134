"""YAML 1.2 as data: plain values, and the line on which each of them stands.

Scalars follow the core schema of YAML 1.2, so ``1e-3`` is a number and ``no`` is a string.  Anchors, aliases, tags and
several documents in a file are refused: a sweep needs none of them, and they are how a small file grows without bound.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from pipeline.errors import UserError, shown

MAX_BYTES = 4_000_000
MAX_DEPTH = 20

COMMAND_LINE = 0
"""Stands for the line of a value that came from the command line and not from the file."""

Key: TypeAlias = tuple[str | int, ...]
"""Where a value stands: the keys and list positions that lead to it."""

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?[0-9]{1,400}|0o[0-7]{1,400}|0x[0-9a-fA-F]{1,400}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}


@dataclass(frozen=True)
class Source:
    """Where values came from, for messages: a name, and the line of each key."""

    name: str
    lines: Mapping[Key, int]

    def error(self, key: Key, message: str) -> UserError:
        """Return the error that says what is wrong with the value at `key`."""
        path = ".".join(word if (word := str(part)).isprintable() else repr(word) for part in key)
        known = next((self.lines[key[:n]] for n in range(len(key), -1, -1) if key[:n] in self.lines), None)
        line = " (--set)" if known == COMMAND_LINE else f":{known}" if known else ""
        return UserError(f"{self.name}{line}: {path}: {message}" if path else f"{self.name}{line}: {message}")


def read_document(path: Path) -> tuple[Any, Source]:
    """Read a YAML file.

    Returns
    -------
    value : object
        Mappings, lists, strings, numbers, booleans and None.
    source : Source

    Raises
    ------
    UserError
        If the file cannot be read or is not plain YAML 1.2.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UserError(f"{path}: the file is larger than {MAX_BYTES // 1_000_000} MB")
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text (byte {error.object[error.start]:#04x} at offset {error.start})") from None
    except OSError as error:
        raise UserError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except ValueError as error:
        raise UserError(f"{shown(str(path))}: {error}") from None
    return parse_document(text, str(path))


def parse_document(text: str, name: str) -> tuple[Any, Source]:
    """Parse YAML text; `name` stands for the file in messages.  See :func:`read_document`."""
    lines: dict[Key, int] = {}
    builder = _Builder(name, lines)
    try:
        for event in yaml.parse(text, Loader=_Loader):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f":{mark.line + 1}" if mark else ""
        problem = " ".join(str(error.problem or error.context or "not YAML").split())
        raise UserError(f"{name}{where}: not YAML: {problem}") from None
    except yaml.YAMLError as error:
        raise UserError(f"{name}: not YAML: {' '.join(str(error).split())}") from None
    return builder.root, Source(name, lines)


class _Builder:
    """Builds plain values from parser events without recursion, so that nesting is bounded by a check and not by the stack."""

    def __init__(self, name: str, lines: dict[Key, int]) -> None:
        self.source = Source(name, lines)
        self.lines = lines
        self.root: Any = None
        self.documents = 0
        self.stack: list[dict[str, Any] | list[Any]] = []
        self.keys: list[str | int | None] = []

    def take(self, event: yaml.Event) -> None:
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise self._error(line, "anchors and aliases are not supported: write the value out")
        if isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise self._error(line, "the file holds more than one document")
        elif isinstance(event, yaml.ScalarEvent):
            self._scalar(event, line)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            if event.tag:
                raise self._error(line, f"tags are not supported: {shown(event.tag)}")
            value: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
            self._put(value, line)
            self.stack.append(value)
            self.keys.append(None)
            if len(self.stack) > MAX_DEPTH:
                raise self._error(line, f"nested deeper than {MAX_DEPTH} levels")
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self.stack.pop()
            self.keys.pop()
            self._value_ended()

    def _scalar(self, event: yaml.ScalarEvent, line: int) -> None:
        if event.tag:
            raise self._error(line, f"tags are not supported: {shown(event.tag)}")
        if self.stack and isinstance(self.stack[-1], dict) and self.keys[-1] is None:
            if event.value in self.stack[-1]:
                raise self._error(line, f"the key {shown(event.value)} is given twice")
            self.keys[-1] = event.value
            self.lines[self._path()] = line
            return
        self._put(event.value if event.style else _plain(event.value), line)

    def _put(self, value: Any, line: int) -> None:
        if not self.stack:
            self.root = value
            self.lines[()] = line
            return
        parent = self.stack[-1]
        if isinstance(parent, list):
            self.keys[-1] = len(parent)
            parent.append(value)
        else:
            key = self.keys[-1]
            if key is None:
                raise self._error(line, "a key must be a plain word, not a list or a mapping")
            parent[str(key)] = value
        self.lines.setdefault(self._path(), line)
        if not isinstance(value, dict | list):
            self._value_ended()

    def _path(self) -> Key:
        return tuple(key for key in self.keys if key is not None)

    def _value_ended(self) -> None:
        if self.stack and isinstance(self.stack[-1], dict):
            self.keys[-1] = None

    def _error(self, line: int, message: str) -> UserError:
        return UserError(f"{self.source.name}:{line}: {message}")


def _plain(text: str) -> Any:
    """Resolve an unquoted scalar by the core schema of YAML 1.2."""
    if text in _SPECIAL:
        return _SPECIAL[text]
    if _INTEGER.fullmatch(text):
        return int(text, 8 if text.startswith("0o") else 16 if text.startswith("0x") else 10)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text
