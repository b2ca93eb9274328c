"""Files become tables, and tables the same numbers wherever they come from."""

import bz2
import codecs
import csv
import gzip
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file
from sklearn.preprocessing import OneHotEncoder

from singleindex.cli.messages import CliError
from singleindex.cli.tables import ReadOptions, guess_separator, read_csv, read_table
from singleindex.tables.columns import Choices, plan_columns
from singleindex.tables.errors import TableError
from singleindex.tables.preparation import from_record, prepare

OPTIONS = ReadOptions()


def write(tmp_path, name, text, encoding="utf-8"):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return str(path)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_are_found(tmp_path, separator):
    text = f'"a, b"{separator}c\n1{separator}2\n3{separator}4\n'
    frame = read_table(write(tmp_path, "t.csv", text), OPTIONS).frame
    assert frame.to_dict("list") == {"a, b": [1, 3], "c": [2, 4]}


def test_all_formats_give_the_same_frame(tmp_path, wide):
    wide.to_csv(tmp_path / "t.csv", index=False)
    wide.to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    wide.to_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((tmp_path / "t.csv").read_bytes()))
    for name in ("t.csv", "t.tsv", "t.parquet", "t.csv.gz"):
        pd.testing.assert_frame_equal(read_table(str(tmp_path / name), OPTIONS).frame, wide)


@pytest.mark.parametrize("zero_based", [True, False])
def test_svmlight_counts_columns_as_the_file_does(tmp_path, zero_based):
    X = np.eye(4)[:, :3] + 1
    dump_svmlight_file(X, np.arange(4), str(tmp_path / "t.svm"), zero_based=zero_based)
    table = read_table(str(tmp_path / "t.svm"), OPTIONS)
    np.testing.assert_array_equal(table.matrix.toarray(), X)
    assert table.one_based is not zero_based
    again = read_table(str(tmp_path / "t.svm"), OPTIONS, n_features=5, one_based=table.one_based)
    assert again.matrix.shape == (4, 5)


@pytest.mark.parametrize("kind", ["dense", "csr", "csc"])
def test_npz(tmp_path, kind):
    X, y = np.eye(4)[:, :3], np.arange(4)
    if kind == "dense":
        np.savez(tmp_path / "t.npz", X=X, y=y, feature_names=["a", "b", "c"])
    else:
        sparse.save_npz(tmp_path / "t.npz", sparse.csr_array(X).asformat(kind))
    table = read_table(str(tmp_path / "t.npz"), OPTIONS)
    found = table.matrix.toarray() if kind != "dense" else table.matrix
    np.testing.assert_array_equal(found, X)
    assert table.names == (["a", "b", "c"] if kind == "dense" else None)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("t.csv", b"", "is empty"),
        ("t.csv", b" \n\n", "is empty"),
        ("t.csv", codecs.BOM_UTF8, "is empty"),
        ("t.csv", codecs.BOM_UTF16_LE, "is empty"),
        ("t.csv", b"a,b\n", "a header but no rows"),
        ("t.csv", "a,b\n".encode("utf-16"), "a header but no rows"),
        ("t.csv", "a,b\n1,2\n".encode("utf-16-le"), "NUL characters; try --encoding utf-16-le"),
        ("t.csv", "a,b\n1,2\n".encode("utf-16")[:-1], r"is not utf-16 \(line 2\); name another"),
        ("t.csv", b"a,b\n1,\x002\n", "NUL characters"),
        ("t.svm", b"# nothing\n", "has no rows"),
        ("t.csv", b"a,b\n\xe9,2\n", "--encoding latin-1"),
        ("t.csv", b"a,b\n1,2\n1,2,3,4\n", "not a table"),
        ("t.parquet", b"no parquet", "not a Parquet file"),
        ("t.npz", b"no archive", "not an .npz file"),
        ("t.svm", b"1 a:b\n", "not an svmlight file"),
        ("t.csv.gz", b"no archive", "cannot be unpacked"),
        ("t.xls", b"PK", "save it as .xlsx or CSV"),
        ("t.xlsx", b"PK", "not an Excel file"),
        ("t.what", b"PK", "--format"),
    ],
)  # fmt: skip
def test_bad_files_are_told_in_words(tmp_path, name, content, says):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(CliError, match=says):
        read_table(str(path), OPTIONS)


@pytest.mark.parametrize(
    ("written", "named"),
    [
        ("utf-8", "utf-8"), ("utf-8-sig", "utf-8"), ("utf-16", "utf-8"), ("utf-32", "utf-8"),
        ("utf-16", "utf-16"), ("utf-16-le", "utf-16-le"), ("latin-1", "latin-1"), ("cp1252", "cp1252"),
    ],
)  # fmt: skip
def test_encodings(tmp_path, written, named):
    path = write(tmp_path, "t.csv", "é,ü\n1,ß\n2,x\n", written)
    frame = read_table(path, ReadOptions(encoding=named)).frame
    assert frame.to_dict("list") == {"é": [1, 2], "ü": ["ß", "x"]}


def test_marks_of_an_encoding_are_no_part_of_a_name(tmp_path):
    path = write(tmp_path, "t.csv", "\ufeffé,b\n1,2\n", "utf-16-le")
    assert list(read_table(path, ReadOptions(encoding="utf-16-le")).frame) == ["é", "b"]


def test_an_array_without_rows(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.empty((0, 3)), y=[])
    with pytest.raises(CliError, match="has no rows"):
        read_table(str(tmp_path / "t.npz"), OPTIONS)


# ---------------------------------------------------------------- wide tables


def wide_text(n_columns, separator=","):
    names = [f"ENSG{j:011d}" for j in range(n_columns)]
    rows = [[f"{i + j % 7 + 0.25}" for j in range(n_columns)] for i in range(4)]
    return "\n".join(separator.join(line) for line in [names, *rows]) + "\n"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_headers_longer_than_the_csv_module_allows(separator):
    text = wide_text(9_000, separator)
    assert len(text.splitlines()[0]) > csv.field_size_limit()
    frame = read_csv(text.encode(), "text", "csv", OPTIONS).frame
    assert frame.shape == (4, 9_000)
    assert frame.iloc[2, 8].item() == 3.25
    assert csv.field_size_limit() == 131_072


def calls_to_prepare(n_columns):
    """Return how many calls reading and preparing a table takes: work that does not depend on the machine."""
    count = 0

    def add(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    text = wide_text(n_columns).encode()
    sys.setprofile(add)
    try:
        frame = read_csv(text, "text", "csv", OPTIONS).frame
        prepare(frame, Choices(), "median").apply(frame, impute=True)
    finally:
        sys.setprofile(None)
    return count


def test_work_for_wide_tables_is_linear_and_little():
    calls_to_prepare(10)  # what is imported at first
    few, many = calls_to_prepare(500), calls_to_prepare(2_000)
    assert many < 4.5 * few
    assert many < 500 * 2_000


def test_names_that_differ_by_blanks_stay_apart():
    table = read_csv(b"a ,a,a.1\n1,2,3\n4,5,6\n", "text", "csv", OPTIONS)
    assert table.frame.to_dict("list") == {"a": [1, 4], "a.1": [2, 5], "a.1.1": [3, 6]}
    assert "'a' is there more than once" in table.notes[0]


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(CliError, match="there is no file"):
        read_table(str(tmp_path / "t.csv"), OPTIONS)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(CliError, match="is a folder"):
        read_table(str(tmp_path / "folder.csv"), OPTIONS)


def test_object_arrays_are_not_unpickled(tmp_path):
    np.savez(tmp_path / "t.npz", X=np.array([[1, "a"]], dtype=object))
    with pytest.raises(CliError, match="plain arrays"):
        read_table(str(tmp_path / "t.npz"), OPTIONS)


@given(st.text(alphabet='ab1,;\t|"\n €-.', min_size=1, max_size=60))
def test_any_text_is_a_table_or_a_clear_error(text):
    try:
        table = read_csv(text.encode(), "text", "csv", OPTIONS)
    except CliError:
        return
    assert all(isinstance(name, str) for name in table.frame.columns)
    assert guess_separator(text) in ",;\t|"


# ---------------------------------------------------------------- what columns are


def test_the_messy_table_is_understood(messy):
    plan = plan_columns(messy.drop(columns=["class"]), Choices())
    assert plan.kinds == {
        "naïve âge": "number", "dose": "number", "ville": "category", "zip": "category",
        "Ergebnis €": "number",
    }  # fmt: skip
    assert set(plan.dropped) == {"Patient ID", "name, full", "Datum", "constant"}
    assert "identifier" in plan.dropped["Patient ID"]
    assert "date" in plan.dropped["Datum"]


def test_codes_keep_their_leading_zeros(tmp_path):
    frame = read_table(write(tmp_path, "t.csv", "zip,n\n00731,1\n10115,2\n00731,3\n"), OPTIONS).frame
    assert frame["zip"].tolist() == ["00731", "10115", "00731"]


@pytest.mark.parametrize("row", [0, 150, 250, 999])
def test_codes_anywhere_in_a_column_are_seen(row):
    values = ["731"] * 1000
    values[row] = "007"
    text = "zip,n,x\n" + "".join(f"{value},{i},0.5\n" for i, value in enumerate(values))
    frame = read_csv(text.encode(), "text", "csv", OPTIONS).frame
    assert frame["zip"].tolist() == values
    assert [frame[name].dtype.kind for name in ("n", "x")] == ["i", "f"]


@pytest.mark.parametrize(
    ("values", "are_codes"),
    [
        (["1", "07"], True), (["1", " 07 "], True), (["1", '"07"'], True), (["07", ""], True),
        (["0", "10"], False), (["0.07", "1"], False), (["-07", "1"], False), (["07", "1.5"], False),
        (["07", "1e3"], False),
    ],
)  # fmt: skip
def test_what_codes_are(values, are_codes):
    text = "n,a,b\n" + "".join(f"1,{value},2\n" for value in values)
    column = read_csv(text.encode(), "text", "csv", OPTIONS).frame["a"]
    assert pd.api.types.is_numeric_dtype(column) == (not are_codes)


@pytest.mark.parametrize(
    ("name", "values", "left_out"),
    [
        ("id", [5, 3, 9, 1], True),
        ("customerId", [5, 3, 9, 1], True),
        ("row", [1, 2, 3, 4], True),
        ("count", [1, 2, 3, 4], True),  # the whole numbers of a stretch, each once
        ("income", [5, 3, 9, 1], False),
        ("id", [5, 3, 5, 1], False),
        ("id", [0.5, 3, 9, 1], False),
        ("valid", [5, 3, 9, 1], False),
    ],
)
def test_identifiers(name, values, left_out):
    frame = pd.DataFrame({name: values, "x": [0.1, 0.2, 0.2, 0.1]})
    assert (name in plan_columns(frame, Choices()).dropped) == left_out
    assert name in plan_columns(frame, Choices(keep=(name,))).kinds


def test_slips_in_numbers_are_pointed_at():
    frame = pd.DataFrame({"x": ["1.5"] * 9 + ["n.d."]})
    with pytest.raises(TableError, match=r"1 of 10 values: 'n\.d\.'.*--na 'n\.d\.'"):
        plan_columns(frame, Choices())
    frame = pd.DataFrame({"x": ["1.5"] * 9 + ["1,5"]})
    with pytest.raises(TableError, match="--decimal ,"):
        plan_columns(frame, Choices())


def test_nothing_left_is_an_error():
    with pytest.raises(TableError, match="no column is left"):
        plan_columns(pd.DataFrame({"a": [1, 1, 1]}), Choices())


def test_a_wrong_name_gets_a_suggestion(messy):
    with pytest.raises(TableError, match="did you mean 'dose'"):
        plan_columns(messy, Choices(drop=("dosis",)))


# ---------------------------------------------------------------- preparation


def prepared(messy, **choices):
    features = messy.drop(columns=["Ergebnis €", "class"])
    return features, prepare(features, Choices(**choices), "median")


def test_encoding_is_that_of_scikit_learn(messy):
    features, preparation = prepared(messy)
    found = preparation.apply(features, impute=True)
    text = features[["ville", "zip"]].fillna({"ville": features["ville"].mode()[0]})
    expected = OneHotEncoder(sparse_output=False).fit_transform(text)
    np.testing.assert_array_equal(found[[n for n in found if "=" in n]].to_numpy(), expected)
    assert list(found) == preparation.names
    assert found["dose"][3] == messy["dose"].median()


def test_order_of_rows_and_columns_does_not_matter(messy):
    features, preparation = prepared(messy)
    whole = preparation.apply(features, impute=True)
    turned = preparation.apply(features.iloc[::-1, ::-1].assign(extra=1), impute=True)
    pd.testing.assert_frame_equal(turned.iloc[::-1], whole)


def test_two_values_make_one_feature():
    frame = pd.DataFrame({"sex": ["f", "m", "m", "f"], "flag": [True, False, False, True]})
    found = prepare(frame, Choices(), None).apply(frame, impute=False)
    assert found.to_dict("list") == {"sex=m": [0, 1, 1, 0], "flag=True": [1, 0, 0, 1]}


def test_new_categories_are_zero_and_told(messy):
    features, preparation = prepared(messy)
    told = []
    found = preparation.apply(features.head(2).assign(ville="Ürümqi"), impute=True, say=told.append)
    assert not found[[n for n in found if n.startswith("ville")]].to_numpy().any()
    assert "in 2 rows: 'Ürümqi'" in told[0]


def test_missing_values_are_counted(messy):
    with pytest.raises(TableError, match="4 values are missing in 2 columns of 90 rows: 'dose' 3, 'ville' 1"):
        prepare(messy, Choices(), None)


@pytest.mark.parametrize("how", ["median", "mean", "most-frequent"])
def test_imputation_uses_training_rows(how):
    frame = pd.DataFrame({"x": [1.0, 1.0, 2.0, 6.0, np.nan]})
    filled = prepare(frame, Choices(), how).apply(pd.DataFrame({"x": [np.nan]}), impute=True)["x"][0]
    assert filled == {"median": 1.5, "mean": 2.5, "most-frequent": 1.0}[how]


def test_dates_as_days():
    frame = pd.DataFrame({"d": ["1970-01-02", "1970-01-11", "1970-01-02"]})
    found = prepare(frame, Choices(dates="days"), None).apply(frame, impute=False)
    assert found["d"].tolist() == [1, 10, 1]


def test_rare_categories_are_as_unknown_ones():
    frame = pd.DataFrame({"c": ["a"] * 5 + ["b"] * 4 + ["c"] * 3 + ["d"]})
    preparation = prepare(frame, Choices(max_categories=3), None)
    assert preparation.names == ["c=a", "c=b", "c=c"]


def test_the_record_makes_the_same_preparation(messy):
    _, preparation = prepared(messy)
    assert from_record(preparation.as_record()) == preparation


def test_features_of_the_same_name_are_refused():
    frame = pd.DataFrame({"a": ["x", "y", "z", "x"], "a=x": [1.5, 2.0, 2.5, 1.0]})
    with pytest.raises(TableError, match="two features would be called 'a=x'"):
        prepare(frame, Choices(), None)


def test_byte_order_mark_and_blanks_in_names():
    table = read_csv("\ufeffa , b\n1,2\n2,3\n".encode(), "text", "csv", OPTIONS)
    assert list(table.frame.columns) == ["a", "b"]


def test_names_that_appear_twice_are_noted():
    table = read_csv(b"a,a\n1,2\n3,4\n", "text", "csv", OPTIONS)
    assert "more than once" in table.notes[0]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a;b\n1,5;2\n3;4,25\n", [[1.5, 2.0], [3.0, 4.25]]),
        ("a;b\n1.5;2\n3;4.25\n", [[1.5, 2.0], [3.0, 4.25]]),
        ("a\tb\n-1,5e2\t2\n3\t4\n", [[-150.0, 2.0], [3.0, 4.0]]),
    ],
)
def test_decimal_commas_are_recognised(text, values):
    table = read_csv(text.encode(), "text", "csv", OPTIONS)
    assert table.frame.to_numpy().tolist() == values


def test_columns_without_weight_need_not_be_there(messy):
    features, preparation = prepared(messy)
    needed = {"dose", "ville"}
    whole = preparation.apply(features, impute=True)
    part = preparation.apply(features[["ville", "dose"]], impute=True, needed=needed)
    shown = [name for name in whole if name == "dose" or name.startswith("ville")]
    pd.testing.assert_frame_equal(part[shown], whole[shown])
    assert list(part) == list(whole)
    with pytest.raises(TableError, match="1 of the 2 columns that the model needs are not there: 'dose'"):
        preparation.apply(features[["ville"]], impute=True, needed=needed)


def test_infinite_values_are_pointed_at():
    frame = pd.DataFrame({"x": [1.0, np.inf, 2.0, 0.5]})
    with pytest.raises(TableError, match="'x' holds 1 infinite values; --na inf"):
        prepare(frame, Choices(), None)


def test_typed_columns_of_parquet(tmp_path):
    frame = pd.DataFrame({
        "whole": pd.array([1, None, 3], dtype="Int64"), "none": pd.array([None] * 3, dtype="Int64"),
        "kind": pd.Categorical(["a", "b", "a"]), "when": pd.date_range("2020", periods=3, tz="UTC"),
        "lasted": pd.to_timedelta([12, 24, 36], unit="h"), "price": [Decimal("1.5"), Decimal("2"), None],
        "list": [[1, 2]] * 3, "switch": pd.array([True, None, False], dtype="boolean"),
    })  # fmt: skip
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(str(tmp_path / "t.parquet"), OPTIONS)
    assert table.notes == ["left out 'list': lists, records or bytes in place of single values"]
    assert table.frame["lasted"].tolist() == [0.5, 1.0, 1.5]
    plan = plan_columns(table.frame, Choices(keep=("whole", "lasted")))
    assert plan.kinds == {
        "whole": "number", "kind": "category", "lasted": "number", "price": "number", "switch": "category",
    }  # fmt: skip
    assert prepare(table.frame, Choices(), "median").apply(table.frame, impute=True).notna().to_numpy().all()


# ---------------------------------------------------------------- files that are not what they seem


def npz(path, **arrays):
    np.savez_compressed(path, **arrays)
    return str(path)


SPARSE = {"data": np.ones(2), "indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]), "shape": [2, 2]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"indices": np.array([0, 10**6])}, "not a sparse matrix that can be used"),
        ({"indices": np.array([0, -1])}, "not a sparse matrix that can be used"),
        ({"indptr": np.array([0, 10**9, 2])}, "not a sparse matrix that can be used"),
        ({"indptr": np.array([0, 1])}, "not a sparse matrix that can be used"),
        ({"shape": [2, 10**12]}, r"shape \(2, 1000000000000\).*SINGLEINDEX_MAX_BYTES=8000000000000"),
        ({"shape": [10**12, 2]}, "not a sparse matrix that can be used"),
        ({"shape": [10**12, 2], "format": b"csc"}, "SINGLEINDEX_MAX_BYTES=8000000000000"),
        ({"shape": 2}, "not a sparse matrix that can be used"),
        ({"data": np.ones((2, 1, 1))}, "not a sparse matrix that can be used"),
        ({"feature_names": np.array(["a"])}, "a name for each of 2 columns"),
    ],
)
def test_sparse_matrices_are_checked(tmp_path, change, message):
    read_table(npz(tmp_path / "fine.npz", **SPARSE), OPTIONS)
    with pytest.raises(CliError, match=message):
        read_table(npz(tmp_path / "bad.npz", **(SPARSE | change)), OPTIONS)


def test_an_svmlight_file_of_too_many_columns_is_refused(tmp_path):
    path = tmp_path / "wide.svm"
    path.write_text("1 2000000000:1\n0 1:2\n")
    with pytest.raises(CliError, match=r"has 2000000001 columns.*SINGLEINDEX_MAX_BYTES"):
        read_table(str(path), OPTIONS)
    path.write_text("1 99999999999999:1\n0 1:2\n")
    with pytest.raises(CliError, match="not an svmlight file"):
        read_table(str(path), OPTIONS)


def test_files_that_would_not_fit_in_memory_are_refused(tmp_path, monkeypatch):
    text = b"a,y\n" + b"0,0\n" * 500_000
    packed = {".gz": gzip.compress(text), ".bz2": bz2.compress(text)}
    paths = [tmp_path / f"table.csv{suffix}" for suffix in packed]
    for path, content in zip(paths, packed.values(), strict=True):
        path.write_bytes(content)
    paths.append(npz(tmp_path / "table.npz", X=np.zeros((500_000, 1))))
    monkeypatch.setenv("SINGLEINDEX_MAX_BYTES", "1000000")
    for path in paths:
        with pytest.raises(CliError, match=r"table.* SINGLEINDEX_MAX_BYTES"):
            read_table(str(path), OPTIONS)
    monkeypatch.setenv("SINGLEINDEX_MAX_BYTES", "10000000")
    assert [read_table(str(path), OPTIONS).n_rows for path in paths] == [500_000] * 3
