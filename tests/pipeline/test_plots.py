"""Pictures show the numbers that they are given, whole and with their units."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from pipeline import load_sweep, open_sweep, run
from pipeline.config import SweepConfig
from pipeline.errors import UserError
from pipeline.plots import KINDS, STYLE, board, choose_kind, errors, heatmap, lines, picture, save
from pipeline.plots_board import _place

CLASSIC = "chance=jail=1,back-3=1"
HARSH = "chance=jail=6,back-3=1"


def values(size: int) -> xr.DataArray:
    numbers = np.linspace(0.01, 0.04, size)
    return xr.DataArray(numbers, dims="square", coords={"square": np.arange(size)})


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


@pytest.fixture(scope="module")
def odds(tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    from conftest import CONFIGS

    return run(load_sweep(CONFIGS / "monopoly_odds.yaml"), tmp_path_factory.mktemp("odds") / "s.zarr")


@pytest.fixture(scope="module")
def race(tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    from conftest import CONFIGS

    return run(load_sweep(CONFIGS / "monopolies.yaml"), tmp_path_factory.mktemp("race") / "s.zarr")


@pytest.fixture(scope="module")
def die(tmp_path_factory: pytest.TempPathFactory) -> xr.Dataset:
    from conftest import CONFIGS

    config = load_sweep(CONFIGS / "hidden_die.yaml", ["dice=[2,3]", "sides=[4,5,6]"])
    return run(config, tmp_path_factory.mktemp("die") / "s.zarr")


def simulated() -> xr.Dataset:
    exact = np.full(40, 1 / 40)
    names = np.array([f"S{i}" for i in range(40)], dtype=object)
    return xr.Dataset(
        {
            "frequency": ("square", exact + np.where(np.arange(40) % 2, 1e-4, -1e-4), {"long_name": "fraction of rolls"}),
            "standard_error": ("square", np.full(40, 1e-4)),
            "exact": ("square", exact),
            "status": ((), np.uint8(1)),
        },
        coords={"square": ("square", np.arange(40), {"long_name": "square"}), "square_name": ("square", names)},
    )


def test_every_square_is_drawn_with_its_number_and_the_first_three_are_marked() -> None:
    ax = Figure().subplots()
    assert board(ax, values(40), {"red": [21, 23, 24]}, title="odds") is ax
    drawn = [text.get_text() for text in ax.texts]
    assert drawn.count("1.00") == drawn.count("4.00") == 1
    assert {"1", "2", "3"} <= set(drawn)
    assert "odds" in drawn


def test_changes_carry_their_sign_and_squares_without_a_value_are_empty() -> None:
    ax = Figure().subplots()
    change = values(40) - 0.025
    change[7] = np.nan
    board(ax, change, signed=True)
    drawn = [text.get_text() for text in ax.texts]
    assert drawn.count("+1.50") == drawn.count("\N{MINUS SIGN}1.50") == 1
    assert drawn.count("\N{EN DASH}") == 1


def test_no_two_squares_overlap_and_none_is_missing() -> None:
    for side in (2, 10):
        corners = {tuple(round(v, 6) for v in _place(square, side)[:2]) for square in range(4 * side)}
        assert len(corners) == 4 * side
        assert sum(np.prod(_place(square, side)[2:]) for square in range(4 * side)) == pytest.approx(
            4 * 1.45**2 + 4 * (side - 1) * 1.45
        )


@pytest.mark.parametrize("size", [4, 39])
def test_a_board_that_does_not_close_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="multiple of four"):
        board(Figure().subplots(), values(size))


def test_the_picture_suits_the_answer(odds: xr.Dataset, race: xr.Dataset, die: xr.Dataset) -> None:
    assert choose_kind(odds) == choose_kind(race) == "board"
    assert choose_kind(die) == "value"
    assert choose_kind(die.sel(dice=3, sides=6)) == "strategy"
    assert choose_kind(simulated()) == "errors"
    assert choose_kind(odds, "residual") == "heatmap"
    assert choose_kind(odds.isel(chance=0), "residual") == "lines"


def test_a_board_shows_the_standard_game_unless_told_otherwise(odds: xr.Dataset) -> None:
    shown = texts(picture(odds))
    assert {"JAIL", "6.24", "E3", "3.18", f"sides=6, {CLASSIC}"} <= set(shown)
    four = odds["probability"].sel(sides=4, chance="jail=1,back-3=1", square=10).item()
    assert f"{100 * four:.2f}" in texts(picture(odds, selections=["sides=4"]))


def test_a_race_is_shaded_by_the_second_players_chance(race: xr.Dataset) -> None:
    shown = texts(picture(race))
    assert {"22", "12.12", "30", "11.91", "player=2"} <= set(shown)


def test_the_first_movers_advantage_is_a_change_between_players(race: xr.Dataset) -> None:
    first = race["first"].sel(target=7)
    advantage = 100 * (first.sel(player=1) - first.sel(player=2)).item()
    shown = texts(picture(race, selections=["player=1"], against=["player=2"]))
    assert f"{advantage:+.2f}" in shown
    assert any("change from player=2" in text for text in shown)


def test_the_change_of_a_deck_is_a_signed_board(odds: xr.Dataset) -> None:
    point = odds["probability"].sel(sides=6, square=10)
    change = 100 * (point.sel(chance="jail=6,back-3=1") - point.sel(chance="jail=1,back-3=1")).item()
    shown = texts(picture(odds, selections=[HARSH], against=[CLASSIC]))
    assert f"{change:+.2f}" in shown
    assert any(f"change from {CLASSIC}" in text for text in shown)


def test_tips_say_what_is_under_the_pointer(odds: xr.Dataset, tmp_path: Path) -> None:
    save(picture(odds), tmp_path / "board.svg")
    drawn = (tmp_path / "board.svg").read_text()
    jail = 100 * odds["probability"].sel(sides=6, chance="jail=1,back-3=1", square=10).item()
    assert f"<title>JAIL: {jail:.6g} %</title>" in drawn
    assert drawn.count('class="tip"') == 40
    save(picture(odds, "heatmap"), tmp_path / "map.svg")
    assert (tmp_path / "map.svg").read_text().count('class="tip"') == 40 * 19


def test_an_answer_of_two_axes_is_a_heat_map_with_every_label(odds: xr.Dataset) -> None:
    figure = picture(odds.isel(square=slice(0, 12)), "heatmap")
    assert {"sides of each die", "JAIL", "20"} <= set(texts(figure))


def test_lines_say_which_is_which_and_keep_the_largest(odds: xr.Dataset) -> None:
    figure = picture(odds, "lines")
    (legend,) = figure.findobj(mpl.legend.Legend)
    assert "JAIL" in [text.get_text() for text in legend.get_texts()]
    assert len(legend.get_texts()) == 6
    assert any("the six largest of 40 along square" in text for text in texts(figure))


def test_lines_of_lines_can_be_told_apart_without_colour(die: xr.Dataset) -> None:
    ax = Figure().subplots()
    lines(ax, die["value"])
    drawn = [line for line in ax.lines if not line.get_label().startswith("_")]
    assert len({(line.get_linestyle(), line.get_marker()) for line in drawn}) == len(drawn) == 2


def test_value_and_saving_stand_side_by_side(die: xr.Dataset) -> None:
    figure = picture(die)
    assert {"value", "saving", "sides of each die", "dice"} <= set(texts(figure))


def test_a_strategy_shows_the_chances_as_fractions(die: xr.Dataset) -> None:
    figure = picture(die, selections=["dice=3", "sides=6"])
    shown = texts(figure)
    assert {"5/12", "7/12", "1 3 4", "faces seen"} <= set(shown)
    assert any("dice=3, sides=6" in text for text in shown)
    assert shown.count("3/4") == 4


def test_a_strategy_in_the_store_is_the_one_that_is_drawn(load: Callable[..., SweepConfig], tmp_path: Path) -> None:
    from pipeline.answer import point_details

    config = load("study: hidden-die\nparameters: {dice: [2], sides: [4, 6], strategies: true}")
    dataset = run(config, tmp_path / "s.zarr").sel(dice=2, sides=4)
    assert point_details(dataset)["roll"].attrs["long_name"] == "faces rolled"


def test_frequencies_stand_over_exact_values_with_two_standard_errors() -> None:
    figure = picture(simulated())
    assert any("40 of 40 within two standard errors" in text for text in texts(figure))
    (bars,) = figure.axes[0].containers
    half = np.diff(np.array(bars.lines[2][0].get_segments())[:, :, 1], axis=1) / 2
    assert half == pytest.approx(2e-4)


def test_frequencies_are_compared_with_the_exact_point_of_another_store(odds: xr.Dataset) -> None:
    probability = odds["probability"].sel(sides=6, chance="jail=1,back-3=1").load()
    frequency = xr.Dataset(
        {"frequency": probability + 3e-4, "standard_error": xr.zeros_like(probability) + 1e-4, "status": ((), np.uint8(1))}
    )
    assert any("0 of 40 within" in text for text in texts(picture(frequency, exact=odds)))


def test_the_exact_point_is_found_by_the_contents_of_its_deck_and_never_under_other_rules(
    odds: xr.Dataset, tmp_path: Path
) -> None:
    from conftest import CONFIGS

    config = load_sweep(CONFIGS / "simulation.yaml", ["sides=6", "rolls=20000", "deck_memory=[shuffled, cycle]"])
    played = run(config, tmp_path / "s.zarr")
    figure = picture(played, exact=odds)
    assert any("of 40 within two standard errors" in text for text in texts(figure))
    assert len(figure.axes) == 2
    truth = odds["probability"].sel(sides=6, chance="jail=1,back-3=1", square=10).item()
    frequency = played["frequency"].sel(deck_memory="shuffled", square=10).item()
    error = played["standard_error"].sel(deck_memory="shuffled", square=10).item()
    drawn = [line.get_ydata()[0] for line in figure.axes[1].lines if line.get_xdata()[0] == 10]
    assert drawn == pytest.approx([(frequency - truth) / error])
    with pytest.raises(UserError, match="no point with deck_memory=cycle"):
        picture(played, selections=["deck_memory=cycle"], exact=odds)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_nothing_sticks_out_of_a_picture(kind: str, odds: xr.Dataset, die: xr.Dataset) -> None:
    source = {"errors": simulated(), "value": die, "strategy": die}.get(kind, odds)
    with mpl.rc_context(STYLE):
        figure = picture(source, kind, against=["sides=4"] if kind == "change" else ())
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        drawn = figure.get_tightbbox(canvas.get_renderer())
    width, height = figure.get_size_inches()
    assert drawn.width > 0.8 * width
    assert drawn.x0 >= -0.02
    assert drawn.y0 >= -0.02
    assert drawn.x1 <= width + 0.02
    assert drawn.y1 <= height + 0.02


def test_a_light_map_is_ordered_in_grey() -> None:
    shades = mpl.colormaps["YlGnBu"](np.linspace(0, 1, 64))[:, :3] @ [0.299, 0.587, 0.114]
    assert (np.diff(shades) < 0).all()


def test_the_same_picture_is_the_same_bytes(odds: xr.Dataset, tmp_path: Path) -> None:
    for suffix in ("svg", "png", "pdf"):
        for name in "ab":
            save(picture(odds), tmp_path / f"{name}.{suffix}")
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("bord", {}, "did you mean 'board'"),
        ("board", {"variable": "probabilty"}, "did you mean 'probability'"),
        ("change", {}, "say what the change is from"),
        ("value", {}, "there is no variable 'value'"),
        ("strategy", {}, "keeps no tables of single points"),
        ("errors", {}, "there is no variable 'frequency'"),
        ("board", {"selections": ["sides=99"]}, "no label of sides is '99'"),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_one_line(
    odds: xr.Dataset, kind: str, change: dict[str, object], message: str
) -> None:
    with pytest.raises(UserError, match=message) as caught:
        picture(odds, kind, **change)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_a_picture_of_nothing_is_refused(load: Callable[..., SweepConfig], tmp_path: Path) -> None:
    run(load("parameters: {x: [13, 14]}"), tmp_path / "s.zarr")
    with pytest.raises(UserError, match="at least one value"):
        picture(open_sweep(tmp_path / "s.zarr"))
    with pytest.raises(UserError, match="one number here"):
        picture(open_sweep(tmp_path / "s.zarr").isel(x=0))


def test_a_file_of_another_sort_is_refused(odds: xr.Dataset, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"ends in .png, .svg or .pdf"):
        save(picture(odds), tmp_path / "board.jpg")
    with pytest.raises(UserError, match="cannot be written"):
        save(picture(odds), tmp_path / "nowhere" / "board.png")


def test_functions_refuse_shapes_that_they_cannot_draw() -> None:
    ax = Figure().subplots()
    with pytest.raises(ValueError, match="two dimensions"):
        heatmap(ax, values(8))
    with pytest.raises(ValueError, match="cannot be told apart"):
        lines(ax, xr.DataArray(np.ones((11, 3)), dims=("a", "b"), coords={"a": np.arange(11), "b": np.arange(3)}))
    with pytest.raises(ValueError, match="the same one dimension"):
        errors(ax, values(8), values(12))
