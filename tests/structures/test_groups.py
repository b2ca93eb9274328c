"""What is particular to groups: how they are given, ranked, overlapped, and refused."""

import io
import itertools

import numpy as np
import pandas as pd
import pytest

from singleindex import SingleIndexClassifier, SingleIndexRegressor
from singleindex.datasets import make_single_index
from singleindex.persistence import load, save
from singleindex.structures import GroupSparse, Sparse

W = np.array([1.0, -2.0, 0.5, 0.1, 3.0, -0.2])


def test_labels_and_lists_of_positions_mean_the_same():
    by_label = GroupSparse(["b", "a", "b", "c", "a", "c"])
    by_position = GroupSparse([[1, 4], [0, 2], [3, 5]])
    for k in range(4):
        np.testing.assert_array_equal(by_label.project(W, k), by_position.project(W, k))


def test_groups_of_one_are_sparse():
    singles = GroupSparse(np.arange(6))
    for k in range(7):
        np.testing.assert_array_equal(singles.project(W, k), Sparse().project(W, k))
    np.testing.assert_allclose(singles.shrink(W, 0.3), Sparse().shrink(W, 0.3))
    assert singles.norm(W) == pytest.approx(Sparse().norm(W))
    assert singles.dual_norm(W) == pytest.approx(Sparse().dual_norm(W))


def test_root_of_the_size_as_weight_does_not_favour_large_groups():
    w = np.array([1.0, 1.0, 1.0, 1.0, 1.5])
    groups = [[0, 1, 2, 3], [4]]
    np.testing.assert_array_equal(GroupSparse(groups).project(w, 1), [1, 1, 1, 1, 0])
    np.testing.assert_array_equal(GroupSparse(groups, weights="sqrt").project(w, 1), [0, 0, 0, 0, 1.5])
    np.testing.assert_array_equal(GroupSparse(groups, weights=[1, 9]).project(w, 1), [1, 1, 1, 1, 0])


def test_inner_sparsity_is_the_best_choice_of_groups_and_of_their_entries():
    rng = np.random.default_rng(0)
    groups = [[0, 1, 2], [3, 4], [5, 6, 7]]
    for _ in range(50):
        w = rng.standard_normal(8)
        v = GroupSparse(groups, n_inner=2).project(w, 2)
        best = min(
            np.sum(w**2) - sum(np.sum(np.sort(w[groups[g]] ** 2)[-2:]) for g in chosen)
            for chosen in itertools.combinations(range(3), 2)
        )
        assert np.sum((v - w) ** 2) == pytest.approx(best)


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([[0, 1], [3, 4, 5]], "column 2 is in no group"),
        ([[0, 1, 2], [2, 3, 4, 5]], "overlapping=True"),
        ([[0, 1, 1], [2, 3, 4, 5]], "twice"),
        ([[0, 1, 2], [3, 4, 5], []], "empty"),
        ([[0, 1, 2], [3, 4, 6]], "columns 0 to 5"),
        ([[0, 1, 2], [-1, 4, 5]], "columns 0 to 5"),
        ([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], "integer"),
        (["a", "b", "c"], "one per feature"),
    ],
)
def test_malformed_groups_are_refused_with_the_fix(groups, words):
    with pytest.raises(ValueError, match=words):
        GroupSparse(groups).check((6,))


def test_wrong_weights_are_refused():
    with pytest.raises(ValueError, match="one per group"):
        GroupSparse([0, 0, 1], weights=[1.0]).check((3,))
    with pytest.raises(ValueError, match="'sqrt'"):
        GroupSparse([0, 0, 1], weights="root").check((3,))
    with pytest.raises(ValueError, match="n_inner"):
        GroupSparse([0, 0, 1], n_inner=0).check((3,))


def test_groups_by_column_name():
    data = make_single_index(80, 6, n_atoms=2, noise="gaussian", random_state=0)
    frame = pd.DataFrame(data.X, columns=list("abcdef"))
    named = GroupSparse([["a", "f"], ["b", "c"], ["d", "e"]])
    numbered = GroupSparse([[0, 5], [1, 2], [3, 4]])
    by_name = SingleIndexRegressor(2, structure=named).fit(frame, data.y)
    by_number = SingleIndexRegressor(2, structure=numbered).fit(data.X, data.y)
    np.testing.assert_allclose(by_name.coef_, by_number.coef_, rtol=1e-12)
    with pytest.raises(ValueError, match="data frame"):
        SingleIndexRegressor(2, structure=named).fit(data.X, data.y)
    with pytest.raises(ValueError, match="'z'"):
        SingleIndexRegressor(structure=GroupSparse([["a", "z"], list("bcdef")])).fit(frame, data.y)


def test_overlapping_groups_select_a_union_of_groups():
    data = make_single_index(300, 8, n_atoms=3, noise="none", random_state=1)
    groups = [[0, 1, 2], [2, 3, 4], [4, 5, 6], [6, 7, 0]]
    for n_atoms in (1, 2, 3):
        model = SingleIndexRegressor(n_atoms, structure=GroupSparse(groups, overlapping=True))
        used = set(np.flatnonzero(model.fit(data.X, data.y).coef_))
        unions = [set().union(*chosen) for chosen in itertools.combinations(groups, n_atoms)]
        assert any(used == union for union in unions)


def test_overlapping_groups_equal_duplicated_columns():
    data = make_single_index(100, 6, n_atoms=3, noise="gaussian", random_state=2)
    groups = [[0, 1, 2], [2, 3, 4], [4, 5]]
    columns = np.concatenate(groups)
    settings = {"n_atoms": 2, "scale_power": None, "tol": 0.0, "max_iter": 20}
    latent = SingleIndexRegressor(structure=GroupSparse(groups, overlapping=True), **settings)
    doubled = SingleIndexRegressor(structure=GroupSparse([0, 0, 0, 1, 1, 1, 2, 2]), **settings)
    expected = np.zeros(6)
    np.add.at(expected, columns, doubled.fit(data.X[:, columns], data.y).coef_)
    np.testing.assert_allclose(latent.fit(data.X, data.y).coef_, expected, atol=1e-10)


def test_true_groups_are_found_with_fewer_rows_than_features():
    found = []
    for seed in range(3):
        data = make_single_index(
            300, 500, structure="group", group_size=10, n_atoms=5, link="ramp", random_state=seed
        )
        model = SingleIndexClassifier(5, structure=GroupSparse(data.groups)).fit(data.X, data.y)
        true, chosen = (set(np.asarray(data.groups)[w != 0]) for w in (data.coef, model.coef_))
        found.append(len(true & chosen) / 5)
    assert np.mean(found) >= 0.8


# ---------------------------------------------------------------- how groups are given


@pytest.mark.parametrize(
    "groups",
    [
        [{0, 3}, {1}, {5, 2, 4}],
        [pd.Index([0, 3]), pd.Index([1]), pd.Series([2, 4, 5])],
        ([0, 3], range(1, 2), np.array([2, 4, 5])),
        ((k for k in group) for group in ([0, 3], [1], [2, 4, 5])),
        {frozenset([0, 3]), frozenset([1]), frozenset([5, 2, 4])},
        pd.Series([[0, 3], [1], [2, 4, 5]]),
        pd.Series(list("abcacc")),
        pd.Index(list("abcacc")),
        pd.Categorical(list("abcacc")),
        np.array([0, 1, 2, 0, 2, 2], dtype=object),
    ],
    ids=lambda groups: type(groups).__name__,
)
def test_any_collection_of_collections_is_a_list_of_groups(groups):
    structure, expected = GroupSparse(groups), GroupSparse([[0, 3], [1], [2, 4, 5]])
    assert structure.check((6,)) == structure.check((6,)) == 3
    for k in range(4):
        np.testing.assert_array_equal(structure.project(W, k), expected.project(W, k))


def test_rows_of_an_array_are_groups():
    structure = GroupSparse(np.arange(6).reshape(2, 3))
    assert structure.check((6,)) == 2
    np.testing.assert_array_equal(structure.project(W, 1), [0, 0, 0, *W[3:]])


@pytest.mark.parametrize(
    "as_group", [lambda c: c, set, tuple, list, np.array, iter], ids=lambda f: f.__name__
)
def test_columns_of_a_data_frame_are_groups_by_name(as_group):
    data = make_single_index(80, 6, n_atoms=2, noise="gaussian", random_state=0)
    frame = pd.DataFrame(data.X, columns=list("abcdef"))
    named = GroupSparse([as_group(frame.columns[:2]), as_group(frame.columns[2:])])
    by_name = SingleIndexRegressor(1, structure=named).fit(frame, data.y)
    by_number = SingleIndexRegressor(1, structure=GroupSparse([[0, 1], range(2, 6)])).fit(data.X, data.y)
    np.testing.assert_allclose(by_name.coef_, by_number.coef_, rtol=1e-12)
    # Kept as lists, so that the model can be saved.
    file = io.BytesIO()
    save(by_name, file)
    again = load(io.BytesIO(file.getvalue()))
    np.testing.assert_array_equal(again.fit(frame, data.y).coef_, by_name.coef_)


NA = float("nan")


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (None, "one list of columns per group.*got None"),
        (3, "one list of columns per group.*got 3"),
        ("abcacc", "one list of columns per group"),
        (np.array(3), "one list of columns per group"),
        ({"first": [0, 1, 2], "second": [3, 4, 5]}, r"list\(groups.values\(\)\)"),
        ([[0, 1, 2], None, [3, 4, 5]], r"groups\[1\] is None.*leave out"),
        ([[0, 1, 2], 3, 4, 5], r"groups\[1\] is 3.*as a list"),
        ([[[0, 1]], [2, 3, 4, 5]], "flat list"),
        (["a", None, "a", "b", "b", None], r"no label for feature 1 \(2 such features\)"),
        (["a", "a", "a", "b", "b", NA], "no label for feature 5"),
        ([0, 0, NA, 1, 1, 1], "no label for feature 2"),
        (np.array([0, 0, NA, 1, 1, 1]), "no label for feature 2"),
        (pd.Series(["a", "a", "b", pd.NA, "b", "b"]), "no label for feature 3"),
        (np.array(["a", "a", 1, 1, 1, 1], dtype=object), "cannot be sorted together"),
        (pd.DataFrame({"a": [0, 0], "b": [1, 1]}), "one label per feature"),
        ([[0, 1, 2], [3, 4, None]], "integer"),
        ([[0, 1, 2], [3, 4, NA]], "integer"),
        ([], "one per feature"),
    ],
)
@pytest.mark.parametrize("overlapping", [False, True])
def test_what_are_no_groups_is_refused_with_the_fix(groups, words, overlapping):
    structure = GroupSparse(groups, overlapping=overlapping)
    with pytest.raises(ValueError, match=words):
        structure.check((6,))
    with pytest.raises(ValueError, match=words):
        structure.resolve(None).check((6,))


def test_names_and_positions_do_not_mix():
    with pytest.raises(ValueError, match="does not have: 1"):
        GroupSparse([["a", 1], ["b"]]).resolve(["a", "b", "c"])
    with pytest.raises(ValueError, match=r"does not have: \['c'\]"):
        GroupSparse([["a", ["c"]], ["b"]]).resolve(["a", "b", "c"])


@pytest.mark.parametrize("n_inner", ["a", 1.5, True, 0, -1, [1], NA])
def test_n_inner_is_a_count(n_inner):
    with pytest.raises(ValueError, match="n_inner must be an integer of at least 1, or None"):
        GroupSparse([0, 0, 1], n_inner=n_inner).check((3,))
    assert GroupSparse([0, 0, 1], n_inner=np.int64(1)).check((3,)) == 2


@pytest.mark.parametrize("wrong", [NA, -np.inf, -1.0])
def test_weights_are_not_negative(wrong):
    with pytest.raises(ValueError, match=f"weights must be numbers of at least 0.*got {wrong:g} for group 1"):
        GroupSparse([0, 0, 1], weights=[1.0, wrong]).check((3,))
    with pytest.raises(ValueError, match=r"weights leave no group to choose.*give 1"):
        GroupSparse([0, 0, 1], weights=[0.0, np.inf]).check((3,))


def test_a_group_of_weight_zero_is_kept_whole():
    structure = GroupSparse(list("aaabb"), weights=[0, 1], n_inner=1)
    np.testing.assert_array_equal(structure.project(np.array([1.0, 2, 3, 4, 5]), 1), [1, 2, 3, 0, 5])
    assert structure.check((5,)) == 1
    assert structure.count_atoms(np.ones(5)) == 1
    overlapping = GroupSparse([[0, 1], [1, 2]], weights=[0, 1], overlapping=True)
    assert overlapping.check((3,)) == 1
    assert overlapping.coordinates(3)[1].project(np.ones(4), 0).tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("weights", [["a", "b"], {"a": 1}, 1.0, [[1.0, 2.0]]])
def test_weights_are_one_number_per_group(weights):
    with pytest.raises(ValueError, match="2 numbers of at least 0, one per group"):
        GroupSparse([0, 0, 1], weights=weights).check((3,))


@pytest.mark.parametrize("groups", [[[0, 1, 2], [2, 3, 4, 5]], list("aabbcc")])
def test_overlapping_groups_are_not_projected_directly(groups):
    structure = GroupSparse(groups, overlapping=True)
    assert structure.check((6,)) == len(set(structure.coordinates(6)[1].groups))
    calls = [
        lambda: structure.project(W, 1),
        lambda: structure.project(W, None),
        lambda: structure.shrink(W, 0.1),
        lambda: structure.norm(W),
        lambda: structure.dual_norm(W),
        lambda: structure.count_atoms(W),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="through an estimator, or `coordinates`"):
            call()


def test_latent_groups_are_projected():
    repeated, latent = GroupSparse([[0, 1, 2], {5, 2, 4, 3}], overlapping=True).coordinates(6)
    np.testing.assert_array_equal(repeated.columns, [0, 1, 2, 2, 3, 4, 5])
    w = W[repeated.columns]
    np.testing.assert_array_equal(latent.project(w, 1), [0, 0, 0, *w[3:]])
    assert latent.count_atoms(latent.shrink(w, 0.1)) == 2
    assert latent.norm(w) == pytest.approx(np.linalg.norm(w[:3]) + np.linalg.norm(w[3:]))
