"""Rows of Python are read as the table of the fit was: words for gaps, and decimal commas."""

import numpy as np
import pandas as pd
import pytest
from pandas._libs.parsers import STR_NA_VALUES

from singleindex import load, save
from singleindex.cli.app import run
from singleindex.persistence import load_table
from singleindex.tables import TableError
from singleindex.tables.written import OF_PANDAS, Written

ROWS = [
    {"Alter": "61", "CRP": "25,5", "Raucher": "ja"},
    {"Alter": "k.A.", "CRP": "-", "Raucher": "nein"},
    {"Alter": "-99", "CRP": "3,25", "Raucher": "k.A."},
    {"Alter": "70", "CRP": "1,5e1", "Raucher": "-"},
    {"Alter": "44", "CRP": "NA", "Raucher": "unbekannt"},
]


@pytest.fixture
def fitted(tmp_path, monkeypatch):
    """A model of a table with a comma in its numbers and words for gaps, fitted on the command line."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    age, crp = rng.integers(20, 90, 120), rng.gamma(2, 12, 120).round(1)
    smokes = rng.choice(["ja", "nein"], 120)
    index = 0.05 * (age - 55) + 0.06 * (crp - 24) + 1.5 * (smokes == "ja") - 0.7
    happened = np.where(rng.random(120) < 1 / (1 + np.exp(-index)), "ja", "nein")
    table = pd.DataFrame({"Alter": age.astype(object), "CRP": crp.astype(object), "Raucher": smokes})
    table["CRP"] = [str(value).replace(".", ",") for value in crp]
    table.loc[::9, "CRP"], table.loc[::7, "Raucher"], table.loc[::11, "Alter"] = "-", "k.A.", -99
    table.assign(Rückfall=happened).to_csv("t.csv", sep=";", index=False)
    told = ["--na", "k.A.", "--na", "-99", "--impute", "median", "--n-atoms", "3", "--folds", "3", "-q"]
    assert run(["fit", "t.csv", "-t", "Rückfall", *told]) == 0
    return load_table("model.sim")


def test_rows_mean_what_they_mean_on_the_command_line(fitted):
    pd.DataFrame(ROWS).to_csv("new.csv", sep=";", index=False)
    assert run(["predict", "model.sim", "new.csv", "-o", "p.csv", "-q"]) == 0
    written = pd.read_csv("p.csv")["probability of ja"]
    np.testing.assert_allclose(fitted.predict_proba(pd.DataFrame(ROWS))[:, 0], written, rtol=1e-12)
    one_by_one = [fitted.predict_proba(pd.DataFrame([row]))[0, 0] for row in ROWS]
    np.testing.assert_allclose(one_by_one, written, rtol=1e-12)
    save(fitted, "again.sim")
    np.testing.assert_allclose(load("again.sim").predict_proba(pd.DataFrame(ROWS))[:, 0], written, rtol=1e-12)


def test_numbers_and_gaps_of_python_stay_what_they_are(fitted):
    numbers = pd.DataFrame({"Alter": [61, -99], "CRP": [25.5, np.nan], "Raucher": ["ja", None]})
    text = pd.DataFrame({"Alter": ["61", "k.A."], "CRP": ["25,5", "-"], "Raucher": ["ja", "k.A."]})
    np.testing.assert_array_equal(fitted.predict_proba(numbers), fitted.predict_proba(text))
    with pytest.raises(TableError, match=r"must hold numbers, but has '1\.025,5'"):
        fitted.predict(text.assign(CRP="1.025,5"))


def test_commas_are_no_marks_where_the_table_had_points():
    frame = pd.DataFrame({"x": ["1,5"], "y": ["k.A."], "z": ["1,5"]})
    assert Written(["k.A."]).read(frame, {"x"}).to_dict("list") == {"x": ["1,5"], "y": [None], "z": ["1,5"]}
    assert Written([], ",").read(frame, {"x"}).to_dict("list") == {"x": ["1.5"], "y": ["k.A."], "z": ["1,5"]}


def test_the_words_of_pandas_are_all_there():
    assert set(OF_PANDAS) == STR_NA_VALUES
