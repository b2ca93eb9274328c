"""Numbers at the ends of what numbers can be: the right answer, or an error that says what to do."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_regressor

from singleindex import (
    SingleIndexClassifier,
    SingleIndexClassifierCV,
    SingleIndexCompleter,
    SingleIndexRegressor,
    SingleIndexRegressorCV,
    Slisotron,
    single_index_path,
)
from singleindex.design import ChunkError, chunk_arrays

RNG = np.random.default_rng(0)
N, D = 60, 5
X = RNG.normal(size=(N, D)) + 0.3
INDEX = X[:, 0] - X[:, 1] + 0.3 * RNG.normal(size=N)
LABELS = (INDEX > 0).astype(int)
WEIGHT = RNG.random(N) + 0.1

MODELS = {
    "regressor": (SingleIndexRegressor(), INDEX),
    "one pass": (SingleIndexRegressor(solver="one-pass"), INDEX),
    "unit variance": (SingleIndexRegressor(scale_power=1.0), INDEX),
    "penalty": (SingleIndexRegressor(penalty=0.1), INDEX),
    "identity": (SingleIndexRegressor(link="identity"), INDEX),
    "held-out link": (SingleIndexRegressor(link_cv=3), INDEX),
    "two outputs": (SingleIndexRegressor(shared_link=True), np.column_stack([INDEX, -(INDEX**3)])),
    "search": (SingleIndexRegressorCV(n_atoms=[5, 2], penalty=[0.1]), INDEX),
    "slisotron": (Slisotron(), INDEX),
    "classifier": (SingleIndexClassifier(), LABELS),
    "three classes": (SingleIndexClassifier(), np.digitize(INDEX, [-1, 1])),
    "search of classes": (SingleIndexClassifierCV(n_atoms=[5, 2], penalty=[0.1]), LABELS),
}
every_model = pytest.mark.parametrize(("model", "y"), MODELS.values(), ids=MODELS)
FORMATS = [np.asarray, sparse.csr_array, sparse.csc_array]


def said(model, rows):
    return model.predict(rows) if is_regressor(model) else model.predict_proba(rows)


# ---------------------------------------------------------------- units of X and y


@every_model
@pytest.mark.parametrize("power", [-1000, -600, 520, 1000])
@pytest.mark.parametrize("convert", FORMATS)
def test_units_of_x_do_not_matter(model, y, power, convert):
    scaled = convert(np.ldexp(X, power))
    fitted = clone(model).fit(scaled, y)
    np.testing.assert_allclose(said(fitted, scaled), said(clone(model).fit(X, y), X), atol=1e-8)


@pytest.mark.parametrize("name", [name for name, (model, _) in MODELS.items() if is_regressor(model)])
@pytest.mark.parametrize("power", [-1000, -520, 520, 1000])
def test_units_of_y_do_not_matter(name, power):
    model, y = MODELS[name]
    fitted = clone(model).fit(X, np.ldexp(y, power))
    np.testing.assert_allclose(
        np.ldexp(fitted.predict(X), -power), clone(model).fit(X, y).predict(X), atol=1e-8
    )


def test_columns_of_any_units_side_by_side():
    """With scale_power=1 every column has unit variance, whatever units it came in."""
    units = np.ldexp(1.0, [700, 0, -700, 1000, -500])
    model = SingleIndexRegressor(scale_power=1.0)
    plain, fitted = clone(model).fit(X, INDEX), clone(model).fit(X * units, INDEX)
    np.testing.assert_allclose(fitted.coef_ * units, plain.coef_, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("power", [-110, 60, 110])
def test_single_precision_keeps_its_coefficients(power):
    scaled = np.ldexp(X.astype(np.float32), power)
    fitted = SingleIndexRegressor().fit(scaled, INDEX)
    plain = SingleIndexRegressor().fit(X.astype(np.float32), INDEX)
    np.testing.assert_allclose(fitted.predict(scaled), plain.predict(X.astype(np.float32)), atol=1e-4)
    assert plain.coef_.dtype == np.float32
    large = SingleIndexRegressor().fit(X.astype(np.float32), 1e200 * INDEX)
    assert np.isfinite(large.coef_).all()


@pytest.mark.parametrize("name", ["regressor", "one pass", "two outputs", "search", "slisotron"])
@pytest.mark.parametrize("power", [-700, 700])
def test_coefficients_that_are_no_numbers(name, power):
    model, y = MODELS[name]
    telling = "beyond the range of numbers; bring X or y to other units"
    with np.errstate(over="ignore"), pytest.raises(ValueError, match=telling):
        clone(model).fit(np.ldexp(X, power), np.ldexp(y, -power))


def test_unscaled_columns_and_streams_say_what_to_do():
    with pytest.raises(ValueError, match="use scale_power=0"):
        SingleIndexRegressor(scale_power=None).fit(np.ldexp(X, 600), INDEX)
    for power in (-600, 600):
        with pytest.raises(ValueError, match="X holds numbers so large or so small"):
            SingleIndexRegressor(solver="stochastic").fit(np.ldexp(X, power), INDEX)
        with pytest.raises(ValueError, match="y holds numbers so large or so small"):
            SingleIndexRegressor().partial_fit(X, np.ldexp(INDEX, power))
    with (
        np.errstate(over="ignore", invalid="ignore"),
        pytest.raises(ValueError, match="no number is above 1e150"),
    ):
        SingleIndexRegressor().fit(chunk_arrays(np.ldexp(X, 700), INDEX))


@pytest.mark.filterwarnings("ignore:The learned link is constant")  # rightly, of such rows
@pytest.mark.parametrize("name", ["search", "search of classes", "held-out link"])
@pytest.mark.parametrize("outlier", [1e160, 1e300])
def test_one_huge_entry(name, outlier):
    model, y = MODELS[name]
    rows = X.copy()
    rows[1, 2] = outlier
    # Where it is held out its index is as huge, and the length of w that suits it may be beyond the numbers.
    refused = None
    try:
        fitted = clone(model).fit(rows, y)
    except ValueError as error:
        refused = error
    if refused is not None:
        assert "beyond the range of numbers" in str(refused)
    else:
        assert np.isfinite(fitted.coef_).all()
        assert np.isfinite(said(fitted, rows)).all()


def test_numbers_too_small_for_any_coefficient():
    least = np.sign(X) * 5e-324 * np.arange(1, N + 1)[:, None]
    with np.errstate(over="ignore", invalid="ignore"), pytest.raises(ValueError, match="range of numbers"):
        Slisotron().fit(least, INDEX)


def test_a_path_in_extreme_units():
    plain = single_index_path(X, INDEX, n_atoms=[3, 1])
    found = single_index_path(np.ldexp(X, 600), np.ldexp(INDEX, 600), n_atoms=[3, 1])
    np.testing.assert_allclose(found.coefs, plain.coefs, rtol=1e-8, atol=1e-12)


# ---------------------------------------------------------------- weights


@pytest.mark.filterwarnings("ignore:The learned link is constant")  # rightly, of no rows
@every_model
@pytest.mark.parametrize("power", [-1000, 500, 1015])
def test_common_units_of_weights(model, y, power):
    """Beyond 1e30 rows there are as good as infinitely many, below 1e-30 none."""
    fitted = clone(model).fit(X, y, sample_weight=np.ldexp(WEIGHT, power))
    near = clone(model).fit(X, y, sample_weight=np.ldexp(WEIGHT, 100 if power > 0 else -100))
    np.testing.assert_allclose(said(fitted, X), said(near, X), atol=1e-8)


@pytest.mark.filterwarnings("ignore:The learned link is constant")  # rightly, as one row is all there is
@every_model
@pytest.mark.parametrize("heavy", [1e100, 1e300, 1.7e308])
def test_one_huge_weight(model, y, heavy):
    weight = WEIGHT.copy()
    weight[3] = heavy
    fitted = clone(model).fit(X, y, sample_weight=weight)
    assert np.isfinite(fitted.coef_).all()
    answer = said(fitted, X)
    assert np.isfinite(answer).all()
    settings = model.get_params()
    if is_regressor(model) and not (settings.get("link_cv") or settings.get("held_out_link")):
        np.testing.assert_allclose(answer[3], y[3], atol=1e-6)


def test_huge_weights_of_rows_that_are_not_all_there():
    heavy = np.full(N, 1e300)
    with pytest.raises(ValueError, match="divide all weights by a common number"):
        SingleIndexRegressor().partial_fit(X, INDEX, sample_weight=heavy)
    with pytest.raises(ChunkError, match="divide all weights by a common number"):
        SingleIndexRegressor().fit(chunk_arrays(X, INDEX, sample_weight=heavy))


def test_huge_weights_of_ratings():
    pairs = RNG.integers(0, 12, size=(200, 2))
    y = RNG.normal(size=200) + pairs[:, 0]
    plain = SingleIndexCompleter(n_atoms=2).fit(pairs, y, sample_weight=np.full(200, 2.0**100))
    heavy = SingleIndexCompleter(n_atoms=2).fit(pairs, y, sample_weight=np.full(200, 2.0**1020))
    np.testing.assert_allclose(heavy.predict(pairs), plain.predict(pairs), atol=1e-8)


# ---------------------------------------------------------------- sparse data in unusual shape


def in_parts(X):
    """Return a CSR array whose entries come in two parts each, in no order."""
    whole = sparse.coo_array(X)
    rows, columns = np.tile(whole.coords[0], 2), np.tile(whole.coords[1], 2)
    values = np.concatenate([whole.data / 4, 3 * whole.data / 4])
    order = np.lexsort((RNG.random(len(rows)), rows))
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=X.shape[0]))])
    return sparse.csr_array((values[order], columns[order], starts), shape=X.shape)


@every_model
@pytest.mark.parametrize("columnwise", [False, True])
def test_entries_in_parts(model, y, columnwise):
    parts = in_parts(X)
    if columnwise:
        turned = in_parts(np.ascontiguousarray(X.T))
        parts = sparse.csc_array((turned.data, turned.indices, turned.indptr), shape=X.shape)
    stored = parts.nnz
    fitted, plain = clone(model).fit(parts, y), clone(model).fit(X, y)
    np.testing.assert_allclose(fitted.coef_, plain.coef_, atol=1e-8)
    np.testing.assert_allclose(said(fitted, parts), said(plain, X), atol=1e-8)
    assert parts.nnz == stored


@every_model
@pytest.mark.parametrize(
    "kinds", [(np.int64, np.int32), (np.int32, np.int64), (np.uint32, np.uint32)], ids=str
)
@pytest.mark.parametrize("convert", [sparse.csr_array, sparse.csc_array])
def test_indices_of_any_type(model, y, kinds, convert):
    mixed = convert(X)
    mixed.indices, mixed.indptr = mixed.indices.astype(kinds[0]), mixed.indptr.astype(kinds[1])
    fitted = clone(model).fit(mixed, y)
    np.testing.assert_allclose(said(fitted, mixed), said(clone(model).fit(X, y), X), atol=1e-8)
