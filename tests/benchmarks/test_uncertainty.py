"""The study of uncertainty: its truth is the truth, and what falls short is named."""

import numpy as np
import pytest

from benchmarks.uncertainty import coverage, evidence
from benchmarks.uncertainty.problems import OURS, make_problem


@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_the_mean_at_an_index_is_that_of_many_rows(correlation):
    problem = make_problem(200_000, 12, correlation, "clipped", seed=0)
    w = problem.coef + 0.3 * np.random.default_rng(0).standard_normal(12)
    index = problem.X @ w
    for place in np.quantile(index, (0.1, 0.5, 0.8)):
        near = np.abs(index - place) < 0.02 * index.std()
        error = 4 * problem.y[near].std() / np.sqrt(near.sum()) + 0.01
        assert problem.mean_at(w, np.array([place]))[0] == pytest.approx(problem.y[near].mean(), abs=error)


def test_an_effect_is_a_difference_of_means():
    problem = make_problem(50, 12, 0.0, "clipped", seed=0)
    assert problem.effect(int(np.flatnonzero(problem.coef == 0)[0]), 1.0) == 0
    j = int(np.argmax(problem.coef))
    assert 0 < problem.effect(j, 0.5) < problem.effect(j, 1.0) < 1


def test_noise_has_nothing_to_do_with_x():
    problem = evidence.make("noise 400 × 8", 0)
    assert np.abs(np.corrcoef(problem.X.T, problem.y)[-1, :-1]).max() < 0.2
    assert not np.array_equal(problem.y, evidence.make("noise 400 × 8", 1).y)


def figures(band, false, true):
    ours = {"band": band, "band width": 0.2, "bootstrap": 0.7, "bootstrap width": 0.1, "effects": 5,
            "effects right": 5, "effects width": 0.4, "effects sign": 5, "coefficients": 0.9,
            "coefficients width": 0.2, "coefficients true": 0.9, "true": true, "false": false, "bound": 0.96,
            "true r-concave": true, "false r-concave": 0, "n_chosen": 8, "share": 0.78}  # fmt: skip
    lasso = {seed: {"true": 5, "false": 0} for seed in range(4)}
    return {OURS: dict.fromkeys(range(4), ours), coverage.LASSO: lasso}


def test_cells_that_fall_short_are_named():
    good, bad = list(coverage.CELLS)[:2]
    text = "\n".join(coverage.section({good: figures(0.9, 0, 6), bad: figures(0.8, 2, 4)}))
    for what in ("band below .85", "false above the bound", "fewer true ones than the lasso, by two errors"):
        assert f"- {what}: {bad}." in text
    assert "- effects below .85 (400 × 60): none." in text


def test_a_test_of_noise_fails_where_it_sees_too_much():
    rows = evidence.section({"noise 400 × 8": {OURS: {s: {"p": 0.01 * s} for s in range(20)}}})
    assert "**no**" in rows[-1]
