"""What every structure owes a solver: one list over all of them."""

import itertools
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singleindex.structures import GraphLowRank, GroupSparse, LowRank, RowSparse, Sparse, Structure


@dataclass
class Case:
    """A structure, a shape of w small enough for brute force, and the nearest point by it."""

    structure: Any
    shape: tuple[int, ...]
    n_available: int
    nearest: Callable[[np.ndarray, int], np.ndarray]
    # Among equal sizes the lowest position is kept: not for atoms that have no positions.
    ordered: bool = True
    # Entries that are never penalised, and what w becomes if any number of atoms is allowed.
    free: tuple[int, ...] = ()
    allowed: Callable[[np.ndarray], np.ndarray] = np.asarray

    def penalised(self, w):
        """Return w without what is never penalised."""
        w = w.copy()
        w[list(self.free)] = 0
        return w


def nearest_on_supports(supports):
    """Return a brute-force projection onto vectors whose support is a union of n_atoms supports."""

    def nearest(w, n_atoms):
        best = np.zeros_like(w)
        for chosen in itertools.combinations(supports, min(n_atoms, len(supports))):
            v = np.zeros_like(w)
            for support in chosen:
                v[support] = w[support]
            if np.linalg.norm(v - w) < np.linalg.norm(best - w):
                best = v
        return best

    return nearest


def nearest_of_low_rank(shape):
    def nearest(w, n_atoms):
        u, s, vt = np.linalg.svd(w.reshape(shape), full_matrices=False)
        return ((u[:, :n_atoms] * s[:n_atoms]) @ vt[:n_atoms]).ravel()

    return nearest


def entries(*shape):
    return [tuple(at) for at in np.ndindex(*shape)]


def after(allowed, nearest, free=()):
    """Return a brute-force projection of what is allowed of w, in which some entries are kept in any case."""

    def nearest_of_allowed(w, n_atoms):
        w = allowed(w)
        kept = np.zeros_like(w)
        kept[list(free)] = w[list(free)]
        return kept + nearest(w - kept, n_atoms)

    return nearest_of_allowed


def positive_part(w):
    return np.maximum(w, 0)


def with_signs(w):
    return np.array([max(w[0], 0), min(w[1], 0), w[2], 0 * w[3], max(w[4], 0), w[5]], dtype=w.dtype)


def without_last(w):
    w = w.copy()
    w[-1] = 0
    return w


def case_of(structure, shape, supports, free, allowed):
    """Return the case of a structure in which some entries are always there, or have signs."""
    nearest = after(allowed, nearest_on_supports(supports), free)
    return Case(structure, shape, len(supports), nearest, free=free, allowed=allowed)


def nearest_over_graphs(structure):
    """Return the nearest point in the norm in which the structure's atoms have length one."""
    plain = nearest_of_low_rank(structure.shape)
    return lambda w, n_atoms: structure.from_coordinates(plain(structure.to_coordinates(w), n_atoms))


GROUPS = [[0, 3], [1], [2, 4, 5]]
LINKED = np.array([[0, 1, 0, 0], [1, 0, 2, 0], [0, 2, 0, 0], [0, 0, 0, 0]])
GRAPHS = GraphLowRank((4, 3), LINKED, LINKED[:3, :3], 2.0, 1.0)

# A new structure is one more line.
STRUCTURES = {
    "Sparse": Case(Sparse(), (6,), 6, nearest_on_supports(entries(6))),
    "Sparse, matrix": Case(Sparse(), (3, 2), 6, nearest_on_supports(entries(3, 2))),
    "Sparse, positive": case_of(Sparse(positive=True), (6,), entries(6), (), positive_part),
    "Sparse, factors": case_of(
        Sparse(factors=(1, 0, 1, 0, 1, np.inf)), (6,), [(0,), (2,), (4,)], (1, 3), without_last
    ),
    "Sparse, signs": case_of(
        Sparse(factors={3: np.inf, 4: 0}, signs={0: 1, 1: -1, 4: 1}),
        (6,),
        [(0,), (1,), (2,), (5,)],
        (4,),
        with_signs,
    ),
    "GroupSparse, weights": case_of(
        GroupSparse([[0, 3], [1], [2, 4], [5]], [1, 0, 1, np.inf]), (6,), [[0, 3], [2, 4]], (1,), without_last
    ),
    "RowSparse, factors": case_of(RowSparse(factors={1: 0, 3: np.inf}), (4, 2), [0, 2], (1,), without_last),
    "GroupSparse": Case(GroupSparse(GROUPS), (6,), 3, nearest_on_supports(GROUPS)),
    "GroupSparse, labels": Case(GroupSparse(list("abcacc")), (6,), 3, nearest_on_supports(GROUPS)),
    "RowSparse": Case(RowSparse(), (4, 2), 4, nearest_on_supports(list(range(4)))),
    "RowSparse, one output": Case(RowSparse(), (5,), 5, nearest_on_supports(entries(5))),
    "GraphLowRank": Case(GRAPHS, (12,), 3, nearest_over_graphs(GRAPHS), ordered=False),
    "LowRank": Case(LowRank((4, 3)), (12,), 3, nearest_of_low_rank((4, 3)), ordered=False),
}
every_structure = pytest.mark.parametrize("case", STRUCTURES.values(), ids=STRUCTURES)
# Every test runs for each of them.
fewer_examples = settings(max_examples=settings().max_examples // 5)


@st.composite
def points(draw, case):
    """A w with ties and zeros, or with neither."""
    size = int(np.prod(case.shape))
    number = draw(
        st.sampled_from(
            [
                st.integers(-2, 2).map(float),
                st.integers(-(10**6), 10**6).map(lambda k: k / 1e3),
                st.tuples(st.integers(-9, 9), st.integers(-12, 12)).map(lambda t: t[0] * 10.0 ** t[1]),
            ]
        )
    )
    return np.array(draw(st.lists(number, min_size=size, max_size=size))).reshape(case.shape)


def draw_problem(case, data):
    return data.draw(points(case)), data.draw(st.integers(0, case.n_available))


def rounding(w):
    return 1e-9 * (np.linalg.norm(w) + 1e-300)


def assert_nearest(v, w, n_atoms, case):
    """Assert that no combination of n_atoms atoms is nearer to w, and that v is one."""
    best = case.nearest(w, n_atoms)
    assert np.linalg.norm(v - w) <= np.linalg.norm(best - w) + rounding(w)
    assert case.structure.count_atoms(v) <= n_atoms
    # The nearest point is itself made of atoms: projecting it by brute force gives it back.
    assert np.linalg.norm(case.nearest(v, n_atoms) - v) <= rounding(w)


def test_assert_nearest_fails_on_wrong_answers():
    w = np.array([3.0, -1.0, 2.0, -4.0, 0.0, 1.0])
    case = STRUCTURES["Sparse"]
    assert_nearest(np.array([3.0, 0, 0, -4, 0, 0]), w, 2, case)
    wrong = [[3.0, 0, 2, 0, 0, 0], w, [3.0, 0, 0, -3.9, 0, 0], [3.0, 0, 0, 4, 0, 0], np.zeros(6)]
    for v in wrong:
        with pytest.raises(AssertionError):
            assert_nearest(np.array(v), w, 2, case)


@every_structure
@fewer_examples
@given(data=st.data())
def test_nearest_point(case, data):
    w, n_atoms = draw_problem(case, data)
    assert_nearest(case.structure.project(w, n_atoms), w, n_atoms, case)


@every_structure
@fewer_examples
@given(data=st.data())
def test_idempotent(case, data):
    w, n_atoms = draw_problem(case, data)
    v = case.structure.project(w, n_atoms)
    np.testing.assert_allclose(case.structure.project(v, n_atoms), v, rtol=0, atol=rounding(w))


@every_structure
@fewer_examples
@given(data=st.data())
def test_counts_no_more_atoms_than_asked_for(case, data):
    w, n_atoms = draw_problem(case, data)
    count = case.structure.count_atoms(case.structure.project(w, n_atoms))
    assert 0 <= count <= min(n_atoms, case.n_available)
    assert case.structure.count_atoms(np.zeros(case.shape)) == 0


@every_structure
@fewer_examples
@given(data=st.data())
def test_no_limit_and_all_atoms_are_the_same(case, data):
    w, _ = draw_problem(case, data)
    free = case.structure.project(w, None)
    np.testing.assert_allclose(free, case.nearest(w, case.n_available), rtol=0, atol=rounding(w))
    for n_atoms in (case.n_available, case.n_available + 1, 10**6):
        np.testing.assert_array_equal(case.structure.project(w, n_atoms), free)
    np.testing.assert_array_equal(case.structure.project(w, 0), free - case.penalised(free))


@every_structure
@fewer_examples
@given(data=st.data())
def test_never_mutates_and_returns_a_new_array(case, data):
    w, n_atoms = draw_problem(case, data)
    before = w.copy()
    w.flags.writeable = False
    for limit in (None, 0, n_atoms, case.n_available):
        v = case.structure.project(w, limit)
        assert not np.shares_memory(v, w)
        assert v.flags.writeable
        assert v.shape == w.shape
        case.structure.count_atoms(w)
    assert (w == before).all()


@every_structure
@fewer_examples
@given(data=st.data())
def test_reruns_agree_bit_for_bit(case, data):
    w, n_atoms = draw_problem(case, data)
    first = case.structure.project(w, n_atoms)
    assert first.tobytes() == case.structure.project(w.copy(), n_atoms).tobytes()


@every_structure
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_type_is_kept(case, dtype):
    w = np.random.default_rng(0).normal(size=case.shape).astype(dtype)
    for n_atoms in (None, 0, 1, 2, case.n_available):
        v = case.structure.project(w, n_atoms)
        assert v.dtype == dtype
        expected = case.structure.project(w.astype(np.float64), n_atoms)
        np.testing.assert_allclose(v, expected, atol=1e-6)


@every_structure
def test_memory_layout_does_not_matter(case):
    w = np.random.default_rng(1).normal(size=case.shape)
    expected = case.structure.project(w, 2)
    strided = np.repeat(w, 2, axis=0)[::2]
    for same in (np.asfortranarray(w), strided, w[::-1][::-1]):
        np.testing.assert_array_equal(case.structure.project(same, 2), expected)


@every_structure
def test_ties_keep_the_lowest_position(case):
    if not case.ordered:
        w = np.ones(case.shape)
        first = case.structure.project(w, 1)
        assert first.tobytes() == case.structure.project(w, 1).tobytes()
        return
    # Equal atoms: brute force takes combinations in ascending order and keeps the first.
    w = np.zeros(case.shape)
    for n_atoms in range(case.n_available + 1):
        np.testing.assert_array_equal(case.structure.project(w + 1, n_atoms), case.nearest(w + 1, n_atoms))


@every_structure
def test_check_tells_the_number_of_atoms(case):
    assert isinstance(case.structure, Structure)
    assert case.structure.check(case.shape) == case.n_available


@every_structure
def test_pickles_and_shows_itself(case):
    again = pickle.loads(pickle.dumps(case.structure))
    w = np.random.default_rng(2).normal(size=case.shape)
    np.testing.assert_array_equal(again.project(w, 2), case.structure.project(w, 2))
    assert type(case.structure).__name__ in repr(case.structure)


@every_structure
@fewer_examples
@given(data=st.data())
def test_scale_does_not_matter(case, data):
    """A power of two as a factor changes nothing but exponents, also far from one."""
    w, n_atoms = draw_problem(case, data)
    v = case.structure.project(w, n_atoms)
    for factor in (2.0**-400, 2.0**400):
        scaled = case.structure.project(factor * w, n_atoms) / factor
        np.testing.assert_allclose(scaled, v, rtol=0, atol=rounding(w))


# ---------------------------------------------------------------- soft thresholding

SOFT = {name: case for name, case in STRUCTURES.items() if case.structure.is_soft}
every_soft_structure = pytest.mark.parametrize("case", SOFT.values(), ids=SOFT)


@every_soft_structure
@fewer_examples
@given(data=st.data(), amount=st.sampled_from([0.0, 1e-3, 0.5, 1.0, 7.0, 1e4]))
def test_shrink_minimises(case, data, amount):
    """Compared with zero, with w, and with points around the answer."""
    w = data.draw(points(case))
    structure = case.structure
    before = w.copy()
    v = structure.shrink(w, amount)
    assert (w == before).all()
    assert not np.shares_memory(v, w)

    # Distances are those in which the atoms have length one.
    coordinates = getattr(structure, "to_coordinates", np.asarray)

    def cost(u):
        return 0.5 * np.square(coordinates(u - w)).sum() + amount * structure.norm(u)

    rng = np.random.default_rng(0)
    others = [np.zeros_like(w), v + 0.1 * (w - v), 0.9 * v, 1.1 * v]
    others += [v + s * np.abs(w).max() * rng.normal(size=w.shape) for s in (1e-3, 0.1)]
    least = min(cost(case.allowed(u)) for u in others)
    assert cost(v) <= least + 1e-9 * (1 + cost(np.zeros_like(w)))


@every_soft_structure
@fewer_examples
@given(data=st.data())
def test_dual_norm_is_where_shrinking_gives_zero(case, data):
    w = data.draw(points(case))
    least = case.structure.dual_norm(w)
    assert least >= 0
    assert np.linalg.norm(case.penalised(case.structure.shrink(w, least * (1 + 1e-9)))) <= rounding(w)
    if least > 1e-6 * np.linalg.norm(w):
        assert case.penalised(case.structure.shrink(w, 0.99 * least)).any()


@every_soft_structure
@fewer_examples
@given(data=st.data())
def test_norm_is_a_norm(case, data):
    a, b = (case.penalised(case.allowed(data.draw(points(case)))) for _ in range(2))
    norm = case.structure.norm
    slack = 1e-9 * (norm(a) + norm(b)) + 1e-300
    assert norm(np.zeros(case.shape)) == 0
    assert norm(a + b) <= norm(a) + norm(b) + slack
    assert norm(2.5 * a) == pytest.approx(2.5 * norm(a), abs=slack)
    # The dual norm bounds the inner product.
    assert np.vdot(a, b) <= case.structure.dual_norm(a) * norm(b) * (1 + 1e-9) + 1e-300


# ---------------------------------------------------------------- what is public


def test_plumbing_is_importable_but_not_public():
    import singleindex.structures as package
    from singleindex.structures.each_output import EachOutput

    assert package.EachOutput is EachOutput
    assert "EachOutput" not in package.__all__
