"""Settings of hypothesis: the same examples in every run, unless others are asked for.

HYPOTHESIS_PROFILE=explore draws new and many more examples, to be run when a kernel has changed; =brief draws
few, to be run where only the versions of other packages have.
"""

import os
from importlib import metadata

# scikit-learn's checks of arrays of other libraries are skipped without it. Read when scipy is imported;
# before its version 1.14 scikit-learn does not want it.
if tuple(map(int, metadata.version("scipy").split(".")[:2])) >= (1, 14):
    os.environ.setdefault("SCIPY_ARRAY_API", "1")

import pytest
from hypothesis import HealthCheck, settings

COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fixed", derandomize=True, max_examples=100, **COMMON)
settings.register_profile("brief", derandomize=True, max_examples=20, **COMMON)
settings.register_profile("explore", max_examples=5000, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


@pytest.fixture
def paper_data():
    """Call a loader of the paper's data; skip, with its own words, where the files are absent."""

    def load(loader, *args, **kwargs):
        try:
            return loader(*args, **kwargs)
        except FileNotFoundError as missing:
            pytest.skip(str(missing))

    return load
