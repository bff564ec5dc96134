"""Every command and every piece of Python in the docs runs, page by page, and the site builds without a warning."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from conftest import CONFIGS, ROOT

DOCS = ROOT / "docs"
ELSEWHERE = {"gallery.md", "own-study.md"}
"""Pages that have a test of their own: here below, and in ``tests/pipeline/test_own_study.py``."""

PAGES = sorted(page.name for page in DOCS.glob("*.md") if page.name not in ELSEWHERE)
SMALLER = {"deck_memory": ("--set", "sides=[6]"), "simulation": ("--set", "sides=[6]", "--set", "rolls=100000")}
"""Sweeps that would take most of a minute, and what makes them shorter."""

pytestmark = pytest.mark.slow

FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def steps(page: str) -> Iterator[tuple[str, str]]:
    """Yield the commands, the pieces of Python and the sweep files of a page, in order."""
    for language, text in FENCE.findall((DOCS / page).read_text(encoding="utf-8")):
        if language == "python" or (language == "yaml" and text.startswith("study:")):
            yield language, text
        elif language in ("sh", "") and text.startswith("dicesweep"):
            for line in text.splitlines():
                yield "sh", line.partition(" #")[0].strip()


def stores(page: str) -> set[str]:
    """Return the shipped sweeps whose stores a page speaks of."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return {name for name in re.findall(r"outputs/(\w+)\.zarr", text) if (CONFIGS / f"{name}.yaml").exists()}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    (folder / "configs").symlink_to(CONFIGS, target_is_directory=True)
    return folder


@pytest.fixture
def call(place: Path, command: str) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(*arguments: str, shell: str = "") -> subprocess.CompletedProcess[str]:
        path = f"{Path(command).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "COLUMNS": "120", "PYTHONPATH": str(ROOT)}
        return subprocess.run(
            ["/bin/sh", "-c", shell] if shell else list(arguments),
            cwd=place, env=environment, capture_output=True, text=True, timeout=300,
        )  # fmt: skip

    return run


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_tells_to_do_can_be_done(
    page: str, call: Callable[..., subprocess.CompletedProcess[str]], place: Path
) -> None:
    for name in sorted(stores(page)):
        done = call(
            "dicesweep", "--quiet", "run", f"configs/{name}.yaml", "--store", f"outputs/{name}.zarr", *SMALLER.get(name, ())
        )
        assert done.returncode == 0, done.stderr
    for language, text in steps(page):
        if language == "yaml":
            name = next(iter(re.findall(r"`(\w+\.yaml)`", (DOCS / page).read_text())), "sweep.yaml")
            (place / name).write_text(text, encoding="utf-8")
            continue
        if "_large" in text:
            done = call(shell=text.replace("dicesweep run", "dicesweep plan"))
        else:
            done = call(sys.executable, "-c", text) if language == "python" else call(shell=text)
        assert done.returncode == 0, f"{text}\n{done.stderr}"


def test_there_is_something_to_do_on_each_page_of_a_question() -> None:
    for page in ("tutorial", "pictures", "look", "export", "report", "python", "cite", "commands"):
        assert len(list(steps(f"{page}.md"))) >= 1, page


def _notebook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("notebook", DOCS / "notebook.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_gallery_is_what_its_notebook_gives(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    module = _notebook()
    (tmp_path / "configs").symlink_to(CONFIGS, target_is_directory=True)
    source = nbformat.read(DOCS / "gallery.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in source.cells)
    module.write_page(module.execute(source, tmp_path), tmp_path / "gallery.md")
    assert (tmp_path / "gallery.md").read_text() == (DOCS / "gallery.md").read_text()
    drawn = sorted(file.name for file in (tmp_path / "images" / "gallery").iterdir())
    assert drawn == sorted(file.name for file in (DOCS / "images" / "gallery").iterdir())
    assert len(drawn) == 9
    assert all((tmp_path / "images" / "gallery" / name).stat().st_size > 10_000 for name in drawn)


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    mkdocs = shutil.which("mkdocs", path=str(Path(sys.executable).parent))
    if mkdocs is None:
        pytest.skip("mkdocs is not installed")
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [mkdocs, "build", "--strict", "--site-dir", tmp_path / "site"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    reference = (tmp_path / "site" / "reference.html").read_text()
    for name in ("load_sweep", "SweepAccessor", "picture", "Parameter"):
        assert name in reference
