"""The list of what is lost has what is lost, and nothing else."""

from benchmarks.exact_steps.store import Line
from docs import losses
from experiments.analyse import Results
from experiments.units import Record, Unit

STUDY = losses.Study("Made up", "none.jsonl", "cells", "singleindex", losses.MEASURES)


def lines_of(method, family, figures):
    return [
        Line("cells", "Gaussian, cubic", seed, method, family, one, "abc") for seed, one in enumerate(figures)
    ]


def lost(ours, theirs):
    lines = lines_of("singleindex", "ours", ours) + lines_of("L1", "L1", theirs)
    return [loss for loss, is_one in losses.losses_of_study(lines, STUDY) if is_one]


def test_less_error_is_better_and_more_auc_is():
    ours = [{"rmse": 0.20 + k / 1000, "auc": 0.7 + k / 1000} for k in range(4)]
    theirs = [{"rmse": 0.10 + k / 900, "auc": 0.6 + k / 900} for k in range(4)]
    assert [loss.figure for loss in lost(ours, theirs)] == ["RMSE"]
    assert [loss.figure for loss in lost(theirs, ours)] == ["AUC"]


def test_what_is_within_two_errors_is_not_lost():
    noisy = [{"rmse": value} for value in (0.1, 0.3, 0.1, 0.3)]
    steady = [{"rmse": 0.19}] * 4
    assert lost(noisy, steady) == []


def test_one_draw_tells_nothing():
    assert lost([{"rmse": 0.2}], [{"rmse": 0.1}]) == []


def test_versions_of_ours_are_no_rivals():
    lines = lines_of("singleindex", "ours", [{"rmse": 0.2}] * 3)
    lines += lines_of("fixed link", "ablation", [{"rmse": 0.1}] * 3)
    assert list(losses.losses_of_study(lines, STUDY)) == []


def test_a_loss_has_both_figures_and_the_reason():
    (loss,) = lost(*([{"rmse": v + k / 1000} for k in range(3)] for v in (0.2, 0.1)))
    text = "\n".join(losses.section("Made up", [(loss, True)]))
    assert "1 of 1 comparisons are lost" in text
    assert "| 0.201 | 0.101 |" in text
    assert losses.REASONS["cubic"] in text


def test_tables_of_the_paper_are_judged_by_paired_draws():
    records = [
        Record(Unit("table1", "page", "tfidf", method, seed), {"auc": base + seed / 100}, {}, "run")
        for method, base in (("CSI", 0.90), ("SLNN", 0.91), ("SLR", 0.80), ("CSI as printed", 0.95))
        for seed in range(3)
    ]
    # The spread over seeds is the same for all, so that differences have no error.
    table1 = next(study for study in losses.PAPER if study.name == "table1")
    judged = dict((loss.rival, is_one) for loss, is_one in losses.losses_of_paper(Results(records), table1))
    assert judged == {"SLNN": True, "SLR": False}


def test_the_stored_results_are_listed():
    assert "comparisons are lost" in losses.losses_text()
