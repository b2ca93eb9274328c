"""When a single fit takes exact steps."""

import numpy as np
import pytest

from singleindex.design import Scaling, View, as_design
from singleindex.fitting.exact import is_correlated


def view_of(X):
    return View(as_design(X), Scaling(np.ones(X.shape[1])))


@pytest.mark.parametrize(("n", "d"), [(300, 2000), (2000, 50), (500, 500)])
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_independent_columns_are_not_correlated_however_they_were_chosen(n, d, noise):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, d))
    y = X[:, :10].sum(axis=1) + noise * rng.standard_normal(n)
    assert not is_correlated(view_of(X), y, None)
    assert not is_correlated(view_of(X), np.column_stack([y, X[:, 3]]), None)


@pytest.mark.parametrize("common", [0.2, 0.7])
def test_a_common_factor_is_seen(common):
    rng = np.random.default_rng(0)
    X = np.sqrt(1 - common) * rng.standard_normal((400, 60)) + np.sqrt(common) * rng.standard_normal((400, 1))
    y = X[:, :5].sum(axis=1) + rng.standard_normal(400)
    assert is_correlated(view_of(X), y, None)
    assert is_correlated(view_of(X), y, np.full(400, 2.0))


def test_one_column_is_correlated_with_none():
    X = np.random.default_rng(0).standard_normal((50, 1))
    assert not is_correlated(view_of(X), X[:, 0], None)
