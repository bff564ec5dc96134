"""What the tests share: the shipped boards and decks, and a study that is as simple as a study can be."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from pipeline.config import SweepConfig, load_sweep
from pipeline.document import read_document
from solvers.board import Board, Deck, parse_board, parse_deck

# The same examples on every machine: what passes here passes there, and what fails can be looked at.
settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")

ROOT = Path(__file__).resolve().parent.parent
CONFIGS = ROOT / "configs"


@pytest.fixture(scope="session")
def board() -> Board:
    return parse_board(read_document(CONFIGS / "boards" / "monopoly.yaml")[0])


@pytest.fixture(scope="session")
def decks() -> dict[str, Deck]:
    document, _ = read_document(CONFIGS / "decks" / "classic.yaml")
    return {name: parse_deck(deck) for name, deck in document.items()}


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a sweep file, with the toy study unless the text names another."""

    def to_file(text: str, name: str = "sweep.yaml") -> Path:
        path = tmp_path / name
        path.write_text(text if "study:" in text else f"study: toy:STUDY\n{text}", encoding="utf-8")
        return path

    return to_file


@pytest.fixture
def load(write: Callable[..., Path]) -> Callable[..., SweepConfig]:
    def from_text(text: str, *overrides: str) -> SweepConfig:
        return load_sweep(write(text), overrides)

    return from_text


@pytest.fixture(scope="session")
def command() -> str:
    """The installed command, run as its user would."""
    found = shutil.which("dicesweep", path=str(Path(sys.executable).parent))
    assert found, "dicesweep is not installed beside this Python"
    return found


def tree(path: Path) -> dict[str, bytes]:
    """Every file of a store with its bytes, but for the root's metadata, which has the times of its runs."""
    files = {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()}
    return {name: data for name, data in files.items() if name != "zarr.json"}


def plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value
