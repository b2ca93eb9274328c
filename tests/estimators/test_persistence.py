import copy
import dataclasses
import hashlib
import io
import json
import math
import os
import pickle
import stat
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator

from singleindex import structures
from singleindex.estimators import (
    LipschitzIsotonicRegression,
    SingleIndexClassifier,
    SingleIndexCompleter,
    SingleIndexRegressor,
    Slisotron,
)
from singleindex.estimators import persistence as persistence_module
from singleindex.estimators.persistence import MANIFEST, ModelFileError, load, save
from singleindex.link import ShiftedLink
from singleindex.structures import GraphLowRank, GroupSparse, LowRank, Sparse, Structure

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


# ---------------------------------------------------------------- round trips


@every_model
def test_loaded_model_is_the_saved_one(model, data, tmp_path):
    save(model, tmp_path / "model.sim")
    loaded = load(tmp_path / "model.sim")
    assert_same(loaded, model)
    assert loaded.get_params() == model.get_params()
    for method in ("predict", "decision_function", "predict_proba", "transform"):
        if hasattr(model, method):
            assert_same(getattr(loaded, method)(data), getattr(model, method)(data))


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array, np.asarray])
def test_graphs_of_a_structure_are_kept(make):
    graph = make(np.array([[0.0, 1.5], [1.5, 0.0]]))
    model = SingleIndexRegressor(1, structure=GraphLowRank((2, 4), row_graph=graph)).fit(X, Y)
    loaded = from_bytes(as_bytes(model))
    found = loaded.structure.row_graph
    assert type(found) is (type(graph) if make is not sparse.csc_array else sparse.csr_array)
    assert (found != graph).sum() == 0
    assert_same(loaded.predict(X), model.predict(X))
    assert_same(loaded.fit(X, Y).coef_, model.coef_)


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


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.text().map(np.str_),
    hnp.arrays(st.sampled_from(["?", "i1", "u8", "f2", "f4", "f8", "c16"]), 1).map(lambda a: a[0]),
)  # fmt: skip
keys = st.one_of(st.text(), st.integers(), st.booleans())
arrays = hnp.arrays(
    st.sampled_from(["?", "i1", "u8", ">i4", "f2", "f4", "f8", ">f8", "c16", "U3"]),
    hnp.array_shapes(min_dims=0, min_side=0, max_side=3),
)
values = st.recursive(
    scalars | arrays | arrays.map(np.asfortranarray),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(keys, inner),
    max_leaves=8,
)


@given(value=values)
@example(value=np.array([["ä", ""], ["\ud800", "b"]], dtype=object))
@example(value=np.array(["a", None, 1, np.str_("c")], dtype=object))
def test_any_value_of_the_table_comes_back_exactly(value):
    model = SingleIndexRegressor(alpha=value)
    model.history_ = value
    assert_same(from_bytes(as_bytes(model)), model)


@dataclasses.dataclass(frozen=True)
class Grouped:
    groups: np.ndarray
    names: tuple = ("a", "b")
    size: int = dataclasses.field(init=False, default=0)

    def __post_init__(self):
        object.__setattr__(self, "size", len(self.groups))


def test_new_structures_need_no_change(monkeypatch):
    monkeypatch.setattr(structures, "Grouped", Grouped, raising=False)
    monkeypatch.setattr(structures, "__all__", [*structures.__all__, "Grouped"])
    model = SingleIndexRegressor(structure=Grouped(np.arange(3), names=("x",)))
    assert_same(from_bytes(as_bytes(model)), model)


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


# ---------------------------------------------------------------- files


@every_model
def test_equal_models_give_equal_bytes(model, data):
    assert as_bytes(model) == as_bytes(model) == as_bytes(from_bytes(as_bytes(model)))


def test_archive_holds_a_manifest_and_arrays():
    with zipfile.ZipFile(io.BytesIO(as_bytes(MODELS["binary"][0]))) as archive:
        assert archive.testzip() is None
        manifest = json.loads(archive.read(MANIFEST))
        assert archive.namelist() == [MANIFEST, *manifest["members"]]
    assert manifest["format"] == "singleindex-model"
    assert manifest["format_version"] == 1
    assert manifest["model"]["class"] == "SingleIndexClassifier"
    assert manifest["model"]["parameters"]["n_atoms"] == 3
    assert manifest["model"]["attributes"]["status_"] == MODELS["binary"][0].status_


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


# ---------------------------------------------------------------- what cannot be saved


class OwnStructure(Structure):
    def project(self, w, n_atoms):
        return w

    def count_atoms(self, w):
        return w.size

    def check(self, shape):
        return shape[0]


class OwnRegressor(SingleIndexRegressor):
    pass


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            SingleIndexRegressor(link=np.tanh),
            "parameter link .* user-written link function .*; use",
        ),
        (SingleIndexRegressor(structure=OwnStructure()), "OwnStructure.* user-written structure"),
        (SingleIndexRegressor(alpha=b"1"), "parameter alpha .* holds a bytes"),
        (SingleIndexRegressor(alpha=np.datetime64("2020")), "holds a datetime64"),
        (SingleIndexRegressor(alpha=np.ma.ones(2)), "holds a MaskedArray"),
        (SingleIndexRegressor(alpha=np.longdouble(1)), "holds a longdouble"),
        (SingleIndexRegressor(alpha=np.array([{1}], dtype=object)), "holds a set"),
    ],
    ids=["link", "structure", "bytes", "date", "masked", "longdouble", "objects"],
)
def test_what_the_format_cannot_hold(model, message):
    with pytest.raises(ValueError, match=message):
        as_bytes(model)


def test_fitted_function_links_cannot_be_saved():
    model = SingleIndexRegressor(link=np.tanh).fit(X, Y)
    model.link = "learned"
    with pytest.raises(ValueError, match="user-written link function"):
        as_bytes(model)


def test_foreign_attributes_cannot_be_saved():
    model = SingleIndexRegressor()
    model.note = "hello"
    with pytest.raises(ValueError, match=r"attribute note .* del model.note"):
        as_bytes(model)


@pytest.mark.parametrize("model", [OwnRegressor(), BaseEstimator(), Sparse(), 1, None])
def test_only_our_estimators_are_saved(model):
    with pytest.raises(TypeError, match="an estimator of singleindex"):
        as_bytes(model)


# ---------------------------------------------------------------- damaged and foreign files

SMALL = SingleIndexClassifier(2).fit(X[:12, :3], (Y > 0)[:12])
SAVED = as_bytes(SMALL)


@given(at=st.integers(0, len(SAVED) - 1), flip=st.integers(1, 255))
@example(at=len(SAVED) - 1, flip=32)
@example(at=0, flip=ord("P") ^ 0x80)
def test_a_changed_byte_is_refused(at, flip):
    damaged = bytearray(SAVED)
    damaged[at] ^= flip
    with pytest.raises(ModelFileError, match=r"^Cannot load the file object: .*[^.]\.$"):
        from_bytes(bytes(damaged))


@given(length=st.integers(0, len(SAVED) - 1))
def test_a_truncated_file_is_refused(length):
    with pytest.raises(ModelFileError, match=r"^Cannot load the file object: "):
        from_bytes(SAVED[:length])


def test_appended_bytes_are_refused():
    with pytest.raises(ModelFileError, match="cut off"):
        from_bytes(SAVED + b"\0")


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


# ---------------------------------------------------------------- forged, with right checksums


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


zipped, seal = persistence_module._zip, persistence_module._seal


def test_forging_works():
    assert_same(from_bytes(forge(*parts_of(SAVED))), SMALL)


def test_a_sparse_matrix_that_leads_out_of_itself_is_refused():
    graph = sparse.csr_matrix(np.array([[0.0, 1.5], [1.5, 0.0]]))
    model = SingleIndexRegressor(structure=GraphLowRank((2, 4), row_graph=graph))
    manifest, members = parts_of(as_bytes(model))
    [name] = [n for n, content in members.items() if content == npy(graph.indices)]
    with pytest.raises(ModelFileError, match="malformed"):
        from_bytes(forge(manifest, members | {name: npy(graph.indices + 10**6)}))


def npy(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("pickle_was_run",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npy(np.array([Bomb()], dtype=object)), "neither numbers nor text, but object"),
        (npy(np.zeros(2, dtype="f8,i4")), "neither numbers nor text"),
        (npy(np.zeros(2, dtype="S3")), "neither numbers nor text"),
        (npy(np.zeros(2)) + b"\0", "another size than its header says"),
        (npy(np.zeros(2)).replace(b"(2,)", b"(2000000000000000,)"), "malformed|another size"),
        (npy(np.zeros(10**12 // 10**11)).replace(b"(10,)", b"(-1,)"), "another size|malformed"),
        (pickle.dumps(Bomb()), "malformed"),
        (b"", "malformed"),
        (b"\x93NUMPY\x02\x00" + npy(np.zeros(1))[8:], "version 1.0"),
        (b"\x93NUMPY\x01\x00\xe0\x03" + b"-" * 991 + b"1", "malformed"),
        (b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535, "malformed"),
    ],
)
def test_arrays_that_are_no_arrays_are_refused(content, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    manifest, members = parts_of(SAVED)
    members["array0.npy"] = content
    with pytest.raises(ModelFileError, match=message):
        from_bytes(forge(manifest, members))
    assert not list(tmp_path.iterdir())


def rename(members, old, new):
    return {new if name == old else name: content for name, content in members.items()}


@pytest.mark.parametrize("name", ["../array0.npy", "/etc/array0.npy", "C:\\array0.npy", "a.npy", ""])
def test_odd_member_names_are_refused(name):
    manifest, members = parts_of(SAVED)
    renamed = rename(members, "array0.npy", name)
    with pytest.raises(ModelFileError, match="members are not those"):
        from_bytes(forge(manifest, renamed))
    manifest["members"] = rename(manifest["members"], "array0.npy", name)
    with pytest.raises(ModelFileError, match="members are not those"):
        from_bytes(forge(manifest, renamed))


def test_missing_and_unlisted_members_are_refused():
    manifest, members = parts_of(SAVED)
    last = list(members)[-1]
    short = {name: content for name, content in members.items() if name != last}
    extra = {**members, f"array{len(members)}.npy": npy(np.zeros(1))}
    for changed in (short, extra, {**members, "readme.txt": b""}):
        with pytest.raises(ModelFileError, match="members are not those"):
            from_bytes(forge(json.loads(json.dumps(manifest)), changed))
    del manifest["members"][last]
    with pytest.raises(ModelFileError, match="not there"):
        from_bytes(forge(manifest, short))


def test_recorded_sizes_and_checksums_are_compared():
    for key, wrong, message in [("size", 1, "recorded size"), ("sha256", "0" * 64, "checksum of")]:
        manifest, members = parts_of(SAVED)
        manifest["members"]["array1.npy"][key] = wrong
        file = seal(zipped({MANIFEST: json.dumps(manifest).encode(), **members}))
        with pytest.raises(ModelFileError, match=f"{message}|array1.npy has not the {message}"):
            from_bytes(file)


def test_members_that_share_bytes_are_refused():
    """The zip bomb of overlapping members: every entry points to the same data."""
    manifest, members = parts_of(SAVED)
    body = bytearray(forge(manifest, {**members, "array0.npy": npy(np.zeros(10**6))}))
    with zipfile.ZipFile(io.BytesIO(bytes(body))) as archive:
        start = archive.start_dir
    at = body.index(b"PK\x01\x02", start)
    while at >= 0:
        body[at + 20 : at + 24] = len(body).to_bytes(4, "little")
        at = body.find(b"PK\x01\x02", at + 1)
    with pytest.raises(ModelFileError, match="overlap"):
        from_bytes(seal(bytes(body)))


def test_manifest_must_not_be_compressed(monkeypatch):
    manifest, members = parts_of(SAVED)
    monkeypatch.setattr(persistence_module, "_compression", lambda name: zipfile.ZIP_DEFLATED)
    file = forge(manifest, members)
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match="compressed"):
        from_bytes(file)


def test_newer_formats_are_refused_with_the_way_out():
    manifest, members = parts_of(SAVED)
    manifest.update(format_version=2, singleindex_version="9.1")
    with pytest.raises(ModelFileError, match=r"singleindex 9\.1 .*newer format.* pip install -U"):
        from_bytes(forge(manifest, members))


CHANGES = {
    "another format": ({"format": "zoo"}, "did not write"),
    "version zero": ({"format_version": 0}, "positive integer"),
    "a boolean version": ({"format_version": True}, "positive integer"),
    "a version in words": ({"format_version": "one"}, "malformed"),
    "no model": ({"model": None}, "holds no estimator"),
    "a structure": (
        {"model": {"type": "instance", "class": "Sparse", "parameters": {}, "attributes": {}}},
        "holds no estimator",
    ),
    "an unknown type": ({"model": {"type": "module", "name": "os"}}, "unknown type 'module'"),
    "no type": ({"model": {}}, "unknown type None"),
    "a type that is a list": ({"model": {"type": []}}, "malformed"),
}


@pytest.mark.parametrize(("change", "message"), CHANGES.values(), ids=CHANGES)
def test_manifests_with_a_wrong_entry(change, message):
    manifest, members = parts_of(SAVED)
    with pytest.raises(ModelFileError, match=message):
        from_bytes(forge({**manifest, **change}, members))


MODEL_CHANGES = {
    "another class": ({"class": "ModelFileError"}, "does not know its class"),
    "a class by its path": ({"class": "os.system"}, "does not know its class"),
    "the protocol": ({"class": "Structure"}, "does not know its class"),
    "an unknown parameter": ({"parameters": {"colour": 1}}, "no parameter 'colour'"),
    "a plain attribute": ({"attributes": {"fit": 1}}, "it sets 'fit'"),
    "a private attribute": ({"attributes": {"__class__": 1}}, "it sets '__class__'"),
    "an empty name": ({"attributes": {"": 1}}, "it sets ''"),
    "a list of attributes": ({"attributes": []}, "malformed"),
    "no attributes": ({"attributes": None}, "malformed"),
    "an attribute of an unknown type": ({"attributes": {"a_": {"type": "set"}}}, "unknown type"),
    "an unknown link": (
        {"attributes": {"link_": {
            "type": "instance", "class": "ShiftedLink", "attributes": {},
            "parameters": {"name": "os.system", "offset": 0.0},
        }}},
        "its link 'os.system'",
    ),
    "an attribute of a structure": (
        {"attributes": {"s_": {
            "type": "instance", "class": "Sparse", "parameters": {}, "attributes": {"a_": 1}
        }}},
        "it sets 'a_'",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "message"), MODEL_CHANGES.values(), ids=MODEL_CHANGES)
def test_models_with_a_wrong_entry(change, message):
    manifest, members = parts_of(SAVED)
    manifest["model"].update(change)
    with pytest.raises(ModelFileError, match=message):
        from_bytes(forge(manifest, members))


@pytest.mark.parametrize("text", ["", "[", "NaN", "[" * 10**5, '{"format": 1' + "0" * 5000 + "}", "\xff"])
def test_manifests_that_are_not_json(text):
    with pytest.raises(ModelFileError):
        from_bytes(seal(zipped({MANIFEST: text.encode("latin-1")})))


@given(at=st.integers(0, len(SAVED) - 1), flip=st.integers(1, 255))
def test_a_changed_byte_under_a_right_seal_never_changes_the_model(at, flip):
    """Bytes of the zip format that mean nothing, such as dates, may change: the model must not."""
    damaged = bytearray(SAVED)
    damaged[at] ^= flip
    try:
        loaded = from_bytes(seal(bytes(damaged)))
    except ModelFileError:
        return
    assert_same(loaded, SMALL)


WORDS = ["instance", "array", "array0.npy", "x", "Sparse", "dict", "tuple", "float", "\x00"]
KEYS = ["type", "class", "parameters", "attributes", "member", "items", "shape", "value"]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-9, 9) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=6,
)


def nodes_of(tree, path=()):
    yield path
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree if type(tree) is list else ())
    for key, child in inner:
        yield from nodes_of(child, (*path, key))


NODES = [path for path in nodes_of(parts_of(SAVED)[0]["model"]) if path]


@given(path=st.sampled_from(NODES), value=json_values)
def test_forged_manifests_give_a_model_or_a_clear_error(path, value):
    manifest, members = parts_of(SAVED)
    node = manifest["model"]
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    try:
        loaded = from_bytes(forge(manifest, members))
    except ModelFileError:
        return
    assert type(loaded).__module__.startswith("singleindex.estimators.")


# ---------------------------------------------------------------- forged parts of fitted models


def forged_attribute(model, name, value):
    """Return a file of the model with another value of an attribute, as `save` would write it."""
    changed = copy.deepcopy(model)
    setattr(changed, name, value)
    return as_bytes(changed)


def bent(curve, **parts):
    """Return a curve whose parts do not go together."""
    changed = copy.deepcopy(curve)
    vars(changed).update(parts)
    return changed


CURVE = MODELS["regressor"][0].link_
TWO = MODELS["two outputs"][0]
COMPLETER, ISOTONIC = MODELS["completer"][0], MODELS["isotonic"][0]
FORGED_MODELS = {
    "y shorter than x": ("regressor", "link_", bent(CURVE, y=CURVE.y[:-1]), "equal length"),
    "an empty curve": ("regressor", "link_", bent(CURVE, x=np.empty(0), y=np.empty(0)), "equal length"),
    "a square curve": ("regressor", "link_", bent(CURVE, x=np.eye(2), y=np.eye(2)), "equal length"),
    "NaN in a curve": ("regressor", "link_", bent(CURVE, x=CURVE.x * np.nan), "finite"),
    "a curve that falls": ("regressor", "link_", bent(CURVE, y=-CURVE.y), "must not fall"),
    "a curve in disorder": ("regressor", "link_", bent(CURVE, x=CURVE.x[::-1]), "in order"),
    "an infinite offset": ("identity", "link_", ShiftedLink("identity", math.inf), "offset"),
    "no link": ("regressor", "link_", 3, "a curve or a known link"),
    "too few links": ("two outputs", "link_", TWO.link_[:1], "one link for each"),
    "short coefficients": ("regressor", "coef_", np.zeros(7), "coef_ must be"),
    "coefficients in words": ("regressor", "coef_", np.array(["a"] * 8), "coef_ must be"),
    "coefficients of too many sides": ("regressor", "coef_", np.zeros((8, 1, 1)), "one link for each"),
    "infinite coefficients": ("regressor", "coef_", np.full(8, np.inf), "finite"),
    "features that are none": ("regressor", "n_features_in_", 10**12, "coef_ must be"),
    "names": ("pandas", "feature_names_in_", np.array(["a"], dtype=object), "one name for each"),
    "classes": ("binary", "classes_", np.arange(3), "2 classes"),
    "too few classes": ("three classes", "classes_", np.arange(2), "3 classes"),
    "thresholds": ("isotonic", "y_thresholds_", ISOTONIC.y_thresholds_[:-1], "y_thresholds_ must be"),
    "falling thresholds": ("isotonic", "y_thresholds_", -ISOTONIC.y_thresholds_, "must not fall"),
    "effects": ("completer", "row_effects_", COMPLETER.row_effects_[:-1], "row_effects_ must be"),
    "factors": ("completer", "col_factors_", np.ones((8, 3)), "col_factors_ must be"),
    "a shape of 10^12": ("completer", "shape_", (10**12, 8), "must be an array"),
    "rated columns": ("completer", "rated_cols_", np.zeros(1, np.int32), "rated_cols_ must be"),
    "labels": ("completer", "row_labels_", np.arange(3), "8 labels"),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "value", "message"), FORGED_MODELS.values(), ids=FORGED_MODELS)
def test_a_model_whose_parts_do_not_go_together_is_refused(kind, name, value, message):
    data = forged_attribute(MODELS[kind][0], name, value)
    with pytest.raises(ModelFileError, match=message):
        from_bytes(data)


def test_an_array_named_again_and_again_is_refused():
    model = SingleIndexRegressor()
    model.history_ = [np.zeros(3)] * 200
    manifest, members = parts_of(as_bytes(model))
    manifest["model"]["attributes"]["history_"] = [{"type": "array", "member": "array0.npy"}] * 200
    with pytest.raises(ModelFileError, match=r"array0\.npy is named twice"):
        from_bytes(forge(manifest, members))


def test_a_file_that_would_not_fit_in_memory_is_refused(monkeypatch, tmp_path):
    model = SingleIndexRegressor()
    model.history_ = np.zeros(2**20)
    save(model, tmp_path / "model.sim")
    monkeypatch.setenv("SINGLEINDEX_MAX_BYTES", "1000000")
    with pytest.raises(ModelFileError, match=r"model\.sim: its .* would take .*SINGLEINDEX_MAX_BYTES=8"):
        load(tmp_path / "model.sim")
    monkeypatch.setenv("SINGLEINDEX_MAX_BYTES", "10000000")
    assert_same(load(tmp_path / "model.sim"), model)


def test_a_member_that_hides_its_size_is_not_unpacked():
    """Both the manifest and the directory say 128 bytes; unpacked to the end it would be 64 MiB."""
    model = SingleIndexRegressor()
    model.history_ = np.zeros(2**23)
    manifest, members = parts_of(as_bytes(model))
    manifest["members"]["array0.npy"]["size"] = 128
    body = bytearray(zipped({MANIFEST: json.dumps(manifest).encode(), **members}))
    with zipfile.ZipFile(io.BytesIO(bytes(body))) as archive:
        at = body.index(b"PK\x01\x02", body.index(b"PK\x01\x02", archive.start_dir) + 1)
    body[at + 24 : at + 28] = (128).to_bytes(4, "little")
    data = seal(bytes(body))
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="BadZipFile"):
        from_bytes(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23


@pytest.mark.parametrize("stop", [10**12, 10**30])
def test_a_range_without_end_is_refused(stop):
    manifest, members = parts_of(as_bytes(SingleIndexRegressor(structure=GroupSparse([range(8)]))))
    manifest["model"]["parameters"]["structure"]["parameters"]["groups"] = [
        {"type": "range", "bounds": [0, stop, 1]}
    ]
    with pytest.raises(ModelFileError, match=r"SINGLEINDEX_MAX_BYTES|OverflowError"):
        from_bytes(forge(manifest, members))


def test_a_sparse_matrix_of_any_width_has_its_shape_checked():
    graph = sparse.csr_matrix(np.array([[0.0, 1.5], [1.5, 0.0]]))
    manifest, members = parts_of(
        as_bytes(SingleIndexRegressor(structure=GraphLowRank((2, 4), row_graph=graph)))
    )
    manifest["model"]["parameters"]["structure"]["parameters"]["row_graph"]["shape"] = [10**12, 2]
    with pytest.raises(ModelFileError, match="index pointer"):
        from_bytes(forge(manifest, members))
