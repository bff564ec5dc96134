"""Sweeps: a study in, a labelled store out.  Knows nothing of games."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline.config import SweepConfig, load_sweep
    from pipeline.errors import UserError
    from pipeline.making import make_sweep
    from pipeline.run import run
    from pipeline.store import open_sweep
    from pipeline.sweep import Sweep

__all__ = ["Sweep", "SweepConfig", "UserError", "load_sweep", "make_sweep", "open_sweep", "run"]

_HOME = {
    "Sweep": "sweep",
    "SweepConfig": "config",
    "UserError": "errors",
    "load_sweep": "config",
    "make_sweep": "making",
    "open_sweep": "store",
    "run": "run",
}


def __getattr__(name: str) -> Any:
    """Import public names when they are first used, so that the command line starts without Dask and xarray.

    Whatever gives a dataset also gives datasets their accessor, see :mod:`pipeline.accessor`.
    """
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in ("open_sweep", "run"):
        import_module(f"{__name__}.accessor")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
