"""Blocks without rows, or without weight: what a filter leaves of some of them."""

import numpy as np
import pytest
from sklearn.base import clone

from singleindex import SingleIndexClassifier, SingleIndexRegressor
from singleindex.design import chunk_arrays
from singleindex.link import Bins
from singleindex.solvers import OnePass, Stochastic

N, D = 300, 5
SOLVERS = {
    "exact": OnePass(n_bins=None),
    "bins": OnePass(),
    "two-pass": "two-pass",
    "stochastic": "stochastic",
}


def make_rows(kind="numbers"):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D)) + 50.0  # the index lies far from zero
    y = X[:, 0] - X[:, 1] + 0.1 * rng.standard_normal(N)
    return X, y if kind == "numbers" else np.where(y > 0, "yes", "no").astype(object)


def make_model(kind, solver):
    model = SingleIndexRegressor if kind == "numbers" else SingleIndexClassifier
    return model(3, max_iter=5, tol=0, solver=SOLVERS[solver])


def assert_same(model, expected):
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=0, atol=1e-9 * np.abs(expected.coef_).max())


# ---------------------------------------------------------------- Dask


def with_empty_chunks(X, y):
    da = pytest.importorskip("dask.array", reason="pip install 'singleindex[dask]'")
    chunks = (0, 100, 0, 200, 0)
    return da.from_array(X, chunks=(chunks, (D,))), da.from_array(y, chunks=(chunks,))


def filtered(X, y):
    """All rows of the first and of the third block go; how many are left, nobody knows."""
    da = pytest.importorskip("dask.array", reason="pip install 'singleindex[dask]'")
    X, y = (np.concatenate([a[:50], a[:100], a[:50], a[100:]]) for a in (X, y))
    keep = np.r_[np.zeros(50, bool), np.ones(100, bool), np.zeros(50, bool), np.ones(200, bool)]
    Xd, yd, kept = (
        da.from_array(X, chunks=(50, D)),
        da.from_array(y, chunks=50),
        da.from_array(keep, chunks=50),
    )
    return Xd[kept], yd[kept]


def filtered_frame(X, y):
    dd = pytest.importorskip("dask.dataframe", reason="pip install 'singleindex[dask]'")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(D)]).assign(y=y)
    frame = pd.concat([frame.iloc[:75].assign(keep=False), frame.assign(keep=True)], ignore_index=True)
    rows = dd.from_pandas(frame, npartitions=5)
    rows = rows[rows.keep]
    assert rows.partitions[0].compute().empty
    return rows.drop(columns=["y", "keep"]), rows.y


WAYS = {"empty chunks": with_empty_chunks, "filtered": filtered, "filtered frame": filtered_frame}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["numbers", "labels"])
def test_empty_blocks_of_dask_change_nothing(kind, way, solver):
    dask = pytest.importorskip("dask", reason="pip install 'singleindex[dask]'")
    X, y = make_rows(kind)
    model = make_model(kind, solver)
    if solver == "stochastic":  # which changes the places of rows within their block
        model.set_params(solver=Stochastic(random_state=None))
    with dask.config.set(scheduler="synchronous"):
        Xd, yd = WAYS[way](X, y)
        got = clone(model).fit(Xd, yd)
        assert_same(got, clone(model).fit(chunk_arrays(X, y, chunk_rows=100)))
        predicted = got.predict(Xd).compute()
        vars(got).pop("feature_names_in_", None)
        assert predicted.dtype == got.predict(X).dtype
        if kind == "numbers":
            np.testing.assert_allclose(predicted, got.predict(X), atol=1e-10)
        else:
            assert (predicted == got.predict(X)).all()
        if kind == "labels":
            proba = clone(model).fit(Xd, yd).predict_proba(Xd)
            np.testing.assert_allclose(proba.compute(), got.predict_proba(X))


@pytest.mark.parametrize("kind", ["numbers", "labels"])
def test_dask_data_of_which_nothing_is_left(kind):
    da = pytest.importorskip("dask.array", reason="pip install 'singleindex[dask]'")
    X, y = make_rows(kind)
    none = da.from_array(np.zeros(N, bool), chunks=100)
    Xd, yd = da.from_array(X, chunks=(100, D))[none], da.from_array(y, chunks=100)[none]
    with pytest.raises(ValueError, match="the data have no row; check the filter"):
        make_model(kind, "bins").fit(Xd, yd)


# ---------------------------------------------------------------- weights


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", ["numbers", "labels"])
@pytest.mark.parametrize("chunk", [0, 1, 2])
def test_chunks_without_weight_change_nothing(kind, chunk, solver):
    X, y = make_rows(kind)
    weight, kept = np.ones(N), np.ones(N, bool)
    weight[100 * chunk : 100 * chunk + 100], kept[100 * chunk : 100 * chunk + 100] = 0, False
    model = make_model(kind, solver)
    if solver == "stochastic":
        model.set_params(solver=Stochastic(random_state=None, batch_size=100))
    got = clone(model).fit(chunk_arrays(X, y, weight, chunk_rows=100))
    assert_same(got, clone(model).fit(chunk_arrays(X[kept], y[kept], chunk_rows=100)))


@pytest.mark.parametrize("kind", ["numbers", "labels"])
def test_data_without_weight_are_refused(kind):
    data = chunk_arrays(*make_rows(kind), np.zeros(N), chunk_rows=100)
    with pytest.raises(ValueError, match="the data have no row of positive weight"):
        make_model(kind, "bins").fit(data)


def test_bins_without_rows_stretch_no_others():
    full = Bins(64).add(np.linspace(1e6, 1e6 + 1, 100), np.zeros(100))
    empty = Bins(64, exponent=-9)
    for merged in (full.merge(empty), empty.merge(full)):
        assert merged.width == full.width
        assert (merged.sums == full.sums).all()
