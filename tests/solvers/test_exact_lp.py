"""Exact optima of generalised networks, from good and from bad bases."""

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from solvers.exact_lp import Network, certify
from solvers.hidden_die_programme import build_programme, greedy_basis
from solvers.network_simplex import improve_basis
from solvers.rationals import WORD, Rationals


def network(columns, supply):
    """A network of (tail, head, entry at tail, entry at head, cost) with these supplies."""
    tail, head, at_tail, at_head, cost = zip(*columns, strict=True)
    return Network(
        np.array(tail, np.int32),
        np.array(head, np.int32),
        np.array(at_tail),
        np.array(at_head),
        np.array(cost),
        np.array(supply),
    )


def dense(net):
    matrix = np.zeros((net.supply.size, net.cost.size))
    for column in range(net.cost.size):
        matrix[net.tail[column], column] = net.at_tail[column]
        if net.head[column] >= 0:
            matrix[net.head[column], column] = net.at_head[column]
    return matrix


def check(net, optimum):
    """Both solutions satisfy every condition, in rationals."""
    x = dict.fromkeys(range(net.cost.size), Fraction(0)) | dict(
        zip(optimum.basis.tolist(), optimum.primal.fractions(), strict=True)
    )
    y = optimum.dual.fractions()
    matrix = dense(net).astype(int).tolist()
    assert min(x.values()) >= 0
    for row, supply in zip(matrix, net.supply.tolist(), strict=True):
        assert sum(entry * x[column] for column, entry in enumerate(row)) == supply
    for column, cost in enumerate(net.cost.tolist()):
        assert sum(row[column] * y[at] for at, row in enumerate(matrix)) >= cost
    assert optimum.value == optimum.bound
    assert Fraction(int(optimum.value.p), int(optimum.value.q)) == sum(x[c] * cost for c, cost in enumerate(net.cost.tolist()))


CYCLE = network([(0, 1, 2, 1, 3), (1, 2, 2, 1, 3), (2, 0, 2, 1, 3)], [3, 4, 5])


@pytest.mark.parametrize("word", [WORD, 1.0])
def test_a_cycle_is_solved_as_a_small_dense_system(word):
    optimum = certify(CYCLE, np.arange(3), word)
    assert optimum.value == 12
    check(CYCLE, optimum)


@pytest.mark.parametrize(
    "columns",
    [
        [(0, 1, 1, 1, 0), (0, 1, 2, 2, 0)],
        [(0, -1, 1, 0, 0), (0, -1, 1, 0, 0)],
        [(0, 1, 1, -1, 0), (1, 2, 1, -1, 0), (2, 0, 1, -1, 0)],
        [(0, 1, 1, 1, 0), (1, 2, 1, 1, 0), (2, 0, 1, 1, 0), (0, -1, 1, 0, 0)],
    ],
)
def test_a_singular_basis_is_refused(columns):
    net = network(columns, [1] * len(columns))
    with pytest.raises(ArithmeticError, match="singular"):
        certify(net, np.arange(len(columns)))


def test_an_unbounded_programme_is_refused():
    with pytest.raises(ArithmeticError, match="unbounded"):
        certify(network([(0, -1, 1, 0, 0), (0, -1, -1, 0, 1)], [1]), np.array([0]))


def test_an_infeasible_programme_is_refused():
    with pytest.raises(ArithmeticError, match="infeasible"):
        certify(network([(0, -1, 1, 0, 0), (0, -1, 2, 0, 0)], [-1]), np.array([0]))


@pytest.mark.parametrize(("dice", "sides"), [(3, 8), (4, 6)])
@pytest.mark.parametrize("word", [WORD, 2.0**12, 2.0**6, 1.0])
def test_the_answer_does_not_depend_on_the_word(dice, sides, word):
    programme = build_programme(dice, sides)
    net = programme.network()
    basis, _ = improve_basis(net, greedy_basis(programme))
    optimum, reference = (certify(net, basis, size) for size in (word, WORD))
    assert optimum.primal.fractions() == reference.primal.fractions()
    assert optimum.dual.fractions() == reference.dual.fractions()
    assert (optimum.value, optimum.bound) == (reference.value, reference.bound)
    assert bool(optimum.primal.large) == (word < 2.0**12)


@given(st.data())
def test_any_basis_is_repaired_to_the_optimum(data):
    programme = build_programme(3, 5)
    net = programme.network()
    optimal, _ = improve_basis(net, greedy_basis(programme))
    basis = optimal.copy()
    for _ in range(data.draw(st.integers(1, 4))):
        basis[data.draw(st.integers(0, basis.size - 1))] = data.draw(st.integers(0, net.cost.size - 1))
    assume(np.linalg.matrix_rank(dense(net)[:, basis]) == basis.size)
    optimum = certify(net, basis)
    assert optimum.value == certify(net, optimal).value
    check(net, optimum)


ENTRY = st.integers(-3, 3).filter(bool)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), ENTRY, ENTRY, st.integers(-4, 4)), max_size=8),
    st.lists(st.integers(-5, 5), min_size=4, max_size=4),
)
def test_random_networks_have_the_optimum_that_scipy_finds(edges, supply):
    loops = [(row, -1, sign, 0, -20) for row in range(4) for sign in (1, -1)]
    net = network([(i, j if i != j else -1, a, b, c) for i, j, a, b, c in edges] + loops, supply)
    found = linprog(-net.cost, A_eq=dense(net), b_eq=net.supply, method="highs")
    assume(found.status == 0)
    optimum = certify(net, len(edges) + 2 * np.arange(4))
    assert float(Fraction(int(optimum.value.p), int(optimum.value.q))) == pytest.approx(-found.fun, abs=1e-7)
    check(net, optimum)


def test_a_product_of_rationals_and_integers_is_exact_beyond_64_bits():
    big = 2**61 - 1
    vector = Rationals(np.array([big, big, 0, 1]), np.array([3, 3, 0, 7]), {2: fmpq(1, 2**70)})
    assert vector.dot(np.array([big, big, 2**40, 7])) == fmpq(2 * big * big, 3) + fmpq(1, 2**30) + 1
    assert vector.fractions() == [Fraction(big, 3)] * 2 + [Fraction(1, 2**70), Fraction(1, 7)]
    assert vector.first_negative(np.arange(4)) is None
