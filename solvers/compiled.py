"""One way to compile a kernel: ahead of use, cached on disk, without the GIL, deterministic.

Floating-point contraction and reordering stay off, so the same machine code gives the same bits wherever a point runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile `function` with Numba in nopython mode, keeping its type for checkers."""
    return cast("F", numba.njit(cache=True, nogil=True, error_model="numpy", boundscheck=False)(function))
