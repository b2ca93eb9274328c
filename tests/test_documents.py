"""What the documents say of the project is what the project is."""

import json
import re
import tomllib
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import singleindex
from benchmarks import bigdata, bigdata_report, block_search, block_search_report, gpu_report
from benchmarks.__main__ import FOLDER, REPORT, assemble
from benchmarks.exact_steps.command import report_text
from benchmarks.exact_steps.store import Store
from docs import figures
from examples import demo
from experiments import render

ROOT = Path(__file__).parents[1]


def test_the_report_is_the_stored_results():
    assert REPORT.read_text() == assemble()


def test_the_page_on_big_data_says_what_was_measured():
    known = json.loads(bigdata.STORE.read_text())
    assert "\n".join(["", *bigdata_report.page_block(known), ""]) in bigdata_report.PAGE.read_text()
    assert "\n".join(["", *bigdata_report.report(known), ""]) in (FOLDER / "bigdata.md").read_text()


def test_the_page_on_gpus_says_what_was_measured():
    stored = json.loads((ROOT / "benchmarks" / "results" / "gpu.json").read_text())
    assert "\n".join(["", *gpu_report.page_block(stored), ""]) in gpu_report.PAGE.read_text()


def test_the_page_on_where_it_ends_says_what_was_measured():
    known = json.loads(block_search.STORE.read_text())
    text = "\n".join(["", *block_search_report.report(known), ""])
    assert text in block_search_report.PAGE.read_text()
    assert text in (FOLDER / "block_search.md").read_text()


@pytest.mark.parametrize("package", ["exact_steps", "intervals", "uncertainty"])
def test_the_pages_of_studies_are_the_stored_lines(package):
    main = import_module(f"benchmarks.{package}.__main__")
    path = FOLDER / f"{package}.jsonl"
    text = report_text(main.HEAD, main.STUDIES, Store(path), main.FIRST_TUNING_SEED)
    assert path.with_suffix(".md").read_text() == text


def test_the_papers_results_are_the_stored_ones():
    for name, text in render.as_files().items():
        assert (ROOT / "experiments" / name).read_text() == text


def test_the_version_is_written_in_one_place():
    meson = re.search(r"version: '([\d.]+)'", (ROOT / "meson.build").read_text())
    assert singleindex.__version__ == meson.group(1)
    assert "version" in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dynamic"]
    assert not re.search(r"^version:", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)


def test_links_of_the_documents_lead_somewhere():
    top = (ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"))
    for page in (*top, *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            found = target.startswith("https://") or (page.parent / target).exists()
            assert found, f"{page.name} links to {target}, which is not there"


def test_the_first_table_is_what_the_demo_wrote():
    stored = (ROOT / "docs" / "images" / "demo.md").read_text()
    assert f"{figures.BEGIN}\n{stored}\n{figures.END}" in (ROOT / "README.md").read_text()
    assert "images/demo.md" in (ROOT / "docs" / "index.md").read_text()


def test_a_table_of_the_demo_goes_between_its_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{figures.BEGIN}old\n{figures.END}\nafter\n")
    for name in ("demo.png", "demo.md"):
        (tmp_path / name).write_text("new\n")
    (tmp_path / "images").mkdir()
    figures.take_from_demo(tmp_path, tmp_path / "images", page)
    stored = (tmp_path / "images" / "demo.md").read_text()
    assert re.fullmatch(r"new\n\nMade from commit [0-9a-f]+(-dirty)?\.\n", stored)
    assert page.read_text() == f"before\n{figures.BEGIN}\n{stored}\n{figures.END}\nafter\n"


def test_the_stored_table_says_the_settings_of_the_demo():
    assert (ROOT / "docs" / "images" / "demo.md").read_text().startswith(demo.SETTINGS)


def test_the_demo_tells_won_from_tied_and_lost():
    ours = np.array([[0.1, 0.5, 0.8], [0.2, 0.6, 0.7], [0.1, 0.6, 0.7]])
    # RMSE is higher, log-loss as it comes, AUC lower.
    noise = np.array([[0.02, 0.1, -0.1], [0.03, -0.1, -0.11], [0.02, 0.1, -0.1]])
    assert demo.verdicts(ours, ours + noise) == {"RMSE": "won", "log-loss": "tied", "AUC": "won"}
    assert demo.in_words(demo.verdicts(ours, ours - noise)) == "tied log-loss; lost RMSE, AUC"
    of_two = demo.verdicts(ours[:2], ours[:2] + noise[:2])
    assert of_two["RMSE"] == "tied"  # at five errors: two tables are hardly any
