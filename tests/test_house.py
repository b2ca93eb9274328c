"""The house stands: imports point one way, and no file is too long to be read."""

import ast
from collections import Counter
from pathlib import Path

import pytest

import singleindex

SOURCE = Path(singleindex.__file__).parent
# From the roof to the ground. A package knows those below it, and none beside it.
FLOORS = (
    {"cli"},
    {"inspection", "export", "persistence"},
    {"tables"},
    {"estimators"},
    {"fitting", "datasets"},
    {"solvers"},
    {"design"},
    {"link", "structures"},
    {"files"},
)
FLOOR = {package: number for number, floor in enumerate(FLOORS) for package in floor}
MOST_LINES = 400


def names_imported(path, root):
    """Yield line and absolute name of everything that a file imports, wherever in it that is."""
    package = ("singleindex", *path.relative_to(root).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) + 1 - node.level] if node.level else ()
            module = ".".join([*start, *([node.module] if node.module else [])])
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


def homes(root):
    """Return where the names come from that the top of the package hands out."""
    there = root / "__init__.py"
    names = names_imported(there, root) if there.exists() else ()
    return {name.split(".")[-1]: name.split(".")[1] for _, name in names if name.startswith("singleindex.")}


def wrong_imports(root):
    """Return every import that does not point downwards, and every package without a floor."""
    home, wrong = homes(root), []
    for path in sorted(root.glob("*/**/*.py")):
        own = path.relative_to(root).parts[0]
        if own not in FLOOR:
            wrong.append(f"{own} stands on no floor")
            continue
        for line, name in names_imported(path, root):
            parts = name.split(".")
            if parts[0] != "singleindex" or len(parts) < 2:
                continue
            other = home.get(parts[1], parts[1])
            if other in FLOOR and other != own and FLOOR[other] <= FLOOR[own]:
                wrong.append(f"{path.relative_to(root)}:{line} imports {name}")
    return wrong


def long_files(root):
    """Return the files of too many lines; kernels may have them."""
    return [
        str(path.relative_to(root))
        for path in sorted(root.rglob("*.py"))
        if len(path.read_text(encoding="utf-8").splitlines()) > MOST_LINES
    ]


def test_imports_point_downwards():
    assert wrong_imports(SOURCE) == []


def test_no_file_is_too_long():
    assert long_files(SOURCE) == []


def test_no_two_files_of_tests_have_the_same_name():
    """They are modules side by side: of two the second could not be read."""
    names = Counter(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    assert [name for name, times in names.items() if times > 1] == []


def test_what_is_looked_at_is_the_whole_source():
    files = {path.relative_to(SOURCE).parts[0] for path in SOURCE.glob("*/**/*.py")}
    assert {"estimators", "fitting", "solvers", "design", "link", "structures"} <= files <= set(FLOOR)


@pytest.fixture
def house(tmp_path):
    """Write a file of a small house, and return the house."""

    def write(place, text):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return tmp_path

    write("__init__.py", "from .estimators import Model\nfrom .link import curve\n")
    return write


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("link/curve.py", "from ..solvers import drive"),
        ("link/curve.py", "from ..solvers.drive import Run"),
        ("link/curve.py", "def fit():\n    from ..solvers import drive"),
        ("link/curve.py", "if True:\n    import singleindex.design.base"),
        ("link/curve.py", "from .. import fitting"),
        ("link/curve.py", "from .. import Model"),
        ("link/curve.py", "from singleindex import Model"),
        ("link/curve.py", "from ..structures import Sparse"),
        ("design/chunks/data.py", "from ...solvers import drive"),
        ("solvers/drive.py", "from ..datasets import make"),
        ("export/sql.py", "from ..inspection import report"),
        ("attic/old.py", "import numpy"),
    ],
)
def test_a_wrong_import_is_seen(house, place, text):
    assert len(wrong_imports(house(place, text))) == 1


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (
            "link/curve.py",
            "import numpy\nfrom ..files import arrays\nfrom .base import Link",
        ),
        (
            "solvers/drive.py",
            "from ..link import curve\nfrom .. import curve, __version__\nfrom . import result",
        ),
        ("cli/app.py", "from .. import Model\nfrom ..inspection import report\nimport singleindex.link"),
        ("design/chunks/data.py", "from ..base import Design\nfrom ...link import curve"),
    ],
)
def test_a_right_import_is_none(house, place, text):
    assert wrong_imports(house(place, text)) == []


def test_a_long_file_is_seen(house):
    house("link/_kernel.pyx", "x = 0\n" * 1000)
    assert long_files(house("link/short.py", "x = 0\n" * MOST_LINES)) == []
    assert long_files(house("link/long.py", "x = 0\n" * (MOST_LINES + 1))) == ["link/long.py"]
