"""What the documents say of the project is what the project is."""

import json
import re
import tomllib
from pathlib import Path

import singleindex
from benchmarks import bigdata, bigdata_report, block_search, block_search_report, gpu_report
from benchmarks.__main__ import REPORT, assemble
from experiments import render

ROOT = Path(__file__).parents[1]


def test_the_report_is_the_stored_results():
    assert REPORT.read_text() == assemble()


def test_the_page_on_big_data_says_what_was_measured():
    known = json.loads(bigdata.STORE.read_text())
    assert "\n".join(["", *bigdata_report.page_block(known), ""]) in bigdata_report.PAGE.read_text()


def test_the_page_on_gpus_says_what_was_measured():
    stored = json.loads((ROOT / "benchmarks" / "results" / "gpu.json").read_text())
    assert "\n".join(["", *gpu_report.page_block(stored), ""]) in gpu_report.PAGE.read_text()


def test_the_page_on_where_it_ends_says_what_was_measured():
    known = json.loads(block_search.STORE.read_text())
    text = "\n".join(["", *block_search_report.report(known), ""])
    assert text in block_search_report.PAGE.read_text()


def test_the_papers_results_are_the_stored_ones():
    assert (ROOT / "experiments" / "RESULTS.md").read_text() == render.as_text()
    assert (ROOT / "experiments" / render.PAGE_NAME).read_text() == render.as_html()


def test_the_version_is_written_in_one_place():
    meson = re.search(r"version: '([\d.]+)'", (ROOT / "meson.build").read_text())
    assert singleindex.__version__ == meson.group(1)
    assert "version" in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dynamic"]
    assert not re.search(r"^version:", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)


def test_links_of_the_documents_lead_somewhere():
    for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        text = (ROOT / name).read_text()
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            assert (ROOT / target).exists(), f"{name} links to {target}, which is not there"
