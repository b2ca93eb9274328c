"""What is known of columns from blocks of rows is what is known of all rows at once."""

import numpy as np
import pandas as pd
import pytest

from singleindex.tables.columns import Choices, wants_of
from singleindex.tables.errors import TableError
from singleindex.tables.preparation import learn, prepare
from singleindex.tables.summaries import MixedColumns, Numbers, Summary, Words


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 1000
    return pd.DataFrame({
        "age": rng.integers(18, 90, n).astype(float),
        "dose": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
        "visit": rng.integers(1, 5, n),
        "city": rng.choice(["Köln", "Bonn", "Ulm", "Aachen"], n, p=[0.5, 0.3, 0.15, 0.05]),
        "sex": np.where(rng.random(n) < 0.05, None, rng.choice(["f", "m"], n)),
        "smokes": rng.random(n) < 0.3,
        "row": np.arange(n),
        "case id": rng.permutation(n) * 7,
        "remark": [f"text {i}" for i in range(n)],
        "when": [f"{1 + i % 28:02d}.{1 + i % 12:02d}.2020" for i in range(n)],
        "constant": "x",
        "empty": np.nan,
        "late": [np.nan] * 900 + list(rng.normal(size=100)),
    })  # fmt: skip


def from_blocks(frame, choices, length, impute):
    blocks = [frame.iloc[start : start + length] for start in range(0, len(frame), length)]
    merged = Summary.of(blocks[0], wants_of(choices))
    for block in blocks[1:]:
        merged = merged.merge(Summary.of(block, wants_of(choices)))
    return learn(merged, choices, impute)


@pytest.mark.parametrize("length", [150, 999])
@pytest.mark.parametrize("impute", ["median", "mean", "most-frequent"])
@pytest.mark.parametrize(
    "choices", [Choices(), Choices(dates="days", categorical=("visit",), keep=("row",), max_categories=3)]
)
def test_blocks_teach_the_same_preparation(frame, length, impute, choices):
    whole, merged = prepare(frame, choices, impute), from_blocks(frame, choices, length, impute)
    assert list(whole.dropped) == list(merged.dropped)
    assert (whole.columns, whole.kinds, whole.categories) == (merged.columns, merged.kinds, merged.categories)
    assert (whole.date_orders, whole.ranges, whole.gaps) == (merged.date_orders, merged.ranges, merged.gaps)
    assert [x if isinstance(x, str) else pytest.approx(x, rel=1e-12) for x in whole.fills] == merged.fills


def test_gaps_and_infinite_values_of_blocks_are_refused(frame):
    choices = Choices(drop=("empty", "late"))
    with pytest.raises(TableError, match=r"values are missing in 2 columns of 1000 rows: 'dose'"):
        from_blocks(frame, choices, 300, None)
    with pytest.raises(TableError, match="'age' holds 2 infinite values"):
        from_blocks(frame.assign(age=frame["age"].where(frame.index > 1, np.inf)), choices, 300, "median")


def test_dates_that_cannot_be_read_are_told_of_blocks(frame):
    wrong = frame.assign(when=[*frame["when"][:-1], "soon"])
    with pytest.raises(
        TableError, match="'when' holds 'soon', which is not a date like the others, day first"
    ):
        from_blocks(wrong, Choices(dates="days"), 300, "median")


def test_numbers_in_some_blocks_and_text_in_others_are_noticed(frame):
    with pytest.raises(MixedColumns) as caught:
        Summary.of(frame[["age", "dose"]]).merge(Summary.of(frame[["age", "dose"]].assign(age="old")))
    assert caught.value.names == {"age"}


def test_a_median_of_more_numbers_than_are_kept_is_near():
    values = np.random.default_rng(0).normal(size=200_000)
    merged = Numbers(values[:1000])
    for part in np.array_split(values[1000:], 50):
        merged = merged.merge(Numbers(part), 4096)
    assert len(merged.values) <= 4096
    assert merged.n == 200_000
    assert abs((values < merged.median()).mean() - 0.5) < 1e-3
    assert merged.ends == (values.min(), values.max())
    assert merged.mean() == pytest.approx(values.mean(), rel=1e-9)
    assert merged.are_different()
    assert not merged.merge(Numbers(values[:5000]), 4096).are_different()


def test_no_more_words_are_kept_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr("singleindex.tables.summaries.MOST_WORDS", MOST_WORDS := 1000)
    words = Words.of(pd.Series(["often"] * 10))
    for start in range(0, 3 * MOST_WORDS, MOST_WORDS // 2):
        new = [f"w{i}" for i in range(start, start + MOST_WORDS // 2)]
        words = words.merge(Words.of(pd.Series([*new, "often"])))
    assert not words.is_complete
    assert len(words.counts) == MOST_WORDS
    assert words.by_frequency()[0] == "often"
    assert words.counts["often"] == 16


def test_categories_of_numbers_are_written_alike_whatever_else_there_is():
    frame = pd.DataFrame({"stage": [1, 1.5, 2, 2.5] * 5})
    preparation = prepare(frame, Choices(categorical=("stage",)), None)
    said = []
    found = preparation.apply(pd.DataFrame({"stage": [1.0, 2.0]}), impute=False, say=said.append)
    assert not said
    np.testing.assert_array_equal(found.to_numpy(), [[1, 0, 0, 0], [0, 0, 1, 0]])
