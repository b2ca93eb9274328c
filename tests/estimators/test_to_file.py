"""Predictions written to files as the rows are read."""

import numpy as np
import pytest
from scipy import sparse

from singleindex import SingleIndexClassifier, SingleIndexRegressor
from singleindex.design import chunk_arrays, read_chunks


def make_model(kind="classes", n=300):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 5))
    y = np.tanh(X[:, 0] - X[:, 2])
    if kind == "numbers":
        return SingleIndexRegressor(2).fit(X, y), X
    if kind == "outputs":
        return SingleIndexRegressor(2).fit(X, np.column_stack([y, X[:, 1]])), X
    labels = np.array(["no", "yes", "so so"])[np.digitize(y, [-0.3, 0.5])]
    return SingleIndexClassifier(3).fit(X, labels if kind == "labels" else (y > 0).astype(int)), X


def without_target(X, folder):
    np.save(folder / "X.npy", X)
    return read_chunks(folder / "X.npy", chunk_rows=71)


@pytest.mark.parametrize("kind", ["numbers", "classes", "labels", "outputs"])
@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".npy"])
def test_files_hold_what_the_methods_return(kind, suffix, tmp_path):
    pytest.importorskip("pyarrow", reason="pip install 'singleindex[files]'")
    model, X = make_model(kind)
    path = tmp_path / f"out{suffix}"
    assert model.predict_to(without_target(X, tmp_path), path, "predict") == len(X)
    expected = model.predict(X)
    columns = expected if expected.ndim == 2 else expected[:, None]
    if suffix == ".npy":
        assert (np.load(path) == expected).all()
        return
    got = read_table(path)
    for k, values in enumerate(got.values()):
        values = np.array(values)
        if values.dtype.kind == "f":
            np.testing.assert_allclose(values, columns[:, k], rtol=1e-12)
        else:
            assert (values == columns[:, k]).all()


def read_table(path):
    import pyarrow.csv
    import pyarrow.parquet

    read = pyarrow.parquet.read_table if path.suffix == ".parquet" else pyarrow.csv.read_csv
    return read(path).to_pydict()


def test_several_quantities_are_columns_by_name(tmp_path):
    pytest.importorskip("pyarrow")
    model, X = make_model("labels")
    model.predict_to(
        chunk_arrays(X, X[:, 0], chunk_rows=90), tmp_path / "out.parquet", ["predict", "predict_proba"]
    )
    got = read_table(tmp_path / "out.parquet")
    assert list(got) == ["prediction", *(f"probability_{c}" for c in model.classes_)]
    p = np.column_stack([got[f"probability_{c}"] for c in model.classes_])
    np.testing.assert_allclose(p, model.predict_proba(X), atol=1e-14)


def test_rows_in_memory_are_written_too(tmp_path):
    model, X = make_model()
    model.predict_to(sparse.csr_matrix(X), tmp_path / "out.npy", ["index", "predict"])
    got = np.load(tmp_path / "out.npy")
    np.testing.assert_allclose(got, np.column_stack([model.index(X), model.predict(X)]), atol=1e-13)


def test_what_fails_leaves_the_old_file(tmp_path):
    model, X = make_model()
    path = tmp_path / "out.npy"
    path.write_text("old")
    bad = X.copy()
    bad[200, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.predict_to(chunk_arrays(bad, X[:, 0], chunk_rows=50), path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.npy"]


def test_what_cannot_be_written_is_said(tmp_path):
    model, X = make_model("numbers")
    with pytest.raises(ValueError, match="methods must name some of"):
        model.predict_to(X, tmp_path / "out.npy", "predict_proba")
    with pytest.raises(ValueError, match="must end in one of"):
        model.predict_to(X, tmp_path / "out.xlsx")
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="Dask arrays, which write themselves"):
        model.predict_to(da.from_array(X), tmp_path / "out.npy")


def test_a_private_file_stays_private(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    model = SingleIndexRegressor(2).fit(X, X[:, 0])
    path = tmp_path / "out.npy"
    path.touch(mode=0o600)
    model.predict_to(X, path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["out.npy"]
