"""YAML is read by the core schema of 1.2, with a line for every value, and nothing that could grow without bound."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.document import parse_document, read_document
from pipeline.errors import UserError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("true", True),
        ("012", 12),
        ("0o17", 15),
        ("0x1F", 31),
        ("1_000", "1_000"),
        ("2026-01-01", "2026-01-01"),
        ("12:30:00", "12:30:00"),
        ("~", None),
        ("", None),
        (".5", 0.5),
        ("1.", 1.0),
        (".inf", math.inf),
        ("'5'", "5"),
        ('"no"', "no"),
        ("- 1", [1]),
        ("{}", {}),
        ("1: 2", {"1": 2}),
    ],
)
def test_scalars_follow_yaml_1_2(text: str, value: object) -> None:
    assert parse_document(text, "f")[0] == value


def test_every_value_has_the_line_of_its_key() -> None:
    text = "study: x\nparameters:\n  a: {range: [1,\n     3]}\n  b:\n    - 1\n    - c: 2\n"
    _, source = parse_document(text, "f.yaml")
    assert source.lines[("parameters",)] == 2
    assert source.lines[("parameters", "a", "range", 1)] == 4
    assert source.lines[("parameters", "b")] == 5
    assert source.lines[("parameters", "b", 1, "c")] == 7
    assert str(source.error(("parameters", "b", 1, "zzz"), "is wrong")) == "f.yaml:7: parameters.b.1.zzz: is wrong"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1\nb: 2", "f:2: not YAML"),
        ("a: 1\na: 2", "f:2: the key 'a' is given twice"),
        ("a: &x [1]\nb: *x", "f:1: anchors and aliases"),
        ("a: b: c", "f:1: not YAML"),
        ("--- 1\n--- 2", "f:2: the file holds more than one document"),
        ("a: \x01", "f: not YAML"),
        ("[" * 100, "f:1: nested deeper"),
        ("- " * 100 + "1", "f:1: nested deeper"),
        ("{[1]: 2}", "f:1: a key must be a plain word"),
        ("!!python/object/apply:os.system [ls]", "f:1: tags are not supported"),
        ("a: !!int 3", "f:1: tags are not supported"),
    ],
)
def test_what_is_not_plain_data_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_document(text, "f")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_bomb_of_aliases_does_not_go_off() -> None:
    bomb = "a: &a [x, x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(24))
    with pytest.raises(UserError, match="aliases"):
        parse_document(bomb, "f")


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    for path, message in ((tmp_path / "none.yaml", "no such file"), (tmp_path, "is a directory")):
        with pytest.raises(UserError, match=message):
            read_document(path)
    (tmp_path / "latin.yaml").write_bytes(b"title: caf\xe9\n")
    with pytest.raises(UserError, match=r"not UTF-8 text \(byte 0xe9 at offset 10\)"):
        read_document(tmp_path / "latin.yaml")
    (tmp_path / "huge.yaml").write_bytes(b"#" * 5_000_000)
    with pytest.raises(UserError, match="larger than 4 MB"):
        read_document(tmp_path / "huge.yaml")


@given(st.text(max_size=60))
def test_any_text_is_data_or_one_clear_line(text: str) -> None:
    try:
        parse_document(text, "f")
    except UserError as error:
        assert "\n" not in str(error)
