"""The documentation builds without a warning, and its start page is sound in a real browser.

Built in a copy, without running the lessons: `make docs` runs those.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from browser import BINARY, CONTRAST, OVERFLOW, WHY_NOT, Browser

pytest.importorskip("sphinx", reason="the documentation needs the extra `docs`")
ROOT = Path(__file__).parents[1]
MADE = ("_build", "course", "gallery", "generated", "__pycache__")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    copy = tmp_path_factory.mktemp("site")
    for folder in ("docs", "examples"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=lambda path, names: ignored(path, names))
    (copy / "benchmarks" / "results").mkdir(parents=True)
    for name in ("pyproject.toml", "CHANGELOG.md", "benchmarks/RESULTS.md"):
        shutil.copy(ROOT / name, copy / name)
    for page in (ROOT / "benchmarks" / "results").glob("*.md"):
        shutil.copy(page, copy / "benchmarks" / "results")
    options = ["-W", "--keep-going", "-q", "-b", "html", "-D", "plot_gallery=0"]
    command = [sys.executable, "-m", "sphinx", *options, str(copy / "docs"), str(copy / "html")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return copy / "html"


def ignored(path, names):
    """Leave out what a build has made; the sources of the lessons are in folders of the same names."""
    return [name for name in names if name in MADE] if "docs" in Path(path).parts else []


@pytest.fixture(scope="module")
def browser():
    if BINARY is None:
        pytest.skip(WHY_NOT)
    found = Browser()
    yield found
    found.close()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("page", ["index", "start", "report"])
def test_pages_are_sound(site, browser, tmp_path, page, width, dark):
    browser.open((site / f"{page}.html").as_uri(), width, dark)
    browser.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 20_000
    assert browser.problems() == []
    assert [url for url in browser.requests() if not url.startswith((site.as_uri(), "data:"))] == []
    assert browser.run(OVERFLOW) == []
    assert browser.run(CONTRAST) == []


def test_problem_and_answer_are_on_the_first_screen(site, browser):
    browser.open((site / "index.html").as_uri(), 1280)
    bottom = "document.querySelector({!r}).getBoundingClientRect().bottom"
    assert browser.run(bottom.format("img[src*=demo]")) < 900
    assert browser.run(bottom.format(".highlight-python")) < 900


def test_the_mathematics_comes_with_the_site(site, browser):
    browser.open((site / "how_it_works.html").as_uri())
    count = "document.querySelectorAll('mjx-container').length"
    assert browser.run(f"new Promise((done) => setTimeout(() => done({count}), 1500))") > 30
    assert [url for url in browser.requests() if not url.startswith((site.as_uri(), "data:"))] == []


def test_the_sample_report_is_there(site):
    assert (site / "sample_report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert 'href="sample_report.html"' in (site / "report.html").read_text(encoding="utf-8")
