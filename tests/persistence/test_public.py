"""Models and files: what is saved comes back, and what is no model is refused."""

import io
import math
import os
import pickle
import stat
import zipfile
from pathlib import Path

import numpy as np
import pytest
from saved_models import (
    FRAME,
    INDEX,
    MODELS,
    SAVED,
    SMALL,
    X,
    Y,
    as_bytes,
    assert_same,
    every_model,
    from_bytes,
)
from sklearn import config_context
from sklearn.base import BaseEstimator

from singleindex.estimators import (
    LipschitzIsotonicRegression,
    SingleIndexClassifier,
    SingleIndexRegressor,
    Slisotron,
)
from singleindex.persistence import ModelFileError, load, save
from singleindex.persistence.archive import MANIFEST
from singleindex.structures import GroupSparse, LowRank, Sparse


def test_assert_same_sees_a_difference():
    for a, b in [
        (1, 1.0),
        (0.0, -0.0),
        ([1], (1,)),
        (np.float32(1), np.float64(1)),
        (np.zeros(2), np.zeros(2, np.float32)),
        (np.array(["a"], object), np.array(["b"], object)),
        (SingleIndexRegressor(1), SingleIndexRegressor(2)),
        ({"a": np.zeros(1)}, {"a": np.ones(1)}),
    ]:
        with pytest.raises(AssertionError):
            assert_same(a, b)


@every_model
def test_loaded_model_is_the_saved_one(model, data, tmp_path):
    save(model, tmp_path / "model.sim")
    loaded = load(tmp_path / "model.sim")
    assert_same(loaded, model)
    assert loaded.get_params() == model.get_params()
    for method in ("predict", "decision_function", "predict_proba", "transform"):
        if hasattr(model, method):
            assert_same(getattr(loaded, method)(data), getattr(model, method)(data))


def test_feature_names_are_checked_after_loading():
    loaded = from_bytes(as_bytes(MODELS["pandas"][0]))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(FRAME[FRAME.columns[::-1]])


@pytest.mark.parametrize(
    "model",
    [
        SingleIndexRegressor(5, structure=Sparse(), lipschitz=math.inf, alpha=np.float32(0.1)),
        SingleIndexClassifier(class_weight={"a": 1, "b": math.nan, 3: (True, None, [1e-300])}),
        SingleIndexRegressor(structure=GroupSparse([range(3), [3, 4]], weights=np.ones(2))),
        SingleIndexRegressor(structure=LowRank((2, 4))),
        Slisotron(max_iter=np.int64(7)),
        LipschitzIsotonicRegression(y_min=-0.0, increasing=np.True_),
    ],
)
def test_unfitted_model(model):
    loaded = from_bytes(as_bytes(model))
    assert_same(loaded, model)
    with pytest.raises(ValueError, match="not fitted"):
        loaded.predict(X[:, 0])


def test_loaded_model_can_be_fitted_again():
    assert_same(from_bytes(as_bytes(MODELS["regressor"][0])).fit(X, Y), MODELS["regressor"][0])


def test_estimators_may_hold_estimators():
    model = SingleIndexRegressor()
    model.best_estimator_ = MODELS["logistic"][0]
    assert_same(from_bytes(as_bytes(model)), model)


def test_output_configuration_is_kept_and_the_session_is_not(tmp_path):
    model = LipschitzIsotonicRegression().fit(INDEX, Y).set_output(transform="default")
    assert_same(from_bytes(as_bytes(model)), model)
    with config_context(enable_metadata_routing=True):
        model = SingleIndexRegressor().set_fit_request(sample_weight=True)
    assert_same(from_bytes(as_bytes(model)), SingleIndexRegressor())


@every_model
def test_equal_models_give_equal_bytes(model, data):
    assert as_bytes(model) == as_bytes(model) == as_bytes(from_bytes(as_bytes(model)))


def test_str_paths_and_file_objects(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(SingleIndexRegressor(4), "model.sim")
    with open("other.sim", "wb") as file:
        save(SingleIndexRegressor(4), file)
    assert Path("model.sim").read_bytes() == Path("other.sim").read_bytes()
    with open("other.sim", "rb") as file:
        assert load(file).n_atoms == 4
    with open("other.sim", encoding="latin-1") as file, pytest.raises(TypeError, match="binary"):
        load(file)


def test_failing_save_leaves_the_old_file_whole(tmp_path, monkeypatch):
    path = tmp_path / "model.sim"
    save(SingleIndexRegressor(1), path)
    before = path.read_bytes()

    def interrupt(*_):
        raise KeyboardInterrupt

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, interrupt)
            with pytest.raises(KeyboardInterrupt):
                save(SingleIndexRegressor(2), path)
    with pytest.raises(ValueError, match="link function"):
        save(SingleIndexRegressor(link=np.tanh), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_save_keeps_mode_and_symbolic_link(tmp_path):
    path, alias = tmp_path / "model.sim", tmp_path / "alias.sim"
    alias.symlink_to(path)
    save(SingleIndexRegressor(1), path)
    path.chmod(0o640)
    save(SingleIndexRegressor(2), alias)
    assert alias.is_symlink()
    assert load(path).n_atoms == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_where_no_file_can_be(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"folder .*nowhere does not exist"):
        save(SingleIndexRegressor(), tmp_path / "nowhere" / "model.sim")
    with pytest.raises(IsADirectoryError, match="give the name of a file"):
        save(SingleIndexRegressor(), tmp_path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "model.sim")


def test_save_onto_a_pipe_is_refused(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FileExistsError, match="a pipe"):
        save(SingleIndexRegressor(), pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


class OwnRegressor(SingleIndexRegressor):
    pass


@pytest.mark.parametrize("model", [OwnRegressor(), BaseEstimator(), Sparse(), 1, None])
def test_only_our_estimators_are_saved(model):
    with pytest.raises(TypeError, match="an estimator of singleindex"):
        as_bytes(model)


def zip_of(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (pickle.dumps(SMALL), "it is a pickle"),
        (pickle.dumps([1], protocol=0), "did not write it"),
        (b"SingleIndexRegressor", "did not write it"),
        (zip_of(a="1"), "a zip archive that singleindex.save did not write"),
        (zip_of(**{MANIFEST: "{}"}), "checksum at its end is missing"),
        (SAVED[:-1], "cut off"),
    ],
    ids=["empty", "pickle", "old pickle", "text", "zip", "zip with manifest", "cut"],
)
def test_foreign_files_are_refused_by_name(content, message, tmp_path):
    path = tmp_path / "odd.sim"
    path.write_bytes(content)
    for file in (path, str(path)):
        with pytest.raises(ModelFileError, match=rf"Cannot load .*odd\.sim: .*{message}"):
            load(file)
    with open(path, "rb") as file, pytest.raises(ModelFileError, match=r"odd\.sim"):
        load(file)


def test_a_directory_is_refused(tmp_path):
    with pytest.raises(ModelFileError, match="it is a directory"):
        load(tmp_path)
