"""The report tells the truth, of every kind of model, and is one sound page of its own."""

import warnings
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.metrics import brier_score_loss, log_loss, mean_squared_error, r2_score, roc_auc_score

from singleindex import (
    LipschitzIsotonicRegression,
    SingleIndexClassifier,
    SingleIndexClassifierCV,
    SingleIndexRegressor,
    SingleIndexRegressorCV,
    Slisotron,
)
from singleindex.inspection import make_report
from singleindex.inspection._report.baselines import features, make_baseline, make_rivals
from singleindex.inspection._report.facts import jackknife_error, scores_of
from singleindex.inspection._report.folds import make_folds
from singleindex.inspection._report.lasso import OneAgainstRest, levels_of, standardised
from singleindex.inspection._report.svg import Chart, log_ticks, nice_ticks
from singleindex.inspection.scores import Predictions, null_predictions, predictions_of, score_all
from singleindex.structures import GroupSparse, RowSparse

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 15))
INDEX = X[:, 0] - 2 * X[:, 1]
Y = np.clip(INDEX, -1, 1.5) + 0.1 * RNG.standard_normal(120)
TWO = (INDEX > 0.3).astype(int)
THREE = np.array(["low", "mid", "high"])[np.digitize(INDEX, [-1, 1])]
SEARCH = {"n_atoms": [2, 4], "penalty": [0.3], "alpha": [0.1], "cv": 3}

MODELS = {
    "regressor": (SingleIndexRegressor(2), X, Y),
    "regressor with search": (SingleIndexRegressorCV(**SEARCH), X, Y),
    "classifier": (SingleIndexClassifier(2), X, TWO),
    "classifier with search": (SingleIndexClassifierCV(**SEARCH), X, TWO),
    "three classes": (SingleIndexClassifierCV(**SEARCH), X, THREE),
    "labels": (SingleIndexClassifier(2), X, np.column_stack([TWO, INDEX < -1]).astype(int)),
    "two outputs": (SingleIndexRegressor(2), X, np.column_stack([Y, Y**3])),
    "sparse": (SingleIndexClassifierCV(**SEARCH), sparse.csr_array(X), TWO),
    "wide": (SingleIndexRegressorCV(**SEARCH), RNG.standard_normal((60, 200)), Y[:60]),
    "logistic": (SingleIndexClassifier(link="logistic"), X, TWO),
    "joint": (SingleIndexRegressor(2, structure=RowSparse()), X, np.column_stack([Y, Y**3])),
    "Slisotron": (Slisotron(), X, Y),
}


class Page(HTMLParser):
    """Collects what matters, and checks that what is opened is closed."""

    VOID = ("meta", "link", "input", "br")

    def __init__(self, text):
        super().__init__()
        self.open, self.charts, self.addresses, self.ids, self.text = [], [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "svg":
            self.charts.append(found)
        self.ids += [found["id"]] if "id" in found else []
        self.addresses += [value for name, value in attributes if name in ("src", "href", "data")]

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)


@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_model_has_a_page(name):
    estimator, X, y = MODELS[name]
    page = Page(make_report(estimator.fit(X, y), X, y, target_name="yield", n_folds=2))
    assert all(chart["role"] == "img" and len(chart["aria-label"]) > 30 for chart in page.charts)
    assert len(page.charts) >= 3
    assert all(address.startswith("#") or address == "data:," for address in page.addresses)
    assert {a[1:] for a in page.addresses if a.startswith("#")} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    text = " ".join(page.text)
    assert "nan" not in text
    assert "How to reproduce it" in text


def test_names_cannot_break_out_of_the_page():
    bad = '<script>alert("x")</script>'
    frame = pd.DataFrame(X, columns=[f"{bad}{j}" for j in range(15)])
    model = SingleIndexClassifier(2).fit(frame, np.where(TWO, bad, "'&'"))
    text = make_report(
        model, frame, np.where(TWO, bad, "'&'"), target_name=bad, title=bad, notes=[bad], n_folds=2,
        reproduce={bad: bad},
    )  # fmt: skip
    assert "<script>alert" not in text
    Page(text)


def test_places_of_the_template_in_names_are_text():
    model = SingleIndexRegressor(2).fit(X, Y)
    title, target = "{{BODY}} {{SCRIPT}} {{NONE}}", r"{{FOOT}} \1"
    text = make_report(model, X, Y, title=title, target_name=target, n_folds=2)
    assert f"<title>{title}</title>" in text
    assert f"features are in use to predict {target}" in text
    assert text.count('id="answer"') == text.count("<footer>singleindex") == 1


def test_held_out_rows_are_those_scored():
    model = SingleIndexClassifier(2).fit(X[:80], TWO[:80])
    text = make_report(model, X[:80], TWO[:80], X_test=X[80:], y_test=TWO[80:], n_folds=2)
    assert "Rows held out from the start" in text
    assert "40 held-out rows" in text
    assert "The two tables tell of different rows" in text


def test_a_model_of_nothing_says_so():
    noise = RNG.standard_normal((60, 40))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SingleIndexRegressorCV(**SEARCH).fit(noise, RNG.permutation(Y[:60]))
    assert 'class="warning"' in make_report(model, noise, RNG.permutation(Y[:60]), n_folds=2)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"y": Y[:3]}, "same rows"),
        ({"X_test": X}, "go together"),
        ({"X": X[:, :3]}, "3 features"),
        ({"feature_names": ["a"]}, "15 names"),
        ({"n_folds": 0}, "n_folds"),
    ],
)
def test_wrong_calls_are_told(change, says):
    with pytest.raises(ValueError, match=says):
        make_report(**({"model": SingleIndexRegressor(2).fit(X, Y), "X": X, "y": Y} | change))


def test_models_without_a_link_are_refused():
    with pytest.raises(TypeError, match="has no link"):
        make_report(LipschitzIsotonicRegression().fit([0, 1, 2], [0, 1, 1]), np.zeros((3, 1)), [0, 1, 1])


@pytest.mark.parametrize(
    "model",
    [
        SingleIndexRegressorCV(**SEARCH | {"alpha": np.array([0.1, 1 / 3])}),
        SingleIndexRegressor(structure=GroupSparse(np.arange(15) // 2), n_atoms=2),
        SingleIndexClassifier(2, class_weight={0: 1.0, 1: 2.5}),
    ],
)
def test_the_lines_in_python_make_the_model_again(model):
    y = TWO if isinstance(model, SingleIndexClassifier) else Y
    page = Page(make_report(model.fit(X, y), X, y, n_folds=2))
    at = page.text.index("In Python")
    known = {"X": X, "y": y}
    exec(next(text for text in page.text[at + 1 :] if text.strip()), known)
    np.testing.assert_array_equal(known["model"].coef_, model.coef_)


# ---------------------------------------------------------------- honesty


def test_folds_know_nothing_of_the_rows_they_lack():
    """What is predicted for a row does not depend on its own target, by us or by the plain model."""
    model = SingleIndexRegressorCV(**SEARCH).fit(X, Y)
    folds = make_folds(model, X, Y, None, 4, None)
    plain = make_baseline(model, folds.splits, (X, Y, None), None)
    for _, test in folds.splits[:2]:
        other = Y.copy()
        other[test] = RNG.permutation(-5 * Y[test])
        again = make_folds(model, X, other, None, 4, None)
        np.testing.assert_array_equal(again.predictions.value[test], folds.predictions.value[test])
        beside = make_baseline(model, again.splits, (X, other, None), None)
        np.testing.assert_array_equal(beside.held_out.value[test], plain.held_out.value[test])
        assert not np.array_equal(again.predictions.value, folds.predictions.value)


def test_a_fold_model_is_the_fit_without_the_fold():
    model = SingleIndexRegressorCV(**SEARCH).fit(X, Y)
    folds = make_folds(model, X, Y, None, 4, None)
    assert sorted(np.concatenate([test for _, test in folds.splits])) == list(range(120))
    train, test = folds.splits[2]
    again = SingleIndexRegressorCV(**SEARCH).fit(X[train], Y[train])
    np.testing.assert_array_equal(folds.predictions.value[test, 0], again.predict(X[test]))
    np.testing.assert_allclose(folds.models[2].curve(0, folds.index[test, 0]), again.predict(X[test]))


def test_the_jackknife_of_means_is_their_standard_error():
    values = RNG.standard_normal(30)
    without = [np.array([np.delete(values, i).mean()]) for i in range(30)]
    assert jackknife_error(without)[0] == pytest.approx(values.std(ddof=1) / np.sqrt(30))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_turning_wide_data_changes_no_ridge(kind):
    wide = RNG.standard_normal((30, 80)) * (RNG.random((30, 80)) < 0.5)
    Z, Z_test = features(kind(wide[:25]), kind(wide[25:]))
    assert Z.shape[1] <= 25
    spread = np.sqrt(wide[:25].var(axis=0) * 80)
    direct = Ridge(0.1).fit(wide[:25] / spread, Y[:25]).predict(wide[25:] / spread)
    np.testing.assert_allclose(Ridge(0.1).fit(Z, Y[:25]).predict(Z_test), direct, atol=1e-8)


def test_the_plain_model_is_a_fair_one():
    model = SingleIndexRegressor(2).fit(X, INDEX)
    folds = make_folds(model, X, INDEX, None, 5, None)
    baseline = make_baseline(model, folds.splits, (X, INDEX, None), None)
    assert r2_score(INDEX, baseline.held_out.value[:, 0]) > 0.999  # of an exact line


def test_all_rivals_are_judged_on_the_same_folds_and_know_nothing_of_them():
    model = SingleIndexRegressor(2).fit(X, Y)
    splits = make_folds(model, X, Y, None, 3, None).splits
    rivals = make_rivals(model, splits, (X, Y, None), None)
    assert [one.name for one in rivals.found] == [
        "L2 linear regression", "L1 linear regression", "gradient boosting",
    ]  # fmt: skip
    test = splits[0][1]
    other = Y.copy()
    other[test] = RNG.permutation(-5 * Y[test])
    again = make_rivals(model, splits, (X, other, None), None)
    for one, two in zip(rivals.found, again.found, strict=True):
        assert r2_score(Y, one.held_out.value[:, 0]) > 0.5
        np.testing.assert_array_equal(one.held_out.value[test], two.held_out.value[test])
        assert not np.array_equal(one.held_out.value, two.held_out.value)


def test_penalties_of_the_lasso_begin_where_a_feature_comes_in():
    """At the first level no feature has a weight, and from the second on one has; L1 is solved to its end."""
    Z, _ = standardised(X, None)
    levels = levels_of(Z, TWO)
    assert len(levels) >= 50
    first, second, middle = (OneAgainstRest(Z, TWO, None, at).models[0] for at in levels[[0, 1, 25]])
    assert np.count_nonzero(first.coef_) == 0
    assert np.count_nonzero(second.coef_) >= 1
    gradient = Z.T @ (middle.predict_proba(Z)[:, 1] - TWO) / len(TWO)
    used = middle.coef_[0] != 0
    np.testing.assert_allclose(gradient[used], -levels[25] * np.sign(middle.coef_[0, used]), rtol=0.02)
    assert (np.abs(gradient[~used]) < 1.02 * levels[25]).all()


def test_differences_are_paired():
    model = SingleIndexRegressor(2).fit(X, Y)
    ours, rival = predictions_of(model, X), Predictions(Y[:, None] + 0.3, Y[:, None])
    scores = scores_of(model, Y, ours, {"rival": rival}, null_predictions(model, Y, 120))
    gain, error = scores.gains["rival"]["mean absolute error"]
    gap = 0.3 - np.abs(ours.value[:, 0] - Y)
    assert gain == pytest.approx(gap.mean())
    assert error == pytest.approx(gap.std(ddof=1) / np.sqrt(120))


def test_wide_and_long_tables_go_without_boosting_and_say_so():
    wide = RNG.standard_normal((40, 1200))
    model = SingleIndexRegressor(2).fit(wide, Y[:40])
    assert "Gradient boosting is not there" in make_report(model, wide, Y[:40], n_folds=2)


def test_scores_are_those_of_scikit_learn():
    model = SingleIndexClassifier(2).fit(X, TWO)
    found = score_all(predictions_of(model, X), TWO, model)
    p = model.predict_proba(X)
    assert found["AUC"] == pytest.approx(roc_auc_score(TWO, model.decision_function(X)))
    assert found["log-loss"] == pytest.approx(log_loss(TWO, p))
    assert found["Brier score"] == pytest.approx(brier_score_loss(TWO, p[:, 1]))
    assert found["accuracy"] == pytest.approx(model.score(X, TWO))
    three = SingleIndexClassifier(2).fit(X, THREE)
    found = score_all(predictions_of(three, X), THREE, three)
    assert found["log-loss"] == pytest.approx(log_loss(THREE, three.predict_proba(X), labels=three.classes_))
    assert found["accuracy"] == pytest.approx(three.score(X, THREE))
    line = SingleIndexRegressor(2).fit(X, Y)
    found = score_all(predictions_of(line, X), Y, line)
    assert found["R²"] == pytest.approx(line.score(X, Y))
    assert found["RMSE"] == pytest.approx(np.sqrt(mean_squared_error(Y, line.predict(X))))
    assert score_all(null_predictions(line, Y, 120), Y, line)["R²"] == pytest.approx(0)


# ---------------------------------------------------------------- charts


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-3.2, 17), (1e-9, 2e-9), (5, 5), (0, 1e7), (-1e-3, 1e3), (0.1, 0.1000001)]
)
def test_ticks_are_few_round_and_inside(low, high):
    ticks = nice_ticks(low, high)
    assert 1 <= len(ticks) <= 6
    assert ticks.min() >= low - 1e-9 * abs(low)
    assert ticks.max() <= high * (1 + 1e-9) + 1e-15


def test_log_ticks_are_inside():
    assert log_ticks(1, 2000).tolist() == [1, 3, 10, 30, 100, 300, 1000]
    assert log_ticks(0.8, 20).tolist() == [1, 2, 5, 10, 20]


def test_a_chart_puts_points_where_they_belong():
    chart = Chart((0, 10), (0, 1), "x", "y")
    left, right = chart.x([0, 10])
    assert chart.x(5) == pytest.approx((left + right) / 2)
    assert chart.y(0) > chart.y(1)  # SVG counts downwards
    chart.line([0, 10], [0, 1], "one")
    assert f"{left:.1f},{float(chart.y(0)):.1f}" in chart.render("A line from the corner to the other one.")
