"""Checkpoints: a fit that was killed goes on to the same model, bit for bit."""

import gzip
import io
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from broken_fits import SOLVERS, Stop, at_iteration, broken_off, every_solver, make_rows, ratings, stop_at
from scipy import sparse

from singleindex import SingleIndexClassifier, SingleIndexRegressor, load, save
from singleindex.design import chunk_arrays, read_chunks
from singleindex.link import Lpav
from singleindex.solvers import (
    Checkpoint,
    CheckpointError,
    OnePass,
    TwoPass,
    drive,
)
from singleindex.solvers.alternate import Ridge
from singleindex.solvers.completion import Completion
from singleindex.structures import RowSparse

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


RAW = {
    "dense": lambda X: X,
    "sparse": sparse.csr_array,
    "chunks": lambda X: None,
}


@pytest.mark.parametrize("link", ["learned", "logistic"])
@pytest.mark.parametrize("kind", RAW)
def test_two_passes_go_on(tmp_path, monkeypatch, kind, link):
    X, y = make_rows()
    y = (y > 0).astype(int)
    data = (chunk_arrays(X, y, chunk_rows=300),) if kind == "chunks" else (RAW[kind](X), y)
    settings = {"link": link, "max_iter": 9, "tol": 0, "penalty": 0.1}
    solver = TwoPass(checkpoint=tmp_path / "fit.ckpt", checkpoint_every=2)
    model = SingleIndexClassifier(8, solver=solver, **settings)
    with monkeypatch.context() as patch:
        stop_at(5, patch)
        with pytest.raises(Stop):
            model.fit(*data)
    assert (tmp_path / "fit.ckpt").exists()
    seen = []
    with monkeypatch.context() as patch:
        for iteration in range(9):
            at_iteration(iteration, patch, lambda iteration=iteration: seen.append(iteration))
        model.fit(*data)
    assert seen == [4, 5, 6, 7, 8]  # it did go on, and did not begin anew
    assert not list(tmp_path.iterdir())
    whole = SingleIndexClassifier(8, solver=TwoPass(), **settings).fit(*data)
    assert (model.coef_ == whole.coef_).all()
    assert (model.predict_proba(X) == whole.predict_proba(X)).all()
    for name, values in whole.history_.items():
        assert (model.history_[name] == values).all(), name


@pytest.mark.parametrize("settings", [{"structure": RowSparse()}, {"shared_link": True}])
def test_outputs_that_are_fitted_together_share_one(tmp_path, monkeypatch, settings):
    X, y = make_rows()
    Y = np.column_stack([y, -X[:, 0]])
    solver = TwoPass(checkpoint=tmp_path / "c", checkpoint_every=1)
    model = SingleIndexRegressor(6, max_iter=6, tol=0, solver=solver, **settings)
    with monkeypatch.context() as patch:
        stop_at(3, patch)
        with pytest.raises(Stop):
            model.fit(X, Y)
    assert [path.name for path in tmp_path.iterdir()] == ["c"]
    model.fit(X, Y)
    assert not list(tmp_path.iterdir())
    whole = SingleIndexRegressor(6, max_iter=6, tol=0, solver=TwoPass(), **settings).fit(X, Y)
    assert (model.coef_ == whole.coef_).all()
    assert (model.predict(X) == whole.predict(X)).all()


def test_a_completion_goes_on(tmp_path, monkeypatch):
    def solve(checkpoint=None):
        method = Completion(ratings(), Lpav(1.0), Ridge((0.1, 0.1)), n_atoms=2, penalty=0.1)
        return drive(method, max_iter=8, tol=0, checkpoint=checkpoint)

    checkpoint = Checkpoint(tmp_path / "c", "mark", every=2)
    with monkeypatch.context() as patch:
        stop_at(5, patch)
        with pytest.raises(Stop):
            solve(checkpoint)
    resumed, whole = solve(checkpoint), solve()
    assert (resumed.best.parts.left == whole.best.parts.left).all()
    assert (resumed.best.parts.right == whole.best.parts.right).all()
    assert (resumed.best.link.y == whole.best.link.y).all()
    assert all((resumed.history[name] == whole.history[name]).all() for name in whole.history)


@pytest.mark.parametrize("every", [0, 2.5, True])
def test_how_often_must_be_a_count(every):
    X, y = make_rows(100)
    with pytest.raises(ValueError, match="checkpoint_every must be an integer of at least 1"):
        SingleIndexRegressor(solver=TwoPass(checkpoint_every=every)).fit(X, y)


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


@every_solver
def test_a_checkpoint_of_another_fit_is_refused(tmp_path, monkeypatch, kind):
    X, y, solver, path = broken_off(tmp_path, monkeypatch, kind)
    [other_kind] = set(SOLVERS.values()) - {kind}
    for other in (
        lambda: SingleIndexRegressor(8, alpha=0.2, solver=solver).fit(X, y),
        lambda: SingleIndexRegressor(8, solver=solver).fit(X, y + X[:, 0]),
        lambda: SingleIndexRegressor(8, solver=solver).fit(X[:-1], y[:-1]),
        lambda: SingleIndexRegressor(8, solver=solver).fit(np.roll(X, 1, axis=0), y),
        lambda: SingleIndexRegressor(8, solver=solver).fit(X, y, sample_weight=np.linspace(1, 2, len(y))),
        lambda: SingleIndexRegressor(8, solver=other_kind(checkpoint=path)).fit(X, y),
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
    at_iteration(iteration, monkeypatch, lambda: path.write_bytes(content))


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
        Checkpoint(tmp_path / "c", "mark").load(lambda run: None)


def test_a_model_file_names_no_path(tmp_path, monkeypatch):
    X, y = make_rows(300)
    monkeypatch.chdir(tmp_path)
    save(SingleIndexRegressor(solver=OnePass(64, checkpoint="thesis.txt")), "model.sim")
    assert b"thesis" not in (tmp_path / "model.sim").read_bytes()
    assert load("model.sim").solver == OnePass(64)
    # One that an earlier version wrote has it.
    old = gzip.decompress((Path(__file__).parents[1] / "persistence/saved/classifier.sim.gz").read_bytes())
    assert b"thesis.txt" in old
    model = load(io.BytesIO(old))
    assert model.solver == OnePass(16)
    (tmp_path / "thesis.txt").write_text("ten years")
    model.fit(X, y > 0).partial_fit(X, y > 0, classes=[False, True])
    assert (tmp_path / "thesis.txt").read_text() == "ten years"


def test_a_checkpoint_that_would_not_fit_in_memory_is_refused(tmp_path, monkeypatch):
    X, y, solver, path = broken_off(tmp_path, monkeypatch)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, w=np.zeros(10**6))
    path.write_bytes(buffer.getvalue())
    monkeypatch.setenv("SINGLEINDEX_MAX_BYTES", "1000000")
    with pytest.raises(CheckpointError, match=r"SINGLEINDEX_MAX_BYTES=8000\d\d\d"):
        SingleIndexRegressor(8, max_iter=6, tol=0, solver=solver).fit(X, y)
