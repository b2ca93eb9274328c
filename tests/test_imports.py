"""The package hands out its names when they are asked for, all of them."""

import subprocess
import sys

import pytest

import singleindex


@pytest.mark.parametrize("name", singleindex.__all__)
def test_every_public_name_is_there(name):
    assert getattr(singleindex, name) is getattr(singleindex, name)
    assert name in dir(singleindex)


def test_parts_are_there_and_others_are_not():
    assert singleindex.structures.Sparse
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        singleindex.nonsense


@pytest.mark.parametrize("code", ["import singleindex", "import singleindex.cli.app"])
def test_what_needs_no_scikit_learn_does_not_import_it(code):
    check = f"{code}; import sys; assert not {{'sklearn', 'numpy', 'importlib.metadata'}} & {{*sys.modules}}"
    subprocess.run([sys.executable, "-c", check], check=True)
