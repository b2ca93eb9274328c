"""The CV estimators, the path and the cross-fitted link."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from singleindex import (
    SingleIndexClassifier,
    SingleIndexClassifierCV,
    SingleIndexRegressorCV,
    load,
    save,
)
from singleindex.datasets import make_single_index
from singleindex.structures import Dictionary, GroupSparse, LowRank, RowSparse

SMALL = {"n_atoms": [2, 5, 20], "penalty": [0.5, 0.35, 0.2, 0.1], "scale_power": [1.0], "cv": 5}


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
    paths, cuts = (frame[frame["stage"] == stage] for stage in (1, 2))
    assert cuts["mean_test_score"].max() == pytest.approx(fitted.best_score_)
    # Soft, half relaxed and relaxed at each level; cut, half refitted and refitted for each number of atoms.
    assert set(paths["penalty"]) == set(SMALL["penalty"])
    assert set(cuts["n_atoms"]) == {2, 5, 20}
    assert set(paths["relaxation"]) == set(cuts["relaxation"]) == {0, 0.5, 1}
    assert set(paths["link"]) == {"logistic"}
    for stage in (paths, cuts):
        assert stage["weight"].sum() == pytest.approx(1)


def test_the_true_number_of_atoms_is_found(data, fitted):
    assert fitted.best_params_["n_atoms"] == 5
    assert len(set(np.flatnonzero(fitted.coef_)) & set(np.flatnonzero(data.coef))) >= 4
    assert fitted.stability_.shape == (60,)
    assert fitted.stability_[data.coef != 0].mean() > 0.7
    assert fitted.status_ == "CHOSEN"
    assert fitted.n_features_ == np.count_nonzero(fitted.coef_) == 5
    assert not fitted.dense_
    assert fitted.path_["coefs"].shape == (4, 60)
    assert fitted.path_["penalty"].tolist() == SMALL["penalty"]
    used = [int((c != 0).sum()) for c in fitted.path_["coefs"]]
    assert used == sorted(used)


def test_folds_side_by_side_give_the_same_model(data, fitted):
    parallel = SingleIndexClassifierCV(**SMALL, n_jobs=2).fit(data.X, data.y)
    np.testing.assert_array_equal(parallel.coef_, fitted.coef_)
    for name, values in fitted.cv_results_.items():
        np.testing.assert_array_equal(parallel.cv_results_[name], values)


def test_one_standard_error_takes_a_simpler_model():
    data = binary(n=120)
    counts = []
    for rule in ("best", "one_se"):
        model = SingleIndexClassifierCV([2, 3, 5, 10, 30], rule=rule, cv=5).fit(data.X, data.y)
        counts.append(model.best_params_["n_atoms"])
        assert model.n_features_ <= counts[-1]
        for stage in (1, 2):
            weight = model.cv_results_["weight"][model.cv_results_["stage"] == stage]
            assert sorted(weight)[-2:] == [0, 1]
        best = model.cv_results_["mean_test_score"][model.cv_results_["stage"] == 2].max()
        assert model.best_score_ == pytest.approx(best) if rule == "best" else model.best_score_ <= best
    assert counts[1] <= counts[0]


def test_equals_go_to_the_simpler_model(data):
    def constant(model, X, y):
        return 1.0

    model = SingleIndexClassifierCV(**SMALL, scoring=constant).fit(data.X, data.y)
    assert model.best_params_["n_atoms"] == 2
    assert model.n_features_ == 2


def test_groups_stay_together(data):
    groups = np.arange(200) // 20
    model = SingleIndexClassifierCV(**SMALL | {"cv": GroupKFold(5)}).fit(data.X, data.y, groups=groups)
    assert len([name for name in model.cv_results_ if name.startswith("split")]) == 5
    with pytest.raises(ValueError, match="groups"):
        SingleIndexClassifierCV(**SMALL | {"cv": GroupKFold(5)}).fit(data.X, data.y)


def test_rows_that_are_never_held_out(data):
    splitter = ShuffleSplit(2, test_size=0.3, random_state=0)
    model = SingleIndexClassifierCV(**SMALL | {"cv": splitter}).fit(data.X, data.y)
    assert np.isfinite(model.predict_proba(data.X)).all()


def test_an_average_keeps_what_three_in_ten_of_its_models_use():
    data = binary(n=120)
    model = SingleIndexClassifierCV(cv=5).fit(data.X, data.y)
    used = model.coef_ != 0
    np.testing.assert_array_equal(used, model.stability_ >= 0.3)
    assert ((model.stability_ > 0) & ~used).any()
    assert model.coef_ @ data.coef / np.linalg.norm(model.coef_) / np.linalg.norm(data.coef) > 0.9


def test_column_scales_that_change_nothing_are_tried_once(data):
    settings = {**SMALL, "scale_power": (1.0, 0.5, 0.0), "cv": 3}
    scales = lambda X: set(SingleIndexClassifierCV(**settings).fit(X, data.y).cv_results_["scale_power"])  # noqa: E731
    assert scales(data.X) == {1.0}
    assert scales(data.X * np.geomspace(1, 10, data.X.shape[1])) == {0.0, 0.5, 1.0}


@pytest.mark.parametrize(("rule", "like"), [("average", "folds"), ("best", "all"), ("one_se", "all")])
def test_averages_are_of_folds_and_single_candidates_of_all_rows(data, rule, like):
    auto, named, other = (
        SingleIndexClassifierCV(**SMALL, rule=rule, refit=refit).fit(data.X, data.y)
        for refit in ("auto", like, {"folds": "all", "all": "folds"}[like])
    )
    np.testing.assert_array_equal(auto.coef_, named.coef_)
    assert (auto.coef_ != other.coef_).any()


@pytest.mark.parametrize("held_out_link", [True, False])
@pytest.mark.parametrize("link", ["learned", "logistic", "identity"])
def test_the_average_has_a_link_of_its_own(data, link, held_out_link):
    # Predictions are of the right size: their mean is that of y, their distance from the truth is small.
    model = SingleIndexRegressorCV(**SMALL, link=link, held_out_link=held_out_link)
    fitted = model.fit(data.X, data.y).predict(data.X)
    assert abs(fitted.mean() - data.y.mean()) < 0.02
    assert np.sqrt(np.mean((fitted - data.mean) ** 2)) < 0.2


def test_sample_weights_count(data):
    weight = np.where(np.arange(200) < 150, 1.0, 0.0)
    settings = SMALL | {"cv": KFold(4)}
    with pytest.warns(UserWarning, match="1 of the 4 splits"):
        model = SingleIndexRegressorCV(**settings).fit(data.X, data.mean, sample_weight=weight)
    apart = SingleIndexRegressorCV(**settings | {"cv": KFold(3)}).fit(data.X[:150], data.mean[:150])
    np.testing.assert_allclose(model.coef_, apart.coef_, rtol=1e-6)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"rule": "two_se"}, "one_se"),
        ({"refit": "average"}, "folds"),
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
    model = SingleIndexClassifierCV([1, 3, 6], structure=GroupSparse(group.groups), cv=3).fit(
        group.X, group.y
    )
    assert len(np.unique(np.asarray(group.groups)[model.coef_ != 0])) <= model.best_params_["n_atoms"] <= 6
    rows = make_single_index(150, 60, structure="rows", n_outputs=3, n_atoms=4, random_state=0)
    model = SingleIndexClassifierCV([2, 4, 8], structure=RowSparse(), cv=3).fit(rows.X, rows.y)
    assert model.coef_.shape == (60, 3)
    assert model.n_features_ == np.count_nonzero(model.coef_.any(axis=1)) <= model.best_params_["n_atoms"]
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
        model = SingleIndexClassifierCV([1, 3], penalty=[0.5, 0.2], link=link, cv=3).fit(X, y)
        assert model.score(X, y) > 0.6
        assert model.coef_.shape == (20, 3)


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
    assert "stage scored 2/2" in said


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
    assert recorder.names == ["fit", *["fold traced"] * 5, *["stage scored"] * 2]
    assert not [name for name in vars(model) if name.startswith("_") and name != "_skl_callbacks"]
