"""Bad input to the completer: a clear error with the fix, or a documented rule."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from singleindex import SingleIndexCompleter, SingleIndexCompleterCV

PAIRS = np.array([[0, 0], [0, 1], [1, 0], [1, 2], [2, 1], [2, 2]])
Y = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 3.0])
FRAME = pd.DataFrame({"user": list("aabbcc"), "item": list("xyxzyz")})


def fit(pairs=PAIRS, y=Y, *graphs, **settings):
    data = {name: settings.pop(name) for name in ("shape", "sample_weight") if name in settings}
    return SingleIndexCompleter(**{"n_atoms": 1} | settings).fit(pairs, y, *graphs, **data)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (PAIRS - 1, "pairs names row -1 .at position 0. where there are 2 rows"),
        (PAIRS[:, :1], r"two columns.*got shape \(6, 1\)"),
        (PAIRS[0], "two columns"),
        (np.zeros((0, 2), dtype=int), "pairs is empty"),
        (PAIRS + 0.5, "whole numbers counted from 0.*data frame"),
        (PAIRS.astype(str), "whole numbers"),
        (np.where(PAIRS == 0, np.nan, PAIRS), "whole numbers"),
        (pd.DataFrame({"user": list("ab")}), "1 columns where 2 are needed"),
        (pd.DataFrame({"user": ["a", None], "item": ["x", "y"]}), "missing row label .first at position 1."),
        (pd.DataFrame({"user": [1.0, np.nan], "item": ["x", "y"]}), "missing row label"),
        (pd.DataFrame({"user": ["a", 1], "item": ["x", "y"]}), "one kind.*astype"),
        (FRAME[:0], "pairs is empty"),
    ],
)
def test_pairs(pairs, message):
    with pytest.raises(ValueError, match=message):
        fit(pairs, Y[: len(pairs)])


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((2, 3), "row 2 .at position 4. where there are 2 rows, 0 to 1; pass shape="),
        ((3, 2), "column 2 .at position 3."),
        ((3,), "shape must be two positive integers"),
        ((3, 0), "shape must be two"),
        ((3.5, 3), "shape must be two"),
        (9, "shape must be two"),
    ],
)
def test_shape(shape, message):
    with pytest.raises(ValueError, match=message):
        fit(shape=shape)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.where(Y == 3, np.nan, Y), "y holds NaN or infinity .first at position 2."),
        (np.where(Y == 3, np.inf, Y), "y holds NaN or infinity"),
        (Y[:5], "y has 5 values where 6 are needed"),
        (np.ones(6), "y is constant"),
        (np.array(list("abcdef")), "y must hold numbers"),
    ],
)
def test_y(y, message):
    with pytest.raises(ValueError, match=message):
        fit(y=y)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 1, 1, 1, 1, -1], "must not be negative .first at position 5."),
        (np.zeros(6), "all sample weights are zero"),
        (np.ones(5), "5 values where 6"),
        ([1, 0, 0, 0, 0, 0], "y is constant"),
    ],
)
def test_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        fit(sample_weight=weight)


LINKED = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (LINKED[:2], r"shape \(2, 3\)"),
        (LINKED[:2, :2], r"shape \(2, 2\) where \(3, 3\)"),
        (np.triu(LINKED), "not symmetric.*maximum"),
        (-LINKED, "negative weights"),
        (LINKED * np.nan, "NaN or infinite"),
    ],
)
def test_graphs(graph, message):
    with pytest.raises(ValueError, match=f"row_graph.*{message}"):
        fit(PAIRS, Y, graph)
    with pytest.raises(ValueError, match=f"col_graph.*{message}"):
        fit(PAIRS, Y, None, sparse.csr_array(graph))


def test_self_loops_do_not_count():
    loops = LINKED + 7 * np.eye(3)
    np.testing.assert_array_equal(fit(PAIRS, Y, loops).row_effects_, fit(PAIRS, Y, LINKED).row_effects_)


def test_a_graph_may_have_more_nodes_than_there_are_rated_rows():
    larger = np.zeros((5, 5))
    larger[:3, :3], larger[2, 3], larger[3, 2] = LINKED, 1, 1
    model = fit(PAIRS, Y, larger)
    assert model.shape_ == (5, 3)
    assert model.row_effects_[3] != 0
    assert model.row_effects_[4] == 0


def test_disconnected_rows_are_as_without_a_graph():
    model = fit(PAIRS, Y, sparse.csr_matrix((3, 3)))
    np.testing.assert_array_equal(model.predict(PAIRS), fit().predict(PAIRS))


def test_matrices_say_nothing_about_labels():
    with pytest.raises(ValueError, match="row_graph must be a data frame of links where pairs has labels"):
        fit(FRAME, Y, LINKED)
    with pytest.raises(ValueError, match="shape is for numbered"):
        fit(FRAME, Y, shape=(3, 3))
    with pytest.raises(ValueError, match="row_graph has 1 columns where 2 or 3"):
        fit(FRAME, Y, FRAME[["user"]])


def test_prediction_takes_what_the_model_was_fitted_to():
    by_number, by_label = fit(), fit(FRAME)
    with pytest.raises(ValueError, match="fitted to numbered pairs"):
        by_number.predict(FRAME)
    with pytest.raises(ValueError, match="fitted to labels"):
        by_label.predict(PAIRS)
    with pytest.raises(ValueError, match=r"row 3 .at position 0."):
        by_number.predict([[3, 0]])
    with pytest.raises(ValueError, match="column -1"):
        by_number.predict([[0, -1]])
    with pytest.raises(ValueError, match="row names row 9"):
        by_number.recommend(9)
    with pytest.raises(ValueError, match="k must be an integer"):
        by_number.recommend(0, k=0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_atoms": -1}, "n_atoms must be an integer of at least 0"),
        ({"n_atoms": 1.5}, "n_atoms must be an integer"),
        ({"n_atoms": None}, "n_atoms must be an integer"),
        ({"penalty": 1.5}, "share from 0 to 1"),
        ({"penalty": -0.1}, "penalty must be a finite number"),
        ({"damping": -1.0}, "damping must be a finite number"),
        ({"damping": (1.0, 2.0, 3.0)}, "damping must be a number, or a pair"),
        ({"graph_strength": np.inf}, "graph_strength must be a finite number"),
        ({"effects": "users"}, "effects must be 'both', 'rows', 'columns' or None"),
        ({"effects": True}, "effects must be"),
        ({"link": "probit"}, "link must be 'learned', a function, or one of"),
        ({"lipschitz": 0}, "lipschitz=0 leaves only a constant link"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
        ({"tol": -1}, "tol must be a finite number"),
    ],
)
def test_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        fit(**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"damping": []}, "at least one value each"),
        ({"damping": [-1.0]}, "damping must be a finite number"),
        ({"penalty": [2.0]}, "a share from 0 to 1"),
        ({"graph_strength": ["much"]}, "strength must be a finite number"),
        ({"n_atoms": [1.5]}, "n_atoms must be an integer"),
        ({"effects": 1}, "effects must be"),
        ({"cv": 1}, "cannot be|k-fold|n_splits"),
        ({"cv": []}, "no split"),
    ],
)
def test_settings_of_the_search(settings, message):
    with pytest.raises(ValueError, match=message):
        SingleIndexCompleterCV(**settings).fit(PAIRS, Y)


def test_more_atoms_than_a_matrix_can_have_are_all_it_can():
    assert fit(n_atoms=50, penalty=0.01).rank_ <= 3


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_units_of_y_do_not_matter(unit):
    np.testing.assert_allclose(fit(y=unit * Y).predict(PAIRS), unit * fit().predict(PAIRS), rtol=1e-6)
