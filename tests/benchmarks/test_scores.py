"""What an answer is worth: objectives by another formula and at a known optimum, the truth scores best."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_expit
from sklearn.linear_model import LogisticRegression, MultiTaskLasso

from benchmarks.side_by_side import scores
from benchmarks.side_by_side.problems import single_index
from singleindex import lipschitz_isotonic_regression

FREE, PENALISED, ROWS = "L1-logistic", "L1-logistic, penalised intercept", "multi-task lasso"
GROUPS = np.repeat(np.arange(4), 3)
RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 12))
INDEX = X[:, :3] @ [1.0, -2.0, 0.5] + 0.7
SEEN = {"X": X, "y": (INDEX + RNG.standard_normal(80) > 0).astype(int), "groups": GROUPS}
TASKS = {"X": X, "y": INDEX[:, None] * [1.0, 0.5, -1.0] + 0.3 * RNG.standard_normal((80, 3))}


@pytest.fixture
def rng():
    return np.random.default_rng(1)


def answer_of(coefs, intercepts):
    return {"coefs": np.asarray(coefs), "intercepts": np.asarray(intercepts)}


def exact(formulation, level):
    """Return scikit-learn's solution, as exact as it gets."""
    if formulation == ROWS:
        model = MultiTaskLasso(alpha=level, tol=1e-12, max_iter=10_000).fit(X, TASKS["y"])
    else:
        solver = "liblinear" if formulation == PENALISED else "saga"
        model = LogisticRegression(
            C=1 / (80 * level), l1_ratio=1, solver=solver, tol=1e-11, max_iter=100_000, random_state=0
        ).fit(X, SEEN["y"])
    assert 0 < np.count_nonzero(model.coef_[0]) < 12
    return answer_of(model.coef_, model.intercept_)


# ---------------------------------------------------------------- objectives


@given(seed=st.integers(0, 2**32 - 1), size=st.floats(0, 30), level=st.floats(0, 10))
def test_logistic_objectives_by_another_formula(seed, size, level):
    draw = np.random.default_rng(seed)
    w, b = size * draw.standard_normal(12), size * float(draw.standard_normal())
    loss = -np.mean(log_expit((2 * SEEN["y"] - 1) * (X @ w + b)))
    norms = {
        FREE: sum(abs(v) for v in w),
        PENALISED: sum(abs(v) for v in w) + abs(b),
        "L1-logistic, no intercept": sum(abs(v) for v in w),
        "group-lasso logistic": sum(np.sqrt(np.sum(w[g == GROUPS] ** 2)) for g in range(4)),
    }
    for formulation, norm in norms.items():
        found = scores.objectives(formulation, answer_of([w], [b]), SEEN, [level])
        assert found == pytest.approx([loss + level * norm, np.log(2)])


def test_the_multi_task_objective_by_another_formula(rng):
    W, b = rng.standard_normal((3, 12)), rng.standard_normal(3)
    loss = sum(np.sum((y - b - W @ row) ** 2) for row, y in zip(X, TASKS["y"], strict=True)) / (2 * 80)
    norm = sum(np.sqrt(sum(W[k, j] ** 2 for k in range(3))) for j in range(12))
    found = scores.objectives(ROWS, answer_of(W, b), TASKS, [0.7])
    assert found == pytest.approx([loss + 0.7 * norm, TASKS["y"].var(axis=0).sum() / 2])


@pytest.mark.parametrize("formulation", [FREE, PENALISED, ROWS])
def test_nothing_is_lower_than_the_optimum(formulation):
    check_optimum(formulation, exact(formulation, 0.1))
    if formulation == PENALISED:
        with pytest.raises(AssertionError):  # the check can fail
            check_optimum(FREE, exact(formulation, 0.1))


def check_optimum(formulation, best):
    seen = TASKS if formulation == ROWS else SEEN
    lowest, zero = scores.objectives(formulation, best, seen, [0.1])
    assert lowest < zero
    rng = np.random.default_rng(0)
    for size in np.geomspace(1e-5, 1, 40):
        for part in ("coefs", "intercepts"):
            moved = best | {part: best[part] + size * rng.standard_normal(best[part].shape)}
            assert scores.objectives(formulation, moved, seen, [0.1])[0] > lowest


def test_suboptimality_is_the_way_that_is_left_at_the_worst_level():
    reference = np.array([0.5, 0.3, 0.7])
    cases = {(0.5, 0.3): 0, (0.7, 0.7): 1, (0.5, 0.5): 0.5, (0.6, 0.3): 0.5}
    for values, left in cases.items():
        assert scores.suboptimality(np.array([*values, 0.7]), reference) == pytest.approx(left)
    assert np.isnan(scores.suboptimality(np.array([np.nan, 0.3, 0.7]), reference))


# ---------------------------------------------------------------- classes


@pytest.fixture(scope="module")
def truth():
    return single_index(50, 10, n_atoms=3, link="clipped")


def as_answer(seen, hidden, coefs, change=lambda p: p):
    """Return an answer with these coefficients and what becomes of the true probabilities."""
    coefs = np.atleast_2d(coefs)
    return {
        "coefs": coefs, "score": seen["X_test"] @ coefs.T, "validation": seen["X_validation"] @ coefs.T,
        "probability": change(hidden["mean_test"])[:, None].repeat(len(coefs), axis=1),
    }  # fmt: skip


def test_the_true_model_scores_best(truth, rng):
    seen, hidden = truth
    best = scores.score("single fit", as_answer(seen, hidden, hidden["coef"]), seen, hidden)
    assert (best["cosine"], best["link_rmse"], best["features"]) == (pytest.approx(1), 0, 3)
    assert best["auc"] > 0.8
    for _ in range(10):
        w = hidden["coef"] + rng.standard_normal(10)
        other = scores.score("single fit", as_answer(seen, hidden, w), seen, hidden)
        assert other["auc"] < best["auc"]
        assert other["cosine"] < 1
    for change in (np.square, lambda p: np.clip(p, 0.1, 0.9), lambda p: 1 - p, lambda p: 0 * p + 0.5):
        other = scores.score("single fit", as_answer(seen, hidden, hidden["coef"], change), seen, hidden)
        assert other["brier"] > best["brier"]
        assert other["log_loss"] > best["log_loss"]
        assert other["link_rmse"] > 0
        assert other["auc"] == best["auc"]


def test_the_level_is_chosen_by_the_validation_rows_alone(truth, rng):
    seen, hidden = truth
    coefs = np.vstack([rng.standard_normal(10), hidden["coef"], rng.standard_normal(10)])
    answer = as_answer(seen, hidden, coefs)
    assert scores.best_level(answer, hidden) == 1
    other = {"y_test": 1 - hidden["y_test"], "mean_test": 1 - hidden["mean_test"], "coef": -hidden["coef"]}
    assert scores.best_level(answer, hidden | other) == 1
    # That of the chosen level is told, not the best of the test rows.
    upside_down = answer | {"validation": -answer["validation"]}
    chosen = scores.best_level(upside_down, hidden)
    assert chosen != 1
    told = scores.score("path", upside_down, seen, hidden)
    assert told["cosine"] == pytest.approx(scores.cosine(coefs[chosen], hidden["coef"]))
    assert told["auc"] < scores.score("path", answer, seen, hidden)["auc"]
    assert scores.best_level({"score": answer["score"]}, hidden) == 0


# ---------------------------------------------------------------- numbers and curves


def test_numbers():
    y = np.array([1.0, 2.0, 3.0, 6.0])
    several = {"y_test": y.reshape(2, 2), "mean_test": np.ones((2, 2)), "coef": np.eye(2)}
    liked = np.array([0.1, 0.2, 0.3, 0.9])  # is what is above the mean
    for task, answer, hidden, expected in (
        ("completion", {"predicted": y}, {"y_test": y}, {"rmse": 0.0}),
        ("completion", {"predicted": np.array([3.0, 2.0, 3.0, 6.0])}, {"y_test": y}, {"rmse": 1.0}),
        ("completion", {"ranking": liked}, {"y_test": y}, {"auc": 1.0}),
        ("multi-task", {"predicted": np.ones((2, 2)), "coefs": 2 * np.eye(2)}, several,
         {"rmse": np.sqrt(30 / 4), "link_rmse": 0.0, "cosine": 1.0}),
    ):  # fmt: skip
        assert scores.score(task, answer, {}, hidden) == pytest.approx(expected)


def test_the_exact_curve_is_told_from_others(rng):
    x = rng.uniform(-1, 1, 300)
    y = (x + rng.standard_normal(300) > 0).astype(float)
    fitted = lipschitz_isotonic_regression(x, y)

    def gap(z):
        return scores.score("isotonic", {"fitted": z}, {"x": x, "y": y}, {})["rmse"]

    assert 0 <= gap(fitted) < 1e-12
    for other in (fitted + 1e-3, 0.99 * fitted, fitted + 1e-3 * rng.standard_normal(300)):
        assert gap(other) > 1e-4
