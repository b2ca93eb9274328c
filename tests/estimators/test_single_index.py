"""SingleIndexRegressor, SingleIndexClassifier and Slisotron through their public face."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from singleindex import (
    SingleIndexClassifier,
    SingleIndexRegressor,
    SingleIndexRegressorCV,
    Slisotron,
    single_index_path,
)
from singleindex.datasets import make_single_index
from singleindex.design import DenseDesign
from singleindex.design.sweep import without_rows
from singleindex.estimators.classifier import few_classes
from singleindex.solvers import Status
from singleindex.structures import RowSparse, Sparse

try:
    from sklearn.callback import ProgressBar
except ImportError:
    ProgressBar = None

needs_callbacks = pytest.mark.skipif(
    ProgressBar is None, reason="scikit-learn has callbacks from version 1.9 on"
)


def make_regression(n=150, d=12, seed=0, **options):
    options = {"n_atoms": 4, "link": "ramp", "noise": "gaussian", **options}
    return make_single_index(n, d, random_state=seed, **options)


def make_classes(n=150, d=12, seed=0, n_classes=2):
    data = make_single_index(n, d, n_atoms=4, link="logistic", noise="gaussian", random_state=seed)
    y = np.digitize(data.y, np.quantile(data.y, np.arange(1, n_classes) / n_classes))
    noisy = np.random.default_rng(seed).random(n) < 0.1
    return data.X, np.where(noisy, np.roll(y, 1), y), data.coef


REGRESSORS = [
    SingleIndexRegressor(),
    SingleIndexRegressor(4, alpha=0.01),
    SingleIndexRegressor(lipschitz=np.inf, scale_power=None),
    SingleIndexRegressor(link="identity", scale_power=1.0),
    Slisotron(),
]
CLASSIFIERS = [
    SingleIndexClassifier(),
    SingleIndexClassifier(4, lipschitz=5.0),
    SingleIndexClassifier(lipschitz=np.inf, alpha=1.0),
    SingleIndexClassifier(link="logistic"),
]
every_regressor = pytest.mark.parametrize("model", REGRESSORS, ids=repr)
every_classifier = pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)


def fitted_state(model):
    """Return everything `fit` has set, as bytes where it can be compared."""
    return {k: pickle.dumps(v) for k, v in vars(model).items() if k.endswith("_")}


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
    for seed in range(300):
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


# ---------------------------------------------------------------- progress


def test_verbose_prints_a_line_per_iteration(capsys):
    data = make_regression()
    quiet = SingleIndexRegressor().fit(data.X, data.y)
    assert capsys.readouterr() == ("", "")
    model = SingleIndexRegressor(verbose=1).fit(data.X, data.y)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert len(lines) == model.n_iter_ == quiet.n_iter_
    assert lines[0].startswith("[SingleIndexRegressor] iteration 1/100  mse ")
    assert "atoms 12" in lines[0]
    X, y, _ = make_classes(n_classes=3)
    SingleIndexClassifier(verbose=1, max_iter=2).fit(X, y)
    assert "output 3/3" in capsys.readouterr().err


class Recorder:
    """Follows scikit-learn's FitCallback; may stop, or break, at an iteration."""

    def __init__(self, stop_at=None, interrupt_at=None):
        self.stop_at, self.interrupt_at = stop_at, interrupt_at
        self.begun, self.ended, self.coefs = [], [], []
        self.set_up, self.torn_down = 0, 0

    def setup(self, estimator, context):
        self.set_up += 1

    def teardown(self, estimator, context):
        self.torn_down += 1

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.ended.append(context.task_name)
        count = self.ended.count("iteration")
        if fitted_estimator is not None and context.task_name == "iteration":
            assert fitted_estimator.predict(X).shape == y.shape[:1]
            self.coefs.append(fitted_estimator.coef_)
        if count == self.interrupt_at:
            raise KeyboardInterrupt
        return count == self.stop_at


@needs_callbacks
@pytest.mark.parametrize(
    "model", [SingleIndexRegressor(), SingleIndexClassifier(), Slisotron(max_iter=9)], ids=repr
)
def test_callbacks_see_every_iteration(model):
    X, y, _ = make_classes()
    recorder = Recorder()
    model = clone(model).set_callbacks(recorder).fit(X, y)
    assert (recorder.set_up, recorder.torn_down) == (1, 1)
    assert recorder.ended.count("iteration") == model.n_iter_
    assert sorted(recorder.begun) == sorted(recorder.ended)
    assert len(recorder.coefs) == model.n_iter_
    assert cosine(recorder.coefs[model.best_iter_], model.coef_) == pytest.approx(1)
    silent = clone(model).fit(X, y)
    assert (silent.coef_ == model.coef_).all()


@needs_callbacks
def test_callbacks_with_several_classes():
    X, y, _ = make_classes(n_classes=3)
    recorder = Recorder()
    SingleIndexClassifier(max_iter=3, tol=0).set_callbacks(recorder).fit(X, y)
    assert recorder.ended.count("iteration") == 9


@needs_callbacks
@pytest.mark.parametrize(
    "model", [SingleIndexRegressor(tol=0), SingleIndexClassifier(tol=0), Slisotron()], ids=repr
)
def test_a_callback_stops_the_fit(model):
    X, y, _ = make_classes()
    model = clone(model).set_callbacks(Recorder(stop_at=3)).fit(X, y)
    assert model.n_iter_ == 3
    assert model.status_ == "STOPPED"
    assert model.predict(X).shape == y.shape


@needs_callbacks
def test_progress_bar_runs(capsys):
    pytest.importorskip("rich", reason="scikit-learn's progress bar needs rich")
    X, y, _ = make_classes()
    SingleIndexClassifier().set_callbacks(ProgressBar()).fit(X, y)


# ---------------------------------------------------------------- interrupts


class InterruptingStructure(Sparse):
    """Sparse, until the third projection."""

    def project(self, w, n_atoms):
        count = self.__dict__.get("count", 0) + 1
        object.__setattr__(self, "count", count)
        if count >= 3:
            raise KeyboardInterrupt
        return super().project(w, n_atoms)


@pytest.mark.parametrize("kind", [SingleIndexRegressor, SingleIndexClassifier])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_interrupt_leaves_an_unfitted_model_unfitted(kind, n_classes):
    X, y, _ = make_classes(n_classes=n_classes)
    model = kind(structure=InterruptingStructure())
    before = set(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert set(vars(model)) == before
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize("kind", [SingleIndexRegressor, SingleIndexClassifier])
def test_an_interrupt_leaves_a_fitted_model_as_it_was(kind):
    X, y, _ = make_classes()
    model = kind().fit(X, y)
    before, predictions = fitted_state(model), model.predict(X)
    model.set_params(structure=InterruptingStructure())
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :5], 1 - y)
    assert fitted_state(model) == before
    assert (model.predict(X) == predictions).all()
    model.set_params(structure=None).fit(X[:, :5], 1 - y)
    assert model.n_features_in_ == 5


@needs_callbacks
@pytest.mark.parametrize("kind", [SingleIndexRegressor, SingleIndexClassifier, Slisotron])
@pytest.mark.parametrize("fitted", [False, True])
def test_an_interrupt_from_a_callback(kind, fitted):
    X, y, _ = make_classes()
    model = kind(tol=0)
    if fitted:
        model.fit(X, y)
    before = fitted_state(model)
    recorder = Recorder(interrupt_at=2)
    model.set_callbacks(recorder)
    attributes = set(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :5], 1 - y)
    assert fitted_state(model) == before
    assert set(vars(model)) == attributes
    assert recorder.torn_down == 1
    model.set_callbacks().fit(X, y)
    assert model.predict(X).shape == y.shape


# ---------------------------------------------------------------- it learns


def cosine(a, b):
    return abs(a @ b) / (np.linalg.norm(a) * np.linalg.norm(b))


@pytest.mark.parametrize("link", ["logistic", "ramp", "steps", "clipped"])
def test_regressor_finds_features_among_many(link):
    data = make_regression(400, 500, n_atoms=5, link=link, noise_level=0.05)
    model = SingleIndexRegressor(5, alpha=0.01).fit(data.X, data.y)
    assert set(np.flatnonzero(model.coef_)) == set(data.support)
    assert cosine(model.coef_, data.coef) > 0.95
    assert np.sqrt(np.mean((model.predict(data.X) - data.mean) ** 2)) < 0.1


@pytest.mark.parametrize("link", ["logistic", "ramp", "steps"])
def test_classifier_finds_the_direction(link):
    data = make_single_index(1500, 100, n_atoms=5, link=link, random_state=0)
    model = SingleIndexClassifier(5).fit(data.X, data.y)
    assert cosine(model.coef_, data.coef) > 0.95
    assert np.sqrt(np.mean((model.predict_proba(data.X)[:, 1] - data.mean) ** 2)) < 0.1


def test_slisotron_learns_in_low_dimension():
    data = make_single_index(600, 5, n_atoms=5, link="logistic", noise="gaussian", random_state=0)
    model = Slisotron(max_iter=300).fit(data.X, data.y)
    assert cosine(model.coef_, data.coef) > 0.95


def test_a_scoring_monitor_sees_models_in_the_units_of_y():
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has no callbacks before 1.9")
    data = make_single_index(100, 20, n_atoms=3, noise="gaussian", random_state=0)
    for model, y, scoring in (
        (SingleIndexRegressor(3), 1000 * data.y, "r2"),
        (SingleIndexClassifier(3), (data.y > 0.5).astype(int), "accuracy"),
        (Slisotron(max_iter=4), data.y, "r2"),
        (SingleIndexRegressorCV([3], penalty=[], cv=3), data.y, "r2"),
        (SingleIndexRegressor(3, solver="one-pass"), data.y, "r2"),
    ):
        monitor = callback.ScoringMonitor(scoring=scoring)
        model.set_callbacks(monitor).fit(data.X, y)
        assert not [name for name in vars(model) if name.startswith("_") and name != "_skl_callbacks"]
        assert model.score(data.X, y) > 0.1


def test_outputs_fitted_together_have_one_history():
    data = make_single_index(
        80, 12, structure="rows", n_outputs=3, n_atoms=3, noise="gaussian", random_state=0
    )
    joint = SingleIndexRegressor(3, structure=RowSparse()).fit(data.X, data.y)
    apart = SingleIndexRegressor(3).fit(data.X, data.y)
    assert isinstance(joint.history_, dict)
    assert len(apart.history_) == len(apart.status_) == 3


def test_a_shared_link_means_nothing_for_one_output():
    data = make_single_index(80, 12, n_atoms=3, noise="gaussian", random_state=0)
    plain, shared = (SingleIndexRegressor(3, shared_link=s).fit(data.X, data.y) for s in (False, True))
    np.testing.assert_array_equal(plain.coef_, shared.coef_)


@pytest.mark.parametrize(
    "y",
    [[3, 1, 1, 2], [True, False, True], [-5, 5], [250, 255], [-128, -120, -128], [0, 0]],
    ids=str,
)
@pytest.mark.parametrize("dtype", [None, np.int16, np.float64])
def test_few_classes_are_those_of_numpy(y, dtype):
    y = np.array(y, dtype=dtype)
    classes = few_classes(y)
    if y.dtype.kind == "f":
        assert classes is None
    else:
        np.testing.assert_array_equal(classes, np.unique(y), strict=True)


@pytest.mark.parametrize(
    "y", [np.array([0, 1000]), np.array([2**63], np.uint64), np.eye(2, dtype=int), ["a"]]
)
def test_other_labels_are_left_to_scikit_learn(y):
    assert few_classes(y) is None


class Reticent(DenseDesign):
    """Keeps the index of its rows to itself, as data on a GPU do."""

    def sweep(self, visit, y, weight=None):
        return without_rows(super().sweep(visit, y, weight))

    def take(self, rows):
        return Reticent(self.X[rows])


class Apart(DenseDesign):
    """Has no columns at hand, as data on a GPU; what needs them gets an array."""

    has_columns = False

    def at_hand(self):
        return self.X

    def columns(self, which):
        raise AssertionError("columns are not at hand")

    pack = columns


@pytest.mark.parametrize("settings", [{"n_atoms": 3}, {"penalty": 0.1}, {"alpha": 0.1}])
def test_without_columns_at_hand_exact_steps_go_by_products(settings):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 8)) + rng.standard_normal((3000, 1))
    y = np.tanh(X[:, 0] - X[:, 1]) + 0.1 * rng.standard_normal(3000)
    model = SingleIndexRegressor(solver="exact", **settings)
    truth = model.fit(X, y).coef_
    found = model.fit(Apart(X), y).coef_
    np.testing.assert_allclose(found, truth, atol=0.02 * np.abs(truth).max())


def test_what_goes_by_columns_gets_them():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 8)) + rng.standard_normal((300, 1))
    y = np.tanh(X[:, 0] - X[:, 1]) + 0.1 * rng.standard_normal(300)
    for fit in (
        lambda X: SingleIndexRegressor(3).fit(X, y).coef_,
        lambda X: SingleIndexRegressorCV(cv=3).fit(X, y).coef_,
        lambda X: single_index_path(X, y, penalty=[0.5, 0.1], solver="exact").coefs,
    ):
        np.testing.assert_array_equal(fit(Apart(X)), fit(X))


def test_a_design_need_not_tell_the_index_of_its_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 6))
    y = np.tanh(X[:, 0]) + 0.1 * rng.standard_normal(2000)
    weight = rng.random(2000)
    model = SingleIndexRegressor(solver="one-pass", link_cv=3)
    truth = model.fit(X, y, weight).coef_
    np.testing.assert_allclose(model.fit(Reticent(X), y, weight).coef_, truth, rtol=1e-9)
