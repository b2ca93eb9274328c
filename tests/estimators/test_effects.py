import numpy as np
import pandas as pd
import pytest

from singleindex.design import read_chunks
from singleindex.estimators import SingleIndexClassifier, SingleIndexRegressor
from singleindex.estimators.effects import effects_of, predict_at, ranking
from singleindex.estimators.headline import headline
from singleindex.estimators.outputs import facts_of

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "age": RNG.normal(60, 12, 400),
        "smoker": RNG.integers(0, 2, 400) * 1.0,
        "tiny": RNG.normal(size=400) / 1000,
    }
)
INDEX = (FRAME.age - 60) / 12 + FRAME.smoker + 300 * FRAME.tiny
RISK = (RNG.random(400) < 1 / (1 + np.exp(-2 * INDEX))).astype(int)
MODEL = SingleIndexClassifier().fit(FRAME, RISK)
NUMBERS = SingleIndexRegressor().fit(FRAME, INDEX)


def effects(model):
    facts = facts_of(model)
    return {facts.names()[one.feature]: one for one in effects_of(facts)}


def test_predictions_at_an_index_are_those_of_the_model():
    three = SingleIndexClassifier().fit(FRAME, np.digitize(INDEX, [-0.5, 1]))
    both = SingleIndexRegressor().fit(FRAME, np.column_stack([INDEX, -INDEX]))
    for model in (MODEL, three):
        index = np.asarray(model.index(FRAME)).reshape(400, -1)
        found = predict_at(facts_of(model), index)
        expected = model.predict_proba(FRAME)
        np.testing.assert_allclose(found, expected if found.shape[1] > 1 else expected[:, 1:], atol=1e-7)
    np.testing.assert_allclose(predict_at(facts_of(both), both.index(FRAME)), both.predict(FRAME))


def test_features_are_ranked_by_what_they_do_to_the_prediction_not_by_weight():
    names = list(effects(MODEL))
    assert names == ["age", "smoker", "tiny"]
    assert np.argmax(np.abs(MODEL.coef_)) != 0, "per unit, age in years has a small weight"
    assert ranking(facts_of(MODEL)) == [0, 1, 2]


def test_effects_are_mean_differences_of_predictions():
    one = effects(NUMBERS)["age"]
    assert one.step == 10.0
    more = FRAME.assign(age=FRAME.age + 10)
    assert one.before[0] == pytest.approx(NUMBERS.predict(FRAME).mean(), abs=0.02)
    assert one.after[0] == pytest.approx(NUMBERS.predict(more).mean(), abs=0.02)
    half = FRAME.age.std(ddof=0) / 2
    up, down = (NUMBERS.predict(FRAME.assign(age=FRAME.age + by)).mean() for by in (half, -half))
    assert one.size[0] == pytest.approx(up - down, abs=0.02)


def test_effects_are_told_in_the_outcomes_units():
    one = effects(MODEL)["age"]
    before, after = (f"{100 * p[0]:.0f} %" for p in (one.before, one.after))
    assert one.in_words("binary") == f"+10: {before} → {after}"
    assert effects(MODEL)["smoker"].in_words("binary").startswith("0 → 1: ")
    assert effects(NUMBERS)["tiny"].in_words("regression").startswith("+0.001: ")


def test_models_without_their_rows_go_by_weight(tmp_path):
    FRAME.assign(y=INDEX).to_csv(tmp_path / "rows.csv", index=False)
    model = SingleIndexRegressor().fit(read_chunks(str(tmp_path / "*.csv"), target="y"))
    facts = facts_of(model)
    assert facts.background is None
    assert effects_of(facts) == []
    assert ranking(facts) == np.argsort(-np.abs(model.coef_)).tolist()


def test_rows_that_were_learned_from_before_are_forgotten(tmp_path):
    FRAME.assign(y=INDEX).to_csv(tmp_path / "rows.csv", index=False)
    model = SingleIndexRegressor().fit(FRAME, INDEX)
    assert "background_" in vars(model)
    model.fit(read_chunks(str(tmp_path / "*.csv"), target="y"))
    assert "background_" not in vars(model)


def test_rows_without_weight_have_no_say_in_means_and_ranges():
    weight = (np.arange(400) < 300).astype(float)
    found = SingleIndexRegressor().fit(FRAME, INDEX, weight).background_
    expected = SingleIndexRegressor().fit(FRAME[:300], INDEX[:300]).background_
    for name in ("mean", "spread", "low", "high"):
        np.testing.assert_allclose(found[name], expected[name])
    assert found["high"][0] == FRAME.age[:300].max()


@pytest.mark.parametrize(
    ("p_value", "found"),
    [
        (0.3, "No evidence that the 3 features predict risk (p = 0.3 on held-out rows)"),
        (0.01, "3 of 3 features are in use to predict risk"),
    ],
)
def test_the_headline(p_value, found):
    assert headline(facts_of(MODEL), "risk", p_value) == found


def test_nothing_in_use_is_no_evidence():
    flat = SingleIndexRegressor(n_atoms=1, penalty=1.0).fit(FRAME[["age"]], INDEX)
    assert headline(facts_of(flat), "y") == "No evidence that the feature predicts y"
