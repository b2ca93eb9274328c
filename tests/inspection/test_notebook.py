"""What notebooks show of a fitted model."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.linear_model import LinearRegression

from singleindex import (
    SingleIndexClassifier,
    SingleIndexCompleter,
    SingleIndexRegressor,
    Slisotron,
    TableRegressor,
)

sys.path.insert(0, str(Path(__file__).parents[1]))
from browser import BINARY, OVERFLOW, OVERPRINT, WHY_NOT

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 15))
INDEX = X[:, 0] - 2 * X[:, 1]
THREE = np.array(["low", "mid", "high"])[np.digitize(INDEX, [-1, 1])]
MODELS = {
    "numbers": (SingleIndexRegressor(3), np.tanh(INDEX), 1),
    "two classes": (SingleIndexClassifier(3), (INDEX > 0).astype(int), 1),
    "three classes": (SingleIndexClassifier(3), THREE, 3),
    "known link": (SingleIndexClassifier(3, link="logistic"), (INDEX > 0).astype(int), 1),
    "own link": (SingleIndexRegressor(3, link=np.arctan), np.tanh(INDEX), 1),
    "Slisotron": (Slisotron(), np.tanh(INDEX), 1),
}


def html_of(model):
    html = model._repr_mimebundle_()["text/html"]
    # What begins with the same diagram; scikit-learn numbers its parts anew each time.
    assert len(re.sub(r"\d+", "", model._repr_html_())) == len(re.sub(r"\d+", "", html))
    HTMLParser().feed(html)
    return html


@pytest.mark.parametrize("name", MODELS)
def test_a_fitted_model_shows_its_curves_and_features(name):
    estimator, y, n_curves = MODELS[name]
    html = html_of(estimator.fit(X, y))
    assert html.count('<svg class="chart"') == n_curves
    view = html[html.index('class="singleindex-view"') :]
    assert "<th>x1</th>" in view
    assert "nan" not in view
    assert "sk-top-container" in html  # scikit-learn's own


@pytest.mark.parametrize(
    "model", [SingleIndexRegressor(), TableRegressor(), TableRegressor(LinearRegression()).fit(X, INDEX)]
)
def test_what_has_no_curve_is_shown_as_by_scikit_learn(model):
    assert "singleindex-view" not in html_of(model)


def test_completers_and_plain_text_are_as_before():
    assert "singleindex-view" not in SingleIndexCompleter()._repr_mimebundle_()["text/html"]
    model = SingleIndexRegressor(2).fit(X, INDEX)
    with config_context(display="text"):
        assert list(model._repr_mimebundle_()) == ["text/plain"]
        assert not hasattr(model, "_repr_html_")


def test_names_are_those_of_the_table_and_cannot_break_out():
    bad = "<script>alert('x')</script>"
    frame = pd.DataFrame(X, columns=[f"{bad}{j}" for j in range(15)])
    html = html_of(TableRegressor(SingleIndexRegressor(2)).fit(frame, INDEX))
    assert "<script>alert" not in html.split('class="singleindex-view"')[1]
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;1</th>" in html


@pytest.mark.skipif(BINARY is None, reason=WHY_NOT)
@pytest.mark.parametrize("name", ["numbers", "three classes"])
def test_the_view_fits_a_cell(browser, tmp_path, name):
    estimator, y, _ = MODELS[name]
    page = f"<!DOCTYPE html><meta charset='utf-8'><main>{html_of(estimator.fit(X, y))}</main>"
    (tmp_path / "cell.html").write_text(page, encoding="utf-8")
    for width in (600, 1280):
        browser.open((tmp_path / "cell.html").as_uri(), width)
        browser.run("document.querySelector('.sk-top-container').remove()")
        assert browser.run(OVERFLOW) == []
        assert browser.run(OVERPRINT) == []
        assert browser.problems() == []
