"""Commands about whether a store can be trusted: status, failures, point, verify, reproduce."""

from __future__ import annotations

import json
import time
from typing import Annotated, Any

import typer

from pipeline.command import JsonOption, StorePath, WorkersOption, app, err, out
from pipeline.errors import UserError


@app.command()
def status(
    store: StorePath,
    watch: Annotated[bool, typer.Option("--watch", help="Look again every two seconds, until nothing is pending.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Say how far a store is, how fast it goes, and who is at it.  Reads the store alone, from any machine that sees it.

    Examples
    --------
      dicesweep status outputs/monopoly_odds.zarr --watch

      dicesweep status outputs/monopoly_odds.zarr --json
    """
    from rich.live import Live

    from pipeline.inspection import read_status
    from pipeline.report import show_status
    from pipeline.store import open_store

    found = read_status(open_store(store))
    if as_json:
        out.print_json(json.dumps(found.plain()))
        return
    if not watch:
        out.print(show_status(found))
        return
    with Live(show_status(found), console=out, auto_refresh=False) as live:
        while found.running or found.counts["pending"]:
            time.sleep(2)
            found = read_status(open_store(store))
            live.update(show_status(found), refresh=True)


@app.command()
def failures(
    store: StorePath,
    tracebacks: Annotated[bool, typer.Option("--traceback", help="Show where each solver was.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List the points that failed, with their reasons; exit code 1 if there are any.

    Examples
    --------
      dicesweep failures outputs/monopoly_odds.zarr

      dicesweep failures outputs/monopoly_odds.zarr --json
    """
    from pipeline.inspection import read_failures
    from pipeline.store import open_store

    found = list(read_failures(open_store(store)))
    if as_json:
        out.print_json(json.dumps(found))
    for failure in [] if as_json else found:
        point = "  ".join(f"{name}={label}" for name, label in failure["point"].items()) or "the one point"
        out.print(f"{point}: {failure['reason']}", markup=False, soft_wrap=True)
        if tracebacks and failure["traceback"]:
            out.print(failure["traceback"], markup=False, soft_wrap=True)
    if found:
        raise typer.Exit(1)
    err.print("no point has failed")


@app.command()
def point(
    store: StorePath,
    labels: Annotated[list[str] | None, typer.Argument(metavar="AXIS=LABEL...", help="One label of each axis.")] = None,
) -> None:
    """Solve one point of a store in this process, and print what comes out.  Writes nothing, catches nothing.

    Examples
    --------
      dicesweep point outputs/monopoly_odds.zarr sides=6 chance=jail=1,back-3=1

      python -m pdb -m pipeline.cli point outputs/monopoly_odds.zarr sides=6 chance=jail=1,back-3=1
    """
    from pipeline.inspection import find_point, solve_point
    from pipeline.store import open_store

    wanted = {}
    for label in labels or ():
        name, equals, value = label.partition("=")
        if not equals:
            raise UserError(f"point: write {label} as axis=label")
        wanted[name] = value
    opened = open_store(store)
    for name, answer in solve_point(opened, find_point(opened, wanted)).items():
        out.print(f"{name}: {_plain(answer)}", markup=False, soft_wrap=True)


def _plain(answer: Any) -> Any:
    return answer.item() if answer.ndim == 0 else answer.tolist()


@app.command()
def verify(
    store: StorePath,
    sample: Annotated[int, typer.Option("--sample", min=0, help="Points to compute again by an independent method.")] = 20,
    seed: Annotated[int, typer.Option("--seed", help="Of the choice of the sample.")] = 0,
) -> None:
    """Check that a store is true: every chunk, every law, and a sample computed again.  Exit code 1 at the first untruth.

    Examples
    --------
      dicesweep verify outputs/monopoly_odds.zarr --sample 100

      dicesweep run configs/monopoly_odds.yaml --repair      (to compute damaged blocks again)
    """
    from pipeline.store import open_store, survey
    from pipeline.verify import untruths

    opened = open_store(store)
    first = next(untruths(opened, sample, seed), None)
    if first:
        out.print(f"untrue: {first.text}", markup=False, soft_wrap=True)
        raise typer.Exit(1)
    study = opened.sweep.study
    counts = survey(opened).counts
    chunks = sum(1 for _ in opened.blocks()) * len(opened.arrays)
    out.print(f"true: {chunks:,} chunks read with their checksums; {counts[1]:,} points done, {counts[2]:,} failed")
    for law in study.laws:
        out.print(f"true: {law.text}, at every point that is done", markup=False, soft_wrap=True)
    if sample and study.recompute:
        out.print(f"true: {min(sample, counts[1]):,} points computed again by an independent method where there is one")


@app.command()
def reproduce(
    store: StorePath,
    into: Annotated[str | None, typer.Option("--into", help="Path of the new store; STORE.reproduced.zarr by default.")] = None,
    workers: WorkersOption = None,
) -> None:
    """Run what a store remembers into a new store, and compare.  Exit code 1 if they differ.

    Example:

      dicesweep reproduce outputs/monopoly_odds.zarr
    """
    from pipeline.inspection import differences_between
    from pipeline.plan import make_plan
    from pipeline.progress import Progress
    from pipeline.provenance import version_changes, versions
    from pipeline.run import execute, read_runs
    from pipeline.store import is_store, open_store

    old = open_store(store)
    path = into or f"{old.path.removesuffix('.zarr')}.reproduced.zarr"
    if is_store(path):
        raise UserError(f"{path}: something is there already; choose another place with --into")
    plan = make_plan(old.sweep, path, workers)
    with Progress(plan, err) as progress:
        outcome = execute(plan, progress)
    if outcome.interrupted:
        raise typer.Exit(130)
    compared = [variable.name for variable in old.sweep.variables if variable.reproducible] + ["status"]
    found = differences_between(old.path, path, compared)
    runs = read_runs(old.path)
    changes = version_changes(runs[-1]["versions"], versions()) if runs else []
    if not found:
        out.print(f"identical: {', '.join(compared)} at {old.sweep.points:,} points, in {path}", soft_wrap=True)
        return
    for difference in found:
        size = "" if difference.largest != difference.largest else f", by {difference.largest:.3g} at most"
        out.print(f"{difference.variable}: differs at {difference.points:,} points{size}", soft_wrap=True)
    why = f"versions differ: {', '.join(changes)}" if changes else "no version of a package differs"
    out.print(f"{why}; the new store is {path}", soft_wrap=True)
    raise typer.Exit(1)
