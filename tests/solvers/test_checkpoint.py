"""Checkpoints: a fit that was killed goes on to the same model, bit for bit."""

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from singleindex import SingleIndexClassifier, SingleIndexRegressor, load, save
from singleindex.design import chunk_arrays, read_chunks
from singleindex.solvers import Checkpoint, CheckpointError, OnePass

FIT = textwrap.dedent(
    """
    import sys
    from singleindex import SingleIndexRegressor, save
    from singleindex.design import read_chunks
    from singleindex.solvers import OnePass

    folder, n_bins = sys.argv[1], int(sys.argv[2]) or None
    solver = OnePass(n_bins=n_bins, checkpoint=f"{folder}/fit.ckpt", checkpoint_every=2)
    data = read_chunks(f"{folder}/X.npy", f"{folder}/y.npy", chunk_rows=500)
    model = SingleIndexRegressor(8, max_iter=12, tol=0, solver=solver, verbose=1).fit(data)
    save(model, f"{folder}/model.sim")
    """
)


def make_rows(n=2000, d=20):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) * np.linspace(0.3, 2, d)
    return X, np.tanh(X[:, :8].sum(axis=1) / 3) + 0.1 * rng.standard_normal(n)


def run_until(folder, n_bins, iteration):
    """Fit in another process and kill it, as `kill -9` does, when it tells of this iteration."""
    process = subprocess.Popen(
        [sys.executable, "-c", FIT, str(folder), str(n_bins)], stderr=subprocess.PIPE, text=True
    )
    with process:
        for line in process.stderr:
            if f"iteration {iteration}/" in line:
                os.kill(process.pid, signal.SIGKILL)
                break
    return process.returncode


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
@pytest.mark.parametrize("n_bins", [256, 0])
def test_a_killed_fit_goes_on_to_the_same_model(tmp_path, n_bins):
    X, y = make_rows()
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    assert run_until(tmp_path, n_bins, 6) == -signal.SIGKILL
    assert (tmp_path / "fit.ckpt").exists()
    assert not (tmp_path / "model.sim").exists()
    told = subprocess.run(
        [sys.executable, "-c", FIT, str(tmp_path), str(n_bins)], stderr=subprocess.PIPE, text=True, check=True
    ).stderr
    assert "iteration 2/12" not in told  # it did go on, and did not begin anew
    assert not (tmp_path / "fit.ckpt").exists()
    resumed = load(tmp_path / "model.sim")
    data = read_chunks(tmp_path / "X.npy", tmp_path / "y.npy", chunk_rows=500)
    whole = SingleIndexRegressor(8, max_iter=12, tol=0, solver=OnePass(n_bins=n_bins or None)).fit(data)
    assert (resumed.coef_ == whole.coef_).all()
    assert (resumed.predict(X) == whole.predict(X)).all()
    assert resumed.n_iter_ == whole.n_iter_ == 12
    for name, values in whole.history_.items():
        assert (resumed.history_[name] == values).all(), name


class Stop(Exception):
    pass


def stop_at(iteration, monkeypatch):
    """Make the fit fail when it comes to this iteration."""
    from singleindex.solvers import one_pass

    look = one_pass.OnePassGradient.look

    def failing(method, state, n_iter):
        if n_iter == iteration:
            raise Stop
        return look(method, state, n_iter)

    monkeypatch.setattr(one_pass.OnePassGradient, "look", failing)


@pytest.mark.parametrize("in_memory", [True, False])
@pytest.mark.parametrize("link", ["learned", "logistic"])
@pytest.mark.parametrize("stop", [3, 5])
def test_what_was_broken_off_goes_on(tmp_path, monkeypatch, in_memory, link, stop):
    X, y = make_rows()
    y = (y > 0).astype(int)
    solver = OnePass(checkpoint=tmp_path / "fit.ckpt", checkpoint_every=2)
    model = SingleIndexClassifier(8, link=link, max_iter=9, tol=0, solver=solver)
    data = (X, y) if in_memory else (chunk_arrays(X, y, chunk_rows=300),)
    with monkeypatch.context() as patch:
        stop_at(stop, patch)
        with pytest.raises(Stop):
            model.fit(*data)
    assert (tmp_path / "fit.ckpt").exists()
    model.fit(*data)
    assert not list(tmp_path.iterdir())
    whole = SingleIndexClassifier(8, link=link, max_iter=9, tol=0, solver=OnePass()).fit(*data)
    assert (model.coef_ == whole.coef_).all()
    assert (model.predict_proba(X) == whole.predict_proba(X)).all()


def test_each_output_has_its_own(tmp_path, monkeypatch):
    X, y = make_rows()
    Y = np.column_stack([y, -X[:, 0]])
    model = SingleIndexRegressor(
        max_iter=4, tol=0, solver=OnePass(checkpoint=tmp_path / "c", checkpoint_every=1)
    )
    with monkeypatch.context() as patch:
        stop_at(2, patch)
        with pytest.raises(Stop):
            model.fit(X, Y)
    assert [path.name for path in tmp_path.iterdir()] == ["c.0"]
    model.fit(X, Y)
    assert not list(tmp_path.iterdir())


def broken_off(tmp_path, monkeypatch, **settings):
    X, y = make_rows()
    path = tmp_path / "fit.ckpt"
    solver = OnePass(checkpoint=path, checkpoint_every=1)
    with monkeypatch.context() as patch:
        stop_at(2, patch)
        with pytest.raises(Stop):
            SingleIndexRegressor(8, max_iter=6, tol=0, solver=solver, **settings).fit(X, y)
    return X, y, solver, path


def test_a_checkpoint_of_another_fit_is_refused(tmp_path, monkeypatch):
    X, y, solver, path = broken_off(tmp_path, monkeypatch)
    for other in (
        lambda: SingleIndexRegressor(8, alpha=0.2, solver=solver).fit(X, y),
        lambda: SingleIndexRegressor(8, solver=solver).fit(X, y + X[:, 0]),
        lambda: SingleIndexRegressor(8, solver=solver).fit(X[:-1], y[:-1]),
    ):
        with pytest.raises(
            CheckpointError, match=r"fit\.ckpt: it belongs to a fit of other data.*Delete the file"
        ):
            other()
    assert path.exists()
    # More iterations are the same fit.
    assert SingleIndexRegressor(8, max_iter=8, tol=0, solver=solver).fit(X, y).n_iter_ == 8


@pytest.mark.parametrize("content", [b"", b"no archive", None])
def test_a_damaged_checkpoint_is_refused(tmp_path, monkeypatch, content):
    X, y, solver, path = broken_off(tmp_path, monkeypatch)
    path.write_bytes(path.read_bytes()[:-100] if content is None else content)
    with pytest.raises(
        CheckpointError, match=r"fit\.ckpt: it is no checkpoint, or damaged\. Delete the file"
    ):
        SingleIndexRegressor(8, max_iter=6, tol=0, solver=solver).fit(X, y)


def test_where_no_checkpoint_can_be_kept(tmp_path):
    X, y = make_rows(100)
    with pytest.raises(FileNotFoundError, match="create it first"):
        SingleIndexRegressor(solver=OnePass(checkpoint=tmp_path / "no" / "c")).fit(X, y)
    model = SingleIndexRegressor(
        link=np.arctan, tol=0, max_iter=3, solver=OnePass(checkpoint=tmp_path / "c", checkpoint_every=1)
    )
    with pytest.raises(CheckpointError, match="link function of one's own"):
        model.fit(X, y)


# ---------------------------------------------------------------- only ever our own file


def test_a_file_that_is_no_checkpoint_is_neither_deleted_nor_written(tmp_path):
    """Solvers that keep no checkpoint do not touch the file either."""
    X, y = make_rows(300)
    path = tmp_path / "thesis.txt"
    path.write_text("ten years")
    model = SingleIndexRegressor(8, max_iter=4, tol=0, solver=OnePass(checkpoint=path, checkpoint_every=1))
    model.partial_fit(X, y)
    assert path.read_text() == "ten years"
    with pytest.raises(CheckpointError, match="it is no checkpoint"):
        model.fit(X, y)
    assert path.read_text() == "ten years"


@pytest.mark.parametrize("content", [b"ten years", None])
def test_a_file_that_took_the_place_of_the_checkpoint_is_left(tmp_path, monkeypatch, content):
    """None stands for the checkpoint of another fit."""
    X, y = make_rows(300)
    path = tmp_path / "c"
    other = path_of_another_checkpoint(tmp_path, monkeypatch) if content is None else content
    settings = {"max_iter": 6, "tol": 0, "solver": OnePass(checkpoint=path, checkpoint_every=1)}
    with monkeypatch.context() as patch:
        put_at(5, path, other, patch)
        SingleIndexRegressor(8, **settings).fit(X, y)  # the last iteration keeps nothing
    assert path.read_bytes() == other
    path.unlink()
    with monkeypatch.context() as patch:
        put_at(3, path, other, patch)
        with pytest.raises(CheckpointError, match=r"Cannot keep the fit in .*name of its own"):
            SingleIndexRegressor(8, **settings).fit(X, y)
    assert path.read_bytes() == other


def path_of_another_checkpoint(tmp_path, monkeypatch):
    *_, path = broken_off(tmp_path, monkeypatch)
    content = path.read_bytes()
    path.unlink()
    return content


def put_at(iteration, path, content, monkeypatch):
    """Write something else to the file while the fit is at this iteration."""
    from singleindex.solvers import one_pass

    record = one_pass._Loop.record

    def meddling(loop, state, seen):
        if state.t == iteration:
            path.write_bytes(content)
        return record(loop, state, seen)

    monkeypatch.setattr(one_pass._Loop, "record", meddling)


def test_a_link_to_a_checkpoint_stays(tmp_path, monkeypatch):
    X, y, solver, path = broken_off(tmp_path, monkeypatch)
    path.rename(tmp_path / "real")
    path.symlink_to("real")
    SingleIndexRegressor(8, max_iter=6, tol=0, solver=solver).fit(X, y)
    assert path.is_symlink()
    assert not (tmp_path / "real").exists()


def test_a_pipe_is_no_checkpoint(tmp_path):
    X, y = make_rows(100)
    os.mkfifo(tmp_path / "c")
    with pytest.raises(FileExistsError, match="a pipe"):
        SingleIndexRegressor(solver=OnePass(checkpoint=tmp_path / "c")).fit(X, y)
    with pytest.raises(CheckpointError, match="not a regular file"):
        Checkpoint(tmp_path / "c", "mark").load((100, 20))


def test_a_model_file_names_no_path(tmp_path, monkeypatch):
    X, y = make_rows(300)
    monkeypatch.chdir(tmp_path)
    save(SingleIndexRegressor(solver=OnePass(64, checkpoint="thesis.txt")), "model.sim")
    assert b"thesis" not in (tmp_path / "model.sim").read_bytes()
    assert load("model.sim").solver == OnePass(64)
    # One that an earlier version wrote has it.
    old = gzip.decompress((Path(__file__).parents[1] / "estimators/saved/classifier.sim.gz").read_bytes())
    assert b"thesis.txt" in old
    model = load(io.BytesIO(old))
    assert model.solver == OnePass(16)
    (tmp_path / "thesis.txt").write_text("ten years")
    model.fit(X, y > 0).partial_fit(X, y > 0, classes=[False, True])
    assert (tmp_path / "thesis.txt").read_text() == "ten years"


# ---------------------------------------------------------------- forged, with the right fingerprint


def forged(content, **changes):
    """Return a checkpoint with other arrays, or with other entries of its head."""
    with np.load(io.BytesIO(content)) as file:
        arrays = dict(file)
    head = json.loads(str(arrays["head"]))
    head |= {name: value for name, value in changes.items() if name in head}
    arrays |= {name: value for name, value in changes.items() if name not in head}
    arrays["head"] = np.array(json.dumps(head))
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


FORGERIES = {
    "short w": {"w": np.zeros(3)},
    "w of another kind": {"w": np.zeros(20, dtype=np.float32)},
    "NaN in w": {"w": np.full(20, np.nan)},
    "w_old of two dimensions": {"w_old": np.zeros((20, 1))},
    "coefficients of another length": {"best_coef": np.zeros(21)},
    "old index of another length": {"index_old": np.zeros(5)},
    "a curve of unequal lengths": {"link_y": np.zeros(1)},
    "an empty curve": {"link_x": np.zeros(0), "link_y": np.zeros(0)},
    "a curve that falls": {"best_link_x": np.arange(2.0), "best_link_y": np.array([1.0, 0.0])},
    "a curve in disorder": {"link_x": np.array([1.0, 0.0]), "link_y": np.arange(2.0)},
    "points of unequal lengths": {"points_y": np.zeros(1)},
    "a width that never ends": {"exponent": -(10**9)},
    "a width that is no number": {"exponent": "wide"},
    "iterations": {"t": -1},
    "iterations that are no count": {"t": 2.5},
    "history": {"history": np.zeros((2, 3))},
    "an infinite step": {"step": "inf"},
    "no head": {"link": None},
}


@pytest.mark.parametrize("change", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_checkpoint_is_refused(tmp_path, monkeypatch, change):
    X, y, solver, path = broken_off(tmp_path, monkeypatch)
    model = SingleIndexRegressor(8, max_iter=6, tol=0, solver=solver)
    path.write_bytes(forged(path.read_bytes(), **change))
    with pytest.raises(CheckpointError, match="no checkpoint, or damaged"):
        model.fit(X, y)
    assert path.exists()


def test_forging_alone_changes_nothing(tmp_path, monkeypatch):
    X, y, solver, path = broken_off(tmp_path, monkeypatch)
    path.write_bytes(forged(path.read_bytes()))
    assert SingleIndexRegressor(8, max_iter=6, tol=0, solver=solver).fit(X, y).n_iter_ == 6


def test_a_checkpoint_that_would_not_fit_in_memory_is_refused(tmp_path, monkeypatch):
    X, y, solver, path = broken_off(tmp_path, monkeypatch)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, w=np.zeros(10**6))
    path.write_bytes(buffer.getvalue())
    monkeypatch.setenv("SINGLEINDEX_MAX_BYTES", "1000000")
    with pytest.raises(CheckpointError, match=r"SINGLEINDEX_MAX_BYTES=8000\d\d\d"):
        SingleIndexRegressor(8, max_iter=6, tol=0, solver=solver).fit(X, y)
