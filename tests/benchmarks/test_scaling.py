"""Exponents of growth: known ones come out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.side_by_side import scaling


@given(slope=st.floats(-3, 3), constant=st.floats(1e-6, 1e3))
def test_a_power_law_gives_its_exponent(slope, constant):
    sizes = (10, 40, 160, 640)
    seconds = constant * np.power(np.array(sizes, dtype=float), slope)
    assert scaling.exponent(sizes, seconds) == pytest.approx(slope, abs=1e-8)


def test_rows_have_the_entries_that_were_asked_for(monkeypatch):
    seen = {}

    class Model:
        def __init__(self, n_atoms, **options):
            seen.update(options, n_atoms=n_atoms)

        def fit(self, X, y):
            seen.update(X=X, y=y)

    monkeypatch.setattr(scaling, "SingleIndexClassifier", Model)
    scaling.sparse_fit(200, 5000, 30, 7)()
    assert seen["X"].shape == (200, 5000)
    assert 0.95 * 200 * 30 <= seen["X"].nnz <= 200 * 30  # a column that is drawn twice counts once
    assert seen["n_atoms"] == 7
    assert seen["tol"] == 0  # so that all fits have as many iterations
    assert 0.2 < np.mean(seen["y"]) < 0.8
