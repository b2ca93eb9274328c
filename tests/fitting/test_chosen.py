"""The chosen model of a search: what is left out of it, and what is told of it."""

import numpy as np
import pytest

from singleindex import SingleIndexClassifierCV, SingleIndexRegressorCV
from singleindex.datasets import make_single_index
from singleindex.fitting.chosen import without_rare
from singleindex.fitting.plan import make_plan
from singleindex.structures import RowSparse, Sparse

RNG = np.random.default_rng(0)


def test_coefficients_of_few_models_are_left_out():
    def left(*votes, **structure):
        coef, plan = np.array([[1.0], [2.0], [3.0]]), make_plan(3, None, is_classifier=False, **structure)
        return without_rare(coef, np.array(votes)[:, None], plan, 1)[:, 0].tolist()

    assert left(1.0, 0.3, 0.29) == [1, 2, 0]
    # Of models that agree on nothing, what most of them have.
    assert left(0.2, 0.1, 0.2) == [1, 0, 3]
    # What is never penalised stays.
    assert left(1.0, 0.3, 0.29, structure=Sparse(factors=[1, 1, 0])) == [1, 2, 3]


def test_rows_that_outputs_share_are_kept_for_all_or_for_none():
    coef, votes = np.ones((2, 2)), np.array([[0.9, 0.1], [0.2, 0.1]])
    joint, apart = (make_plan(2, None, is_classifier=False, structure=one) for one in (RowSparse(), None))
    np.testing.assert_array_equal(without_rare(coef, votes, joint, 2), [[1, 1], [0, 0]])
    np.testing.assert_array_equal(without_rare(coef, votes, apart, 2), [[1, 1], [0, 1]])


@pytest.fixture(scope="module")
def data():
    return make_single_index(150, 30, n_atoms=4, link="clipped", random_state=0)


@pytest.mark.parametrize("rule", ["average", "best", "one_se"])
@pytest.mark.parametrize("n_atoms", [None, [], [2, 4]])
def test_the_best_is_the_candidate_of_most_weight_in_the_last_stage(data, rule, n_atoms):
    model = SingleIndexClassifierCV(n_atoms, rule=rule, cv=3, scale_power=[1.0]).fit(data.X, data.y)
    results, last = model.cv_results_, model.cv_results_["stage"].max()
    assert last == (1 if n_atoms == [] else 2)
    heaviest = (results["stage"] == last) & np.isclose(
        results["weight"], results["weight"][results["stage"] == last].max()
    )
    best = model.best_params_
    told = heaviest & (results["relaxation"] == best["relaxation"]) & (results["penalty"] == best["penalty"])
    limit = np.nan if best["n_atoms"] is None else best["n_atoms"]
    told &= np.isclose(results["n_atoms"], limit, equal_nan=True) & (results["ridge"] == best["ridge"])
    assert np.count_nonzero(told) == 1
    assert results["mean_test_score"][told][0] == pytest.approx(model.best_score_)
    assert model.best_score_ == pytest.approx(results["mean_test_score"][heaviest].max(), abs=1e-3)


def test_the_path_is_that_of_the_chosen_scale_on_all_rows(data):
    model = SingleIndexClassifierCV(cv=3, scale_power=[1.0], n_atoms=[4]).fit(data.X, data.y)
    path = model.path_
    assert len(path["penalty"]) == len(path["coefs"]) == len(path["mse"]) == len(path["n_atoms"])
    assert (np.diff(path["penalty"]) < 0).all()
    assert np.isnan(path["n_atoms"]).all()
    level = path["penalty"].tolist().index(model.best_params_["penalty"])
    assert model.best_iter_ == level
    assert len(model.history_["mse"]) == model.n_iter_ == level + 1
    np.testing.assert_allclose(model.history_["mse"], path["mse"][: level + 1])


def test_stability_is_a_share_of_models(data):
    model = SingleIndexClassifierCV(cv=3, scale_power=[1.0]).fit(data.X, data.y)
    assert model.stability_.shape == (30,)
    assert ((model.stability_ >= 0) & (model.stability_ <= 1 + 1e-12)).all()
    assert model.stability_[np.argmax(np.abs(model.coef_))] == pytest.approx(1)
    Y = np.column_stack([data.mean, -data.mean])
    assert SingleIndexRegressorCV(cv=3, scale_power=[1.0]).fit(data.X, Y).stability_.shape == (30, 2)


@pytest.mark.filterwarnings("ignore:The learned link is constant")  # rightly
def test_the_spread_of_new_rows_is_that_of_held_out_ones():
    """With hardly a signal the probabilities stay near the share of the class, also for training rows."""
    X = RNG.normal(size=(60, 200))
    y = np.arange(60) % 2
    p = SingleIndexClassifierCV(cv=5, scale_power=[1.0]).fit(X, y).predict_proba(X)[:, 1]
    assert np.abs(p - 0.5).mean() < 0.25
