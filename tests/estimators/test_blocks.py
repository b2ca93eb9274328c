"""The same model from data in memory, in files and on a cluster: one suite over all ways to hold rows."""

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file

from singleindex import (
    SingleIndexClassifier,
    SingleIndexRegressor,
    Slisotron,
)
from singleindex.datasets import make_single_index
from singleindex.design import chunk_arrays, read_chunks
from singleindex.solvers import OnePass, TwoPass
from singleindex.structures import GroupSparse, RowSparse

N, D = 900, 12
NAMES = [f"x{j}" for j in range(D)]


def make_problem(kind):
    """Return the estimator, X, y and weights; columns of very different scales, one of them constant."""
    noise = "gaussian" if kind == "regression" else "binary"
    X, y, *_ = make_single_index(N, D, n_atoms=4, link="clipped", noise=noise, random_state=3)
    X = X * np.linspace(0.1, 3, D)
    X[:, 7] = 2.0
    X[np.random.default_rng(0).random(X.shape) < 0.3] = 0
    weight = np.random.default_rng(1).integers(0, 4, N).astype(float)
    if kind == "regression":
        return SingleIndexRegressor(6), X, 100 * y + 7, weight
    if kind == "labels":
        y = np.where(X[:, 0] + X[:, 1] > 1, "c", np.where(y == 1, "b", "a"))
        return SingleIndexClassifier(6, class_weight="balanced"), X, y, weight
    return SingleIndexClassifier(6), X, y.astype(int), weight


EXACT = {"two passes": TwoPass(), "one pass": OnePass(n_bins=None)}
BINNED = {"bins": OnePass(), "few bins": OnePass(n_bins=128)}


# ---------------------------------------------------------------- ways to hold rows


def in_npy(X, y, weight, folder):
    for name, values in (("X", X), ("y", y), ("weight", weight)):
        np.save(folder / f"{name}.npy", values)
    return read_chunks(
        folder / "X.npy", folder / "y.npy", sample_weight=folder / "weight.npy", chunk_rows=128
    )


def in_several_npy(X, y, weight, folder):
    for k, part in enumerate(np.split(X, [200, 555])):
        np.save(folder / f"X{k}.npy", np.asfortranarray(part))
    files = [folder / f"X{k}.npy" for k in range(3)]
    return read_chunks(files, y, sample_weight=weight, chunk_rows=300)


def table(X, y, weight):
    pa = pytest.importorskip("pyarrow", reason="pip install 'singleindex[files]'")
    return pa.table({**dict(zip(NAMES, X.T, strict=True)), "y": y, "weight": weight})


def in_parquet(X, y, weight, folder):
    pq = pytest.importorskip("pyarrow.parquet", reason="pip install 'singleindex[files]'")
    pq.write_table(table(X, y, weight), folder / "rows.parquet", row_group_size=250)
    return read_chunks(folder / "rows.parquet", "y", sample_weight="weight", chunk_rows=170)


def in_several_parquet(X, y, weight, folder):
    pq = pytest.importorskip("pyarrow.parquet", reason="pip install 'singleindex[files]'")
    rows = table(X, y, weight)
    for k, start in enumerate(range(0, N, 400)):
        # Columns in another order are the same columns.
        part = rows.slice(start, 400).select(rows.column_names[:: -1 if k % 2 else 1])
        pq.write_table(part, folder / f"part-{k}.parquet")
    return read_chunks(str(folder / "part-*.parquet"), "y", sample_weight="weight", features=NAMES)


def in_csv(X, y, weight, folder):
    csv = pytest.importorskip("pyarrow.csv", reason="pip install 'singleindex[files]'")
    csv.write_csv(table(X, y, weight), folder / "rows.csv")
    return read_chunks(folder / "rows.csv", "y", sample_weight="weight", chunk_rows=100)


WAYS = {
    "arrays": lambda X, y, weight, _: chunk_arrays(X, y, weight, chunk_rows=111),
    "float32-like F order": lambda X, y, weight, _: chunk_arrays(np.asfortranarray(X), y, weight, 400),
    "CSR": lambda X, y, weight, _: chunk_arrays(sparse.csr_matrix(X), y, weight, 250),
    "npy": in_npy,
    "several npy": in_several_npy,
    "parquet": in_parquet,
    "several parquet": in_several_parquet,
    "csv": in_csv,
}


def compare(model, expected, X, atol=1e-10):
    """Equal up to `atol` in units of each quantity: w, the iterations, the predictions for plain arrays."""
    vars(model).pop("feature_names_in_", None)  # a model of a table knows the names of its columns
    method = "predict" if isinstance(model, SingleIndexRegressor) else "predict_proba"
    got, target = getattr(model, method)(X), getattr(expected, method)(X)
    np.testing.assert_allclose(got, target, rtol=0, atol=atol * np.ptp(target))
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=0, atol=atol * np.abs(expected.coef_).max())
    assert (model.n_iter_, model.status_) == (expected.n_iter_, expected.status_)
    if method == "predict_proba":
        assert (model.classes_ == expected.classes_).all()


@pytest.mark.parametrize(
    ("kind", "way"),
    [
        *(("regression", way) for way in WAYS),
        ("two classes", "npy"),
        ("labels", "arrays"),
        ("labels", "parquet"),
    ],
)
@pytest.mark.parametrize("solver", [*EXACT, *BINNED])
def test_chunks_give_the_model_of_the_memory(way, kind, solver, tmp_path):
    model, X, y, weight = make_problem(kind)
    model.set_params(solver={**EXACT, **BINNED}[solver])
    data = WAYS[way](X, y, weight, tmp_path)
    compare(clone(model).fit(data), clone(model).fit(X, y, weight), X)


@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize("kind", ["regression", "two classes"])
def test_svmlight_gives_the_model_of_the_memory(solver, kind, tmp_path):
    model, X, y, _ = make_problem(kind)
    model.set_params(solver=EXACT[solver])
    expected = clone(model).fit(sparse.csr_matrix(X), y)
    for zero_based, n_features in ((True, None), (False, None), (False, D)):
        dump_svmlight_file(X, y, str(tmp_path / "rows.svm"), zero_based=zero_based)
        data = read_chunks(tmp_path / "rows.svm", n_features=n_features, chunk_rows=99)
        compare(clone(model).fit(data), expected, X)


@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_a_cluster_gives_the_model_of_the_memory(with_workers, n_workers):
    da = pytest.importorskip("dask.array")
    model, X, y, weight = make_problem("regression")
    with_workers(n_workers)
    blocks = [da.from_array(a, chunks=450) for a in (y, weight)]
    for solver in (*EXACT.values(), BINNED["bins"]):
        model.set_params(solver=solver, max_iter=4)
        got = clone(model).fit(da.from_array(X, chunks=(300, 6)), *blocks)
        compare(got, clone(model).fit(X, y, weight), X)


@pytest.mark.parametrize("way", ["frame", "sparse", "unknown lengths"])
def test_other_collections_of_dask(with_workers, way):
    da, dd, pd = (pytest.importorskip(name) for name in ("dask.array", "dask.dataframe", "pandas"))
    model, X, y, weight = make_problem("labels")
    model.set_params(solver="one-pass")
    with_workers(2)
    yd, wd = da.from_array(y, chunks=300), da.from_array(weight, chunks=300)
    Xd = da.from_array(X, chunks=(300, D))
    if way == "sparse":
        Xd = Xd.map_blocks(sparse.csr_matrix)
    elif way == "unknown lengths":
        keep = da.from_array(np.arange(N) % 9 > 0, chunks=300)
        Xd, yd, wd = Xd[keep], yd[keep], wd[keep]
        X, y, weight = (a[np.arange(N) % 9 > 0] for a in (X, y, weight))
    else:
        frame = pd.DataFrame(X, columns=NAMES)
        Xd = dd.from_pandas(frame, npartitions=3)
        yd, wd = (dd.from_pandas(pd.Series(a), npartitions=3) for a in (y, weight))
    got = clone(model).fit(Xd, yd, wd)
    lazy = got.predict_proba(Xd)
    assert isinstance(lazy, da.Array)  # nothing has been computed
    expected = clone(model).fit(X, y, weight)
    np.testing.assert_allclose(lazy.compute(), expected.predict_proba(X), atol=1e-10)
    assert (got.predict(Xd).compute() == expected.predict(X)).all()
    if way == "frame":
        assert got.feature_names_in_.tolist() == NAMES
        assert lazy.shape[1] == 3
    compare(got, expected, X)


def test_without_a_cluster_dask_runs_in_threads():
    da = pytest.importorskip("dask.array")
    import dask

    model, X, y, _ = make_problem("two classes")
    with dask.config.set(scheduler="threads"):
        got = clone(model).fit(da.from_array(X, chunks=(400, D)), y)
        assert (got.predict(da.from_array(X, chunks=(400, D))).compute() == got.predict(X)).all()
    compare(got, clone(model).set_params(solver="one-pass").fit(X, y), X)


def test_the_helper_tells_models_apart():
    model, X, y, _ = make_problem("regression")
    a, b = clone(model).fit(X, y), clone(model).fit(X, y)
    compare(a, b, X)
    b.coef_ = b.coef_ * (1 + 1e-9)
    with pytest.raises(AssertionError):
        compare(a, b, X)


# ---------------------------------------------------------------- quality and bins


@pytest.mark.parametrize("kind", ["regression", "two classes"])
def test_one_pass_learns_what_two_passes_learn(kind):
    model, X, y, weight = make_problem(kind)
    two, one, binned = (
        clone(model).set_params(solver=solver, tol=1e-4).fit(X, y, weight)
        for solver in (TwoPass(), OnePass(n_bins=None), OnePass())
    )
    for other in (one, binned):
        turned = two.coef_ @ other.coef_ / np.linalg.norm(two.coef_) / np.linalg.norm(other.coef_)
        assert turned > 1 - 1e-6
        # Same fit, up to the noise of where the iteration stops.
        gap = np.abs(two.predict(X) - other.predict(X)) if kind == "regression" else np.abs(
            two.predict_proba(X) - other.predict_proba(X))  # fmt: skip
        assert gap.mean() < 0.01 * np.ptp(y)


@pytest.mark.parametrize("n_bins", [64, 1024])
def test_bins_move_the_link_by_no_more_than_their_bound(n_bins):
    model, X, y, weight = make_problem("regression")
    binned = clone(model).set_params(solver=OnePass(n_bins=n_bins), max_iter=1).fit(X, y, weight)
    exact = clone(model).set_params(solver=OnePass(n_bins=None), max_iter=1).fit(X, y, weight)
    # One iteration: the same w up to its length, which the bins move by as little as the link.
    index = exact.index(X)
    width = 2 * np.ptp(index) / (n_bins - 2)
    factor = (binned.coef_ @ exact.coef_) / (exact.coef_ @ exact.coef_)
    drift = abs(factor - 1) * np.abs(index - index.mean()).max()
    assert np.abs(binned.predict(X) - exact.predict(X)).max() <= 2 * width + 2 * drift
    assert drift < 0.1 * np.ptp(index)


def test_long_data_in_memory_is_read_once_per_iteration():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50_000, 3))
    y = np.clip(X[:, 0] - X[:, 1], -1, 1) + rng.standard_normal(len(X))
    for rows, data in ((10_000, X), (50_000, sparse.csr_matrix(X))):
        for n, solver in ((rows - 1, "two-pass"), (rows, "one-pass")):
            auto, asked = (
                SingleIndexRegressor(solver=s, max_iter=3).fit(data[:n], y[:n]) for s in ("auto", solver)
            )
            assert (auto.coef_ == asked.coef_).all()
        two = SingleIndexRegressor(solver="two-pass", max_iter=3).fit(data[:rows], y[:rows])
        assert (auto.coef_ != two.coef_).any()
        assert auto.score(data[:rows], y[:rows]) == pytest.approx(two.score(data[:rows], y[:rows]), abs=1e-4)


# ---------------------------------------------------------------- structures, outputs, predictions


def test_overlapping_groups_in_chunks():
    _, X, y, weight = make_problem("regression")
    groups = [[0, 1, 2], [2, 3, 4], [5, 6, 7], [8, 9, 10, 11]]
    model = SingleIndexRegressor(
        2, structure=GroupSparse(groups, overlapping=True), solver=OnePass(n_bins=None)
    )
    compare(clone(model).fit(chunk_arrays(X, y, weight, 200)), clone(model).fit(X, y, weight), X)


@pytest.mark.parametrize("settings", [{}, {"structure": RowSparse(), "n_atoms": 5}, {"shared_link": True}])
def test_several_outputs_in_chunks(settings):
    _, X, y, weight = make_problem("regression")
    Y = np.column_stack([y, np.roll(X[:, 0], 0) * 3 + 0.1 * y])
    model = SingleIndexRegressor(**settings, solver="auto" if settings else OnePass(n_bins=None))
    got, expected = clone(model).fit(chunk_arrays(X, Y, weight, 200)), clone(model).fit(X, Y, weight)
    np.testing.assert_allclose(got.coef_, expected.coef_, rtol=0, atol=1e-9 * np.abs(expected.coef_).max())
    np.testing.assert_allclose(got.predict(X), expected.predict(X), atol=1e-8)


def test_several_labels_in_chunks():
    _, X, y, _ = make_problem("two classes")
    Y = np.column_stack([y, X[:, 0] > 0]).astype(int)
    got = SingleIndexClassifier(solver="one-pass").fit(chunk_arrays(X, Y, chunk_rows=200))
    compare(got, SingleIndexClassifier(solver="one-pass").fit(X, Y), X)
    assert got.multilabel_


@pytest.mark.parametrize("link", ["identity", "logistic"])
def test_known_links_in_chunks(link):
    _, X, y, _ = make_problem("two classes")
    model = SingleIndexClassifier(link=link, solver=OnePass(n_bins=None))
    compare(clone(model).fit(chunk_arrays(X, y, chunk_rows=200)), clone(model).fit(X, y), X)


def test_predictions_of_chunks_are_those_of_rows(tmp_path):
    model, X, y, weight = make_problem("labels")
    data = in_parquet(X, y, weight, tmp_path)
    model.fit(data)
    import pandas as pd

    frame = pd.DataFrame(X, columns=NAMES)
    assert (model.predict(data) == model.predict(frame)).all()
    np.testing.assert_allclose(model.predict_proba(data), model.predict_proba(frame), atol=1e-12)
    np.testing.assert_allclose(model.decision_function(data), model.decision_function(frame), atol=1e-12)


def test_predictions_of_chunks_with_other_columns_are_refused(tmp_path):
    model, X, y, weight = make_problem("regression")
    model.fit(in_parquet(X, y, weight, tmp_path))
    turned = read_chunks(tmp_path / "rows.parquet", "y", sample_weight="weight", features=NAMES[::-1])
    with pytest.raises(ValueError, match=r"not those of the fit.*features=list\(model\.feature_names_in_\)"):
        model.predict(turned)
    again = read_chunks(
        tmp_path / "rows.parquet", "y", sample_weight="weight", features=list(model.feature_names_in_)
    )
    assert model.predict(again).shape == (N,)


WITHOUT_PANDAS = """
import sys

class NoPandas:  # as where it is not installed; older packages stumble over None in its place
    def find_spec(self, name, *_):
        if name == "pandas":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, NoPandas())
import numpy as np
from singleindex import SingleIndexClassifier
from singleindex.design import read_chunks

for name in sys.argv[1:]:
    data = read_chunks(name, "y", sample_weight="weight", chunk_rows=100)
    model = SingleIndexClassifier(6).fit(data)
    assert model.feature_names_in_.tolist() == data.feature_names
    assert model.predict(data).shape == (900,)
    print(model.predict_proba(data).shape)
"""


@pytest.mark.parametrize("write", [in_parquet, in_csv])
def test_tables_need_no_pandas(write, tmp_path):
    _, X, y, weight = make_problem("labels")
    write(X, y, weight, tmp_path)
    script = [sys.executable, "-W", "error", "-c", WITHOUT_PANDAS, *map(str, tmp_path.glob("rows.*"))]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("(900, 3)\n", "")


def test_float32_files_give_float32_coefficients(tmp_path):
    _, X, y, _ = make_problem("regression")
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    model = SingleIndexRegressor().fit(read_chunks(tmp_path / "X.npy", y))
    assert model.coef_.dtype == np.float32


def test_search_with_the_dask_backend_of_joblib(with_workers):
    joblib = pytest.importorskip("joblib")
    from sklearn.model_selection import GridSearchCV

    model, X, y, _ = make_problem("two classes")
    with_workers(2)
    search = GridSearchCV(model, {"n_atoms": [2, 6]}, cv=2)
    plain = clone(search).fit(X, y)
    with joblib.parallel_config("dask"):
        search.fit(X, y)
    assert search.best_params_ == plain.best_params_
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])


def test_a_bar_tells_rows_per_second(tmp_path, capsys):
    model, X, y, weight = make_problem("regression")
    model.set_params(verbose=1, max_iter=2).fit(in_csv(X, y, weight, tmp_path))
    lines = capsys.readouterr().err.splitlines()
    readings = [line for line in lines if "rows/s" in line]
    assert len(readings) == 3  # the columns, and two iterations
    assert "900/900 rows" in readings[-1]
    assert "[##############################]" in readings[-1]
    assert sum("iteration" in line for line in lines) == 2
    assert json.dumps(lines)  # plain text


def test_a_quiet_fit_says_nothing(tmp_path, capsys):
    model, X, y, weight = make_problem("regression")
    model.fit(in_npy(X, y, weight, tmp_path))
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("kind", ["parquet", "csv", "npy"])
def test_files_without_a_target_are_predicted_for(tmp_path, kind):
    pa = pytest.importorskip("pyarrow", reason="pip install 'singleindex[files]'")

    X = np.random.default_rng(0).standard_normal((300, 4))
    y = np.clip(X[:, 0] - X[:, 2], -1, 1)
    columns = {f"x{j}": X[:, j] for j in range(4)}
    path = tmp_path / f"rows.{kind}"
    if kind == "npy":
        np.save(path, X)
        model = SingleIndexRegressor(2).fit(X, y)
    else:
        write = pa.parquet.write_table if kind == "parquet" else pa.csv.write_csv
        pa.parquet.write_table(pa.table(columns | {"y": y}), tmp_path / "train.parquet")
        write(pa.table(columns), path)
        model = SingleIndexRegressor(2).fit(read_chunks(tmp_path / "train.parquet", "y"))
    data = read_chunks(path, chunk_rows=70)
    np.testing.assert_allclose(model.predict(data), model.link_(X @ model.coef_), atol=1e-12)


def test_blocks_of_rows_say_what_to_do_instead():
    model = Slisotron()
    X = np.random.default_rng(0).normal(size=(60, 5))
    y = (X[:, 0] > 0).astype(int)
    with pytest.raises(ValueError, match=r"needs its data in memory\. Choose the settings on a sample"):
        model.fit(chunk_arrays(X, y))
    with pytest.raises(ValueError, match="needs its data in memory"):
        model.fit(chunk_arrays(X, y), None)
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="needs its data in memory"):
        model.fit(da.from_array(X, chunks=20), da.from_array(y, chunks=20))
    with pytest.raises(ValueError, match="requires y"):
        model.fit(X)
