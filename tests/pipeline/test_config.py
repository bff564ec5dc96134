"""A sweep file becomes a sweep, or one line that says which file, line and key, what is wrong, and what would be right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import CONFIGS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.config import SweepConfig, load_sweep
from pipeline.document import Source
from pipeline.errors import UserError
from pipeline.series import expand_series

Load = Callable[..., SweepConfig]


def test_one_value_is_fixed_and_several_are_an_axis(load: Load) -> None:
    sweep = load("parameters: {x: {range: [2, 6, 2]}, y: [0.5], mode: b}").sweep
    assert [(d.name, d.labels) for d in sweep.dimensions] == [("x", (2, 4, 6)), ("y", (0.5,))]
    assert sweep.fixed["mode"].label == "b"
    assert sweep.fixed["pause"].label == 0.0
    assert sweep.points == 3


def test_dimensions_follow_the_study_and_not_the_file(load: Load) -> None:
    one = load("parameters: {mode: [a, b], x: [1, 2]}").sweep
    two = load("parameters: {x: [1, 2], mode: [a, b]}").sweep
    assert [d.name for d in one.dimensions] == ["x", "mode"]
    assert one.plain() == two.plain()


def test_a_whole_number_will_do_for_a_real_one(load: Load) -> None:
    assert load("parameters: {y: [1, 2.5]}").sweep.dimensions[0].labels == (1.0, 2.5)


@pytest.mark.parametrize(
    ("series", "values"),
    [
        ({"range": [2, 5]}, [2, 3, 4, 5]),
        ({"range": [5, 2, -1]}, [5, 4, 3, 2]),
        ({"range": [0, 0.3, 0.1]}, [0, 0.1, 0.2, 0.30000000000000004]),
        ({"linspace": [0, 1, 3]}, [0, 0.5, 1]),
        ({"geomspace": [1, 100, 3]}, [1, 10, 100]),
    ],
)
def test_series_stand_for_their_values(series: dict[str, list[float]], values: list[float]) -> None:
    assert list(expand_series(series, 100)) == pytest.approx(values, abs=0)


def test_zipped_parameters_share_a_dimension(load: Load) -> None:
    sweep = load("zip: {variant: {mode: [a, b, c], x: {range: [1, 3]}}}\nparameters: {y: [1.0, 2.0]}").sweep
    assert [(d.name, d.size, d.zipped) for d in sweep.dimensions] == [("variant", 3, True), ("y", 2, False)]
    assert sweep.dimensions[0].labels == ("x=1,mode=a", "x=2,mode=b", "x=3,mode=c")
    assert {name: value.label for name, value in sweep.at((1, 0)).items()} == {"x": 2, "y": 1.0, "mode": "b", "pause": 0.0}


def test_cases_are_a_dimension_of_their_own(load: Load) -> None:
    sweep = load("cases: [{x: 1, mode: a}, {x: 1, mode: b}]").sweep
    assert sweep.dimensions[0].name == "case"
    assert sweep.dimensions[0].labels == ("x=1,mode=a", "x=1,mode=b")


def test_excluded_points_are_known(load: Load) -> None:
    sweep = load("parameters: {x: {range: [1, 4]}, mode: [a, b]}\nexclude: x > 2 and mode == 'a'").sweep
    assert sweep.excluded((slice(None), slice(None))).tolist() == [[False, False], [False, False], [True, False], [True, False]]
    assert sweep.excluded((slice(2, 3), slice(0, 1))).tolist() == [[True]]
    assert sweep.excluded_points == 2


def test_a_family_of_decks_keeps_its_counts_beside_its_labels() -> None:
    sweep = load_sweep(CONFIGS / "monopoly_odds.yaml").sweep
    chance = sweep.dimensions[1]
    assert chance.labels[:3] == ("jail=0,back-3=0", "jail=0,back-3=1", "jail=1,back-3=0")
    assert chance.columns[0].details["chance_jail"][:3] == (0, 0, 1)
    assert chance.columns[0].details["chance_back_3"][:3] == (0, 1, 0)
    assert all(value.value.size == 16 for value in chance.columns[0].values)
    assert sweep.shape == (19, 14)


def test_the_counts_of_a_family_may_be_excluded(write: Callable[..., Path]) -> None:
    text = "study: stationary\nparameters: {chance: {vary: classic, cards: {jail: [0, 1, 2]}}}\nexclude: chance_jail > 1"
    assert load_sweep(write(text)).sweep.excluded_points == 1


def test_a_deck_may_be_named_or_written_in_place_or_lie_beside_the_file(write: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "decks").mkdir()
    (tmp_path / "decks" / "mine.yaml").write_text("chance: {cards: {jail: 3, stay: 1}}")
    text = "study: stationary\nparameters: {chance: [mine, classic, {cards: {stay: 2}}, {name: harsh, cards: {jail: 1}}]}"
    assert load_sweep(write(text)).sweep.dimensions[0].labels == ("mine", "classic", "stay=2", "harsh")


def test_a_board_brings_its_own_decks(write: Callable[..., Path]) -> None:
    fixed = load_sweep(write("study: stationary\nparameters: {board: monopolies}")).sweep.fixed
    assert fixed["chance"].label == "monopolies"
    assert fixed["chest"].label == "none"


def test_overrides_replace_values_and_say_where_they_came_from(write: Callable[..., Path]) -> None:
    path = write("parameters: {x: [1, 2]}")
    assert load_sweep(path, ["x=7", "seed=3"]).sweep.fixed["x"].label == 7
    assert load_sweep(path, ["x={range: [1, 9]}"]).sweep.points == 9
    with pytest.raises(UserError, match=r"sweep.yaml \(--set\): parameters.x.1: "):
        load_sweep(path, ["x=[1, -2]"])
    with pytest.raises(UserError, match="write it as key=value"):
        load_sweep(path, ["x"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("parametres: {x: 1}", ":2: parametres: unknown key; did you mean 'parameters'?"),
        ("parameters: {z: 1}", ":2: parameters.z: toy:STUDY has no parameter 'z'"),
        (
            "parameters:\n  x: -1",
            ":3: parameters.x: should be greater than or equal to 0 (got -1); allowed: whole number from 0",
        ),
        ("parameters: {x: 1.5}", "parameters.x: should be a valid integer"),
        ("parameters: {x: true}", "parameters.x: should be a valid integer"),
        ("parameters: {x: '1'}", "parameters.x: should be a valid integer"),
        ("parameters: {x: null}", "parameters.x: should be a valid integer"),
        ("parameters: {y: .nan}", "parameters.y: should be a finite number"),
        ("parameters: {y: .inf}", "parameters.y: should be a finite number"),
        ("parameters: {mode: d}", "parameters.mode: should be 'a', 'b' or 'c' (got 'd')"),
        ("parameters: {mode: {range: [1, 2]}}", "parameters.mode: should be 'a', 'b' or 'c' (got 1)"),
        ("parameters: {x: []}", "parameters.x: needs at least one value"),
        ("parameters: {x: [3, 3]}", "parameters.x: the value 3 is given twice"),
        ("parameters: {x: {range: [1, 1000000000000]}}", "parameters.x: the range has 1,000,000,000,000 values"),
        ("parameters: {x: {range: [5, 1]}}", "parameters.x: the range from 5 to 1 in steps of 1 is empty"),
        ("parameters: {x: {range: [1, 2, 0]}}", "parameters.x: the step of a range cannot be 0"),
        ("parameters: {x: {range: 5}}", "parameters.x: range needs [first, last]"),
        ("parameters: {y: {linspace: [0, 1, 0.5]}}", "parameters.y: linspace needs [first, last, count]"),
        ("parameters: {y: {geomspace: [0, 1, 5]}}", "parameters.y: geomspace needs two numbers of the same sign"),
        ("parameters: {x: {vary: a}}", "parameters.x: should be a valid integer"),
        ("parameters: 5", ":2: parameters: should be a valid dictionary"),
        ("seed: -1", ":2: seed: should be greater than or equal to 0"),
        ("seed: 1.5", ":2: seed: should be a valid integer"),
        ("zip: {variant: {x: [1, 2], mode: [a]}}", "zip.variant: these must have equally many values (x: 2, mode: 1)"),
        ("zip: {variant: {x: 1}}", "zip.variant.x: needs several values"),
        ("zip: {variant: {}}", "zip.variant: a zip needs at least one parameter"),
        ("zip: {method: {x: [1, 2]}}", "zip.method: an axis cannot be called 'method'"),
        ("zip: {tolerance: {x: [1, 2]}}", "an axis cannot be called 'tolerance'"),
        ("zip: {a/b: {x: [1, 2]}}", "the name of an axis must be a word"),
        ('zip: {"a\\nb": {x: [1, 2]}}', "the name of an axis must be a word"),
        ("zip: {product: {x: [1, 2]}}", "the name 'product' is taken"),
        ("zip: {status: {x: [1, 2]}}", "the name 'status' is taken"),
        ("zip: {y: {x: [1, 2]}}", "the name 'y' is taken"),
        ("zip: {v: {x: [1, 1], mode: [a, a]}}", "zip.v: the same combination is given twice"),
        ("zip: {v: {x: [1, 2]}}\nparameters: {x: 3}", "'x' is given twice"),
        ("cases: [{x: 1}, {mode: a}]", "cases.1: each case must give the same parameters (x)"),
        ("exclude: x.real > 1", ":2: exclude: 'x.real' is not allowed"),
        ("exclude: z > 1", ":2: exclude: unknown name 'z'"),
        ("exclude: mode > 1", ":2: exclude: cannot be evaluated: a string is compared with a number"),
        ("study: stationery", "study: unknown study 'stationery'; did you mean 'stationary'?"),
        ("study: nowhere:STUDY", "study: study 'nowhere:STUDY' cannot be imported"),
        ("study: toy:solve", "study: 'toy:solve' is not a Study"),
        ("study: stationary\nparameters: {chance: clasic}", "there is no decks/clasic.yaml; did you mean 'classic'?"),
        ("study: stationary\nparameters: {chance: ../secrets}", "'../secrets' is not the name of a file"),
        ("study: stationary\nparameters: {chance: 5}", "parameters.chance: must be the name of a file in decks/"),
        (
            "study: stationary\nparameters: {chance: {cards: {jail: -2}}}",
            "the count of jail must be a whole number from 0 (got -2)",
        ),
        (
            "study: stationary\nparameters:\n  chance:\n    vary: classic\n    cards:\n      jail: [-1]",
            ":6: parameters.chance.cards.jail:",
        ),
        (
            "study: stationary\nparameters: {chance: {vary: classic, cards: {jail: [8]}}}",
            "these counts need 17 cards, the deck has 16",
        ),
        ("study: stationary\nparameters: {chance: {vary: classic, crads: {}}}", "unknown key; did you mean 'cards'?"),
        ("study: stationary\nparameters: {chance: {vary: classic}}", "a family needs 'cards'"),
        ("study: stationary\nparameters: {chance: [{name: a/b, cards: {stay: 1}}]}", "a short line without slashes"),
        ("study: stationary\nparameters: {board: [monopoly, {size: 12}]}", "different"),
        ("study: stationary\nparameters: {board: {vary: monopoly, cards: {}}}", "board cannot be varied"),
    ],
)
def test_every_mistake_is_one_line_with_its_cure(write: Callable[..., Path], text: str, message: str) -> None:
    path = write(text)
    with pytest.raises(UserError) as caught:
        load_sweep(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_too_many_points_are_refused_before_they_are_counted_out(load: Load) -> None:
    with pytest.raises(UserError, match="are more than 10,000,000,000"):
        load("parameters: {x: {range: [0, 1000]}, y: {linspace: [0, 1, 1000000]}, pause: {linspace: [0, 1, 1000]}}")


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_shipped_sweep_is_valid(path: Path) -> None:
    assert load_sweep(path).sweep.points > 1


WORDS = ["a", "classic", "x", "range", "linspace", "vary", "cards", "jail", "y", "mode", "name", "size", "back-3"]

json_like = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 10**14)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["a", "classic", "x"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["range", "linspace", "vary", "cards", "jail", "x", "y", "mode", "name", "size", "back-3"])
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
top_keys = st.sampled_from(["study", "parameters", "zip", "cases", "exclude", "seed", "title", "store", "tilte"])
parameter_names = st.sampled_from(["x", "y", "mode", "chance", "chest", "board", "sides", "dice", "zz"])


@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    study=st.sampled_from(["toy:STUDY", "stationary"]) | json_like,
    parameters=st.dictionaries(parameter_names, json_like, max_size=4) | json_like,
    rest=st.dictionaries(top_keys, json_like, max_size=3),
)
def test_any_plain_data_is_a_sweep_or_one_clear_line(study: object, parameters: object, rest: dict[str, object]) -> None:
    from pipeline.config import build_sweep

    raw = {"parameters": parameters, **rest, "study": study}
    try:
        build_sweep(raw, Source("f.yaml", {}), CONFIGS, "out.zarr")
    except UserError as error:
        assert "\n" not in str(error)
