import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV

from singleindex.datasets import make_completion
from singleindex.estimators import (
    LipschitzIsotonicRegression,
    SingleIndexClassifier,
    SingleIndexCompleter,
    SingleIndexCompleterCV,
    SingleIndexRegressor,
    SingleIndexRegressorCV,
    Slisotron,
)
from singleindex.estimators.outputs import facts_of, is_single_index, outputs_of, search_of
from singleindex.export import from_json, to_json
from singleindex.structures import RowSparse

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 6))
INDEX = X[:, 0] - 2 * X[:, 1]
Y = np.tanh(INDEX) + 0.1 * RNG.normal(size=120)
BOTH = np.column_stack([Y, INDEX])
FRAME = pd.DataFrame(X, columns=[*"abcdef"])
WORDS = np.array(["low", "mid", "high"])[np.digitize(INDEX, [-1, 1])]
RATINGS = make_completion(30, 20, 300, n_atoms=1, link="tanh", random_state=0)

ONE = SingleIndexRegressor(2).fit(FRAME, Y)
TWO = SingleIndexRegressor(2).fit(X, BOTH)
JOINT = SingleIndexRegressor(2, structure=RowSparse()).fit(X, BOTH)
BINARY = SingleIndexClassifier(2).fit(X, np.where(Y > 0, "yes", "no"))
THREE = SingleIndexClassifier(2).fit(X, WORDS)
LABELS = SingleIndexClassifier(2).fit(X, (BOTH > 0).astype(int))
SEARCH = SingleIndexRegressorCV([2, 3], cv=3, penalty=[]).fit(X, BOTH)
COMPLETER = SingleIndexCompleter(2).fit(RATINGS.pairs, RATINGS.y)
CASES = {
    "one": (ONE, "regression", [0], ["output 0"]),
    "two": (TWO, "regression", [0, 1], ["output 0", "output 1"]),
    "joint": (JOINT, "regression", [0, 1], ["output 0", "output 1"]),
    "slisotron": (Slisotron().fit(X, Y), "regression", [0], ["output 0"]),
    "search": (SEARCH, "regression", [0, 1], ["output 0", "output 1"]),
    "binary": (BINARY, "binary", ["yes"], ["class yes"]),
    "three": (THREE, "multiclass", ["high", "low", "mid"], ["class high", "class low", "class mid"]),
    "labels": (LABELS, "multilabel", [0, 1], ["label 0", "label 1"]),
    "float32": (
        SingleIndexRegressor(2).fit(X.astype(np.float32), BOTH),
        "regression",
        [0, 1],
        ["output 0", "output 1"],
    ),
}
every_case = pytest.mark.parametrize(("model", "kind", "labels", "names"), CASES.values(), ids=CASES)


@every_case
def test_kinds_labels_and_names(model, kind, labels, names):
    facts = facts_of(model)
    assert facts.estimator == type(model).__name__
    assert facts.kind == kind
    assert [output.number for output in facts.outputs] == list(range(len(labels)))
    assert [output.label for output in facts.outputs] == labels
    assert [output.name for output in facts.outputs] == names


@every_case
def test_outputs_predict_as_the_model(model, kind, labels, names):
    index = np.column_stack([X @ output.weights + output.intercept for output in outputs_of(model)])
    values = np.column_stack([o.link(index[:, o.number]) for o in outputs_of(model)])
    if kind == "regression":
        expected = model.predict(X if facts_of(model).feature_names is None else FRAME).reshape(values.shape)
    elif kind == "binary":
        expected = model.predict_proba(X)[:, 1:]
    elif kind == "multilabel":
        expected = model.predict_proba(X)
    else:
        values = np.clip(values, 1e-6, 1)
        values, expected = values / values.sum(axis=1, keepdims=True), model.predict_proba(X)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-5)


@every_case
def test_weights_are_one_column_per_output(model, kind, labels, names):
    facts = facts_of(model)
    np.testing.assert_array_equal(facts.coef, model.coef_.reshape(6, -1))
    assert facts.coef.dtype == np.float64
    assert facts.used.tolist() == np.flatnonzero(model.coef_.reshape(6, -1).any(axis=1)).tolist()


def test_outputs_that_were_fitted_together_share_one_history():
    together, apart = facts_of(JOINT), facts_of(TWO)
    assert len(together.outputs) == len(apart.outputs) == 2
    assert [fit.history for fit in together.fits] == [JOINT.history_]
    assert [fit.history for fit in apart.fits] == TWO.history_
    assert [output.status for output in apart.outputs] == TWO.status_
    assert [output.best_iter for output in apart.outputs] == TWO.best_iter_
    assert [output.status for output in together.outputs] == [JOINT.status_] * 2


def test_a_model_from_json_has_no_history():
    for output in outputs_of(from_json(to_json(TWO))):
        assert output.history is None
        assert output.best_iter is None
        assert output.status == "CHOSEN"


def test_names_of_features():
    assert facts_of(ONE).names() == [*"abcdef"]
    assert facts_of(TWO).feature_names is None
    assert facts_of(TWO).names() == [f"x{j}" for j in range(6)]
    assert facts_of(ONE).names(range(6)) == [*"012345"]
    with pytest.raises(ValueError, match="must have 6 names, got 2"):
        facts_of(ONE).names(["a", "b"])


def test_what_a_search_found():
    search = search_of(SEARCH)
    assert search.params == SEARCH.best_params_
    assert search.score == SEARCH.best_score_
    assert search.results is SEARCH.cv_results_
    assert search.path is SEARCH.path_
    assert search.scoring == "neg_mean_squared_error"
    facts = facts_of(SEARCH)
    for output in facts.outputs:
        np.testing.assert_array_equal(output.stability, SEARCH.stability_[:, output.number])
    np.testing.assert_array_equal(facts.stability, SEARCH.stability_.max(axis=1))


def test_where_nothing_was_searched_for():
    assert facts_of(ONE).search is None
    assert facts_of(ONE).stability is None
    assert search_of(GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=2).fit(X, Y)) is None


def test_a_completer_has_a_link_and_no_weights():
    (output,) = outputs_of(COMPLETER)
    assert output.link is COMPLETER.link_
    assert len(output.weights) == 0
    assert output.history is COMPLETER.history_
    with pytest.raises(TypeError, match="SingleIndexCompleter has no weights of features"):
        facts_of(COMPLETER).coef


def test_the_search_of_a_completer_goes_along_no_path():
    model = SingleIndexCompleterCV([2], penalty=[0.5], damping=[3.0], graph_strength=[0.0], cv=3)
    search = search_of(model.fit(RATINGS.pairs, RATINGS.y))
    assert search.params == model.best_params_
    assert search.scoring == "neg_mean_squared_error"
    assert search.path == {}


def test_what_is_no_single_index_model():
    others = [LipschitzIsotonicRegression().fit(INDEX, Y), LogisticRegression().fit(X, Y > 0)]
    for model in others:
        assert not is_single_index(model)
        with pytest.raises(TypeError, match=f"{type(model).__name__} has no link"):
            facts_of(model)
    with pytest.raises(NotFittedError):
        facts_of(SingleIndexRegressor())
    with pytest.raises(TypeError, match="not an estimator"):
        facts_of(3)
    assert is_single_index(ONE)
    assert not is_single_index(COMPLETER)
    assert not is_single_index(SingleIndexRegressor())
