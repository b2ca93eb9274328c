"""What can be wrong with a chunk, and that the error names it."""

import pickle
import threading

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from singleindex import SingleIndexClassifier, SingleIndexClassifierCV, SingleIndexRegressor
from singleindex.design import ChunkError, chunk_arrays, read_chunks
from singleindex.solvers import OnePass

N, D = 500, 4


def make_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D))
    return X, X[:, 0] + 0.1 * rng.standard_normal(N)


@pytest.fixture
def parquet(tmp_path):
    """Write rows, or what `change` makes of their table, and return the path."""
    pa = pytest.importorskip("pyarrow", reason="pip install 'singleindex[files]'")
    import pyarrow.parquet as pq

    def write(name="rows.parquet", change=lambda columns: columns):
        X, y = make_rows()
        columns = change({**{f"x{j}": X[:, j].copy() for j in range(D)}, "y": y})
        pq.write_table(pa.table(columns), tmp_path / name, row_group_size=100)
        return tmp_path / name

    return write


def changed(column, row, value):
    def change(columns):
        columns[column][row] = value
        return columns

    return change


def fit(data, **settings):
    return SingleIndexRegressor(**settings).fit(data)


# ---------------------------------------------------------------- values


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bad_number_in_a_parquet_file(parquet, bad):
    data = read_chunks(parquet(change=changed("x2", 333, bad)), "y", chunk_rows=100)
    with pytest.raises(ChunkError, match=r"rows\.parquet, rows 300 to 399: X holds NaN .*row 33, column 2"):
        fit(data)


def test_a_bad_number_in_sparse_rows():
    X, y = make_rows()
    X[np.abs(X) < 0.5] = 0
    X[250, 1] = np.nan
    data = chunk_arrays(sparse.csr_array(X), y, chunk_rows=100)
    with pytest.raises(ChunkError, match=r"chunk 2 \(rows 200 to 299\): X holds NaN .*row 50, column 1"):
        fit(data)


def test_missing_values_in_a_table(parquet):
    def drop(columns):
        columns["x1"] = [None if i == 7 else value for i, value in enumerate(columns["x1"])]
        return columns

    data = read_chunks(parquet(change=drop), "y", chunk_rows=100)
    with pytest.raises(ChunkError, match=r"rows 0 to 99: column 'x1' has no value in 1 of its rows"):
        fit(data)


def test_a_bad_y_and_bad_weights(parquet):
    data = read_chunks(parquet(change=changed("y", 120, np.nan)), "y", chunk_rows=100)
    with pytest.raises(ChunkError, match="rows 100 to 199: y holds NaN"):
        fit(data)
    X, y = make_rows()
    for bad in (-1.0, np.nan):
        weight = np.ones(N)
        weight[480] = bad
        with pytest.raises(ChunkError, match=r"chunk 4 \(rows 400 to 499\): sample weights"):
            fit(chunk_arrays(X, y, weight, chunk_rows=100))


def test_data_that_change_while_they_are_read(tmp_path):
    X, y = make_rows()
    np.save(tmp_path / "X.npy", X)
    data = read_chunks(tmp_path / "X.npy", (y > 0).astype(int), chunk_rows=100)
    model = SingleIndexClassifier(max_iter=5, tol=0)
    original, readings = data.reader.chunks, []

    def spoiled():
        readings.append(None)
        for number, block in enumerate(original()):
            if len(readings) == 4 and number == 2:
                block.X[0, 1] = np.nan
            yield block

    data.reader.chunks = spoiled
    with pytest.raises(ChunkError, match=r"X\.npy, rows 200 to 299: X holds NaN"):
        model.fit(data)
    assert not hasattr(model, "coef_")  # nothing half-fitted


# ---------------------------------------------------------------- files


def test_a_truncated_parquet_file(parquet):
    path = parquet()
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ChunkError, match=r"rows\.parquet: cannot be read .* cut off, or still being written"):
        read_chunks(path, "y")


def test_a_parquet_file_that_is_being_written(parquet, tmp_path):
    parquet("part-0.parquet")
    half = tmp_path / "part-1.parquet"
    half.write_bytes(b"PAR1" + b"\0" * 1000)
    with pytest.raises(ChunkError, match=r"part-1\.parquet: cannot be read .* wait until it is complete"):
        read_chunks(tmp_path, "y")


def test_a_parquet_file_with_damaged_pages(parquet):
    path = parquet()
    content = bytearray(path.read_bytes())
    content[100:2000] = b"\xff" * 1900
    path.write_bytes(bytes(content))
    data = read_chunks(path, "y", chunk_rows=100)
    with pytest.raises(ChunkError, match=r"rows\.parquet, rows \d+ and on: cannot be read"):
        fit(data)


def test_a_file_that_is_truncated_between_readings(tmp_path):
    X, y = make_rows()
    np.save(tmp_path / "X.npy", X)
    data = read_chunks(tmp_path / "X.npy", y, chunk_rows=100)
    content = (tmp_path / "X.npy").read_bytes()
    (tmp_path / "X.npy").write_bytes(content[: len(content) // 2])
    with pytest.raises(ChunkError, match=r"X\.npy: the file has changed since read_chunks was called"):
        fit(data)
    with pytest.raises(ChunkError, match=r"X\.npy, rows 200 to 299: the file ends before them"):
        list(data.reader.chunks())  # as it would be told where nobody had noticed


def test_what_is_no_array(tmp_path):
    (tmp_path / "X.npy").write_bytes(b"not an array")
    with pytest.raises(ChunkError, match=r"X\.npy: it is no \.npy file"):
        read_chunks(tmp_path / "X.npy", np.zeros(3))
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    with pytest.raises(ChunkError, match=r"cube\.npy: it must hold numbers in two dimensions"):
        read_chunks(tmp_path / "cube.npy", np.zeros(2))
    np.save(tmp_path / "code.npy", np.array([[print]], dtype=object), allow_pickle=True)
    with pytest.raises(ChunkError, match=r"code\.npy"):
        read_chunks(tmp_path / "code.npy", np.zeros(1))


def test_lines_that_are_no_numbers(tmp_path):
    pytest.importorskip("pyarrow", reason="pip install 'singleindex[files]'")
    X, y = make_rows()
    lines = ["x0,x1,y", *(f"{a},{b},{c}" for a, b, c in zip(X[:, 0], X[:, 1], y, strict=True))]
    lines[400] = "1.0,many,2.0"
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    with pytest.raises(ChunkError, match=r"rows\.csv, rows \d+ and on: cannot be read .*many"):
        fit(read_chunks(tmp_path / "rows.csv", "y", chunk_rows=50))
    lines[400] = "1.0,2.0"
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    with pytest.raises(ChunkError, match=r"rows\.csv, rows \d+ and on: cannot be read .*columns"):
        fit(read_chunks(tmp_path / "rows.csv", "y", chunk_rows=50))


def test_lines_that_are_not_svmlight(tmp_path):
    lines = [f"{i % 2} 1:{i}.5 3:1" for i in range(200)]
    lines[150] = "0 one:2"
    (tmp_path / "rows.svm").write_text("\n".join(lines) + "\n")
    with pytest.raises(ChunkError, match=r"rows\.svm, chunk \d+ \(bytes \d+ to \d+\): not in the svmlight"):
        read_chunks(tmp_path / "rows.svm", chunk_rows=20)


# ---------------------------------------------------------------- columns


def test_files_with_other_columns(parquet, tmp_path):
    def without(columns):
        del columns["x3"]
        return columns

    def with_another(columns):
        return {**columns, "z": np.zeros(N)}

    first = parquet("a.parquet")
    with pytest.raises(ChunkError, match=r"b\.parquet: it has no column 'x3', which .*a\.parquet has"):
        read_chunks([first, parquet("b.parquet", without)], "y")
    with pytest.raises(ChunkError, match=r"c\.parquet: it has a column 'z' that .*a\.parquet has not"):
        read_chunks([first, parquet("c.parquet", with_another)], "y")
    both = read_chunks([first, tmp_path / "c.parquet"], "y", features=["x0", "x1"])
    assert both.shape == (2 * N, 2)
    assert fit(both).feature_names_in_.tolist() == ["x0", "x1"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_names_that_are_there_twice(suffix, tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pip install 'singleindex[files]'")
    X, y = make_rows()
    path = tmp_path / f"rows.{suffix}"
    rows = pa.Table.from_arrays([*map(pa.array, X.T), pa.array(y)], names=["a", "b", "a", "c", "y"])
    pa.csv.write_csv(rows, path) if suffix == "csv" else pa.parquet.write_table(rows, path)
    for settings in ({}, {"features": ["a", "b"]}, {"target": "a"}, {"sample_weight": "a"}):
        with pytest.raises(ChunkError, match=r"rows\.\w+: the column 'a' is there 2 times; give each"):
            read_chunks(path, **{"target": "y", **settings})
    with pytest.raises(ChunkError, match="features=: the column 'b' is there 2 times"):
        read_chunks(path, "y", features=["b", "c", "b"])
    data = read_chunks(path, "y", features=["b", "c"])  # which are clear
    np.testing.assert_allclose(next(iter(data)).X[0], X[0, [1, 3]])


@pytest.mark.parametrize("chunk_rows", [None, 2])
def test_names_that_fill_more_than_a_chunk(chunk_rows, tmp_path):
    pytest.importorskip("pyarrow", reason="pip install 'singleindex[files]'")
    names = [f"{j:04d}" + "g" * 4000 for j in range(2500)]  # 10 MB in one line
    rows = [",".join(map(str, range(i, i + 2501))) for i in range(5)]
    (tmp_path / "genes.csv").write_text("\n".join([",".join([*names, "y"]), *rows]))
    data = read_chunks(tmp_path / "genes.csv", "y", chunk_rows=chunk_rows)
    assert data.feature_names == names
    X = np.concatenate([block.X for block in data])
    np.testing.assert_array_equal(X, np.add.outer(np.arange(5.0), np.arange(2500)))


def test_tables_of_many_columns_are_read_many_rows_at_a_time(parquet, tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pip install 'singleindex[files]'")
    X = np.random.default_rng(0).standard_normal((130, 20_000))
    rows = pa.table({**{f"x{j}": x for j, x in enumerate(X.T)}, "y": X[:, 0]})
    pa.parquet.write_table(rows, tmp_path / "wide.parquet")
    lengths = [len(block) for block in read_chunks(tmp_path / "wide.parquet", "y")]
    assert lengths == [128, 2]


class NeverSearched(list):
    """Names that must not be looked through for each of them: with 100,000 that does not end."""

    def __contains__(self, name):
        raise AssertionError("all names are looked through")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_names_are_not_searched_for_each_column(suffix, tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pip install 'singleindex[files]'")
    X, y = make_rows()
    rows, path = pa.table({**{f"x{j}": X[:, j] for j in range(D)}, "y": y}), tmp_path / f"rows.{suffix}"
    pa.csv.write_csv(rows, path) if suffix == "csv" else pa.parquet.write_table(rows, path)
    data = read_chunks(path, "y")
    data.reader.feature_names = NeverSearched(data.reader.feature_names)
    assert fit(data).coef_.shape == (D,)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("empty", [0, 1])
def test_a_file_without_rows_among_others(suffix, empty, tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pip install 'singleindex[files]'")
    X, y = make_rows()
    rows = pa.table({**{f"x{j}": X[:, j] for j in range(D)}, "y": y})
    paths = [tmp_path / f"{k}.{suffix}" for k in range(2)]
    for k, path in enumerate(paths):
        part = rows.slice(0, 0 if k == empty else N)
        pa.csv.write_csv(part, path) if suffix == "csv" else pa.parquet.write_table(part, path)
    np.testing.assert_allclose(fit(read_chunks(paths, "y")).coef_, fit(chunk_arrays(X, y)).coef_)
    with pytest.raises(ChunkError, match="the data have no rows"):
        fit(read_chunks(paths[empty], "y"))


def test_svmlight_files_of_which_the_first_is_empty(tmp_path):
    (tmp_path / "a.svm").write_text("")
    (tmp_path / "b.svm").write_text("".join(f"{i % 2} 1:{i}.5 3:1\n" for i in range(200)))
    data = read_chunks([tmp_path / "a.svm", tmp_path / "b.svm"], chunk_rows=50)
    assert [len(block) > 30 for block in data] == [True] * len(list(data))


def test_npy_files_with_other_columns(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((5, 3)))
    np.save(tmp_path / "b.npy", np.zeros((5, 2)))
    with pytest.raises(ChunkError, match=r"b\.npy: it has 2 columns where .*a\.npy has 3"):
        read_chunks([tmp_path / "a.npy", tmp_path / "b.npy"], np.zeros(10))


def test_columns_that_hold_text(parquet):
    path = parquet(change=lambda columns: {**columns, "city": ["Bonn"] * N})
    with pytest.raises(ChunkError, match=r"column 'city' holds string, not numbers; encode it first"):
        read_chunks(path, "y")


def test_names_that_are_not_there(parquet):
    path = parquet()
    with pytest.raises(ChunkError, match=r"it has no column 'target'; it has x0, x1"):
        read_chunks(path, "target")
    with pytest.raises(ValueError, match="target is missing"):
        SingleIndexRegressor().fit(read_chunks(path))
    with pytest.raises(FileNotFoundError, match=r"no file .*nowhere\.parquet"):
        read_chunks(path.with_name("nowhere.parquet"), "y")
    (path.parent / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="no file of a known format"):
        read_chunks(path.parent / "empty", "y")
    with pytest.raises(ValueError, match="file_format"):
        read_chunks(__file__, "y")


def test_settings_that_do_not_fit(tmp_path):
    X, y = make_rows()
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(ValueError, match="target has 3 rows where X has 500"):
        read_chunks(tmp_path / "X.npy", np.zeros(3))
    for wrong in ({"features": ["a"]}, {"n_features": 3}, {"chunk_rows": 0}, {"file_format": "xls"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            read_chunks(tmp_path / "X.npy", y, **wrong)
    data = chunk_arrays(X, y)
    with pytest.raises(ValueError, match="brings its own y"):
        SingleIndexRegressor().fit(data, y)
    with pytest.raises(ValueError, match="link_cv splits rows"):
        SingleIndexRegressor(link_cv=5).fit(data)
    with pytest.raises(ValueError, match="brings its own y"):
        SingleIndexClassifierCV().fit(data, y)
    with pytest.raises(ValueError, match="solver must be 'auto', one of"):
        SingleIndexRegressor(solver="sgd").fit(X, y)
    with pytest.raises(
        ValueError, match="n_bins must be an integer of at least 2, or None for an exact link"
    ):
        SingleIndexRegressor(solver=OnePass(n_bins=1)).fit(X, y)
    with pytest.raises(ValueError, match="y is constant"):
        SingleIndexRegressor().fit(chunk_arrays(X, np.ones(N)))
    with pytest.raises(ValueError, match="Every column of X is constant"):
        SingleIndexRegressor().fit(chunk_arrays(np.ones((N, 2)), y))
    with pytest.raises(ValueError, match="only one class"):
        SingleIndexClassifier().fit(chunk_arrays(X, np.ones(N, dtype=int)))
    with pytest.raises(ValueError, match="use SingleIndexRegressor"):
        SingleIndexClassifier().fit(chunk_arrays(np.tile(X, (4, 1)), np.tile(y, 4) + np.arange(4 * N)))


# ---------------------------------------------------------------- reading ahead


def test_no_thread_is_left_behind():
    X, y = make_rows()
    before = threading.active_count()
    for block in chunk_arrays(X, y, chunk_rows=10):
        assert len(block) == 10
        break
    X[499, 0] = np.nan
    with pytest.raises(ChunkError, match="chunk 49"):
        fit(chunk_arrays(X, y, chunk_rows=10))
    assert threading.active_count() == before


def test_errors_travel_between_processes():
    error = pickle.loads(pickle.dumps(ChunkError("chunk 3: bad")))
    assert isinstance(error, ChunkError)
    assert str(error) == "chunk 3: bad"


@pytest.mark.parametrize("chunk_rows", [1, 2, 7])
def test_lines_longer_than_a_chunk_are_read_once(tmp_path, chunk_rows):
    rng = np.random.default_rng(0)
    X = sparse.random(40, 60, density=0.3, random_state=0).toarray()
    X[5], X[6] = 1.5, 0.0  # a line that is much longer than others, and one without an entry
    y = rng.integers(0, 2, 40)
    dump_svmlight_file(X, y, str(tmp_path / "rows.svm"), zero_based=False)
    blocks = list(read_chunks(tmp_path / "rows.svm", chunk_rows=chunk_rows))
    np.testing.assert_array_equal(np.concatenate([block.y for block in blocks]), y)
    read = sparse.vstack([block.X for block in blocks]).toarray()
    np.testing.assert_allclose(read, X, atol=1e-12)


def test_arrays_that_are_no_rows_of_numbers():
    with pytest.raises(ValueError, match="y one or two, got 2 and 3"):
        chunk_arrays(np.ones((4, 2)), np.ones((4, 1, 1)))
    with pytest.raises(ValueError, match="real numbers"):
        chunk_arrays(np.ones((4, 2)), np.ones(4) * 1j)
