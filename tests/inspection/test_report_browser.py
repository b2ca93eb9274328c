"""The report in a real browser, on a phone and on a desk, by day and by night."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from singleindex import SingleIndexClassifierCV, SingleIndexRegressorCV
from singleindex.inspection import make_report

sys.path.insert(0, str(Path(__file__).parents[1]))
from browser import BINARY, CONTRAST, CUT_OFF, OVERFLOW, OVERPRINT, WHY_NOT

pytestmark = pytest.mark.skipif(BINARY is None, reason=WHY_NOT)
SIZES = [(390, False), (390, True), (1280, False), (1280, True)]
SETTINGS = {"n_atoms": [2, 5], "penalty": [0.3], "alpha": [0.1, 10.0], "cv": 3}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Three reports: a wide table of two classes, long and foreign names with a test part, three classes."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("pages")
    X = pd.DataFrame(rng.standard_normal((60, 300)), columns=[f"gene_{j}" for j in range(300)])
    y = (X["gene_3"] - X["gene_50"] + 0.5 * rng.standard_normal(60) > 0).astype(int)
    model = SingleIndexClassifierCV(**SETTINGS).fit(X, y)
    (folder / "wide.html").write_text(
        make_report(model, X, y, target_name="relapse", n_folds=2), encoding="utf-8"
    )
    names = [
        "naïve âge",
        "ein sehr langer Spaltenname, der kein Ende nehmen will " * 2,
        'x<y & "z"',
        "日本語",
    ]
    X = pd.DataFrame(rng.standard_normal((90, 4)), columns=names)
    y = 1e6 * np.tanh(X[names[0]] - X[names[1]]) + 1e4 * rng.standard_normal(90)
    model = SingleIndexRegressorCV(n_atoms=[2, 4], penalty=[0.3], alpha=[0.1], cv=3).fit(X[:70], y[:70])
    page = make_report(
        model, X[:70], y[:70], X_test=X[70:], y_test=y[70:], target_name="Ergebnis in € je Monat",
        notes=["left out 'id': a different whole number in every row"], reproduce={"Command": "x" * 300},
        n_folds=2,
    )  # fmt: skip
    (folder / "messy.html").write_text(page, encoding="utf-8")
    X = pd.DataFrame(rng.standard_normal((120, 15)), columns=[f"Messung Nummer {j}" for j in range(15)])
    y = np.array(["low", "mid", "high"])[np.digitize(X.iloc[:, 0] - 2 * X.iloc[:, 1], [-1, 1])]
    model = SingleIndexClassifierCV(n_atoms=[2, 8], penalty=[0.1], alpha=[0.1], cv=3).fit(X, y)
    (folder / "three.html").write_text(
        make_report(model, X, y, target_name="size", n_folds=2), encoding="utf-8"
    )
    return folder


@pytest.mark.parametrize("name", ["wide", "messy", "three"])
@pytest.mark.parametrize(("width", "dark"), SIZES)
def test_the_page_is_sound(browser, pages, tmp_path, name, width, dark):
    browser.open((pages / f"{name}.html").as_uri(), width, dark)
    browser.screenshot(tmp_path / f"{name}.png")
    assert (tmp_path / f"{name}.png").stat().st_size > 20_000
    assert browser.problems() == []
    assert browser.requests() == []
    assert browser.run(OVERFLOW) == []
    assert browser.run(CONTRAST) == []
    assert browser.run(OVERPRINT) == []
    if width == 1280:
        assert browser.run(CUT_OFF) == []


@pytest.mark.parametrize("name", ["wide", "messy", "three"])
def test_titles_and_legends_tell_things_apart(browser, pages, name):
    browser.open((pages / f"{name}.html").as_uri())
    titles = browser.run("[...document.querySelectorAll('#link h3, #quality h3')].map((e) => e.textContent)")
    assert len(titles) == len(set(titles))
    for legend in browser.run(
        "[...document.querySelectorAll('.legend')].map((e) => [...e.children].map((li) => li.textContent))"
    ):
        assert len(legend) == len(set(legend))
    if name == "three":
        for label in ("low", "mid", "high"):
            assert sum(f"size = {label}" in title for title in titles) >= 2
            assert f"size = {label}" in browser.run(
                "[...document.querySelectorAll('#features h3')].map((e) => e.textContent)"
            )


def test_the_table_is_sorted_from_the_keyboard(browser, pages):
    browser.open((pages / "wide.html").as_uri())
    names = "[...document.querySelectorAll('.sortable tbody th')].map((cell) => cell.textContent)"
    before = browser.run(names)
    browser.run("document.querySelector('.sortable thead button').focus()")
    browser.press("Enter")
    assert browser.run(names) == sorted(before, key=lambda name: int(name.split("_")[1]))
    assert browser.run("document.querySelector('.sortable th').ariaSort") == "ascending"
    browser.press("Enter")
    assert browser.run(names) == sorted(before, key=lambda name: -int(name.split("_")[1]))
    browser.press("Tab")
    browser.press("Enter")
    effects = browser.run(
        "[...document.querySelectorAll('.sortable tr td:nth-child(2)')].map((c) => +c.dataset.value)"
    )
    assert effects == sorted(effects, reverse=True)


def test_the_curve_is_read_with_arrow_keys_and_pointer(browser, pages):
    browser.open((pages / "wide.html").as_uri())
    reading = "document.querySelector('#link .reading').textContent"
    browser.run("document.querySelector('#link svg').focus()")
    browser.press("ArrowRight")
    first = browser.run(reading)
    browser.press("ArrowRight")
    second = browser.run(reading)
    assert first.startswith("index ")
    assert first != second
    browser.run("document.querySelector('#link svg').scrollIntoView()")
    box = browser.run(
        "JSON.parse(JSON.stringify(document.querySelector('#link svg').getBoundingClientRect()))"
    )
    x, y = box["x"] + box["width"] * 0.9, box["y"] + box["height"] / 2
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    assert browser.run(reading) not in (first, second, "")


def test_paper_shows_what_is_folded_away(browser, pages):
    browser.open((pages / "wide.html").as_uri())
    browser.run("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.run("[...document.querySelectorAll('details')].every((details) => details.open)")
    assert len(browser.call("Page.printToPDF")["data"]) > 10_000


@pytest.mark.parametrize(
    ("body", "check"),
    [
        ("<main><p style='color:#999'>pale</p></main>", lambda b: b.run(CONTRAST)),
        ("<main><div style='width:3000px'>wide</div></main>", lambda b: b.run(OVERFLOW)),
        ("<main><p>one</p><p style='margin-top:-30px'>two</p></main>", lambda b: b.run(OVERPRINT)),
        (
            "<main><pre style='overflow:auto'><div style='width:3000px'>wide</div></pre></main>",
            lambda b: b.run(CUT_OFF),
        ),
        ("<script>undefined.x</script>", lambda b: b.problems()),
        ("<script>console.error('x')</script>", lambda b: b.problems()),
        ("<img src='http://127.0.0.1:9/x.png'>", lambda b: b.requests()),
    ],
)
def test_the_checks_fail_on_bad_pages(browser, tmp_path, body, check):
    (tmp_path / "bad.html").write_text(f"<!DOCTYPE html><body>{body}</body>")
    browser.open((tmp_path / "bad.html").as_uri())
    assert check(browser)
