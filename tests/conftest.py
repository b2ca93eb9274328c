"""How much is run: examples of hypothesis, and cases of tests that are run with many values.

The examples are the same in every run. HYPOTHESIS_PROFILE=explore draws new and many more, to be run when a
kernel has changed; =brief draws few, and --most-cases runs some cases of each test, where only versions of
other packages have changed: those break calls, which few cases make as well as many.
"""

import os
from collections import defaultdict
from importlib import metadata

# scikit-learn's checks of arrays of other libraries are skipped without it. Read when scipy is imported;
# before its version 1.14 scikit-learn does not want it.
if tuple(map(int, metadata.version("scipy").split(".")[:2])) >= (1, 14):
    os.environ.setdefault("SCIPY_ARRAY_API", "1")

import pytest
from hypothesis import HealthCheck, settings

COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fixed", derandomize=True, max_examples=100, **COMMON)
settings.register_profile("brief", derandomize=True, max_examples=10, **COMMON)
settings.register_profile("explore", max_examples=5000, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


def pytest_addoption(parser):
    parser.addoption(
        "--most-cases", type=int, metavar="N",
        help="run N cases at most of each test, from first to last; all where it is marked every_case",
    )  # fmt: skip


def pytest_collection_modifyitems(config, items):
    most, cases = config.getoption("--most-cases"), defaultdict(list)
    if most is None:
        return
    for item in items:
        cases[item.nodeid.split("[")[0]].append(item)
    kept = {case for every in cases.values() for case in some_of(every, most)}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def some_of(cases, most):
    """Return so many cases of a test, the first and the last among them, others as far apart as can be."""
    if len(cases) <= most or cases[0].get_closest_marker("every_case"):
        return cases
    return [cases[round(k * (len(cases) - 1) / max(1, most - 1))] for k in range(most)]


@pytest.fixture
def paper_data():
    """Call a loader of the paper's data; skip, with its own words, where the files are absent."""

    def load(loader, *args, **kwargs):
        try:
            return loader(*args, **kwargs)
        except FileNotFoundError as missing:
            pytest.skip(str(missing))

    return load
