"""From records to a report: means, comparisons and verdicts follow the figures; documents are well made."""

import itertools
import math
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from benchmarks import charts
from experiments import claims, figure, paper_figures, render, table1
from experiments.analyse import Mean, Results, fit_inverse, share_falling, standing
from experiments.units import Record, Store, Unit

SVG = "{http://www.w3.org/2000/svg}"
RUN = {"run": {"date": "2026-01-01", "python": "3", "machine": "m", "packages": {}, "commit": "abc"}}
TEXT = ("table1", "ath-rel", "tfidf")
PRICES = ("table2", "atp7d", "two targets")
FLAGS = ("table2", "flags", "19 columns, random splits")
COMPLETION = ("table3", "Epinions", "like is above 3")


def results_of(place, name, levels):
    """Results whose means are the levels of the methods, with a small spread over seeds."""
    return Results(
        Record(Unit(*place, method, seed), {name: level + 0.001 * (seed - 1)}, run="run")
        for method, level in levels.items()
        for seed in range(3)
    )


# ---------------------------------------------------------------- figures


def test_means_and_standard_errors():
    mean = Mean({0: 1.0, 1: 2.0, 2: 6.0})
    assert mean.value == 3
    assert mean.error == pytest.approx(np.std([1, 2, 6], ddof=1) / math.sqrt(3))
    assert math.isnan(Mean({0: 1.0}).error)
    assert mean.difference(Mean({1: 1.0, 2: 1.0, 3: 9.0})).values == {1: 1.0, 2: 5.0}


@pytest.mark.parametrize(
    ("ours", "kind"),
    [((0.91, 0.81, 0.71), "best"), ((0.9, 0.81, 0.68), "joint"), ((0.89, 0.79, 0.69), "behind")],
)
def test_standing_is_told_by_paired_differences(ours, kind):
    means = {"CSI": Mean(dict(enumerate(ours))), "SLR": Mean({0: 0.9, 1: 0.8, 2: 0.7})}
    assert standing(means, "CSI").kind == kind


def test_falling_curves_and_the_fit_of_one_over_t():
    assert share_falling([[3, 2, 1], [3, 2, 2.5]]) == (0.5, 0.25)
    t = np.arange(1, 40)
    slope, level, r2 = fit_inverse(5 / t + 2)
    assert (slope, level, r2) == pytest.approx((5, 2, 1))
    assert fit_inverse(np.log(t))[2] < 0.9


# ---------------------------------------------------------------- verdicts

RIVALS = {"SLR": 0.9, "SQH": 0.8, "SLS": 0.8, "SLNN": 0.94, "Slisotron": 0.85}
LS = {"LS with effects": 0.9, "null": 1.0}
BASELINES = {"Linear": 0.5, "Logistic": 0.6}


@pytest.mark.parametrize(
    ("claim", "place", "name", "rivals", "ours", "holds", "fails"),
    [
        *((claim, TEXT, "auc", RIVALS, "CSI", 0.95, 0.75) for claim in (
            claims.sparse_linear, claims.slisotron, claims.network, claims.six_columns, claims.printed_auc,
        )),
        (claims.accuracy, TEXT, "accuracy", {"SLR": 0.9}, "CSI", 0.95, 0.91),
        (claims.completion, COMPLETION, "mse", LS, "CSI", 0.8, 0.95),
        (claims.group_prices, PRICES, "mse", BASELINES, "CSI (5 groups)", 0.4, 0.55),
        (claims.group_flags, FLAGS, "f1_micro", BASELINES, "CSI (chosen groups)", 0.61, 0.55),
        (claims.network_cost, ("cost", "page", "tfidf"), "seconds", {"SLNN": 20.0}, "CSI", 2.0, 30.0),
    ],
)  # fmt: skip
def test_verdicts_follow_the_figures(claim, place, name, rivals, ours, holds, fails):
    assert claim(results_of(place, name, rivals | {ours: holds}))["verdict"] == claims.HOLDS
    assert claim(results_of(place, name, rivals | {ours: fails}))["verdict"] == claims.FAILS


@pytest.mark.parametrize(
    ("curve", "verdict"), [([3.0, 2.0, 1.5, 1.4], claims.HOLDS), ([1.0, 2.0, 3.0, 4.0], claims.FAILS)]
)
def test_verdicts_on_the_figure_follow_the_curves(curve, verdict):
    results = Results(
        Record(Unit("figure", f"d = {d}", figure.INDEPENDENT, method, seed), {
            "distance": curve, "direction": [value + d / 1000 for value in curve],
        })
        for d in (400, 900)
        for method in ("CSI as printed", "CSI corrected")
        for seed in range(2)
    )  # fmt: skip
    assert claims.monotone(results)["verdict"] == claims.one_over_t(results)["verdict"] == verdict
    assert claims.dimension(results)["verdict"] == claims.HOLDS


@pytest.mark.parametrize(("one_index", "lacking"), [(0.945, False), (0.91, True)])
def test_what_the_hidden_layer_adds_is_told_by_a_network_without_it(one_index, lacking):
    means = {"CSI": 0.9, "SLNN": 0.95, claims.ONE_INDEX: one_index}
    told = claims.hidden_layer(results_of(TEXT, "auc", means))
    assert ("lacks" in told["verdict"]) == lacking
    assert "of +0.0500" in told["leads"]
    assert claims.hidden_layer(results_of(TEXT, "auc", means | {"CSI": 0.96})) is None


def test_half_of_the_cases_hold_in_part():
    assert [claims.graded(cases) for cases in ([True, False], [True, False, False])] == [
        claims.IN_PART,
        claims.FAILS,
    ]


def test_paired_differences_are_shown_and_judged():
    noisy = {"CSI": (0.80, 0.90, 0.70), "LS with effects": (0.81, 0.92, 0.71), "null": (1.0, 1.0, 1.0)}
    results = Results(
        Record(Unit(*COMPLETION, method, seed), {"mse": value})
        for method, values in noisy.items()
        for seed, value in enumerate(values)
    )
    assert claims.completion(results)["clear"] == 1
    assert "| Epinions | like is above 3 | **-0.0133 ± 0.0033** |" in render.as_text(results, {})


def test_fewer_features_are_compared_at_each_number():
    text = render.as_text(
        Results(
            Record(Unit("features", "link", "tfidf", method, seed), {
                "auc at 5": level + 0.01 * seed, "features at 5": 5,
            })
            for method, level in (("CSI", 0.8), ("SLR", 0.7))
            for seed in range(2)
        ), {},
    )  # fmt: skip
    assert "in 1 of 1 cells, and below it by more in 0." in text
    assert "| link | 5 | 0.8050 ± 0.0050 (5) | 0.7050 ± 0.0050 (5) |" in text


# ---------------------------------------------------------------- the report


def test_nothing_run_is_nothing_claimed():
    text = render.as_text(Results([]), {})
    assert text.count("| **cannot be told** | Not run. |") == 13
    assert text.count("\n\nNot run.\n") == 1 + 6
    assert "{" not in text


def test_tables_show_ours_the_papers_and_the_difference():
    text = render.as_text(results_of(TEXT, "auc", {"CSI": 0.9, "SLR": 0.8}), RUN)
    assert f"0.900 / {paper_figures.auc('ath-rel', 'CSI'):.3f} / +0.021" in text
    assert "| **0.900 ± 0.001** | best |" in text
    assert "Run of 2026-01-01, commit abc" in text


def test_missing_data_are_in_the_report_with_the_loaders_words():
    message = "The data file 20news/x is missing (…). It is published at http://y. Put it at z."
    missing = Record(Unit(*TEXT, "CSI", 0), missing=message)
    assert f"- table1: ath-rel: {message}" in render.as_text(Results([missing]), {})


@pytest.mark.parametrize(("level", "told"), [(0.98, True), (0.64, False)])
def test_mac_win_is_judged_by_the_figures(level, told):
    results = results_of(("table1", "mac-win", "tfidf"), "auc", {"CSI": 0.99, "SLR": level})
    assert ("cannot come from these data" in render.as_text(results, {})) == told


def test_drawings_are_well_formed():
    rows = {"a": {"x": (0.5, 0.1), "y": (20.0, 0.0)}, "b": {"x": (0.7, 0.8)}}
    drawn = ElementTree.fromstring(charts.dot_rows(rows, ["x", "y"], "label"))
    assert len(drawn.findall(f"{SVG}circle")) == 2 + 3
    band = charts.Band(np.array([3.0, 2.0]), np.array([2.5, 1.5]), np.array([3.5, 2.5]), 0)
    drawn = ElementTree.fromstring(charts.band_panels([("one", [band])] * 3, ["c"], "label"))
    assert len(drawn.findall(f"{SVG}polygon")) == 3
    axis = charts.Axis(0, 10, 100, 200)
    assert [axis(v) for v in (0, 5, 10)] == [100, 150, 200]
    assert axis.ticks == [0, 2, 4, 6, 8, 10]
    log_axis = charts.LogAxis([0.3, 40.0], 100, 400, room=30)
    assert (log_axis.low, log_axis.high) == (0.2, 50)
    assert [log_axis(v) for v in (0.2, math.sqrt(0.2 * 50), 50)] == pytest.approx([100, 250, 400])
    assert all(log_axis(b) - log_axis(a) >= 30 for a, b in itertools.pairwise(log_axis.ticks))


def test_a_stored_run_is_read_and_written(tmp_path):
    results = results_of(TEXT, "auc", {"CSI": 0.9, "SLR": 0.8})
    Store(tmp_path).replace(results.records, RUN)
    text, picture = render.write(tmp_path, tmp_path / "out")
    assert text.read_text() == render.as_text(results, RUN)
    assert f"({picture.relative_to(tmp_path / 'out')})" in text.read_text()


def test_the_papers_tables_are_whole():
    assert set(paper_figures.AUC) == {dataset for dataset, _ in table1.ROWS}
    assert {len(row) for row in paper_figures.AUC.values()} == {len(paper_figures.COLUMNS)}
    assert paper_figures.auc("link", "L2-logistic") is None
    assert paper_figures.auc("link", "CSI as printed") == paper_figures.auc("link", "CSI") == 0.981
