"""Published values of the hidden die.

Source: Project Euler, problem 982, "The Third Dice": two dice of six sides are worth 145/36, three are worth 631/144.
"""

from fractions import Fraction

import pytest

from solvers.hidden_die import METHODS, strategy


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("dice", "published"), [(2, Fraction(145, 36)), (3, Fraction(631, 144))])
def test_project_euler_982(method, dice, published):
    solution = METHODS[method](dice, 6)
    assert solution.value == published
    assert solution.gap == 0


def test_the_published_value_is_proved_by_a_strategy_for_each_side():
    assert strategy(3, 6).value == Fraction(631, 144)
