"""Simple rules for either side of the hidden die, each worth what it brings against an opponent who knows it."""

from __future__ import annotations

from fractions import Fraction


def count_largest(dice: int, sides: int) -> int:
    """Return the sum of the largest face over all ordered rolls: sum over m of m (m^n - (m-1)^n)."""
    return sum(m * (m**dice - (m - 1) ** dice) for m in range(1, sides + 1))


def rules(dice: int, sides: int) -> dict[str, Fraction]:
    """Return what the game is worth when one side follows a simple rule and the other, who knows it, answers best.

    Returns
    -------
    dict of str to Fraction
        ``always_hide_largest``, ``hide_at_random``: no less than the value of the game.
        ``always_take_hidden``, ``always_take_visible``, ``take_visible_above_mean``: no more than it.

    Notes
    -----
    The largest die, hidden, is never worse than what is visible: the taker gets it.  A die hidden at random is independent of
    the others, and worth (s + 1) / 2.  Against a taker who always takes the hidden die the hider hides the smallest; against
    one who never does, the largest, which leaves the second largest.  A taker who takes the visible die when it is above c,
    c = floor((s + 1) / 2), gets the smallest face if all are at most c, the largest if only that is above c, and else the
    second largest.  That the second largest is at most j happens in j^n + n j^(n-1) (s - j) rolls.

    With one die nothing can be visible, so that every rule is worth (s + 1) / 2.
    """
    n, s = dice, sides
    mean = Fraction(s + 1, 2)
    if n == 1:
        return dict.fromkeys(
            ("always_hide_largest", "hide_at_random", "always_take_hidden", "always_take_visible", "take_visible_above_mean"),
            mean,
        )

    def second_above(face: int) -> int:
        within = [j**n + n * j ** (n - 1) * (s - j) for j in range(s + 1)]
        return sum(m * (within[m] - within[m - 1]) for m in range(face + 1, s + 1))

    c = (s + 1) // 2
    best_of_rest = sum(max(mean, Fraction(m)) * (m ** (n - 1) - (m - 1) ** (n - 1)) for m in range(1, s + 1))
    above_mean = sum(i**n for i in range(1, c + 1)) + n * c ** (n - 1) * sum(range(c + 1, s + 1)) + second_above(c)
    return {
        "always_hide_largest": Fraction(count_largest(n, s), s**n),
        "hide_at_random": best_of_rest / s ** (n - 1),
        "always_take_hidden": Fraction(sum(i**n for i in range(1, s + 1)), s**n),
        "always_take_visible": Fraction(second_above(0), s**n),
        "take_visible_above_mean": Fraction(above_mean, s**n),
    }
