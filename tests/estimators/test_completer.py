"""The completer: what it predicts, for whom, and from what kinds of input."""

import io
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.figure import Figure
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from singleindex import SingleIndexCompleter, load, save
from singleindex.datasets import make_completion
from singleindex.inspection import plot_convergence, plot_link


def make_data(**settings):
    defaults = {"n_atoms": 2, "noise": "gaussian", "random_state": 0}
    return make_completion(60, 40, 1400, **defaults | settings)


@pytest.fixture(scope="module")
def data():
    return make_data()


@pytest.fixture(scope="module")
def model(data):
    return fit(data)


def fit(data, graphs=True, train=1000, **settings):
    row_graph, col_graph = (data.row_graph, data.col_graph) if graphs else (None, None)
    model = SingleIndexCompleter(**{"n_atoms": 4, "penalty": 0.1, "damping": 1.0} | settings)
    return model.fit(data.pairs[:train], data.y[:train], row_graph, col_graph, shape=data.shape)


def error(model, data, train=1000):
    return np.mean((model.predict(data.pairs[train:]) - data.mean[train:]) ** 2)


# ---------------------------------------------------------------- what it learns


def test_predictions_are_the_link_at_the_sum_of_the_parts(model, data):
    i, j = data.pairs.T
    index = (
        model.row_effects_[i] + model.col_effects_[j] + (model.row_factors_[i] * model.col_factors_[j]).sum(1)
    )
    np.testing.assert_allclose(model.index(data.pairs), index)
    np.testing.assert_array_equal(model.predict(data.pairs), model.link_(model.index(data.pairs)))
    assert model.rank_ == model.row_factors_.shape[1] == model.col_factors_.shape[1] <= 4
    assert model.shape_ == (60, 40)


def test_it_predicts_what_it_has_not_seen(model, data):
    assert error(model, data) < 0.35 * np.var(data.mean)
    assert model.score(data.pairs[1000:], data.y[1000:]) > 0.5


def test_graphs_effects_and_factors_each_help():
    data = make_data(smoothness=0.95, community_size=10)
    full = error(fit(data, train=400), data)
    for less in ({"graphs": False}, {"n_atoms": 0}, {"effects": None}):
        assert full < 0.95 * error(fit(data, train=400, **less), data), less


def test_the_index_finds_the_truth(data):
    model = fit(data, train=1400)
    assert np.corrcoef(model.index(data.pairs), data.index)[0, 1] > 0.9


@pytest.mark.parametrize(
    ("effects", "rows", "cols"),
    [("both", True, True), ("rows", True, False), ("columns", False, True), (None, False, False)],
)
def test_effects_are_selectable(data, effects, rows, cols):
    model = fit(data, effects=effects)
    assert model.row_effects_.any() == rows
    assert model.col_effects_.any() == cols


@pytest.mark.parametrize("graphs", [False, True])
@pytest.mark.parametrize("link", ["identity", "learned"])
def test_no_ridge_at_all(data, graphs, link):
    """Every rating in the end has as many coefficients as it wants."""
    model = fit(data, graphs=graphs, train=300, penalty=0.0, damping=0.0, n_atoms=20, link=link, max_iter=30)
    assert np.isfinite(model.predict(data.pairs)).all()
    assert np.mean((model.predict(data.pairs[:300]) - data.y[:300]) ** 2) < 0.1 * np.var(data.y[:300])


def test_least_squares_is_the_identity_link(data):
    model = fit(data, link="identity")
    index = model.index(data.pairs)
    np.testing.assert_allclose(model.predict(data.pairs) - index, model.link_.offset)


def test_neither_effects_nor_factors_leave_the_mean(data):
    model = fit(data, effects=None, n_atoms=0)
    np.testing.assert_allclose(model.predict(data.pairs), data.y[:1000].mean())


@pytest.mark.parametrize("link_cv", [None, 3])
def test_the_learned_link_is_monotone_of_bounded_slope_and_within_y(data, link_cv):
    model = fit(data, link_cv=link_cv, lipschitz=0.5)
    x, values = model.link_.knots_.T
    slope = np.diff(values) / np.diff(x)
    assert (slope >= 0).all()
    assert slope.max() <= 0.5 * (1 + 1e-9)
    predicted = model.predict(data.pairs)
    assert predicted.min() >= data.y.min()
    assert predicted.max() <= data.y.max()


def test_a_held_out_link_is_better_where_ratings_are_few():
    data = make_data(link="ramp", signal=3.0, noise="pm1")
    assert error(fit(data, link_cv=5), data) < error(fit(data), data)


def test_binary_and_ordinal_ratings():
    for noise, values in (("pm1", [-1, 1]), ("grades", [1, 2, 3, 4, 5])):
        data = make_data(noise=noise)
        assert set(data.y) <= set(values)
        model = fit(data, link_cv=3)
        assert error(model, data) < 0.7 * np.var(data.mean)
        assert min(values) <= model.predict(data.pairs).min()
        assert model.predict(data.pairs).max() <= max(values)


def test_reruns_agree_bit_for_bit(data, model):
    again = fit(data)
    np.testing.assert_array_equal(again.predict(data.pairs), model.predict(data.pairs))


def test_weights_count_as_ratings(data):
    weight = np.ones(1000)
    weight[:200], weight[900:] = 2.0, 0.0
    weighted = SingleIndexCompleter(2).fit(data.pairs[:1000], data.y[:1000], sample_weight=weight)
    twice = np.concatenate([np.arange(900), np.arange(200)])
    repeated = SingleIndexCompleter(2).fit(data.pairs[twice], data.y[twice])
    np.testing.assert_allclose(weighted.predict(data.pairs), repeated.predict(data.pairs), atol=1e-3)
    unweighted = SingleIndexCompleter(2).fit(data.pairs[:900], data.y[:900])
    assert np.abs(unweighted.predict(data.pairs) - repeated.predict(data.pairs)).max() > 0.01


def test_a_pair_given_twice_is_two_ratings_of_it(data):
    pairs = np.concatenate([data.pairs[:1000], data.pairs[:1000]])
    low, high = data.y[:1000] - 0.1, data.y[:1000] + 0.1
    both = SingleIndexCompleter(2, link="identity").fit(pairs, np.concatenate([low, high]))
    mean = SingleIndexCompleter(2, link="identity").fit(
        data.pairs[:1000], data.y[:1000], sample_weight=np.full(1000, 2.0)
    )
    np.testing.assert_allclose(both.predict(pairs), mean.predict(pairs), atol=1e-6)


# ---------------------------------------------------------------- rows and columns without ratings


def test_a_row_without_ratings_follows_its_neighbours():
    data = make_data(smoothness=1.0, community_size=10)
    unseen = data.pairs[:, 0] == 7
    model = SingleIndexCompleter(2, penalty=0.1, damping=1.0)
    model.fit(data.pairs[~unseen], data.y[~unseen], data.row_graph, data.col_graph, shape=data.shape)
    assert model.n_ratings_[7] == 0
    index = model.index(data.pairs[unseen])
    assert np.corrcoef(index, data.index[unseen])[0, 1] > 0.7


def test_a_row_without_ratings_and_neighbours_is_an_average_one():
    pairs, y = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]], [1.0, 2.0, 3.0, 4.0, 2.5]
    model = SingleIndexCompleter(1).fit(pairs, y, shape=(4, 3))
    assert model.row_effects_[3] == 0
    assert not model.row_factors_[3].any()
    np.testing.assert_allclose(model.index([[3, 0], [3, 1]]), model.col_effects_[:2])
    np.testing.assert_allclose(model.index([[0, 2], [3, 2]]), [model.row_effects_[0], 0.0])
    assert min(y) < model.predict([[3, 2]])[0] < max(y)


def test_recommended_are_the_best_that_were_not_rated(model, data):
    rated = data.pairs[:1000][data.pairs[:1000, 0] == 5, 1]
    columns = model.recommend(5, k=6)
    assert len(columns) == 6
    assert not set(columns) & set(rated)
    index = model.index(np.column_stack([np.full(40, 5), np.arange(40)]))
    others = np.setdiff1d(np.arange(40), np.concatenate([rated, columns]))
    assert (np.diff(index[columns]) <= 0).all()
    assert index[columns].min() >= index[others].max()
    assert len(model.recommend(5, k=1000)) == 40 - len(np.unique(rated))


# ---------------------------------------------------------------- labels


def labelled(data, make=pd.DataFrame):
    i, j = data.pairs.T
    return make({"user": [f"u{k:02d}" for k in i], "item": [f"i{k:02d}" for k in j]})


def links_of(graph, letter, make=pd.DataFrame):
    half = sparse.triu(graph).tocoo()
    return make({"a": [f"{letter}{k:02d}" for k in half.row], "b": [f"{letter}{k:02d}" for k in half.col]})


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_labels_give_the_same_model_as_numbers(model, data, make):
    frame = labelled(data, make)
    same = SingleIndexCompleter(**model.get_params()).fit(
        frame[:1000], data.y[:1000], links_of(data.row_graph, "u", make), links_of(data.col_graph, "i", make)
    )
    assert list(same.row_labels_) == [f"u{k:02d}" for k in range(60)]
    np.testing.assert_allclose(same.predict(frame), model.predict(data.pairs), atol=1e-8)
    assert list(same.recommend("u05", 3)) == [f"i{k:02d}" for k in model.recommend(5, 3)]


def test_unknown_labels_are_average_ones():
    frame = pd.DataFrame({"user": ["a", "a", "b", "b"], "item": ["x", "y", "x", "y"]})
    model = SingleIndexCompleter(0, link="identity").fit(frame, [1.0, 2.0, 3.0, 4.0])
    new = pd.DataFrame({"user": ["a", "new", "new"], "item": ["new", "x", "new"]})
    expected = [model.row_effects_[0], model.col_effects_[0], 0.0]
    np.testing.assert_allclose(model.index(new), expected)
    with pytest.raises(ValueError, match="'new' is none of the 2 rows"):
        model.recommend("new")


def test_labels_of_numbers_and_links_with_weights():
    frame = pd.DataFrame({"user": [10, 10, 30, 30, 20], "item": [1, 2, 1, 2, 1]})
    links = pd.DataFrame({"a": [10, 30, 40, 10], "b": [30, 10, 30, 10], "w": [1.0, 2.0, 1.0, 9.0]})
    model = SingleIndexCompleter(0).fit(frame, [1.0, 2.0, 1.5, 3.0, 2.0], row_graph=links)
    # 40 is known by its links alone.
    assert model.row_labels_.tolist() == [10, 20, 30, 40]
    assert model.n_ratings_.tolist() == [2, 1, 2, 0]
    assert model.row_effects_[3] != 0
    by_hand = sparse.csr_matrix(np.array([[0, 0, 2, 0], [0, 0, 0, 0], [2, 0, 0, 1], [0, 0, 1, 0]]))
    pairs = [[0, 0], [0, 1], [2, 0], [2, 1], [1, 0]]
    same = SingleIndexCompleter(0).fit(pairs, [1.0, 2.0, 1.5, 3.0, 2.0], row_graph=by_hand)
    np.testing.assert_allclose(same.row_effects_, model.row_effects_)


# ---------------------------------------------------------------- as an estimator


def test_clone_pickle_and_files(model, data):
    assert clone(model).get_params() == model.get_params()
    file = io.BytesIO()
    save(model, file)
    for again in (pickle.loads(pickle.dumps(model)), load(io.BytesIO(file.getvalue()))):
        np.testing.assert_array_equal(again.predict(data.pairs), model.predict(data.pairs))
        np.testing.assert_array_equal(again.recommend(3), model.recommend(3))


def test_labels_survive_saving(data):
    frame = labelled(data)
    model = SingleIndexCompleter(0).fit(frame, data.y)
    file = io.BytesIO()
    save(model, file)
    again = load(io.BytesIO(file.getvalue()))
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))


def test_fit_changes_nothing_it_was_given(data):
    pairs, y, graph = data.pairs.copy(), data.y.copy(), data.row_graph.copy()
    for part in (pairs, y, graph.data, graph.indices, graph.indptr):
        part.flags.writeable = False
    model = SingleIndexCompleter(2)
    before = model.get_params()
    model.fit(pairs, y, graph)
    assert model.get_params() == before


def test_a_failed_fit_leaves_the_model_as_it_was(data, model):
    copy = pickle.loads(pickle.dumps(model))
    with pytest.raises(ValueError, match="NaN"):
        copy.fit(data.pairs, np.full(1400, np.nan))
    np.testing.assert_array_equal(copy.predict(data.pairs), model.predict(data.pairs))


def test_the_plots_take_it(model, data):
    ax = plot_link(model, data.pairs, data.y, ax=Figure().subplots())
    assert ax.get_xlabel().startswith("index: effects of row and column")
    assert plot_link(fit(data, link="identity"), ax=Figure().subplots()).lines
    assert plot_convergence(model, ax=Figure().subplots()).get_xlabel() == "iteration"


def test_progress_is_told(data, capsys):
    fit(data, max_iter=3, tol=0.0, verbose=1)
    assert capsys.readouterr().err.count("[SingleIndexCompleter] iteration") == 3


def test_the_summary_tells_of_the_parts(data, model):
    text = model.summary()
    assert "SingleIndexCompleter: 60 rows, 40 columns, 1000 ratings" in text
    assert "row effects" in text
    assert f"factors, rank {model.rank_}" in text
    whole = model.row_factors_ @ model.col_factors_.T
    assert f"{np.sqrt(np.mean(whole**2)):.4g}" in text
    assert "Link\n  from" in text
    larger = SingleIndexCompleter(0, link="identity").fit(data.pairs, data.y, shape=(62, 40)).summary()
    assert "2 rows without a rating" in larger
    assert "known: identity" in larger


def test_not_fitted_says_so():
    with pytest.raises(NotFittedError):
        SingleIndexCompleter().predict([[0, 0]])
    with pytest.raises(NotFittedError):
        SingleIndexCompleter().recommend(0)
