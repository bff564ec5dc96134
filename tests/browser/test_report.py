"""The report works in a browser: what it says, sorting, filtering, downloading, on a phone, in the dark, with many points."""

from __future__ import annotations

import csv
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import CONFIGS

from pipeline import load_sweep, open_sweep, run
from pipeline.page import write_page


@pytest.fixture(scope="module")
def odds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("odds")
    write_page(run(load_sweep(CONFIGS / "monopoly_odds.yaml"), folder / "odds.zarr"), folder / "report.html", "odds.zarr")
    return folder / "report.html"


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toys")
    sweep = folder / "toys.yaml"
    title, swept = "Fun <b>& games</b>", "{x: {range: [1, 20]}, mode: [a, b]}"
    sweep.write_text(f"study: toy:STUDY\ntitle: '{title}'\nparameters: {swept}\nexclude: x == 20 and mode == 'b'\n")
    write_page(run(load_sweep(sweep), folder / "toys.zarr"), folder / "report.html", "toys.zarr")
    return folder / "report.html"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    write_page(run(load_sweep(CONFIGS / "monopolies_sweep.yaml"), folder / "race.zarr"), folder / "report.html", "race.zarr")
    return folder / "report.html"


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[[Path], Any]]:
    def open_page(path: Path, width: int = 1280, height: int = 900, scheme: str = "light") -> Any:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        browser.get_log("browser")
        browser.get_log("performance")
        browser.get(path.as_uri())
        return browser

    yield open_page
    assert [entry["message"] for entry in browser.get_log("browser")] == []
    requests = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [r["params"]["request"]["url"] for r in requests if r["method"] == "Network.requestWillBeSent"]
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def rows(page: Any) -> list[list[str]]:
    script = "return [...document.querySelectorAll('#rows tr')].map(r => [...r.cells].map(c => c.textContent))"
    return page.execute_script(script)  # type: ignore[no-any-return]


def heads(page: Any) -> list[str]:
    return page.execute_script("return [...document.querySelectorAll('#heads button')].map(b => b.textContent)")  # type: ignore[no-any-return]


def column(page: Any, name: str) -> list[str]:
    at = heads(page).index(name)
    return [row[at] for row in rows(page)]


def click_head(page: Any, name: str) -> None:
    page.find_elements("css selector", "#heads button")[heads(page).index(name)].click()


def filter_by(page: Any, name: str, text: str) -> None:
    field = page.find_element("css selector", f"input[aria-label='Filter {name}']")
    field.clear()
    field.send_keys(text)
    before = page.find_element("id", "count").text
    deadline = time.monotonic() + 2
    while page.find_element("id", "count").text == before and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.2)


def count(page: Any) -> str:
    return page.find_element("id", "count").text  # type: ignore[no-any-return]


def test_the_page_says_what_was_asked_and_what_came_out(opened: Callable[..., Any], odds: Path) -> None:
    page = opened(odds)
    text = page.find_element("tag name", "main").text
    assert page.title == "Monopoly odds over dice sides and chance decks"
    for words in ("102400", "sides of each die", "dicesweep reproduce odds.zarr", "Project Euler, problem 84", "Chance"):
        assert words.lower() in text.lower(), words
    assert "266 points" in page.find_element("css selector", ".counts").text
    assert len(page.find_elements("css selector", "figure svg")) == 3
    assert count(page) == "266 points"


def test_pointing_at_a_square_tells_its_value(opened: Callable[..., Any], odds: Path) -> None:
    from selenium.webdriver import ActionChains

    page = opened(odds)
    value = 100 * open_sweep(odds.parent / "odds.zarr")["probability"].sel(sides=6, chance="jail=1,back-3=1", square=10).item()
    (jail,) = page.find_elements("css selector", f"[data-tip='JAIL: {value:.6g} %']")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", jail)
    ActionChains(page).move_to_element(jail).perform()
    assert page.find_element("id", "tip").text == f"JAIL: {value:.6g} %"


def test_columns_sort_both_ways_by_mouse_and_keyboard(opened: Callable[..., Any], toys: Path) -> None:
    from selenium.webdriver import Keys

    page = opened(toys)
    click_head(page, "product")
    numbers = [float(text) for text in column(page, "product") if text]
    assert numbers[0] == 1
    assert numbers == sorted(numbers)
    assert column(page, "product")[-1] == ""
    button = page.find_elements("css selector", "#heads button")[heads(page).index("product")]
    button.send_keys(Keys.ENTER)
    numbers = [float(text) for text in column(page, "product") if text]
    assert numbers[0] == 20
    assert numbers == sorted(numbers, reverse=True)
    assert column(page, "product")[-1] == ""
    assert [head.get_attribute("aria-sort") for head in page.find_elements("css selector", "#heads th[aria-sort]")] == [
        "descending"
    ]


@pytest.mark.parametrize(
    ("name", "text", "number"),
    [
        ("mode", "a", 20), ("x", "4..8", 10), ("x", ">15", 10), ("x", "<=2", 4), ("x", "=3", 2), ("x", "7", 2),
        ("status", "=failed", 4), ("text", "1a", 2), ("failure", "thirteen", 2), ("x", "18..", 6),
    ],
)  # fmt: skip
def test_filters_leave_what_they_say(opened: Callable[..., Any], toys: Path, name: str, text: str, number: int) -> None:
    page = opened(toys)
    assert count(page) == "40 points"
    filter_by(page, name, text)
    assert count(page) == f"{number} of 40 points"
    assert len(rows(page)) == number
    page.find_element("id", "clear").click()
    assert count(page) == "40 points"


def test_a_filter_that_cannot_be_meant_is_marked_and_ignored(opened: Callable[..., Any], toys: Path) -> None:
    page = opened(toys)
    filter_by(page, "x", "many")
    assert count(page) == "40 points"
    assert page.find_element("css selector", "input[aria-label='Filter x']").get_attribute("aria-invalid") == "true"


def test_failures_are_listed_and_lead_to_their_points(opened: Callable[..., Any], toys: Path) -> None:
    page = opened(toys)
    assert "thirteen brings bad luck" in page.find_element("id", "failures").text
    page.find_element("id", "show-failed").click()
    assert set(column(page, "status")) == {"failed"}
    assert count(page) == "4 of 40 points"


def test_text_from_a_sweep_is_text_and_not_markup(opened: Callable[..., Any], toys: Path) -> None:
    page = opened(toys)
    assert page.find_element("tag name", "h1").text == "Fun <b>& games</b>"


def test_what_is_shown_can_be_downloaded_in_full_precision(opened: Callable[..., Any], toys: Path, downloads: Path) -> None:
    page = opened(toys)
    filter_by(page, "mode", "b")
    click_head(page, "x")
    click_head(page, "x")
    page.find_element("id", "download").click()
    deadline = time.monotonic() + 10
    while not (found := list(downloads.glob("*.csv"))):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    with found[0].open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [int(row["x"]) for row in table] == list(range(20, 0, -1))
    draws = open_sweep(toys.parent / "toys.zarr")["draw"].sel(mode="b").values
    assert [float(row["draw"]) for row in table if row["status"] == "done"] == [
        draws[int(row["x"]) - 1] for row in table if row["status"] == "done"
    ]
    assert sum(row["status"] == "done" for row in table) == 17


def test_a_hundred_thousand_points_stay_usable(opened: Callable[..., Any], many: Path) -> None:
    page = opened(many)
    assert count(page) == "108,108 points"
    assert len(rows(page)) < 120
    click = "const t = performance.now(); arguments[0].click(); document.body.offsetHeight; return performance.now() - t"
    button = page.find_elements("css selector", "#heads button")[heads(page).index("first_2")]
    assert page.execute_script(click, button) < 3000
    filter_by(page, "target", "22")
    assert count(page) == "2,772 of 108,108 points"
    page.find_element("id", "clear").click()
    page.execute_script("const g = document.getElementById('grid'); g.scrollTop = g.scrollHeight")
    time.sleep(0.3)
    last = rows(page)[-1]
    highest = float(open_sweep(many.parent / "race.zarr")["first"].sel(player=2).max())
    assert float(last[heads(page).index("first_2")]) == pytest.approx(highest, rel=1e-6)
    assert len(rows(page)) < 120


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_nothing_is_wider_than_the_screen_and_text_stands_out(
    opened: Callable[..., Any], odds: Path, width: int, scheme: str
) -> None:
    page = opened(odds, width, 800, scheme)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    colours = page.execute_script(
        "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor,"
        " getComputedStyle(document.querySelector('figure svg text')).fill]"
    )
    ink, paper, drawn = (_luminance(colour) for colour in colours)
    assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) > 7
    assert (paper < 0.1) == (scheme == "dark")
    assert (max(drawn, paper) + 0.05) / (min(drawn, paper) + 0.05) > 4.5 or drawn == 0


def _luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_table_scrolls_by_keyboard(opened: Callable[..., Any], odds: Path) -> None:
    from selenium.webdriver import Keys

    page = opened(odds)
    grid = page.find_element("id", "grid")
    assert column(page, "sides")[-1] != "20"
    grid.send_keys(Keys.END)
    deadline = time.monotonic() + 5
    while column(page, "sides")[-1] != "20" and time.monotonic() < deadline:
        time.sleep(0.05)
    assert column(page, "sides")[-1] == "20"
