"""The CV estimators, the path and the cross-fitted link."""

import itertools

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import get_scorer, log_loss
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from singleindex import (
    SingleIndexClassifier,
    SingleIndexClassifierCV,
    SingleIndexRegressor,
    SingleIndexRegressorCV,
    load,
    save,
    single_index_path,
)
from singleindex.datasets import make_single_index
from singleindex.fitting.cross_fit import IndexNotIdentifiedWarning, warn_if_not_identified
from singleindex.fitting.search import Candidate, HeldOut, near_best, not_told_apart, over_folds
from singleindex.link import MonotoneCurve
from singleindex.solvers.path import hard_levels
from singleindex.structures import Dictionary, GroupSparse, LowRank, RowSparse

SMALL = {"n_atoms": [2, 5, 20], "alpha": [0.1], "penalty": [0.5, 0.2]}


def binary(n=200, d=60, **kwargs):
    return make_single_index(n, d, n_atoms=5, link="clipped", random_state=0, **kwargs)


@pytest.fixture(scope="module")
def data():
    return binary()


@pytest.fixture(scope="module")
def fitted(data):
    return SingleIndexClassifierCV(**SMALL).fit(data.X, data.y)


# ---------------------------------------------------------------- the search


def test_results_are_ready_for_a_frame(fitted):
    frame = pd.DataFrame(fitted.cv_results_)
    splits = frame[[f"split{k}_test_score" for k in range(5)]]
    np.testing.assert_allclose(splits.mean(axis=1), frame["mean_test_score"])
    np.testing.assert_allclose(splits.std(axis=1, ddof=0), frame["std_test_score"])
    assert frame["rank_test_score"].min() == 1
    assert frame["mean_test_score"].max() == pytest.approx(fitted.best_score_)
    # Every iterate is a candidate: at the most two at each of five levels, four at the first of either path.
    assert 5 <= len(frame) <= 14
    assert set(frame["iteration"]) == {1, 2, 3, 4}


def test_the_true_number_of_atoms_is_found(data, fitted):
    assert fitted.best_params_["n_atoms"] == 5
    assert len(set(np.flatnonzero(fitted.coef_)) & set(np.flatnonzero(data.coef))) >= 4
    assert fitted.stability_.shape == (60,)
    assert fitted.stability_[data.coef != 0].mean() > 0.7
    assert fitted.status_ == "CHOSEN"
    assert fitted.path_["coefs"].shape == (3, 60)
    assert [int((c != 0).sum()) for c in fitted.path_["coefs"]] == [20, 5, 2]


@pytest.mark.parametrize("scoring", ["neg_brier_score", "neg_log_loss", "roc_auc"])
def test_quick_scores_are_those_of_scikit_learn(data, scoring):
    quick = SingleIndexClassifierCV(**SMALL, scoring=scoring).fit(data.X, data.y)
    slow = SingleIndexClassifierCV(**SMALL, scoring=get_scorer(scoring)).fit(data.X, data.y)
    np.testing.assert_allclose(
        quick.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"], atol=1e-6
    )
    np.testing.assert_array_equal(quick.coef_, slow.coef_)


def test_quick_squared_error_is_that_of_scikit_learn_in_the_units_of_y(data):
    y = 1000 * data.mean
    quick = SingleIndexRegressorCV(**SMALL).fit(data.X, y)
    slow = SingleIndexRegressorCV(**SMALL, scoring=get_scorer("neg_mean_squared_error")).fit(data.X, y)
    np.testing.assert_allclose(
        quick.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"], rtol=1e-5
    )


def test_folds_side_by_side_give_the_same_model(data, fitted):
    parallel = SingleIndexClassifierCV(**SMALL, n_jobs=2).fit(data.X, data.y)
    np.testing.assert_array_equal(parallel.coef_, fitted.coef_)
    for name, values in fitted.cv_results_.items():
        np.testing.assert_array_equal(parallel.cv_results_[name], values)


def test_one_standard_error_takes_a_simpler_model():
    data = binary(n=120)
    counts = []
    for rule in ("best", "one_se"):
        model = SingleIndexClassifierCV([2, 3, 5, 10, 30], alpha=[0.1], penalty=[], rule=rule)
        counts.append(model.fit(data.X, data.y).best_params_["n_atoms"])
        best, chosen = model.cv_results_["mean_test_score"].max(), model.best_score_
        assert (chosen == best) if rule == "best" else (chosen <= best)
    assert counts[1] <= counts[0]


def test_equals_go_to_the_simpler_model(data):
    def constant(model, X, y):
        return 1.0

    model = SingleIndexClassifierCV(**SMALL, scoring=constant).fit(data.X, data.y)
    assert model.best_params_["n_atoms"] == 2
    assert model.best_params_["iteration"] == 1


def test_groups_stay_together(data):
    groups = np.arange(200) // 20
    model = SingleIndexClassifierCV(**SMALL, cv=GroupKFold(5)).fit(data.X, data.y, groups=groups)
    assert len([name for name in model.cv_results_ if name.startswith("split")]) == 5
    with pytest.raises(ValueError, match="groups"):
        SingleIndexClassifierCV(**SMALL, cv=GroupKFold(5)).fit(data.X, data.y)


def test_rows_that_are_never_held_out(data):
    splitter = ShuffleSplit(2, test_size=0.3, random_state=0)
    model = SingleIndexClassifierCV(**SMALL, cv=splitter).fit(data.X, data.y)
    assert np.isfinite(model.predict_proba(data.X)).all()


def test_the_average_of_the_folds(data):
    model = SingleIndexClassifierCV(**SMALL, refit="average").fit(data.X, data.y)
    used = model.coef_ != 0
    np.testing.assert_array_equal(used, model.stability_ > 0)
    assert model.coef_ @ data.coef / np.linalg.norm(model.coef_) / np.linalg.norm(data.coef) > 0.9


def test_column_scales_that_change_nothing_are_tried_once(data):
    scales = lambda X: set(SingleIndexClassifierCV(**SMALL).fit(X, data.y).cv_results_["scale_power"])  # noqa: E731
    assert scales(data.X) == {0.5}
    assert scales(data.X * np.geomspace(1, 10, data.X.shape[1])) == {0.0, 0.5}


def test_averaging_is_for_few_rows(data):
    few = slice(120)
    for rows, like in ((few, "average"), (slice(None), "all")):
        auto, named = (
            SingleIndexClassifierCV(**SMALL, refit=refit).fit(data.X[rows], data.y[rows])
            for refit in ("auto", like)
        )
        np.testing.assert_array_equal(auto.coef_, named.coef_)


@pytest.mark.parametrize("held_out_link", [True, False])
@pytest.mark.parametrize("link", ["learned", "logistic", "identity"])
def test_the_average_has_a_link_of_its_own(data, link, held_out_link):
    # Predictions are of the right size: their mean is that of y, their distance from the truth is small.
    model = SingleIndexRegressorCV(**SMALL, refit="average", link=link, held_out_link=held_out_link)
    fitted = model.fit(data.X, data.y).predict(data.X)
    assert abs(fitted.mean() - data.y.mean()) < 0.02
    assert np.sqrt(np.mean((fitted - data.mean) ** 2)) < 0.2


def test_the_average_is_over_all_folds_and_near_candidates():
    class One:
        def __init__(self, positions, values):
            self.positions, self.values = np.array(positions), np.array(values, dtype=float)

        add_to = HeldOut.add_to

    share, mean = over_folds([[One([0], [2.0]), One([0, 2], [1.0, -3.0])]], (3, 1))
    np.testing.assert_array_equal(share, [1.0, 0.0, 0.5])
    np.testing.assert_array_equal(mean[:, 0], [1.5, 0.0, -1.5])
    a, b, c, d = (candidate([score - 1, score + 1]) for score in (1.0, 3.0, 2.5, np.nan))
    assert near_best([a, b, c, d], 0.0) == [b]
    assert near_best([a, b, c, d], 0.6) == [b, c]  # the standard error of the best is 1
    assert near_best([a, b, c, d], 2.0) == [a, b, c]


def candidate(scores):
    return Candidate(0, 0, 0, {}, (), np.asarray(scores), np.asarray(scores))


def test_candidates_are_told_apart_by_what_the_folds_have_in_common():
    fold = np.array([0.0, 5.0, -5.0, 1.0])  # easy and hard folds, alike for all candidates
    scores = [fold, fold - 0.1, fold - [0.3, -0.1, 0.0, 0.1], np.full(4, np.nan)]
    candidates = [candidate(s) for s in scores]
    assert not_told_apart(candidates) == [candidates[0], candidates[2]]


def test_sample_weights_count(data):
    weight = np.where(np.arange(200) < 150, 1.0, 0.0)
    model = SingleIndexRegressorCV(**SMALL, cv=KFold(3)).fit(data.X, data.mean, sample_weight=weight)
    assert model.best_params_["n_atoms"] == 5


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"rule": "two_se"}, "one_se"),
        ({"refit": True}, "average"),
        ({"alpha": []}, "at least one"),
        ({"alpha": [-1.0]}, "alpha"),
        ({"n_atoms": [100]}, "from 1 to 60"),
        ({"n_atoms": [2.5]}, "integer"),
        ({"max_iter": 0}, "max_iter"),
        ({"scoring": lambda model, X, y: np.nan}, "NaN"),
    ],
)
def test_bad_settings_are_refused_and_nothing_is_left(data, changed, words):
    model = SingleIndexClassifierCV(**(SMALL | changed))
    before = set(vars(model))
    with pytest.raises(ValueError, match=words):
        model.fit(data.X, data.y)
    assert set(vars(model)) == before


def test_every_structure_can_be_searched():
    group = make_single_index(150, 60, structure="group", group_size=5, n_atoms=3, random_state=0)
    model = SingleIndexClassifierCV([1, 3, 6], structure=GroupSparse(group.groups), alpha=[0.1]).fit(
        group.X, group.y
    )
    assert len(np.unique(np.asarray(group.groups)[model.coef_ != 0])) <= 12
    rows = make_single_index(150, 60, structure="rows", n_outputs=3, n_atoms=4, random_state=0)
    model = SingleIndexClassifierCV([2, 4, 8], structure=RowSparse(), penalty=[], alpha=[0.1]).fit(
        rows.X, rows.y
    )
    assert model.coef_.shape == (60, 3)
    assert model.predict_proba(rows.X).shape == rows.y.shape
    matrix = make_single_index(
        200, 100, structure="low_rank", shape=(10, 10), n_atoms=2, noise="gaussian", random_state=0
    )
    model = SingleIndexRegressorCV([1, 2, 4], structure=LowRank((10, 10)), alpha=[0.1], penalty=[0.2]).fit(
        matrix.X, matrix.y
    )
    assert model.score(matrix.X, matrix.y) > 0.5
    # No soft thresholding here: hard levels only.
    model = SingleIndexRegressorCV([1, 2], structure=Dictionary(np.eye(100)[:10]), alpha=[0.1]).fit(
        matrix.X, matrix.y
    )
    assert (model.cv_results_["penalty"] == 0).all()


def test_several_classes_and_known_links():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((210, 20))
    y = np.array(list("abc"))[np.argmax(X[:, :3] + 0.5 * rng.standard_normal((210, 3)), axis=1)]
    for link in ("learned", "logistic"):
        model = SingleIndexClassifierCV([1, 3], alpha=[0.1], penalty=[], link=link).fit(X, y)
        assert model.score(X, y) > 0.6
        assert model.coef_.shape == (20, 3)


# ---------------------------------------------------------------- the link


def test_a_cross_fitted_link_is_not_over_confident():
    gain = []
    for seed in range(4):
        data = make_single_index(1150, 1000, n_atoms=10, link="clipped", random_state=seed)
        X, y, new, truth = data.X[:150], data.y[:150], data.X[150:], data.y[150:]
        losses = [
            log_loss(truth, SingleIndexClassifier(20, link_cv=cv).fit(X, y).predict_proba(new)[:, 1])
            for cv in (None, 5)
        ]
        gain.append(losses[0] - losses[1])
    assert np.mean(gain) > 0.05


def test_a_cross_fitted_link_leaves_the_direction_alone(data):
    plain = SingleIndexClassifier(5).fit(data.X, data.y)
    crossed = SingleIndexClassifier(5, link_cv=5).fit(data.X, data.y)
    cosine = plain.coef_ @ crossed.coef_ / np.linalg.norm(plain.coef_) / np.linalg.norm(crossed.coef_)
    assert cosine == pytest.approx(1, abs=1e-12)
    p = crossed.predict_proba(data.X)[:, 1]
    np.testing.assert_array_equal(p, crossed.link_(crossed.decision_function(data.X)))


def test_a_cross_fitted_link_for_regression_and_several_outputs():
    data = make_single_index(
        120, 40, structure="rows", n_outputs=2, n_atoms=4, noise="gaussian", random_state=0
    )
    model = SingleIndexRegressor(4, structure=RowSparse(), link_cv=3).fit(data.X, 100 * data.y)
    assert model.score(data.X, 100 * data.y) > 0.5
    with pytest.raises(ValueError, match="shared_link"):
        SingleIndexRegressor(4, shared_link=True, link_cv=3).fit(data.X, data.y)


def test_a_link_that_tells_nothing_is_said_so():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    with pytest.warns(IndexNotIdentifiedWarning, match="constant"):
        warn_if_not_identified(MonotoneCurve([0.0, 1.0], [0.4, 0.4]), np.array([0.0, 1.0]))
    separable = (X[:, 0] > 0).astype(int)
    X[:, 0] += 100 * np.sign(X[:, 0])
    with pytest.warns(IndexNotIdentifiedWarning, match="without a single row in between"):
        SingleIndexClassifier(1, link_cv=3).fit(X, separable)


# ---------------------------------------------------------------- the path


def test_levels_are_the_papers_and_small_counts():
    counts = [level.n_atoms for level in hard_levels(4096)]
    assert counts == sorted(counts, reverse=True)
    assert {4096 // 2**k for k in range(11)} <= set(counts)
    assert {1, 2, 3, 5, 7, 10} <= set(counts)
    assert max(a / b for a, b in itertools.pairwise(c.n_atoms for c in hard_levels(10**6)[:-4])) < 2.1
    assert max(level.n_atoms for level in hard_levels(6)) == 6
    assert [level.n_atoms for level in hard_levels(1)] == [1]


def test_path_keeps_every_iterate(data):
    path = single_index_path(data.X, data.y, n_atoms=[3, 10, 40], max_iter=4)
    assert list(path.n_atoms) == [40, 10, 3]
    assert [int((c != 0).sum()) for c in path.coefs] == [40, 10, 3]
    assert [len(m) for m in path.mse] == [8, 4, 4]  # the first level starts cold
    assert path.mse[0][-1] < path.mse[2][-1]
    weighted = single_index_path(
        np.tile(data.X, (2, 1)), np.tile(data.y, 2), n_atoms=[3], sample_weight=np.full(400, 0.5)
    )
    np.testing.assert_allclose(
        weighted.coefs, single_index_path(data.X, data.y, n_atoms=[3]).coefs, rtol=1e-8
    )


def test_a_path_of_penalties_goes_from_strong_to_weak(data):
    path = single_index_path(data.X, data.y, penalty=[0.1, 0.9, 0.4], max_iter=50)
    assert path.n_atoms is None
    assert list(path.penalty) == [0.9, 0.4, 0.1]
    counts = [int((c != 0).sum()) for c in path.coefs]
    assert counts == sorted(counts)
    # A level is what a fit at that penalty comes to, up to where both stop.
    alone = SingleIndexRegressor(penalty=0.4, tol=1e-6).fit(data.X, data.y)
    cosine = alone.coef_ @ path.coefs[1] / np.linalg.norm(alone.coef_) / np.linalg.norm(path.coefs[1])
    assert cosine > 0.99
    with pytest.raises(ValueError, match="do not go together"):
        single_index_path(data.X, data.y, n_atoms=[3], penalty=[0.1])
    with pytest.raises(ValueError, match="share from 0 to 1"):
        single_index_path(data.X, data.y, penalty=[2.0])


def test_paths_are_in_the_units_of_y_and_know_every_link(data):
    plain, scaled = (single_index_path(data.X, c * data.mean, n_atoms=[5]) for c in (1, 1000))
    np.testing.assert_allclose(scaled.coefs, 1000 * plain.coefs, rtol=1e-8)
    np.testing.assert_allclose(scaled.mse[0], 1e6 * plain.mse[0], rtol=1e-8)
    # A power of two, so that no rounding can tip the choice between two candidates.
    searches = [SingleIndexRegressorCV(**SMALL).fit(data.X, c * data.mean) for c in (1, 1024)]
    assert searches[0].best_params_ == searches[1].best_params_
    np.testing.assert_allclose(searches[1].path_["coefs"], 1024 * searches[0].path_["coefs"], rtol=1e-8)
    known = single_index_path(data.X, data.y, n_atoms=[5], link="logistic")
    assert np.count_nonzero(known.coefs[0]) == 5


def test_a_warm_level_needs_fewer_iterations_than_a_cold_one():
    data = binary(n=300, d=400)
    settings = {"max_iter": 100, "tol": 1e-3}
    warm = single_index_path(data.X, data.y, n_atoms=[30, 25], **settings)
    cold = single_index_path(data.X, data.y, n_atoms=[25], **settings)

    def settled(mse):
        return int(np.argmax(mse[:, 0] == mse[-1, 0]))

    assert settled(warm.mse[1]) <= settled(cold.mse[0])


# ---------------------------------------------------------------- at home in scikit-learn


def test_pipeline(data):
    model = make_pipeline(StandardScaler(), SingleIndexClassifierCV(**SMALL)).fit(data.X, data.y)
    assert model.score(data.X, data.y) > 0.7


def test_grid_search(data):
    search = GridSearchCV(SingleIndexClassifierCV(**SMALL), {"lipschitz": [1.0, 4.0]}, cv=2)
    assert search.fit(data.X, data.y).best_score_ > 0.6


def test_cross_val_score(data):
    assert cross_val_score(SingleIndexClassifierCV(**SMALL), data.X, data.y, cv=3).mean() > 0.6


def test_calibrated_classifier(data):
    model = CalibratedClassifierCV(SingleIndexClassifier(5), method="sigmoid", cv=3)
    assert model.fit(data.X, data.y).predict_proba(data.X).shape == (200, 2)


def test_set_output(data):
    frame = pd.DataFrame(data.X, columns=[f"f{j}" for j in range(60)])
    scaler = StandardScaler().set_output(transform="pandas")
    model = make_pipeline(scaler, SingleIndexClassifierCV(**SMALL)).fit(frame, data.y)
    assert list(model[-1].feature_names_in_) == list(frame.columns)


def test_metadata_routing_of_sample_weights(data):
    weight = np.linspace(0.1, 2, 200)
    with sklearn.config_context(enable_metadata_routing=True):
        model = (
            SingleIndexClassifier(5)
            .set_fit_request(sample_weight=True)
            .set_score_request(sample_weight=False)
        )
        search = GridSearchCV(model, {"alpha": [0.1]}, cv=2).fit(data.X, data.y, sample_weight=weight)
    direct = SingleIndexClassifier(5, alpha=0.1).fit(data.X, data.y, sample_weight=weight)
    np.testing.assert_array_equal(search.best_estimator_.coef_, direct.coef_)


def test_a_searched_model_can_be_saved(data, fitted, tmp_path):
    save(fitted, tmp_path / "model.sim")
    again = load(tmp_path / "model.sim")
    np.testing.assert_array_equal(again.predict_proba(data.X), fitted.predict_proba(data.X))
    assert again.best_params_ == fitted.best_params_


def test_verbose_says_where_it_is(data, capsys):
    SingleIndexClassifierCV(**SMALL, verbose=1).fit(data.X, data.y)
    said = capsys.readouterr().err
    assert "fold traced 5/5" in said
    assert "path scored 2/2" in said


def test_callbacks_hear_of_every_fold_and_path(data):
    pytest.importorskip("sklearn.callback", reason="scikit-learn has no callbacks before 1.9")

    class Recorder:
        def __init__(self):
            self.names = []

        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            self.names.append(context.task_name)

        def on_fit_task_end(self, estimator, context):
            pass

    recorder = Recorder()
    model = SingleIndexClassifierCV(**SMALL).set_callbacks(recorder).fit(data.X, data.y)
    assert recorder.names == ["fit", *["fold traced"] * 5, *["path scored"] * 2]
    assert not [name for name in vars(model) if name.startswith("_") and name != "_skl_callbacks"]
