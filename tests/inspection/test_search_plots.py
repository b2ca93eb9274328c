import re
import sys
import warnings
from copy import copy

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from singleindex.datasets import make_completion
from singleindex.estimators import (
    SingleIndexClassifier,
    SingleIndexClassifierCV,
    SingleIndexCompleterCV,
    SingleIndexRegressor,
    SingleIndexRegressorCV,
    single_index_path,
)
from singleindex.fitting.cross_fit import IndexNotIdentifiedWarning
from singleindex.inspection import plot_coefficient_path, plot_cv_curve, plot_reliability
from singleindex.inspection._layers import _interval, _set_log_axis, _spread_apart
from singleindex.structures import Sparse

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 12))
INDEX = X[:, 0] - 2 * X[:, 1] + 0.5 * X[:, 2]
Y = np.tanh(INDEX) + 0.1 * RNG.normal(size=120)
BOTH = np.column_stack([Y, INDEX])
LABELS = (BOTH + RNG.normal(size=BOTH.shape) > 0).astype(int)
FRAME = pd.DataFrame(X, columns=["age", "cost in $", "tax in $", "_hidden", "n" * 90, *"abcdefg"])
WORDS = np.array(["low", "mid", "high $$"], dtype=object)[np.digitize(INDEX, [-1, 1])]


class Stepwise(Sparse):
    """Sparse vectors that are found by gradient steps alone, on paths of their own number of atoms."""

    def separable(self, n_coordinates):
        return None


SMALL = {"cv": 3, "max_iter": 2}
REGRESSOR = SingleIndexRegressorCV(**SMALL).fit(X, Y)
HARD = SingleIndexRegressorCV([1, 3, 6, 12], structure=Stepwise(), penalty=[], **SMALL).fit(FRAME, Y)
SOFT = SingleIndexRegressorCV([], penalty=[0.6, 0.2, 0.0], alpha=[0.1, 1.0], **SMALL).fit(X, Y)
TWO = SingleIndexRegressorCV([1, 3, 12], structure=Stepwise(), penalty=[], **SMALL).fit(X, BOTH)
BINARY = SingleIndexClassifierCV([1, 3], rule="one_se", **SMALL).fit(X, Y > 0)
with warnings.catch_warnings():
    # What lies in the middle has no index that it rises with.
    warnings.simplefilter("ignore", IndexNotIdentifiedWarning)
    THREE = SingleIndexClassifierCV([1, 3], penalty=[0.5, 0.1], **SMALL).fit(FRAME, WORDS)
SEARCHES = {
    "regressor": REGRESSOR,
    "hard": HARD,
    "soft": SOFT,
    "two outputs": TWO,
    "binary": BINARY,
    "three classes": THREE,
    "no column scale": SingleIndexRegressorCV(
        [3], alpha=[0.1], scale_power=[None, 1.0], scoring=None, **SMALL
    ).fit(X * np.geomspace(1, 3, 12), Y),
    "of all rows": SingleIndexRegressorCV(refit="all", scoring="r2", **SMALL).fit(X, Y),
    "both": SingleIndexRegressorCV([1, 3], structure=Stepwise(), penalty=[0.5, 0.1], **SMALL).fit(X, Y),
}
every_search = pytest.mark.parametrize("model", SEARCHES.values(), ids=SEARCHES)
search_plots = pytest.mark.parametrize("plot", [plot_cv_curve, plot_coefficient_path])


def reliability(model, ax=None):
    return plot_reliability(model, X, Y > 0, ax=ax)


@pytest.fixture(autouse=True, scope="module")
def _off_screen():
    with mpl.rc_context():
        plt.switch_backend("agg")
        yield


@pytest.fixture(autouse=True)
def _no_figure_is_left_open_and_no_setting_is_changed():
    before = dict(mpl.rcParams)
    yield
    assert plt.get_fignums() == []
    assert dict(mpl.rcParams) == before


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


def legend_labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def points(container):
    return container.lines[0].get_xydata()


# ---------------------------------------------------------------- all plots


@search_plots
@every_search
def test_draws_on_the_given_axes_alone(plot, model, ax):
    assert plot(model, ax=ax) is ax
    assert ax.has_data()
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    ax.figure.draw_without_rendering()


@pytest.mark.parametrize("plot", [plot_cv_curve, plot_coefficient_path, reliability])
def test_makes_a_figure_of_its_own(plot):
    ax = plot(BINARY)
    assert isinstance(ax, Axes)
    assert plt.get_fignums() == [ax.figure.number]
    plt.close(ax.figure)


@pytest.mark.parametrize("plot", [plot_cv_curve, plot_coefficient_path, reliability])
def test_where_matplotlib_is_missing(plot, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "singleindex\[plot\]"'):
        plot(BINARY)


@search_plots
def test_unfitted_models(plot):
    for model in (SingleIndexRegressorCV(), SingleIndexClassifierCV(), SingleIndexRegressor()):
        with pytest.raises(NotFittedError):
            plot(model)


@search_plots
def test_models_without_a_search(plot):
    other = GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=2).fit(X, Y)
    for model in (SingleIndexRegressor(3).fit(X, Y), other):
        with pytest.raises(ValueError, match=f"{type(model).__name__} has not searched"):
            plot(model)


@search_plots
def test_the_search_of_a_completer_has_no_path_to_draw(plot):
    ratings = make_completion(30, 20, 300, n_atoms=1, link="tanh", random_state=0)
    model = SingleIndexCompleterCV([2], penalty=[0.5], damping=[3.0], graph_strength=[0.0], cv=3)
    with pytest.raises(ValueError, match="SingleIndexCompleterCV has not searched"):
        plot(model.fit(ratings.pairs, ratings.y))


# ---------------------------------------------------------------- the scores


def test_cuts_of_an_average_have_a_line_for_each_way_of_fitting_them_anew(ax):
    plot_cv_curve(REGRESSOR, ax=ax)
    lines = ["cut", "cut, half refitted", "cut and refitted"]
    assert legend_labels(ax) == [*lines, "uncut", "averaged", "most weight"]
    table = pd.DataFrame(REGRESSOR.cv_results_).query("stage == 2")
    for container, relaxation in zip(ax.containers, (0, 0.5, 1), strict=False):
        of_line = table[table.n_atoms.notna() & (table.relaxation == relaxation)]
        of_line = of_line.sort_values("mean_n_atoms")
        np.testing.assert_allclose(points(container), of_line[["mean_n_atoms", "mean_test_score"]])
    (dots,) = [line for line in ax.lines if line.get_label() == "averaged"]
    assert len(dots.get_xdata()) == np.count_nonzero(table.weight) > 1


def test_paths_are_shown_where_nothing_was_cut(ax):
    plot_cv_curve(SOFT, ax=ax)
    assert legend_labels(ax) == ["alpha=0.1", "alpha=1", "most weight"]
    table = pd.DataFrame(SOFT.cv_results_).query("alpha == 0.1")
    best = table.loc[table.groupby("penalty").mean_test_score.idxmax()].sort_values("mean_n_atoms")
    np.testing.assert_allclose(points(ax.containers[0]), best[["mean_n_atoms", "mean_test_score"]])
    assert len(points(ax.containers[0])) < len(table)


def test_soft_paths_are_dashed_beside_hard_ones(ax):
    plot_cv_curve(SEARCHES["both"], ax=ax)
    assert legend_labels(ax) == ["hard", "soft", "chosen"]
    assert [container.lines[0].get_linestyle() for container in ax.containers] == ["-", "--"]


def test_bars_are_the_standard_error_over_the_folds(ax):
    plot_cv_curve(HARD, ax=ax)
    (container,) = ax.containers
    results = HARD.cv_results_
    folds = np.column_stack([results[f"split{k}_test_score"] for k in range(3)])
    error = dict(zip(results["mean_test_score"], folds.std(axis=1, ddof=1) / np.sqrt(3), strict=True))
    for (_, score), bar in zip(points(container), container.lines[2][0].get_segments(), strict=True):
        np.testing.assert_allclose(bar[:, 1], [score - error[score], score + error[score]])


@every_search
def test_the_ring_is_the_chosen_candidate(model, ax):
    plot_cv_curve(model, ax=ax)
    (ring,) = [line for line in ax.lines if line.get_label() in ("chosen", "most weight")]
    assert ring.get_ydata()[0] == pytest.approx(model.best_score_)
    assert f"score {model.best_score_:.4g}" in ax.get_title(loc="left")


def test_names_of_paths_and_scores():
    def label(name):
        return plot_cv_curve(SEARCHES[name], ax=Figure().subplots())

    assert re.search(r"scale=(None|1\.0)", label("no column scale").get_title(loc="left"))
    assert label("no column scale").get_ylabel() == "held-out R²"
    assert label("of all rows").get_ylabel() == "held-out r2"
    assert label("binary").get_ylabel() == "held-out neg_log_loss"
    model = copy(REGRESSOR)
    model.scoring = lambda *args: 0.0
    assert plot_cv_curve(model, ax=Figure().subplots()).get_ylabel() == "held-out score"


def test_candidates_without_a_score_are_left_out(ax):
    model = copy(HARD)
    scores = HARD.cv_results_["mean_test_score"].copy()
    scores[HARD.cv_results_["n_atoms"] == 12] = np.nan
    model.cv_results_ = {**HARD.cv_results_, "mean_test_score": scores}
    plot_cv_curve(model, ax=ax)
    assert len(points(ax.containers[0])) == 3


# ---------------------------------------------------------------- the path


@every_search
def test_each_level_has_norm_one(model, ax):
    plot_coefficient_path(model, top=12, ax=ax)
    named = [line.get_ydata() for line in ax.lines if not line.get_label().startswith("_child")]
    others = [line[:, 1] for line in ax.collections[0].get_segments()]
    norms = np.linalg.norm([*named, *others], axis=0)
    np.testing.assert_allclose(norms[norms > 0], 1)
    assert norms[-1] > 0


def test_path_of_atoms(ax):
    plot_coefficient_path(HARD, top=2, ax=ax)
    level = list(HARD.path_["n_atoms"]).index(HARD.best_params_["n_atoms"])
    largest = np.argsort(-np.abs(HARD.path_["coefs"][level]))[:2]
    assert {text.get_text() for text in ax.texts} == set(FRAME.columns[largest])
    assert not any(text.get_parse_math() for text in ax.texts)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [1, 3, 6, 12])
    dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert [list(line.get_xdata()) for line in dashed] == [[HARD.best_params_["n_atoms"]] * 2]
    assert ax.get_xscale() == "log"
    assert ax.get_title(loc="left").startswith("2 of ")


def test_path_of_penalties_goes_from_strong_to_weak(ax):
    plot_coefficient_path(SOFT, ax=ax)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [0.6, 0.2, 0.0])
    assert ax.xaxis_inverted()
    assert ax.get_xscale() == "symlog"
    assert "0" in [text.get_text() for text in ax.get_xticklabels()]


def test_path_that_was_traced_alone(ax):
    path = single_index_path(FRAME, Y, penalty=[0.6, 0.2, 0.01])
    assert path.feature_names == list(FRAME.columns)
    plot_coefficient_path(path, top=3, ax=ax)
    largest = np.argsort(-np.abs(path.coefs[-1]))[:3]
    assert {text.get_text() for text in ax.texts} == set(FRAME.columns[largest])
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [0.6, 0.2, 0.01])
    assert not [line for line in ax.lines if line.get_linestyle() == "--"]
    assert "at the right edge are named" in ax.get_title(loc="left")
    counts = single_index_path(FRAME.to_numpy(), np.column_stack([Y, -Y]), n_atoms=[1, 12])
    other = plot_coefficient_path(counts, output=1, top=1, ax=Figure().subplots())
    np.testing.assert_array_equal(other.lines[0].get_xdata(), [1, 12])
    assert other.get_ylabel() == "coefficient of output 1 / norm of w"
    assert [text.get_text() for text in other.texts] == [f"x{np.argmax(np.abs(counts.coefs[0, :, 1]))}"]
    with pytest.raises(ValueError, match="12 names, got 1"):
        plot_coefficient_path(counts, feature_names=["a"], ax=ax)


def test_path_of_several_outputs(ax):
    plot_coefficient_path(TWO, output=1, top=12, ax=ax)
    coefs = TWO.path_["coefs"][::-1, :, 1]
    drawn = {line.get_label(): line.get_ydata() for line in ax.lines}
    np.testing.assert_allclose(drawn["x1"], coefs[:, 1] / np.linalg.norm(coefs, axis=1))
    assert ax.get_ylabel() == "coefficient of output 1 / norm of w"
    sizes = plot_coefficient_path(TWO, ax=Figure().subplots())
    assert min(np.min(line.get_ydata()) for line in sizes.lines) >= 0
    with pytest.raises(ValueError, match=r"one of \['high \$\$', 'low', 'mid'\]"):
        plot_coefficient_path(THREE, output="none", ax=ax)


def test_names_and_counts_are_checked(ax):
    plot_coefficient_path(SOFT, top=1, feature_names=list("abcdefghijkl"), ax=ax)
    assert [text.get_text() for text in ax.texts] == ["b"]
    with pytest.raises(ValueError, match="12 names, got 1"):
        plot_coefficient_path(SOFT, feature_names=["a"], ax=ax)
    with pytest.raises(ValueError, match="top must be an integer"):
        plot_coefficient_path(SOFT, top=0, ax=ax)


def test_more_features_than_colours_differ_in_dashes(ax):
    model = copy(HARD)
    model.best_params_ = {**HARD.best_params_, "n_atoms": 12}
    plot_coefficient_path(model, top=12, ax=ax)
    lines = [line for line in ax.lines if not line.get_label().startswith("_child")]
    assert len({(line.get_color(), str(line._dash_pattern)) for line in lines}) == len(lines) == 12


def test_a_path_without_coefficients(ax):
    model = copy(HARD)
    model.path_ = {**HARD.path_, "coefs": np.zeros_like(HARD.path_["coefs"])}
    plot_coefficient_path(model, ax=ax)
    assert len(ax.texts) == 0
    ax.figure.draw_without_rendering()


def test_labels_are_moved_apart_no_more_than_needed():
    np.testing.assert_allclose(_spread_apart(np.array([0.1, 0.5, 0.9]), 0.1), [0.1, 0.5, 0.9])
    np.testing.assert_allclose(_spread_apart(np.array([0.5, 0.5]), 0.1), [0.45, 0.55])
    np.testing.assert_allclose(_spread_apart(np.array([1.0, 1.0]), 0.1), [0.9, 1.0])
    crowded = _spread_apart(np.linspace(0, 1, 30), 0.1)
    np.testing.assert_allclose(np.diff(crowded), 0.1)
    assert len(_spread_apart(np.array([]), 0.1)) == 0


@pytest.mark.parametrize(
    ("values", "scale"),
    [([0.0, 0.0], "linear"), ([3.0], "log"), ([1.0, 1e6], "log"), ([0.0, 0.5, 40.0], "symlog")],
)
def test_logarithmic_axes(values, scale, ax):
    ax.plot(values, values, "o")
    _set_log_axis(ax, np.array(values))
    ax.figure.draw_without_rendering()
    assert ax.get_xscale() == scale
    assert len(ax.get_xticks()) <= 12


# ---------------------------------------------------------------- the probabilities

PREDICTORS = {
    "single index": (SingleIndexClassifier(3).fit(X, Y > 0), Y > 0, ["class True"]),
    "search": (BINARY, Y > 0, ["class True"]),
    "column": (BINARY, (Y > 0)[:, None], ["class True"]),
    "three classes": (THREE, WORDS, [r"class high \$\$", "class low", "class mid"]),
    "labels": (SingleIndexClassifier(3).fit(X, LABELS), LABELS, ["label 0", "label 1"]),
    "sparse labels": (
        SingleIndexClassifier(3).fit(X, LABELS),
        sparse.csr_array(LABELS),
        ["label 0", "label 1"],
    ),
    "logistic": (LogisticRegression().fit(X, Y > 0), Y > 0, ["class True"]),
    "pipeline": (
        make_pipeline(StandardScaler(), LogisticRegression()).fit(X, WORDS),
        WORDS,
        [r"class high \$\$", "class low", "class mid"],
    ),
    "neighbours": (KNeighborsClassifier().fit(X, LABELS), LABELS, ["label 0", "label 1"]),
    "grid search": (
        GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=2).fit(X, Y > 0),
        pd.Series(Y > 0),
        ["class True"],
    ),
}


@pytest.mark.parametrize(("model", "target", "names"), PREDICTORS.values(), ids=PREDICTORS)
def test_reliability_of_any_classifier(model, target, names, ax):
    data = FRAME if model is THREE else X
    assert plot_reliability(model, data, target, ax=ax) is ax
    ax.figure.draw_without_rendering()
    if len(names) == 1:
        assert ax.get_xlabel() == f"predicted probability of {names[0]}"
        assert len(ax.patches) == len(ax.containers) == 1
    else:
        assert legend_labels(ax) == ["calibrated", *names]
        assert ax.get_ylabel() == f"share of the {names[0].split()[0]}"


def test_points_are_shares_with_intervals_of_wilson(ax):
    model = PREDICTORS["logistic"][0]
    plot_reliability(model, X, Y > 0, bins=4, ax=ax)
    p = model.predict_proba(X)[:, 1]
    lowest = np.argsort(p)[:30]
    (container,) = ax.containers
    np.testing.assert_allclose(points(container)[0], [p[lowest].mean(), np.mean(Y[lowest] > 0)])
    bar = container.lines[2][0].get_segments()[0]
    np.testing.assert_allclose(bar[:, 1], _interval((Y[lowest] > 0).astype(float), binary=True))
    brier = np.mean((p - (Y > 0)) ** 2)
    assert ax.get_title(loc="left") == f"120 rows, Brier score {brier:.3f}"
    assert ax.get_ylim()[0] < -0.1


def test_one_of_several_classes(ax):
    plot_reliability(THREE, FRAME, WORDS, output="mid", ax=ax)
    assert ax.get_ylabel() == "share of class mid"
    assert len(ax.patches) == 1
    second = plot_reliability(PREDICTORS["neighbours"][0], X, LABELS, output=1, ax=Figure().subplots())
    assert second.get_ylabel() == "share of label 1"


def test_reliability_says_what_is_wrong(ax):
    with pytest.raises(NotFittedError):
        plot_reliability(SingleIndexClassifier(), X, Y > 0, ax=ax)
    with pytest.raises(TypeError, match="LinearSVC has no predict_proba"):
        plot_reliability(LinearSVC().fit(X, Y > 0), X, Y > 0, ax=ax)
    with pytest.raises(TypeError, match="SingleIndexRegressorCV has no predict_proba"):
        plot_reliability(REGRESSOR, X, Y, ax=ax)
    with pytest.raises(ValueError, match="holds the class 'other'"):
        plot_reliability(THREE, FRAME, np.where(WORDS == "mid", "other", WORDS), ax=ax)
    with pytest.raises(ValueError, match=r"shape \(120, 1\), as the predictions, got \(119, 1\)"):
        plot_reliability(BINARY, X, (Y > 0)[1:], ax=ax)
    with pytest.raises(ValueError, match=r"one of \[True\].* got False"):
        plot_reliability(BINARY, X, Y > 0, output=False, ax=ax)
    with pytest.raises(ValueError, match="bins must be an integer"):
        plot_reliability(BINARY, X, Y > 0, bins=0, ax=ax)
