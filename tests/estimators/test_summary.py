import re

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from singleindex.estimators import (
    LipschitzIsotonicRegression,
    SingleIndexClassifier,
    SingleIndexClassifierCV,
    SingleIndexRegressor,
    SingleIndexRegressorCV,
    Slisotron,
)
from singleindex.estimators.summary import _flat_parts, _steps_to_show, summarise
from singleindex.structures import RowSparse

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 8))
INDEX = X[:, 0] - 2 * X[:, 1] + 0.5 * X[:, 2]
Y = np.tanh(INDEX) + 0.1 * RNG.normal(size=120)
BOTH = np.column_stack([Y, INDEX])
FRAME = pd.DataFrame(X, columns=["age", "dose", *"abcdef"])
WORDS = np.array(["low", "mid", "high"])[np.digitize(INDEX, [-1, 1])]

SMALL = {"cv": 3, "max_iter": 2, "alpha": [0.1], "penalty": []}
REGRESSOR = SingleIndexRegressor(3).fit(FRAME, Y)
TWO = SingleIndexRegressor(3).fit(X, BOTH)
SEARCH = SingleIndexRegressorCV([2, 3], **SMALL).fit(FRAME, Y)
THREE = SingleIndexClassifierCV([2, 3], **SMALL).fit(X, WORDS)
BINARY = SingleIndexClassifier(3).fit(X, Y > 0)
FLAT = SingleIndexRegressor().fit(np.c_[[1, 1, 2, 2]], [0, 1, 0, 1])
CASES = {
    "regressor": REGRESSOR,
    "two outputs": TWO,
    "joint": SingleIndexRegressor(3, structure=RowSparse()).fit(X, BOTH),
    "search": SEARCH,
    "three classes": THREE,
    "binary": BINARY,
    "labels": SingleIndexClassifier(3).fit(X, (BOTH > 0).astype(int)),
    "known link": SingleIndexRegressor(3, link="tanh").fit(X, Y),
    "own link": SingleIndexClassifier(3, link=lambda index: 0.5 + np.arctan(index) / np.pi).fit(X, Y > 0),
    "isotonic": SingleIndexRegressor(3, lipschitz=np.inf).fit(X, Y),
    "slisotron": Slisotron(max_iter=20).fit(X, Y),
    "flat": FLAT,
    "float32": SingleIndexRegressor(3).fit(X.astype("f4"), Y),
}
every_case = pytest.mark.parametrize("model", CASES.values(), ids=CASES)


def table(text, heading):
    """Return the words of the lines below a heading."""
    lines = text.split("\n")
    start = lines.index(heading) + 1
    rows = []
    for line in lines[start:]:
        if not line.startswith("  "):
            break
        rows.append(line.split())
    return rows


@every_case
def test_every_model_has_one(model):
    text = summarise(model)
    n_outputs = 1 if model.coef_.ndim == 1 else model.coef_.shape[1]
    assert text.startswith(f"{type(model).__name__}: {model.n_features_in_} features, ")
    assert text.count("\nWeights\n") == text.count("\nLink\n") == text.count("\nSolver: ") == n_outputs
    assert max(map(len, text.split("\n"))) <= 120
    assert not any(line != line.rstrip() for line in text.split("\n"))
    assert "nan" not in text


def test_weights_are_listed_by_effect_with_their_names():
    order = np.argsort(-np.abs(REGRESSOR.coef_ * FRAME.std().to_numpy()))[:3]
    expected = [[FRAME.columns[j], f"{REGRESSOR.coef_[j]:+.4g}"] for j in order]
    rows = table(summarise(REGRESSOR), "Weights")
    assert [row[:2] for row in rows] == [["feature", "weight"], *expected]
    assert rows[0][2:] == ["effect"]
    assert [row[4] for row in rows[1:]] == ["→"] * 3
    assert table(summarise(REGRESSOR, top=2), "Weights")[3:] == [["and", "1", "more"]]
    assert table(summarise(BINARY), "Weights")[1][0] == f"x{np.argmax(np.abs(BINARY.coef_))}"
    assert table(summarise(FLAT), "Weights") == [["all", "are", "zero"]]


def test_searches_tell_what_was_chosen_and_how_steady_it_is():
    text = summarise(SEARCH)
    assert f"best held-out neg_mean_squared_error {SEARCH.best_score_:.4g}" in text
    for name, value in SEARCH.best_params_.items():
        assert f"{name}={value if isinstance(value, str) else format(value, '.4g')}" in text
    j = np.argmax(np.abs(SEARCH.coef_ * FRAME.std().to_numpy()))
    first = table(text, "Weights")[1]
    assert first[:3] == [FRAME.columns[j], f"{SEARCH.coef_[j]:+.4g}", f"{SEARCH.stability_[j]:.0%}"]
    assert "Search" not in summarise(REGRESSOR)


def test_solver_lines_tell_how_the_error_fell():
    text = summarise(REGRESSOR)
    mse, kept = REGRESSOR.history_["mse"], REGRESSOR.best_iter_
    assert f"Solver: {REGRESSOR.status_}, " in text
    assert f"  iteration {kept + 1} of {len(mse)} kept, 3 atoms\n" in text
    (row,) = re.findall(r"^  (\d+) kept +(\S+) +(\S+)%$", text, flags=re.MULTILINE)
    assert row == (f"{kept + 1}", f"{mse[kept]:.4g}", f"{100 * (1 - mse[kept] / mse[0]):.1f}")


def test_long_histories_are_cut():
    assert _steps_to_show(2, 1) == [0, 1]
    assert _steps_to_show(6, 5) == [0, 1, 2, 3, 5]
    assert _steps_to_show(100, 40) == [0, 1, 2, 3, 40, 99]


def test_a_model_without_a_history():
    model = SingleIndexRegressor(3).fit(X, Y)
    del model.history_
    assert "\nSolver: CONVERGED" in summarise(model)
    assert "kept" not in summarise(model)


def test_the_link_in_words():
    x, values = REGRESSOR.link_.knots_.T
    text = summarise(REGRESSOR)
    assert f"from {values[0]:.4g} to {values[-1]:.4g}, for the index from {x[0]:.4g} to {x[-1]:.4g}" in text
    slope = np.max(np.diff(values) / np.diff(x))
    assert f"{len(x)} knots, largest slope {slope:.4g}" in text
    assert f"the index + intercept ({BINARY.intercept_:+.4g})" in summarise(BINARY)
    assert "  constant" in summarise(FLAT)
    assert "  known: tanh, of the index " in summarise(CASES["known link"])
    assert "  known: <lambda>, of the index + intercept " in summarise(CASES["own link"])


def test_flat_parts():
    x, values = np.arange(11.0), np.array([0, 0, 1, 1, 2, 3, 3, 4, 4, 5, 6.0])
    assert _flat_parts(x, x) == "nowhere flat"
    assert _flat_parts(np.array([0, 3, 4.0]), np.array([1, 1, 2.0])) == "flat over 75% of its range: 0 to 3"
    expected = "flat over 40% of its range: 0 to 1, 2 to 3, 5 to 6 and 1 shorter part"
    assert _flat_parts(x, values) == expected


def test_several_outputs_have_a_block_each():
    assert re.findall(r"^== (.*) ==$", summarise(TWO), flags=re.MULTILINE) == ["output 0", "output 1"]
    blocks = re.findall(r"^== (.*) ==$", summarise(THREE), flags=re.MULTILINE)
    assert blocks == ["class high", "class low", "class mid"]
    assert "== label 1 ==" in summarise(CASES["labels"])
    assert "2 outputs" in summarise(TWO).split("\n")[0]


def test_what_cannot_be_summarised():
    with pytest.raises(NotFittedError):
        summarise(SingleIndexRegressor())
    with pytest.raises(TypeError, match="LipschitzIsotonicRegression has no link"):
        summarise(LipschitzIsotonicRegression().fit(INDEX, Y))
    with pytest.raises(ValueError, match="top must be an integer"):
        summarise(REGRESSOR, top=0)
