"""Values of a model file: which there are, and what becomes of others."""

import dataclasses

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from saved_models import SAVED, X, Y, as_bytes, assert_same, forge, from_bytes, npy, parts_of
from scipy import sparse

from singleindex import structures
from singleindex.estimators import SingleIndexRegressor
from singleindex.persistence import ModelFileError
from singleindex.structures import GraphLowRank, GroupSparse, RowSparse, Sparse, Structure


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


@pytest.mark.parametrize(
    "structure",
    [
        Sparse(factors={0: 0, 2: np.inf}, signs={1: -1}),
        Sparse(factors=np.linspace(0, 2, X.shape[1])),
        RowSparse(factors={3: 0.5}),
        GroupSparse(np.arange(X.shape[1]) // 2, weights=[0, 1, np.inf, 1]),
    ],
    ids=repr,
)
def test_factors_and_signs_are_kept(structure):
    model = SingleIndexRegressor(1, structure=structure).fit(X, Y)
    loaded = from_bytes(as_bytes(model))
    assert repr(loaded.structure) == repr(structure)
    assert isinstance(structure, GroupSparse) or loaded.structure == structure
    assert_same(loaded.fit(X, Y).coef_, model.coef_)


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


class OwnStructure(Structure):
    def project(self, w, n_atoms):
        return w

    def count_atoms(self, w):
        return w.size

    def check(self, shape):
        return shape[0]


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


def test_a_sparse_matrix_that_leads_out_of_itself_is_refused():
    graph = sparse.csr_matrix(np.array([[0.0, 1.5], [1.5, 0.0]]))
    model = SingleIndexRegressor(structure=GraphLowRank((2, 4), row_graph=graph))
    manifest, members = parts_of(as_bytes(model))
    [name] = [n for n, content in members.items() if content == npy(graph.indices)]
    with pytest.raises(ModelFileError, match="malformed"):
        from_bytes(forge(manifest, members | {name: npy(graph.indices + 10**6)}))


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
        "a known link .* 'os.system'",
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


def test_an_array_named_again_and_again_is_refused():
    model = SingleIndexRegressor()
    model.history_ = [np.zeros(3)] * 200
    manifest, members = parts_of(as_bytes(model))
    manifest["model"]["attributes"]["history_"] = [{"type": "array", "member": "array0.npy"}] * 200
    with pytest.raises(ModelFileError, match=r"array0\.npy is named twice"):
        from_bytes(forge(manifest, members))


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
