"""The command ``dicesweep``.

Data goes to standard output, messages to standard error.  Exit codes: 0 all is well, 1 some points failed, 2 the user's input
is wrong (one line says how), 130 interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from pipeline.cli_view import show_store, view
from pipeline.errors import UserError

if TYPE_CHECKING:
    from pipeline.run import Outcome, Plan

app = typer.Typer(
    name="dicesweep",
    help="Answers about dice-and-card board games for a whole grid of rules at once.\n\n"
    "Start with:  dicesweep run configs/monopoly_odds.yaml",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

Config = Annotated[str, typer.Argument(help="Sweep file, such as configs/monopoly_odds.yaml.", show_default=False)]
StorePath = Annotated[str, typer.Argument(help="Path of a store, such as outputs/monopoly_odds.zarr.", show_default=False)]
StoreOption = Annotated[str | None, typer.Option("--store", help="Where the answer goes, instead of what the file says.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Replace a value of the file, in YAML: --set sides=[4,6]."),
]
WorkersOption = Annotated[int | None, typer.Option("--workers", min=1, help="Threads or processes on this machine.")]
SchedulerOption = Annotated[str | None, typer.Option("--scheduler", help="A running Dask scheduler, tcp://host:8786.")]


@app.command()
def run(
    config: Config,
    store: StoreOption = None,
    settings: SetOption = None,
    workers: WorkersOption = None,
    scheduler: SchedulerOption = None,
) -> None:
    """Compute whatever is pending of a sweep, and show its headline.

    Run the same command again to go on after an interruption: what is done stays done.

    Examples
    --------
      dicesweep run configs/monopoly_odds.yaml

      dicesweep run configs/monopoly_odds.yaml --store outputs/six.zarr --set sides=6

      dicesweep run configs/monopoly_odds_large.yaml --scheduler tcp://127.0.0.1:8786
    """
    from pipeline.config import load_sweep
    from pipeline.progress import Progress
    from pipeline.report import duration
    from pipeline.run import execute, make_plan

    loaded = load_sweep(config, settings or ())
    plan = make_plan(loaded.sweep, store or loaded.store, workers, scheduler)
    if plan.pending:
        left = "" if plan.pending == plan.sweep.points else f", {plan.pending:,} of them pending"
        err.print(f"{plan.sweep.points:,} points{left}, on {plan.place}", soft_wrap=True)
        with Progress(plan, err) as progress:
            outcome = execute(plan, progress)
    else:
        outcome = None
        err.print(f"{plan.path}: nothing is pending, so nothing was computed", soft_wrap=True)
    if outcome and outcome.interrupted:
        _report_interruption(plan, outcome)
        raise typer.Exit(130)
    show_store(plan.path)
    if outcome:
        rate = (outcome.done + outcome.failed) / outcome.seconds
        message = f"{outcome.done:,} points done in {duration(outcome.seconds)} beyond start-up, {rate:,.0f} a second"
        err.print(f"{message}; the answer is in {plan.path}", soft_wrap=True)
        if outcome.failed:
            err.print(f"{outcome.failed:,} points failed, the first because: {outcome.failure}", soft_wrap=True)
            raise typer.Exit(1)


def _report_interruption(plan: Plan, outcome: Outcome) -> None:
    from pipeline.run import make_plan

    left = make_plan(plan.sweep, plan.path).pending
    done = outcome.done + outcome.failed + outcome.excluded
    err.print(f"interrupted: {done:,} points were finished, {left:,} are pending; the same command goes on", soft_wrap=True)


@app.command()
def plan(
    config: Config,
    store: StoreOption = None,
    settings: SetOption = None,
    workers: WorkersOption = None,
    scheduler: SchedulerOption = None,
) -> None:
    """Say what a run would do: axes, points, blocks, size, time, what is done and what is left.  Writes nothing.

    Example:

      dicesweep plan configs/monopoly_odds_large.yaml
    """
    from pipeline.config import load_sweep
    from pipeline.report import show_plan
    from pipeline.run import make_plan

    loaded = load_sweep(config, settings or ())
    out.print(show_plan(make_plan(loaded.sweep, store or loaded.store, workers, scheduler)), soft_wrap=False)


@app.command()
def studies() -> None:
    """List the studies that are installed, with their questions."""
    from solvers.study import find_study, study_names

    names = study_names()
    for name in names:
        out.print(f"{name:<{max(map(len, names))}}  {find_study(name).title}", soft_wrap=True)


@app.command()
def describe(study: Annotated[str, typer.Argument(help="Name of a study, such as stationary.", show_default=False)]) -> None:
    """Describe a study: its parameters with their ranges and defaults, and its variables with their units.

    Example:

      dicesweep describe stationary
    """
    from pipeline.report import show_study
    from solvers.study import UnknownStudyError, find_study

    try:
        out.print(show_study(find_study(study)))
    except UnknownStudyError as error:
        raise UserError(str(error)) from None


@app.command()
def strategy(
    dice: Annotated[int, typer.Option(min=1, help="Number of dice.")],
    sides: Annotated[int, typer.Option(min=1, help="Sides of each die.")],
) -> None:
    """Print an optimal strategy of the hidden-die game for each side, in fractions.

    The hider's table has the dice that each roll may hide, with their chances; the taker's has the chance of taking the hidden
    die for each set of visible faces.  Together they prove the value.  A sweep with "strategies: true" keeps them in its store.

    Example:

      dicesweep strategy --dice 3 --sides 6
    """
    from pipeline.report import show_details
    from solvers.study import find_study

    study = find_study("hidden-die")
    assert study.details is not None  # noqa: S101 - tells the type checker what that study declares
    try:
        columns = study.details({"dice": dice, "sides": sides, "method": "packing", "strategies": True})
    except ValueError as error:
        raise UserError(f"strategy: {error}") from None
    out.print(show_details(columns))


app.add_typer(view)


def main() -> None:
    """Run the command line; a mistake of the user ends in one line and exit code 2."""
    signal.signal(signal.SIGTERM, _terminated)
    try:
        app()
    except UserError as error:
        err.print(f"dicesweep: {error}", style="red" if err.is_terminal else None, markup=False, soft_wrap=True)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _terminated(number: int, frame: Any) -> None:
    raise KeyboardInterrupt
