"""The same search in memory, over files and on a cluster; and beside the one that has all rows."""

import os
import signal

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file
from sklearn.model_selection import KFold

from singleindex import SingleIndexClassifierCV, SingleIndexRegressorCV, load, save, single_index_path
from singleindex.design import BlockKFold, GroupHashKFold, HashKFold, chunk_arrays, read_chunks
from singleindex.fitting.readings import Readings
from singleindex.structures import GroupSparse, LowRank, RowSparse

N, D = 900, 12
NAMES = [f"x{j}" for j in range(D)]
SMALL = {"penalty": [0.5, 0.2, 0.05, 0.01], "scale_power": (1.0, 0.0), "cv": 3}


def make_problem(kind):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, D)) * np.linspace(0.3, 3, D)
    X[:, 7] = 2.0  # constant
    X[rng.random(X.shape) < 0.2] = 0
    index = X[:, 0] * 2 + X[:, 1] - 0.7 * X[:, 4] + 0.3 * X[:, 5]
    y = np.clip(index, -1.5, 2) + 0.4 * rng.standard_normal(N)
    weight = rng.integers(0, 3, N).astype(float)
    if kind == "regression":
        return SingleIndexRegressorCV(**SMALL), X, 50 * y + 7, weight
    if kind == "groups":
        groups = GroupSparse([[0, 1], [2, 3], [4, 5], [6, 7, 8], [9, 10, 11]])
        return SingleIndexRegressorCV(structure=groups, **SMALL), X, y, weight
    if kind == "two outputs":
        return SingleIndexRegressorCV(**SMALL), X, np.column_stack([y, 9 * X[:, 3] + y]), weight
    if kind == "labels":
        return SingleIndexClassifierCV(**SMALL), X, np.array(["a", "b", "c"])[np.digitize(y, [-1, 1])], weight
    return SingleIndexClassifierCV(**SMALL), X, (y > 0).astype(int), weight


KINDS = ("regression", "classes", "groups", "two outputs")


def in_memory(X, y, weight):
    """All rows as one chunk: the same code, with nothing to put together."""
    return chunk_arrays(X, y, weight, chunk_rows=10**6)


def compare(model, expected, X, atol=1e-8):
    """The same candidates, weights, w and predictions, each to `atol` in its own units."""
    vars(model).pop("feature_names_in_", None)
    got, target = model.cv_results_, expected.cv_results_
    assert model.best_params_ == expected.best_params_
    assert (got["stage"] == target["stage"]).all()
    np.testing.assert_allclose(got["weight"], target["weight"], atol=atol)
    np.testing.assert_allclose(got["mean_test_score"], target["mean_test_score"], rtol=atol)
    largest = np.abs(expected.coef_).max()
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=0, atol=atol * largest)
    method = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    a, b = getattr(model, method)(X), getattr(expected, method)(X)
    np.testing.assert_allclose(a, b, rtol=0, atol=atol * np.ptp(b))
    assert model.n_readings_ == expected.n_readings_


def in_npy(X, y, weight, folder):
    for name, values in (("X", X), ("y", y), ("weight", weight)):
        np.save(folder / f"{name}.npy", values)
    return read_chunks(
        folder / "X.npy", folder / "y.npy", sample_weight=folder / "weight.npy", chunk_rows=101
    )


def as_table(X, y, weight):
    pa = pytest.importorskip("pyarrow", reason="pip install 'singleindex[files]'")
    outputs = {"y": y} if y.ndim == 1 else {f"y{k}": y[:, k] for k in range(y.shape[1])}
    return pa.table({**dict(zip(NAMES, X.T, strict=True)), **outputs, "weight": weight}), list(outputs)


def in_parquet(X, y, weight, folder):
    pq = pytest.importorskip("pyarrow.parquet")
    table, outputs = as_table(X, y, weight)
    for k, start in enumerate(range(0, N, 400)):
        pq.write_table(table.slice(start, 400), folder / f"part-{k}.parquet", row_group_size=150)
    target = outputs[0] if len(outputs) == 1 else outputs
    return read_chunks(str(folder / "part-*.parquet"), target, sample_weight="weight", features=NAMES)


def in_csv(X, y, weight, folder):
    csv = pytest.importorskip("pyarrow.csv")
    table, outputs = as_table(X, y, weight)
    csv.write_csv(table, folder / "rows.csv")
    target = outputs[0] if len(outputs) == 1 else outputs
    return read_chunks(folder / "rows.csv", target, sample_weight="weight", chunk_rows=97)


WAYS = {
    "arrays": lambda X, y, weight, _: chunk_arrays(X, y, weight, chunk_rows=111),
    "CSR": lambda X, y, weight, _: chunk_arrays(sparse.csr_matrix(X), y, weight, chunk_rows=250),
    "npy": in_npy,
    "parquet": in_parquet,
    "csv": in_csv,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_chunks_give_the_search_of_the_memory(kind, way, tmp_path):
    model, X, y, weight = make_problem(kind)
    expected = clone(model).fit(in_memory(X, y, weight))
    compare(clone(model).fit(WAYS[way](X, y, weight, tmp_path)), expected, X)


def test_several_classes_give_the_search_of_the_memory():
    model, X, y, weight = make_problem("labels")
    expected = clone(model).fit(in_memory(X, y, weight))
    compare(clone(model).fit(chunk_arrays(X, y, weight, chunk_rows=77)), expected, X)


@pytest.mark.parametrize("kind", ["regression", "classes", "groups"])  # such files have one output
def test_svmlight_gives_the_search_of_the_memory(kind, tmp_path):
    model, X, y, _ = make_problem(kind)
    dump_svmlight_file(X, y, str(tmp_path / "rows.svm"))
    expected = clone(model).fit(in_memory(X, y, None))
    compare(clone(model).fit(read_chunks(tmp_path / "rows.svm", chunk_rows=99)), expected, X)


@pytest.mark.parametrize("n_blocks", [1, 2, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_dask_gives_the_search_of_the_memory(kind, n_blocks):
    da = pytest.importorskip("dask.array", reason="pip install 'singleindex[dask]'")
    model, X, y, weight = make_problem(kind)
    rows = -(-N // n_blocks)
    blocks = da.from_array(X, chunks=(rows, D)), da.from_array(y, chunks=(rows, *y.shape[1:]))
    got = clone(model).fit(*blocks, da.from_array(weight, chunks=rows))
    compare(got, clone(model).fit(in_memory(X, y, weight)), X)


def test_partitions_of_unknown_length_have_the_same_folds():
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe", reason="pip install 'singleindex[dask]'")
    model, X, y, _ = make_problem("classes")
    frame = dd.from_pandas(pd.DataFrame(X, columns=NAMES).assign(y=y), npartitions=4)
    got = clone(model).fit(frame[NAMES], frame["y"])
    compare(got, clone(model).fit(in_memory(X, y, None)), X)


@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_worker_changes_nothing(kind, with_workers, monkeypatch):
    da = pytest.importorskip("dask.array", reason="pip install 'singleindex[dask]'")
    client = with_workers(2)
    model, X, y, _ = make_problem(kind)
    expected = clone(model).fit(in_memory(X, y, None))
    sweep, killed = Readings.sweep, []

    def killing(readings, visit):
        if readings.n_readings == 2 and not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)
        return sweep(readings, visit)

    monkeypatch.setattr(Readings, "sweep", killing)
    blocks = da.from_array(X, chunks=(250, D)), da.from_array(y, chunks=(250, *y.shape[1:]))
    got = clone(model).fit(*blocks)
    assert killed
    compare(got, expected, X)
    client.wait_for_workers(2, timeout=60)


# ---------------------------------------------------------------- beside the search that has all rows


@pytest.mark.parametrize("link", ["clipped", "logistic"])
def test_it_finds_the_index_of_the_search_in_memory(link):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8000, 20)) + 0.5 * rng.standard_normal((8000, 1))
    index = X[:, 0] - 2 * X[:, 3] + X[:, 7]
    p = np.clip(0.5 + 0.3 * index, 0.05, 0.95) if link == "clipped" else 1 / (1 + np.exp(-index))
    y = (rng.random(8000) < p).astype(int)
    got = SingleIndexClassifierCV(cv=5).fit(chunk_arrays(X, y, chunk_rows=3000))
    expected = SingleIndexClassifierCV(cv=HashKFold(5)).fit(X, y)
    a, b = X @ got.coef_, X @ expected.coef_
    assert np.corrcoef(a, b)[0, 1] > 0.9999
    assert np.corrcoef(a, index)[0, 1] > 0.999
    difference = got.predict_proba(X)[:, 1] - expected.predict_proba(X)[:, 1]
    assert np.sqrt(np.mean(difference**2)) < 0.01
    assert set(got.cv_results_) == set(expected.cv_results_)
    of_rows = {"background_", "calibration_", "held_out_scores_", "p_value_"}  # which blocks do not keep
    assert set(vars(got)) - {"n_readings_"} == set(vars(expected)) - of_rows


def test_the_path_that_is_shown_is_one_of_least_squares():
    model, X, y, _ = make_problem("regression")
    path = model.fit(chunk_arrays(X, y)).path_
    assert len(path["coefs"]) == len(path["penalty"]) == 4
    assert (np.diff(path["mse"]) < 0).all()
    residual = y - X @ path["coefs"][-1]
    assert np.var(residual) == pytest.approx(path["mse"][-1], rel=1e-6)


@pytest.mark.parametrize("rule", ["best", "one_se"])
@pytest.mark.parametrize("refit", ["all", "folds"])
def test_single_candidates_and_limits(rule, refit):
    model, X, y, _ = make_problem("classes")
    model.set_params(rule=rule, refit=refit, n_atoms=[2, 4]).fit(chunk_arrays(X, y, chunk_rows=300))
    assert model.n_features_ <= model.best_params_["n_atoms"]
    assert {0, 1} <= set(np.flatnonzero(model.coef_)) | {4}
    assert model.score(X, y) > 0.8


def test_known_links():
    model, X, y, _ = make_problem("classes")
    data = chunk_arrays(X, y)
    known = clone(model).set_params(link="logistic").fit(data)
    learned = clone(model).fit(data)
    assert known.link_.name == "logistic"
    assert np.corrcoef(X @ known.coef_, X @ learned.coef_)[0, 1] > 0.99
    # Its length is that of a logistic regression, too.
    from sklearn.linear_model import LogisticRegression

    free = LogisticRegression(C=np.inf).fit(X, y)
    length = np.std(X @ known.coef_) / np.std(X @ free.coef_[0])
    assert 0.7 < length < 1.1


@pytest.mark.parametrize("scoring", ["neg_brier_score", "accuracy", "roc_auc", None])
def test_other_scores(scoring):
    model, X, y, _ = make_problem("classes")
    model.set_params(scoring=scoring).fit(chunk_arrays(X, y))
    assert model.score(X, y) > 0.8
    low, high = (-0.2, -0.05) if scoring == "neg_brier_score" else (-0.25, 0.0)
    assert low < model.best_score_ < high or scoring in ("roc_auc", "accuracy", None)


def test_folds_of_blocks_and_of_groups():
    model, X, y, _ = make_problem("regression")
    X[:, 6] = np.arange(N) // 50
    for folds in (BlockKFold(3), GroupHashKFold(3, column=6)):
        got = clone(model).set_params(cv=folds).fit(chunk_arrays(X, y, chunk_rows=170))
        compare(got, clone(model).set_params(cv=folds).fit(in_memory(X, y, None)), X)
    da = pytest.importorskip("dask.array")
    blocks = [da.from_array(v, chunks=(300, *v.shape[1:])) for v in (X, y, X[:, 6].copy())]
    got = clone(model).set_params(cv=GroupHashKFold(3)).fit(blocks[0], blocks[1], groups=blocks[2])
    compare(got, clone(model).set_params(cv=folds).fit(in_memory(X, y, None)), X)


def test_weights_are_repetitions():
    model, X, y, weight = make_problem("classes")
    weight = weight.astype(int)
    groups = np.arange(N)
    X = np.column_stack([X, groups])  # the same rows must be held out together
    many = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    model.set_params(cv=GroupHashKFold(3, column=D), structure=None)
    a = clone(model).fit(chunk_arrays(X, y, weight))
    b = clone(model).fit(chunk_arrays(*many))
    np.testing.assert_allclose(a.coef_, b.coef_, atol=1e-7 * np.abs(b.coef_).max())


def test_a_saved_search_predicts_the_same(tmp_path):
    model, X, y, _ = make_problem("two outputs")
    model.fit(chunk_arrays(X, y))
    save(model, tmp_path / "model.sim")
    assert (load(tmp_path / "model.sim").predict(X) == model.predict(X)).all()


# ---------------------------------------------------------------- what cannot be done


def test_what_blocks_cannot_do_is_said():
    model, X, y, _ = make_problem("classes")
    data = chunk_arrays(X, y)
    for wrong, said in (
        ({"scoring": "f1"}, "keep bins of them; use one of"),
        ({"cv": KFold(3)}, "HashKFold"),
        ({"structure": LowRank((3, 4))}, "LowRank is not"),
        ({"rule": "worst"}, "rule must be one of"),
        ({"cv": 1}, "n_splits must be an integer of at least 2"),
    ):
        with pytest.raises(ValueError, match=said):
            clone(model).set_params(**wrong).fit(data)
    with pytest.raises(ValueError, match="groups of chunked data are a column of X"):
        clone(model).fit(data, groups=y)
    labels = np.column_stack([y, X[:, 0] > 0]).astype(int)
    with pytest.raises(ValueError, match="RowSparse is not"):
        clone(model).set_params(structure=RowSparse()).fit(chunk_arrays(X, labels))
    with pytest.raises(ValueError, match="fewer than two folds"):
        clone(model).set_params(cv=BlockKFold(3)).fit(chunk_arrays(X, y, (np.arange(N) < 90).astype(float)))
    with pytest.raises(ValueError, match="checkpoint is for data in blocks"):
        clone(model).fit(X, y, checkpoint="search.ckpt")


def test_where_nothing_explains_y_there_is_a_model_all_the_same():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 5)), rng.integers(0, 2, 300)
    with pytest.warns(UserWarning, match="link is constant"):
        model = SingleIndexClassifierCV(**SMALL).fit(chunk_arrays(X, y))
    assert np.isfinite(model.predict_proba(X)).all()


# ---------------------------------------------------------------- very many columns


def test_of_very_many_columns_those_that_tell_most_are_looked_at(monkeypatch, tmp_path):
    from singleindex.fitting import block_columns

    model, X, y, weight = make_problem("classes")
    monkeypatch.setattr(block_columns, "_MOST_PRODUCTS", 3 * 8 * 8)
    with pytest.warns(block_columns.ColumnsLeftOutWarning, match="looks at [78] of 12 columns"):
        got = clone(model).fit(chunk_arrays(sparse.csr_matrix(X), y, weight, chunk_rows=200))
    assert got.coef_.shape == got.stability_.shape == (D,)
    assert got.path_["coefs"].shape[1] == D
    narrow = clone(model).fit(in_memory(X[:, np.flatnonzero(got.stability_)], y, weight))
    assert got.n_readings_ >= narrow.n_readings_
    true = make_problem("classes")[0].fit(X, y, weight).coef_
    assert abs(got.coef_ @ true) > 0.99 * np.linalg.norm(got.coef_) * np.linalg.norm(true)
    by_group = clone(model).set_params(cv=GroupHashKFold(3, column=6))
    with pytest.warns(block_columns.ColumnsLeftOutWarning):
        by_group.fit(chunk_arrays(X, y, chunk_rows=200))
    with pytest.raises(ValueError, match="paths over files and Dask keep the products"):
        single_index_path(chunk_arrays(X, y))
    groups = GroupSparse(np.arange(D) // 2)
    with pytest.raises(ValueError, match="this structure does not allow for"):
        clone(model).set_params(structure=groups).fit(chunk_arrays(X, y))


def test_rows_that_are_held_out_have_no_say_in_what_is_looked_at():
    from singleindex.design import as_design
    from singleindex.design.survey import survey_rows
    from singleindex.fitting.block_columns import most_telling

    rng = np.random.default_rng(0)
    X, fold = rng.standard_normal((90, 30)), np.arange(90) % 3
    Y = rng.standard_normal((90, 2))
    surveys = [survey_rows(as_design(X[fold == k]), Y[fold == k], None) for k in range(3)]
    telling = most_telling(surveys, 10)
    assert 5 <= len(telling.which) <= 10
    for held in range(3):
        rows = fold != held
        centred = X[rows] - X[rows].mean(axis=0)
        size = np.abs(centred.T @ (Y[rows] - Y[rows].mean(axis=0))).max(axis=1) / centred.std(axis=0)
        n_each = np.count_nonzero(telling.allowed[held])
        assert set(telling.which[telling.allowed[held]]) == set(np.argsort(-size)[:n_each])


def test_noise_in_very_many_columns_is_no_signal(monkeypatch):
    from singleindex.fitting import block_columns

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 400)), rng.integers(0, 2, 300)
    monkeypatch.setattr(block_columns, "_MOST_PRODUCTS", 3 * 40 * 40)
    with pytest.warns(block_columns.ColumnsLeftOutWarning):
        model = SingleIndexClassifierCV(cv=HashKFold(3)).fit(chunk_arrays(X, y, chunk_rows=100))
    assert -model.best_score_ > 0.67  # of log 2; chosen by all rows, columns make it look like .5
