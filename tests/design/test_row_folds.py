"""Folds that rows tell by themselves: the same in memory, in blocks, and for scikit-learn."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_score

from singleindex.design import BlockKFold, GroupHashKFold, HashKFold


def in_pieces(folds, X, cuts, groups=None):
    parts = [slice(a, b) for a, b in zip([0, *cuts], [*cuts, len(X)], strict=True)]
    return np.concatenate([
        folds.fold_of(X[p], p.start, p.stop - p.start, len(X), None if groups is None else groups[p])
        for p in parts
    ])  # fmt: skip


@pytest.mark.parametrize("folds", [HashKFold(4), BlockKFold(3), GroupHashKFold(3, column=1)])
def test_rows_are_in_the_same_fold_however_they_are_cut(folds):
    X = np.random.default_rng(0).integers(0, 9, (101, 3)).astype(float)
    whole = in_pieces(folds, X, [])
    for cuts in ([50], [1, 7, 7, 100], range(1, 101)):
        assert (in_pieces(folds, X, list(cuts)) == whole).all()
    for k, (train, test) in enumerate(folds.split(X)):
        assert (np.flatnonzero(whole == k) == test).all()
        assert sorted([*train, *test]) == list(range(101))


def test_hashed_folds_are_even_and_have_no_order():
    fold = HashKFold(5).fold_of(None, 10**9, 100_000, 2 * 10**9)
    counts = np.bincount(fold)
    assert np.abs(counts - 20_000).max() < 600  # five standard deviations
    pairs = np.bincount(5 * fold[:-1] + fold[1:], minlength=25)
    assert np.abs(pairs - 4000).max() < 350
    other = HashKFold(5, random_state=1).fold_of(None, 10**9, 100_000, 2 * 10**9)
    assert np.mean(fold == other) == pytest.approx(0.2, abs=0.01)


def test_the_hash_never_changes():
    """Checkpoints and models of other sessions rely on it."""
    assert HashKFold(10).fold_of(None, 0, 12, 12).tolist() == [3, 6, 4, 8, 6, 8, 1, 0, 6, 0, 6, 5]
    groups = np.array(["a", "b", "ä", "a"])
    assert GroupHashKFold(10).fold_of(None, 0, 4, 4, groups).tolist() == [2, 9, 3, 2]


def test_blocks_are_as_even_as_those_of_scikit_learn():
    X = np.zeros((20, 1))
    for (_, ours), (_, theirs) in zip(BlockKFold(4).split(X), KFold(4).split(X), strict=True):
        assert (ours == theirs).all()


def test_groups_stay_together_whatever_their_type():
    groups = np.random.default_rng(0).integers(0, 30, 400)
    expected = GroupHashKFold(4).fold_of(None, 0, 400, 400, groups)
    assert len(set(zip(groups, expected, strict=True))) == len(set(groups))
    X = np.column_stack([np.zeros(400), groups])
    for data in (X, X.astype(np.float32), sparse.csr_matrix(X), np.where(X == 0, -0.0, X)):
        assert (GroupHashKFold(4, column=1).fold_of(data, 0, 400, 400) == expected).all()
    words = np.array([f"g{k}" for k in groups], dtype=object)
    by_word = GroupHashKFold(4).fold_of(None, 0, 400, 400, words)
    assert len(set(zip(groups, by_word, strict=True))) == len(set(groups))


def test_scikit_learn_takes_them():
    X = np.random.default_rng(0).standard_normal((60, 3))
    scores = cross_val_score(LinearRegression(), X, X @ [1, 2, 3], cv=HashKFold(4))
    assert scores == pytest.approx(np.ones(4))


def test_what_is_no_number_of_folds_is_refused():
    for wrong in (1, 0, True, 2.5, "5"):
        with pytest.raises(ValueError, match="n_splits must be an integer of at least 2"):
            HashKFold(wrong)
    with pytest.raises(ValueError, match="needs groups"):
        GroupHashKFold().fold_of(np.zeros((3, 1)), 0, 3, 3)
    with pytest.raises(ValueError, match="groups has 2 rows where X has 3"):
        GroupHashKFold().fold_of(np.zeros((3, 1)), 0, 3, 3, np.zeros(2))
