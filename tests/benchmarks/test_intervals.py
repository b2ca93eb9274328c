import numpy as np
import pytest

from benchmarks.exact_steps.command import write_report
from benchmarks.exact_steps.store import Line, Store
from benchmarks.intervals import evidence, prediction
from benchmarks.intervals.__main__ import HEAD, STUDIES


def test_rows_are_those_of_the_cell_and_the_seed():
    task = prediction.make("200 × 500, ρ .7, steps", 1)
    assert task["X"].shape == (200, 500)
    assert len(task["y_test"]) == prediction.N_TEST
    assert np.corrcoef(task["X"][:, 0], task["X"][:, 499])[0, 1] == pytest.approx(0.7, abs=0.12)
    np.testing.assert_array_equal(task["y"], prediction.make("200 × 500, ρ .7, steps", 1)["y"])


def test_noise_grows_with_the_index_where_it_is_to():
    even, uneven = (
        prediction.make(f"400 × 60, independent, {link}", 1) for link in ("clipped", "uneven noise")
    )
    assert np.std(uneven["y_test"] - even["y_test"]) > 0.05
    np.testing.assert_array_equal(even["X"], uneven["X"])


def test_coverage_and_width():
    task = {"y_test": np.arange(9.0), "index": np.arange(9.0)}
    interval = np.column_stack([np.zeros(9), np.full(9, 5.0)])
    found = prediction.figures_of(task, interval)
    assert found == {"coverage": 6 / 9, "width": 5.0, "coverage_low": 1.0, "coverage_high": 0.0}


def test_the_report_names_the_cells_that_miss(tmp_path):
    store = Store(tmp_path / "intervals.jsonl")
    good, bad = prediction.CELLS[:2]
    for cell, coverage in ((good, 0.9), (bad, 0.8)):
        figures = {"coverage": coverage, "width": 1.0, "coverage_low": 0.9, "coverage_high": 0.9}
        store.append(Line("prediction", cell, 0, prediction.OURS, "ours", figures, "abc"))
        tuning = figures | {"coverage": 0.1}
        store.append(Line("prediction", cell, 1000, prediction.OURS, "ours", tuning, "abc"))
    text = write_report(HEAD, STUDIES, store, 1000).read_text()
    assert "**missed**, 1 missed" in text
    assert f"- {bad}: 0.800" in text
    assert f"- {good}" not in text


def test_the_share_of_right_headlines():
    noise = {seed: {"evidence": float(seed == 0), "p_value": 0.5, "score": 0.5} for seed in range(20)}
    lines = "\n".join(evidence.section({"noise, classes": {"headline": noise}}))
    assert "| noise, classes | 20 | no evidence | 95.0% | ≥ 91%: held |" in lines
