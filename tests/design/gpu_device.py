"""The GPU of the tests that need one; to import this where there is none skips the file, with the reason."""

import pytest

cp = pytest.importorskip("cupy", reason="there is no CuPy here; these tests need a GPU")
try:
    if cp.cuda.runtime.getDeviceCount() == 0:
        raise RuntimeError("there is no GPU here")
except Exception as error:  # whatever CuPy raises where there is no driver
    pytest.skip(f"these tests need a GPU: {error}", allow_module_level=True)
