import pickle

import numpy as np
import pytest
from scipy import sparse

from singleindex.datasets import LINKS, NOISES, make_single_index
from singleindex.datasets._designs import DESIGNS

every_noise = pytest.mark.parametrize("noise", NOISES)
every_design = pytest.mark.parametrize("design", DESIGNS)
every_structure = pytest.mark.parametrize(
    "options",
    [
        {"structure": "sparse"},
        {"structure": "group"},
        {"structure": "rows", "n_outputs": 3},
        {"structure": "low_rank", "shape": (20, 10)},
        {"structure": "dense"},
    ],
    ids=lambda options: options["structure"],
)


def as_dense(X):
    return X.toarray() if sparse.issparse(X) else X


def calibration_error(y, mean, n_bins=8):
    """Largest gap between the means of `y` and of `mean` in bins of `mean`, in its own errors."""
    order = np.argsort(mean, kind="stable")
    gaps = [
        (y[part] - mean[part]).mean() / ((y[part] - mean[part]).std() / np.sqrt(part.size) + 1e-12)
        for part in np.array_split(order, n_bins)
    ]
    return np.max(np.abs(gaps))


# --- response ------------------------------------------------------------------------------


@every_noise
@every_design
def test_mean_of_y_is_the_link_of_the_index(noise, design):
    data = make_single_index(8000, 40, noise=noise, design=design, random_state=3)
    assert calibration_error(data.y, data.mean) < 4.5


def test_calibration_error_sees_a_wrong_mean():
    data = make_single_index(8000, 40, random_state=3)
    assert calibration_error(data.y, np.sqrt(data.mean)) > 10


@every_structure
@every_design
def test_truth_is_consistent(options, design):
    data = make_single_index(60, design=design, link="ramp", random_state=0, **options)
    X, y, w, g = data
    assert X is data.X
    assert y is data.y
    np.testing.assert_array_equal(data.index, X @ w)
    np.testing.assert_array_equal(data.mean, g(X @ w))
    assert y.shape == data.index.shape == data.mean.shape == X.shape[:1] + w.shape[1:]


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("noise", ["gaussian", "none"])
def test_every_link_goes_with_every_additive_noise(link, noise):
    data = make_single_index(40, 30, link=link, noise=noise, random_state=0)
    assert data.link.name == link
    assert data.link.lipschitz == LINKS[link].lipschitz
    assert np.std(data.mean) > 0.05


def test_labels_and_counts_are_integers():
    draws = {
        noise: make_single_index(300, 40, noise=noise, random_state=0).y
        for noise in ("binary", "pm1", "poisson")
    }
    assert all(y.dtype == np.int64 for y in draws.values())
    assert set(draws["binary"]) == {0, 1}
    assert set(draws["pm1"]) == {-1, 1}
    assert draws["poisson"].max() >= 2


def test_link_of_signed_labels_runs_from_minus_one_to_one():
    g = make_single_index(noise="pm1", link="clipped", random_state=0).link
    np.testing.assert_array_equal(g([-10.0, 0.0, 10.0]), [-1.0, 0.0, 1.0])
    assert g.lipschitz == 0.5


@pytest.mark.parametrize(("noise", "tolerance"), [("gaussian", 0.05), ("uniform", 0.05)])
def test_noise_level_is_the_standard_deviation(noise, tolerance):
    data = make_single_index(20_000, 10, noise=noise, noise_level=0.3, random_state=1)
    assert np.std(data.y - data.mean) == pytest.approx(0.3, rel=tolerance)


def test_heavy_noise_has_far_outliers_and_none_has_no_noise():
    data = make_single_index(20_000, 10, noise="heavy", noise_level=1.0, random_state=1)
    assert np.abs(data.y - data.mean).max() > 8
    assert np.std(data.y - data.mean) == pytest.approx(1.0, rel=0.25)
    still = make_single_index(noise="none", random_state=1)
    np.testing.assert_array_equal(still.y, still.mean)
    assert not np.shares_memory(still.y, still.mean)


# --- design --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"correlation": 0.7},
        {"correlation": -0.5},
        {"correlation": 0.6, "block_size": 7},
        {"design": "counts"},
        {"design": "binary", "density": 0.3},
        {"structure": "rows", "n_outputs": 3, "correlation": 0.5},
        {"structure": "rows", "n_outputs": 3, "design": "counts"},
        {"structure": "rows", "n_outputs": 2, "correlation": 0.5, "block_size": 4},
    ],
    ids=str,
)
def test_index_is_centred_by_the_link_and_has_the_asked_spread(options):
    data = make_single_index(20_000, 30, signal=1.5, random_state=4, **options)
    np.testing.assert_allclose(np.std(data.index, axis=0), 1.5, rtol=0.05)
    np.testing.assert_allclose(np.mean(data.index - data.link.center, axis=0), 0.0, atol=0.06)


def test_neighbours_are_correlated_as_asked():
    X = make_single_index(20_000, 6, n_atoms=2, correlation=0.6, random_state=0).X
    expected = 0.6 ** np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    np.testing.assert_allclose(np.cov(X.T), expected, atol=0.04)


def test_blocks_are_correlated_inside_and_independent_between():
    options = {"correlation": 0.6, "block_size": 2}
    X = make_single_index(20_000, 5, n_atoms=2, random_state=0, **options).X
    same_block = np.equal.outer([0, 0, 1, 1, 2], [0, 0, 1, 1, 2])
    expected = np.where(same_block, 0.6, 0.0) + 0.4 * np.eye(5)
    np.testing.assert_allclose(np.cov(X.T), expected, atol=0.04)


@pytest.mark.parametrize("design", ["counts", "binary"])
def test_sparse_designs_are_canonical_csr_with_the_asked_density(design):
    X = make_single_index(500, 2000, design=design, density=0.03, random_state=0).X
    assert sparse.isspmatrix_csr(X)
    assert X.has_canonical_format
    assert X.dtype == np.float64
    assert X.nnz / np.prod(X.shape) == pytest.approx(0.03, rel=0.1)
    values = np.unique(X.data)
    np.testing.assert_array_equal(values, np.round(values))
    assert (values.max() == 1) == (design == "binary")


def test_counts_have_poisson_columns_of_different_rates():
    X = make_single_index(5000, 60, design="counts", density=0.4, random_state=0).X.toarray()
    rates, variances = X.mean(axis=0), X.var(axis=0)
    np.testing.assert_allclose(variances, rates, rtol=0.15)
    assert rates.max() > 3 * rates.min()


@every_design
def test_float32_keeps_the_truth_in_float64(design):
    options = {"design": design, "random_state": 0}
    single = make_single_index(dtype=np.float32, **options)
    double = make_single_index(**options)
    assert single.X.dtype == np.float32
    assert single.coef.dtype == single.mean.dtype == np.float64
    np.testing.assert_allclose(single.mean, single.link(single.X @ single.coef), rtol=1e-12)
    np.testing.assert_allclose(as_dense(single.X), as_dense(double.X), rtol=1e-6)


# --- structure -----------------------------------------------------------------------------


def test_sparse_has_the_promised_support():
    data = make_single_index(n_atoms=7, random_state=0)
    np.testing.assert_array_equal(np.flatnonzero(data.coef), data.support)
    assert data.support.size == 7
    assert data.groups is None


def test_group_has_whole_active_groups():
    data = make_single_index(n_features=103, structure="group", group_size=5, n_atoms=4, random_state=0)
    np.testing.assert_array_equal(data.groups, np.arange(103) // 5)
    active = np.unique(data.groups[data.coef != 0])
    assert active.size == 4
    np.testing.assert_array_equal(data.coef != 0, np.isin(data.groups, active))
    np.testing.assert_array_equal(np.flatnonzero(data.coef), data.support)


def test_rows_share_their_features():
    data = make_single_index(structure="rows", n_outputs=4, n_atoms=6, random_state=0)
    assert data.coef.shape == (200, 4)
    np.testing.assert_array_equal(np.count_nonzero(data.coef, axis=1)[data.support], [4] * 6)
    assert np.count_nonzero(data.coef) == 24
    assert np.linalg.matrix_rank(data.coef) == 4


def test_low_rank_has_the_promised_rank():
    data = make_single_index(structure="low_rank", shape=(10, 20), n_atoms=3, random_state=0)
    values = np.linalg.svd(data.coef.reshape(10, 20), compute_uv=False)
    assert np.count_nonzero(values > 1e-10 * values[0]) == 3
    assert values[2] > 0.2 * values[0]


def test_dense_uses_every_feature():
    data = make_single_index(structure="dense", n_atoms=1, random_state=0)
    assert np.count_nonzero(data.coef) == 200
    assert data.support is None


def test_smallest_sizes_work():
    for structure in ("sparse", "group", "dense"):
        data = make_single_index(1, 1, n_atoms=1, structure=structure, random_state=0)
        assert data.X.shape == (1, 1)
    assert make_single_index(1, 1, n_atoms=1, shape=(1, 1), structure="low_rank").coef.size == 1


# --- randomness ----------------------------------------------------------------------------


def seeds():
    return [5, np.random.default_rng(5), np.random.RandomState(5), np.int64(5)]


@pytest.mark.parametrize("position", range(4), ids=["int", "Generator", "RandomState", "int64"])
@every_design
def test_same_random_state_same_data(position, design):
    first, second = (
        make_single_index(30, 40, design=design, random_state=seeds()[position]) for _ in range(2)
    )
    np.testing.assert_array_equal(as_dense(first.X), as_dense(second.X))
    np.testing.assert_array_equal(first.y, second.y)
    np.testing.assert_array_equal(first.coef, second.coef)


@pytest.mark.parametrize("position", [1, 2], ids=["Generator", "RandomState"])
def test_a_generator_moves_on_between_calls(position):
    state = seeds()[position]
    first, second = (make_single_index(random_state=state) for _ in range(2))
    assert not np.array_equal(first.X, second.X)


def test_no_global_state_is_read_or_changed():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, second = make_single_index(), make_single_index()
    assert not np.array_equal(first.X, second.X)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@every_design
def test_more_rows_keep_the_truth(design):
    few, many = (make_single_index(n, design=design, random_state=9) for n in (10, 50))
    np.testing.assert_array_equal(few.coef, many.coef)
    np.testing.assert_array_equal(few.link([-1.0, 0.5]), many.link([-1.0, 0.5]))


def test_result_pickles():
    data = make_single_index(structure="rows", n_outputs=2, random_state=0)
    again = pickle.loads(pickle.dumps(data))
    np.testing.assert_array_equal(again.link(again.index), data.mean)


# --- errors --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"link": "logit"}, "'logistic', 'probit'"),
        ({"noise": "laplace"}, "'binary', 'pm1'"),
        ({"structure": "tree"}, "'sparse', 'group', 'rows', 'low_rank', 'dense'"),
        ({"structure": None}, "'sparse', 'group'"),
        ({"design": "sparse"}, "'gaussian', 'counts', 'binary'"),
        ({"n_samples": 0}, "n_samples must be an integer of at least 1"),
        ({"n_samples": -3}, "n_samples must be"),
        ({"n_features": 2.5}, "n_features must be an integer"),
        ({"n_outputs": 0}, "n_outputs must be"),
        ({"n_atoms": 0}, "n_atoms must be"),
        ({"n_atoms": 201}, "use n_atoms <= 200"),
        ({"structure": "group", "n_atoms": 41}, "40 groups of 5 features"),
        ({"structure": "group", "group_size": 0}, "group_size must be"),
        ({"structure": "rows"}, "pass n_outputs=2"),
        ({"structure": "rows", "n_outputs": 2, "n_atoms": 300}, "use n_atoms <= 200"),
        ({"n_outputs": 2}, "structure='rows'"),
        ({"structure": "low_rank"}, r"shape=\(10, 20\) would do"),
        ({"structure": "low_rank", "shape": (7, 20)}, r"shape=\(10, 20\) would do"),
        ({"structure": "low_rank", "shape": (-10, -20)}, r"shape\[0\] must be"),
        ({"structure": "low_rank", "shape": (10, 20), "n_atoms": 11}, "use n_atoms <= 10"),
        ({"structure": "low_rank", "shape": (10, 20), "n_atoms": 0}, "n_atoms must be"),
        ({"signal": 0}, "signal must lie strictly between"),
        ({"noise_level": -1.0}, "noise_level must not be negative"),
        ({"correlation": 1.0}, "correlation must lie strictly between"),
        ({"correlation": -0.5, "block_size": 3}, "block_size=None"),
        ({"block_size": 0}, "block_size must be"),
        ({"design": "counts", "correlation": 0.5}, "use design='gaussian'"),
        ({"design": "counts", "density": 1.0}, "density must lie strictly between"),
        ({"link": "identity"}, r"outside \[0, 1\]"),
        ({"link": "identity", "noise": "poisson"}, r"outside \[0, inf\]"),
        ({"dtype": np.int64}, "float64 or float32"),
    ],
    ids=str,
)
def test_errors_contain_the_fix(options, message):
    with pytest.raises(ValueError, match=message):
        make_single_index(**options)
