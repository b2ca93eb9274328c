"""The tables' recipes: splits share nothing, a seed gives the same numbers again, every method answers."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Lasso

from experiments import classifiers, features, figure, table1, table2, table3
from experiments.splits import Split, shuffled
from experiments.units import Unit
from singleindex.datasets import load_atp, load_flags, make_single_index

pytestmark = pytest.mark.filterwarnings("ignore")


def text_split(seed=0):
    data = make_single_index(160, 60, n_atoms=4, design="counts", density=0.3, signal=4.0, random_state=0)
    return Split(sparse.csr_matrix(data.X), data.y, *shuffled(160, (0.5, 0.25, 0.25), seed))


@pytest.mark.parametrize("shares", [(0.5, 0.25, 0.25), (0.8, 0.1, 0.1), (0.9, 0.1)])
def test_parts_are_disjoint_and_whole(shares):
    parts = shuffled(203, shares, seed=3)
    assert sorted(np.concatenate(parts)) == list(range(203))
    np.testing.assert_allclose([len(p) / 203 for p in parts], shares, atol=0.01)
    assert not np.array_equal(parts[0], shuffled(203, shares, seed=4)[0])


# ---------------------------------------------------------------- Table 1


@pytest.fixture
def small_grids(monkeypatch):
    monkeypatch.setattr(classifiers, "PENALTIES", 2.0 ** np.arange(-4, 4, 3))
    monkeypatch.setattr(classifiers, "N_LEVELS", 8)
    monkeypatch.setattr(classifiers, "SPARSITIES", (4, 16))
    monkeypatch.setattr(classifiers, "STEP_SIZES", (0.25, 1.0))
    monkeypatch.setattr(classifiers, "SLISOTRON_ITERATIONS", (3, 30))
    monkeypatch.setattr(classifiers, "shapes_for", lambda d: [(5, 0.1), (10, 0.01)])


@pytest.mark.parametrize("name", classifiers.METHODS)
def test_every_column_learns_does_so_again_and_without_the_labels_of_the_test_part(name, small_grids):
    if name == "boosting":
        pytest.importorskip("lightgbm")
    split = text_split()
    y = split.y.copy()
    y[split.test] = 1 - y[split.test]
    outcome = classifiers.METHODS[name](split, 0)
    again = classifiers.METHODS[name](dataclasses.replace(split, y=y), 0)
    np.testing.assert_array_equal(outcome.score, again.score)
    figures = table1.figures_of(outcome, split)
    assert figures["auc"] == 0.5 if name == "null" else figures["auc"] > 0.55
    assert 0 <= outcome.probability.min() <= outcome.probability.max() <= 1
    most = split.X.shape[1] / (4 if name == "CSI (at most d/4)" else 1)
    assert 0 <= outcome.n_features <= most


def test_levels_of_l1_rivals_begin_where_w_is_zero_and_reach_the_papers_weakest():
    split = text_split()
    X, y = split.part(split.train)
    levels = classifiers.penalty_levels(X, y)
    assert len(levels) >= 50
    assert levels[-1] <= min(levels[0] * classifiers.WEAKEST, 2.0**-10) * (1 + 1e-9)
    per_row = classifiers.penalty_levels(X, y, slope=2) / len(y)
    signs = classifiers.as_signs(y)
    assert not Lasso(1.001 * per_row[0]).fit(X, signs).coef_.any()
    assert Lasso(0.9 * per_row[0]).fit(X, signs).coef_.any()


@pytest.mark.parametrize("method", features.METHODS)
def test_no_more_features_than_allowed(method, monkeypatch):
    monkeypatch.setattr(table1, "split_of", lambda dataset, variant, seed: text_split(seed))
    monkeypatch.setattr(features, "SIZES", (5, 20, 1000))
    figures, _ = features.measure(Unit("features", "link", "tfidf", method, 0))
    used = {name: figures[f"features at {name}"] for name in ("5", "20", "d/4")}
    assert used["5"] <= 5
    assert used["5"] < used["20"] <= 20
    assert used["d/4"] <= 15
    assert "auc at 1000" not in figures
    assert figures["auc at 20"] > 0.6


# ---------------------------------------------------------------- Table 2


def several_outputs(noise):
    data = make_single_index(
        90, 30, structure="rows", n_outputs=3, n_atoms=4, link="clipped", noise=noise, signal=4.0,
        random_state=0,
    )  # fmt: skip
    return Split(data.X, data.y, *shuffled(90, (0.6, 0.2, 0.2), 0))


@pytest.mark.parametrize("name", table2.METHODS)
@pytest.mark.parametrize(("task", "noise"), [(table2.PRICES, "gaussian"), (table2.FLAGS, "binary")])
def test_every_column_of_several_outputs(task, noise, name, monkeypatch):
    monkeypatch.setattr(table2, "N_LEVELS", 6)
    monkeypatch.setattr(table2, "N_FOLDS", 3)
    split = several_outputs(noise)
    predicted, settings = table2.METHODS[name](task, split, 0)
    null, _ = table2.METHODS["null"](task, split, 0)
    y = split.y[split.test]
    assert predicted.shape == y.shape
    assert name == "null" or task.loss(y, predicted) < task.loss(y, null)
    assert noise == "gaussian" or set(np.unique(predicted)) <= {0, 1}
    assert name != "CSI (5 groups)" or settings["n_groups"] <= 5


def test_the_largest_penalty_of_groups_is_where_nothing_is_in_use():
    split = several_outputs("binary")
    X, Y = split.part(split.both)
    most = table2.largest_penalty(X, Y)
    for model in (table2.least_squares(), table2.logistic()):
        assert not model.set_params(alpha=1.001 * most).fit(X, Y).coef_.any()
        assert model.set_params(alpha=0.95 * most).fit(X, Y).coef_.any()


def test_prices_are_scaled_by_the_known_rows(paper_data):
    target = paper_data(load_atp).target
    for variant, n_targets in (("two targets", 2), ("six targets", 6)):
        split = table2.prices_split(variant, 0)
        assert [len(p) for p in (split.train, split.validate, split.test)] == [236, 30, 30]
        assert split.y.shape[1] == n_targets
        np.testing.assert_allclose(split.y[split.both].std(axis=0), 1)
    figures, _ = table2.measure(Unit("table2", "atp7d", "two targets", "null", 0))
    split = table2.prices_split("two targets", 0)
    known = target[split.both, :2]
    error = (target[split.test, :2] - known.mean(axis=0)) * 2 / (known.max(axis=0) - known.min(axis=0))
    assert figures["mse_in_range"] == pytest.approx(np.mean(error**2))


def test_flags_are_split_as_published(paper_data):
    paper_data(load_flags)
    for variant in table2.FLAG_VARIANTS:
        split = table2.flags_split(variant, 1)
        assert (len(split.both), len(split.test)) == (129, 65)
        assert split.X.shape[1] == int(variant[:2])
    published = [table2.flags_split(table2.FLAG_VARIANTS[0], seed) for seed in (0, 1)]
    np.testing.assert_array_equal(published[0].test, published[1].test)
    assert not np.array_equal(published[0].validate, published[1].validate)


# ---------------------------------------------------------------- Table 3


def some_ratings():
    rng = np.random.default_rng(0)
    users, items = rng.standard_normal(20), rng.standard_normal(15)
    pairs = np.array([(i, j) for i in range(20) for j in range(15)])
    y = np.where(users[pairs[:, 0]] + items[pairs[:, 1]] > 0, 1.0, -1.0)
    known, test = shuffled(len(y), (0.6, 0.4), 0)
    graph = sparse.csr_matrix((np.abs(users[:, None] - users) < 0.3).astype(float) - np.eye(20))
    return table3.Ratings(pairs, y, (20, 15), graph, None, known, test)


@pytest.mark.parametrize("name", table3.METHODS)
def test_every_column_of_ratings(name, monkeypatch):
    grid = {
        "n_atoms": (1,),
        "penalty": (0.5,),
        "graph_strength": (0.0, 3.0),
        "damping": (1.0,),
        "max_iter": 2,
    }
    monkeypatch.setattr(table3, "GRID", grid)
    monkeypatch.setattr(table3, "N_FOLDS", 3)
    ratings = some_ratings()
    predicted, _ = table3.METHODS[name](ratings)
    error = np.mean((predicted - ratings.y[ratings.test]) ** 2)
    null = np.mean((table3.METHODS["null"](ratings)[0] - ratings.y[ratings.test]) ** 2)
    assert predicted.shape == (len(ratings.test),)
    assert name == "null" or error < null


def test_shrunken_means_are_a_ridge_regression():
    ratings = some_ratings()
    A, asked = (table3.indicators(ratings, rows).toarray() for rows in (ratings.known, ratings.test))
    assert {(np.flatnonzero(row) - [0, 20]).tolist() == pair.tolist() for row, pair in zip(
        asked, ratings.pairs[ratings.test], strict=True)} == {True}  # fmt: skip
    y = ratings.y[ratings.known]
    effects = np.linalg.solve(A.T @ A + 3 * np.eye(35), A.T @ (y - y.mean()))
    predicted = table3.shrunken_means(ratings, ratings.known, ratings.test, 3.0)
    np.testing.assert_allclose(predicted, y.mean() + asked @ effects, atol=1e-4)


# ---------------------------------------------------------------- the figure


@pytest.mark.parametrize("method", figure.METHODS)
def test_the_figure_has_the_distances_of_every_iterate(method):
    figures, settings = figure.measure(Unit("figure", "d = 400", figure.CORRELATED, method, 1))
    X, y, truth = figure.draw(400, 1, figure.CORRELATED)
    last = figure.METHODS[method](X, y, settings["n_atoms"])[-1]
    turned = last / np.linalg.norm(last) - truth / np.linalg.norm(truth)
    assert settings["n_atoms"] == 100
    for name, apart in (("distance", last - truth), ("direction", turned)):
        assert len(figures[name]) == figure.N_ITER + 1
        assert figures[name][-1] == pytest.approx(np.linalg.norm(apart), rel=1e-4)


def test_the_figures_data_are_those_of_the_paper():
    X, y, w = figure.draw(900, 0)
    assert X.shape == (500, 900)
    assert np.count_nonzero(w) == 30
    assert set(np.unique(y)) == {-1, 1}
    many = [figure.draw(400, seed) for seed in range(40)]
    index = np.concatenate([X @ w for X, _, w in many])
    labels = np.concatenate([y for _, y, _ in many])
    near = np.abs(index - 1) < 0.25
    assert labels[near].mean() == pytest.approx(2 / (1 + np.exp(-1)) - 1, abs=0.06)
    X, _, w = figure.draw(400, 0, figure.CORRELATED)
    assert np.corrcoef(X.T)[np.triu_indices(400, 1)].mean() == pytest.approx(0.7, abs=0.05)
    np.testing.assert_array_equal(w, many[0][2])


def test_soft_steps_of_both_kinds_come_to_the_same_direction():
    X, y, _ = figure.draw(400, 0)
    gradient, exact = (
        figure.METHODS[name](X, y, 100)[-1] for name in ("CSI corrected, soft", "exact steps, soft")
    )
    assert gradient @ exact / np.linalg.norm(gradient) / np.linalg.norm(exact) > 0.999
