"""The hidden die: laws, the ordered programme as an oracle, and certificates."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array

from solvers import hidden_die
from solvers.hidden_die import METHODS, STUDY, cost, solve_ordered_simplex, solve_packing, strategy
from solvers.hidden_die_certificate import Hiding, Taking, verify_certificate
from solvers.hidden_die_programme import build_programme, greedy_basis, programme_size
from solvers.hidden_die_rules import rules
from solvers.highs_basis import highs_basis
from solvers.ordered_simplex import solve_ordered
from solvers.study import Grid

SMALL = [
    (1, 1),
    (1, 6),
    (2, 1),
    (2, 2),
    (2, 3),
    (2, 7),
    (2, 12),
    (3, 2),
    (3, 3),
    (3, 4),
    (3, 5),
    (3, 6),
    (4, 3),
    (4, 4),
    (5, 3),
    (6, 2),
]


def value(dice, sides):
    return solve_packing(dice, sides).value


def ordered_programme(dice, sides):
    """The value of the game over ordered rolls and single dice, as it is told, by scipy."""
    ordered = list(product(range(1, sides + 1), repeat=dice))
    seen = {}
    cells, mixes = [], []
    for number, roll in enumerate(ordered):
        for die, face in enumerate(roll):
            visible = tuple(sorted(roll[:die] + roll[die + 1 :]))
            at = seen.setdefault(visible, len(seen))
            column = number * dice + die
            cells += [(2 * at, column, face), (2 * at + 1, column, max(visible, default=0))]
            mixes.append((number, column, 1))
    columns = len(ordered) * dice
    cells += [(2 * at + row, columns + at, -1) for at in seen.values() for row in range(2)]
    limits = matrix(cells, (2 * len(seen), columns + len(seen)))
    sums = matrix(mixes, (len(ordered), columns + len(seen)))
    gain = np.concatenate([np.zeros(columns), np.ones(len(seen))])
    found = linprog(gain, limits, np.zeros(2 * len(seen)), sums, np.ones(len(ordered)), method="highs")
    assert found.status == 0
    return found.fun / len(ordered)


def matrix(cells, shape):
    rows, columns, entries = zip(*cells, strict=True)
    return csr_array((entries, (rows, columns)), shape=shape)


@pytest.mark.parametrize(("dice", "sides"), [*SMALL, (2, 25), (3, 8), (4, 5), (5, 4), (7, 3), (9, 2)])
def test_the_reduced_programme_has_the_value_of_the_ordered_one(dice, sides):
    assert float(value(dice, sides)) == pytest.approx(ordered_programme(dice, sides), abs=1e-9)


@pytest.mark.parametrize(("dice", "sides"), SMALL)
def test_the_published_method_agrees_exactly(dice, sides):
    published = solve_ordered_simplex(dice, sides)
    assert published.value == value(dice, sides)
    assert published.gap == 0
    verify_certificate(solve_ordered(dice, sides)[0])


def test_the_ordered_programme_of_three_dice_of_six_sides_has_216_states_and_21_observations():
    solution = solve_ordered_simplex(3, 6)
    assert (solution.states, solution.observations) == (216, 21)


@pytest.mark.parametrize("sides", range(1, 41))
def test_two_dice_save_a_sum_of_two_binomials(sides):
    k = sides // 2
    largest = Fraction(sum(m * (2 * m - 1) for m in range(1, sides + 1)), sides**2)
    assert (largest - value(2, sides)) * sides**2 == 2 * (comb(k + 1, 3) + comb(sides - k + 1, 3))


def test_a_value_need_not_be_a_whole_number_over_all_rolls():
    assert value(3, 7) == Fraction(8636, 1715)
    assert (value(3, 7) * 7**3).denominator == 5


@pytest.mark.parametrize("dice", range(1, 9))
def test_one_side_is_worth_one(dice):
    assert value(dice, 1) == 1


@pytest.mark.parametrize("sides", [1, 2, 6, 100])
def test_one_die_is_worth_its_mean(sides):
    assert value(1, sides) == Fraction(sides + 1, 2)


@pytest.mark.parametrize("dice", range(1, 6))
def test_the_value_rises_with_the_sides(dice):
    values = [value(dice, sides) for sides in range(1, 11)]
    assert all(lower < upper for lower, upper in pairwise(values))


@pytest.mark.parametrize("sides", range(2, 11))
def test_the_value_rises_with_the_dice(sides):
    values = [value(dice, sides) for dice in range(1, 7)]
    assert all(lower < upper for lower, upper in pairwise(values))


@given(st.integers(1, 5), st.integers(1, 9))
def test_simple_rules_bound_the_value_from_both_sides(dice, sides):
    worth = rules(dice, sides)
    taken = max(worth["always_take_hidden"], worth["always_take_visible"], worth["take_visible_above_mean"])
    paid = min(worth["always_hide_largest"], worth["hide_at_random"])
    assert taken <= value(dice, sides) <= paid


@pytest.mark.parametrize(("dice", "sides"), [(1, 5), (2, 1), (2, 6), (2, 7), (3, 5), (3, 6), (4, 4)])
def test_simple_rules_are_worth_what_play_by_them_brings(dice, sides):
    ordered = list(product(range(1, sides + 1), repeat=dice))
    threshold = {
        "always_take_hidden": 1 + sides,
        "always_take_visible": 0,
        "take_visible_above_mean": Fraction(sides + 1, 2),
    }

    def taken(visible, hidden, above):
        return max(visible) if visible and max(visible) > above else hidden

    brute = {
        name: Fraction(sum(min(taken(a[:i] + a[i + 1 :], a[i], above) for i in range(dice)) for a in ordered), len(ordered))
        for name, above in threshold.items()
    }
    if dice > 1:
        hidings = {"always_hide_largest": lambda roll: [roll.index(max(roll))], "hide_at_random": lambda roll: range(dice)}
        for name, choose in hidings.items():
            behind, shown = {}, {}
            for roll in ordered:
                for i in choose(roll):
                    visible = tuple(sorted(roll[:i] + roll[i + 1 :]))
                    part = Fraction(1, len(choose(roll)) * len(ordered))
                    behind[visible] = behind.get(visible, 0) + part * roll[i]
                    shown[visible] = shown.get(visible, 0) + part * visible[-1]
            brute[name] = sum(max(behind[visible], shown[visible]) for visible in behind)
    assert {name: rules(dice, sides)[name] for name in brute} == brute


@pytest.mark.parametrize(("dice", "sides"), [*SMALL, (4, 7), (5, 6), (6, 5), (3, 15)])
def test_strategies_achieve_the_value_against_the_best_response(dice, sides):
    certificate = strategy(dice, sides)
    ordered = list(product(range(1, sides + 1), repeat=dice)) if sides**dice < 2000 else []
    mixes = {mix.roll: dict(mix.chances) for mix in certificate.hiding}
    hidden = {answer.visible: answer.hidden for answer in certificate.taking}
    assert certificate.value == value(dice, sides)
    verify_certificate(certificate)
    if not ordered:
        return
    behind, shown, got = {}, {}, Fraction(0)
    for roll in ordered:
        mix = mixes[tuple(sorted(roll))]
        answers = []
        for face in set(roll):
            visible = list(roll)
            visible.remove(face)
            visible = tuple(sorted(visible))
            best = max(visible, default=0)
            behind[visible] = behind.get(visible, 0) + mix.get(face, 0) * face
            shown[visible] = shown.get(visible, 0) + mix.get(face, 0) * best
            answers.append(hidden[visible] * face + (1 - hidden[visible]) * best)
        got += min(answers)
    assert got == certificate.value * len(ordered)
    assert sum(max(behind[visible], shown[visible]) for visible in behind) == certificate.value * len(ordered)


def test_a_changed_value_is_rejected():
    certificate = strategy(3, 6)
    with pytest.raises(ValueError, match=r"prove the value 631/144, not 4381/1000"):
        verify_certificate(replace(certificate, value=Fraction(4381, 1000)))


def test_any_changed_mix_that_pays_more_is_rejected():
    certificate = strategy(3, 6)
    for place, mix in enumerate(certificate.hiding):
        if len(mix.chances) > 1:
            (first, p), (second, q), *rest = mix.chances
            moved = replace(mix, chances=((first, p - q / 7), (second, q + q / 7), *rest))
            changed = (*certificate.hiding[:place], moved, *certificate.hiding[place + 1 :])
            with pytest.raises(ValueError, match="prove no value"):
                verify_certificate(replace(certificate, hiding=changed))


def test_any_changed_answer_that_gets_less_is_rejected():
    certificate = strategy(3, 6)
    rejected = 0
    for place, answer in enumerate(certificate.taking):
        if 0 < answer.hidden < 1:
            moved = replace(answer, hidden=answer.hidden / 2)
            changed = (*certificate.taking[:place], moved, *certificate.taking[place + 1 :])
            with pytest.raises(ValueError, match="prove no value"):
                verify_certificate(replace(certificate, taking=changed))
            rejected += 1
    assert rejected


@pytest.mark.parametrize(
    ("chances", "words"),
    [
        (((1, Fraction(3, 2)), (6, Fraction(-1, 2))), "no probabilities"),
        (((1, Fraction(1, 2)),), "no probabilities"),
        (((2, Fraction(1)),), "hides"),
        (((1, Fraction(1, 2)), (1, Fraction(1, 2))), "hides"),
    ],
)
def test_what_is_no_mix_is_rejected(chances, words):
    certificate = strategy(2, 6)
    at = [mix.roll for mix in certificate.hiding].index((1, 6))
    changed = (*certificate.hiding[:at], Hiding((1, 6), chances), *certificate.hiding[at + 1 :])
    with pytest.raises(ValueError, match=words):
        verify_certificate(replace(certificate, hiding=changed))


@pytest.mark.parametrize("chance", [Fraction(-1, 3), Fraction(4, 3)])
def test_what_is_no_probability_is_rejected(chance):
    certificate = strategy(2, 6)
    with pytest.raises(ValueError, match="no probability"):
        verify_certificate(replace(certificate, taking=(Taking((1,), chance), *certificate.taking[1:])))


def test_a_missing_roll_or_observation_is_rejected():
    certificate = strategy(2, 6)
    with pytest.raises(ValueError, match=r"rolls are not those of the game: \(1, 1\)"):
        verify_certificate(replace(certificate, hiding=certificate.hiding[1:]))
    with pytest.raises(ValueError, match=r"observations are not those of the game: \(1,\)"):
        verify_certificate(replace(certificate, taking=certificate.taking[1:]))
    with pytest.raises(ValueError, match="once, in order"):
        verify_certificate(replace(certificate, taking=certificate.taking[::-1]))


def test_with_one_die_the_hidden_one_must_be_taken():
    certificate = strategy(1, 6)
    with pytest.raises(ValueError, match="must be taken"):
        verify_certificate(replace(certificate, taking=(Taking((), Fraction(1, 2)),)))


@pytest.mark.parametrize(("dice", "sides"), [(2, 3), (2, 30), (3, 12), (4, 9), (5, 7), (7, 6), (8, 4)])
def test_highs_finds_a_basis_of_the_same_value(dice, sides):
    by_highs = METHODS["packing-highs"](dice, sides)
    assert by_highs.value == value(dice, sides)
    assert by_highs.gap == 0


def test_a_run_of_highs_that_reached_its_time_limit_is_not_trusted():
    programme = build_programme(4, 9)
    with pytest.raises(RuntimeError, match="time limit"):
        highs_basis(programme.network(), greedy_basis(programme), time_limit=0.0)


def test_highs_says_nothing(capfd):
    METHODS["packing-highs"](3, 6)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("dice", "sides"), [(2, 3), (2, 9), (3, 6), (4, 5), (6, 4)])
def test_the_programme_is_the_one_that_the_rules_give(dice, sides):
    programme = build_programme(dice, sides)
    faces = range(1, sides)
    states = sorted({tuple(sorted(a)) for a in product(faces, repeat=dice)}, key=lambda roll: roll[::-1])
    states = [roll for roll in states if roll[0] < roll[-1]]
    seen = sorted({tuple(sorted(a)) for a in product(faces, repeat=dice - 1)}, key=lambda visible: visible[::-1])[1:]
    count = {}
    for a in product(range(1, sides + 1), repeat=dice):
        count[tuple(sorted(a))] = count.get(tuple(sorted(a)), 0) + 1
    assert (programme.states, programme.observations, programme.roll.size) == programme_size(dice, sides)
    assert programme.weight.tolist() == [count[roll] for roll in states]
    assert programme.room.tolist() == [(sides - o[-1]) * count[(*o, sides)] for o in seen]
    columns = [(o, h) for o in seen for h in range(1, o[-1])]
    assert [seen[o] for o in programme.seen] == [o for o, _ in columns]
    assert [states[r] for r in programme.roll] == [tuple(sorted((*o, h))) for o, h in columns]
    assert programme.face.tolist() == [h for _, h in columns]
    assert programme.credit.tolist() == [o[-1] - h for o, h in columns]
    covers = [roll[-1] > roll[-2] and roll[:-1] in seen for roll in states]
    assert (programme.above >= 0).tolist() == covers
    assert [seen[o] for o in programme.above[covers]] == [r[:-1] for r, c in zip(states, covers, strict=True) if c]
    assert programme.demand.tolist() == [(r[-1] - r[-2]) * c for r, c in zip(states, covers, strict=True)]


def test_a_game_beyond_the_limit_is_refused_with_its_size():
    with pytest.raises(ValueError, match=r"8 dice of 21 sides need 10,935,925 columns; the limit is 8,000,000"):
        solve_packing(8, 21)
    with pytest.raises(ValueError, match=r"4 dice of 20 sides have 160,000 ordered rolls; the limit is 1,296"):
        solve_ordered_simplex(4, 20)
    with pytest.raises(ValueError, match="40 dice of 3 sides have more ordered rolls than 64-bit counts hold"):
        solve_packing(40, 3)


def test_many_dice_of_few_sides_are_solved():
    assert 2 < value(30, 3) < value(37, 3) < 3
    assert value(28, 4) > value(27, 4)
    assert value(100, 2) == 2 - Fraction(1, 2**100)


def test_the_cost_of_a_refused_game_is_small_and_that_of_others_rises_with_size():
    assert cost({"dice": 8, "sides": 50, "method": "packing", "strategies": False}) < 0.01
    assert cost({"dice": 4, "sides": 50, "method": "ordered-simplex", "strategies": True}) < 0.01
    costs = [cost({"dice": 3, "sides": sides, "method": "packing", "strategies": False}) for sides in range(1, 51)]
    assert costs == sorted(costs)


@pytest.mark.parametrize("method", METHODS)
def test_the_study_fills_a_grid_with_the_types_that_it_declares(method):
    grid = Grid({"dice": (1, 2), "sides": (1, 6, 7)}, {"method": method, "strategies": False})
    results = STUDY.solve(grid)
    assert list(results) == [variable.name for variable in STUDY.variables]
    for variable in STUDY.variables:
        assert results[variable.name].shape == (2, 3)
        assert results[variable.name].dtype == (object if variable.dtype == "str" else variable.dtype)
    assert results["value_exact"].tolist() == [["1/1", "7/2", "4/1"], ["1/1", "145/36", str(value(2, 7))]]
    assert (results["primal_dual_gap"] == 0).all()
    np.testing.assert_allclose(results["value"] + results["saving"], results["expected_max"], rtol=1e-15)


def test_preparing_solves_something(monkeypatch):
    asked = []
    monkeypatch.setattr(hidden_die, "solve_packing", lambda *game: asked.append(game))
    STUDY.prepare()
    assert asked


def test_a_basis_that_is_not_optimal_is_repaired_to_the_same_value():
    repaired = solve_packing(4, 6, improve=lambda network, keys: (keys, 0))
    assert repaired.value == value(4, 6)
    assert repaired.pivots > 0
    assert repaired.gap == 0
