"""The completer that chooses for itself."""

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from singleindex import SingleIndexCompleter, SingleIndexCompleterCV, load, save
from singleindex.datasets import load_epinions_cut, make_completion

SMALL = {
    "n_atoms": [2], "penalty": [0.6, 0.2], "damping": [1.0, 5.0], "graph_strength": [0.0, 5.0], "cv": 3,
    "max_iter": 4,
}  # fmt: skip


@pytest.fixture(scope="module")
def data():
    return make_completion(
        60, 40, 1200, n_atoms=2, link="ramp", signal=3.0, community_size=10, random_state=0
    )


def fit(data, graphs=True, train=800, **settings):
    given = (data.row_graph, data.col_graph) if graphs else (None, None)
    model = SingleIndexCompleterCV(**SMALL | settings)
    return model.fit(data.pairs[:train], data.y[:train], *given, shape=data.shape)


@pytest.fixture(scope="module")
def model(data):
    return fit(data)


def error(model, data, train=800):
    return np.mean((model.predict(data.pairs[train:]) - data.mean[train:]) ** 2)


# ---------------------------------------------------------------- what it chooses


def test_link_and_graphs_are_both_worth_it(data, model):
    errors = {
        (link, graphs): error(fit(data, graphs=graphs, link=link), data)
        for link in ("learned", "identity")
        for graphs in (True, False)
    }
    assert min(errors, key=errors.get) == ("learned", True)
    assert errors["learned", True] == error(model, data)


def test_every_iterate_of_every_candidate_is_scored(model):
    results = model.cv_results_
    frame = pd.DataFrame(results)
    names = ["damping_rows", "damping_cols", "strength_rows", "strength_cols", "n_atoms", "penalty"]
    learned = frame[frame.link_trust > 0]
    assert learned.groupby(names).iteration.count().max() > 1
    best = frame.iloc[results["mean_test_score"].argmax()]
    assert best.rank_test_score == 1
    assert model.best_score_ <= best.mean_test_score
    np.testing.assert_allclose(
        results["mean_test_score"], np.mean([results[f"split{k}_test_score"] for k in range(3)], axis=0)
    )
    chosen = frame[(frame[names] == pd.Series(model.best_params_)[names]).all(axis=1)]
    assert np.isclose(chosen.mean_test_score, model.best_score_).any()


def test_the_held_out_score_is_honest(data, model):
    noise = np.mean((data.y[800:] - data.mean[800:]) ** 2)
    assert -model.best_score_ == pytest.approx(error(model, data) + noise, rel=0.2)


def test_least_squares_is_the_model_of_its_settings(data):
    model = fit(data, link="identity")
    chosen = model.best_params_
    plain = SingleIndexCompleter(
        chosen["n_atoms"], penalty=chosen["penalty"],
        damping=(chosen["damping_rows"], chosen["damping_cols"]),
        graph_strength=(chosen["strength_rows"], chosen["strength_cols"]), link="identity",
        max_iter=chosen["iteration"], tol=model.tol,
    ).fit(data.pairs[:800], data.y[:800], data.row_graph, data.col_graph, shape=data.shape)  # fmt: skip
    np.testing.assert_allclose(model.predict(data.pairs), plain.predict(data.pairs))


def test_without_structure_effects_alone_are_chosen():
    data = make_completion(60, 40, 1200, n_atoms=0, noise="gaussian", noise_level=0.3, random_state=0)
    model = fit(data, link="identity")
    assert model.best_params_["n_atoms"] == 0 or model.best_params_["penalty"] == 0.6
    assert error(model, data) < 0.3 * np.var(data.mean)


def test_without_a_graph_no_strength_is_tried(data):
    model = fit(data, graphs=False, link="identity")
    assert not model.cv_results_["strength_rows"].any()
    assert not model.cv_results_["strength_cols"].any()


def test_without_effects_only_factors_are_searched(data):
    model = fit(data, effects=None, link="identity")
    assert (model.cv_results_["n_atoms"] == 2).all()
    assert not model.row_effects_.any()


def test_a_validation_part_of_ones_own(data):
    split = [(np.arange(700), np.arange(700, 800))]
    model = fit(data, cv=split)
    assert "split1_test_score" not in model.cv_results_
    assert error(model, data) < 0.5 * np.var(data.mean)


def test_jobs_make_no_difference(data, model):
    again = fit(data, n_jobs=2)
    np.testing.assert_array_equal(again.predict(data.pairs), model.predict(data.pairs))


def test_the_link_of_training_ratings_on_demand(data):
    model = fit(data, held_out_link=False, link="learned", penalty=[0.6], damping=[1.0])
    assert model.link_.knots_[:, 1].min() >= -1


def test_clone_save_and_progress(data, model, capsys):
    assert clone(model).get_params() == model.get_params()
    file = io.BytesIO()
    save(model, file)
    again = load(io.BytesIO(file.getvalue()))
    np.testing.assert_array_equal(again.predict(data.pairs), model.predict(data.pairs))
    assert again.best_params_ == model.best_params_
    fit(data, penalty=[0.6], damping=[1.0], link="identity", verbose=1)
    assert "candidates, best so far" in capsys.readouterr().err
    assert "best held-out neg_mean_squared_error" in model.summary()


# ---------------------------------------------------------------- the paper's data


def test_epinions_is_predicted_better_than_by_shrunken_means(paper_data):
    cut = paper_data(load_epinions_cut)
    y = np.where(cut.target > 3, 1.0, -1.0)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:3000], order[3000:]
    model = SingleIndexCompleter(2, penalty=0.7, link_cv=5)
    model.fit(cut.pairs[train], y[train], cut.row_graph, shape=cut.shape)
    assert np.mean((model.predict(cut.pairs[test]) - y[test]) ** 2) < 0.815
