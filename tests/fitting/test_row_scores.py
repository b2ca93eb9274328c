import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import brier_score_loss, log_loss, r2_score, roc_auc_score, root_mean_squared_error

from singleindex.fitting.row_scores import Rows, compare_scores, p_value, score_parts


def rows_of(happened, kind, weight=None, groups=None):
    happened = np.asarray(happened, dtype=float).reshape(len(happened), -1)
    return Rows(happened, kind, np.ones(len(happened)) if weight is None else weight, groups)


def classes(seed, n=80):
    rng = np.random.default_rng(seed)
    index = rng.normal(size=n)
    p = 1 / (1 + np.exp(-index))
    return (rng.random(n) < p).astype(float), p, np.round(index, 1)


def test_means_are_the_scores_of_scikit_learn():
    y, p, index = classes(0)
    weight = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    rows = rows_of(y, "binary", weight)
    parts = score_parts(p[:, None], index[:, None], rows)
    expected = {
        "AUC": roc_auc_score(y, index, sample_weight=weight),
        "log-loss": log_loss(y, p, sample_weight=weight),
        "Brier score": brier_score_loss(y, p, sample_weight=weight),
    }
    assert {name: rows.mean(parts[name]) for name in expected} == pytest.approx(expected)


def test_means_of_numbers():
    rng = np.random.default_rng(0)
    y, fitted = rng.normal(size=(50, 2)), rng.normal(size=(50, 2))
    rows = rows_of(y, "regression")
    parts = score_parts(fitted, fitted, rows)
    assert rows.mean(parts["R²"]) == pytest.approx(r2_score(y, fitted))
    assert rows.mean(parts["RMSE"]) == pytest.approx(root_mean_squared_error(y.ravel(), fitted.ravel()))


@pytest.mark.parametrize("measure", ["AUC", "log-loss", "Brier score", "R²"])
def test_errors_are_the_spread_over_draws(measure):
    values, errors = [], []
    for seed in range(300):
        y, p, index = classes(seed)
        kind = "regression" if measure == "R²" else "binary"
        rows = rows_of(y, kind)
        parts = score_parts(p[:, None], index[:, None], rows)[measure]
        values.append(rows.mean(parts))
        errors.append(rows.error(parts))
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.15)


def test_weights_are_repetitions_and_groups_are_not_independent():
    y, p, index = classes(0)
    times = np.random.default_rng(1).integers(1, 4, len(y))
    once, often = rows_of(y, "binary", times.astype(float)), rows_of(np.repeat(y, times), "binary")
    parts = score_parts(p[:, None], index[:, None], once)
    repeated = score_parts(np.repeat(p, times)[:, None], np.repeat(index, times)[:, None], often)
    for name in parts:
        assert once.error(parts[name]) == pytest.approx(often.error(repeated[name]))
    four = rows_of(np.repeat(y, 4), "binary", groups=np.repeat(np.arange(len(y)), 4))
    plain = rows_of(y, "binary")
    assert four.error(np.repeat(p, 4)) == pytest.approx(plain.error(p))


def test_gains_are_paired():
    y, p, index = classes(0, 400)
    rows = rows_of(y, "binary")
    near = np.clip(p + 0.01, 0, 1)
    ours, others = (score_parts(v[:, None], index[:, None], rows) for v in (p, near))
    found = compare_scores(ours, others, rows)["log-loss"]
    assert found["gain"] == pytest.approx(log_loss(y, near) - log_loss(y, p))
    assert found["gain_error"] < 0.2 * found["error"]


def test_the_test_has_its_level_for_predictions_that_learn_from_each_others_rows():
    """Least squares and its own cross-validation: where nothing predicts, rows are not independent."""
    found, plain = [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(100, 8)), rng.normal(size=100)
        fitted, null = np.empty(100), np.empty(100)
        for test in np.array_split(np.arange(100), 10):
            train = np.setdiff1d(np.arange(100), test)
            null[test] = y[train].mean()
            w = np.linalg.lstsq(X[train], y[train] - null[test[0]], rcond=None)[0]
            fitted[test] = null[test] + X[test] @ w
        rows = rows_of(y, "regression")
        found.append(p_value(fitted[:, None], null[:, None], rows))
        plain.append(norm.sf(np.sqrt(2) * norm.isf(found[-1])))
    assert 0.01 < np.mean(np.array(found) < 0.05) < 0.07
    assert np.mean(np.array(plain) < 0.05) > 0.09, "as if they were"


def test_p_values_of_a_signal_and_of_nothing():
    y, p, _ = classes(0, 400)
    null = np.full((400, 1), y.mean())
    assert p_value(p[:, None], null, rows_of(y, "binary")) < 1e-4
    assert p_value(null, null, rows_of(y, "binary")) == 1.0
    assert norm.isf(p_value(1 - p[:, None], null, rows_of(y, "binary"))) < -3
