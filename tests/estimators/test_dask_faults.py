"""A cluster whose workers die, whose scheduler is lost, or whose blocks are bad; and how much travels."""

import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.base import clone

from singleindex import SingleIndexRegressor
from singleindex.design import ChunkError
from singleindex.design import dask as on_dask
from singleindex.solvers import OnePass, OnePassGradient

da = pytest.importorskip("dask.array", reason="pip install 'singleindex[dask]'")
distributed = pytest.importorskip("distributed", reason="pip install 'singleindex[dask]'")


def make_rows(n=1200, d=10):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) * np.linspace(0.3, 2, d)
    return X, np.tanh(X[:, :4].sum(axis=1)) + 0.1 * rng.standard_normal(n)


def at_iteration(t, action, monkeypatch):
    """Do something in mid-fit, before this iteration visits the rows."""
    look = OnePassGradient.look

    def acting(method, state, n_iter):
        if n_iter == t:
            action()
        return look(method, state, n_iter)

    monkeypatch.setattr(OnePassGradient, "look", acting)


@pytest.mark.parametrize("persisted", [True, False])
def test_a_killed_worker_changes_nothing(with_workers, monkeypatch, persisted):
    client = with_workers(2)
    X, y = make_rows()
    Xd, yd = da.from_array(X, chunks=(200, 10)), da.from_array(y, chunks=200)
    if persisted:
        Xd, yd = client.persist([Xd, yd])
        distributed.wait([Xd, yd])
    model = SingleIndexRegressor(5, max_iter=6, tol=0, solver=OnePass())
    expected = clone(model).fit(Xd, yd)
    killed = []

    def kill_one():
        address, pid = next(iter(client.run(os.getpid).items()))
        os.kill(pid, signal.SIGKILL)
        killed.append(address)

    at_iteration(2, kill_one, monkeypatch)
    got = clone(model).fit(Xd, yd)
    assert len(killed) == 1
    assert (got.coef_ == expected.coef_).all()  # the order of sums does not depend on the workers
    assert (got.predict(X) == expected.predict(X)).all()
    client.wait_for_workers(2, timeout=60)


def test_what_travels_does_not_grow_with_the_rows(monkeypatch):
    sizes = {}
    for n in (2000, 20_000):
        X, y = make_rows(n)
        Xd, yd = da.from_array(X, chunks=(n // 4, 10)), da.from_array(y, chunks=n // 4)
        travelled = []

        def recording(block_task, *args, run=on_dask._run, travelled=travelled):
            result = run(block_task, *args)
            travelled.append(len(pickle.dumps(result)))
            return result

        with monkeypatch.context() as patch:
            import dask

            patch.setattr(on_dask, "_run", recording)
            with dask.config.set(scheduler="synchronous"):
                SingleIndexRegressor(max_iter=4, tol=0, solver=OnePass(n_bins=64)).fit(Xd, yd)
        sizes[n] = max(travelled)
    assert sizes[20_000] < 1.3 * sizes[2000]
    assert (
        sizes[20_000] < 8 * (10 * 10 + 3 * 64) + 16_000
    )  # d and bins, and what pickle adds; y's labels above it


def test_a_bad_block_is_named():
    import dask

    X, y = make_rows()
    X[777, 3] = np.nan
    with dask.config.set(scheduler="synchronous"):
        with pytest.raises(ChunkError, match=r"block 3 of the Dask data: X holds NaN .*row 177, column 3"):
            SingleIndexRegressor().fit(da.from_array(X, chunks=(200, 10)), y)
        rows, target = da.from_array(X, chunks=(200, 10)), da.from_array(y, chunks=300)
        with pytest.raises(ValueError, match="y has 100 rows where X has 1200"):
            SingleIndexRegressor().fit(rows, y[:100])
        with pytest.raises(ValueError, match="y is missing"):
            SingleIndexRegressor().fit(rows)
        short = da.from_array(X, chunks=(200, 10))[da.from_array(X[:, 0] > 0, chunks=200)]
        with pytest.raises(ValueError, match="y must be a Dask collection too"):
            SingleIndexRegressor().fit(short, y)
        with pytest.raises(ValueError, match="y has 4 blocks where X has 6"):
            SingleIndexRegressor().fit(short, target)
        with pytest.raises(ChunkError, match=r"block \d of the Dask data: .*different numbers of rows"):
            SingleIndexRegressor().fit(short, da.from_array(y, chunks=200))


def test_partitions_with_other_columns():
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    import dask

    X, y = make_rows()
    names = [f"x{j}" for j in range(10)]

    def part(k):
        columns = names if k != 1 else [*names[:-1], "other"]
        return pd.DataFrame(X[k * 400 : (k + 1) * 400], columns=columns)

    meta = part(0).iloc[:0]
    frame = dd.from_map(part, [0, 1, 2], meta=meta, enforce_metadata=False)
    target = dd.from_pandas(pd.Series(y), npartitions=3)
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(
            ChunkError, match=r"block 1 of the Dask data: its columns are not those .*\(other, x9\)"
        ),
    ):
        SingleIndexRegressor().fit(frame, target)


@pytest.fixture
def lone_scheduler(tmp_path):
    """A scheduler and a worker in processes of their own; yields the file that tells where, and its pid."""
    file = tmp_path / "scheduler.json"
    run = [sys.executable, "-W", "ignore", "-m"]
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = [
        subprocess.Popen(
            [*run, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
             "--scheduler-file", str(file)], **options),
        subprocess.Popen(
            [*run, "distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1",
            "--no-nanny",
             "--no-dashboard", "--death-timeout", "60"], **options),
    ]  # fmt: skip
    deadline = time.monotonic() + 60
    while not file.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    yield file, processes[0]
    for process in processes:
        process.kill()
        process.wait()


def test_a_lost_scheduler_is_told(lone_scheduler, monkeypatch):
    import dask

    file, scheduler = lone_scheduler
    X, y = make_rows()
    settings = {"distributed.comm.timeouts.connect": "1s", "distributed.comm.retry.count": 0}
    with dask.config.set(settings):
        client = distributed.Client(scheduler_file=str(file), timeout=60, set_as_default=False)
        with client.as_current(), dask.config.set(scheduler=client.get):
            at_iteration(1, scheduler.kill, monkeypatch)
            model = SingleIndexRegressor(max_iter=6, tol=0)
            with pytest.raises(
                on_dask.ClusterError,
                match=r"scheduler at tcp://127\.0\.0\.1:\d+ was lost in mid-fit.*checkpoint",
            ):
                model.fit(da.from_array(X, chunks=(300, 10)), y)
            assert not hasattr(model, "coef_")
        client.close(timeout=1)
