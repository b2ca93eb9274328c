"""Dense candidates: with rows enough, or where they win beyond doubt."""

from types import SimpleNamespace

import dask.array as da
import numpy as np
import pytest

from singleindex import SingleIndexClassifierCV, SingleIndexRegressorCV
from singleindex.fitting.bank import Scores
from singleindex.fitting.dense import dense_win, has_many_rows

RNG = np.random.default_rng(0)
N = 400
DENSE = np.array([False, True])


def scores(gap, spread=1.0):
    """Return a sparse candidate that is behind a dense one by so many standard errors."""
    noise = RNG.normal(size=N)
    noise = spread * (noise - noise.mean()) / noise.std(ddof=1)
    ahead = RNG.random(N)
    losses = np.array([ahead + noise + gap * spread / np.sqrt(N), ahead])
    return Scores(losses, np.ones(N), -losses)


@pytest.mark.parametrize(("gap", "wins"), [(-3, False), (0, False), (1.95, False), (2.05, True), (9, True)])
def test_two_standard_errors_of_the_difference_are_beyond_doubt(gap, wins):
    assert dense_win(scores(gap), DENSE) == wins


def test_without_rivals_there_is_no_doubt():
    assert dense_win(scores(0), np.array([True, True]))
    assert not dense_win(scores(9), np.array([False, False]))


def test_two_rows_for_each_feature_are_many():
    def data(n_rows, n_features):
        return SimpleNamespace(n_rows=n_rows, n_features=n_features)

    assert has_many_rows(data(40, 20))
    assert not has_many_rows(data(39.5, 20))


# ---------------------------------------------------------------- through a search


def weight_of_ridges(model):
    results = model.cv_results_
    return results["weight"][results["ridge"] > 0].sum()


def spectra(n=80, d=160, noise=1.5):
    """Return columns of a few smooth factors, of which y is one: no few columns will do."""
    rng = np.random.default_rng(0)
    at = np.linspace(0, 1, d)
    factors = np.array([np.exp(-(((at - centre) / 0.15) ** 2)) for centre in (0.2, 0.5, 0.8)])
    amounts = rng.normal(size=(n, 3))
    return amounts @ factors + noise * rng.normal(size=(n, d)), amounts[:, 1] + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize(("shape", "by_ridges"), [((80, 160, 1.5), False), ((100, 300, 4.0), True)])
def test_a_dense_model_is_returned_where_it_wins_and_it_is_said(shape, by_ridges):
    """Ridges, or gradient steps that were stopped early, whichever is better."""
    model = SingleIndexRegressorCV(cv=4, scale_power=[1.0]).fit(*spectra(*shape))
    assert model.dense_
    assert (weight_of_ridges(model) > 0.5) == by_ridges
    assert model.n_features_ == shape[1]
    assert "dense: candidates that use nearly every feature" in model.summary()


def test_no_dense_model_where_few_features_do():
    X = RNG.normal(size=(80, 160))
    y = X[:, 0] - X[:, 1] + 0.3 * RNG.normal(size=80)
    model = SingleIndexRegressorCV(cv=4, scale_power=[1.0]).fit(X, y)
    assert not model.dense_
    assert weight_of_ridges(model) == 0
    assert "dense" not in model.summary()


def few_of_many():
    """Return 80 rows of 160 columns, of which two matter."""
    X = RNG.normal(size=(80, 160))
    return X, X[:, 0] - X[:, 1] + 3.0 * RNG.normal(size=80)


def test_dense_candidates_take_part_where_they_are_asked_for():
    X, y = few_of_many()
    assert weight_of_ridges(SingleIndexRegressorCV(cv=4, scale_power=[1.0]).fit(X, y)) == 0
    assert weight_of_ridges(SingleIndexRegressorCV(cv=4, scale_power=[1.0], dense=True).fit(X, y)) > 0


@pytest.mark.parametrize("shape", [(80, 160, 1.5), (100, 300, 4.0), (200, 40, 1.5)])
def test_no_dense_candidate_has_weight_where_none_is_wanted(shape):
    model = SingleIndexRegressorCV(cv=4, scale_power=[1.0], dense=False).fit(*spectra(*shape))
    assert not model.dense_
    assert weight_of_ridges(model) == 0
    results = model.cv_results_
    of_gradient = (results["stage"] == 1) & (results["weight"] > 0) & (results["n_atoms"] > 0)
    assert (results["n_atoms"][of_gradient] <= shape[0] / 2).all()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"dense": "yes"}, "dense must be"),
        ({"dense": 1}, "dense must be"),
        ({"dense": True, "alpha": 0.1}, "at None"),
        ({"dense": True, "n_atoms": [3]}, "at None"),
    ],
)
def test_what_dense_may_be(settings, said):
    with pytest.raises(ValueError, match=said):
        SingleIndexRegressorCV(**settings).fit(*few_of_many())


def test_dense_candidates_are_refused_over_blocks():
    X, y = few_of_many()
    with pytest.raises(ValueError, match="data in memory"):
        SingleIndexRegressorCV(dense=True).fit(da.from_array(X, chunks=(20, -1)), y)


def test_with_many_rows_dense_candidates_take_part():
    X = RNG.normal(size=(200, 10))
    y = (X.sum(axis=1) + RNG.normal(size=200) > 0).astype(int)
    model = SingleIndexClassifierCV(cv=3, scale_power=[1.0]).fit(X, y)
    assert weight_of_ridges(model) > 0
    assert model.n_features_ == 10


@pytest.mark.parametrize("asked", [{"n_atoms": [5]}, {"alpha": 0.0}, {"penalty": [0.3, 0.1]}])
def test_what_was_asked_for_is_not_dense(asked):
    model = SingleIndexRegressorCV(cv=3, scale_power=[1.0], **asked).fit(*spectra())
    assert weight_of_ridges(model) == 0
    assert not model.dense_


def test_many_atoms_are_as_good_as_all_where_all_would_be_taken():
    X, y = spectra(100, 300, 4.0)
    new, truth = spectra(4000, 300, 4.0)
    errors = [
        np.mean(
            (SingleIndexRegressorCV(n_atoms, cv=4, scale_power=[1.0]).fit(X, y).predict(new) - truth) ** 2
        )
        for n_atoms in ([40], [250], None)
    ]
    assert errors[1] < 0.95 * errors[0]
    assert errors[1] < 1.05 * errors[2]


def test_where_columns_lie_is_nothing_to_ridges():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 8))
    y = (rng.random(120) < 1 / (1 + np.exp(-X @ rng.normal(size=8)))).astype(int)
    near, far = (SingleIndexClassifierCV(cv=4, scale_power=[1.0]).fit(X + shift, y) for shift in (0, 50))
    ridges = near.cv_results_["ridge"] > 0
    assert ridges.any()
    np.testing.assert_allclose(
        far.cv_results_["mean_test_score"][ridges], near.cv_results_["mean_test_score"][ridges], rtol=1e-4
    )


@pytest.mark.parametrize("scoring", ["roc_auc", "balanced_accuracy"])
def test_scores_without_single_rows_tell_as_well_whether_ridges_are_of_promise(scoring):
    """They are asked of three folds, with nothing to score on the others."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 160))
    y = X[:, 0] + 0.5 * rng.standard_normal(80) > 0
    model = SingleIndexClassifierCV(cv=5, scale_power=[1.0], scoring=scoring).fit(X, y)
    assert np.isfinite(model.best_score_)
