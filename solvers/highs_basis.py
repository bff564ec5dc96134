"""Optimal bases by HiGHS, to compare :mod:`solvers.network_simplex` with; in floating point, to be certified as well."""

from __future__ import annotations

from math import inf
from typing import Any

import highspy
import numpy as np
from highspy._core import _Highs

from solvers.exact_lp import Network
from solvers.rationals import Integers


def highs_basis(network: Network, keys: Integers, time_limit: float = inf) -> tuple[Integers, int]:
    """Improve a feasible basis by the primal simplex method of HiGHS.

    Parameters
    ----------
    network : Network
    keys : ndarray of int64, shape (rows,)
        Basic columns to start from.
    time_limit : float
        Seconds after which to give up.

    Returns
    -------
    basis : ndarray of int64, shape (rows,)
        Basic columns.
    pivots : int

    Raises
    ------
    RuntimeError
        If HiGHS did not report an optimum.  A run that reached its time limit also holds numbers; they mean nothing.
    """
    columns, rows = network.cost.size, network.supply.size
    double = network.head >= 0
    start = np.concatenate([[0], np.cumsum(1 + double)])
    row, entry = np.empty(start[-1], np.int32), np.empty(start[-1])
    row[start[:-1]], entry[start[:-1]] = network.tail, network.at_tail
    row[start[1:][double] - 1], entry[start[1:][double] - 1] = network.head[double], network.at_head[double]

    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = columns, rows
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.col_cost_ = network.cost.astype(np.float64)
    lp.col_lower_, lp.col_upper_ = np.zeros(columns), np.full(columns, inf)
    lp.row_lower_ = lp.row_upper_ = network.supply.astype(np.float64)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = start.astype(np.int32), row, entry
    # The class that highspy exports wraps this one in callbacks: they double the time of a small programme, and print a banner
    # before they can be told not to.
    solver: Any = _Highs()
    for option, value in {
        "output_flag": False,
        "solver": "simplex",
        "simplex_strategy": int(highspy.simplex_constants.SimplexStrategy.kSimplexStrategyPrimal),
        "presolve": "off",
        "parallel": "off",
        "simplex_scale_strategy": 0,
        "time_limit": time_limit,
    }.items():
        solver.setOptionValue(option, value)
    solver.passModel(lp)
    solver.setBasis(_highs_status(columns, rows, keys))
    solver.run()
    status = solver.getModelStatus()
    if status != highspy.HighsModelStatus.kOptimal:
        raise RuntimeError(f"HiGHS found no optimum: {solver.modelStatusToString(status).lower()}")
    _, basic = solver.getBasicVariables()
    if min(basic) < 0:
        raise RuntimeError("HiGHS left a row without a column of its own")
    return np.asarray(basic, np.int64), int(solver.getInfo().simplex_iteration_count)


def _highs_status(columns: int, rows: int, keys: Integers) -> highspy.HighsBasis:
    status = highspy.HighsBasisStatus
    basic = np.zeros(columns, np.bool_)
    basic[keys] = True
    basis = highspy.HighsBasis()
    basis.col_status = [status.kBasic if chosen else status.kLower for chosen in basic.tolist()]
    basis.row_status = [status.kLower] * rows
    basis.valid, basis.alien = True, False
    return basis
