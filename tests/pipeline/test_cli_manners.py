"""The command line behaves as one expects: data and messages apart, no colours in a pipe, exit codes, completion."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest
from conftest import CONFIGS, ROOT

from pipeline import load_sweep, run


@pytest.fixture(scope="module")
def race(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stores") / "race.zarr"
    run(load_sweep(CONFIGS / "monopolies.yaml"), path)
    return path


@pytest.fixture
def call(command: str, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run_command(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "COLUMNS": "100", **variables}
        return subprocess.run(
            [command, *map(str, arguments)], capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=120
        )

    return run_command


def test_the_version_is_that_of_the_distribution(call: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    assert call("--version").stdout == f"dicesweep {metadata.version('dicesweep')}\n"


def test_quiet_leaves_data_and_mistakes(call: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    done = call("--quiet", "run", CONFIGS / "monopolies.yaml", "--store", tmp_path / "s.zarr")
    assert (done.returncode, done.stderr) == (0, "")
    assert "0.121227" in done.stdout
    loud = call("run", CONFIGS / "monopolies.yaml", "--store", tmp_path / "s.zarr")
    assert loud.stdout == done.stdout
    assert "nothing is pending" in loud.stderr
    wrong = call("-q", "show", tmp_path / "none.zarr")
    assert wrong.returncode == 2
    assert len(wrong.stderr.splitlines()) == 1


def test_there_are_colours_on_a_terminal_and_none_in_a_pipe(
    command: str, call: Callable[..., subprocess.CompletedProcess[str]], race: Path
) -> None:
    assert "\x1b[" not in call("show", race).stdout
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    environment.pop("NO_COLOR", None)
    subprocess.run([command, "show", race], stdout=slave, env=environment, check=True, timeout=60)
    os.close(slave)
    assert b"\x1b[1m" in os.read(master, 4096)
    os.close(master)


@pytest.mark.parametrize(("words", "found"), [("dicesweep pl", {"plan", "plot"}), ("dicesweep exp", {"export"})])
def test_the_shell_completes_commands(
    call: Callable[..., subprocess.CompletedProcess[str]], words: str, found: set[str]
) -> None:
    done = call(_DICESWEEP_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD="1")
    assert set(done.stdout.split()) == found


def test_every_command_says_what_it_does_with_an_example(call: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    commands = re.findall(r"^  ([a-z]+)  ", call("--help").stdout.partition("Commands:")[2], re.MULTILINE)
    assert {"run", "plan", "show", "plot", "report", "export", "compare", "status"} <= set(commands)
    for name in set(commands) - {"studies"}:
        assert f"dicesweep {name} " in call(name, "--help").stdout, name


def test_the_page_on_commands_names_every_command_and_exit_code(call: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    page = (ROOT / "docs" / "commands.md").read_text()
    for name in re.findall(r"^  ([a-z]+)  ", call("--help").stdout.partition("Commands:")[2], re.MULTILINE):
        assert f"`{name}" in page, name
    assert re.findall(r"^\| (\d+) \|", page, re.MULTILINE) == ["0", "1", "2", "130"]
