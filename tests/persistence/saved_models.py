"""Models of every kind, and files of them, sound and forged."""

import hashlib
import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from singleindex.estimators import (
    LipschitzIsotonicRegression,
    SingleIndexClassifier,
    SingleIndexCompleter,
    SingleIndexRegressor,
    Slisotron,
)
from singleindex.persistence import load, save
from singleindex.persistence.archive import MANIFEST, seal
from singleindex.persistence.archive import zip_members as zipped
from singleindex.structures import Sparse

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 8))
INDEX = X[:, 0] - 2 * X[:, 1]
Y = np.tanh(INDEX) + 0.1 * RNG.normal(size=60)
FRAME = pd.DataFrame(X, columns=[f"gène {i}" for i in range(8)])
THIRDS = np.digitize(INDEX, [-1, 1])
PAIRS = RNG.integers(8, size=(60, 2))


def fitted_models():
    """Return (name, fitted model, X to predict) for every kind of model and data."""
    regressor, classifier = SingleIndexRegressor(3), SingleIndexClassifier(3)
    words = np.array(["low", "mid", "high"], dtype=object)
    return {
        "regressor": (regressor.fit(X, Y), X),
        "two outputs": (SingleIndexRegressor(3).fit(X, np.column_stack([Y, INDEX**3])), X),
        "no bound": (SingleIndexRegressor(lipschitz=np.inf, structure=Sparse()).fit(X, Y), X),
        "float32": (SingleIndexRegressor(3).fit(X.astype(np.float32), Y), X.astype(np.float32)),
        "sparse": (SingleIndexRegressor(3).fit(sparse.csr_array(X), Y), sparse.csr_array(X)),
        "pandas": (SingleIndexRegressor(3).fit(FRAME, Y), FRAME),
        "binary": (classifier.fit(X, Y > 0), X),
        "weighted": (SingleIndexClassifier(class_weight={0: 1, 1: 2.5}).fit(X, THIRDS > 0), X),
        "three classes": (SingleIndexClassifier(3).fit(X, THIRDS), X),
        "text labels": (SingleIndexClassifier(3).fit(FRAME, words[THIRDS]), FRAME),
        "fixed width labels": (SingleIndexClassifier().fit(X, words[THIRDS].astype("U4")), X),
        "logistic": (SingleIndexClassifier(link="logistic").fit(X, THIRDS), X),
        "tanh": (SingleIndexRegressor(link="tanh").fit(X, Y), X),
        "identity": (SingleIndexRegressor(link="identity").fit(X, Y), X),
        "completer": (SingleIndexCompleter(2).fit(PAIRS, Y), PAIRS),
        "slisotron": (Slisotron(max_iter=10).fit(X, Y), X),
        "isotonic": (
            LipschitzIsotonicRegression(y_min=-0.5, increasing="auto").fit(INDEX, Y),
            INDEX,
        ),
    }


MODELS = fitted_models()
every_model = pytest.mark.parametrize(("model", "data"), MODELS.values(), ids=MODELS)


def as_bytes(model):
    file = io.BytesIO()
    save(model, file)
    return file.getvalue()


def from_bytes(data):
    return load(io.BytesIO(data))


def assert_same(a, b):
    """Assert that two values are of one type and equal to the last bit."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape, np.isfortran(a)) == (b.dtype, b.shape, np.isfortran(b))
        assert_same(a.tolist(), b.tolist()) if a.dtype == object else None
        assert a.dtype == object or a.tobytes() == b.tobytes()
    elif isinstance(a, dict):
        assert_same(list(a.items()), list(b.items()))
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for left, right in zip(a, b, strict=True):
            assert_same(left, right)
    elif type(a).__module__.startswith("singleindex"):
        assert_same(*(dict(sorted(vars(value).items())) for value in (a, b)))
    else:
        assert repr(a) == repr(b)


SMALL = SingleIndexClassifier(2).fit(X[:12, :3], (Y > 0)[:12])
SAVED = as_bytes(SMALL)


def parts_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(members.pop(MANIFEST)), members


def forge(manifest, members):
    """Return a file with right checksums for whatever it holds."""
    for name in manifest["members"].keys() & members.keys():
        content = members[name]
        recorded = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        manifest["members"][name] = recorded
    return seal(zipped({MANIFEST: json.dumps(manifest).encode(), **members}))


def npy(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()
