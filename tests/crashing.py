"""A study whose points can take their process down, or never end."""

from __future__ import annotations

import ctypes
import dataclasses
import os
import signal
import time

import numpy as np
import toy

from solvers.study import Grid

KILLED, SEGFAULT, ENDLESS = 666, 667, 668


def solve(grid: Grid) -> dict[str, np.ndarray]:
    for _, point in grid.points():
        match point["x"]:
            case 666:
                os.kill(os.getpid(), signal.SIGKILL)
            case 667:
                ctypes.string_at(0)
            case 668:
                time.sleep(3600)
    return toy.solve(grid)


STUDY = dataclasses.replace(toy.STUDY, name="crashing", solve=solve, contained=False)
