"""Where some cases of each test are asked for, they are as many, and spread over all."""

import subprocess
import sys
from pathlib import Path

TESTS = """
import pytest

@pytest.mark.parametrize("k", range(10))
def test_many(k):
    pass

@pytest.mark.parametrize("k", range(2))
def test_few(k):
    pass

@pytest.mark.every_case
@pytest.mark.parametrize("k", range(6))
def test_that_needs_them(k):
    pass
"""


def test_most_cases(tmp_path):
    (tmp_path / "conftest.py").write_text((Path(__file__).parent / "conftest.py").read_text())
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = every_case")
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-v", "--most-cases", "4"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "12 passed, 6 deselected" in done.stdout
    many = [f"test_many[{k}]" for k in range(10) if f"test_many[{k}]" in done.stdout]
    assert many == ["test_many[0]", "test_many[3]", "test_many[6]", "test_many[9]"]
