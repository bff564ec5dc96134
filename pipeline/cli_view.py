"""The commands that look at an answer: pictures, comparisons, tables, reports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

view = typer.Typer()
out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

StorePath = Annotated[str, typer.Argument(help="Path of a store, such as outputs/monopoly_odds.zarr.", show_default=False)]
SelectOption = Annotated[
    list[str] | None,
    typer.Option("--select", metavar="NAME=LABEL", help="Narrow the answer: sides=6, sides=4:8, sides=4,6; may be repeated."),
]
VariableOption = Annotated[str, typer.Option("--variable", help="What to look at, instead of what the study shows first.")]


@view.command()
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
