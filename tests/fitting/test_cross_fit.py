"""A link fitted to rows that w has not seen: standardised indices, their length, and what it is worth."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

from singleindex import SingleIndexClassifier, SingleIndexRegressor
from singleindex.datasets import make_single_index
from singleindex.design import Scaling, View, as_design
from singleindex.fitting.cross_fit import (
    IndexNotIdentifiedWarning,
    held_out_index,
    length_for_link,
    line_length,
    spread_of,
    standardised,
    trust_in,
    warn_if_not_identified,
    with_cross_fitted_link,
)
from singleindex.fitting.plan import make_plan
from singleindex.link import FixedLink, Lpav, MonotoneCurve
from singleindex.solvers import Iterate
from singleindex.structures import RowSparse

RNG = np.random.default_rng(0)


def made(coef, index, link=None):
    """Return an iterate of these coefficients; its numbers do not matter here."""
    return Iterate(0, coef, index, link, 0.0, 0.0, 1, 1.0, 0.0)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_spread_is_that_of_numpy(weighted):
    index, count = RNG.normal(size=50), RNG.integers(1, 4, 50)
    mean, sd = spread_of(index, count.astype(float) if weighted else None)
    repeated = np.repeat(index, count) if weighted else index
    assert (mean, sd) == (pytest.approx(repeated.mean()), pytest.approx(repeated.std()))


def test_the_spread_of_numbers_whose_squares_are_none():
    index = np.ldexp(RNG.normal(size=50), 600)
    mean, sd = spread_of(index, None)
    assert sd == pytest.approx(np.ldexp(np.ldexp(index, -600).std(), 600))
    assert mean == pytest.approx(index.mean())


@pytest.mark.parametrize("weighted", [False, True])
def test_a_standardised_index_has_no_mean_and_unit_spread_over_the_training_rows(weighted):
    X, scale = RNG.normal(size=(40, 3)) + 2, np.array([2.0, 0.5, 1.0])
    weight = RNG.random(40) if weighted else None
    view = View(as_design(X), Scaling(scale))
    coefs = [np.array([1.0, -2.0, 0.0]), np.array([0.0, 0.0, 3.0])]
    iterates = [made(w, view.matvec(w)) for w in coefs]
    plan = make_plan(3, None, is_classifier=False)
    index = held_out_index(plan, iterates, view, X, weight)
    for column in index.T:
        assert spread_of(column, weight) == (pytest.approx(0, abs=1e-12), pytest.approx(1))
    coef, offset = standardised(plan, iterates, view.to_features, weight)
    np.testing.assert_allclose(X @ coef + offset, index, atol=1e-12)
    assert np.corrcoef(index[:, 0], X @ (scale * coefs[0]))[0, 1] == pytest.approx(1)


def test_a_known_link_keeps_its_index_and_its_offset():
    X = RNG.normal(size=(20, 2))
    view, w = View(as_design(X), Scaling(np.ones(2))), np.array([1.0, 0.5])
    link, _ = FixedLink("logistic").fit(X @ w, (X[:, 0] > 0.4).astype(float))
    plan = make_plan(2, None, is_classifier=False, link="logistic")
    index = held_out_index(plan, [made(w, X @ w, link)], view, X, None)
    np.testing.assert_allclose(index[:, 0], X @ w + link.offset)


def test_an_index_without_spread_stays_zero():
    view = View(as_design(np.ones((5, 1))), Scaling(np.ones(1)))
    plan = make_plan(1, None, is_classifier=False)
    assert not held_out_index(plan, [made(np.ones(1), np.ones(5))], view, np.ones((5, 1)), None).any()


# ---------------------------------------------------------------- the length


@pytest.mark.parametrize("slope", [1.0, 4.0])
def test_at_the_length_of_the_line_a_line_of_the_largest_slope_fits(slope):
    index = RNG.normal(size=100)
    y = 3 * index + RNG.normal(size=100)
    length = line_length(index, y, Lpav(slope), None)
    assert np.polyfit(length * index, y, 1)[0] == pytest.approx(slope)


def test_a_steep_link_needs_a_longer_index_than_its_line_does():
    index = RNG.normal(size=3000)
    y = np.clip(3 * index, -1, 1) + 0.1 * RNG.normal(size=3000)
    length = length_for_link(index, y, Lpav(1.0), None)
    assert length > 1.5 * line_length(index, y, Lpav(1.0), None)
    assert 2.5 < length < 4.0


def test_an_index_that_tells_nothing_stays_at_its_line():
    index, y = RNG.normal(size=300), RNG.normal(size=300)
    slope = np.mean(index * (y - y.mean()))
    assert length_for_link(index, y, Lpav(1.0), None) == pytest.approx(abs(slope))


def test_the_link_is_fitted_to_the_rows_that_were_held_out():
    index, held_out = 5 + 2 * RNG.normal(size=200), RNG.normal(size=200)
    y = np.clip(held_out, -1, 1)
    best = made(np.array([2.0]), index)
    unseen = np.where(np.arange(200) < 50, np.nan, held_out)
    found = with_cross_fitted_link(best, y, Lpav(1.0), Lpav(1.0), None, unseen)
    mean, sd = spread_of(index, None)
    factor = found.coef[0] / best.coef[0] * sd
    seen = np.isfinite(unseen)
    expected, _ = Lpav(1.0).fit(factor * held_out[seen], y[seen])
    at = np.linspace(-2, 2, 40)
    # What was the held-out index t is now the index of this w.
    np.testing.assert_allclose(found.link(factor / sd * (mean + sd * at)), expected(factor * at), atol=1e-9)


def test_without_held_out_rows_or_spread_nothing_changes():
    y = RNG.normal(size=4)
    moving, standing = made(np.ones(1), np.arange(4.0)), made(np.ones(1), np.ones(4))
    for best, held_out in ((moving, np.full(4, np.nan)), (standing, np.arange(4.0))):
        assert with_cross_fitted_link(best, y, Lpav(1.0), Lpav(1.0), None, held_out) is best


# ---------------------------------------------------------------- what it is worth


@pytest.fixture(scope="module")
def data():
    return make_single_index(200, 60, n_atoms=5, link="clipped", random_state=0)


def test_a_cross_fitted_link_is_not_over_confident():
    gain = []
    for seed in range(4):
        data = make_single_index(1150, 1000, n_atoms=10, link="clipped", random_state=seed)
        X, y, new, truth = data.X[:150], data.y[:150], data.X[150:], data.y[150:]
        losses = [
            log_loss(truth, SingleIndexClassifier(20, link_cv=cv).fit(X, y).predict_proba(new)[:, 1])
            for cv in (None, 5)
        ]
        gain.append(losses[0] - losses[1])
    assert np.mean(gain) > 0.05


def test_a_cross_fitted_link_leaves_the_direction_alone(data):
    plain = SingleIndexClassifier(5).fit(data.X, data.y)
    crossed = SingleIndexClassifier(5, link_cv=5).fit(data.X, data.y)
    cosine = plain.coef_ @ crossed.coef_ / np.linalg.norm(plain.coef_) / np.linalg.norm(crossed.coef_)
    assert cosine == pytest.approx(1, abs=1e-12)
    p = crossed.predict_proba(data.X)[:, 1]
    np.testing.assert_array_equal(p, crossed.link_(crossed.decision_function(data.X)))


def test_a_cross_fitted_link_for_regression_and_several_outputs():
    data = make_single_index(
        120, 40, structure="rows", n_outputs=2, n_atoms=4, noise="gaussian", random_state=0
    )
    model = SingleIndexRegressor(4, structure=RowSparse(), link_cv=3).fit(data.X, 100 * data.y)
    assert model.score(data.X, 100 * data.y) > 0.5
    with pytest.raises(ValueError, match="shared_link"):
        SingleIndexRegressor(4, shared_link=True, link_cv=3).fit(data.X, data.y)


def test_a_link_that_tells_nothing_is_said_so():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    with pytest.warns(IndexNotIdentifiedWarning, match="constant"):
        warn_if_not_identified(MonotoneCurve([0.0, 1.0], [0.4, 0.4]), np.array([0.0, 1.0]))
    separable = (X[:, 0] > 0).astype(int)
    X[:, 0] += 100 * np.sign(X[:, 0])
    with pytest.warns(IndexNotIdentifiedWarning, match="without a single row in between"):
        SingleIndexClassifier(1, link_cv=3).fit(X, separable)


# ---------------------------------------------------------------- how far an index is believed


def test_half_is_believed_at_two_standard_errors():
    rng = np.random.default_rng(0)
    index, noise = rng.standard_normal((2, 400))
    index = (index - index.mean()) / index.std()
    noise -= noise.mean() + index * np.mean(index * noise)
    noise /= noise.std()
    assert trust_in(index, 0.1 * index + noise, None) == pytest.approx(0.5)
    assert trust_in(index, 1.0 * index + noise, None) == pytest.approx(100 / 101)
    assert trust_in(index, 5 * index, None) == pytest.approx(1)
    # A link is level already where the index misleads.
    assert trust_in(index, noise - index, None) == 1


def test_weights_are_repetitions_of_what_is_believed():
    rng = np.random.default_rng(1)
    index, y, weight = rng.standard_normal(60), rng.standard_normal(60), rng.integers(0, 4, 60)
    y = y + 0.3 * index
    found = trust_in(index, y, weight.astype(float))
    assert found == pytest.approx(trust_in(np.repeat(index, weight), np.repeat(y, weight), None))
