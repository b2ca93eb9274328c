"""SingleIndexRegressor, SingleIndexClassifier and Slisotron through their public face."""

import numpy as np
import pytest
from scipy import sparse
from single_index_models import (
    CLASSIFIERS,
    REGRESSORS,
    every_classifier,
    every_regressor,
    fitted_state,
    make_classes,
    make_regression,
)
from sklearn.base import clone

from singleindex import (
    SingleIndexClassifier,
    SingleIndexRegressor,
    Slisotron,
)
from singleindex.solvers import Status
from singleindex.structures import Sparse

# ---------------------------------------------------------------- equivariance


@pytest.mark.parametrize("model", REGRESSORS[:4], ids=repr)
@pytest.mark.parametrize(("factor", "shift"), [(1e-5, 0.0), (3.0, 100.0), (-2.0, 1.0), (1e5, -7.0)])
def test_units_of_y(model, factor, shift):
    X, y, *_ = make_regression()
    base, other = clone(model).fit(X, y), clone(model).fit(X, factor * y + shift)
    size = np.abs(factor * base.coef_).max()
    np.testing.assert_allclose(other.coef_, factor * base.coef_, rtol=0, atol=1e-8 * size)
    expected = factor * base.predict(X) + shift
    np.testing.assert_allclose(other.predict(X), expected, rtol=0, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("n_atoms", [None, 4])
def test_units_of_columns_with_full_scaling(n_atoms):
    X, y, *_ = make_regression()
    units = 10 ** np.random.default_rng(1).uniform(-5, 5, X.shape[1])
    model = SingleIndexRegressor(n_atoms, scale_power=1.0)
    base, other = clone(model).fit(X, y), clone(model).fit(X * units, y)
    np.testing.assert_allclose(other.predict(X * units), base.predict(X), rtol=0, atol=1e-8)
    np.testing.assert_allclose(other.coef_ * units, base.coef_, rtol=0, atol=1e-8)


@pytest.mark.parametrize("scale_power", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("unit", [1e-6, 1e4])
def test_common_unit_of_all_columns(scale_power, unit):
    X, y, *_ = make_regression()
    model = SingleIndexRegressor(scale_power=scale_power)
    base, other = clone(model).fit(X, y), clone(model).fit(unit * X, y)
    np.testing.assert_allclose(other.predict(unit * X), base.predict(X), rtol=0, atol=1e-8)


@every_classifier
def test_names_of_the_classes_do_not_matter(model):
    X, y, _ = make_classes()
    base, swapped = clone(model).fit(X, y), clone(model).fit(X, np.array(["yes", "no"])[y])
    assert swapped.classes_.tolist() == ["no", "yes"]
    np.testing.assert_allclose(swapped.coef_, -base.coef_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(swapped.predict_proba(X)[:, ::-1], base.predict_proba(X), rtol=0, atol=1e-8)


@pytest.mark.parametrize("model", REGRESSORS + CLASSIFIERS, ids=repr)
@pytest.mark.parametrize("convert", [sparse.csr_matrix, sparse.csc_array, np.asfortranarray])
def test_dense_is_sparse(model, convert):
    X, y, _ = make_classes()
    X = np.where(np.abs(X) < 0.7, 0, X)
    base, other = clone(model).fit(X, y), clone(model).fit(convert(X), y)
    np.testing.assert_allclose(other.coef_, base.coef_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(other.predict(convert(X)), base.predict(X), rtol=0, atol=1e-8)


def test_constant_columns_get_no_coefficient_dense_or_sparse():
    X, y, *_ = make_regression(1000)
    for value in (0.0, 1.0, 0.1, -1 / 3):
        X[:, 2] = value
        for convert in (np.asarray, np.asfortranarray, sparse.csr_array):
            for scale in (None, 0.5, 1.0):
                model = SingleIndexRegressor(scale_power=scale).fit(convert(X), y)
                assert model.coef_[2] == 0, (value, convert, scale)


# ---------------------------------------------------------------- what a fit sets


@every_regressor
def test_attributes_of_a_regressor(model):
    data = make_regression()
    model = clone(model).fit(data.X, data.y)
    assert model.coef_.shape == (12,)
    assert model.n_features_in_ == 12
    assert not hasattr(model, "feature_names_in_")
    assert 1 <= model.n_iter_ <= model.max_iter
    assert 0 <= model.best_iter_ < model.n_iter_
    assert model.status_ in {s.name for s in Status}
    assert {len(v) for v in model.history_.values()} == {model.n_iter_}
    assert model.best_iter_ == np.argmin(model.history_["objective"])
    np.testing.assert_allclose(model.index(data.X), data.X @ model.coef_)
    np.testing.assert_array_equal(model.predict(data.X), model.link_(model.index(data.X)))
    assert model.score(data.X, data.y) > 0.7
    # The scale of w is chosen last, to fit y: the error is that of the best iterate or a smaller one.
    mse = np.mean((model.predict(data.X) - data.y) ** 2)
    assert mse <= model.history_["mse"][model.best_iter_] * (1 + 1e-6)


@pytest.mark.parametrize("model", [REGRESSORS[0], REGRESSORS[1], REGRESSORS[2], REGRESSORS[4]], ids=repr)
def test_knots_of_a_learned_link(model):
    data = make_regression()
    model = clone(model).fit(data.X, data.y)
    knots = model.link_.knots_
    assert knots.shape[1] == 2
    assert (np.diff(knots[:, 0]) > 0).all()
    assert (np.diff(knots[:, 1]) >= 0).all()
    if np.isfinite(model.lipschitz):
        slopes = np.diff(knots[:, 1]) / np.diff(knots[:, 0])
        assert (slopes <= model.lipschitz * (1 + 1e-6)).all()
    index = model.index(data.X)
    np.testing.assert_allclose(np.interp(index, *knots.T), model.predict(data.X), atol=1e-9)


@pytest.mark.parametrize("n_atoms", [1, 3, 12])
def test_n_atoms_limits_the_coefficients(n_atoms):
    data = make_regression()
    model = SingleIndexRegressor(n_atoms).fit(data.X, data.y)
    assert np.count_nonzero(model.coef_) <= n_atoms
    X, y, _ = make_classes(n_classes=3)
    model = SingleIndexClassifier(n_atoms).fit(X, y)
    assert (np.count_nonzero(model.coef_, axis=0) <= n_atoms).all()


def test_structure_may_be_given():
    data = make_regression()
    base = SingleIndexRegressor(3).fit(data.X, data.y)
    same = SingleIndexRegressor(3, structure=Sparse()).fit(data.X, data.y)
    assert (base.coef_ == same.coef_).all()


@pytest.mark.parametrize("model", REGRESSORS[:4] + CLASSIFIERS + [Slisotron()], ids=repr)
def test_float32_is_kept(model):
    X, y, _ = make_classes()
    single = clone(model).fit(X.astype(np.float32), y)
    double = clone(model).fit(X, y)
    assert single.coef_.dtype == np.float32
    assert double.coef_.dtype == np.float64
    assert np.corrcoef(single.coef_, double.coef_)[0, 1] > 0.99
    as_sparse = clone(model).fit(sparse.csr_array(X.astype(np.float32)), y)
    assert as_sparse.coef_.dtype == np.float32


def test_several_outputs():
    data = make_regression()
    Y = np.column_stack([data.y, -10 * data.y + 3, data.X[:, 0]])
    model = SingleIndexRegressor(4).fit(data.X, Y)
    assert model.coef_.shape == (12, 3)
    assert len(model.link_) == 3
    assert model.predict(data.X).shape == Y.shape
    assert model.index(data.X).shape == Y.shape
    assert model.score(data.X, Y) > 0.8
    alone = SingleIndexRegressor(4).fit(data.X, Y[:, 1])
    np.testing.assert_allclose(model.coef_[:, 1], alone.coef_, rtol=1e-6, atol=1e-8)


def test_one_column_of_y_is_one_output():
    data = make_regression()
    model = SingleIndexRegressor().fit(data.X, data.y[:, None])
    np.testing.assert_array_equal(model.coef_.ravel(), SingleIndexRegressor().fit(data.X, data.y).coef_)


@pytest.mark.parametrize("model", REGRESSORS + CLASSIFIERS, ids=repr)
def test_a_second_fit_forgets_the_first(model):
    X, y, _ = make_classes()
    other_X, other_y, _ = make_classes(80, 5, seed=3)
    fresh = clone(model).set_params(**({"n_atoms": 3} if "n_atoms" in model.get_params() else {}))
    used = clone(fresh).fit(X, y).fit(other_X, other_y)
    fresh.fit(other_X, other_y)
    assert fitted_state(used) == fitted_state(fresh)


# ---------------------------------------------------------------- weights


@pytest.mark.parametrize("model", REGRESSORS + CLASSIFIERS, ids=repr)
def test_weights_are_repetitions(model):
    X, y, _ = make_classes()
    count = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = clone(model).fit(X, y, sample_weight=count)
    repeated = clone(model).fit(np.repeat(X, count, axis=0), np.repeat(y, count))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=0, atol=1e-7)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=0, atol=1e-7)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_balanced_classes_are_explicit_weights(n_classes):
    X, y, _ = make_classes(n_classes=n_classes)
    keep = (y > 0) | (np.arange(len(y)) % 3 == 0)
    X, y = X[keep], y[keep]
    count = np.bincount(y)
    by_class = len(y) / (n_classes * count)
    balanced = SingleIndexClassifier(class_weight="balanced").fit(X, y)
    explicit = SingleIndexClassifier().fit(X, y, sample_weight=by_class[y])
    by_dict = SingleIndexClassifier(class_weight=dict(enumerate(by_class))).fit(X, y)
    for other in (explicit, by_dict):
        np.testing.assert_allclose(balanced.coef_, other.coef_, rtol=0, atol=1e-8)
        np.testing.assert_allclose(balanced.predict_proba(X), other.predict_proba(X), atol=1e-8)


def test_balanced_classes_count_the_sample_weights():
    X, y, _ = make_classes()
    count = np.where(y == 1, 3, 1)
    count[:20] = 0
    weighted = SingleIndexClassifier(class_weight="balanced").fit(X, y, sample_weight=count)
    repeated = SingleIndexClassifier(class_weight="balanced").fit(
        np.repeat(X, count, axis=0), np.repeat(y, count)
    )
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-7)


def test_class_weights_multiply_sample_weights():
    X, y, _ = make_classes()
    weight = np.random.default_rng(0).random(len(y))
    both = SingleIndexClassifier(class_weight={0: 1.0, 1: 5.0}).fit(X, y, sample_weight=weight)
    product = SingleIndexClassifier().fit(X, y, sample_weight=weight * np.where(y == 1, 5.0, 1.0))
    np.testing.assert_allclose(both.coef_, product.coef_, rtol=0, atol=1e-8)
    plain = SingleIndexClassifier().fit(X, y, sample_weight=weight)
    assert both.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean()
