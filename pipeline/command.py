"""What all commands share: the application, its two streams, and the arguments that recur.

Data goes to standard output, messages to standard error.  Exit codes: 0 all is well, 1 some points failed or something is not
as it should be, 2 the user's input is wrong (one line says how), 130 interrupted.
"""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

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
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
