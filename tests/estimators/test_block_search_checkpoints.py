"""A search over blocks that is broken off after any reading, and taken up again."""

import numpy as np
import pytest
from sklearn.base import clone

from singleindex import SingleIndexClassifierCV
from singleindex.design import chunk_arrays
from singleindex.fitting.readings import ReadingLog, Readings
from singleindex.solvers.checkpoint import CheckpointError

MODEL = SingleIndexClassifierCV(penalty=[0.5, 0.1, 0.02], scale_power=[1.0], cv=3)


class BrokenOffError(Exception):
    pass


def make_data(seed=0, n=500):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    return X, (X[:, 0] - X[:, 2] + rng.standard_normal(n) > 0).astype(int)


def break_off_at(number, monkeypatch):
    """Let the reading of this number fail, and those before it be done."""
    done = []

    def counting(readings, arrays, keep=Readings._keep):
        if len(done) == number:
            raise BrokenOffError
        done.append(arrays)
        return keep(readings, arrays)

    monkeypatch.setattr(Readings, "_keep", counting)
    return done


def test_it_goes_on_from_any_reading_to_the_same_model(tmp_path, monkeypatch):
    X, y = make_data()
    expected = clone(MODEL).fit(chunk_arrays(X, y, chunk_rows=99))
    path = tmp_path / "search.ckpt"
    for number in range(expected.n_readings_):
        with monkeypatch.context() as patch:
            break_off_at(number, patch)
            with pytest.raises(BrokenOffError):
                clone(MODEL).fit(chunk_arrays(X, y, chunk_rows=99), checkpoint=path)
        assert path.exists()
        with monkeypatch.context() as patch:
            done = break_off_at(10**6, patch)
            got = clone(MODEL).fit(chunk_arrays(X, y, chunk_rows=99), checkpoint=path)
        assert len(done) == expected.n_readings_ - number  # the others were not read again
        assert (got.coef_ == expected.coef_).all()
        assert (got.predict_proba(X) == expected.predict_proba(X)).all()
        assert not path.exists()


def kept_after(number, path, monkeypatch, X, y, model=MODEL):
    with monkeypatch.context() as patch:
        break_off_at(number, patch)
        with pytest.raises(BrokenOffError):
            clone(model).fit(chunk_arrays(X, y), checkpoint=path)


def test_what_was_being_written_is_written_again(tmp_path, monkeypatch):
    (X, y), path = make_data(), tmp_path / "search.ckpt"
    expected = clone(MODEL).fit(chunk_arrays(X, y))
    kept_after(3, path, monkeypatch, X, y)
    content = path.read_bytes()
    for cut in (1, 50, 3000):
        path.write_bytes(content[:-cut])
        assert (clone(MODEL).fit(chunk_arrays(X, y), checkpoint=path).coef_ == expected.coef_).all()


def test_the_checkpoint_of_another_search_is_refused(tmp_path, monkeypatch):
    (X, y), path = make_data(), tmp_path / "search.ckpt"
    kept_after(2, path, monkeypatch, X, y)
    for model, data in (
        (clone(MODEL).set_params(cv=4), chunk_arrays(X, y)),
        (clone(MODEL).set_params(rule="best"), chunk_arrays(X, y)),
        (MODEL, chunk_arrays(X[:400], y[:400])),
        (MODEL, chunk_arrays(X, np.where(np.arange(len(y)) < 5, 1 - y, y))),
        (MODEL, chunk_arrays(X, y, chunk_rows=50)),
    ):
        with pytest.raises(CheckpointError, match="other data, or with other settings"):
            clone(model).fit(data, checkpoint=path)
    assert path.exists()


def test_damage_is_seen(tmp_path, monkeypatch):
    (X, y), path = make_data(), tmp_path / "search.ckpt"
    kept_after(2, path, monkeypatch, X, y)
    content = bytearray(path.read_bytes())
    content[500] ^= 1
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="its reading 1 is damaged"):
        clone(MODEL).fit(chunk_arrays(X, y), checkpoint=path)
    path.write_bytes(b"something else")
    with pytest.raises(CheckpointError, match="no checkpoint of a search"):
        clone(MODEL).fit(chunk_arrays(X, y), checkpoint=path)
    assert path.read_bytes() == b"something else"


def test_forged_readings_are_refused(tmp_path, monkeypatch):
    """Kernels trust the lengths of arrays: none that come from a file are taken unseen."""
    (X, y), path = make_data(), tmp_path / "search.ckpt"

    def forging(log, arrays, add=ReadingLog.add):
        return add(
            log, {name: values[..., :1] if np.ndim(values) else values for name, values in arrays.items()}
        )

    with monkeypatch.context() as patch:
        patch.setattr(ReadingLog, "add", forging)
        kept_after(2, path, patch, X, y)
    with pytest.raises(CheckpointError, match="its reading 1 is of another search"):
        clone(MODEL).fit(chunk_arrays(X, y), checkpoint=path)
