"""Intervals, ranges and sets of the CV estimators, and what held-out rows say of them."""

import io

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GroupKFold, RepeatedKFold, ShuffleSplit

from singleindex import SingleIndexClassifierCV, SingleIndexRegressorCV, load, save
from singleindex.datasets import make_single_index
from singleindex.estimators.effects import predict_at
from singleindex.estimators.outputs import facts_of
from singleindex.structures import RowSparse

QUICK = {"cv": 5, "scale_power": [1.0], "penalty": [0.5, 0.2, 0.05]}


@pytest.fixture(scope="module")
def numbers():
    return make_single_index(
        2200, 20, n_atoms=4, link="clipped", noise="gaussian", noise_level=0.3, random_state=0
    )


@pytest.fixture(scope="module")
def regressor(numbers):
    return SingleIndexRegressorCV(**QUICK).fit(numbers.X[:200], numbers.y[:200])


@pytest.fixture(scope="module")
def labels():
    return make_single_index(1200, 20, n_atoms=4, link="clipped", random_state=0)


@pytest.fixture(scope="module")
def classifier(labels):
    return SingleIndexClassifierCV(**QUICK).fit(labels.X[:200], labels.y[:200])


def share_covered(interval, y):
    return np.mean((interval[..., 0] <= y) & (y <= interval[..., 1]))


def copy_of(model):
    file = io.BytesIO()
    save(model, file)
    return load(io.BytesIO(file.getvalue()))


# ---------------------------------------------------------------- intervals


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_intervals_cover_new_rows(regressor, numbers, level):
    interval = regressor.predict_interval(numbers.X[200:], level)
    assert interval.shape == (2000, 2)
    assert share_covered(interval, numbers.y[200:]) == pytest.approx(level, abs=0.06)


def test_intervals_lie_about_the_prediction_and_grow_with_the_level(regressor, numbers):
    X = numbers.X[:50]
    narrow, wide = regressor.predict_interval(X, 0.5), regressor.predict_interval(X, 0.95)
    fitted = regressor.predict(X)
    assert ((wide[:, 0] < narrow[:, 0]) & (narrow[:, 0] < fitted)).all()
    assert ((wide[:, 1] > narrow[:, 1]) & (narrow[:, 1] > fitted)).all()
    assert np.isinf(regressor.predict_interval(X, 0.999)).all(), "200 rows cannot tell"


@pytest.mark.parametrize("level", [0, 1, 90])
def test_levels_are_shares(regressor, classifier, numbers, level):
    for method in (regressor.predict_interval, classifier.predict_set):
        with pytest.raises(ValueError, match="level must be a share between 0 and 1"):
            method(numbers.X[:3], level)


def test_a_model_in_a_file_has_the_same_intervals(regressor, classifier, numbers):
    X = numbers.X[:20]
    np.testing.assert_array_equal(copy_of(regressor).predict_interval(X), regressor.predict_interval(X))
    again = copy_of(classifier)
    np.testing.assert_array_equal(again.predict_proba_range(X), classifier.predict_proba_range(X))
    np.testing.assert_array_equal(again.predict_set(X), classifier.predict_set(X))
    assert again.p_value_ == classifier.p_value_
    assert again.held_out_scores_ == classifier.held_out_scores_


def test_what_is_kept_is_small():
    X = np.random.default_rng(0).normal(size=(4000, 3))
    y = X[:, 0] + np.random.default_rng(1).normal(size=4000)
    model = SingleIndexRegressorCV(**QUICK).fit(X, y)
    kept = sum(values.nbytes for values in model.calibration_[0].values())
    assert kept < 20_000
    assert model.background_["index"].shape == (200, 1)


def test_models_of_earlier_versions_say_what_to_do(regressor, numbers):
    old = copy_of(regressor)
    del old.calibration_
    with pytest.raises(ValueError, match="fit it again"):
        old.predict_interval(numbers.X[:3])


def test_y_in_other_units_has_intervals_in_these(regressor, numbers):
    other = SingleIndexRegressorCV(**QUICK).fit(numbers.X[:200], 1024 * numbers.y[:200])
    expected = 1024 * regressor.predict_interval(numbers.X[:30])
    np.testing.assert_allclose(other.predict_interval(numbers.X[:30]), expected, rtol=1e-6)


def test_weights_are_repetitions():
    data = make_single_index(90, 5, n_atoms=2, noise="gaussian", random_state=1)
    times = np.random.default_rng(0).integers(0, 4, 90)
    rows = np.repeat(np.arange(90), times)
    folds = [
        (np.flatnonzero(np.arange(90) % 3 != f), np.flatnonzero(np.arange(90) % 3 == f)) for f in range(3)
    ]
    repeated = [(np.flatnonzero(rows % 3 != f), np.flatnonzero(rows % 3 == f)) for f in range(3)]
    quick = {"scale_power": [1.0], "penalty": [0.5, 0.1]}
    one = SingleIndexRegressorCV(cv=folds, **quick).fit(data.X, data.y, times.astype(float))
    other = SingleIndexRegressorCV(cv=repeated, **quick).fit(data.X[rows], data.y[rows])
    np.testing.assert_allclose(
        one.predict_interval(data.X), other.predict_interval(data.X), rtol=1e-4, atol=1e-5
    )
    assert one.p_value_ == pytest.approx(other.p_value_, rel=1e-3, abs=1e-12)
    for name, found in one.held_out_scores_.items():
        assert found["score"] == pytest.approx(other.held_out_scores_[name]["score"], rel=1e-4), name
        assert found["error"] == pytest.approx(other.held_out_scores_[name]["error"], rel=1e-3), name


@pytest.mark.parametrize("structure", [None, RowSparse()])
def test_several_outputs_have_an_interval_each(structure, numbers):
    Y = np.column_stack([numbers.y, -100 * numbers.y + 3])[:200]
    model = SingleIndexRegressorCV(structure=structure, **QUICK).fit(numbers.X[:200], Y)
    interval = model.predict_interval(numbers.X[200:])
    assert interval.shape == (2000, 2, 2)
    assert share_covered(interval[:, 0], numbers.y[200:]) == pytest.approx(0.9, abs=0.06)
    assert share_covered(interval[:, 1], 3 - 100 * numbers.y[200:]) == pytest.approx(0.9, abs=0.06)


@pytest.mark.parametrize(
    "options",
    [
        {"cv": ShuffleSplit(4, test_size=0.3, random_state=0)},
        {"cv": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)},
        {"rule": "best"},
        {"rule": "one_se", "n_atoms": [2, 4]},
        {"link": "identity"},
        {"held_out_link": False},
        {"scoring": "r2"},
        {"lipschitz": np.inf},
        {"n_atoms": []},
    ],
    ids=str,
)
def test_intervals_cover_however_the_model_was_chosen(options, numbers):
    model = SingleIndexRegressorCV(**(QUICK | options)).fit(numbers.X[:200], numbers.y[:200])
    covered = share_covered(model.predict_interval(numbers.X[200:]), numbers.y[200:])
    assert covered == pytest.approx(0.9, abs=0.06)
    assert model.p_value_ < 1e-6


# ---------------------------------------------------------------- classes


def test_ranges_hold_the_probability_on_average(classifier, labels):
    found = classifier.predict_proba_range(labels.X[200:])
    assert found.shape == (1000, 2)
    low, high = found.T
    assert ((low >= 0) & (low <= high) & (high <= 1)).all()
    assert low.mean() - 0.06 < labels.y[200:].mean() < high.mean() + 0.06
    order = np.argsort(classifier.index(labels.X[200:]))
    assert (np.diff(low[order]) >= 0).all()


def test_sets_hold_the_class():
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(150)
    train, test = rows[:90], rows[90:]
    model = SingleIndexClassifierCV(**QUICK).fit(X[train], y[train])
    members = model.predict_set(X[test], 0.95)
    assert members.shape == (60, 3)
    assert members.dtype == bool
    assert members[np.arange(60), y[test]].mean() >= 0.88
    assert members.sum(axis=1).min() >= 1
    assert members.sum() < 2 * 60
    assert model.predict_proba_range(X[test]).shape == (60, 3, 2)


def test_classes_that_are_learned_together_are_told_alike():
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(150)
    model = SingleIndexClassifierCV(cv=3).fit(X[rows[:90]], y[rows[:90]])
    assert model.coupled_
    new, known = X[rows[90:]], y[rows[90:]]
    found = predict_at(facts_of(model), model.index(new))
    np.testing.assert_allclose(found, model.predict_proba(new), atol=1e-12)
    assert model.predict_set(new, 0.95)[np.arange(60), known].mean() >= 0.88
    low, high = np.moveaxis(model.predict_proba_range(new), 2, 0)
    assert np.abs((low + high) / 2 - model.predict_proba(new)).mean() < 0.1, "at the index of the model"
    assert model.held_out_scores_["log-loss"]["gain"] > 0.5


def test_labels_have_ranges_but_no_sets(labels):
    Y = np.column_stack([labels.y, 1 - labels.y])[:100]
    model = SingleIndexClassifierCV(**QUICK).fit(labels.X[:100], Y)
    assert model.predict_proba_range(labels.X[:7]).shape == (7, 2, 2)
    with pytest.raises(ValueError, match="of several labels see predict_proba_range"):
        model.predict_set(labels.X[:7])


# ---------------------------------------------------------------- scores and evidence


def test_scores_of_held_out_rows_are_those_of_new_ones(regressor, classifier, numbers, labels):
    found = regressor.held_out_scores_["R²"]
    assert found["score"] == pytest.approx(
        regressor.score(numbers.X[200:], numbers.y[200:]), abs=3 * found["error"]
    )
    assert found["gain"] == pytest.approx(found["score"] - found["other"])
    assert list(classifier.held_out_scores_) == ["AUC", "accuracy", "log-loss", "Brier score"]
    right = classifier.held_out_scores_["accuracy"]
    assert right["score"] == pytest.approx(
        classifier.score(labels.X[200:], labels.y[200:]), abs=3 * right["error"]
    )


@pytest.mark.filterwarnings("ignore:The learned link is constant")
@pytest.mark.parametrize("kind", [SingleIndexRegressorCV, SingleIndexClassifierCV])
def test_noise_is_no_evidence_and_a_signal_is(kind):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 8))
    noise = rng.normal(size=200)
    for y, is_signal in ((noise, False), (X[:, 0] + noise, True)):
        y = y if kind is SingleIndexRegressorCV else (y > 0).astype(int)
        assert (kind(**QUICK).fit(X, y).p_value_ < 0.05) == is_signal


def test_rows_of_a_group_are_not_counted_as_independent():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(20), 10)
    X = rng.normal(size=(20, 4))[groups] + 0.1 * rng.normal(size=(200, 4))
    y = X[:, 0] + rng.normal(size=20)[groups]
    model = SingleIndexRegressorCV(**(QUICK | {"cv": GroupKFold(5)})).fit(X, y, groups=groups)
    alone = SingleIndexRegressorCV(**(QUICK | {"cv": list(GroupKFold(5).split(X, y, groups))})).fit(X, y)
    errors = [m.held_out_scores_["RMSE"]["gain_error"] for m in (model, alone)]
    assert errors[0] > 1.5 * errors[1]


def test_rows_in_blocks_have_intervals(regressor, classifier, numbers, tmp_path):
    dask_array = pytest.importorskip("dask.array")
    X = numbers.X[:40]
    blocks = dask_array.from_array(X, chunks=(15, 20))
    np.testing.assert_allclose(regressor.predict_interval(blocks), regressor.predict_interval(X))
    np.testing.assert_allclose(classifier.predict_proba_range(blocks), classifier.predict_proba_range(X))
    np.testing.assert_array_equal(classifier.predict_set(blocks), classifier.predict_set(X))
