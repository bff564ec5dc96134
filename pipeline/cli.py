"""The command ``dicesweep``; see :mod:`pipeline.command` for its streams and exit codes."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline.command import (
    Config,
    SchedulerOption,
    SetOption,
    StoreOption,
    WorkersOption,
    app,
    err,
    out,
)
from pipeline.errors import UserError

if TYPE_CHECKING:
    from pipeline.plan import Plan
    from pipeline.run import Outcome


@app.command()
def run(
    config: Config,
    store: StoreOption = None,
    settings: SetOption = None,
    workers: WorkersOption = None,
    scheduler: SchedulerOption = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Compute failed points again.")] = False,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="Stop at the first point that fails.")] = False,
    max_failures: Annotated[int | None, typer.Option("--max-failures", min=0, help="Stop when more points fail.")] = None,
    repair: Annotated[bool, typer.Option("--repair", help="Look for damaged blocks first, and compute them again.")] = False,
    recompute: Annotated[bool, typer.Option("--recompute", help="Compute every point again.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for a run that holds the store.")] = False,
    break_lock: Annotated[
        bool, typer.Option("--break-lock", help="Break the lock of a run on another host that shows no life.")
    ] = False,
) -> None:
    """Compute whatever is pending of a sweep, and show its headline.

    Run the same command again to go on after an interruption: what is done stays done.  With new values on an axis, the store
    grows, and only they are computed.

    Examples
    --------
      dicesweep run configs/monopoly_odds.yaml

      dicesweep run configs/monopoly_odds.yaml --store outputs/six.zarr --set sides=6

      dicesweep run configs/monopoly_odds_large.yaml --scheduler tcp://127.0.0.1:8786
    """
    from pipeline.cli_view import show_store
    from pipeline.config import load_sweep
    from pipeline.plan import make_plan
    from pipeline.progress import Progress
    from pipeline.report import duration
    from pipeline.run import Given, Options, execute
    from pipeline.store import is_store
    from pipeline.verify import repair as repair_store

    loaded = load_sweep(config, settings or ())
    path = store or loaded.store
    limit = 0 if fail_fast else max_failures
    options = Options(wait, break_lock, retry_failed, recompute, limit, loaded.timeout)
    if repair and is_store(path):
        err.print(f"{repair_store(path, wait=wait, force=break_lock):,} blocks were damaged", soft_wrap=True)
    plan = make_plan(loaded.sweep, path, workers, scheduler, again=options.again, recompute=recompute)
    outcome = None
    if plan.pending:
        left = "" if plan.pending == plan.sweep.points else f", {plan.pending:,} of them pending"
        err.print(f"{plan.sweep.points:,} points{left}, on {plan.place}", soft_wrap=True)
        with Progress(plan, err) as progress:
            outcome = execute(plan, progress, None, options, Given(loaded.text, loaded.settings, loaded.notes))
    else:
        err.print(f"{plan.path}: nothing is pending, so nothing was computed", soft_wrap=True)
    if outcome and outcome.interrupted:
        _report_interruption(plan, outcome)
        raise typer.Exit(130)
    show_store(plan.path)
    if outcome:
        rate = (outcome.done + outcome.failed) / max(outcome.seconds, 1e-9)
        message = f"{outcome.done:,} points done in {duration(outcome.seconds)} beyond start-up, {rate:,.0f} a second"
        err.print(f"{message}; the answer is in {plan.path}", soft_wrap=True)
        if outcome.failed:
            more = f"dicesweep failures {plan.path} lists them"
            err.print(
                f"{outcome.failed:,} points failed, the first because: {outcome.failure} ({more})", markup=False, soft_wrap=True
            )
        if outcome.stopped:
            err.print(f"stopped early: {outcome.stopped}", soft_wrap=True)
        if outcome.failed or outcome.stopped:
            raise typer.Exit(1)


def _report_interruption(plan: Plan, outcome: Outcome) -> None:
    from pipeline.plan import make_plan

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
    from pipeline.plan import make_plan
    from pipeline.report import show_plan

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


def main() -> None:
    """Run the command line; a mistake of the user ends in one line and exit code 2."""
    from pipeline import cli_trust, cli_view  # noqa: F401 - add their commands, after the ones that everybody needs

    signal.signal(signal.SIGTERM, _terminated)
    try:
        app()
    except UserError as error:
        err.quiet = False
        err.print(f"dicesweep: {error}", style="red" if err.is_terminal else None, markup=False, soft_wrap=True)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _terminated(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
