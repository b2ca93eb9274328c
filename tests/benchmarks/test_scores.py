"""What an answer is worth: objectives by another formula and at a known optimum, the truth scores best."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_expit
from sklearn.linear_model import LogisticRegression, MultiTaskLasso

from benchmarks.side_by_side import scores
from benchmarks.side_by_side.problems import single_index
from singleindex import lipschitz_isotonic_regression

FREE, PENALISED = "L1-logistic", "L1-logistic, penalised intercept"
GROUPS = np.repeat(np.arange(4), 3)


@pytest.fixture(scope="module")
def seen():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 12))
    index = X[:, :3] @ [1.0, -2.0, 0.5] + 0.7
    y = (index + rng.standard_normal(80) > 0).astype(int)
    return {"X": X, "y": y, "groups": GROUPS}


@pytest.fixture(scope="module")
def tasks():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 9))
    Y = X[:, :2] @ rng.standard_normal((2, 4)) + 0.3 * rng.standard_normal((60, 4)) + 2.0
    return {"X": X, "y": Y}


def answer_of(coefs, intercepts):
    return {"coefs": np.asarray(coefs), "intercepts": np.asarray(intercepts)}


def lasso(seen, level, solver):
    """Return scikit-learn's solution, as exact as it gets."""
    model = LogisticRegression(
        C=1 / (len(seen["y"]) * level), l1_ratio=1, solver=solver, tol=1e-11, max_iter=100_000, random_state=0
    ).fit(seen["X"], seen["y"])
    return answer_of(model.coef_, model.intercept_)


# ---------------------------------------------------------------- objectives


@given(seed=st.integers(0, 2**32 - 1), size=st.floats(0, 30), level=st.floats(0, 10))
def test_logistic_objectives_by_another_formula(seen, seed, size, level):
    draw = np.random.default_rng(seed)
    w, b = size * draw.standard_normal(12), size * float(draw.standard_normal())
    loss = -np.mean(log_expit((2 * seen["y"] - 1) * (seen["X"] @ w + b)))
    norms = {
        FREE: sum(abs(v) for v in w),
        PENALISED: sum(abs(v) for v in w) + abs(b),
        "L1-logistic, no intercept": sum(abs(v) for v in w),
        "group-lasso logistic": sum(np.sqrt(np.sum(w[g == GROUPS] ** 2)) for g in range(4)),
    }
    for formulation, norm in norms.items():
        found = scores.objectives(formulation, answer_of([w], [b]), seen, [level])
        assert found == pytest.approx([loss + level * norm, np.log(2)])


def test_the_multi_task_objective_by_another_formula(tasks):
    rng = np.random.default_rng(2)
    W, b = rng.standard_normal((4, 9)), rng.standard_normal(4)
    loss = 0.0
    for row, y in zip(tasks["X"], tasks["y"], strict=True):
        loss += sum((y[k] - b[k] - W[k] @ row) ** 2 for k in range(4)) / (2 * 60)
    norm = sum(np.sqrt(sum(W[k, j] ** 2 for k in range(4))) for j in range(9))
    found = scores.objectives("multi-task lasso", answer_of(W, b), tasks, [0.7])
    assert found == pytest.approx([loss + 0.7 * norm, tasks["y"].var(axis=0).sum() / 2])


@pytest.mark.parametrize(("formulation", "solver"), [(FREE, "saga"), (PENALISED, "liblinear")])
@pytest.mark.parametrize("level", [0.02, 0.1])
def test_nothing_is_lower_than_the_optimum_of_the_lasso(seen, formulation, solver, level):
    best = lasso(seen, level, solver)
    assert 0 < np.count_nonzero(best["coefs"]) < 12
    check_optimum(formulation, best, seen, level)


def test_nothing_is_lower_than_the_optimum_of_several_tasks(tasks):
    model = MultiTaskLasso(alpha=0.1, tol=1e-12, max_iter=10_000).fit(tasks["X"], tasks["y"])
    assert 0 < np.count_nonzero(model.coef_[0]) < 9
    check_optimum("multi-task lasso", answer_of(model.coef_, model.intercept_), tasks, 0.1)


def check_optimum(formulation, best, seen, level):
    lowest, zero = scores.objectives(formulation, best, seen, [level])
    assert lowest < zero
    rng = np.random.default_rng(0)
    for size in np.geomspace(1e-5, 1, 40):
        for part in ("coefs", "intercepts"):
            moved = best | {part: best[part] + size * rng.standard_normal(best[part].shape)}
            assert scores.objectives(formulation, moved, seen, [level])[0] > lowest


def test_the_check_of_an_optimum_can_fail(seen):
    with pytest.raises(AssertionError):
        check_optimum(FREE, lasso(seen, 0.1, "liblinear"), seen, 0.1)  # it penalises the intercept


# ---------------------------------------------------------------- suboptimality


def test_suboptimality_goes_from_one_to_zero(seen):
    levels = [0.1, 0.02]
    best = [lasso(seen, level, "saga") for level in levels]
    both = {name: np.concatenate([one[name] for one in best]) for name in ("coefs", "intercepts")}

    def left(share):
        given = {name: share * array for name, array in both.items()}
        return scores.suboptimality(scores.objectives(FREE, given, seen, levels), reference)

    reference = scores.objectives(FREE, both, seen, levels)
    assert left(1.0) == 0
    assert left(0.0) == pytest.approx(1)
    ways = [left(share) for share in (0.0, 0.3, 0.6, 0.9, 1.0)]
    assert all(before > after for before, after in itertools.pairwise(ways))


def test_the_worst_level_counts():
    reference = np.array([0.5, 0.3, 0.7])
    assert scores.suboptimality(np.array([0.5, 0.5, 0.7]), reference) == pytest.approx(0.5)
    assert scores.suboptimality(np.array([0.6, 0.3, 0.7]), reference) == pytest.approx(0.5)
    assert np.isnan(scores.suboptimality(np.array([np.nan, 0.3, 0.7]), reference))


# ---------------------------------------------------------------- classes


@pytest.fixture(scope="module")
def truth():
    return single_index(50, 10, n_atoms=3, link="clipped")


def as_answer(seen, hidden, coefs, change=lambda p: p):
    """Return an answer with these coefficients and what becomes of the true probabilities."""
    coefs = np.atleast_2d(coefs)
    probability = change(hidden["mean_test"])[:, None].repeat(len(coefs), axis=1)
    return {
        "coefs": coefs,
        "score": seen["X_test"] @ coefs.T,
        "validation": seen["X_validation"] @ coefs.T,
        "probability": probability,
    }


def test_the_true_model_scores_best(truth):
    seen, hidden = truth
    best = scores.score("single fit", as_answer(seen, hidden, hidden["coef"]), seen, hidden)
    assert best["cosine"] == pytest.approx(1)
    assert best["link_rmse"] == 0
    assert best["auc"] > 0.8
    rng = np.random.default_rng(0)
    for _ in range(10):
        w = hidden["coef"] + rng.standard_normal(10)
        other = scores.score("single fit", as_answer(seen, hidden, w), seen, hidden)
        assert other["auc"] < best["auc"]
        assert other["cosine"] < 1
    for change in (
        np.square,
        np.sqrt,
        lambda p: np.clip(p, 0.1, 0.9),
        lambda p: 1 - p,
        lambda p: 0 * p + 0.5,
    ):
        other = scores.score("single fit", as_answer(seen, hidden, hidden["coef"], change), seen, hidden)
        assert other["brier"] > best["brier"]
        assert other["link_rmse"] > 0
        assert other["auc"] == best["auc"]


def test_the_level_is_chosen_by_the_validation_rows_alone(truth):
    seen, hidden = truth
    rng = np.random.default_rng(0)
    coefs = np.vstack([rng.standard_normal(10), hidden["coef"], rng.standard_normal(10)])
    answer = as_answer(seen, hidden, coefs)
    assert scores.best_level(answer, hidden) == 1
    for y_test in (rng.permutation(hidden["y_test"]), 1 - hidden["y_test"]):
        other = hidden | {"y_test": y_test, "mean_test": 1 - hidden["mean_test"], "coef": -hidden["coef"]}
        assert scores.best_level(answer, other) == 1
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
    hidden = {"y_test": np.array([1.0, 2.0, 3.0, 6.0])}
    exact = scores.score("completion", {"predicted": hidden["y_test"]}, {}, hidden)
    assert exact == {"rmse": 0.0}
    off = scores.score("completion", {"predicted": hidden["y_test"] + [2, 0, 0, 0]}, {}, hidden)
    assert off == {"rmse": pytest.approx(1.0)}
    ranked = scores.score("completion", {"ranking": np.array([0.1, 0.2, 0.3, 0.9])}, {}, hidden)
    assert ranked == {"auc": 1.0}  # liked is what is above the mean
    several = {
        "y_test": np.array([[1.0, 2.0], [3.0, 4.0]]), "mean_test": np.ones((2, 2)), "coef": np.eye(2),
    }  # fmt: skip
    found = scores.score("multi-task", {"predicted": np.ones((2, 2)), "coefs": 2 * np.eye(2)}, {}, several)
    assert found == pytest.approx({"rmse": np.sqrt(14 / 4), "link_rmse": 0.0, "cosine": 1.0})


def test_the_exact_curve_is_told_from_others():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 300)
    y = (x + rng.standard_normal(300) > 0).astype(float)
    fitted = lipschitz_isotonic_regression(x, y)

    def gap(z):
        (found,) = scores.score("isotonic", {"fitted": z}, {"x": x, "y": y}, {}).values()
        return found

    assert 0 <= gap(fitted) < 1e-12
    assert gap(fitted + 1e-3) > 1e-4
    assert gap(0.99 * fitted) > 1e-4
    assert gap(fitted + 1e-3 * rng.standard_normal(300)) > 1e-4
