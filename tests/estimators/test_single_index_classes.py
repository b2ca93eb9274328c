"""Classes of single-index models, and scikit-learn's tools around them."""

import pickle

import numpy as np
import pytest
from single_index_models import (
    CLASSIFIERS,
    REGRESSORS,
    every_classifier,
    fitted_state,
    make_classes,
    make_regression,
)
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from singleindex import (
    SingleIndexClassifier,
    SingleIndexRegressor,
)

# ---------------------------------------------------------------- classes


@every_classifier
def test_two_classes(model):
    X, y, _ = make_classes()
    labels = np.array(["blue", "red"])[y]
    model = clone(model).fit(X, labels)
    assert model.classes_.tolist() == ["blue", "red"]
    assert isinstance(model.intercept_, float)
    decision = model.decision_function(X)
    np.testing.assert_allclose(decision, X @ model.coef_ + model.intercept_, atol=1e-12)
    np.testing.assert_allclose(model.index(X), X @ model.coef_, atol=1e-12)
    p = model.predict_proba(X)
    assert p.shape == (len(y), 2)
    assert ((p >= 0) & (p <= 1)).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(model.link_(decision), p[:, 1])
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(p))
    assert (model.predict(X) == model.classes_[(decision > 0).astype(int)]).all()
    assert model.score(X, labels) > 0.75
    assert (np.diff(p[np.argsort(decision), 1]) >= 0).all()


def assert_one_decision(model, X):
    """Assert that decision_function, predict and predict_proba name the same class, everywhere."""
    decision, p = model.decision_function(X), model.predict_proba(X)[:, 1]
    second = model.predict(X) == model.classes_[1]
    assert (second == (decision > 0)).all()
    disagree = second != (p > 0.5)
    assert not disagree.any(), (decision[disagree], p[disagree])


def test_assert_one_decision_fails_on_a_wrong_intercept():
    X, y, _ = make_classes()
    model = SingleIndexClassifier().fit(X, y)
    assert_one_decision(model, X)
    model.intercept_ += 1.0
    model.link_ = model.link_.shift(2.0)
    with pytest.raises(AssertionError):
        assert_one_decision(model, X)


@every_classifier
def test_one_decision(model):
    X, y, _ = make_classes()
    model = clone(model).fit(X, y)
    assert_one_decision(model, np.r_[X, 3 * X, -X])


@pytest.mark.parametrize("lipschitz", [1.0, 5.0, np.inf])
@pytest.mark.parametrize("n_features", [1, 2])
def test_one_decision_where_a_flat_lies_at_one_half(lipschitz, n_features):
    """Few rows with ties: blocks of the link are often at exactly 1/2, and end at a training row."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n = 2 * int(rng.integers(3, 15))
        X = rng.integers(-3, 4, (n, n_features)).astype(float)
        X[:2] = [[-1.0], [1.0]]
        model = SingleIndexClassifier(lipschitz=lipschitz).fit(X, rng.permutation(np.arange(n) % 2))
        low, high = model.link_.range_
        if low <= 0.5 < high:
            assert_one_decision(model, X)


@pytest.mark.parametrize("majority", [0, 1])
def test_one_decision_where_the_link_never_crosses_one_half(majority):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(rng.random(200) < 0.1, 1 - majority, majority)
    model = SingleIndexClassifier(lipschitz=0.05).fit(X, y)
    low, high = model.link_.range_
    assert low > 0.5 or high < 0.5
    assert_one_decision(model, X)
    assert (model.predict(X) == majority).all()
    # Far outside of the training rows no finite offset can keep the sign; the prediction holds all the same.
    assert (model.predict(1000 * X) == majority).all()


def test_decision_function_ranks_without_ties():
    X, y, _ = make_classes(300)
    model = SingleIndexClassifier(lipschitz=np.inf).fit(X, y)
    decision, p = model.decision_function(X), model.predict_proba(X)[:, 1]
    assert len(np.unique(decision)) == len(y)
    assert len(np.unique(p)) < len(y)
    assert roc_auc_score(y, decision) > 0.8


@pytest.mark.parametrize("n_classes", [3, 5])
@every_classifier
def test_several_classes(model, n_classes):
    X, y, _ = make_classes(300, n_classes=n_classes)
    names = np.array(list("vwxyz"))[:n_classes]
    model = clone(model).fit(X, names[y])
    assert (model.classes_ == names).all()
    assert model.coef_.shape == (12, n_classes)
    assert model.intercept_.shape == (n_classes,)
    assert len(model.link_) == n_classes
    decision, p = model.decision_function(X), model.predict_proba(X)
    assert decision.shape == p.shape == (300, n_classes)
    assert ((p >= 0) & (p <= 1)).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    assert (model.predict(X) == names[np.argmax(p, axis=1)]).all()
    assert (model.predict(X) == names[np.argmax(decision, axis=1)]).all()
    assert model.score(X, names[y]) > 1.2 / n_classes


@pytest.mark.parametrize("labels", [[False, True], [-1, 1], [10, 3], [0.0, 2.0]])
def test_labels_of_any_type(labels):
    X, y, _ = make_classes()
    labels = np.array(labels)
    model = SingleIndexClassifier().fit(X, labels[y])
    assert (model.classes_ == np.unique(labels)).all()
    assert model.predict(X).dtype == labels.dtype
    assert model.score(X, labels[y]) > 0.75


# ---------------------------------------------------------------- scikit-learn's tools


@pytest.mark.parametrize("model", REGRESSORS + CLASSIFIERS, ids=repr)
def test_clone_and_parameters(model):
    X, y, _ = make_classes()
    fitted = clone(model).fit(X, y)
    before = fitted.get_params()
    again = clone(fitted)
    assert repr(again.get_params()) == repr(before) == repr(model.get_params())
    assert not fitted_state(again)
    again.set_params(max_iter=3)
    assert again.max_iter == 3
    with pytest.raises(NotFittedError):
        again.predict(X)


@pytest.mark.parametrize("model", REGRESSORS + CLASSIFIERS, ids=repr)
def test_pickle(model):
    X, y, _ = make_classes()
    fitted = clone(model).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict(X) == fitted.predict(X)).all()
    assert fitted_state(again).keys() == fitted_state(fitted).keys()


def test_grid_search_and_pipeline():
    X, y, _ = make_classes()
    pipeline = make_pipeline(StandardScaler(), SingleIndexClassifier())
    grid = {"singleindexclassifier__n_atoms": [2, 6, None], "singleindexclassifier__alpha": [0.01, 1.0]}
    search = GridSearchCV(pipeline, grid, cv=3, scoring="roc_auc").fit(X, y)
    assert search.best_score_ > 0.8
    data = make_regression()
    search = GridSearchCV(SingleIndexRegressor(), {"lipschitz": [0.5, 5.0, np.inf]}, cv=3)
    assert search.fit(data.X, data.y).best_score_ > 0.7
    p = cross_val_predict(SingleIndexClassifier(), X, y, cv=3, method="predict_proba")
    assert p.shape == (len(y), 2)


def test_pandas_keeps_feature_names():
    pd = pytest.importorskip("pandas")
    data = make_regression()
    frame = pd.DataFrame(data.X, columns=[f"gene{j}" for j in range(12)])
    model = SingleIndexRegressor(4).fit(frame, pd.Series(data.y))
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    from_arrays = SingleIndexRegressor(4).fit(data.X, data.y).predict(data.X)
    np.testing.assert_allclose(model.predict(frame), from_arrays, atol=1e-12)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match=r"missing[\s\S]*gene3"):
        model.predict(frame.drop(columns="gene3"))
    with pytest.raises(ValueError, match=r"unseen[\s\S]*extra"):
        model.predict(frame.assign(extra=1.0))


def test_polars_keeps_feature_names():
    pl = pytest.importorskip("polars")
    X, y, _ = make_classes()
    names = [f"word{j}" for j in range(12)]
    frame = pl.DataFrame({name: X[:, j] for j, name in enumerate(names)})
    model = SingleIndexClassifier(4).fit(frame, pl.Series(y))
    assert model.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(model.predict(frame), SingleIndexClassifier(4).fit(X, y).predict(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.select(names[::-1]))
    with pytest.raises(ValueError, match=r"missing[\s\S]*word3"):
        model.predict(frame.drop("word3"))
