"""The commands that look at an answer: pictures, comparisons, tables, reports."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer

from pipeline.command import JsonOption, StorePath, app, err, out

SelectOption = Annotated[
    list[str] | None,
    typer.Option("--select", metavar="NAME=LABEL", help="Narrow the answer: sides=6, sides=4:8, sides=4,6; may be repeated."),
]
VariableOption = Annotated[str, typer.Option("--variable", help="What to look at, instead of what the study shows first.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dicesweep {metadata.version('dicesweep')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_version, help="Print the version.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print data and mistakes only, no messages.")] = False,
) -> None:
    """Take the options that come before a command."""
    err.quiet = quiet


def show_store(store: str) -> None:
    """Print the headline of a store."""
    from pipeline.report import show_headline
    from pipeline.store import open_store

    out.print(show_headline(open_store(store), out.width))


@app.command()
def show(
    store: StorePath,
    selections: SelectOption = None,
    top: Annotated[int | None, typer.Option(min=1, help="The largest: points, or squares of each point.")] = None,
    variable: VariableOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show the headline of a store, also while a run is writing to it; or a selection of its points.

    Examples
    --------
      dicesweep show outputs/monopoly_odds.zarr

      dicesweep show outputs/monopoly_odds.zarr --select sides=4:8 --select chance=jail=1,back-3=1 --top 5

      dicesweep show outputs/monopolies.zarr --top 3 --json
    """
    if not (selections or top or variable or as_json):
        show_store(store)
        return
    from pipeline.excerpt import MAX_ROWS, excerpt
    from pipeline.select import select
    from pipeline.store import open_sweep

    found = excerpt(select(open_sweep(store), selections or ()), top, variable, None if as_json else MAX_ROWS)
    if as_json:
        print_json(found.records())
    else:
        out.print(found.table())


@app.command()
def compare(
    first: StorePath,
    second: StorePath,
    selections: SelectOption = None,
    tolerance: Annotated[
        float | None, typer.Option(min=0, help="End with exit code 1 if a number differs by more, or a word at all.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two stores at the labels that they share: the largest differences, and where.

    Examples
    --------
      dicesweep compare outputs/monopoly_odds.zarr outputs/again.zarr --tolerance 1e-12
    """
    from pipeline.compare import compare as compared
    from pipeline.compare import records, show_comparison
    from pipeline.select import select
    from pipeline.store import open_sweep

    found = compared(*(select(open_sweep(store), selections or ()) for store in (first, second)))
    if as_json:
        print_json(records(found))
    else:
        out.print(show_comparison(found))
    if tolerance is not None and found.largest > tolerance:
        raise typer.Exit(1)


@app.command()
def export(
    store: StorePath,
    to: Annotated[str, typer.Option(help="csv, parquet, netcdf or json.")],
    output: Annotated[str, typer.Option("-o", "--output", help="File to write; - is standard output, for csv and json.")],
    selections: SelectOption = None,
    variables: Annotated[list[str] | None, typer.Option("--variable", help="A variable to take; may be repeated.")] = None,
    layout: Annotated[
        str, typer.Option(help="wide: a column for each label of a variable's own dimensions; long: a row for each.")
    ] = "wide",
) -> None:
    """Write an answer for other programs: a tidy table with a row for each point, or the arrays as netCDF.

    Examples
    --------
      dicesweep export outputs/monopoly_odds.zarr --to csv -o odds.csv

      dicesweep export outputs/monopoly_odds.zarr --to parquet --layout long --variable probability -o odds.parquet
    """
    from pipeline.export import export as write
    from pipeline.select import select
    from pipeline.store import open_sweep

    write(select(open_sweep(store), selections or ()), to, output, layout=layout, names=variables or ())
    if output != "-":
        err.print(f"the table is in {output}" if to != "netcdf" else f"the arrays are in {output}", soft_wrap=True)


def print_json(value: object) -> None:
    """Print data on standard output, one item of a list a line."""
    if isinstance(value, list):
        lines = ",\n".join(json.dumps(item, ensure_ascii=False) for item in value)
        typer.echo(f"[\n{lines}\n]" if value else "[]")
    else:
        typer.echo(json.dumps(value, ensure_ascii=False, indent=1))


@app.command()
def plot(
    store: StorePath,
    kind: Annotated[
        str | None, typer.Option(help="board, heatmap, lines, change, value, strategy or errors; chosen to suit if left out.")
    ] = None,
    selections: SelectOption = None,
    against: Annotated[
        list[str] | None, typer.Option(metavar="NAME=LABEL", help="Show the change from this selection; may be repeated.")
    ] = None,
    variable: VariableOption = "",
    exact: Annotated[str | None, typer.Option(help="Store of exact values, to compare frequencies with.")] = None,
    output: Annotated[str, typer.Option("-o", "--output", help="File to write: .png, .svg or .pdf.")] = "",
) -> None:
    """Draw a picture of an answer.

    Examples
    --------
      dicesweep plot outputs/monopoly_odds.zarr

      dicesweep plot outputs/monopoly_odds.zarr --select sides=6 --select chance=jail=6,back-3=1
      --against chance=jail=1,back-3=1 -o change.svg

      dicesweep plot outputs/hidden_die.zarr --kind strategy --select dice=3 --select sides=6
    """
    from pipeline.plots import picture, save
    from pipeline.store import open_sweep

    name = output or f"{Path(store).stem or 'picture'}.png"
    reference = open_sweep(exact) if exact else None
    figure = picture(
        open_sweep(store), kind, selections=selections or (), against=against or (), variable=variable, exact=reference
    )
    save(figure, name)
    err.print(f"the picture is in {name}", soft_wrap=True)


@app.command()
def report(
    store: StorePath,
    selections: SelectOption = None,
    output: Annotated[str, typer.Option("-o", "--output", help="Page to write.")] = "",
) -> None:
    """Write a page that holds everything about an answer: headline, pictures, points, failures, provenance.

    The page needs no network, and opens in any browser.

    Examples
    --------
      dicesweep report outputs/monopoly_odds.zarr -o report.html
    """
    from pipeline.page import write_page
    from pipeline.select import select
    from pipeline.store import open_sweep

    name = output or f"{Path(store).stem or 'report'}.html"
    write_page(select(open_sweep(store), selections or ()), name, store, selections or ())
    err.print(f"the report is in {name}", soft_wrap=True)
