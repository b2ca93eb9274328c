"""Penalty factors, columns that are never penalised, and signs, through searches."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from singleindex import SingleIndexClassifierCV, SingleIndexRegressor, SingleIndexRegressorCV
from singleindex.design import read_chunks
from singleindex.fitting import search as searching
from singleindex.structures import GroupSparse, RowSparse, Sparse


def rows(seed=0, n=160, d=12, n_outputs=1):
    """Correlated columns; the first two carry y, column 5 has nothing to do with it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.7 * rng.normal(size=(n, 1))
    w = np.zeros((d, n_outputs))
    w[0], w[1] = 1.0, -1.0
    Y = X @ w + 0.5 * rng.normal(size=(n, n_outputs))
    return X, Y[:, 0] if n_outputs == 1 else Y


def fold_models(monkeypatch, model, X, y, **kwargs):
    """Return a fitted search and w of every model that any of its folds had, with those of cuts."""
    seen = []
    plain = searching.common_bank

    def watched(found, *args):
        bank = plain(found, *args)
        for fold in bank.models:
            seen.extend(fold)
        return bank

    monkeypatch.setattr(searching, "common_bank", watched)
    model.fit(X, y, **kwargs)
    n_outputs = 1 if np.ndim(y) == 1 else np.shape(y)[1]
    coefs = np.zeros((len(seen), X.shape[1], n_outputs))
    for coef, one in zip(coefs, seen, strict=True):
        one.add_to(coef, np.ones(n_outputs))
    return model, coefs


def labels(y):
    return (y > np.median(y)).astype(int)


@pytest.mark.parametrize("rule", ["average", "best", "one_se"])
@pytest.mark.parametrize("estimator", [SingleIndexRegressorCV, SingleIndexClassifierCV])
def test_what_is_never_penalised_is_in_every_model(monkeypatch, estimator, rule):
    X, y = rows()
    y = y if estimator is SingleIndexRegressorCV else labels(y)
    model = estimator(structure=Sparse(factors={5: 0, 7: np.inf}), cv=4, rule=rule)
    fitted, coefs = fold_models(monkeypatch, model, X, y)
    assert (coefs[:, 5] != 0).all()
    assert not coefs[:, 7].any()
    assert fitted.coef_[5] != 0
    assert fitted.coef_[7] == 0
    # Without the factors it is of no use, and few models have it.
    _, plain = fold_models(monkeypatch, estimator(cv=4, rule=rule), X, y)
    assert not (plain[:, 5] != 0).all()
    assert plain[:, 7].any()


@pytest.mark.parametrize("n_atoms", [[1], [2, 3]])
def test_it_does_not_count_among_the_atoms(n_atoms):
    X, y = rows()
    model = SingleIndexRegressorCV(n_atoms, structure=Sparse(factors={5: 0}), cv=4).fit(X, y)
    assert model.coef_[5] != 0
    assert np.count_nonzero(np.delete(model.coef_, 5)) <= max(n_atoms)
    assert np.count_nonzero(np.delete(model.coef_, 5)) >= min(n_atoms)


@pytest.mark.parametrize("estimator", [SingleIndexRegressorCV, SingleIndexClassifierCV])
def test_signs_hold_in_every_model(monkeypatch, estimator):
    X, y = rows()
    y = y if estimator is SingleIndexRegressorCV else labels(y)
    signs = {0: -1, 1: -1, 2: 1, 3: 1, 4: -1, 6: 1}
    model, coefs = fold_models(monkeypatch, estimator(structure=Sparse(signs=signs), cv=4), X, y)
    for column, sign in signs.items():
        assert (sign * coefs[:, column] >= 0).all()
        assert sign * model.coef_[column] >= 0
    assert model.coef_[1] < 0
    assert model.coef_[0] == 0  # the data want it above zero
    _, plain = fold_models(monkeypatch, estimator(cv=4), X, y)
    assert any((sign * plain[:, column] < 0).any() for column, sign in signs.items())


def test_a_sign_of_what_is_never_penalised(monkeypatch):
    X, y = rows()
    model, coefs = fold_models(
        monkeypatch, SingleIndexRegressorCV(structure=Sparse(factors={0: 0, 1: 0}, signs={1: 1}), cv=4), X, y
    )
    assert (coefs[:, 0] > 0).all()
    assert (coefs[:, 1] == 0).all()
    assert model.coef_[1] == 0


def test_positive_is_a_sign_of_every_column():
    X, y = rows()
    one = SingleIndexRegressorCV(structure=Sparse(positive=True), cv=4).fit(X, y)
    other = SingleIndexRegressorCV(structure=Sparse(signs=np.ones(12)), cv=4).fit(X, y)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    assert (one.coef_ >= 0).all()


def test_a_group_and_a_row_that_are_never_penalised(monkeypatch):
    X, Y = rows(n_outputs=2)
    groups = np.repeat(np.arange(6), 2)
    weights = np.array([1, 1, 0, 1, np.inf, 1])
    model, coefs = fold_models(
        monkeypatch, SingleIndexRegressorCV(structure=GroupSparse(groups, weights), cv=4), X, Y[:, 0]
    )
    assert (coefs[:, [4, 5]] != 0).all()
    assert not coefs[:, [8, 9]].any()
    assert (model.coef_[[4, 5]] != 0).all()
    model, coefs = fold_models(
        monkeypatch, SingleIndexRegressorCV(structure=RowSparse(factors={5: 0, 7: np.inf}), cv=4), X, Y
    )
    assert (coefs[:, 5] != 0).all()
    assert not coefs[:, 7].any()
    assert (model.coef_[5] != 0).all()


def test_names_of_a_data_frame():
    X, y = rows()
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(12)])
    by_name = Sparse(factors={"gene 5": 0, "gene 0": 2}, signs={"gene 3": 1})
    by_place = Sparse(factors={5: 0, 0: 2}, signs={3: 1})
    one = clone(SingleIndexRegressorCV(structure=by_name, cv=4)).fit(frame, y)
    other = SingleIndexRegressorCV(structure=by_place, cv=4).fit(X, y)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-10)
    assert one.structure == by_name


@pytest.mark.parametrize(
    "structure", [Sparse(factors={5: 0, 2: 2.0}, signs={3: 1, 1: -1}), Sparse(positive=True)]
)
def test_weights_are_repetition_in_a_search(structure):
    X, y = rows(n=60)
    times = np.random.default_rng(1).integers(1, 3, len(y))
    folds = np.arange(len(y)) % 3
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]
    again = np.repeat(np.arange(len(y)), times)
    repeated = [(np.flatnonzero(folds[again] != k), np.flatnonzero(folds[again] == k)) for k in range(3)]
    one = SingleIndexRegressorCV(structure=structure, cv=splits).fit(X, y, sample_weight=times)
    other = SingleIndexRegressorCV(structure=structure, cv=repeated).fit(X[again], y[again])
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("structure", [RowSparse(), RowSparse(factors={5: 0, 3: 2})])
@pytest.mark.parametrize("search", [True, False])
def test_units_of_outputs_do_not_matter_to_shared_rows(structure, search):
    X, Y = rows(n_outputs=2)
    unit = np.array([1e-3, 1e3])
    if search:
        model = SingleIndexRegressorCV(structure=structure, cv=4)
    else:
        model = SingleIndexRegressor(structure=structure, penalty=0.2)
    one, other = clone(model).fit(X, Y), clone(model).fit(X, Y * unit)
    np.testing.assert_array_equal(one.coef_ != 0, other.coef_ != 0)
    np.testing.assert_allclose(
        other.predict(X), one.predict(X) * unit, rtol=1e-6, atol=1e-6 * np.abs(Y * unit).max()
    )


# ---------------------------------------------------------------- single fits


@pytest.mark.parametrize("solver", ["exact", "two-pass", "one-pass"])
@pytest.mark.parametrize("options", [{}, {"n_atoms": 2}, {"penalty": 0.3}, {"penalty": 1.0}])
def test_single_fits_keep_to_them(solver, options):
    X, y = rows(n=400)
    structure = Sparse(factors={5: 0, 7: np.inf}, signs={0: -1, 2: 1})
    model = SingleIndexRegressor(structure=structure, solver=solver, max_iter=300, tol=1e-4, **options)
    coef = model.fit(X, y).coef_
    assert coef[5] != 0
    assert coef[7] == 0
    assert coef[0] <= 0 <= coef[2]
    if "n_atoms" in options:
        assert np.count_nonzero(np.delete(coef, 5)) <= 2


@pytest.mark.parametrize("options", [{}, {"n_atoms": 2}, {"penalty": 0.3}, {"penalty": 0.9}])
def test_exact_steps_over_chunks_are_those_over_rows(tmp_path, options):
    X, y = rows(n=400)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    structure = Sparse(factors={5: 0, 7: np.inf}, signs={0: -1, 2: 1})
    model = SingleIndexRegressor(
        structure=structure, solver="exact", link="identity", max_iter=300, tol=1e-6, **options
    )
    here = clone(model).fit(X, y).coef_
    there = model.fit(read_chunks(tmp_path / "X.npy", tmp_path / "y.npy", chunk_rows=64)).coef_
    np.testing.assert_allclose(there, here, atol=1e-3)
    np.testing.assert_array_equal(there != 0, here != 0)


@pytest.mark.parametrize("solver", ["exact", "two-pass"])
def test_at_the_largest_penalty_what_is_never_penalised_is_left(solver):
    X, y = rows()

    def used(share):
        structure = Sparse(factors={0: 0})
        model = SingleIndexRegressor(
            structure=structure, penalty=share, solver=solver, link="identity", max_iter=3000, tol=1e-9
        )
        return np.flatnonzero(model.fit(X, y).coef_)

    assert used(1.0).tolist() == [0]
    assert len(used(0.99)) == 2


def test_an_exchange_leaves_what_is_never_penalised():
    """It is the weakest of all, and many rows are there to exchange it for a better one."""
    X, y = rows(n=600)
    structure = Sparse(factors={5: 0}, signs={0: -1})
    coef = SingleIndexRegressor(2, structure=structure, solver="exact", link="identity").fit(X, y).coef_
    assert coef[5] != 0
    assert coef[1] < 0
    assert coef[0] <= 0
