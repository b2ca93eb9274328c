"""Numbers and words as people write them, on the terminal and on the page."""

import re

import numpy as np
import pandas as pd
import pytest

from singleindex.inspection._report.svg import short, unit_of
from singleindex.tables.numbers import as_written, signed

SCIENTIFIC = re.compile(r"\d[eE][-+]?\d")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (181_300.0, "181,300"), (1_234_567.8, "1,234,568"),
        (9999.6, "10,000"), (1234.5, "1,234"), (0.99999, "1"),
        (0.5, "0.5"), (-0.000_024_03, "-0.00002403"), (12.0, "12"), (0, "0"), (3.14159, "3.142"),
        (2.5e-9, "2.5 × 10⁻⁹"), (1e20, "1 × 10²⁰"), (float("nan"), "nan"), (float("inf"), "inf"),
    ],
)  # fmt: skip
def test_numbers_as_people_write_them(value, text):
    assert as_written(value) == text
    assert short(value) == text.replace("-", "−")
    assert signed(value).lstrip("+") == text


@pytest.mark.parametrize(
    ("ticks", "unit", "words"),
    [
        ([0, 5000], 1, ""), ([0, 200_000, 400_000], 1e3, " (thousands)"), ([-2e6, 2e6], 1e6, " (millions)"),
        ([0.1, 0.5], 1, ""), ([0, 2e-5], 1e-6, " (millionths)"), ([0.0, 0.0], 1, ""),
    ],
)  # fmt: skip
def test_ticks_are_short(ticks, unit, words):
    found, said = unit_of(np.array(ticks, dtype=float))
    assert (found, said) == (unit, words)
    assert all(len(short(tick / found)) <= 6 for tick in ticks)


@pytest.fixture
def prices_csv(tmp_path):
    rng = np.random.default_rng(0)
    area, rooms, tax = rng.uniform(40, 200, 150), rng.integers(1, 7, 150), rng.uniform(0, 1e6, 150).round()
    price = 181_300 + 2_500 * np.maximum(area - 90, 0) + 0.02 * tax + 9_000 * rng.standard_normal(150)
    frame = pd.DataFrame({"area": area.round(1), "rooms": rooms, "tax": tax, "price": price.round()})
    frame.to_csv(tmp_path / "prices.csv", index=False)
    return tmp_path / "prices.csv"


def test_terminal_and_page_have_neither_exponents_nor_jargon(cli, prices_csv, tmp_path):
    options = ["-t", "price", "--n-atoms", "2", "--folds", "3", "--holdout", "0.3", "--report", "r.html"]
    code, out, _ = cli("fit", prices_csv, *options)
    assert code == 0
    assert not SCIENTIFIC.search(out)
    assert re.search(r"RMSE +\d+,\d{3} ", out)
    page = (tmp_path / "r.html").read_text()
    seen = re.sub(
        r"<details>.*?</details>|<style>.*?</style>|<script.*?</script>|<pre.*?</pre>",
        "",
        page,
        flags=re.DOTALL,
    )
    words = re.sub(r"<[^>]*>", " ", seen)
    assert not SCIENTIFIC.search(words)
    assert re.search(r"\d{3},\d{3}", words)
    for term in ("atoms", "iteration", "column scale", "thresholding", "alpha", "estimator"):
        assert term not in words, term
    assert "column scale" in page
    assert "scale_power" not in out
    assert "scale_power" in cli("inspect", "model.sim", "--solver")[1]
