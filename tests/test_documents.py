"""What the README and the docs say is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT

from pipeline import load_sweep, run
from pipeline.config import build_sweep
from pipeline.document import Source, parse_document

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def test_the_analysis_in_the_readme_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run(load_sweep(ROOT / "configs" / "monopoly_odds.yaml"))
    (code,) = blocks(ROOT / "README.md", "python")
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "['101524' '102400']"
    assert printed[1].startswith("0.0624")
    assert len(printed[2].split()) >= 7


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sweeps_in_the_docs_are_valid(page: Path) -> None:
    if page.name == "own-study.md":
        pytest.skip("its study is not installed; tests/pipeline/test_own_study.py installs and runs it")
    for text in blocks(page, "yaml"):
        raw, source = parse_document(text, str(page))
        if not isinstance(raw, dict) or not {"study", "parameters", "zip", "cases", "exclude"} & set(raw):
            continue
        if "exclude" in raw and "parameters" not in raw:
            raw["parameters"] = {"sides": [2, 6], "chance": {"vary": "classic", "cards": {"jail": [0, 1], "back-3": [0, 1]}}}
        sweep = build_sweep({"study": "stationary", **raw}, Source(source.name, {}), ROOT / "configs", "x.zarr").sweep
        assert sweep.points >= 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_no_page_names_a_path_or_a_host_of_one_machine() -> None:
    for page in PAGES:
        assert not re.search(r"(^|[\s(])/(home|root|work|tmp|opt)/", page.read_text()), page
