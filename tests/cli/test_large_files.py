"""Files beyond memory: the same preparation, model, predictions and scores as of rows held together."""

import gzip
import io
import json
import os
import subprocess
import sys
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from singleindex import SingleIndexClassifierCV, SingleIndexRegressorCV
from singleindex.cli import block_tables
from singleindex.cli.block_data import RowSample, places_of, sample_rows
from singleindex.cli.block_tables import BlockTables
from singleindex.cli.memory import MemoryOptions, goes_by_blocks, need_of, rows_in
from singleindex.cli.messages import ExitCode, ProgressLine
from singleindex.cli.model_file import read_model
from singleindex.cli.read_options import ReadOptions
from singleindex.cli.tables import Table
from singleindex.design import HashKFold, chunk_arrays
from singleindex.inspection import stable
from singleindex.tables.columns import Choices
from singleindex.tables.preparation import prepare

FAST = ["--folds", "3", "--n-atoms", "1,2,4"]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Let a block have two hundred rows or so."""
    monkeypatch.setattr(block_tables, "_BLOCK_BYTES", 16_000)
    monkeypatch.setattr(block_tables, "_BLOCK_VALUES", 2_500)


@pytest.fixture(autouse=True)
def few_halves(monkeypatch):
    """Ask few halves of the rows for stable features: how often is no matter of how files are read."""
    monkeypatch.setattr(stable, "resample", partial(stable.resample, n_resamples=20))


@pytest.fixture(scope="session")
def visits():
    """A thousand rows with text, gaps, dates, codes, an identifier and a constant."""
    rng = np.random.default_rng(3)
    n = 1000
    age, dose = rng.integers(20, 80, n).astype(float), rng.gamma(2, 2, n).round(3)
    city = rng.choice(["Zürich, CH", "Kraków", "Ulm"], n)
    index = 0.05 * (age - 50) + 0.5 * (dose - 4) + (city == "Kraków")
    frame = pd.DataFrame({
        "visit id": rng.permutation(np.arange(1000, 1000 + 7 * n, 7)),
        "age": age,
        "dose": np.where(rng.random(n) < 0.05, np.nan, dose),
        "city": np.where(rng.random(n) < 0.05, None, city),
        "zip": [f"{v:05d}" for v in rng.integers(1, 5, n)],
        "day": pd.date_range("2020-01-01", periods=n).strftime("%d.%m.%Y"),
        "constant": "x",
        "weight": rng.integers(1, 4, n),
        "score": (10 / (1 + np.exp(-index)) + rng.normal(0, 0.5, n)).round(4),
        "grade": (index + rng.normal(0, 0.5, n)).round(4),
        "ill": np.where(rng.random(n) < 1 / (1 + np.exp(-2 * index)), "yes", "no"),
    })  # fmt: skip
    return frame


@pytest.fixture
def visits_csv(visits, tmp_path):
    path = tmp_path / "visits.csv"
    visits.to_csv(path, index=False)
    return path


def fit(cli, *arguments, output="m.sim"):
    code, _, err = cli("fit", *arguments, "-o", output, "--in-blocks", *FAST)
    assert code == 0, err
    return read_model(output), err


def in_memory(visits, target, estimator, weights=None, impute="median"):
    """Return the model of the same rows as arrays, with the same folds and bins."""
    aside = [*target, *([weights] if weights else [])]
    left = visits.drop(columns=[c for c in ("score", "grade", "ill", "weight") if c in visits])
    preparation = prepare(left, Choices(dates="days"), impute)
    X = preparation.apply(visits.drop(columns=aside), impute=True).to_numpy()
    y = visits[target[0]].to_numpy() if len(target) == 1 else visits[target].to_numpy()
    weight = None if weights is None else visits[weights].to_numpy(dtype=float)
    y = y.astype(str) if y.dtype == object else y
    return estimator(n_atoms=[1, 2, 4], cv=HashKFold(3)).fit(chunk_arrays(X, y, weight, 170)), preparation


CASES = {
    "classes": (["ill"], ["score", "grade", "weight"], SingleIndexClassifierCV),
    "numbers": (["score"], ["ill", "grade", "weight"], SingleIndexRegressorCV),
    "two outputs": (["score", "grade"], ["ill", "weight"], SingleIndexRegressorCV),
}
SHARED = ["--impute", "median", "--dates", "days"]


@pytest.fixture(scope="module")
def expected_of(visits):
    """Return the model in memory of a case, fitted once whatever the form of the file."""
    return cache(lambda case: in_memory(visits, CASES[case][0], CASES[case][2]))


@pytest.mark.parametrize("form", ["csv", "csv.gz", "parquet", "several"])
@pytest.mark.parametrize("case", CASES)
def test_a_fit_to_blocks_is_that_to_the_prepared_rows(cli, visits, tmp_path, expected_of, case, form):
    if case != "classes" and form in ("csv.gz", "several"):
        pytest.skip("files are read alike whatever the target")
    target, drop, _ = CASES[case]
    if form == "parquet":
        visits.to_parquet(tmp_path / "v.parquet", row_group_size=300)
    elif form == "several":
        for k in range(3):
            visits[k * 350 : (k + 1) * 350].to_csv(tmp_path / f"v-{k}.csv", index=False)
    else:
        visits.to_csv(tmp_path / f"v.{form}", index=False)
    name = "v-*.csv" if form == "several" else f"v.{form}"
    said = [part for column in target for part in ("-t", column)]
    said += [part for column in drop for part in ("--drop", column)]
    found, _ = fit(cli, name, *said, *SHARED)
    expected, preparation = expected_of(case)
    assert found.preparation.names == preparation.names
    assert found.preparation.fills == preparation.fills
    assert found.model.best_params_ == expected.best_params_
    np.testing.assert_allclose(found.model.coef_, expected.coef_, rtol=0, atol=1e-8)
    assert "visit id" in found.preparation.dropped


def test_weights_are_those_of_the_column(cli, visits, visits_csv):
    drop = ["--drop", "ill", "--drop", "grade"]
    found, _ = fit(cli, visits_csv, "-t", "score", "--weights", "weight", *drop, *SHARED)
    expected, _ = in_memory(visits, ["score"], SingleIndexRegressorCV, "weight")
    np.testing.assert_allclose(found.model.coef_, expected.coef_, rtol=0, atol=1e-8)


@pytest.mark.parametrize("zero_based", [False, True])
def test_svmlight_files(cli, tmp_path, zero_based):
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.random((900, 12)) * (rng.random((900, 12)) < 0.4))
    y = (X @ np.r_[2.0, -1, 1, np.zeros(9)] + 0.3 * rng.normal(size=900) > 0.3).astype(int)
    dump_svmlight_file(X, y, str(tmp_path / "d.svm"), zero_based=zero_based)
    found, _ = fit(cli, "d.svm")
    expected = SingleIndexClassifierCV(n_atoms=[1, 2, 4], cv=HashKFold(3)).fit(chunk_arrays(X, y))
    np.testing.assert_allclose(found.model.coef_, expected.coef_, rtol=0, atol=1e-8)
    assert found.preparation.names[0] == ("x0" if zero_based else "x1")
    blocks, memory = (json.loads(cli("score", "m.sim", "d.svm", "--json", how)[1]) for how in HOW)
    assert blocks["scores"] == pytest.approx(memory["scores"])


HOW = ("--in-blocks", "--in-memory")


@pytest.mark.parametrize("case", CASES)
def test_predictions_and_scores_are_those_in_memory(cli, visits, visits_csv, case):
    target, drop, _ = CASES[case]
    said = [part for column in target for part in ("-t", column)]
    said += [part for column in drop for part in ("--drop", column)]
    fit(cli, visits_csv, *said, *SHARED)
    shown = ["--with", "visit id", "--with", "city", "--notes"]
    blocks, memory = (cli("predict", "m.sim", visits_csv, how, *shown)[1] for how in HOW)
    blocks, memory = (pd.read_csv(io.StringIO(text)) for text in (blocks, memory))
    pd.testing.assert_frame_equal(blocks, memory, rtol=1e-12)
    assert len(blocks) == 1000
    assert cli("predict", "m.sim", visits_csv, "--in-blocks", "-o", "p.parquet")[0] == 0
    pd.testing.assert_frame_equal(pd.read_parquet("p.parquet"), blocks[pd.read_parquet("p.parquet").columns])
    blocks, memory = (json.loads(cli("score", "m.sim", visits_csv, how, "--json")[1]) for how in HOW)
    assert blocks["scores"] == pytest.approx(memory["scores"])
    assert blocks["confusion"] == memory["confusion"]
    assert blocks["drift"]["gaps"] == memory["drift"]["gaps"]
    assert blocks["drift"]["index"][0] == pytest.approx(memory["drift"]["index"][0])


def test_rows_held_out_are_the_same_share_whatever_the_blocks(cli, visits, visits_csv):
    found, err = fit(
        cli, visits_csv, "-t", "ill", "--drop", "score", "--drop", "grade", *SHARED, "--holdout", "0.3"
    )
    places = places_of(0, 1000, 0)
    assert found.record["n_test"] == (places < 0.3).sum()
    assert found.record["n_rows"] == 1000 - found.record["n_test"]
    assert found.record["test_scores"]["AUC"] > 0.7
    assert "read in blocks of rows" in err
    assert "next: singleindex inspect m.sim" in err


def test_a_column_that_turns_to_text_is_read_again_as_text(cli, visits, tmp_path):
    late = visits.assign(ward=[*[1.0] * 300, *[2.0] * 200, *["ICU"] * 500])
    late.to_csv(tmp_path / "t.csv", index=False)
    found, err = fit(cli, "t.csv", "-t", "ill", "--drop", "score", "--drop", "grade", *SHARED)
    assert "read again, as text: 'ward'" in err
    assert found.preparation.categories["ward"] == ["1.0", "2.0", "ICU"]


def test_gaps_in_the_target(cli, visits, tmp_path):
    visits.assign(ill=visits["ill"].where(visits.index >= 40)).to_csv(tmp_path / "t.csv", index=False)
    said = ["t.csv", "-t", "ill", "--drop", "score", "--drop", "grade", *SHARED]
    code, _, err = cli("fit", *said, "--in-blocks", *FAST)
    assert code == ExitCode.DATA
    assert "missing in 40 of 1000 rows; add --drop-unlabelled" in err
    found, _ = fit(cli, *said, "--drop-unlabelled")
    assert found.record["n_rows"] == 960
    code, _, err = cli("score", "m.sim", "t.csv", "--in-blocks")
    assert code == ExitCode.DATA
    assert "missing in 40 of 1000 rows" in err
    blocks, memory = (
        json.loads(cli("score", "m.sim", "t.csv", how, "--json", "--drop-unlabelled")[1]) for how in HOW
    )
    assert blocks["scores"] == pytest.approx(memory["scores"])


def test_gaps_are_refused_as_in_memory(cli, visits_csv):
    said = ["fit", visits_csv, "-t", "ill", "--drop", "score", "--drop", "grade"]
    blocks, memory = (cli(*said, how) for how in HOW)
    assert blocks[0] == memory[0] == ExitCode.DATA
    assert "values are missing in 2 columns of 1000 rows" in blocks[2]
    assert blocks[2].splitlines()[-1] == memory[2].splitlines()[-1]


def test_what_blocks_cannot_do_is_told(cli, visits_csv, tmp_path):
    visits_csv.with_suffix(".xlsx").write_bytes(b"PK")
    code, _, err = cli("fit", "visits.xlsx", "-t", "ill", "--in-blocks")
    assert code == ExitCode.DATA
    assert "--in-memory" in err
    fit(cli, visits_csv, "-t", "ill", "--drop", "score", "--drop", "grade", *SHARED)
    code, _, err = cli("predict", "m.sim", visits_csv, "--in-blocks", "--explain")
    assert code == ExitCode.USAGE
    assert "held in memory" in err
    assert cli("fit", visits_csv, "-t", "ill", "--memory", "10MB")[0] == ExitCode.USAGE


# ---------------------------------------------------------------- samples


def test_a_sample_is_the_same_whatever_the_blocks(visits, visits_csv, monkeypatch):
    small = sample_rows(BlockTables([str(visits_csv)], ReadOptions()), 120, 0).frame
    monkeypatch.setattr(block_tables, "_BLOCK_BYTES", 1 << 20)
    large = sample_rows(BlockTables([str(visits_csv)], ReadOptions()), 120, 0)
    pd.testing.assert_frame_equal(small, large.frame)
    assert len(small) == 120
    assert "a random sample of 120 of 1,000 rows" in large.notes[-1]
    expected = np.sort(np.argsort(places_of(0, 1000, 0))[:120])
    assert small["visit id"].tolist() == visits["visit id"].iloc[expected].tolist()


def test_a_quick_look(cli, visits_csv):
    said = ["-t", "ill", "--drop", "score", "--drop", "grade", *SHARED, *FAST]
    code, out, err = cli("fit", visits_csv, *said, "--sample", "200", "--json")
    assert code == 0
    assert "a random sample of 200 of 1,000 rows" in err
    assert json.loads(out)["n_rows"] == 200
    code, _, err = cli("report", "model.sim", visits_csv)
    assert code == ExitCode.DATA
    assert "make it with the fit" in err


def test_places_are_as_good_as_random():
    places = places_of(0, 100_000, 0)
    np.testing.assert_allclose(np.histogram(places, 10, (0, 1))[0], 10_000, rtol=0.05)
    np.testing.assert_array_equal(places[500:600], places_of(500, 100, 0))
    folds = HashKFold(5).fold_of(None, 0, 100_000, 100_000)
    assert abs(np.corrcoef(places, folds)[0, 1]) < 0.02


def test_rows_of_a_sample_take_no_more_room_than_twice_their_number():
    sample = RowSample(50)
    for start in range(0, 10_000, 100):
        part = Table("t", matrix=np.arange(start, start + 100.0)[:, None])
        sample.add(places_of(start, 100, 0), part)
        assert sum(len(places) for places, _ in sample.parts) <= 150
    assert sample.table("t").n_rows == 50


# ---------------------------------------------------------------- memory


def test_files_are_read_in_blocks_where_they_would_not_fit(tmp_path, visits):
    path = tmp_path / "v.csv"
    visits.to_csv(path, index=False)
    need = need_of(str(path), "csv")
    assert not goes_by_blocks([str(path)], ReadOptions(), MemoryOptions(memory=need))
    assert goes_by_blocks([str(path)], ReadOptions(), MemoryOptions(memory=need - 1))
    assert goes_by_blocks([str(tmp_path / "*.csv")], ReadOptions(), MemoryOptions(memory=need - 1))
    assert not goes_by_blocks([str(path)], ReadOptions(), MemoryOptions(memory=1, in_blocks=False))
    assert goes_by_blocks([str(path)], ReadOptions(), MemoryOptions(memory=need), per_row=1)
    visits.to_parquet(tmp_path / "v.parquet")
    assert rows_in(str(tmp_path / "v.parquet"), "parquet", 0) == 1000
    assert rows_in(str(path), "csv", path.stat().st_size) == pytest.approx(1000, rel=0.05)
    with gzip.open(tmp_path / "v.csv.gz", "wb") as file:
        file.write(path.read_bytes())
    assert need_of(str(tmp_path / "v.csv.gz"), "csv") > need / 2


PEAK = """
import re, sys
from singleindex.cli.app import run
code = run(sys.argv[1:])
# Not by getrusage: that counts the program which started this one, too.
print(code, int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) >> 10)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts memory as Linux does")
def test_memory_does_not_grow_with_the_rows(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)

    def peak(n_rows):
        X = rng.standard_normal((n_rows, 6)).round(3)
        frame = pd.DataFrame(X, columns=list("abcdef")).assign(city=rng.choice(["Köln", "Ulm"], n_rows))
        frame["y"] = np.where(X[:, 0] + rng.normal(size=n_rows) > 0, "yes", "no")
        frame.to_csv(tmp_path / "t.csv", index=False)
        said = ["fit", str(tmp_path / "t.csv"), "-t", "y", "-o", str(tmp_path / "m.sim"), "-q", "--in-blocks"]
        command = [sys.executable, "-c", PEAK, *said, "--folds", "2", "--n-atoms", "2"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
        code, found = map(int, done.stdout.split()[-2:])
        assert code == 0
        return found

    few, many = peak(200_000), peak(600_000)
    assert many < 512  # what the help says is the least that is needed
    assert many - few < 60  # held whole, the further rows would take some 200


# ---------------------------------------------------------------- progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_hears_of_work_that_says_nothing(monkeypatch):
    monkeypatch.setattr(ProgressLine, "LIVE", 0.01)
    line = ProgressLine(Terminal(), "searching")
    line.write("\r[Name] reading 2 of at most 21 [##..] 5/10 rows\n")
    line.ended.wait = lambda seconds, left=[1, 1, 0]: not left.pop(0)
    line.tick()
    assert line.stream.getvalue().count("searching (0 s): reading 2 of at most 21 [##..] 5/10 rows") == 3


def test_elsewhere_lines_come_now_and_then():
    line = ProgressLine(io.StringIO(), "searching")
    line.write("[Name] fold traced 1/3")
    line.write("\n")
    assert line.stream.getvalue() == ""
    line.ended.wait = lambda seconds, left=[1, 0]: not left.pop(0)
    line.tick()
    assert line.stream.getvalue() == "searching (0 s): fold traced 1/3\n"
