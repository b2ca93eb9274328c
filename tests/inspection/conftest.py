"""What all tests of plots have in common."""

import pytest


@pytest.fixture(autouse=True)
def _figures_are_closed():
    """Close what a test has left open, after its own checks: the next one begins without any."""
    yield
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.close("all")
