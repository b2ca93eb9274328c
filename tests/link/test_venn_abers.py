import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from singleindex.link.venn_abers import fit_venn_abers, venn_abers_at


def pair(x, y, weight, at):
    """Return the two probabilities at an index by fitting twice, with the row as a 0 and as a 1."""
    fits = (
        IsotonicRegression().fit(np.append(x, at), np.append(y, label), np.append(weight, 1))
        for label in (0, 1)
    )
    return [float(fit.predict([at])[0]) for fit in fits]


rows = st.lists(st.tuples(st.integers(-4, 4), st.booleans(), st.integers(1, 3)), min_size=1, max_size=14)


@given(rows, st.integers(-11, 11))
def test_all_indices_at_once_are_two_isotonic_fits_each(found, at):
    x, y, weight = np.array(found, dtype=float).T
    steps = dict(zip(("cuts", "low", "high"), fit_venn_abers(x, y, weight), strict=True))
    np.testing.assert_allclose(
        venn_abers_at(steps, np.array([at / 2]))[0], pair(x, y, weight, at / 2), atol=1e-12
    )


def test_weights_are_repetitions():
    rng = np.random.default_rng(0)
    x, y, times = rng.normal(size=50), rng.integers(0, 2, 50) * 1.0, rng.integers(1, 4, 50)
    once = fit_venn_abers(x, y, times.astype(float))
    for a, b in zip(once, fit_venn_abers(np.repeat(x, times), np.repeat(y, times)), strict=True):
        np.testing.assert_allclose(a, b)


def test_the_one_that_goes_with_the_outcome_is_calibrated():
    rng = np.random.default_rng(1)
    gaps = []
    for _ in range(2000):
        x = rng.normal(size=31)
        y = (rng.random(31) < 1 / (1 + np.exp(-3 * x))).astype(float)
        steps = dict(zip(("cuts", "low", "high"), fit_venn_abers(x[1:], y[1:]), strict=True))
        low, high = venn_abers_at(steps, x[:1])[0]
        assert low < high
        gaps.append(y[0] - (high if y[0] else low))
    assert abs(np.mean(gaps)) < 3 * np.std(gaps) / np.sqrt(len(gaps))
    assert len(steps["cuts"]) < 30, "equal steps are kept once"
