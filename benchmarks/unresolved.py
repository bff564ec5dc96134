"""How often the three most frequent squares of a simulation are the wrong ones, and whether it says that they are not settled.

A hundred runs each of a million rolls with six-sided dice and of a hundred thousand with four-sided ones, and of more:

    python benchmarks/unresolved.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from ruamel.yaml import YAML

from solvers.board import parse_board, parse_deck
from solvers.simulation import simulate

CONFIGS = Path(__file__).parents[1] / "configs"
RUNS = 100


def main() -> None:
    yaml = YAML(typ="safe")
    board = parse_board(yaml.load(CONFIGS / "boards" / "monopoly.yaml"))
    decks = {name: parse_deck(deck) for name, deck in yaml.load(CONFIGS / "decks" / "classic.yaml").items()}
    rules = {"dice": 2, "doubles_limit": 3, "doubles_after_jail": "keep", "back_onto_draw": "chain"}
    point: dict[str, Any] = {"board": board, **rules, **decks, "deck_memory": "shuffled", "games": 64, "burn_in": 1000}
    print(f"{'sides':>5}{'rolls':>13}{'wrong of':>10}{'resolved':>10}{'wrong and':>11}{'confidence':>12}{'confidence':>12}")
    print(f"{'':>5}{'':>13}{RUNS:>10}{'of all':>10}{'resolved':>11}{'when right':>12}{'when wrong':>12}")
    for sides, truth, rolls in (
        (6, "102400", 10**6),
        (6, "102400", 10**7),
        (6, "102400", 10**8),
        (4, "101524", 10**5),
        (4, "101524", 10**6),
        (4, "101524", 10**7),
    ):
        seeds = np.random.SeedSequence([sides, rolls]).spawn(RUNS)
        runs = [simulate(point | {"sides": sides, "rolls": rolls}, seed) for seed in seeds]
        wrong = [run for run in runs if run["modal"] != truth]
        right = [run["modal_confidence"] for run in runs if run["modal"] == truth]
        sure = f"{np.mean([run['modal_confidence'] for run in wrong]):.2f}" if wrong else "-"
        resolved, both = sum(int(run["resolved"]) for run in runs), sum(int(run["resolved"]) for run in wrong)
        print(f"{sides:>5}{rolls:>13,}{len(wrong):>10}{resolved:>10}{both:>11}{np.mean(right):>12.2f}{sure:>12}")


if __name__ == "__main__":
    main()
