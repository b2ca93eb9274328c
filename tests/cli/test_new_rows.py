"""From the fit to new rows: what was said once is kept, dates are what they were, odd values are told."""

import gzip
import io
import json
import sys

import numpy as np
import pandas as pd
import pytest
from patients import messy_patients

from singleindex import SingleIndexRegressor, save
from singleindex.cli.app import ExitCode
from singleindex.tables.columns import Choices
from singleindex.tables.dates import as_days, find_order
from singleindex.tables.errors import TableError
from singleindex.tables.preparation import from_record, prepare

FIT = ["-t", "Rückfall", "--drop", "Nachsorge", "--n-atoms", "4", "--folds", "3"]


def predicted(cli, *arguments):
    code, out, err = cli("predict", *arguments)
    assert code == 0, err
    return pd.read_csv(io.StringIO(out))


# ---------------------------------------------------------------- what was said is kept


@pytest.fixture
def odd_csv(patients, tmp_path):
    """Numbers with decimal commas in a file of commas, words for gaps, dates, and latin-1."""
    frame = patients.assign(
        Dosis=patients["Dosis"].map(lambda v: "k.A." if np.isnan(v) else f"{v:.2f}".replace(".", ","))
    )
    frame.to_csv(tmp_path / "alt.csv", index=False, encoding="latin-1", sep="#", decimal=",")
    return tmp_path / "alt.csv"


def test_what_was_said_at_the_fit_is_kept(cli, odd_csv, patients):
    said = ["--na", "k.A.", "--decimal", ",", "--encoding", "latin-1", "--separator", "#", "--dates", "days"]
    assert cli("fit", odd_csv, *FIT, *said, "--impute", "median")[0] == 0
    code, out, err = cli("score", "model.sim", odd_csv, "--json")
    assert code == 0, err
    assert json.loads(out)["scores"]["AUC"] > 0.8
    assert cli("report", "model.sim", odd_csv, "-o", "r.html")[0] == 0
    found = predicted(cli, "model.sim", odd_csv)
    # The same rows as other programs write them.
    patients.to_csv("neu.csv", index=False)
    patients.to_csv("utf8.csv", index=False, decimal=",")
    np.testing.assert_allclose(predicted(cli, "model.sim", "utf8.csv")["index"], found["index"])
    other = predicted(cli, "model.sim", "neu.csv", "--decimal", ".")
    np.testing.assert_allclose(other["index"], found["index"])


def test_columns_without_weight_may_be_odd(cli, patients, patients_csv):
    assert cli("fit", patients_csv, *FIT, "--impute", "median", "--json")[0] == 0
    whole = predicted(cli, "model.sim", patients_csv)
    names = {f["name"] for f in json.loads(cli("inspect", "model.sim", "--json")[1])["features"]}
    assert "Größe" not in names
    for odd in (["groß"] * 400, [np.inf] * 400, [None] * 400):
        patients.assign(Größe=odd).to_csv("odd.csv", index=False)
        np.testing.assert_array_equal(predicted(cli, "model.sim", "odd.csv")["index"], whole["index"])
    patients.drop(columns="Größe").to_csv("odd.csv", index=False)
    np.testing.assert_array_equal(predicted(cli, "model.sim", "odd.csv")["index"], whole["index"])
    patients.assign(Alter="alt").to_csv("odd.csv", index=False)
    code, _, err = cli("predict", "model.sim", "odd.csv")
    assert (code, "column 'Alter' must hold numbers, but has 'alt'" in err) == (ExitCode.DATA, True)


OLD = {
    "columns": ["a", "when", "c"], "kinds": ["number", "date", "number"], "fills": [0.0] * 3,
    "categories": {}, "dropped": {}, "imputed": None,
}  # fmt: skip
OLD_RECORD = dict.fromkeys(("command", "data", "version", "task", "fingerprint"), "x") | {
    "n_rows": 30, "n_test": 0, "n_columns": 3, "target": ["y"],
}  # fmt: skip


def test_files_of_earlier_versions_load(cli, tmp_path):
    X = np.random.default_rng(0).standard_normal((30, 3))
    model = SingleIndexRegressor(3).fit(pd.DataFrame(X, columns=OLD["columns"]), X @ [1.0, 0.5, -1.0])
    save(model, tmp_path / "old.sim", notes={"preparation": OLD, "record": OLD_RECORD})
    new = pd.DataFrame({"a": [0.1, 0.2], "when": ["1970-01-02", "1970-01-03"], "c": [1.0, 2.0]})
    new.to_csv("t.csv", index=False)
    found = predicted(cli, "old.sim", "t.csv", "--notes")
    np.testing.assert_allclose(found["prediction"], model.predict(new.assign(when=[1, 2])))
    assert cli("inspect", "old.sim")[0] == 0
    save(model, tmp_path / "new.sim", notes={"preparation": OLD | {"version": 99}, "record": OLD_RECORD})
    code, _, err = cli("inspect", "new.sim")
    assert (code, "pip install -U singleindex" in err) == (ExitCode.MODEL, True)


# ---------------------------------------------------------------- dates


@pytest.mark.parametrize(
    ("values", "days"),
    [
        (["13.01.1970", "02.01.1970"], [12, 1]),
        (["01/13/1970", "01/02/1970"], [12, 1]),
        (["13-1-70", "2-1-70"], [12, 1]),
        (["1970-01-13", "1970-01-02"], [12, 1]),
        (["1970-01-13T12:00:00Z", "1970-01-02"], [12.5, 1]),
        (["13.01.1970 18:00", "02.01.1970 06:00"], [12.75, 1.25]),
        (["13.01.1970", None], [12, np.nan]),
        (["05.05.1970", "06.06.1970"], [124, 156]),  # the same either way
        (["13.01.2029", "13.01.70"], [21562, 12]),
    ],
)
def test_day_and_month_are_told_by_the_whole_column(values, days):
    column = pd.Series(values * 50, dtype=object)
    np.testing.assert_allclose(as_days(column, "d", find_order(column, "d", None))[:2], days)


def test_one_late_row_tells_the_order():
    column = pd.Series(["02.03.1970"] * 500 + ["13.01.1970"])
    assert as_days(column, "d", find_order(column, "d", None))[0] == 60


def test_dates_that_nothing_tells_are_asked_about(cli, patients, tmp_path):
    unclear = patients["Aufnahme"].str.replace(r"^\d\d", "05", regex=True)
    patients.assign(Aufnahme=unclear).to_csv(tmp_path / "t.csv", index=False)
    code, _, err = cli("fit", "t.csv", *FIT, "--impute", "median", "--dates", "days")
    assert code == ExitCode.DATA
    assert "no row tells whether the day or the month stands first" in err
    assert "--date-order day-first" in err
    assert cli("fit", "t.csv", *FIT, "--impute", "median")[0] == 0  # left out, nothing to ask
    said = ["--dates", "days", "--date-order", "month-first"]
    assert cli("fit", "t.csv", *FIT, "--impute", "median", *said)[0] == 0


def test_both_orders_in_a_column_are_refused():
    column = pd.Series(["13.01.1970", "01/13/1970"])
    with pytest.raises(TableError, match=r"day first in '13\.01\.1970' and the month first in '01/13/1970'"):
        find_order(column, "d", None)


def test_the_order_is_kept_for_new_rows():
    frame = pd.DataFrame({"d": ["13.01.1970", "14.01.1970"] * 5})
    kept = prepare(frame, Choices(dates="days"), None)
    kept = from_record(json.loads(json.dumps(kept.as_record())))
    assert kept.apply(pd.DataFrame({"d": ["02.03.1970"]}), impute=False)["d"][0] == 60
    with pytest.raises(TableError, match="'01/13/1970', which is not a date like the others, day first"):
        kept.apply(pd.DataFrame({"d": ["01/13/1970"]}), impute=False)


def test_dates_of_the_messy_table_go_in(cli, patients_csv):
    code, out, err = cli("fit", patients_csv, *FIT, "--impute", "median", "--dates", "days", "--json")
    assert code == 0, err
    assert "Aufnahme" not in json.loads(out)["left_out"]


# ---------------------------------------------------------------- files


@pytest.fixture
def model(cli, patients_csv):
    assert cli("fit", patients_csv, *FIT, "--impute", "median", "-o", "m.sim")[0] == 0
    return predicted(cli, "m.sim", patients_csv)


def test_excel_gzip_and_several_files_are_one_table(cli, patients, model, tmp_path):
    pytest.importorskip("openpyxl")
    dated = patients.assign(Aufnahme=pd.to_datetime(patients["Aufnahme"], dayfirst=True))
    with pd.ExcelWriter(tmp_path / "mappe.xlsx") as book:
        pd.DataFrame({"Hinweis": ["nichts"]}).to_excel(book, sheet_name="Deckblatt", index=False)
        dated.to_excel(book, sheet_name="Patienten", index=False)
    text = patients.to_csv(index=False).encode()
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text))
    patients[:150].to_csv(tmp_path / "teil-1.csv", index=False)
    patients[150:].iloc[:, ::-1].to_csv(tmp_path / "teil-2.csv", index=False)
    for arguments in (
        ["mappe.xlsx", "--sheet", "Patienten"], ["t.csv.gz"], ["teil-*.csv"], ["teil-1.csv", "teil-2.csv"],
    ):  # fmt: skip
        np.testing.assert_allclose(predicted(cli, "m.sim", *arguments)["index"], model["index"])
    code, _, err = cli("predict", "m.sim", "mappe.xlsx", "--sheet", "Blatt 3")
    assert (code, "no sheet 'Blatt 3'; there are 'Deckblatt', 'Patienten'" in err) == (ExitCode.DATA, True)
    _, _, err = cli("fit", "mappe.xlsx", "-t", "Rückfall")
    assert "no column 'Rückfall'" in err
    code, _, err = cli("fit", "mappe.xlsx", "--sheet", "Patienten", *FIT, "--impute", "median")
    assert code == 0, err
    np.testing.assert_allclose(predicted(cli, "model.sim", "mappe.xlsx")["index"], model["index"])  # kept


def test_cells_of_excel_are_what_they_are(cli, tmp_path):
    pytest.importorskip("openpyxl")
    from singleindex.cli.tables import ReadOptions, read_table

    pd.DataFrame({
        "plz": ["00731", "10115", "00731"], "zahl": ["1,5", "2,5", "1.000,5"], "wert": [1, 2.5, None],
        "an": [True, False, True],
    }).to_excel(tmp_path / "t.xlsx", index=False)  # fmt: skip
    frame = read_table(str(tmp_path / "t.xlsx"), ReadOptions(decimal=",")).frame
    assert frame["plz"].tolist() == ["00731", "10115", "00731"]
    assert frame["zahl"].tolist() == [1.5, 2.5, 1000.5]
    assert [frame[name].dtype.kind for name in ("zahl", "wert", "an")] == ["f", "f", "b"]


def test_without_openpyxl_the_extra_is_named(cli, tmp_path, monkeypatch):
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    code, _, err = cli("fit", "t.xlsx", "-t", "y")
    assert code == ExitCode.DATA
    assert 'pip install "singleindex[excel]"' in err


def test_files_that_do_not_go_together(cli, patients, tmp_path):
    patients.to_csv(tmp_path / "a.csv", index=False)
    patients.drop(columns="Dosis").to_csv(tmp_path / "b.csv", index=False)
    code, _, err = cli("fit", "a.csv", "b.csv", *FIT)
    assert code == ExitCode.DATA
    assert "a.csv and b.csv have different columns: 'Dosis'" in err
    assert "no file matches c-*.csv" in cli("fit", "c-*.csv", *FIT)[2]


# ---------------------------------------------------------------- odd values, drift


def test_values_filled_in_and_out_of_range_are_noted(cli, patients, model):
    new = patients.head(4).assign(
        Alter=[30, 130, 40, 50], Dosis=[1.0, 1.0, None, 1.0], Stadt=["München"] * 3 + ["Ürümqi"]
    )
    new.to_csv("new.csv", index=False)
    code, out, err = cli("predict", "m.sim", "new.csv", "--notes")
    assert code == 0
    assert "1 value in 1 of 4 rows are missing and filled in: 'Dosis' 1" in err
    assert "beyond those of the training rows: 'Alter' 1 (not 25 to 84)" in err
    notes = pd.read_csv(io.StringIO(out), keep_default_na=False)["notes"].tolist()
    assert notes[0] == ""
    assert notes[1] == "Alter 130 is beyond 25 to 84"
    assert notes[2].startswith("Dosis is missing, taken as 5.")
    assert notes[3] == "Stadt 'Ürümqi' is not known"
    assert "notes" not in predicted(cli, "m.sim", "new.csv")


def test_score_tells_of_drift(cli, model, tmp_path):
    messy_patients(300, seed=5).to_csv("alike.csv", index=False)
    code, out, _ = cli("score", "m.sim", "alike.csv")
    assert code == 0
    assert "these rows are like those of the fit" in out
    moved = messy_patients(300, seed=5, shift=1.5)
    moved.loc[:99, "Dosis"] = np.nan
    moved.to_csv("moved.csv", index=False)
    out = cli("score", "m.sim", "moved.csv")[1]
    assert "these rows differ in: index, Laborwert, Alter, values out of range, gaps" in out
    assert "  'Alter': mean " in out
    drift = json.loads(cli("score", "m.sim", "moved.csv", "--json")[1])["drift"]
    assert drift["index"][0]["shift"] > 0.4
    assert list(drift["features"]) == ["Laborwert", "Alter"]
    assert drift["features"]["Laborwert"]["shift"] > 1
    assert drift["out_of_range"]["Alter"] > 0.1
    assert drift["gaps"]["Dosis"] == {"share": pytest.approx(0.36, abs=0.03), "training": 0.05}


def test_many_features_alone_are_no_drift(cli, wide, wide_csv):
    """The index of the training rows is too good where there are more features than rows."""
    assert cli("fit", wide_csv, "-t", "relapse", "--n-atoms", "10", "--folds", "3")[0] == 0
    rng = np.random.default_rng(7)
    new = pd.DataFrame(rng.standard_normal((500, 200)), columns=wide.columns[:-1])
    new.assign(relapse=rng.integers(0, 2, 500)).to_csv("new.csv", index=False)
    assert "index: mean" in (out := cli("score", "model.sim", "new.csv")[1])
    assert "differ in: index" not in out
