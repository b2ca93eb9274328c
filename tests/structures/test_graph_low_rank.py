"""Atoms over graphs: everything is checked against the dense formula with eigenvectors of the Laplacian."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import fractional_matrix_power

from singleindex import SingleIndexRegressor, SingleIndexRegressorCV
from singleindex.datasets import make_completion
from singleindex.structures import GraphLowRank, LowRank, graph
from singleindex.structures.graph import GraphSmoother, as_graph, chebyshev_coefficients


def make_graph(n, seed=0, density=0.3):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < density, 1) * rng.uniform(0.5, 2.0, (n, n))
    return sparse.csr_matrix(upper + upper.T)


def dense_matrix(g, strength):
    """Return I + strength · L by the textbook."""
    W = g.toarray()
    degree = W.sum(axis=1)
    root = np.divide(1, np.sqrt(degree), out=np.zeros(len(W)), where=degree > 0)
    return np.eye(len(W)) + strength * (np.diag(degree > 0) - root[:, None] * W * root)


def structure(**settings):
    return GraphLowRank((8, 6), make_graph(8, 1), make_graph(6, 2), 4.0, 2.0, **settings)


def dense_coordinates(s, W):
    A, B = dense_matrix(s.row_graph, s.row_strength), dense_matrix(s.col_graph, s.col_strength)
    return fractional_matrix_power(A, 0.5) @ W @ fractional_matrix_power(B, 0.5)


# ---------------------------------------------------------------- the smoother


@pytest.mark.parametrize("strength", [0.0, 0.5, 10.0, 300.0])
@pytest.mark.parametrize("dense_up_to", [0, 1000])
def test_powers_match_the_dense_matrix(monkeypatch, strength, dense_up_to):
    monkeypatch.setattr(graph, "_DENSE_UP_TO", dense_up_to)
    g = make_graph(30, density=0.1)
    others = sparse.diags((np.arange(30) != 3).astype(float))
    g = as_graph(others @ g @ others, 30, "g")
    A = dense_matrix(g, strength)
    smoother = GraphSmoother(g, strength, 30)
    f = np.random.default_rng(0).standard_normal((30, 4))
    for found, power in ((smoother.apply, 1), (smoother.root, 0.5), (smoother.inverse_root, -0.5)):
        expected = fractional_matrix_power(A, power)
        np.testing.assert_allclose(found(f), expected @ f, rtol=0, atol=1e-8)
        np.testing.assert_allclose(found(f[:, 0]), expected @ f[:, 0], rtol=0, atol=1e-8)
    np.testing.assert_allclose(smoother.diagonal(), np.diag(A))


def test_another_strength_of_the_same_graph():
    g = as_graph(make_graph(20), 20, "g")
    first = GraphSmoother(g, 1.0, 20)
    first.prepare()
    second, f = first.with_strength(7.0), np.arange(20.0)
    assert second._eigen is first._eigen
    np.testing.assert_allclose(second.inverse_root(f), GraphSmoother(g, 7.0, 20).inverse_root(f))


@pytest.mark.parametrize("strength", [0.1, 10.0, 1e4])
def test_the_series_is_as_good_as_it_says(strength):
    x = np.linspace(0, 2, 1001)
    series = np.polynomial.chebyshev.chebval(x - 1, chebyshev_coefficients(strength, -0.5))
    np.testing.assert_allclose(series, (1 + strength * x) ** -0.5, rtol=1e-9)


# ---------------------------------------------------------------- dense matrices


def test_norm_and_threshold_are_those_of_the_formula():
    s, W = structure(), np.random.default_rng(0).standard_normal((8, 6))
    values = np.linalg.svd(dense_coordinates(s, W), compute_uv=False)
    assert s.norm(W.ravel()) == pytest.approx(values.sum())
    assert s.dual_norm(W.ravel()) == pytest.approx(values[0])
    assert not s.shrink(W.ravel(), values[0] * (1 + 1e-9)).any()
    assert s.shrink(W.ravel(), values[0] * 0.99).any()


def test_shrinking_is_the_proximal_step_in_the_norm_of_the_graphs():
    s, rng = structure(), np.random.default_rng(0)
    W = rng.standard_normal(48)

    def cost(V):
        gap = dense_coordinates(s, (V - W).reshape(8, 6))
        return 0.5 * np.sum(gap**2) + 0.7 * s.norm(V)

    best = s.shrink(W, 0.7)
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(10):
            assert cost(best) <= cost(best + size * rng.standard_normal(48)) + 1e-12


def test_without_graphs_it_is_low_rank():
    w = np.random.default_rng(0).standard_normal(12)
    s = GraphLowRank((4, 3))
    np.testing.assert_allclose(s.project(w, 2), LowRank((4, 3)).project(w, 2))
    np.testing.assert_allclose(s.shrink(w, 0.5), LowRank((4, 3)).shrink(w, 0.5))
    zero = GraphLowRank((4, 3), make_graph(4), None, row_strength=0.0)
    np.testing.assert_allclose(zero.project(w, 1), LowRank((4, 3)).project(w, 1))


# ---------------------------------------------------------------- factors


@pytest.mark.parametrize("n_atoms", [1, 3, 6])
def test_top_atoms_of_a_sparse_matrix(n_atoms):
    s = structure()
    G = sparse.random(8, 6, density=0.3, random_state=np.random.default_rng(1), format="csr")
    A, B = dense_matrix(s.row_graph, 4.0), dense_matrix(s.col_graph, 2.0)
    seen = fractional_matrix_power(A, -0.5) @ G.toarray() @ fractional_matrix_power(B, -0.5)
    rows, values, cols = s.top_atoms(G, n_atoms)
    np.testing.assert_allclose(values, np.linalg.svd(seen, compute_uv=False)[:n_atoms], rtol=1e-3, atol=1e-12)
    for k in range(n_atoms):
        atom = np.outer(rows[:, k], cols[:, k])
        assert s.norm(atom.ravel()) == pytest.approx(1)
        assert np.sum(atom * G.toarray()) == pytest.approx(values[k], rel=1e-3)


def test_top_atoms_of_nothing():
    rows, values, cols = structure().top_atoms(sparse.csr_matrix((8, 6)), 2)
    assert rows.shape == (8, 0)
    assert values.shape == (0,)
    assert cols.shape == (6, 0)


def test_weights_of_factors_are_those_of_their_product():
    s, rng = structure(), np.random.default_rng(0)
    P, Q = rng.standard_normal((8, 3)), rng.standard_normal((6, 3))
    W = P @ Q.T
    weights = s.atom_weights(P, Q)
    np.testing.assert_allclose(weights, np.linalg.svd(dense_coordinates(s, W), compute_uv=False)[:3])
    assert weights.sum() == pytest.approx(s.norm(W.ravel()))
    rows, cols, again = s.balance(P, Q)
    np.testing.assert_allclose(rows @ cols.T, W, atol=1e-10)
    np.testing.assert_allclose(again, weights)
    A, B = dense_matrix(s.row_graph, 4.0), dense_matrix(s.col_graph, 2.0)
    np.testing.assert_allclose(rows.T @ A @ rows, np.diag(weights), atol=1e-9)
    np.testing.assert_allclose(cols.T @ B @ cols, np.diag(weights), atol=1e-9)


def test_balance_leaves_out_atoms_without_weight():
    P, Q = np.ones((8, 2)), np.ones((6, 2))
    rows, cols, weights = structure().balance(P, Q)
    assert rows.shape == (8, 1)
    np.testing.assert_allclose(rows @ cols.T, P @ Q.T)
    assert structure().balance(np.zeros((8, 2)), Q)[0].shape == (8, 0)
    assert weights.shape == (1,)
    assert structure().balance(np.zeros((8, 0)), np.zeros((6, 0)))[2].shape == (0,)


# ---------------------------------------------------------------- in an estimator


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_smooth_matrix_is_found_better_with_its_graphs(seed):
    truth = make_completion(24, 20, 1, n_atoms=2, smoothness=0.95, community_size=6, random_state=seed)
    W = (truth.row_factors @ truth.col_factors.T).ravel()
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, W.size))
    y = np.tanh(X @ W / np.linalg.norm(W)) + 0.1 * rng.standard_normal(60)
    found = {}
    for s in (LowRank((24, 20)), GraphLowRank((24, 20), truth.row_graph, truth.col_graph)):
        coef = SingleIndexRegressor(n_atoms=2, structure=s).fit(X, y).coef_
        assert np.linalg.matrix_rank(coef.reshape(24, 20), tol=1e-6 * np.linalg.norm(coef)) <= 2
        found[type(s)] = coef @ W / np.linalg.norm(coef) / np.linalg.norm(W)
    assert found[GraphLowRank] > found[LowRank] + 0.1


def test_the_search_takes_it():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 48))
    y = X @ np.outer(np.ones(8), np.ones(6)).ravel() + rng.standard_normal(60)
    model = SingleIndexRegressorCV(structure=structure(), n_atoms=[1, 2], penalty=[0.3], cv=3).fit(X, y)
    assert model.coef_.shape == (48,)
    assert model.score(X, y) > 0.8


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.ones((3, 4)), r"shape \(3, 4\) where \(4, 4\) is needed"),
        (np.eye(5), r"where \(4, 4\)"),
        (np.triu(np.ones((4, 4)), 1), "not symmetric.*maximum"),
        (-np.ones((4, 4)), "negative weights.*leave such links out"),
        (np.full((4, 4), np.nan), "NaN or infinite"),
        (np.full((4, 4), np.inf), "NaN or infinite"),
    ],
)
def test_graphs_that_are_none(given, message):
    with pytest.raises(ValueError, match=message):
        GraphLowRank((4, 3), row_graph=given).check((12,))
    with pytest.raises(ValueError, match=f"col_graph.*{message}"):
        GraphLowRank((3, 4), col_graph=given).check((12,))


def test_self_loops_are_left_out_and_the_input_is_not_changed():
    g = make_graph(5)
    with_loops = (g + sparse.eye(5)).tocsr()
    before = with_loops.copy()
    assert (as_graph(with_loops, 5, "g") != g).nnz == 0
    assert (with_loops != before).nnz == 0


@pytest.mark.parametrize("strength", [-1.0, np.nan, np.inf, "much", True, None])
def test_strengths_that_are_none(strength):
    with pytest.raises(ValueError, match="row_strength must be a finite number"):
        GraphLowRank((4, 3), row_strength=strength).check((12,))


def test_another_number_of_features():
    with pytest.raises(ValueError, match="48 entries, got 47"):
        structure().check((47,))
    with pytest.raises(ValueError, match="two positive integers"):
        GraphLowRank((4, 0)).check((0,))
