"""Files that change while they are read, and readings that are interrupted."""

import os
import threading

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from singleindex import SingleIndexRegressor
from singleindex.design import ChunkError, chunk_arrays, read_chunks
from singleindex.design.sweep import Sweep

N, D = 500, 4


def make_rows(n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    return X, X[:, 0] + 0.1 * rng.standard_normal(n)


def as_npy(X, y, folder):
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    return folder / "X.npy", folder / "y.npy"


def as_turned_npy(X, y, folder):
    return as_npy(np.asfortranarray(X), y, folder)


def as_svmlight(X, y, folder):
    dump_svmlight_file(X, y, str(folder / "rows.svm"))
    return (folder / "rows.svm",)


def as_table(X, y):
    pa = pytest.importorskip("pyarrow", reason="pip install 'singleindex[files]'")
    return pa.table({**{f"x{j}": X[:, j] for j in range(D)}, "y": y})


def as_parquet(X, y, folder):
    pq = pytest.importorskip("pyarrow.parquet", reason="pip install 'singleindex[files]'")
    pq.write_table(as_table(X, y), folder / "rows.parquet", row_group_size=100)
    return folder / "rows.parquet", "y"


def as_csv(X, y, folder):
    csv = pytest.importorskip("pyarrow.csv", reason="pip install 'singleindex[files]'")
    csv.write_csv(as_table(X, y), folder / "rows.csv")
    return folder / "rows.csv", "y"


FORMATS = {
    "npy": as_npy,
    "npy, F order": as_turned_npy,
    "svmlight": as_svmlight,
    "parquet": as_parquet,
    "csv": as_csv,
}


def in_mid_reading(data, action, reading=3):
    """Do something after the first chunk of a reading."""
    original, readings = data.reader.chunks, []

    def chunks():
        readings.append(None)
        for number, block in enumerate(original()):
            yield block
            if len(readings) == reading and number == 0:
                action()

    data.reader.chunks = chunks


@pytest.mark.parametrize("n_rows", [100, N, 900])
@pytest.mark.parametrize("write", FORMATS.values(), ids=FORMATS)
def test_a_file_that_is_written_anew_during_a_fit(write, n_rows, tmp_path):
    data = read_chunks(*write(*make_rows(), tmp_path), chunk_rows=50)
    in_mid_reading(data, lambda: write(*make_rows(n_rows, seed=1), tmp_path))
    model = SingleIndexRegressor(max_iter=5, tol=0)
    with pytest.raises(
        ChunkError, match=r"(X|y|rows)\.\w+: the file has changed since read_chunks was called"
    ):
        model.fit(data)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("solver", ["one-pass", "two-pass", "stochastic"])
@pytest.mark.parametrize("name", ["X.npy", "y.npy"])
def test_numbers_that_change_in_place_during_a_fit(name, solver, tmp_path):
    data = read_chunks(*as_npy(*make_rows(), tmp_path), chunk_rows=50)

    def change():
        values = np.load(tmp_path / name, mmap_mode="r+")
        values[-1] += 1.0
        values.flush()
        later = os.stat(tmp_path / name).st_mtime_ns + 10**9  # whatever the clock of the file system
        os.utime(tmp_path / name, ns=(later, later))

    in_mid_reading(data, change, reading=1)
    with pytest.raises(ChunkError, match=rf"{name}: the file has changed"):
        SingleIndexRegressor(solver=solver).fit(data)


def test_a_file_that_changes_before_a_prediction(tmp_path):
    data = read_chunks(*as_npy(*make_rows(), tmp_path), chunk_rows=50)
    model = SingleIndexRegressor().fit(data)
    as_npy(*make_rows(900), tmp_path)
    with pytest.raises(ChunkError, match=r"X\.npy: the file has changed"):
        model.predict(data)
    (tmp_path / "X.npy").unlink()
    with pytest.raises(ChunkError, match=r"X\.npy: the file has changed"):
        model.predict(data)


def test_other_rows_than_in_the_reading_before():
    data = chunk_arrays(*make_rows(), chunk_rows=50)
    original, readings = data.reader.chunks, []

    def fewer():
        readings.append(None)
        yield from list(original())[len(readings) // 3 :]

    data.reader.chunks = fewer
    with pytest.raises(ChunkError, match="450 rows were read where there were 500 before"):
        SingleIndexRegressor(max_iter=5, tol=0).fit(data)


def test_the_number_of_rows_is_known_once_they_were_read(tmp_path):
    data = read_chunks(*as_csv(*make_rows(), tmp_path), chunk_rows=50)
    assert data.shape == (None, D)
    assert sum(map(len, data)) == N
    assert data.shape == (N, D)


# ---------------------------------------------------------------- interrupts


def living_readers():
    """Return the threads that still read after what they had begun should have ended."""
    readers = [thread for thread in threading.enumerate() if thread.name == "singleindex-reader"]
    for thread in readers:
        thread.join(timeout=5)
    return [thread for thread in readers if thread.is_alive()]


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("where", ["merge", "task", "chunk"])
def test_an_interrupted_fit_leaves_no_thread_behind(where, monkeypatch):
    data = chunk_arrays(*make_rows(), chunk_rows=10)
    if where == "merge":
        monkeypatch.setattr(Sweep, "merge", interrupt)
    elif where == "task":
        monkeypatch.setattr("singleindex.design.dense.run_kernel", interrupt)
    else:
        in_mid_reading(data, interrupt)
    # What was raised is held on to, with all frames, as an interactive session does.
    with pytest.raises(KeyboardInterrupt) as held:
        SingleIndexRegressor(tol=0).fit(data)
    assert living_readers() == []
    assert held.tb is not None


def test_a_reading_that_nobody_ends_holds_no_thread():
    blocks = iter(chunk_arrays(*make_rows(), chunk_rows=10))
    assert len(next(blocks)) == 10
    assert living_readers() == []
    assert sum(map(len, blocks)) == N - 10
