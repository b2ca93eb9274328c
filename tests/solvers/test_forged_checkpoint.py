"""Checkpoints that are forged, with the right fingerprint, are refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
from broken_fits import SOLVERS, broken_off, every_solver, ratings

from singleindex import SingleIndexRegressor
from singleindex.link import Lpav, MonotoneCurve, Points, ShiftedLink
from singleindex.solvers import Checkpoint, CheckpointError, drive
from singleindex.solvers.alternate import Ridge
from singleindex.solvers.completion import Completion, Parts


def forged(path, state=None, best=None, history=None):
    """Write a checkpoint anew, with other parts of its state or its best iterate."""
    with np.load(path) as file:
        mark = json.loads(str(file["head"]))["fingerprint"]
    run = Checkpoint(path, mark).load(lambda run: None)
    run.state, run.best = replace(run.state, **(state or {})), replace(run.best, **(best or {}))
    run.history = run.history if history is None else history
    Checkpoint(path, mark, every=1).save(run)


def bent(x, y):
    """Return a curve whose parts do not go together."""
    curve = MonotoneCurve([0.0], [0.0])
    curve.x, curve.y = np.array(x, dtype=float), np.array(y, dtype=float)
    return curve


OF_ALL = {
    "short w": {"state": {"w": np.zeros(3)}},
    "w of another kind": {"state": {"w": np.zeros(20, dtype=np.float32)}},
    "w that is no array": {"state": {"w": [0.0] * 20}},
    "NaN in w": {"state": {"w": np.full(20, np.nan)}},
    "coefficients of another length": {"best": {"coef": np.zeros(21)}},
    "an empty curve": {"best": {"link": bent([], [])}},
    "a curve of unequal lengths": {"best": {"link": bent([0, 1], [0])}},
    "a curve that falls": {"best": {"link": bent([0, 1], [1, 0])}},
    "a link of unknown name": {"best": {"link": ShiftedLink("os.system")}},
    "no link": {"best": {"link": None}},
    "two links": {"best": {"link": [MonotoneCurve([0.0], [0.0])] * 2}},
    "points of unequal lengths": {"best": {"points": Points(np.zeros(2), np.zeros(1))}},
    "weights of another length": {"best": {"points": Points(np.zeros(2), np.zeros(2), np.ones(3))}},
    "points of two dimensions": {"best": {"points": Points(np.zeros((2, 2)), np.zeros((2, 2)))}},
    "an error that is not finite": {"best": {"mse": np.inf}},
    "a change that is no number": {"best": {"change": "small"}},
    "history": {"history": [[0.0] * 3] * 2},
    "history in words": {"history": [["a"] * 5] * 2},
    "an infinite step": {"state": {"step": np.inf}},
    "a step in words": {"state": {"step": "long"}},
}
OF_ONE_PASS = {
    "w_old of two dimensions": {"state": {"w_old": np.zeros((20, 1))}},
    "old index of another length": {"state": {"index_old": np.zeros(5)}},
    "a link of the state that falls": {"state": {"link": bent([0, 1], [1, 0])}},
    "a curve in disorder": {"state": {"link": bent([1, 0], [0, 1])}},
    "a width that never ends": {"state": {"exponent": -(10**9)}},
    "a width that is no number": {"state": {"exponent": "wide"}},
    "no points": {"best": {"points": None}},
}
OF_TWO_PASSES = {
    "a short index": {"state": {"index": np.zeros(3)}},
    "a short index of the best": {"best": {"index": np.zeros(3), "fitted": np.zeros(3)}},
    "fewer fitted values": {"best": {"fitted": np.zeros(3)}},
    "a link that is known already": {"state": {"link": MonotoneCurve([0.0], [0.0])}},
    "fitted values that are known already": {"state": {"fitted": np.zeros(3)}},
    "a change that is not finite": {"state": {"change": np.nan}},
}
FORGERIES = {
    f"{label}: {name}": (SOLVERS[label], change)
    for label, own in (("one pass", OF_ONE_PASS), ("two passes", OF_TWO_PASSES))
    for name, change in {**OF_ALL, **own}.items()
}


@pytest.mark.parametrize(("kind", "change"), FORGERIES.values(), ids=FORGERIES)
def test_a_forged_checkpoint_is_refused(tmp_path, monkeypatch, kind, change):
    X, y, solver, path = broken_off(tmp_path, monkeypatch, kind)
    model = SingleIndexRegressor(8, max_iter=6, tol=0, solver=solver)
    forged(path, **change)
    with pytest.raises(CheckpointError, match="no checkpoint, or damaged"):
        model.fit(X, y)
    assert path.exists()


FORGED_COMPLETIONS = {
    "a short index": {"state": {"index": np.zeros(3)}},
    "a short index of the start": {"best": {"start_index": np.zeros(3)}},
    "no parts": {"state": {"parts": None}},
    "factors of two ranks": {"state": {"parts": Parts(*map(np.zeros, (20, 15, (20, 2), (15, 1))))}},
    "effects of another length": {"best": {"parts": Parts(*map(np.zeros, (21, 15, (20, 2), (15, 2))))}},
    "a curve that falls": {"best": {"link": bent([0, 1], [1, 0])}},
    "an error that is not finite": {"best": {"mse": np.nan}},
    "a change that is no number": {"state": {"change": "small"}},
}


@pytest.mark.parametrize("change", FORGED_COMPLETIONS.values(), ids=FORGED_COMPLETIONS)
def test_a_forged_completion_is_refused(tmp_path, change):
    method = Completion(ratings(), Lpav(1.0), Ridge((0.1, 0.1)), n_atoms=2, penalty=0.1)
    checkpoint = Checkpoint(tmp_path / "c", "mark", every=2)
    drive(method, max_iter=3, tol=0, checkpoint=checkpoint)
    assert checkpoint.load(method.check) is not None
    forged(tmp_path / "c", **change)
    with pytest.raises(CheckpointError, match="no checkpoint, or damaged"):
        drive(method, max_iter=3, tol=0, checkpoint=checkpoint)


def test_the_run_of_another_method_is_refused(tmp_path, monkeypatch):
    """Only a forged file can have the fingerprint of another method's fit."""
    *_, path = broken_off(tmp_path, monkeypatch)
    with np.load(path) as file:
        mark = json.loads(str(file["head"]))["fingerprint"]
    method = Completion(ratings(), Lpav(1.0), Ridge((0.1, 0.1)), n_atoms=2, penalty=0.1)
    with pytest.raises(CheckpointError, match="no checkpoint, or damaged"):
        drive(method, max_iter=3, tol=0, checkpoint=Checkpoint(path, mark))


def test_a_checkpoint_names_no_class_but_its_own(tmp_path, monkeypatch):
    X, y, solver, path = broken_off(tmp_path, monkeypatch)
    with np.load(path) as file:
        arrays = dict(file)
    head = json.loads(str(arrays["head"]))
    head["state"]["class"] = "OnePass"
    with open(path, "wb") as file:
        np.savez(file, **(arrays | {"head": np.array(json.dumps(head))}))
    with pytest.raises(CheckpointError, match="no checkpoint, or damaged"):
        SingleIndexRegressor(8, max_iter=6, tol=0, solver=solver).fit(X, y)


@every_solver
def test_forging_alone_changes_nothing(tmp_path, monkeypatch, kind):
    X, y, solver, path = broken_off(tmp_path, monkeypatch, kind)
    forged(path)
    assert SingleIndexRegressor(8, max_iter=6, tol=0, solver=solver).fit(X, y).n_iter_ == 6
