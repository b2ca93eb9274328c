"""The form of the report predicts what the model predicts, and can be used by keyboard."""

import json
import re
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from singleindex import (
    SingleIndexClassifier,
    SingleIndexClassifierCV,
    SingleIndexRegressor,
    TableClassifier,
    TableRegressor,
)
from singleindex.inspection import make_report

sys.path.insert(0, str(Path(__file__).parents[1]))
from browser import BINARY, CONTRAST, OVERFLOW, WHY_NOT

needs_browser = pytest.mark.skipif(BINARY is None, reason=WHY_NOT)
RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, 6))
INDEX = X[:, 0] - 2 * X[:, 1]
THREE = np.array(["low", "mid", "high"])[np.digitize(INDEX + RNG.standard_normal(90), [-1, 1])]
SEARCH = {"n_atoms": [2, 4], "penalty": [0.3], "alpha": [0.1], "cv": 3}
PLAIN = {
    "numbers": (SingleIndexRegressor(3), 100 * np.tanh(INDEX)),
    "two outputs": (SingleIndexRegressor(3), np.column_stack([np.tanh(INDEX), X[:, 2] ** 3])),
    "two classes": (SingleIndexClassifier(3), (INDEX > 0.3).astype(int)),
    "known link": (SingleIndexClassifier(3, link="logistic"), (INDEX > 0.3).astype(int)),
    "three classes": (SingleIndexClassifier(3), THREE),
    "coupled classes": (SingleIndexClassifierCV(**SEARCH), THREE),
    "labels": (SingleIndexClassifier(3), np.column_stack([INDEX > 0, X[:, 3] > 0]).astype(int)),
}
ANSWERS = (
    "[...document.querySelectorAll('#whatif .answers tbody td:last-child')].map((c) => +c.dataset.value)"
)
NOTE = "document.querySelector('#whatif .pasted').textContent"


def paste(browser, text):
    browser.run(f"document.querySelector('#whatif textarea').value = {json.dumps(text)}")
    browser.run("document.querySelector('#whatif .read').click()")


def said_by(model, rows):
    if not hasattr(model, "predict_proba"):
        return np.asarray(model.predict(rows)).reshape(len(rows), -1)
    p = model.predict_proba(rows)
    return p[:, 1:] if p.shape[1] == 2 and not getattr(model, "multilabel_", False) else p


def open_page(browser, folder, text, **how):
    (folder / "page.html").write_text(text, encoding="utf-8")
    browser.open((folder / "page.html").as_uri(), **how)


@needs_browser
@pytest.mark.parametrize("name", PLAIN)
def test_the_form_predicts_what_the_model_predicts(browser, tmp_path, name):
    estimator, y = PLAIN[name]
    model = estimator.fit(X, y)
    open_page(browser, tmp_path, make_report(model, X, y, n_folds=2, stable=()))
    rows = np.vstack([X[:4], 10 * X[4:6]])
    for row, expected in zip(rows, said_by(model, rows), strict=True):
        paste(browser, "\t".join(map(repr, row.tolist())))
        np.testing.assert_allclose(browser.run(ANSWERS), expected, rtol=1e-6, atol=1e-9)
    assert browser.problems() == []


def table(n=90):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({
        "age, in years": rng.integers(20, 80, n).astype(float),
        "site": rng.choice(["Köln, Süd", "Gießen", "Bonn"], n),
        "smokes": rng.choice(["ja", "nein"], n),
        "seen": [f"{i % 28 + 1:02d}.{i % 11 + 1:02d}.2023" for i in rng.integers(0, 308, n)],
    })  # fmt: skip
    days = pd.to_datetime(frame["seen"], format="%d.%m.%Y").dt.day_of_year
    index = (
        0.05 * frame["age, in years"]
        + (frame["site"] == "Gießen")
        - (frame["smokes"] == "ja")
        + 0.01 * days.to_numpy()
    )
    frame.loc[::9, "age, in years"] = np.nan
    frame.loc[5, "site"] = None
    return frame, index


@cache
def numbers_and_page():
    """Return a regressor of the table, and its report."""
    model = TableRegressor(SingleIndexRegressor(scale_power=1), dates="days", date_order="day-first")
    return model, messy_page(model, *table())


@cache
def classes_and_page():
    """Return a classifier of the table, and its report."""
    frame, index = table()
    model = TableClassifier(SingleIndexClassifier(scale_power=1), dates="days", date_order="day-first")
    return model, messy_page(model, frame, (index > 4).to_numpy().astype(int))


def messy_page(model, frame, y):
    model.fit(frame, y)
    return make_report(
        model.estimator_, model.prepare(frame), y, preparation=model.preparation_,
        feature_names=model.preparation_.names, n_folds=2, stable=(),
    )  # fmt: skip


@needs_browser
@pytest.mark.parametrize("made", [numbers_and_page, classes_and_page])
def test_rows_with_categories_gaps_and_dates_are_prepared_as_the_model_does(browser, tmp_path, made):
    (frame, _), (model, page) = table(), made()
    open_page(browser, tmp_path, page)
    rows = frame.iloc[[0, 1, 5, 9, 12]].copy()
    rows.iloc[1, 1] = "Zürich"  # not known
    for i in range(len(rows)):
        one = rows.iloc[[i]]
        for separator in ",;\t":
            paste(browser, one.to_csv(index=False, sep=separator))
            np.testing.assert_allclose(browser.run(ANSWERS), said_by(model, one)[0], rtol=1e-6, atol=1e-9)
    paste(browser, rows.iloc[[0]].to_csv(index=False, header=False))
    np.testing.assert_allclose(browser.run(ANSWERS), said_by(model, rows.iloc[[0]])[0], rtol=1e-6)


@needs_browser
def test_what_cannot_be_read_is_told_and_changes_nothing(browser, tmp_path):
    open_page(browser, tmp_path, numbers_and_page()[1])
    before = browser.run(ANSWERS)
    names = '"age, in years",site,smokes,seen'
    for text, says in {
        "": "nothing to read",
        "1,2": "2 values for 4 columns",
        f"{names}\nold,Bonn,ja,01.02.2023": '"old" is no number',
        f"{names}\n33,Bonn,ja,2023": "is no date",
        f"{names}\n33,Bonn": "4 names and 2 values",
        "site,smokes\nBonn,ja": "no column",
    }.items():
        paste(browser, text)
        assert says in browser.run(NOTE)
        assert browser.run(ANSWERS) == before


@needs_browser
def test_a_model_that_refuses_gaps_says_so(browser, tmp_path):
    model = SingleIndexRegressor(2).fit(X, INDEX)
    open_page(browser, tmp_path, make_report(model, X, INDEX, n_folds=2, stable=()))
    paste(browser, ",,,,,")
    assert "is missing, and the model needs it" in browser.run(NOTE)
    assert browser.run("document.querySelectorAll('#whatif [type=checkbox]').length") == 0


@needs_browser
def test_the_form_works_by_keyboard(browser, tmp_path):
    open_page(browser, tmp_path, numbers_and_page()[1])
    named = """[...document.querySelectorAll('.whatif :is(input, select, textarea, button)')]
        .every((e) => e.labels?.length || e.ariaLabel || e.textContent.trim())"""
    assert browser.run(named)
    browser.run("document.querySelector('.number [type=range]').focus()")
    # The link may have flat pieces; the index always moves.
    index = "document.querySelector('#whatif .answers tbody td').dataset.value"
    first = browser.run(index)
    browser.press("ArrowRight")
    second = browser.run(index)
    assert second != first
    marker = "document.querySelector('#whatif .marker circle').getAttribute('cx')"
    place = browser.run(marker)
    browser.press("Tab")  # the number
    browser.press("Tab")  # the tick
    browser.press(" ")
    assert browser.run("document.activeElement.checked")
    assert browser.run(index) != second
    assert browser.run(marker) != place
    browser.run("document.querySelector('#whatif .reset').focus()")
    browser.press("Enter")
    assert browser.run(index) == first


@needs_browser
def test_contributions_add_up_to_the_index(browser, tmp_path):
    estimator, y = PLAIN["three classes"]
    open_page(browser, tmp_path, make_report(estimator.fit(X, y), X, y, n_folds=2, stable=()))
    for k in range(3):
        browser.run(
            f"var which = document.querySelector('.which'); which.value = {k};"
            "which.dispatchEvent(new Event('change'))"
        )
        parts = browser.run(
            "[...document.querySelectorAll('.parts tbody td:last-child')].map((c) => +c.dataset.value)"
        )
        assert sum(parts[:-1]) == pytest.approx(parts[-1])
        assert browser.run("document.querySelectorAll('.place:not([hidden])').length") == 1


@needs_browser
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_the_form_fits_the_screen(browser, tmp_path, width, dark):
    open_page(browser, tmp_path, classes_and_page()[1], width=width, dark=dark)
    browser.run("for (const d of document.querySelectorAll('#whatif details')) d.open = true")
    assert browser.run(OVERFLOW) == []
    assert browser.run(CONTRAST) == []
    assert browser.problems() == []


def record_in(page):
    return json.loads(re.search(r'id="form-model">(.*?)</script>', page, re.DOTALL)[1])


def test_controls_are_those_of_the_columns():
    (frame, _), (_, page) = table(), numbers_and_page()
    record = record_in(page)
    inputs = {one["name"]: one for one in record["inputs"]}
    assert {one["kind"] for one in inputs.values()} == {"number", "category", "date"}
    assert inputs["site"]["values"] == ["Bonn", "Gießen", "Köln, Süd"]
    age = inputs["age, in years"]
    assert (age["low"], age["high"]) == (frame["age, in years"].min(), frame["age, in years"].max())
    assert age["fill"] == frame["age, in years"].median()


@pytest.mark.parametrize(
    ("model", "y", "says"),
    [
        (SingleIndexRegressor(2, link=np.arctan), np.tanh(INDEX), "function of your own"),
        (SingleIndexRegressor(penalty=1.0), INDEX, "No feature has a weight"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_page_without_a_form_says_why(model, y, says):
    page = make_report(model.fit(X, y), X, y, n_folds=2)
    assert says in page
    assert "form-model" not in page.split("<script>")[0]
