"""Candidates of all folds: held-out indices, weights, averages and votes."""

import numpy as np
import pytest

from singleindex.fitting.bank import Scores, common_bank, equal_weights, joined, soft_weights, within
from singleindex.fitting.trace import Model

RNG = np.random.default_rng(0)
N = 12


def model(*values, votes=None):
    coef = np.array(values, dtype=float)
    used = np.flatnonzero(coef)
    return Model(used, coef[used], np.zeros(1), float(len(used)), votes=votes)


def fold(rows, **indices):
    """Return a fold whose candidates have a constant index each."""
    models = {name: model(value, 0, 0) for name, value in indices.items()}
    index = np.array([np.full((len(rows), 1), float(value)) for value in indices.values()])
    return models, np.array(rows), index


def scores(losses, weight=None):
    losses = np.asarray(losses, dtype=float)
    weight = np.ones(losses.shape[1]) if weight is None else weight
    return Scores(losses, weight, -losses)


# ---------------------------------------------------------------- the bank


def test_held_out_indices_are_put_where_their_rows_are_and_are_missing_elsewhere():
    bank = common_bank([fold([0, 1], a=1, b=2), fold([4, 3], a=3, b=4)], 5, 1)
    assert bank.keys == ["a", "b"]
    np.testing.assert_array_equal(bank.held_out[0, :, 0], [1, 1, np.nan, 3, 3])
    np.testing.assert_array_equal(bank.held_out[1, :, 0], [2, 2, np.nan, 4, 4])


def test_rows_that_are_held_out_twice_have_the_mean():
    bank = common_bank([fold([0, 1], a=1), fold([1, 2], a=3)], 3, 1)
    np.testing.assert_array_equal(bank.held_out[0, :, 0], [1, 2, 3])


def test_a_candidate_is_one_of_every_fold():
    bank = common_bank([fold([0], a=1, b=2, c=3), fold([1], c=5, a=4)], 2, 1)
    assert bank.keys == ["a", "c"]
    np.testing.assert_array_equal(bank.held_out[:, :, 0], [[1, 4], [3, 5]])
    assert [one.values[0] for one in bank.models[1]] == [4, 5]


def test_folds_without_a_common_candidate_have_the_one_before_in_its_place():
    bank = common_bank([fold([0], a=1), fold([1], b=4)], 2, 1)
    assert bank.keys == ["a", "b"]
    np.testing.assert_array_equal(bank.held_out[:, :, 0], [[1, 0], [1, 4]])
    assert bank.models[1][0].n_atoms == 0
    empty = common_bank([({}, np.array([0]), np.zeros((0, 1, 1))), fold([1], a=4)], 2, 1)
    np.testing.assert_array_equal(empty.held_out[:, :, 0], [[0, 4]])


def test_two_banks_are_one_after_the_other():
    one, two = (common_bank([fold([0], **{name: value})], 1, 1) for name, value in (("a", 1), ("b", 2)))
    both = joined(one, two)
    assert both.keys == ["a", "b"]
    assert both.held_out[:, 0, 0].tolist() == [1, 2]
    assert len(both.models[0]) == 2


def test_averages_and_votes_are_weighted():
    bank = common_bank(
        [({"a": model(2, 0, 4), "b": model(0, 1, 4)}, np.array([0]), np.ones((2, 1, 1)))], 1, 1
    )
    weight = np.array([[0.75], [0.25]])
    np.testing.assert_allclose(bank.average(0, weight, 3)[:, 0], [1.5, 0.25, 4])
    np.testing.assert_allclose(bank.votes(weight, 3)[:, 0], [0.75, 0.25, 1])
    assert bank.n_atoms().tolist() == [2, 2]
    np.testing.assert_allclose(bank.mean_held_out(weight), [[1.0]])


def test_an_average_votes_as_its_models_did():
    models = {"a": model(2, 0, 4, votes=np.array([0.5, 1.0]))}
    bank = common_bank([(models, np.array([0]), np.ones((1, 1, 1)))], 1, 1)
    np.testing.assert_allclose(bank.votes(np.ones((1, 1)), 3)[:, 0], [0.5, 0, 1])


# ---------------------------------------------------------------- weights


def test_soft_weights_fall_with_the_distance_in_standard_errors():
    best = RNG.random(N)
    error = best.std(ddof=1) / np.sqrt(N)
    found = soft_weights(scores([best, best + error, best + 2 * error, best + 9 * error]), np.ones(4, bool))
    np.testing.assert_allclose(found[1:3] / found[0], [np.exp(-1), np.exp(-2)])
    assert found[3] == 0
    assert found.sum() == pytest.approx(1)


def test_candidates_that_do_not_take_part_have_no_weight():
    losses = scores([np.full(N, 0.1) + RNG.random(N), np.full(N, 5.0) + RNG.random(N)])
    np.testing.assert_array_equal(soft_weights(losses, np.array([False, True])), [0, 1])
    np.testing.assert_array_equal(soft_weights(scores(np.ones((2, N))), np.ones(2, bool)), [0.5, 0.5])


def test_equal_weights_are_for_what_is_not_told_from_the_best():
    best = RNG.random(N)
    other = best + 0.1 + 0.2 * (-1.0) ** np.arange(N)  # far behind on half of the rows, ahead on the others
    worse = best + 0.1 + 1e-3 * RNG.random(N)
    losses = scores([other, best, worse])
    difference = other - best
    assert within(losses, 2.0)[0] == (difference.mean() <= 2 * difference.std(ddof=1) / np.sqrt(N))
    assert equal_weights(losses, errors=2.0).tolist() == [0.5, 0.5, 0]


def test_weights_of_rows_are_repetitions():
    count = RNG.integers(0, 4, N)
    losses = RNG.random((3, N))
    weighted = scores(losses, count.astype(float))
    repeated = scores(np.repeat(losses, count, axis=1))
    np.testing.assert_allclose(weighted.mean, repeated.mean)
    np.testing.assert_allclose(weighted.error_of(losses), repeated.error_of(np.repeat(losses, count, axis=1)))
    every = np.ones(3, bool)
    np.testing.assert_allclose(soft_weights(weighted, every), soft_weights(repeated, every))
    np.testing.assert_allclose(equal_weights(weighted), equal_weights(repeated))


def test_one_row_has_no_error():
    assert scores(np.ones((2, 1))).error_of(np.ones((2, 1))).tolist() == [0, 0]
