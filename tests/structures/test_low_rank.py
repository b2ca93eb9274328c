"""What is particular to matrices: the decomposition, its fall-backs, and recovery."""

import numpy as np
import pytest

from singleindex import SingleIndexRegressor
from singleindex.datasets import make_single_index
from singleindex.structures import LowRank
from singleindex.structures.low_rank import svd_above, truncated_svd


def nearest(w, shape, rank):
    u, s, vt = np.linalg.svd(w.reshape(shape), full_matrices=False)
    return ((u[:, :rank] * s[:rank]) @ vt[:rank]).ravel()


@pytest.mark.parametrize("shape", [(60, 40), (40, 60), (7, 9), (1, 5)])
def test_projection_is_the_truncated_decomposition(shape):
    w = np.random.default_rng(0).standard_normal(shape).ravel()
    for rank in range(1, min(4, *shape) + 1):
        np.testing.assert_allclose(LowRank(shape).project(w, rank), nearest(w, shape, rank), atol=1e-8)


def test_full_rank_is_no_constraint():
    w = np.random.default_rng(0).standard_normal(30)
    for n_atoms in (5, 6, 100, None):
        np.testing.assert_array_equal(LowRank((5, 6)).project(w, n_atoms), w)


def test_no_full_decomposition_at_small_rank(monkeypatch):
    def full(*args, **kwargs):
        raise AssertionError("full decomposition")

    w = np.random.default_rng(0).standard_normal(100 * 80)
    low = LowRank((100, 80)).project(w, 3)
    monkeypatch.setattr(np.linalg, "svd", full)
    structure = LowRank((100, 80)).fresh()
    structure.project(w, 3)
    structure.shrink(w, 17.0)
    assert structure.count_atoms(low) == 3
    assert structure.norm(low) > 0


def test_falls_back_where_propack_does_not_converge(monkeypatch):
    import singleindex.structures.low_rank as module

    real = module.svds

    def failing(*args, solver, **kwargs):
        if solver == "propack":
            raise np.linalg.LinAlgError("did not converge")
        return real(*args, solver=solver, **kwargs)

    w = np.random.default_rng(1).standard_normal(40 * 30)
    expected = LowRank((40, 30)).project(w, 2)
    monkeypatch.setattr(module, "svds", failing)
    np.testing.assert_allclose(LowRank((40, 30)).project(w, 2), expected, atol=1e-8)


def test_decomposition_of_zero_and_of_extreme_scales():
    assert not truncated_svd(np.zeros((20, 30)), 2)[1].any()
    assert LowRank((20, 30)).count_atoms(np.zeros(600)) == 0
    w = np.random.default_rng(0).standard_normal(20 * 30)
    for scale in (1e-200, 1e200):
        np.testing.assert_allclose(
            LowRank((20, 30)).project(w * scale, 2) / scale, nearest(w, (20, 30), 2), atol=1e-8
        )


def test_values_above_a_share():
    matrix = np.diag([8.0, 4.0, 2.0, 1.0, 0.5])
    np.testing.assert_allclose(svd_above(matrix, 0.2)[1], [8, 4, 2])


def test_wrong_shape_is_refused():
    with pytest.raises(ValueError, match="35 entries, got 36"):
        LowRank((5, 7)).check((36,))


@pytest.mark.parametrize(
    "shape", [30, (5.0, 6.0), (5, 3, 2), "ab", None, (30,), (0, 30), (-5, -6), (True, 30), {5, 6}, (5, "6")]
)
def test_a_shape_is_two_positive_integers(shape):
    with pytest.raises(ValueError, match="shape must be two positive integers, rows and columns; got"):
        LowRank(shape).check((30,))


@pytest.mark.parametrize("shape", [[5, 6], (np.int64(5), np.int32(6)), np.array([5, 6])])
def test_lists_and_numpy_integers_are_shapes(shape):
    w = np.random.default_rng(0).standard_normal(30)
    structure = LowRank(shape)
    assert structure.check((30,)) == 5
    for warm in (structure, structure.fresh()):
        np.testing.assert_allclose(warm.project(w, 2), LowRank((5, 6)).project(w, 2))
        np.testing.assert_allclose(warm.shrink(w, 1.0), LowRank((5, 6)).shrink(w, 1.0))
        assert warm.count_atoms(w) == 5


def forbid_decompositions(monkeypatch):
    import singleindex.structures.low_rank as module

    def decompose(*args, **kwargs):
        raise AssertionError("a decomposition")

    monkeypatch.setattr(module, "truncated_svd", decompose)


def test_values_of_the_last_result_are_remembered(monkeypatch):
    w = np.random.default_rng(0).standard_normal(60 * 40)
    cold, warm = LowRank((60, 40)), LowRank((60, 40)).fresh()
    steps = [
        lambda: warm.project(w, 3),
        lambda: warm.shrink(w, 9.0),
        lambda: warm.project(warm.shrink(w, 9.0), None),
        lambda: warm.project(warm.shrink(w, 9.0), 30),
        lambda: warm.project(warm.shrink(w, 9.0), 2),
    ]
    for step in steps:
        v = step()
        count, norm = cold.count_atoms(v), cold.norm(v)
        assert 2 <= count < 40
        with monkeypatch.context() as patch:
            forbid_decompositions(patch)
            assert warm.count_atoms(v) == count
            assert warm.norm(v) == pytest.approx(norm)
            with pytest.raises(AssertionError, match="a decomposition"):
                warm.count_atoms(v.copy())


def test_only_the_last_result_is_remembered():
    rng = np.random.default_rng(0)
    warm = LowRank((20, 30)).fresh()
    first = warm.project(rng.standard_normal(600), 3)
    second = warm.project(rng.standard_normal(600), 2)
    other = 2 * second
    assert [warm.count_atoms(v) for v in (first, second, other)] == [3, 2, 2]
    assert warm.norm(other) == pytest.approx(2 * warm.norm(second))
    assert warm.norm(first) == pytest.approx(LowRank((20, 30)).norm(first))
    assert warm.count_atoms(warm.project(second, 0)) == 0
    assert warm.count_atoms(warm.shrink(second, 1e6)) == 0


def test_a_projection_of_the_last_result_is_a_new_array():
    warm = LowRank((20, 30)).fresh()
    v = warm.project(np.random.default_rng(0).standard_normal(600), 3)
    for n_atoms in (None, 3, 5, 20):
        again = warm.project(v, n_atoms)
        assert not np.shares_memory(again, v)
        np.testing.assert_array_equal(again, v)
        v = again
    np.testing.assert_allclose(warm.project(v, 2), nearest(v, (20, 30), 2), atol=1e-8)


def test_a_fresh_copy_remembers_nothing(monkeypatch):
    structure = LowRank((20, 30))
    warm = structure.fresh()
    v = warm.project(np.random.default_rng(0).standard_normal(600), 3)
    assert vars(structure) == {"shape": (20, 30)} == vars(warm.fresh())
    forbid_decompositions(monkeypatch)
    for other in (structure, structure.fresh(), warm.fresh()):
        with pytest.raises(AssertionError, match="a decomposition"):
            other.norm(v)


def test_the_coefficients_of_a_fit_have_the_rank_asked_for():
    data = make_single_index(
        400, 400, structure="low_rank", shape=(20, 20), n_atoms=2, noise="gaussian", random_state=0
    )
    model = SingleIndexRegressor(2, structure=LowRank((20, 20))).fit(data.X, data.y)
    assert np.linalg.matrix_rank(model.coef_.reshape(20, 20), tol=1e-8) == 2
    cosine = model.coef_ @ data.coef / np.linalg.norm(model.coef_) / np.linalg.norm(data.coef)
    assert cosine > 0.95
    assert cosine > SingleIndexRegressor().fit(data.X, data.y).coef_ @ data.coef
