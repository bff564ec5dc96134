"""Who computed what, when, and with which versions: plain attributes of the store, readable with nothing but zarr."""

from __future__ import annotations

import getpass
import os
import platform
import socket
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = ("dicesweep", "dask", "distributed", "highspy", "numba", "numpy", "python-flint", "scipy", "xarray", "zarr")


def versions() -> dict[str, str]:
    """Return the versions of Python and of every package that has a part in the numbers."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def git_state(folder: Path) -> dict[str, Any]:
    """Return the commit of the checkout that holds `folder`, and whether its tree was dirty; empty outside of one."""
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        return {"commit": commit, "dirty": bool(_git(folder, "status", "--porcelain", "--untracked-files=no"))}
    except (OSError, subprocess.SubprocessError):
        return {}


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(  # noqa: S603 - fixed arguments
        ["git", "-C", str(folder), *arguments],  # noqa: S607 - whichever git the user has
        capture_output=True,
        text=True,
        timeout=10,
        check=True,
    )
    return done.stdout.strip()


def now() -> str:
    """Return the time, to the second, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def run_record(run: str, study_version: int, place: str) -> dict[str, Any]:
    """Return what is known of a run when it starts."""
    return {
        "run": run,
        "started": now(),
        "ended": None,
        "done": None,
        "failed": None,
        "host": socket.gethostname(),
        "user": _user(),
        "process": os.getpid(),
        "command": sys.argv,
        "place": place,
        "study_version": study_version,
        "versions": versions(),
        "git": git_state(Path(__file__).parent),
    }


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def version_changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return, in words, which versions differ."""
    names = sorted({*before, *after})
    return [
        f"{name} {before.get(name, 'absent')} -> {after.get(name, 'absent')}"
        for name in names
        if before.get(name) != after.get(name)
    ]
