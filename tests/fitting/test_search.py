"""A search as a whole: what must not change it, and what it must keep to."""

from functools import cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit

from singleindex import SingleIndexClassifierCV, SingleIndexRegressorCV
from singleindex.datasets import make_single_index
from singleindex.structures import GroupSparse, RowSparse, Sparse

RNG = np.random.default_rng(0)
N, D = 90, 12
X = RNG.normal(size=(N, D)) @ (np.eye(D) + 0.2) + 0.5
INDEX = X[:, 0] - X[:, 1] + 0.5 * X[:, 2]
INDEX = (INDEX - INDEX.mean()) / INDEX.std()
NUMBERS = np.tanh(INDEX) + 0.3 * RNG.normal(size=N)
LABELS = (RNG.random(N) < 1 / (1 + np.exp(-2.5 * INDEX))).astype(int)
CLASSES = np.array(list("abc"))[np.argmax(X[:, :3] + 0.8 * RNG.normal(size=(N, 3)), axis=1)]
MANY = np.column_stack([NUMBERS, -2 * INDEX + RNG.normal(size=N)])
MANY_LABELS = (MANY > 0).astype(int)
PROBLEMS = {
    "numbers": (SingleIndexRegressorCV, NUMBERS),
    "two classes": (SingleIndexClassifierCV, LABELS),
    "three classes": (SingleIndexClassifierCV, CLASSES),
    "two outputs": (SingleIndexRegressorCV, MANY),
    "two labels": (SingleIndexClassifierCV, MANY_LABELS),
}
every_problem = pytest.mark.parametrize(("kind", "y"), PROBLEMS.values(), ids=PROBLEMS)
every_name = pytest.mark.parametrize("problem", PROBLEMS)
SETTINGS = {
    "as it is": {},
    "limited": {"n_atoms": [2, 4]},
    "uncut": {"n_atoms": []},
    "best": {"rule": "best"},
    "simple": {"rule": "one_se", "refit": "folds"},
    "of all rows": {"refit": "all"},
    "training link": {"held_out_link": False},
    "known link": {"link": "tanh", "penalty": [0.5, 0.1]},
}
pytestmark = pytest.mark.filterwarnings("ignore::singleindex.fitting.cross_fit.IndexNotIdentifiedWarning")


def said(model, rows):
    return model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows)


@cache
def fitted(problem):
    """Return the model that several tests compare others with."""
    kind, y = PROBLEMS[problem]
    return kind(cv=3, scale_power=[1.0]).fit(X, y)


def folds(labels):
    return [(np.flatnonzero(labels != k), np.flatnonzero(labels == k)) for k in range(3)]


# ---------------------------------------------------------------- what changes nothing


def distance_of_weighted_from_repeated(kind, y, settings, seed):
    count, fold = np.random.default_rng(seed).integers(0, 4, N), np.arange(N) % 3
    weighted = kind(cv=folds(fold), **settings).fit(X, y, sample_weight=count.astype(float))
    rows = [np.repeat(part, count, axis=0) for part in (X, y, fold)]
    repeated = kind(cv=folds(rows[2]), **settings).fit(*rows[:2])
    return np.abs(said(weighted, X) - said(repeated, X)).max()


@pytest.mark.parametrize(
    ("problem", "setting"),
    [(problem, "as it is") for problem in PROBLEMS]
    + [("numbers", setting) for setting in SETTINGS if setting != "as it is"]
    + [("two classes", setting) for setting in SETTINGS if setting not in ("as it is", "known link")],
)
def test_weights_are_repetitions(problem, setting):
    settings = {"scale_power": [1.0], **SETTINGS[setting]}
    # Of numbers and two classes other settings draw weights, too.
    seed = list(SETTINGS).index(setting)
    assert distance_of_weighted_from_repeated(*PROBLEMS[problem], settings, seed) < 1e-8


@every_name
def test_columns_times_powers_of_two_give_the_same_bits(problem):
    (kind, y), plain = PROBLEMS[problem], fitted(problem)
    unit = np.ldexp(1.0, RNG.integers(-20, 20, D))
    scaled = kind(cv=3, scale_power=[1.0]).fit(X * unit, y)
    np.testing.assert_array_equal((scaled.coef_.T * unit).T, plain.coef_)
    np.testing.assert_array_equal(said(scaled, X * unit), said(plain, X))


@every_name
def test_columns_in_any_units_give_the_same_model(problem):
    (kind, y), plain = PROBLEMS[problem], fitted(problem)
    unit = 10.0 ** RNG.integers(-3, 4, D)
    scaled = kind(cv=3, scale_power=[1.0]).fit(X * unit, y)
    np.testing.assert_allclose((scaled.coef_.T * unit).T, plain.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(said(scaled, X * unit), said(plain, X), rtol=1e-8)


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_the_unit_of_y_is_that_of_the_predictions(unit):
    plain, scaled = (SingleIndexRegressorCV(cv=3).fit(X, y) for y in (NUMBERS, unit * NUMBERS))
    np.testing.assert_allclose(scaled.predict(X), unit * plain.predict(X), rtol=1e-8)


@every_problem
def test_sparse_data_are_dense_data(kind, y):
    rows = np.where(np.abs(X) > 0.8, X, 0.0)
    dense = kind(cv=3).fit(rows, y)
    for convert in (sparse.csr_array, sparse.csc_array):
        stored = kind(cv=3).fit(convert(rows), y)
        np.testing.assert_allclose(said(stored, convert(rows)), said(dense, rows), atol=1e-8)


@every_name
def test_folds_side_by_side_change_nothing(problem):
    (kind, y), alone = PROBLEMS[problem], fitted(problem)
    beside = kind(cv=3, scale_power=[1.0], n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(alone.coef_, beside.coef_)
    np.testing.assert_array_equal(said(alone, X), said(beside, X))


def test_single_precision_is_nearly_the_same():
    double, single = (SingleIndexClassifierCV(cv=3).fit(X.astype(kind), LABELS) for kind in ("f8", "f4"))
    assert single.coef_.dtype == np.float32
    np.testing.assert_allclose(said(single, X.astype("f4")), said(double, X), atol=0.02)


# ---------------------------------------------------------------- what is kept to


@every_problem
@pytest.mark.parametrize(
    ("limit", "rule", "refit"),
    [(1, "average", "auto"), (5, "average", "all"), (2, "best", "folds"), (3, "one_se", "all")],
)
def test_a_limit_of_atoms_is_never_exceeded(kind, y, limit, rule, refit):
    model = kind([limit], cv=3, scale_power=[1.0], rule=rule, refit=refit).fit(X, y)
    used = np.count_nonzero(model.coef_.reshape(D, -1), axis=0)
    assert used.max() <= limit
    assert used.max() > 0


def test_a_limit_of_groups_and_of_rows():
    groups = np.arange(D) // 3
    model = SingleIndexRegressorCV([2], structure=GroupSparse(groups), cv=3).fit(X, NUMBERS)
    assert len(np.unique(groups[model.coef_ != 0])) <= 2
    rows = SingleIndexRegressorCV([3], structure=RowSparse(), cv=3).fit(X, MANY)
    assert 0 < rows.n_features_ <= 3
    assert (rows.coef_ != 0).all(axis=1).sum() == rows.n_features_


@pytest.mark.parametrize("n_atoms", [None, [3]])
def test_signs_are_kept(n_atoms):
    model = SingleIndexRegressorCV(n_atoms, structure=Sparse(signs=np.ones(D, int)), cv=3).fit(X, NUMBERS)
    assert (model.coef_ >= 0).all()
    assert model.coef_.any()


@every_problem
def test_outputs_of_a_structure_that_shares_rows(kind, y):
    if len(np.shape(y)) == 1:
        pytest.skip("one output")
    model = kind(structure=RowSparse(), cv=3).fit(X, y)
    used = model.coef_ != 0
    np.testing.assert_array_equal(used[:, 0], used[:, 1])
    assert model.n_features_ == used[:, 0].sum()


# ---------------------------------------------------------------- any rows


def test_rows_that_are_never_held_out_and_those_that_are_twice():
    for cv in (ShuffleSplit(3, test_size=0.2, random_state=0), RepeatedKFold(n_splits=3, n_repeats=2)):
        model = SingleIndexClassifierCV(cv=cv).fit(X, LABELS)
        assert np.isfinite(model.predict_proba(X)).all()
        assert np.mean(model.predict(X) == LABELS) > 0.75


def test_repeated_folds_in_any_order_are_the_same():
    splits = list(KFold(3).split(X)) + list(KFold(3, shuffle=True, random_state=0).split(X))
    one, other = (SingleIndexRegressorCV(cv=order).fit(X, NUMBERS) for order in (splits, splits[::-1]))
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-9)


@pytest.mark.parametrize("d", [10, 300])
@pytest.mark.parametrize("seed", range(3))
def test_noise_has_few_features_and_no_opinion(d, seed):
    rng = np.random.default_rng(seed)
    rows, labels = rng.normal(size=(120, d)), np.arange(120) % 2
    model = SingleIndexClassifierCV(cv=5).fit(rows, labels)
    new = model.predict_proba(rng.normal(size=(500, d)))[:, 1]
    assert np.abs(new - 0.5).mean() < 0.15
    assert model.n_features_ <= max(10, d // 4)


def test_columns_that_say_nothing_of_y_give_a_constant():
    rows = np.tile([[1.0], [2.0]], (20, 1))
    y = np.repeat([0.0, 1.0], 20)  # as often with either
    model = SingleIndexRegressorCV(cv=2).fit(rows, y)
    assert not model.coef_.any()
    assert model.n_features_ == 0
    np.testing.assert_allclose(model.predict(rows), 0.5)
    assert np.isfinite(model.best_score_)


def test_an_output_that_nothing_predicts_beside_one_that_is():
    Y = np.column_stack([NUMBERS, RNG.normal(size=N)])
    model = SingleIndexRegressorCV(cv=3, penalty=[0.9]).fit(X, Y)
    assert np.corrcoef(model.predict(X)[:, 0], NUMBERS)[0, 1] > 0.4


def test_correlated_columns_in_raw_units_are_no_harder_than_ideal_ones():
    """One common factor, and columns in units from 1e-3 to 1e3: the direction of w is found."""
    data = make_single_index(400, 40, n_atoms=4, link="clipped", random_state=0)
    rng = np.random.default_rng(0)
    rows = (0.6 * data.X + 0.8 * rng.normal(size=(400, 1))) * (unit := 10.0 ** rng.uniform(-3, 3, 40))
    index = rows / unit @ data.coef
    y = (rng.random(400) < 1 / (1 + np.exp(-3 * index / index.std()))).astype(int)
    model = SingleIndexClassifierCV(cv=5).fit(rows, y)
    found = model.index(rows)
    assert np.corrcoef(found, index)[0, 1] > 0.95
    assert model.n_features_ < 25
