"""The network simplex: optimal bases, whatever shape the graph of a basis takes."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from solvers import network_simplex
from solvers.exact_lp import Network, certify
from solvers.hidden_die_programme import build_programme, greedy_basis
from solvers.network_simplex import improve_basis
from solvers.peeling import Peeling
from solvers.rationals import WORD


def network(columns, supply):
    """A network of (tail, head, entry at tail, entry at head, cost) with these supplies, after a slack for each row."""
    slack = [(row, -1, 1, 0, 0) for row in range(len(supply))]
    tail, head, at_tail, at_head, cost = zip(*slack, *columns, strict=True)
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
    two = net.head >= 0
    matrix[net.tail, np.arange(net.cost.size)] = net.at_tail
    matrix[net.head[two], np.flatnonzero(two)] = net.at_head[two]
    return matrix


def value(net, basis):
    return net.cost[basis] @ np.linalg.solve(dense(net)[:, basis], net.supply)


@pytest.mark.parametrize("block", [1, 3, 1000])
@pytest.mark.parametrize(("dice", "sides"), [(2, 9), (3, 7), (4, 6), (5, 5)])
def test_a_basis_that_it_ends_with_needs_no_repair(dice, sides, block, monkeypatch):
    programme = build_programme(dice, sides)
    monkeypatch.setattr(network_simplex, "BLOCK", block)
    basis, _ = improve_basis(programme.network(), greedy_basis(programme))
    assert certify(programme.network(), basis).pivots == 0


@pytest.mark.parametrize(("dice", "sides"), [(3, 8), (4, 6)])
def test_it_gets_as_far_from_slacks_as_from_the_greedy_filling_with_more_pivots(dice, sides):
    programme = build_programme(dice, sides)
    net, rows = programme.network(), programme.states + programme.observations
    basis, pivots = improve_basis(net, programme.roll.size + np.arange(rows))
    greedy, fewer = improve_basis(net, greedy_basis(programme))
    assert value(net, basis) == pytest.approx(value(net, greedy), rel=1e-12)
    assert pivots > 2 * fewer


def test_the_greedy_basis_is_feasible():
    programme = build_programme(4, 7)
    net, basis = programme.network(), greedy_basis(programme)
    assert np.linalg.solve(dense(net)[:, basis], net.supply).min() > -1e-9


ENTRY = st.integers(-3, 3).filter(bool)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), ENTRY, ENTRY, st.integers(-4, 9)), min_size=1, max_size=25),
    st.lists(st.integers(0, 9), min_size=6, max_size=6),
)
def test_random_networks_have_the_optimum_that_scipy_finds(edges, supply):
    net = network([(i, j if i != j else -1, a, b, c) for i, j, a, b, c in edges], supply)
    found = linprog(-net.cost, A_eq=dense(net), b_eq=net.supply, method="highs")
    if found.status == 3:
        with pytest.raises(ArithmeticError, match="unbounded"):
            improve_basis(net, np.arange(6))
        return
    assume(found.status == 0)
    basis, _ = improve_basis(net, np.arange(6))
    assert value(net, basis) == pytest.approx(-found.fun, abs=1e-6)
    assert certify(net, basis).pivots == 0


def test_bases_with_cycles_are_found_and_left():
    random, cycles = np.random.default_rng(982), 0
    for _ in range(200):
        rows = np.arange(8)
        edges = [(*random.choice(rows, 2, replace=False), *random.integers(1, 4, 2), random.integers(5, 9)) for _ in range(20)]
        net = network(edges, random.integers(1, 10, rows.size))
        found = linprog(-net.cost, A_eq=dense(net), b_eq=net.supply, method="highs")
        basis, _ = improve_basis(net, rows)
        assert value(net, basis) == pytest.approx(-found.fun, rel=1e-9)
        assert certify(net, basis).pivots == 0
        peeling = Peeling(net.tail[basis], net.head[basis], net.at_tail[basis], net.at_head[basis], WORD)
        cycles += bool(peeling.core_edges)
    assert 0 < cycles < 200


def test_a_first_basis_with_a_cycle_is_refused():
    net = network([(0, 1, 2, 1, 1), (1, 0, 2, 1, 1)], [1, 1])
    with pytest.raises(ArithmeticError, match="cycle"):
        improve_basis(net, np.array([2, 3]))


def test_too_many_pivots_are_an_error(monkeypatch):
    programme = build_programme(4, 6)
    monkeypatch.setattr(network_simplex, "PIVOTS_PER_ROW", 0)
    with pytest.raises(RuntimeError, match="no optimum after 0 pivots"):
        improve_basis(programme.network(), greedy_basis(programme))
