"""Candidates of a search: which are near the best, which the folds tell from it, and their table."""

import numpy as np
import pytest

from singleindex.fitting.candidates import (
    CHOICES,
    Candidate,
    HeldOut,
    near_best,
    not_told_apart,
    over_folds,
    over_told_splits,
    table_of,
)


def test_the_average_is_over_all_folds_and_near_candidates():
    class One:
        def __init__(self, positions, values):
            self.positions, self.values = np.array(positions), np.array(values, dtype=float)

        add_to = HeldOut.add_to

    share, mean = over_folds([[One([0], [2.0]), One([0, 2], [1.0, -3.0])]], (3, 1))
    np.testing.assert_array_equal(share, [1.0, 0.0, 0.5])
    np.testing.assert_array_equal(mean[:, 0], [1.5, 0.0, -1.5])
    a, b, c, d = (candidate([score - 1, score + 1]) for score in (1.0, 3.0, 2.5, np.nan))
    assert near_best([a, b, c, d], 0.0) == [b]
    assert near_best([a, b, c, d], 0.6) == [b, c]  # the standard error of the best is 1
    assert near_best([a, b, c, d], 2.0) == [a, b, c]


def candidate(scores, **settings):
    return Candidate(0, 0, 0, dict(settings), (), np.asarray(scores), np.asarray(scores))


def test_candidates_are_told_apart_by_what_the_folds_have_in_common():
    fold = np.array([0.0, 5.0, -5.0, 1.0])  # easy and hard folds, alike for all candidates
    scores = [fold, fold - 0.1, fold - [0.3, -0.1, 0.0, 0.1], np.full(4, np.nan)]
    candidates = [candidate(s) for s in scores]
    assert not_told_apart(candidates) == [candidates[0], candidates[2]]


def test_splits_that_tell_of_no_candidate_do_not_count():
    nan = np.nan
    kept = over_told_splits([candidate([1.0, nan, 3.0]), candidate([nan, nan, 5.0])])
    assert kept[0].scores.tolist() == [1.0, 3.0]
    assert np.isnan(kept[1].mean_score)
    assert [len(one.split_scores) for one in kept] == [3, 3]
    with pytest.raises(ValueError, match="every candidate scored NaN"):
        over_told_splits([candidate([nan, nan])])


def test_the_simpler_of_two_candidates():
    def made(n_atoms, alpha, iteration):
        fold = HeldOut(np.zeros((1, 1)), n_atoms, np.zeros(0, int), np.zeros(0))
        return Candidate(0, 0, iteration, {"alpha": alpha}, (fold,), np.zeros(1), np.zeros(1))

    order = [made(2, 0.1, 9), made(5, 1.0, 3), made(5, 0.1, 1), made(5, 0.1, 2)]
    assert sorted(reversed(order), key=lambda one: one.simplicity) == order


def test_the_table_has_a_line_for_each_candidate_in_the_units_of_the_score():
    settings = dict(zip(CHOICES, (None, 0.1, None, 0.5, 2), strict=True))
    fold = HeldOut(np.zeros((1, 1)), 4.0, np.zeros(0, int), np.zeros(0))
    scores = [np.array([-1.0, -3.0]), np.array([-1.0, -1.0])]
    table = table_of([Candidate(0, 0, 1, settings, (fold, fold), s, s) for s in scores], unit=10.0)
    assert np.isnan(table["n_atoms"]).all()
    assert table["penalty"].tolist() == [0.5, 0.5]
    assert table["mean_n_atoms"].tolist() == [4.0, 4.0]
    assert table["mean_test_score"].tolist() == [-20.0, -10.0]
    assert table["std_test_score"].tolist() == [10.0, 0.0]
    assert table["split1_test_score"].tolist() == [-30.0, -10.0]
    assert table["rank_test_score"].tolist() == [2, 1]
