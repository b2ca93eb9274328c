"""The page of the benchmarks: nothing of a result file is left out. Figures are made up, see conftest.py."""

import re

import pytest

from benchmarks import pages
from benchmarks.side_by_side import page

SPARSE, STEPS = "sparse-300x40", "steps-900"


def section(results, title):
    """Return the text of one part of the page."""
    text = "\n".join(page.as_lines(results))
    level = title.split()[0]
    return re.split(rf"\n#{{1,{len(level)}}} ", text.split(f"{title}\n")[1])[0]


def cells(text):
    """Return the cells of a table, without head and rule."""
    table = [line.strip("| ").split(" | ") for line in text.split("\n") if line.startswith("|")]
    return table[2:]


def row_of(results, problem, solver):
    return next(r for r in results["rows"] if (r["problem"], r["solver"]) == (problem, solver))


def test_every_row_is_in_the_table_of_its_problem(results):
    table = cells(section(results, f"### {SPARSE}"))
    named = {row[0].strip("*"): row for row in table}
    assert list(named) == [
        "quick-peer", "singleindex", "singleindex two-pass", "good-peer", "slow-peer", "late-peer",
    ]  # fmt: skip
    assert [named[who][2] for who in ("quick-peer", "singleindex", "slow-peer")] == ["0.500", "1.00", "20.0"]
    assert (named["singleindex"][1], named["singleindex"][6]) == ("0.100", "0.0980–0.102")
    assert named["singleindex"][7] == "2.0"  # 6 MB for data of 3 MB
    assert named["good-peer"][7] == page.NOTHING
    assert named["quick-peer"][3:6] == ["0.8500", "0.1400", "1.0e-02"]
    assert named["slow-peer"][3:6] == ["0.9005", "0.0995", page.NOTHING]
    assert named["late-peer"][1:8] == ["failed", *[page.NOTHING] * 6]
    assert len(cells(section(results, f"### {STEPS}"))) == 2


def test_settings_are_told_on_one_line(results):
    assert section(results, f"### {SPARSE}").split("\n")[-2] == (
        "Settings: quick-peer `tol=0.001, penalty=0.01235`; singleindex `size=10`; the others their defaults."
    )
    assert "Settings: defaults." in section(results, f"### {STEPS}")


def test_every_failure_is_named_with_its_reason(results):
    failures = section(results, "## What did not run")
    assert "Environment old: `no wheel for this Python | from source: 'gcc' failed`" in failures
    assert f"late-peer on {SPARSE}: `timed out after 60 s`" in failures
    row_of(results, SPARSE, "late-peer").update(error=None, seconds=[1.0])
    results["environments"].pop()
    assert section(results, "## What did not run").strip() == "Everything ran."


# ---------------------------------------------------------------- where it does not win


def losses(results):
    return cells(section(results, "## Where it does not win"))


def test_who_is_faster_or_better_is_listed_and_nobody_else(results):
    assert losses(results) == [
        [SPARSE, "quick-peer", "singleindex", "time", "AUC 0.8500, Brier 0.1400, suboptimality 1.0e-02",
         "AUC 0.9000, Brier 0.1000", "0.500"],
        [SPARSE, "good-peer", "singleindex", "AUC", "AUC 0.9200, Brier 0.0995", "AUC 0.9000, Brier 0.1000",
         "4.00"],
    ]  # fmt: skip
    assert "Of 4 comparisons" in "\n".join(page.as_lines(results))
    assert "faster in 1, and its answer was better in 1:" in "\n".join(page.as_lines(results))


@pytest.mark.parametrize(
    ("change", "listed"),
    [
        ({"seconds": [0.101], "quality": {}}, None),
        ({"seconds": [0.099], "quality": {}}, "time"),
        ({"seconds": [0.099], "quality": {}, "error": "a wrong shape"}, None),
        ({"quality": {"auc": 0.9009}}, None),
        ({"quality": {"auc": 0.9011}}, "AUC"),
        ({"quality": {"brier": 0.0991}}, None),
        ({"quality": {"brier": 0.0989}}, "Brier"),
        ({"quality": {"features": 1.0, "suboptimality": 0.0}}, None),
    ],
)
def test_any_win_of_a_peer_is_listed(results, change, listed):
    row_of(results, SPARSE, "singleindex")["quality"]["features"] = 10.0
    row_of(results, SPARSE, "slow-peer").update(change)
    assert [row[3] for row in losses(results) if row[1] == "slow-peer"] == ([listed] if listed else [])


def test_problems_on_which_ours_failed_are_listed(results):
    row_of(results, STEPS, "singleindex")["error"] = "a bug"
    assert [STEPS, "slow-peer", "none", "an answer"] in [row[:4] for row in losses(results)]


# ---------------------------------------------------------------- the file


def test_a_page_without_its_marks_is_not_overwritten(results, tmp_path):
    path = tmp_path / "benchmarks.md"
    path.write_text("# Title\n")
    with pytest.raises(ValueError, match="needs the lines"):
        page.write_page(results, path)
    assert path.read_text() == "# Title\n"


def test_the_page_of_the_documents_says_what_was_measured():
    measured = page.PAGE.read_text().split(page.BEGIN)[1].split(pages.END)[0]
    assert measured.strip().splitlines() == page.as_lines(page.stored_results())


def test_peers_that_take_less_memory_are_counted(results):
    before = re.search(r"less memory in (\d+) of the (\d+)", "\n".join(page.as_lines(results)))
    row_of(results, SPARSE, "good-peer")["peak_bytes"] = 1
    after = re.search(r"less memory in (\d+) of the (\d+)", "\n".join(page.as_lines(results)))
    assert [int(after[k]) - int(before[k]) for k in (1, 2)] == [1, 1]
