"""From records to a report: means, comparisons and verdicts follow the figures; documents are well made."""

import itertools
import math
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from benchmarks import charts
from experiments import claims, paper_figures, render, table1
from experiments.analyse import Mean, Results, fit_inverse, share_falling, standing
from experiments.document import as_markdown
from experiments.figure import INDEPENDENT
from experiments.limits import limits
from experiments.sections import document
from experiments.units import Record, Store, Unit

SVG = "{http://www.w3.org/2000/svg}"
RUN = {"run": {"date": "2026-01-01", "python": "3", "machine": "m", "packages": {"singleindex": "0"}}}


def text_records(levels, figure="auc", n_seeds=3, dataset="ath-rel", variant="tfidf"):
    """Records whose mean is the level of the method, with a small spread over seeds."""
    return [
        Record(
            Unit("table1", dataset, variant, method, seed), {figure: level + 0.001 * (seed - 1)}, run="run"
        )
        for method, level in levels.items()
        for seed in range(n_seeds)
    ]


def figure_records(curves):
    """Records of the figure, one per seed, with the same curves for every method and dimension."""
    return [
        Record(Unit("figure", f"d = {d}", INDEPENDENT, method, seed), {
            "distance": curve, "direction": [value + d / 1000 for value in curve],
        })
        for d in (400, 900)
        for method in ("CSI as printed", "CSI corrected")
        for seed, curve in enumerate(curves)
    ]  # fmt: skip


# ---------------------------------------------------------------- figures


def test_means_and_standard_errors():
    mean = Mean({0: 1.0, 1: 2.0, 2: 6.0})
    assert mean.value == 3
    assert mean.error == pytest.approx(np.std([1, 2, 6], ddof=1) / math.sqrt(3))
    assert math.isnan(Mean({0: 1.0}).error)
    assert mean.difference(Mean({1: 1.0, 2: 1.0, 3: 9.0})).values == {1: 1.0, 2: 5.0}


@pytest.mark.parametrize(
    ("ours", "best", "joint"),
    [((0.91, 0.81, 0.71), True, True), ((0.9, 0.81, 0.68), False, True), ((0.89, 0.79, 0.69), False, False)],
)
def test_standing_is_told_by_paired_differences(ours, best, joint):
    means = {"CSI": Mean(dict(enumerate(ours))), "SLR": Mean({0: 0.9, 1: 0.8, 2: 0.7})}
    place = standing(means, "CSI")
    assert (place.is_best, place.is_joint_best) == (best, joint)
    negated = {m: Mean({s: -v for s, v in mean.values.items()}) for m, mean in means.items()}
    lower = standing(negated, "CSI", larger_is_better=False)
    assert (lower.is_best, lower.is_joint_best) == (best, joint)


def test_falling_curves_and_the_fit_of_one_over_t():
    assert share_falling([[3, 2, 1], [3, 2, 2.5]]) == (0.5, 0.25)
    t = np.arange(1, 40)
    slope, level, r2 = fit_inverse(5 / t + 2)
    assert (slope, level, r2) == pytest.approx((5, 2, 1))
    assert fit_inverse(np.log(t))[2] < 0.9


# ---------------------------------------------------------------- verdicts


def test_verdicts_follow_the_figures():
    good = Results(
        text_records({"CSI": 0.95, "SLR": 0.9, "SQH": 0.8, "SLS": 0.7, "SLNN": 0.94, "Slisotron": 0.85})
    )
    bad = Results(
        text_records({"CSI": 0.75, "SLR": 0.9, "SQH": 0.8, "SLS": 0.8, "SLNN": 0.94, "Slisotron": 0.85})
    )
    for claim in (
        claims.beats_sparse_linear, claims.beats_slisotron, claims.level_with_network, claims.best_of_columns,
        claims.reaches_printed_figures,
    ):  # fmt: skip
        assert claim(good).verdict == claims.HOLDS
        assert claim(bad).verdict == claims.FAILS


def test_verdicts_on_accuracy_follow_the_margin():
    wide = Results(text_records({"CSI": 0.95, "SLR": 0.9}, "accuracy"))
    narrow = Results(text_records({"CSI": 0.91, "SLR": 0.9}, "accuracy"))
    assert claims.accuracy_margin(wide).verdict == claims.HOLDS
    assert claims.accuracy_margin(narrow).verdict == claims.FAILS


def test_verdicts_on_the_figure_follow_the_curves():
    falling = Results(figure_records([[3.0, 2.0, 1.5, 1.4]] * 2))
    rising = Results(figure_records([[1.0, 2.0, 3.0, 4.0]] * 2))
    assert claims.falls_monotonically(falling).verdict == claims.HOLDS
    assert claims.falls_monotonically(rising).verdict == claims.FAILS
    assert claims.harder_in_higher_dimension(falling).verdict == claims.HOLDS


def test_verdicts_on_completion_groups_and_cost():
    def table3(ours, theirs):
        levels = {"CSI": ours, "LS with effects": theirs, "null": 1.0}
        return Results([
            Record(Unit("table3", "Epinions", "v", m, 0), {"mse": v}) for m, v in levels.items()
        ])  # fmt: skip

    assert claims.beats_least_squares_completion(table3(0.8, 0.9)).verdict == claims.HOLDS
    assert claims.beats_least_squares_completion(table3(0.95, 0.9)).verdict == claims.FAILS

    def groups(ours):
        levels = {"CSI (5 groups)": ours, "Linear": 0.5, "Logistic": 0.6}
        return Results([
            Record(Unit("table2", "atp7d", "v", m, 0), {"mse": v}) for m, v in levels.items()
        ])  # fmt: skip

    assert claims.beats_group_baselines(groups(0.4))[0].verdict == claims.HOLDS
    assert claims.beats_group_baselines(groups(0.55))[0].verdict == claims.FAILS

    def cost(network):
        levels = {"CSI": 2.0, "SLNN": network}
        return Results([
            Record(Unit("cost", "page", "tfidf", m, 0), {"seconds": v}) for m, v in levels.items()
        ])  # fmt: skip

    assert claims.costs_less_than_network(cost(20.0)).verdict == claims.HOLDS
    assert claims.costs_less_than_network(cost(1.0)).verdict == claims.FAILS


def test_paired_differences_are_shown_and_judged():
    noisy = {"CSI": (0.80, 0.90, 0.70), "LS with effects": (0.81, 0.92, 0.71), "null": (1.0, 1.0, 1.0)}
    records = [
        Record(Unit("table3", "Epinions", "v", method, seed), {"mse": value})
        for method, values in noisy.items()
        for seed, value in enumerate(values)
    ]
    results = Results(records)
    assert "beyond the paired error in 1;" in claims.beats_least_squares_completion(results).found
    text = as_markdown("t", document(results, {}))
    assert "| Epinions | v | **-0.0133 ± 0.0033** |" in text


def test_fewer_features_are_compared_at_each_number():
    records = [
        Record(
            Unit("features", "link", "tfidf", method, seed),
            {"auc at 5": level + 0.01 * seed, "features at 5": 5},
        )
        for method, level in (("CSI", 0.8), ("SLR", 0.7))
        for seed in range(2)
    ]
    text = as_markdown("t", document(Results(records), {}))
    assert "in 1 of 1 cells, and below it by more in 0." in text
    assert "| link | 5 | 0.8050 ± 0.0050 (5) | 0.7050 ± 0.0050 (5) |" in text


def test_nothing_run_is_nothing_claimed():
    empty = Results([])
    assert {claim.verdict for claim in claims.all_claims(empty)} == {claims.UNKNOWN}
    text = as_markdown("t", document(empty, {}))
    assert "Nothing has been run yet." in text
    assert text.count("Not run.") > 5


# ---------------------------------------------------------------- the report


def test_tables_show_ours_the_papers_and_the_difference():
    results = Results(text_records({"CSI": 0.9, "SLR": 0.8}))
    text = as_markdown("t", document(results, RUN))
    assert f"0.900 / {paper_figures.auc('ath-rel', 'CSI'):.3f} / +0.021" in text
    assert "| **0.900 ± 0.001** | best |" in text
    assert "Run of 2026-01-01" in text


def test_missing_data_are_in_the_report_with_the_loaders_words():
    message = "The data file 20news/x is missing (…). It is published at http://y. Put it at z."
    missing = Record(Unit("table1", "ath-rel", "tfidf", "CSI", 0), missing=message)
    text = as_markdown("t", limits(Results([missing])))
    assert f"table1: ath-rel: {message}" in text


def test_mac_win_is_judged_by_the_figures():
    high = Results(text_records({"CSI": 0.99, "SLR": 0.98}, dataset="mac-win"))
    low = Results(text_records({"CSI": 0.65, "SLR": 0.64}, dataset="mac-win"))
    assert "cannot come from these data" in as_markdown("t", limits(high))
    assert "cannot come from these data" not in as_markdown("t", limits(low))


def test_drawings_are_well_formed():
    rows = {"a": {"x": (0.5, 0.1), "y": (20.0, 0.0)}, "b": {"x": (0.7, 0.8)}}
    drawn = ElementTree.fromstring(charts.dot_rows(rows, ["x", "y"], "label"))
    assert len(drawn.findall(f"{SVG}circle")) == 2 + 3
    band = charts.Band(np.array([3.0, 2.0]), np.array([2.5, 1.5]), np.array([3.5, 2.5]), 0)
    drawn = ElementTree.fromstring(charts.band_panels([("one", [band])] * 3, ["c"], "label"))
    assert len(drawn.findall(f"{SVG}polygon")) == 3


def test_axes_put_values_where_they_belong():
    axis = charts.Axis(0, 10, 100, 200)
    assert [axis(v) for v in (0, 5, 10)] == [100, 150, 200]
    assert axis.ticks == [0, 2, 4, 6, 8, 10]
    log_axis = charts.LogAxis([0.3, 40.0], 100, 400, room=30)
    assert (log_axis.low, log_axis.high) == (0.2, 50)
    assert [log_axis(v) for v in (0.2, math.sqrt(0.2 * 50), 50)] == pytest.approx([100, 250, 400])
    assert all(log_axis(b) - log_axis(a) >= 30 for a, b in itertools.pairwise(log_axis.ticks))


def test_a_stored_run_is_read_and_written(tmp_path):
    Store(tmp_path).replace(text_records({"CSI": 0.9, "SLR": 0.8}))
    (tmp_path / "runs.json").write_text('{"run": ' + str(RUN["run"]).replace("'", '"') + "}")
    text, picture = render.write(tmp_path, tmp_path / "out")
    assert text.read_text() == render.as_files(tmp_path)["RESULTS.md"]
    assert f"({picture.relative_to(tmp_path / 'out')})" in text.read_text()


def test_the_papers_tables_are_whole():
    assert set(paper_figures.AUC) == set(table1.DATASETS)
    assert {len(row) for row in paper_figures.AUC.values()} == {len(paper_figures.COLUMNS)}
    assert paper_figures.auc("link", "L2-logistic") is None
    assert paper_figures.auc("link", "CSI as printed") == paper_figures.auc("link", "CSI") == 0.981
