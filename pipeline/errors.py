"""Mistakes of the user, as distinct from faults of the program: each is one line, and ends a command with exit code 2."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Something that the user can put right; the text is one line that says what is wrong and what would be right."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known word, or nothing."""
    near = difflib.get_close_matches(word, [str(name) for name in known], 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def shown(value: object, limit: int = 60) -> str:
    """Return a value as it may stand in a one-line message: printable, and not longer than `limit`."""
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def lowered(message: str) -> str:
    """Return a message of pydantic as the tail of a one-line message."""
    message = message.removeprefix("Input ").removeprefix("Value error, ")
    return message[:1].lower() + message[1:]
