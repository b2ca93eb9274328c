"""The page of the benchmarks: nothing of a result file is left out. Figures are made up, see conftest.py."""

import itertools
import json
import math
import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import charts, pages
from benchmarks.side_by_side import page

SPARSE, STEPS = "sparse-300x40", "steps-900"


def section(results, title):
    """Return the lines of one part of the page."""
    lines = page.as_lines(results)
    start = lines.index(title)
    level = title.split()[0]
    later = (k for k in range(start + 1, len(lines)) if re.match(rf"#{{1,{len(level)}}} ", lines[k]))
    return lines[start : next(later, len(lines))]


def cells(lines):
    """Return the cells of the tables among the lines, without head and rule."""
    found = [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("|")
    ]
    rules = [k for k, row in enumerate(found) if set("".join(row)) <= set("-: ")]
    return [row for k, row in enumerate(found) if k not in rules and k + 1 not in rules]


# ---------------------------------------------------------------- nothing is left out


def test_every_row_is_in_the_table_and_chart_of_its_problem(results):
    drawn = page.as_charts(results)
    for row in results["rows"]:
        table = cells(section(results, f"### {row['problem']}"))
        assert row["solver"] in [found[0].strip("*") for found in table]
        assert f">{row['solver']}</text>" in drawn[page.chart_name(row["problem"])]


def test_the_fastest_is_first_and_ratios_are_theirs_over_ours(results):
    table = cells(section(results, f"### {SPARSE}"))
    named = {row[0].strip("*"): row for row in table}
    assert [row[0].strip("*") for row in table] == [
        "quick-peer", "singleindex", "singleindex two-pass", "good-peer", "slow-peer", "late-peer",
    ]  # fmt: skip
    assert [named[who][5] for who in ("quick-peer", "singleindex", "slow-peer")] == ["0.500", "1.00", "20.0"]
    assert named["singleindex"][3:5] == ["0.100", "0.0980–0.102"]
    assert named["singleindex"][6] == "2.0"  # 6 MB for data of 3 MB
    assert named["good-peer"][6] == page.NOTHING
    assert named["quick-peer"][7:] == ["0.8500", "0.1400", "1.0e-02"]
    assert named["slow-peer"][7:] == ["0.9005", "0.0995", page.NOTHING]
    assert named["late-peer"][3:] == ["failed", *[page.NOTHING] * 6]


def test_every_failure_is_named_with_its_reason(results):
    failures = "\n".join(section(results, "## What did not run"))
    assert "Environment old: `no wheel for this Python | from source: 'gcc' failed`" in failures
    assert f"late-peer on {SPARSE}: `timed out after 60 s`" in failures
    for row in results["rows"]:
        row.update(error=None, seconds=row["seconds"] or [1.0])
    results["environments"][1]["error"] = None
    assert section(results, "## What did not run")[2] == "Everything ran."


# ---------------------------------------------------------------- where it does not win


def losses(results):
    return cells(section(results, "## Where it does not win"))


def test_who_is_faster_or_better_is_listed_and_nobody_else(results):
    assert losses(results) == [
        [SPARSE, "quick-peer", "singleindex",
         "AUC 0.8500, Brier 0.1400, suboptimality 1.0e-02",
         "AUC 0.9000, Brier 0.1000, suboptimality 1.0e-09", "2.00"],
        [SPARSE, "good-peer", "singleindex", "AUC", "0.9200", "0.9000", "4.00"],
    ]  # fmt: skip


def test_any_faster_peer_is_listed(results, find):
    peer = find(results, STEPS, "slow-peer")
    assert not any(STEPS in row for row in losses(results))
    peer["seconds"] = [0.000999]
    assert [STEPS, "slow-peer", "singleindex"] in [row[:3] for row in losses(results)]
    peer["error"] = "a wrong shape"  # what failed was not faster
    assert not any(STEPS in row for row in losses(results))


@pytest.mark.parametrize(
    ("measure", "fine", "better"),
    [("auc", 0.9009, 0.9011), ("brier", 0.0991, 0.0989), ("suboptimality", 0.0, None)],
)
def test_a_better_answer_is_listed(results, find, measure, fine, better):
    peer = find(results, SPARSE, "slow-peer")
    peer["quality"] = {measure: fine}
    assert not any("slow-peer" in row for row in losses(results))
    if better is not None:
        peer["quality"] = {measure: better}
        assert [row[3] for row in losses(results) if "slow-peer" in row] == [page.title_of(measure)]


def test_problems_on_which_ours_failed_are_listed(results, find):
    find(results, STEPS, "singleindex")["error"] = "a bug"
    assert section(results, "## Where it does not win")[-1].endswith(f"gave none on: {STEPS}.")


# ---------------------------------------------------------------- the files


@pytest.fixture
def frame(tmp_path):
    path = tmp_path / "benchmarks.md"
    path.write_text(f"# Title\n\n{page.BEGIN}\n\nold\n\n{pages.END}\n\nAfter.\n")
    return path


def test_every_picture_is_there_has_words_and_none_is_left_over(results, frame, tmp_path):
    images = tmp_path / "images"
    images.mkdir()
    (images / "gone.svg").write_text("of a problem that is no more")
    page.write_page(results, frame, images)
    shown = re.findall(r"!\[(.*)\]\(images/benchmarks/(.*)\)", frame.read_text())
    assert sorted(name for _, name in shown) == sorted(path.name for path in images.iterdir())
    for alt, name in shown:
        assert len(alt) > 40
        assert ElementTree.parse(images / name).getroot().attrib["aria-label"] == alt


def test_a_page_without_its_marks_is_not_overwritten(results, tmp_path):
    path = tmp_path / "benchmarks.md"
    path.write_text("# Title\n")
    with pytest.raises(ValueError, match="needs the lines"):
        page.write_page(results, path, tmp_path / "images")
    assert path.read_text() == "# Title\n"


def check_page(path, store, images):
    """Check that page and charts are those of the stored results, or that there are no figures without."""
    measured = path.read_text().split(page.BEGIN)[1].split(pages.END)[0]
    drawn = {file.name: file.read_text() for file in images.glob("*.svg")}
    if store.exists():
        known = json.loads(store.read_text())
        assert measured.strip().split("\n") == page.as_lines(known)
        assert drawn == page.as_charts(known)
    else:
        assert not re.search(r"\d", measured), "figures that no result file has"
        assert not drawn


def test_the_page_of_the_documents_says_what_was_measured():
    check_page(page.PAGE, page.STORE, page.IMAGES)


def test_a_figure_typed_by_hand_is_noticed(results, frame, tmp_path):
    store, images = tmp_path / "results.json", tmp_path / "images"
    check_page(frame, store, images)
    frame.write_text(frame.read_text().replace("old", "3 times as fast"))
    with pytest.raises(AssertionError):
        check_page(frame, store, images)
    store.write_text(json.dumps(results))
    page.write_page(results, frame, images)
    check_page(frame, store, images)
    frame.write_text(frame.read_text().replace("0.8500", "0.8400"))
    with pytest.raises(AssertionError):
        check_page(frame, store, images)


# ---------------------------------------------------------------- charts


SECONDS = st.floats(1e-7, 1e5)


@given(st.lists(SECONDS, min_size=1, max_size=5), st.floats(5, 200))
def test_a_log_axis_holds_all_values_and_ticks_have_room(values, room):
    axis = charts.LogAxis(values, 400.0, 100.0, room)
    assert all(100 - 1e-6 <= axis(value) <= 400 + 1e-6 for value in values)
    assert all(axis(a) - axis(b) >= room for a, b in itertools.pairwise(axis.ticks))
    assert axis.ticks
    assert axis(math.sqrt(axis.low * axis.high)) == pytest.approx(250)
