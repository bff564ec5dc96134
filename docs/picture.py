"""Draw the picture of the README from the store that ``make run`` leaves behind."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from pipeline import load_sweep, run
from pipeline.plots import board

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    config = load_sweep(ROOT / "configs" / "monopoly_odds.yaml")
    dataset = run(config.sweep, ROOT / config.store)
    point = dataset.sel(sides=6, chance="jail=1,back-3=1")
    figure = Figure(figsize=(9, 9), layout="constrained")
    title, subtitle = "Where a Monopoly token\nends its rolls", "two six-sided dice"
    label = "long-run probability of ending a roll on the square"
    groups = config.sweep.values["board"][0].groups
    board(figure.subplots(), point["probability"], groups, title=title, subtitle=subtitle, label=label)
    figure.savefig(ROOT / "docs" / "images" / "board.png", dpi=110)


if __name__ == "__main__":
    main()
