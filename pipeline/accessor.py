"""What a dataset of a sweep can do itself, as ``dataset.sweep``; there as soon as a sweep is opened or run.

Where a store is opened with xarray alone, ``import pipeline.accessor`` makes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

from pipeline.answer import axes, headlines
from pipeline.store import DONE
from pipeline.table import Table, tabulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@xr.register_dataset_accessor("sweep")
class SweepAccessor:
    """The sweep whose answer a dataset is."""

    def __init__(self, dataset: xr.Dataset) -> None:
        axes(dataset)
        self._dataset = dataset

    @property
    def axes(self) -> tuple[str, ...]:
        """The dimensions of the sweep."""
        return axes(self._dataset)

    @property
    def done(self) -> xr.DataArray:
        """Where points are done; booleans over the axes."""
        return self._dataset["status"] == DONE

    @property
    def failed(self) -> pd.DataFrame:
        """The points that failed, a row for each, with the reason in ``failure`` and the place in ``traceback``."""
        traced = tuple(name for name in ("traceback",) if name in self._dataset.data_vars)
        table = Table(self._dataset, axes(self._dataset), traced)
        kept = [*table.labels, "failure", *traced]
        pieces = map(pd.DataFrame, table.pieces())
        return pd.concat((rows.loc[rows["status"] == "failed", kept] for rows in pieces), ignore_index=True)

    def points(self, *names: str, layout: str = "wide") -> pd.DataFrame:
        """Return a row for each point.

        Parameters
        ----------
        *names : str
            Variables to take; all by default.
        layout : {"wide", "long"}
            Whether a variable with dimensions of its own takes more columns or more rows.

        Returns
        -------
        pandas.DataFrame
        """
        return pd.concat(map(pd.DataFrame, tabulate(self._dataset, layout, names).pieces()), ignore_index=True)

    def headline(self) -> xr.Dataset:
        """Return what the study shows first: its headline variables, at their labels."""
        shown = {}
        for headline in headlines(self._dataset):
            labels = {dim: label for dim, label in headline.select.items() if dim in self._dataset.dims}
            shown[headline.variable] = self._dataset[headline.variable].sel(labels)
        return xr.Dataset(shown, attrs=self._dataset.attrs)

    def plot(self, kind: str | None = None, *, against: Sequence[str] = (), variable: str = "", **labels: object) -> Figure:
        """Draw a picture; see :func:`pipeline.plots.picture`.

        Parameters
        ----------
        kind : str, optional
        against : sequence of str
        variable : str
        **labels : object
            Labels to select: ``plot(sides=6)``.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from pipeline.plots import picture

        selections: Iterable[str] = [f"{name}={label}" for name, label in labels.items()]
        return picture(self._dataset, kind, selections=selections, against=against, variable=variable)
