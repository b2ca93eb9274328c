"""Threads of BLAS: one while small problems are solved, as many as before otherwise and afterwards."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from singleindex import SingleIndexRegressorCV
from singleindex.fitting import search
from singleindex.fitting.threads import few_threads


def n_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        if 2 not in n_threads():
            pytest.skip("BLAS has one thread here")
        yield


@pytest.mark.parametrize(("shape", "expected"), [((1000, 100), 1), ((10**6, 100), 2)])
def test_small_problems_have_one_thread(shape, expected):
    before = n_threads()
    with few_threads(shape):
        assert max(n_threads()) == expected
    assert n_threads() == before


def test_searches_do(monkeypatch):
    seen, trace_folds = [], search.trace_folds

    def watched(*arguments):
        seen.append(max(n_threads()))
        return trace_folds(*arguments)

    monkeypatch.setattr(search, "trace_folds", watched)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    SingleIndexRegressorCV(cv=3).fit(X, X[:, 0] + 0.1 * rng.standard_normal(60))
    assert seen == [1]
    assert max(n_threads()) == 2
