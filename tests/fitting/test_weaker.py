"""Paths that go on to weaker penalties: where held-out rows want it, and there alone."""

import numpy as np
import pytest

from singleindex import SingleIndexClassifierCV, SingleIndexRegressorCV
from singleindex.fitting import search, weaker
from singleindex.fitting.grid import EXACT, Cell, further
from singleindex.link import FixedLink
from singleindex.solvers import Level
from singleindex.structures import RowSparse

N, D = 80, 160


def draw(n_features, noise, n_outputs=1, n=N + 200):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, D))
    w = np.zeros((D, n_outputs))
    w[:n_features] = rng.choice([-1.0, 1.0], (n_features, n_outputs))
    mean = X @ w / np.sqrt(n_features)
    return X, np.squeeze(mean + noise * rng.standard_normal(mean.shape)), np.squeeze(mean)


def fit(X, y, **settings):
    return SingleIndexRegressorCV(cv=4, scale_power=[1.0], dense=False, **settings).fit(X[:N], y[:N])


def weakest(model):
    penalty = model.cv_results_["penalty"]
    return penalty[penalty > 0].min()


@pytest.fixture
def ended(monkeypatch):
    """Let no path go on."""
    monkeypatch.setattr(
        search, "with_weaker", lambda plan, settings, data, cells, bank, judge, trace: (cells, bank)
    )


CLEAR = draw(25, 0.05)


def test_clear_numbers_are_told_by_more_features_than_half_the_rows():
    X, y, _ = CLEAR
    model = fit(X, y)
    assert weakest(model) < 0.01
    assert np.count_nonzero(model.coef_) > N / 2
    assert model.path_["penalty"][-1] == model.best_params_["penalty"]


def test_they_are_predicted_better_than_by_paths_that_end(ended, monkeypatch):
    X, y, mean = CLEAR
    errors = [np.mean((fit(X, y).predict(X[N:]) - mean[N:]) ** 2)]
    monkeypatch.undo()
    errors.append(np.mean((fit(X, y).predict(X[N:]) - mean[N:]) ** 2))
    assert errors[1] < 0.7 * errors[0]


def test_what_is_so_clear_is_learned_once_more_from_all_rows():
    X, y, mean = CLEAR
    own, folds, whole = (fit(X, y, refit=refit) for refit in ("auto", "folds", "all"))
    np.testing.assert_array_equal(own.coef_, whole.coef_)
    errors = [np.mean((model.predict(X[N:]) - mean[N:]) ** 2) for model in (own, folds)]
    assert errors[0] < 0.9 * errors[1]


@pytest.mark.filterwarnings("ignore::singleindex.fitting.cross_fit.IndexNotIdentifiedWarning")
def test_noise_hardly_ever_goes_on(monkeypatch):
    found, wanting = [], weaker.wanting
    monkeypatch.setattr(weaker, "wanting", lambda *data: found.append(wanting(*data)) or found[-1])
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((40, 100)), rng.standard_normal(40)
        SingleIndexRegressorCV(cv=4, scale_power=[1.0], dense=False).fit(X, y)
    assert len(found) == 30
    assert sum(map(bool, found)) <= 1


def test_candidates_stay_in_the_order_of_their_paths():
    X, y, _ = CLEAR
    model = SingleIndexRegressorCV(cv=4, dense=False).fit(X[:N] * np.geomspace(0.1, 10, D), y[:N])
    powers = model.cv_results_["scale_power"][model.cv_results_["stage"] == 1]
    # Exact paths of three scales, then gradient ones.
    assert powers[np.append(True, np.diff(powers) != 0)].tolist() == [1.0, 0.5, 0.0] * 2


def test_numbers_of_atoms_may_ask_for_it():
    X, y, _ = CLEAR
    assert weakest(fit(X, y, n_atoms=[])) < 0.01
    assert weakest(fit(X, y, n_atoms=[60])) < 0.01


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_absolute_error"])
def test_any_scorer_does(scoring):
    X, y, _ = CLEAR
    model = SingleIndexRegressorCV(cv=4, scale_power=[1.0], scoring=scoring).fit(X[:N], y[:N])
    assert weakest(model) < 0.01


def test_ridges_are_learned_once_more_as_well():
    """They were left out of means over all rows, and what else had weight stood for them."""
    rng = np.random.default_rng(4)
    X = np.sqrt(0.8) * rng.standard_normal((120, 3)) @ rng.standard_normal((3, 100))
    X += np.sqrt(0.2) * rng.standard_normal((120, 100))
    y = X @ rng.standard_normal(100)
    y = y / y.std() + 0.1 * rng.standard_normal(120)
    model = SingleIndexRegressorCV(cv=5, scale_power=[1.0], dense=True, refit="all", n_atoms=None).fit(X, y)
    ridge = model.cv_results_["weight"][(model.cv_results_["ridge"] > 0) & (model.cv_results_["stage"] == 1)]
    assert ridge.sum() > 0.1
    assert np.count_nonzero(model.coef_) == 100


def test_noisy_numbers_are_searched_as_if_there_were_nothing_further(ended, monkeypatch):
    X, y, _ = draw(3, 1.0)
    before = fit(X, y)
    monkeypatch.undo()
    after = fit(X, y)
    assert weakest(after) >= 0.01
    np.testing.assert_array_equal(after.coef_, before.coef_)


@pytest.mark.parametrize("settings", [{"penalty": [0.3, 0.1]}, {"n_atoms": [5, 10]}])
def test_levels_that_were_asked_for_stay(settings):
    assert len(np.unique(fit(*CLEAR[:2], **settings).path_["penalty"])) <= 50


def test_labels_are_never_so_clear():
    X, y, _ = CLEAR
    model = SingleIndexClassifierCV(cv=4, scale_power=[1.0], dense=False).fit(X[:N], y[:N] > 0)
    assert weakest(model) >= 0.01


def test_one_of_several_outputs_is_enough():
    X, Y, _ = draw(25, 0.05, n_outputs=2)
    Y[:, 1] = np.random.default_rng(1).standard_normal(len(Y))
    assert weakest(fit(X, Y)) < 0.01


def test_outputs_with_common_features_go_on_together():
    X, Y, _ = draw(25, 0.05, n_outputs=2)
    assert weakest(fit(X, Y, structure=RowSparse())) < 0.01


def test_penalties_go_on_in_the_same_way():
    levels = tuple(Level(penalty=p) for p in np.geomspace(1, 0.01, 11))
    cell = Cell(1.0, FixedLink("identity"), 0.0, levels, EXACT)
    longer = further(cell)
    assert longer.levels[:11] == levels
    penalties = np.array([level.penalty for level in longer.levels])
    np.testing.assert_allclose(penalties[1:] / penalties[:-1], 10**-0.2)
    assert penalties[-1] == pytest.approx(1e-3)
    assert further(longer) == longer


def test_callbacks_are_told_of_the_steps_they_know_of():
    callback = pytest.importorskip("sklearn.callback", reason="callbacks come with scikit-learn 1.9")
    X, y, _ = CLEAR
    model = SingleIndexRegressorCV(cv=4, scale_power=[1.0]).set_callbacks(callback.ProgressBar())
    assert weakest(model.fit(X[:N], y[:N])) < 0.01


def test_what_is_traced_further_is_told(capsys):
    fit(*CLEAR[:2], verbose=True)
    told = capsys.readouterr()
    assert "fold traced further 4/4" in told.out + told.err
