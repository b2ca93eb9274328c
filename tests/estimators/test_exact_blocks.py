"""Exact steps over rows in blocks: the model of the memory, on columns that gradients are lost on."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from singleindex import SingleIndexClassifier, SingleIndexRegressor
from singleindex.design import ChunkError, chunk_arrays, read_chunks
from singleindex.design.blocks import Block, CovarianceTask, Target
from singleindex.fitting import exact_blocks, plan
from singleindex.solvers import ExactSteps, OnePassExact, OnePassGradient
from singleindex.structures import GroupSparse, RowSparse, Sparse

N, D, K = 3000, 40, 6


def make_rows(n=N, rho=0.7, units=0.0, seed=0):
    """Return X of one common factor, in units of up to 10 to the ± `units`, y, and the true w."""
    rng = np.random.default_rng(seed)
    X = np.sqrt(rho) * rng.normal(size=(n, 1)) + np.sqrt(1 - rho) * rng.normal(size=(n, D))
    w = np.zeros(D)
    w[rng.choice(D, K, replace=False)] = rng.choice([-1, 1], K) * rng.uniform(0.5, 1.5, K)
    index = X @ w
    y = np.clip(index / index.std(), -0.3, 1) + 0.3 * rng.normal(size=n)
    unit = 10 ** rng.uniform(-units, units, D)
    return X * unit, y, w / unit


def cosine(a, b):
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


WAYS = {"few atoms": {"n_atoms": K}, "penalty": {"penalty": 0.02}, "ridge": {"alpha": 1e-3}}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


def model_of(way, **settings):
    return SingleIndexRegressor(**{"solver": "exact", "max_iter": 300, **way, **settings})


def assert_same(model, expected, atol=1e-8):
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=0, atol=atol * np.abs(expected.coef_).max())
    assert (model.n_iter_, model.status_) == (expected.n_iter_, expected.status_)
    grid = np.linspace(-2, 2, 50)
    np.testing.assert_allclose(model.link_(grid), expected.link_(grid), atol=1e-7)


# ---------------------------------------------------------------- one model, however rows are held


@every_way
def test_files_give_the_model_of_one_block(way, tmp_path):
    pytest.importorskip("pyarrow", reason="pip install 'singleindex[files]'")
    X, y, _ = make_rows(600)
    np.save(tmp_path / "X.npy", X)
    np.savetxt(
        tmp_path / "rows.csv", np.column_stack([X, y]), delimiter=",", fmt="%.17g", comments="",
        header=",".join([*(f"x{j}" for j in range(D)), "y"]),
    )  # fmt: skip
    expected = model_of(way).fit(chunk_arrays(X, y, chunk_rows=len(y)))
    for data in (
        read_chunks(tmp_path / "X.npy", y, chunk_rows=130),
        read_chunks(tmp_path / "rows.csv", "y", chunk_rows=100),
        chunk_arrays(sparse.csr_array(X), y, chunk_rows=250),
    ):
        assert_same(model_of(way).fit(data), expected)


@every_way
def test_long_data_in_memory_give_the_model_of_blocks(way, monkeypatch):
    X, y, _ = make_rows()
    monkeypatch.setattr(plan, "LONG_DENSE", 1000)
    model = model_of(way, solver="auto")
    taken = record_methods(monkeypatch)
    in_memory = clone(model).fit(X, y)
    in_blocks = clone(model).fit(chunk_arrays(X, y, chunk_rows=700))
    assert taken == [OnePassExact, OnePassExact]
    assert_same(in_blocks, in_memory)


def record_methods(monkeypatch):
    taken = []
    look = OnePassGradient.look

    def looking(method, state, n_iter):
        if n_iter == 0:
            taken.append(type(method))
        return look(method, state, n_iter)

    monkeypatch.setattr(OnePassGradient, "look", looking)
    return taken


@every_way
def test_partitions_of_dask_give_the_model_of_one_block(way):
    da = pytest.importorskip("dask.array", reason="pip install 'singleindex[dask]'")
    X, y, _ = make_rows(800)
    expected = model_of(way).fit(chunk_arrays(X, y, chunk_rows=len(y)))
    for n_partitions in (1, 2, 4):
        rows = -(-len(y) // n_partitions)
        model = model_of(way).fit(da.from_array(X, chunks=(rows, D)), da.from_array(y, chunks=rows))
        assert_same(model, expected)


def test_the_comparison_tells_models_apart():
    X, y, _ = make_rows(400)
    model = model_of({"penalty": 0.02}).fit(chunk_arrays(X, y, chunk_rows=100))
    other = model_of({"penalty": 0.0201}).fit(chunk_arrays(X, y, chunk_rows=100))
    with pytest.raises(AssertionError):
        assert_same(other, model)


@every_way
def test_weights_are_repetition(way):
    X, y, _ = make_rows(500)
    times = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = model_of(way).fit(chunk_arrays(X, y, times.astype(float), chunk_rows=90))
    rows = np.repeat(np.arange(len(y)), times)
    repeated = model_of(way).fit(chunk_arrays(X[rows], y[rows], chunk_rows=200))
    np.testing.assert_allclose(
        weighted.coef_, repeated.coef_, rtol=0, atol=1e-8 * np.abs(repeated.coef_).max()
    )


@every_way
def test_columns_in_powers_of_two_have_the_same_bits(way):
    X, y, _ = make_rows(500)
    unit = 2.0 ** np.random.default_rng(2).integers(-10, 11, D)
    model = model_of(way, scale_power=1)
    plain = clone(model).fit(chunk_arrays(X, y, chunk_rows=150))
    other = clone(model).fit(chunk_arrays(X * unit, y, chunk_rows=150))
    assert (other.coef_ * unit == plain.coef_).all()


def test_blas_threads_change_no_bit():
    code = (
        "import numpy as np\n"
        "from singleindex.design import DenseDesign, Moments\n"
        "X = np.random.default_rng(0).normal(size=(600, 700)) + 3\n"
        "print(hash(Moments.of(DenseDesign(X), X[:, 0]).covariance.tobytes()))\n"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": n, "OMP_NUM_THREADS": n, "PYTHONHASHSEED": "0"},
        ).stdout
        for n in ("1", "2")
    }  # fmt: skip
    assert len(answers) == 1


# ---------------------------------------------------------------- as good as in memory


@pytest.mark.parametrize("way", [WAYS["penalty"], WAYS["ridge"]], ids=["penalty", "ridge"])
def test_it_settles_where_the_memory_does(way):
    X, y, _ = make_rows()
    settings = {"tol": 1e-4, "max_iter": 1000}
    in_blocks = model_of(way, **settings).fit(chunk_arrays(X, y, chunk_rows=700))
    in_memory = model_of(way, **settings).fit(X, y)
    assert cosine(in_blocks.coef_, in_memory.coef_) > 0.9999


@every_way
@pytest.mark.parametrize("units", [0, 3])
def test_correlated_columns_in_any_units(way, units):
    X, y, w = make_rows(units=units)
    model, sd = model_of(way, scale_power=1), X.std(axis=0)
    data = chunk_arrays(X, y, chunk_rows=700)
    found = {solver: clone(model).set_params(solver=solver).fit(data) for solver in ("auto", "one-pass")}
    in_memory = clone(model).fit(X, y)
    truth = cosine(in_memory.coef_ * sd, w * sd)
    assert cosine(found["auto"].coef_ * sd, w * sd) > max(0.95, truth - 0.01)
    assert cosine(found["one-pass"].coef_ * sd, w * sd) < 0.85  # or the columns are too easy


def test_classes_and_several_outputs():
    X, y, w = make_rows()
    labels = np.where(y > np.median(y), "b", "a")
    model = SingleIndexClassifier(K, solver="exact").fit(chunk_arrays(X, labels, chunk_rows=700))
    assert cosine(model.coef_, w) > 0.9
    other = np.column_stack([y, -y])
    both = model_of(WAYS["ridge"]).fit(chunk_arrays(X, other, chunk_rows=700))
    assert cosine(both.coef_[:, 0], w) > 0.9
    assert cosine(both.coef_[:, 1], -w) > 0.9


def test_groups_and_signs():
    X, y, w = make_rows()
    signs = np.where(w < 0, -1, 1)
    data = chunk_arrays(X * signs, y, chunk_rows=700)
    for way in WAYS.values():
        model = model_of(way, structure=Sparse(positive=True)).fit(data)
        assert (model.coef_ >= 0).all()
        assert cosine(model.coef_, np.abs(w)) > 0.95
    groups = np.arange(D) // 4
    model = model_of({}, n_atoms=3, structure=GroupSparse(groups)).fit(data)
    assert len(set(groups[np.flatnonzero(model.coef_)])) == 3


@pytest.mark.parametrize("hold", [lambda X, y: (X, y), lambda X, y: (chunk_arrays(X, y, chunk_rows=700),)])
def test_a_penalty_of_few_atoms(hold):
    X, y, _ = make_rows()
    model = model_of({"n_atoms": 4, "penalty": 0.01}).fit(*hold(X, y))
    assert np.count_nonzero(model.coef_) == 4


# ---------------------------------------------------------------- when it is taken


def test_independent_columns_keep_their_way_and_their_readings(monkeypatch):
    X, y, _ = make_rows(rho=0.0)
    taken, sources = record_methods(monkeypatch), []
    for solver in ("auto", "one-pass"):
        data = chunk_arrays(X, y, chunk_rows=700)
        sources.append(count_readings(data, monkeypatch))
        model_of(WAYS["few atoms"], solver=solver).fit(data)
    assert taken == [OnePassGradient, OnePassGradient]
    assert sources[0] == sources[1]


def count_readings(data, monkeypatch):
    tasks = []
    reduce = data.reduce
    monkeypatch.setattr(
        data, "reduce", lambda task: (tasks.append(type(task).__name__), reduce(task))[1], raising=True
    )
    return tasks


def test_more_columns_than_products_can_be_kept_of(monkeypatch):
    X, y, _ = make_rows(300)
    monkeypatch.setattr(exact_blocks, "MOST_COLUMNS", D - 1)
    data = chunk_arrays(X, y, chunk_rows=100)
    with pytest.raises(ValueError, match="use solver='one-pass'"):
        model_of({}).fit(data)
    taken = record_methods(monkeypatch)
    model_of({}, solver="auto").fit(data)
    assert taken == [OnePassGradient]


@pytest.mark.parametrize("settings", [{"structure": RowSparse(), "n_atoms": 5}, {"shared_link": True}])
def test_outputs_that_are_tied_together_are_refused(settings):
    X, y, _ = make_rows(300)
    with pytest.raises(ValueError, match="use solver='two-pass'"):
        model_of({}, **settings).fit(chunk_arrays(X, np.column_stack([y, -y]), chunk_rows=100))


def test_steps_that_have_not_settled_are_told_of():
    X, y, _ = make_rows(300)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model_of({}, max_iter=2, tol=1e-12).fit(chunk_arrays(X, y, chunk_rows=100))


# ---------------------------------------------------------------- when something breaks


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@every_way
def test_what_was_broken_off_goes_on_to_the_same_model(way, tmp_path, monkeypatch):
    X, y, _ = make_rows(600)
    path = tmp_path / "fit.ckpt"
    model = model_of(way, max_iter=6, tol=0, solver=ExactSteps(checkpoint=path, checkpoint_every=1))
    data = chunk_arrays(X, y, chunk_rows=200)
    expected = clone(model).set_params(solver="exact").fit(data)

    class Stop(Exception):
        pass

    look = OnePassExact.look

    def stopping(method, state, n_iter):
        if n_iter == 3:
            raise Stop
        return look(method, state, n_iter)

    with monkeypatch.context() as patch:
        patch.setattr(OnePassExact, "look", stopping)
        with pytest.raises(Stop):
            clone(model).fit(data)
    assert path.exists()
    went_on = clone(model).fit(data)
    assert (went_on.coef_ == expected.coef_).all()
    assert (went_on.predict(X) == expected.predict(X)).all()
    assert not path.exists()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_killed_worker_changes_nothing(with_workers, monkeypatch):
    da = pytest.importorskip("dask.array", reason="pip install 'singleindex[dask]'")
    client = with_workers(2)
    X, y, _ = make_rows(600)
    Xd, yd = da.from_array(X, chunks=(100, D)), da.from_array(y, chunks=100)
    model = model_of(WAYS["few atoms"], max_iter=4, tol=0)
    expected = clone(model).fit(Xd, yd)
    killed, look = [], OnePassGradient.look

    def killing(method, state, n_iter):
        if n_iter == 2:
            address, pid = next(iter(client.run(os.getpid).items()))
            os.kill(pid, signal.SIGKILL)
            killed.append(address)
        return look(method, state, n_iter)

    monkeypatch.setattr(OnePassGradient, "look", killing)
    got = clone(model).fit(Xd, yd)
    assert len(killed) == 1
    assert (got.coef_ == expected.coef_).all()
    client.wait_for_workers(2, timeout=60)


def test_blocks_that_have_no_rows_or_no_weight():
    X, y, _ = make_rows(400)
    weight = np.ones(len(y))
    weight[:100] = 0
    model = model_of(WAYS["ridge"])
    expected = clone(model).fit(chunk_arrays(X[100:], y[100:], chunk_rows=100))
    got = clone(model).fit(chunk_arrays(X, y, weight, chunk_rows=100))
    np.testing.assert_allclose(got.coef_, expected.coef_, atol=1e-8 * np.abs(expected.coef_).max())


def test_data_that_changed_while_they_were_read():
    X, y, _ = make_rows(100)
    X[50, 3] = np.nan
    with pytest.raises(ChunkError, match="rows 7: X holds NaN or infinity"):
        CovarianceTask((Target(),))(Block(X, y, name="rows 7"))
