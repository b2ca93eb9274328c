"""The benchmark of the default search: its data are what they claim, its verdicts right."""

import dataclasses

import numpy as np
import pytest
from scipy.special import expit

from benchmarks.exact_steps import cells, few_rows, frontier, numbers, probabilities, rivals, tables
from benchmarks.exact_steps.compare import pair
from benchmarks.exact_steps.methods import OURS
from benchmarks.exact_steps.tasks import Answer, Task, task_figures
from benchmarks.side_by_side.peers.folds import Folds

# ---------------------------------------------------------------- data


@pytest.mark.parametrize(
    ("cell", "block", "rho"),
    [(f"one factor .{k} 800 × 200, ramp", 200, k / 10) for k in (5, 7, 9)]
    + [("blocks of 20 .9 500 × 400, ramp", 20, 0.9)],
)
def test_columns_are_correlated_inside_blocks_only(cell, block, rho):
    task = cells.make(cell, 100)
    found = np.corrcoef(np.vstack([task.X, task.X_test]).T)
    number = np.arange(len(found)) // block
    inside = np.equal.outer(number, number)
    pairs = found[inside & ~np.eye(len(found), dtype=bool)]
    assert pairs.min() > rho - 0.1
    assert pairs.mean() == pytest.approx(rho, abs=0.03)
    assert np.abs(found[~inside]).sum() <= 0.03 * np.count_nonzero(~inside)


@pytest.mark.parametrize("cell", ["5 factors 200 × 2000, ramp", "10 factors 400 × 1000, ramp"])
def test_factors_are_as_many_as_named(cell):
    task = cells.make(cell, 100)
    spectrum = np.linalg.svd(task.X_test, compute_uv=False)
    assert np.argmax(spectrum[:-1] / spectrum[1:]) + 1 == int(cell.split()[0])
    assert np.std(task.X_test @ task.coef) == pytest.approx(cells.SIGNAL, rel=0.1)


def test_mixed_units_hide_a_known_truth():
    cell = "mixed units 400 × 30, logistic"
    task = cells.make(cell, 100)
    spread = task.X.std(axis=0)
    assert spread.max() / spread.min() > 1e3
    index = task.X_test / task.units @ task.coef
    np.testing.assert_allclose(task.probability, expit(index))
    w = task.coef / task.units
    true = Answer(lambda X: expit(X @ w), lambda X: X @ w, w, 0.0)
    figures = task_figures(task, true)
    assert figures["rmse"] == pytest.approx(0, abs=1e-12)
    assert figures["cosine"] == pytest.approx(1)
    # The same w taken for one of standardised columns points elsewhere.
    assert task_figures(dataclasses.replace(task, units=1.0), true)["cosine"] < 0.9


def test_the_generated_california_saturates_and_has_raw_units():
    X, y = tables.make_california()
    assert 0.02 < np.mean(y == 5.0) < 0.1
    assert y.max() == 5.0
    assert X.std(axis=0).max() / X.std(axis=0).min() > 1e3
    assert np.corrcoef(X[:, -2:].T)[0, 1] < -0.9


@pytest.mark.parametrize("cell", [numbers.CELLS[0], numbers.CELLS[-1]])
def test_numbers_have_the_noise_and_the_features_that_are_named(cell):
    task = numbers.make(cell, 100)
    size, columns, truth, _ = cell.split(", ")
    n_features, noise = numbers.TRUTHS[truth]
    assert np.count_nonzero(task.coef) == n_features
    assert np.std(task.probability) == pytest.approx(1, rel=0.1)
    assert np.std(task.y_test - task.probability) == pytest.approx(noise, rel=0.1)
    correlation = np.corrcoef(task.X_test.T)
    assert np.mean(correlation[~np.eye(len(correlation), dtype=bool)]) == pytest.approx(
        numbers.COLUMNS[columns], abs=0.03
    )
    assert " × ".join(map(str, task.X.shape)) == size


# ---------------------------------------------------------------- rivals


@pytest.mark.parametrize("shape", [(60, 8), (30, 50)])
def test_the_ridge_path_is_stationary(shape):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal(shape)
    Z -= Z.mean(axis=0)
    y = (rng.random(len(Z)) < expit(Z[:, 0])).astype(float)
    levels = [1.0, 0.1, 0.001]
    for level, w, b in zip(levels, *rivals.ridge_logistic_path(Z, y, levels), strict=True):
        residual = expit(Z @ w + b) - y
        np.testing.assert_allclose(Z.T @ residual / len(y) + level * w, 0, atol=1e-5)
        assert abs(residual.mean()) < 1e-5


def test_the_first_level_is_where_features_come_in():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((50, 6))
    for y in (rng.integers(2, size=50), rng.integers(3, size=50)):
        levels = rivals.penalty_levels(Z, y, None)
        gradients = [abs(Z.T @ ((y == k) - np.mean(y == k))).max() / 50 for k in np.unique(y)]
        assert levels[[0, -1]] == pytest.approx(max(gradients) * np.array([1, 1e-3]))


@pytest.mark.parametrize(("best", "asked"), [(10, [50]), (45, [50, 75]), (99, [50, 75, 100])])
def test_a_path_goes_on_until_its_best_level_is_behind(monkeypatch, best, asked):
    seen = []

    def path(task, power, n_first):
        seen.append(n_first)
        return {"losses": np.abs(np.arange(n_first) - best)}

    monkeypatch.setattr(rivals, "l1_path", path)
    assert np.argmin(rivals.l1_path_to_best(None, 1.0)["losses"]) == best
    assert seen == asked


def test_folds_score_each_row_by_the_path_that_has_not_seen_it():
    class Means(Folds):
        """A model that says the mean of the rows it had."""

        def path(self, X, y):
            return np.zeros((2, 1, X.shape[1])), np.full((2, 1), y.mean())

    data = {"X": np.ones((4, 3)), "y": np.arange(1.0, 5), "fold": np.array([1, 0, 1, 0]), "levels": [1, 2]}
    solver = Means(data)
    solver.fit(None)
    found = solver.answer()
    np.testing.assert_array_equal(found["held_out"][:, 0, 0], [3.0, 2.0, 3.0, 2.0])
    np.testing.assert_array_equal(found["intercepts"][:, 0], [2.5, 2.5])


def test_each_column_of_y_is_a_task_of_its_own():
    task = Task(np.ones((3, 2)), np.arange(6).reshape(3, 2), None, None, is_numeric=True)

    def constant(one):
        value = one.y[0]
        return {"L1": Answer(lambda X: np.full(len(X), value), lambda X: np.zeros(len(X)), np.zeros(2), 1.5)}

    answer = rivals.by_column(task, constant)["L1"]
    np.testing.assert_array_equal(answer.predict(task.X), [[0, 1]] * 3)
    assert answer.seconds == 3.0


# ---------------------------------------------------------------- verdicts


def seeds_of(**figures):
    """Return the figures of a method by seed, from a list for each figure."""
    return {
        seed: dict(zip(figures, values, strict=True))
        for seed, values in enumerate(zip(*figures.values(), strict=True))
    }


CORRELATED, PLAIN = "one factor .7 800 × 200, ramp", "Gaussian 1000 × 200, ramp"
RIVAL = seeds_of(rmse=[0.10, 0.12, 0.11], cosine=[0.90, 0.92, 0.91])
BETTER = seeds_of(rmse=[0.09, 0.11, 0.10], cosine=[0.92, 0.94, 0.93])
WORSE = seeds_of(rmse=[0.12, 0.14, 0.13], cosine=[0.80, 0.82, 0.81])
LITTLE_WORSE = seeds_of(rmse=[0.104, 0.124, 0.114], cosine=[0.90, 0.92, 0.91])
UNSURE = seeds_of(rmse=[0.08, 0.20, 0.10], cosine=[0.80, 0.96, 0.93])


@pytest.mark.parametrize(
    ("plain", "correlated", "share", "lost", "gain"),
    [
        (BETTER, BETTER, 1.0, [], 0.02),
        (WORSE, BETTER, 0.5, [PLAIN], 0.02),  # the gain is that of correlated cells with n > d alone
        (BETTER, WORSE, 0.5, [CORRELATED], -0.1),
        (LITTLE_WORSE, UNSURE, 0.0, [], -0.04 / 3),  # by less than 5 %, or within two errors
    ],
)
def test_cells_lost_are_named_and_the_gain_is_that_of_correlated_ones(plain, correlated, share, lost, gain):
    figures = {PLAIN: {OURS: plain, "L1": RIVAL}, CORRELATED: {OURS: correlated, "L1": RIVAL}}
    verdict = cells.judge(figures, "L1")
    assert list(verdict.worse) == list(verdict.turned) == lost
    assert (verdict.n_cells, verdict.share_lower) == (2, share)
    assert verdict.gain == pytest.approx(gain)


def test_pairs_are_of_the_seeds_that_both_have():
    found = pair(
        {0: {"a": 1.0}, 1: {"a": 2.0}, 7: {"a": 99.0}}, {0: {"a": 0.0}, 1: {"a": 0.0}, 5: {"a": 9.0}}, "a"
    )
    assert (found.ours, found.rival, found.n_seeds) == (1.5, 0.0, 2)
    assert found.error == pytest.approx(0.5)
    assert pair({0: {"a": 1.0}}, {1: {"a": 1.0}}, "a") is None


@pytest.mark.parametrize(
    ("cell", "figure", "ours", "l1", "l2", "better", "held"),
    [
        ("breast cancer", "log_loss", [0.10, 0.12], [0.30, 0.30], [0.10, 0.11], "L2", True),  # by one error
        ("breast cancer", "log_loss", [0.12, 0.13], [0.30, 0.30], [0.10, 0.11], "L2", False),
        ("diabetes", "r2", [0.50, 0.52], [0.30, 0.31], [0.20, 0.21], "L1", True),
        ("diabetes", "r2", [0.30, 0.31], [0.30, 0.31], [0.50, 0.52], "L2", False),
    ],
)
def test_tables_are_judged_by_the_better_rival(cell, figure, ours, l1, l2, better, held):
    values = {OURS: ours, "L1": l1, "L2": l2}
    methods = {name: seeds_of(**{figure: each}) for name, each in values.items()}
    found = tables.judge(cell, methods)
    assert (found[0], found[2]) == (better, held)


def test_probabilities_are_held_against_the_best_of_the_calibrated():
    losses = {
        OURS: [0.30, 0.34],
        "L2": [0.50, 0.50],
        "L2 + sigmoid": [0.20, 0.21],
        "L2 + isotonic": [0.9, 0.9],
    }
    methods = {name: seeds_of(log_loss=each, brier=[0.1, 0.1]) for name, each in losses.items()}
    *_, best, gap, dense = probabilities.row("link", methods)
    assert (best, gap, dense) == ("L2 + sigmoid", "+0.1150 ± 0.0150", "–")


def test_numbers_are_held_against_the_better_of_lasso_and_ridge():
    methods = {
        OURS: seeds_of(rmse=[0.30, 0.32], features=[9, 9]),
        "L1": seeds_of(rmse=[0.20, 0.20], features=[9, 9]),
        "L2": seeds_of(rmse=[0.50, 0.50], features=[9, 9]),
    }
    *_, better, gap = numbers.row("", methods)
    assert (better, gap) == ("L1", "+0.1100 ± 0.0100")


def test_few_rows_are_held_against_l1_on_the_same_draws():
    methods = {
        OURS: seeds_of(auc=[0.8, 0.7, 0.1], features=[3, 5, 4]),
        "L1": seeds_of(auc=[0.7, 0.6], features=[9, 9]),
    }
    text = few_rows.section({"breast cancer + noise": methods})[-1]
    assert "0.5333 (4)" in text
    assert "0.6500 (9)" in text
    assert "+0.1000 ± 0.0000" in text


def test_the_frontier_names_what_is_below_l1_and_what_has_too_many_features():
    ours = {
        "auc at 5": [0.7, 0.7],
        "auc at 10": [0.9, 0.91],
        "features at 5": [5, 6],
        "features at 10": [9, 10],
    }
    rival = {"auc at 5": [0.8, 0.81], "auc at 10": [0.8, 0.82]}
    figures = {"text": {OURS: seeds_of(**ours), "L1": seeds_of(**rival)}}
    pairs, lost = frontier.judge(figures)
    assert set(pairs) == {("text", 5), ("text", 10)}
    assert lost == frontier.over_limit(figures) == [("text", 5)]
