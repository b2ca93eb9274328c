"""What all tests of plots have in common."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from browser import Browser


@pytest.fixture(autouse=True)
def _figures_are_closed():
    """Close what a test has left open, after its own checks: the next one begins without any."""
    yield
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.close("all")


@pytest.fixture(scope="session")
def browser():
    """One Chromium for all pages."""
    found = Browser()
    yield found
    found.close()
