from itertools import pairwise

import matplotlib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

matplotlib.use("Agg")

from singleindex.design import read_chunks
from singleindex.estimators import SingleIndexClassifier, SingleIndexClassifierCV, SingleIndexRegressor
from singleindex.inspection import explain, plot_explanation
from singleindex.structures import GroupSparse

RNG = np.random.default_rng(0)
X = RNG.normal(2, 1, size=(200, 6))
X[:, 5] = RNG.integers(0, 2, 200)
FRAME = pd.DataFrame(X, columns=["age", "dose", "c", "d", "e", "smoker"])
INDEX = X[:, 0] - 2 * X[:, 1] + X[:, 5]
Y = np.tanh(INDEX + 2) + 0.1 * RNG.normal(size=200)
WORDS = np.array(["low", "mid", "high"])[np.digitize(INDEX, [-2.5, -0.5])]
BINARY = SingleIndexClassifier(3).fit(FRAME, INDEX > -1.5)
MODELS = {
    "numbers": SingleIndexRegressor(3).fit(FRAME, Y),
    "outputs": SingleIndexRegressor(4).fit(FRAME, np.column_stack([Y, -INDEX])),
    "binary": BINARY,
    "classes": SingleIndexClassifier(3).fit(FRAME, WORDS),
    "labels": SingleIndexClassifier(3).fit(FRAME, np.column_stack([INDEX > -2, INDEX > 0]).astype(int)),
    "search": SingleIndexClassifierCV(cv=3, penalty=[0.3, 0.1], scale_power=[1.0]).fit(FRAME, INDEX > -1.5),
    "groups": SingleIndexRegressor(2, structure=GroupSparse([0, 0, 1, 1, 2, 2])).fit(FRAME, Y),
    "known link": SingleIndexRegressor(3, link="tanh").fit(FRAME, Y),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def predicted(model, rows):
    if not hasattr(model, "classes_"):
        return model.predict(rows)
    p = model.predict_proba(rows)
    return p[:, 1] if p.shape[1] == 2 and not model.multilabel_ else p


@every_model
def test_contributions_add_up_to_the_index(model):
    found = explain(model, FRAME[:30])
    assert found.contributions.shape[:2] == (30, 6)
    np.testing.assert_allclose(found.base + found.contributions.sum(axis=1), found.index, atol=1e-10)
    np.testing.assert_allclose(found.index, model.index(FRAME[:30]))
    np.testing.assert_allclose(found.prediction, predicted(model, FRAME[:30]), atol=1e-7)
    mean = pd.DataFrame([FRAME.mean()])
    np.testing.assert_allclose(explain(model, mean).contributions, 0, atol=1e-10)


@every_model
def test_steps_lead_from_the_mean_row_to_the_row(model):
    found = explain(model, FRAME[:10])
    several = np.ndim(found.base) == 1
    output = found.facts.outputs[-1].label if several else None
    k = len(found.facts.outputs) - 1
    mean = predicted(model, pd.DataFrame([FRAME.mean()])).reshape(-1)
    for row in range(10):
        steps = found.steps(row, output)
        assert steps[0].before == pytest.approx(mean[k], abs=1e-7)
        assert steps[-1].after == pytest.approx(found.prediction.reshape(10, -1)[row, k], abs=1e-7)
        sizes = [abs(step.contribution) for step in steps]
        assert sizes == sorted(sizes, reverse=True)
        assert all(a.after == b.before for a, b in pairwise(steps))
        assert steps[0].value == FRAME[steps[0].name][row]


@every_model
def test_what_would_have_to_change(model):
    found = explain(model, FRAME[:20])
    several = np.ndim(found.base) == 1
    output, k = (found.facts.outputs[0].label if several else None), 0
    values = found.prediction.reshape(20, -1)[:, k]
    threshold = float(values.min() + 0.45 * np.ptp(values))
    changes = found.to_pass(threshold, output)
    assert any(changes)
    for row, change in enumerate(changes):
        if change is None:
            continue
        there = FRAME[row : row + 1].assign(**{change.name: change.to})
        after = predicted(model, there).reshape(-1)[k]
        assert (after > threshold) != (values[row] > threshold)
        assert after == pytest.approx(change.prediction, abs=1e-7)
        assert FRAME[change.name].min() <= change.to <= FRAME[change.name].max()
        # A little less of the change does not do, but where the feature is switched.
        if change.name != "smoker":
            less = change.to - 1e-6 * (change.to - change.value)
            short = predicted(model, there.assign(**{change.name: less})).reshape(-1)[k]
            assert (short > threshold) == (values[row] > threshold)


def test_the_change_is_the_smallest_one_and_none_where_none_will_do():
    found = explain(BINARY, FRAME[:50])
    used, spread = np.flatnonzero(BINARY.coef_), FRAME.std(ddof=0).to_numpy()
    low, high = FRAME.min().to_numpy(), FRAME.max().to_numpy()
    for row, change in enumerate(found.to_pass(0.5)):
        need = -(found.index[row] + BINARY.intercept_)
        cost = {}
        for j in used:
            to = X[row, j] + need / BINARY.coef_[j]
            if j == 5:  # 0 or 1
                to = 1 - X[row, j] if (1 - 2 * X[row, j]) * BINARY.coef_[j] / need >= 1 else np.nan
            if low[j] <= to <= high[j]:
                cost[FRAME.columns[j]] = abs(to - X[row, j]) / spread[j]
        if not cost:
            assert change is None
            continue
        assert change.name == min(cost, key=cost.get)
        assert abs(change.to - change.value) / FRAME[change.name].std(ddof=0) == pytest.approx(
            cost[change.name], rel=1e-4
        )
    assert explain(BINARY, FRAME[:3]).to_pass(1.5) == [None] * 3


def test_values_beyond_those_of_the_fit_are_named():
    rows = FRAME[:2].assign(age=[99.0, 2.0])
    found = explain(BINARY, rows)
    assert found.outside_names(0) == ["age"]
    assert found.outside_names(1) == []
    assert found.outside.shape == (2, 6)


@pytest.mark.parametrize("convert", [sparse.csr_array, sparse.csc_matrix, np.asarray])
def test_kinds_of_data(convert):
    model = SingleIndexRegressor(3).fit(X, Y)
    found, expected = explain(model, convert(X[:9])), explain(model, X[:9])
    np.testing.assert_allclose(found.contributions, expected.contributions)
    assert found.feature_names == [f"x{j}" for j in range(6)]


def test_groups_sum_their_features():
    found = explain(MODELS["groups"], FRAME[:7])
    labels, sums = found.by_group()
    assert labels == [0, 1, 2]
    np.testing.assert_allclose(sums[:, 0], found.contributions[:, :2].sum(axis=1))
    np.testing.assert_allclose(sums.sum(axis=1) + found.base, found.index)
    _, other = explain(BINARY, FRAME[:7]).by_group([["age", "dose"], ["c", "d", "e", "smoker", "dose"]])
    np.testing.assert_allclose(other.sum(axis=1), explain(BINARY, FRAME[:7]).contributions.sum(axis=1))
    with pytest.raises(ValueError, match="pass groups="):
        explain(BINARY, FRAME[:7]).by_group()


def test_models_without_their_rows_need_some(tmp_path):
    FRAME.assign(y=Y).to_csv(tmp_path / "rows.csv", index=False)
    model = SingleIndexRegressor(3).fit(read_chunks(str(tmp_path / "*.csv"), target="y"))
    with pytest.raises(ValueError, match="background=X_train"):
        explain(model, FRAME[:3])
    found = explain(model, FRAME[:3], background=FRAME)
    np.testing.assert_allclose(found.base + found.contributions.sum(axis=1), found.index)


def test_several_outputs_have_to_be_chosen_among():
    with pytest.raises(ValueError, match=r"pass output=, one of \['high', 'low', 'mid'\]"):
        explain(MODELS["classes"], FRAME[:3]).steps(0)


# ---------------------------------------------------------------- the plot


def test_the_waterfall_goes_from_the_base_to_the_index():
    found = explain(MODELS["numbers"], FRAME[:3].assign(age=[50.0, 1, 1]))
    ax = plot_explanation(found, 0)
    bars = ax.patches
    assert bars[0].get_x() == pytest.approx(found.base)
    assert bars[-1].get_x() + bars[-1].get_width() == pytest.approx(found.index[0])
    labels = [text.get_text() for text in ax.get_yticklabels()]
    assert any(label == "age = 50 !" for label in labels)
    assert ax.get_title(loc="left").startswith("prediction: mean row ")


def test_the_waterfall_sums_what_is_not_shown():
    found = explain(BINARY, FRAME[:3])
    ax = plot_explanation(found, 1, top=1)
    assert [text.get_text() for text in ax.get_yticklabels()][1] == "2 others"
    last = ax.patches[-1]
    assert last.get_x() + last.get_width() == pytest.approx(found.index[1] + BINARY.intercept_)


def test_the_waterfall_of_a_class():
    ax = plot_explanation(explain(MODELS["classes"], FRAME[:3]), output="mid")
    assert ax.get_title(loc="left").startswith("probability of class mid: ")
