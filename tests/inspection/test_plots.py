import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

from singleindex.datasets import make_completion, make_single_index
from singleindex.estimators import (
    LipschitzIsotonicRegression,
    SingleIndexClassifier,
    SingleIndexCompleter,
    SingleIndexRegressor,
    Slisotron,
)
from singleindex.export import from_json, to_json
from singleindex.inspection import plot_coefficients, plot_convergence, plot_link
from singleindex.inspection._plots import _interval
from singleindex.structures import RowSparse

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 6))
INDEX = X[:, 0] - 2 * X[:, 1]
Y = np.tanh(INDEX) + 0.1 * RNG.normal(size=120)
BOTH = np.column_stack([Y, INDEX])
FRAME = pd.DataFrame(X, columns=["age", "dose", "cost in $", "tax in $", "_hidden", "n" * 90])
WORDS = np.array(["low", "mid", "high $$"], dtype=object)[np.digitize(INDEX, [-1, 1])]
FLAT = [0, 1, 0, 1]

REGRESSOR = SingleIndexRegressor(3).fit(X, Y)
TWO = SingleIndexRegressor(3).fit(X, BOTH)
BINARY = SingleIndexClassifier(3).fit(X, Y > 0)
THREE = SingleIndexClassifier(3).fit(FRAME, WORDS)
TANH = SingleIndexRegressor(link="tanh").fit(X, Y)
CASES = {
    "regressor": (REGRESSOR, X, Y),
    "two outputs": (TWO, X, BOTH),
    "binary": (BINARY, X, Y > 0),
    "three classes": (THREE, FRAME, WORDS),
    "known link": (TANH, X, Y),
    "slisotron": (Slisotron(max_iter=5).fit(X, Y), X, Y),
    "float32": (SingleIndexRegressor().fit(X.astype("f4"), Y), X.astype("f4"), Y),
    "flat": (SingleIndexRegressor().fit(np.c_[[1, 1, 2, 2]], FLAT), [[1]] * 4, FLAT),
    "many classes": (SingleIndexClassifier().fit(X, np.arange(120) % 9), X, np.arange(120) % 9),
}  # fmt: skip
every_case = pytest.mark.parametrize(("model", "data", "target"), CASES.values(), ids=CASES)
every_plot = pytest.mark.parametrize("plot", [plot_link, plot_coefficients, plot_convergence])


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


# ---------------------------------------------------------------- all plots


@every_plot
@every_case
def test_draws_on_the_given_axes_alone(plot, model, data, target, ax):
    assert plot(model, ax=ax) is ax
    assert ax.has_data()
    assert ax.get_xlabel()
    ax.figure.draw_without_rendering()


@every_plot
def test_makes_a_figure_of_its_own(plot):
    ax = plot(REGRESSOR)
    assert isinstance(ax, Axes)
    assert plt.get_fignums() == [ax.figure.number]
    plt.close(ax.figure)


@every_plot
@pytest.mark.parametrize("model", [SingleIndexRegressor(), SingleIndexClassifier(), Slisotron()])
def test_unfitted_models(plot, model):
    with pytest.raises(NotFittedError):
        plot(model)


@every_plot
def test_models_without_a_link(plot):
    with pytest.raises(TypeError, match="LipschitzIsotonicRegression has no link"):
        plot(LipschitzIsotonicRegression().fit(INDEX, Y))


def test_completers_have_no_coefficients(ax):
    ratings = make_completion(30, 20, 300, n_atoms=1, link="tanh", random_state=0)
    with pytest.raises(TypeError, match="SingleIndexCompleter has no weights"):
        plot_coefficients(SingleIndexCompleter(2).fit(ratings.pairs, ratings.y), ax=ax)


def test_models_without_a_history(ax):
    with pytest.raises(ValueError, match="no history"):
        plot_convergence(from_json(to_json(SingleIndexRegressor(3).fit(X, Y))), ax=ax)


@every_plot
def test_where_matplotlib_is_missing(plot, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "singleindex\[plot\]"'):
        plot(REGRESSOR)


def test_importing_does_not_import_matplotlib():
    code = "import sys, singleindex.inspection; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("plot", [plot_link, plot_coefficients])
def test_unknown_outputs(plot, ax):
    with pytest.raises(ValueError, match=r"one of \['high \$\$', 'low', 'mid'\].* got 'none'"):
        plot(THREE, output="none", ax=ax)
    with pytest.raises(ValueError, match=r"one of \[0, 1\].* got 2"):
        plot(TWO, output=2, ax=ax)
    with pytest.raises(ValueError, match=r"one of \[True\].* got False"):
        plot(BINARY, output=False, ax=ax)


# ---------------------------------------------------------------- the link


@every_case
def test_link_with_data(model, data, target, ax):
    plot_link(model, data, target, ax=ax)
    ax.figure.draw_without_rendering()


def test_link_is_the_curve_and_constant_beyond(ax):
    plot_link(REGRESSOR, ax=ax)
    curve, left, right = ax.lines
    np.testing.assert_array_equal(curve.get_xydata(), REGRESSOR.link_.knots_)
    low, high = ax.get_xlim()
    assert low < curve.get_xdata()[0] < curve.get_xdata()[-1] < high
    assert [left.get_xdata()[0], right.get_xdata()[0]] == [low, high]
    assert np.ptp(left.get_ydata()) == np.ptp(right.get_ydata()) == 0
    assert ax.get_legend() is None


def test_link_with_data_has_cloud_means_and_histogram(ax):
    plot_link(REGRESSOR, X, Y, ax=ax, bins=10)
    assert legend_labels(ax) == ["link", "data", "bin means, 95 % interval"]
    (cloud,) = [c for c in ax.collections if c.get_label() == "data"]
    np.testing.assert_allclose(cloud.get_offsets(), np.column_stack([REGRESSOR.index(X), Y]))
    (container,) = ax.containers
    means = container.lines[0].get_xydata()
    assert means.shape == (10, 2)
    np.testing.assert_allclose(means.mean(axis=0), [REGRESSOR.index(X).mean(), Y.mean()])
    assert len(ax.patches) == 1
    assert ax.get_ylim()[0] < Y.min()


def test_link_with_X_alone_has_a_histogram(ax):
    plot_link(BINARY, X, ax=ax)
    assert len(ax.patches) == 1
    assert len(ax.collections) == len(ax.containers) == 0


def test_binary_targets_are_jittered_and_the_index_is_the_decision_function(ax):
    plot_link(BINARY, X, Y > 0, ax=ax)
    points = ax.collections[0].get_offsets()
    np.testing.assert_allclose(points[:, 0], BINARY.decision_function(X))
    assert len(np.unique(points[:, 1])) == 120
    assert 0 < np.abs(points[:, 1] - (Y > 0)).max() <= 0.04
    assert [0.5, 0.5] in [list(line.get_ydata()) for line in ax.lines]
    assert ax.get_ylabel() == "probability of class True"


def test_large_data_are_thinned_the_same_way_each_time():
    data = np.tile(X, (20, 1))
    clouds = []
    for _ in range(2):
        ax = plot_link(REGRESSOR, data, np.tile(Y, 20), ax=Figure().subplots())
        clouds.append(ax.collections[0].get_offsets())
    assert legend_labels(ax)[1] == "data (2000 of 2400)"
    assert len(clouds[0]) == 2000
    np.testing.assert_array_equal(*clouds)


def test_several_outputs_have_a_legend_and_one_can_be_chosen(ax):
    plot_link(THREE, FRAME, WORDS, ax=ax)
    assert legend_labels(ax) == [r"class high \$\$", "class low", "class mid"]
    assert len(ax.collections) == 0
    chosen = plot_link(THREE, FRAME, WORDS, output="mid", ax=Figure().subplots())
    assert chosen.get_ylabel() == "probability of class mid"
    assert len(chosen.collections[0].get_offsets()) == 120
    second = plot_link(TWO, ax=Figure().subplots(), output=1)
    np.testing.assert_array_equal(second.lines[0].get_xydata(), TWO.link_[1].knots_)


def test_data_that_do_not_fit(ax):
    with pytest.raises(ValueError, match="y was given without X"):
        plot_link(REGRESSOR, y=Y, ax=ax)
    with pytest.raises(ValueError, match="120 rows, as X, and 1 columns"):
        plot_link(REGRESSOR, X, Y[:-1], ax=ax)
    with pytest.raises(ValueError, match="120 rows, as X, and 2 columns"):
        plot_link(TWO, X, Y, ax=ax)
    with pytest.raises(ValueError, match="holds the class 'other'"):
        plot_link(THREE, FRAME, np.where(WORDS == "mid", "other", WORDS), ax=ax)
    with pytest.raises(ValueError, match="bins must be an integer"):
        plot_link(REGRESSOR, X, Y, bins=0, ax=ax)


def test_intervals_of_the_mean():
    low, high = _interval(np.array([1.0, 3.0]), binary=False)
    assert (low, high) == pytest.approx((2 - 1.96, 2 + 1.96), abs=1e-3)
    # Wilson's interval, from Brown, Cai & DasGupta: 0 of 10, and 5 of 10.
    assert _interval(np.zeros(10), binary=True) == pytest.approx((0, 0.2775), abs=1e-4)
    assert _interval(np.repeat([0.0, 1.0], 5), True) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert _interval(np.array([2.0]), binary=False) == (2, 2)


# ---------------------------------------------------------------- the coefficients


def test_bars_are_the_largest_coefficients(ax):
    plot_coefficients(REGRESSOR, top=2, ax=ax)
    order = np.argsort(-np.abs(REGRESSOR.coef_))[:2]
    assert [bar.get_width() for bar in ax.patches] == list(REGRESSOR.coef_[order])
    assert [text.get_text() for text in ax.get_yticklabels()] == [f"x{j}" for j in order]
    colours = [to_hex(bar.get_facecolor()) for bar in ax.patches]
    assert colours == ["#0072b2" if c > 0 else "#d55e00" for c in REGRESSOR.coef_[order]]
    assert ax.get_title(loc="left") == "2 of 3 features with a non-zero coefficient"
    assert ax.yaxis_inverted()


def test_names_come_from_the_frame_and_are_drawn_as_they_are(ax):
    model = SingleIndexRegressor().fit(FRAME, Y)
    plot_coefficients(model, ax=ax)
    ax.figure.draw_without_rendering()
    names = {text.get_text() for text in ax.get_yticklabels()}
    assert names == {*FRAME.columns[:5], "n" * 47 + "…"}
    assert not any(text.get_parse_math() for text in ax.get_yticklabels())


def test_names_can_be_given(ax):
    plot_coefficients(REGRESSOR, feature_names=list("abcdef"), top=1, ax=ax)
    assert ax.get_yticklabels()[0].get_text() in "ab"
    with pytest.raises(ValueError, match="6 names, got 2"):
        plot_coefficients(REGRESSOR, feature_names=["a", "b"], ax=ax)


def test_several_outputs_have_bars_side_by_side(ax):
    plot_coefficients(TWO, top=2, ax=ax)
    assert len(ax.patches) == 4
    assert legend_labels(ax) == ["output 0", "output 1"]
    one = plot_coefficients(TWO, output=1, ax=Figure().subplots())
    assert {bar.get_width() for bar in one.patches} == set(TWO.coef_[:, 1]) - {0}


def test_a_model_without_coefficients_says_so(ax):
    plot_coefficients(CASES["flat"][0], ax=ax)
    assert len(ax.patches) == 0
    assert ax.get_title(loc="left").startswith("0 of 0 features")


# ---------------------------------------------------------------- the convergence


def test_convergence_shows_history_and_reason(ax):
    plot_convergence(REGRESSOR, ax=ax)
    objective, ring = ax.lines
    np.testing.assert_array_equal(objective.get_ydata(), REGRESSOR.history_["objective"])
    best = REGRESSOR.best_iter_
    assert ring.get_xydata().tolist() == [[best + 1, REGRESSOR.history_["objective"][best]]]
    (twin,) = [other for other in ax.figure.axes if other is not ax]
    np.testing.assert_array_equal(twin.lines[0].get_ydata(), REGRESSOR.history_["change"][1:])
    title = ax.get_title(loc="left")
    assert title.startswith(f"{REGRESSOR.status_} after {REGRESSOR.n_iter_} iterations:\n")
    assert legend_labels(ax) == ["objective", "returned", "change"]


def test_convergence_of_several_outputs(ax):
    plot_convergence(TWO, ax=ax)
    assert legend_labels(ax) == ["output 0", "output 1", "returned", "change"]
    assert all(status in ax.get_title(loc="left") for status in TWO.status_)


def test_convergence_of_outputs_fitted_together(ax):
    model = SingleIndexRegressor(2, structure=RowSparse()).fit(X, np.column_stack([Y, Y**3]))
    plot_convergence(model, ax=ax)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), model.history_["objective"])
    assert legend_labels(ax) == ["objective", "returned", "change"]
    assert ax.get_title(loc="left").startswith(f"{model.status_} after {model.n_iter_} iterations:")


def test_scale_is_logarithmic_where_it_helps(ax):
    model = SingleIndexRegressor().fit(X, Y)
    model.history_ = {"objective": np.array([100.0, 1.0, 0.1]), "change": np.array([np.inf, 2, 1])}
    model.best_iter_ = 2
    plot_convergence(model, ax=ax)
    twin = ax.figure.axes[1]
    assert (ax.get_yscale(), twin.get_yscale()) == ("log", "linear")
    model.history_["objective"][2] = 0.0
    assert plot_convergence(model, ax=Figure().subplots()).get_yscale() == "linear"


def test_link_of_several_labels():
    data = make_single_index(80, 12, structure="rows", n_outputs=3, n_atoms=3, random_state=0)
    model = SingleIndexClassifier(3, structure=RowSparse()).fit(data.X, data.y)
    ax = plot_link(model, data.X, data.y)
    assert any("label 1" in text.get_text() for text in ax.get_legend().get_texts())
    plt.close(ax.figure)
