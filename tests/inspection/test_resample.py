"""What resampling tells: stable features, effects, bands, evidence; for all kinds of models and data."""

import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from singleindex import (
    SingleIndexClassifier,
    SingleIndexClassifierCV,
    SingleIndexRegressor,
    SingleIndexRegressorCV,
    Slisotron,
)
from singleindex.datasets import make_single_index
from singleindex.inspection import plot_effects, plot_link, plot_selection, resample
from singleindex.structures import GroupSparse, LowRank, RowSparse, Sparse


def data(n=200, d=20, **options):
    return make_single_index(n, d, **({"n_atoms": 3, "link": "clipped", "random_state": 0} | options))


def quick(model, X, y, **options):
    return resample(model, X, y, **({"n_resamples": 20, "random_state": 0, "n_permutations": 0} | options))


@pytest.fixture(scope="module")
def binary():
    made = data()
    model = SingleIndexClassifier(3).fit(made.X, made.y)
    return made, model, quick(model, made.X, made.y, n_permutations=19)


# ---------------------------------------------------------------- selection


def test_finds_what_there_is(binary):
    made, _, found = binary
    np.testing.assert_array_equal(found.stable(), made.support)
    assert found.selection.shape == (20,)
    assert found.selection[made.support].min() > 0.9


def test_the_bound_is_shown(binary):
    _, _, found = binary
    rule = found.rule()
    assert 0 < rule.bound <= 1
    assert f"at most {rule.bound:.2g} false" in repr(found)
    assert found.rule(0.5).bound <= 0.5


def test_each_half_chooses_a_fixed_number(binary):
    _, _, found = binary
    assert found.selection.sum() == pytest.approx(found.rule().n_chosen)


def test_more_assumptions_find_no_less(binary):
    _, _, found = binary
    with pytest.raises(ValueError, match="assumption must be one of"):
        found.stable(assumption="all is well")
    with pytest.raises(ValueError, match="max_false must be positive"):
        found.stable(0)
    assert set(found.stable(assumption="none")) <= set(found.stable(assumption="r-concave"))


def test_jobs_change_nothing():
    made = data(120)
    model = SingleIndexClassifier(3).fit(made.X, made.y)
    one, two = (quick(model, made.X, made.y, n_permutations=19, n_jobs=jobs) for jobs in (None, 2))
    np.testing.assert_array_equal(one.selection, two.selection)
    np.testing.assert_array_equal(one.evidence.reference, two.evidence.reference)


def test_groups_are_chosen_whole():
    made = data(300, 40, structure="group", n_atoms=2, link="ramp")
    model = SingleIndexClassifier(2, structure=GroupSparse(made.groups)).fit(made.X, made.y)
    found = quick(model, made.X, made.y)
    for group in np.unique(made.groups):
        assert np.ptp(found.selection[made.groups == group]) == 0
    np.testing.assert_array_equal(found.stable(), made.support)


def test_what_is_never_penalised_is_not_tested():
    made = data()
    factors = np.ones(20)
    factors[made.support[0]] = 0
    model = SingleIndexClassifier(3, structure=Sparse(factors=factors)).fit(made.X, made.y)
    found = quick(model, made.X, made.y)
    assert made.support[0] not in found.stable()
    assert found.selection[made.support[0]] == 1
    assert set(made.support[1:]) <= set(found.stable())


def test_halves_of_one_class_choose_nothing():
    made = data(40, 5, n_atoms=2)
    y = np.zeros(40, dtype=int)
    y[:2] = 1
    model = SingleIndexClassifier(2).fit(made.X, y)
    assert quick(model, made.X, y).selection.sum() <= 5


# ---------------------------------------------------------------- kinds of models and data


def test_several_outputs_share_the_bound():
    made = data(200, 20, structure="rows", n_outputs=3, noise="gaussian", link="ramp")
    for structure in (None, RowSparse()):
        model = SingleIndexRegressor(3, structure=structure).fit(made.X, made.y)
        found = quick(model, made.X, made.y)
        assert found.selection.shape == (20, 3)
        assert found.rule().bound <= 1
        np.testing.assert_array_equal(found.stable(), made.support)
        assert set(found.effects().output) == {"output 0", "output 1", "output 2"}
        assert set(found.effects(output=1).output) == {"output 1"}
        with pytest.raises(ValueError, match="several outputs"):
            found.link_band([0.0])
        assert found.link_band([0.0], output=2)[0].shape == (1,)


def test_classes_have_effects_each():
    made = data(150, 6, n_atoms=2, noise="gaussian")
    y = np.array(["low", "middle", "high"])[np.searchsorted(np.quantile(made.y, (0.33, 0.66)), made.y)]
    model = SingleIndexClassifier().fit(made.X, y)
    found = quick(model, made.X, y)
    by_output = {name: e for name, e in zip(found.effects().output, found.effects().estimate, strict=True)}
    assert set(by_output) == {"class low", "class middle", "class high"}
    assert len(found.link_band([0.0, 1.0], output="low")[0]) == 2


def test_sparse_is_dense():
    made = data(150, 12, design="counts", density=0.4)
    model = SingleIndexClassifier(3).fit(made.X, made.y)
    one, two = (quick(model, X, made.y) for X in (sparse.csr_array(made.X), made.X.toarray()))
    np.testing.assert_array_equal(one.selection, two.selection)
    np.testing.assert_allclose(one.effects().estimate, two.effects().estimate, rtol=1e-6)


def test_frames_bring_their_names():
    pd = pytest.importorskip("pandas")
    made = data()
    X = pd.DataFrame(made.X, columns=[f"gene {j}" for j in range(20)])
    found = quick(SingleIndexClassifier(3).fit(X, made.y), X, made.y)
    assert set(found.effects().name[:3]) == {f"gene {j}" for j in made.support}
    frame = found.effects().to_frame()
    assert list(frame["estimate"]) == list(found.effects().estimate)
    assert "gene" in repr(found)


def test_rows_without_weight_are_absent():
    made = data(240)
    weight = np.r_[np.ones(200), np.zeros(40)]
    model = SingleIndexClassifier(3).fit(made.X[:200], made.y[:200])
    weighted = quick(model, made.X, made.y, sample_weight=weight)
    without = quick(model, made.X[:200], made.y[:200])
    np.testing.assert_allclose(weighted.selection, without.selection)
    np.testing.assert_allclose(weighted.effects().estimate, without.effects().estimate)


@pytest.mark.parametrize("estimator", [SingleIndexClassifierCV, SingleIndexRegressorCV])
def test_searches_are_asked_for_held_out_rows(estimator):
    made = data(120, 8, noise="binary")
    model = estimator(cv=3, scale_power=[1.0]).fit(made.X, made.y)
    before = model.coef_.copy()
    found = quick(model, made.X, made.y)
    index, y = found.link_rows()
    assert len(index) == len(y) == 120
    own = model.decision_function(made.X) if estimator is SingleIndexClassifierCV else model.index(made.X)
    assert np.corrcoef(index, own)[0, 1] > 0.9
    assert not np.allclose(index, own)
    np.testing.assert_array_equal(before, model.coef_)


def test_classes_that_are_one_problem_have_effects_but_no_curve():
    X, y = load_iris(return_X_y=True)
    model = SingleIndexClassifierCV(cv=3, scale_power=[1.0]).fit(X, y)
    assert model.coupled_
    found = quick(model, X, y)
    assert len(found.effects()) == 12
    with pytest.raises(ValueError, match="learned as one problem"):
        found.link_band([0.0], output=1)


def test_groups_reach_the_splitter():
    made = data(60, 5, n_atoms=2)
    groups = np.arange(60) % 6
    model = SingleIndexClassifierCV(cv=GroupKFold(3), scale_power=[1.0]).fit(made.X, made.y, groups=groups)
    found = quick(model, made.X, made.y, groups=groups)
    assert np.isfinite(found.link_band([0.0])).all()


# ---------------------------------------------------------------- effects, coefficients, band


def test_effects_are_those_of_the_truth():
    made = data(2000, 6, link="ramp")
    model = SingleIndexClassifier(3).fit(made.X, made.y)
    found = quick(model, made.X, made.y)
    effects = found.effects(0.99)
    half = made.coef[effects.feature] * made.X.std(axis=0)[effects.feature] / 2
    truth = np.mean(made.link(made.index[:, None] + half) - made.link(made.index[:, None] - half), axis=0)
    assert ((effects.low <= truth) & (truth <= effects.high)).all()
    assert (np.diff(np.abs(effects.estimate)) <= 0).all()
    assert effects.sign[:3].min() > 0.999
    true = made.coef[effects.feature] != 0
    np.testing.assert_allclose(effects.in_model[true], truth[true], atol=0.05)


@pytest.mark.parametrize("d", [12, 150])
def test_effects_of_groups_are_those_of_the_truth(d):
    rng, groups = np.random.default_rng(1), np.repeat(np.arange(d // 3), 3)
    w, covered = np.zeros(d), []
    w[:6] = np.repeat([1.0, -0.5], 3)
    for _ in range(10):
        X = rng.standard_normal((300, d)) + rng.standard_normal((300, 1))
        y = X @ w + rng.standard_normal(300)
        model = SingleIndexRegressor(2, structure=GroupSparse(groups)).fit(X, y)
        found = quick(model, X, y, n_resamples=4).group_effects()
        assert found.feature.tolist() == [0, 1]  # the largest first, and none that is not in use
        assert found.name[0] == "0: x0, x1, x2"
        true = [np.std(X[:, groups == g] @ w[groups == g]) for g in (0, 1)]
        covered += list((found.low <= true) & (true <= found.high))
    assert np.mean(covered) >= 0.75  # of twenty at 90 %


def test_groups_may_be_named(binary):
    made, _, found = binary
    first, rest = made.support[0], [j for j in range(20) if j not in made.support]
    table = found.group_effects({"one": [first], "nothing": rest})
    assert table.name == ["one"]  # the others have no weight
    single = found.effects().take(found.effects().feature == first)
    np.testing.assert_allclose(abs(single.in_model), table.in_model, rtol=1e-6)
    assert bool(table.stable[0])


def test_groups_are_asked_for(binary):
    _, _, found = binary
    with pytest.raises(ValueError, match="name some"):
        found.group_effects()
    with pytest.raises(ValueError, match="groups has 'nonsense'"):
        found.group_effects({"a": ["nonsense"]})
    with pytest.raises(ValueError, match="has no feature"):
        found.group_effects({"a": []})


def test_a_change_of_two_values_is_from_one_to_the_other():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 400) * 3.0, rng.standard_normal(400)])
    y = 2 * (X[:, 0] > 0) + X[:, 1] + 0.1 * rng.standard_normal(400)
    found = quick(SingleIndexRegressor(link="identity", alpha=0).fit(X, y), X, y)
    effects = found.effects()
    assert effects.change[0] == "0 to 3"
    assert effects.estimate[0] == pytest.approx(2, abs=0.05)
    assert effects.in_model[0] == pytest.approx(2, abs=0.1)
    unit = found.effects(units={"x1": 10}).take(
        [name == "x1" for name in found.effects(units={"x1": 10}).name]
    )
    assert unit.estimate[0] == pytest.approx(10, rel=0.05)
    with pytest.raises(ValueError, match="is no feature"):
        found.effects(units={"weight": 1})


def test_a_probability_changes_by_one_at_most(binary):
    _, _, found = binary
    effects = found.effects(units={j: 1e3 for j in range(20)})
    assert np.abs([effects.estimate, effects.low, effects.high]).max() <= 1


def test_coefficients_have_unit_length():
    made = data(2000, 6, link="ramp")
    found = quick(SingleIndexClassifier(3).fit(made.X, made.y), made.X, made.y)
    table = found.coefficients(0.99)
    truth = (made.coef / np.linalg.norm(made.coef))[table.feature]
    assert ((table.low <= truth) & (truth <= table.high)).all()
    assert np.linalg.norm(table.estimate) == pytest.approx(1, abs=0.05)


def test_coefficients_are_refused_where_they_are_not_borne_out():
    made = data(60, 20)
    found = quick(SingleIndexClassifier(3).fit(made.X, made.y), made.X, made.y)
    with pytest.raises(ValueError, match="5 rows for each feature"):
        found.coefficients()


def test_with_few_rows_effects_are_those_of_stable_features():
    made = data(100, 200, n_atoms=2)
    found = quick(SingleIndexClassifier(2).fit(made.X, made.y), made.X, made.y)
    effects = found.effects()
    assert set(effects.feature) == set(found.stable())
    assert len(effects) > 0
    assert (effects.low < effects.estimate).all()


def test_the_band_has_the_model_inside(binary):
    made, model, found = binary
    index = np.quantile(model.decision_function(made.X), np.linspace(0.05, 0.95, 19))
    low, high = found.link_band(index)
    assert np.mean((low <= model.link_(index)) & (model.link_(index) <= high)) > 0.7
    assert found.link_band(np.zeros((2, 3)))[0].shape == (2, 3)
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        found.link_band([0.0], level=90)


def test_equivariant_in_the_units_of_y():
    made = data(150, 8, noise="gaussian")
    tables = [
        quick(SingleIndexRegressor(3).fit(made.X, unit * made.y), made.X, unit * made.y) for unit in (1, 64)
    ]
    np.testing.assert_allclose(64 * tables[0].effects().low, tables[1].effects().low)
    index = np.linspace(-0.5, 0.5, 5)
    np.testing.assert_allclose(64 * tables[0].link_band(index)[1], tables[1].link_band(64 * index)[1])


# ---------------------------------------------------------------- evidence


def test_noise_is_no_evidence_and_signal_is(binary):
    made, _, found = binary
    assert found.evidence.p_value == 0.05
    assert repr(found.evidence).startswith("evidence")
    y = np.random.default_rng(1).permutation(made.y)
    noise = quick(SingleIndexClassifier(3).fit(made.X, y), made.X, y, n_permutations=19).evidence
    assert noise.p_value > 0.05
    assert repr(noise).startswith("no evidence")
    assert abs(np.mean(noise.reference)) < 0.1


# ---------------------------------------------------------------- errors, progress, plots


def test_says_what_to_do():
    made = data()
    model = SingleIndexClassifier(3).fit(made.X, made.y)
    with pytest.raises(TypeError, match="pass its last step"):
        resample(make_pipeline(StandardScaler(), model).fit(made.X, made.y), made.X, made.y)
    with pytest.raises(ValueError, match="19 at least"):
        resample(model, made.X, made.y, n_permutations=5)
    with pytest.raises(ValueError, match="rows that it was fitted to"):
        quick(model, made.X[:, :5], made.y)
    with pytest.raises(ValueError, match="20 rows"):
        quick(model, made.X[:10], made.y[:10])
    low_rank = SingleIndexClassifier(1, structure=LowRank((4, 5))).fit(made.X, made.y)
    with pytest.raises(ValueError, match="LowRank is none"):
        quick(low_rank, made.X, made.y)
    with pytest.raises(ValueError, match="Slisotron uses all"):
        quick(Slisotron().fit(made.X, made.y), made.X, made.y)


def test_a_bar_is_drawn_where_it_is_asked_for(capsys):
    made = data(60, 5)
    model = SingleIndexClassifier(3).fit(made.X, made.y)
    quick(model, made.X, made.y, n_resamples=4)
    assert capsys.readouterr().err == ""
    quick(model, made.X, made.y, n_resamples=4, verbose=1)
    assert "4/4 fits" in capsys.readouterr().err


def test_plots_show_the_features(binary):
    figure = pytest.importorskip("matplotlib.figure").Figure
    made, model, found = binary
    ax = plot_effects(found, top=4, ax=figure().subplots())
    assert len(ax.get_yticklabels()) == 4
    ax = plot_selection(found, top=6, ax=figure().subplots())
    assert {label.get_text() for label in ax.get_yticklabels()[:3]} == {f"x{j}" for j in made.support}
    ax = plot_link(model, made.X, made.y, resampled=found, ax=figure().subplots())
    assert "90% band" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_frame_needs_pandas(binary, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        binary[2].effects().to_frame()
