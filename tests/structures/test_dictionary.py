"""What is particular to dictionaries: the greedy selection, and atoms that depend on each other."""

import numpy as np
import pytest
from sklearn.linear_model import orthogonal_mp

import singleindex.structures.dictionary as module
from singleindex import SingleIndexRegressor
from singleindex.datasets import make_single_index
from singleindex.structures import Dictionary, Sparse


def test_unit_vectors_as_atoms_are_sparse():
    w = np.array([1.0, -2.0, 2.0, -1.0, 0.5, 0.0])
    for k in range(7):
        v = Dictionary(np.eye(6)).project(w, k)
        np.testing.assert_allclose(v, Sparse().project(w, k), atol=1e-15)
        assert Dictionary(np.eye(6)).count_atoms(v) == min(k, 5)


def test_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    atoms, w = rng.standard_normal((30, 20)), rng.standard_normal(20)
    unit = atoms / np.linalg.norm(atoms, axis=1, keepdims=True)
    for k in (1, 2, 5, 15):
        expected = orthogonal_mp(unit.T, w, n_nonzero_coefs=k) @ unit
        np.testing.assert_allclose(Dictionary(atoms).project(w, k), expected, atol=1e-12)


def test_atoms_are_counted_in_one_pursuit(monkeypatch):
    real, calls = module.pursue, []
    monkeypatch.setattr(module, "pursue", lambda *args: calls.append(1) or real(*args))
    w = np.random.default_rng(0).standard_normal(200)
    assert Dictionary(np.eye(200)).count_atoms(w) == 200
    assert len(calls) == 1


@pytest.mark.filterwarnings("error")
def test_dependent_atoms_are_not_needed():
    atoms = [[1, 0, 0, 0], [2, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [-1, 3, 0, 0]]
    structure = Dictionary(atoms)
    w = np.array([3.0, 1.0, 0.0, 0.0])
    for k in (2, 3, 4, 5, None):
        v = structure.project(w, k)
        np.testing.assert_allclose(v, w, atol=1e-12)
        assert structure.count_atoms(v) == 2
    outside = np.array([3.0, 1.0, 5.0, 0.0])
    np.testing.assert_allclose(structure.project(outside, 4), w, atol=1e-12)
    assert structure.count_atoms(outside) == len(atoms)
    np.testing.assert_array_equal(structure.project(np.array([0.0, 0.0, 1.0, 0.0]), 2), np.zeros(4))
    # Repeated atoms, and more atoms than features, with rounding in them.
    rng = np.random.default_rng(0)
    some = rng.standard_normal((3, 8))
    many = Dictionary(np.vstack([some, some / 3, rng.standard_normal((10, 3)) @ some]))
    w = rng.standard_normal(8)
    for k in (3, 7, 15, 16):
        v = many.project(w, k)
        np.testing.assert_allclose(some @ v, some @ w, atol=1e-10)
        assert many.count_atoms(v) == 3


def test_an_atom_orthogonal_to_w_may_still_be_needed():
    """Where scikit-learn's pursuit ends early, as if the atom were a dependent one."""
    structure = Dictionary([[0.8, 0.6, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    w = np.array([1.0, 0.0, 0.0])
    np.testing.assert_allclose(structure.project(w, 2), w, atol=1e-15)
    assert structure.count_atoms(w) == 2


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e9, 1e200])
def test_scale_does_not_matter(scale):
    rng = np.random.default_rng(0)
    structure, w = Dictionary(rng.standard_normal((12, 8))), rng.standard_normal(8)
    v = structure.project(w, 3)
    np.testing.assert_allclose(structure.project(w * scale, 3) / scale, v, atol=1e-12)
    assert structure.count_atoms(v * scale) == structure.count_atoms(v)


def test_type_is_kept_and_w_is_not_changed():
    structure = Dictionary(np.random.default_rng(0).standard_normal((12, 8)))
    w = np.random.default_rng(1).standard_normal(8).astype(np.float32)
    w.flags.writeable = False
    for k in (0, 1, 3, None):
        v = structure.project(w, k)
        assert v.dtype == np.float32
        assert v.flags.writeable
        assert not np.shares_memory(v, w)


@pytest.mark.filterwarnings("error")
def test_a_fit_with_dependent_atoms_is_silent():
    data = make_single_index(100, 10, n_atoms=2, noise="gaussian", random_state=0)
    atoms = np.vstack([np.eye(10), np.eye(10)])
    model = SingleIndexRegressor(15, structure=Dictionary(atoms)).fit(data.X, data.y)
    assert model.history_["n_atoms"].max() <= 10


def test_malformed_atoms_are_refused():
    with pytest.raises(ValueError, match=r"\(n_dictionary, 3\)"):
        Dictionary(np.eye(4)).check((3,))
    with pytest.raises(ValueError, match="none of them zero"):
        Dictionary(np.diag([1.0, 0.0, 1.0])).check((3,))
