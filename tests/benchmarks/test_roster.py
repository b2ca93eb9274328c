"""Who takes part. Peers are not installed where tests run, so their files are read, not imported."""

import ast
from pathlib import Path

import pytest

from benchmarks.side_by_side import problems
from benchmarks.side_by_side.environments import GROUPS, OWN_PEERS
from benchmarks.side_by_side.page import TASKS
from benchmarks.side_by_side.roster import ENTRANTS, entrants_for

PEERS = Path(problems.__file__).with_name("peers")


# What must be used by a solver of the roster, and the file it is used in.
def classes(module):
    tree = ast.parse((PEERS / f"{module}.py").read_text())
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def used_in(node):
    """Return the names that a piece of code uses, and its texts."""
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Attribute):
            found.add(part.attr)
        elif isinstance(part, ast.Constant):
            found.add(part.value)
    return found


def imported_by(module):
    found = set()
    for node in ast.walk(ast.parse((PEERS / f"{module}.py").read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("entrant", ENTRANTS, ids=lambda e: f"{e.name}-{e.tasks[0]}")
def test_every_entrant_can_be_found(entrant):
    assert entrant.solver in classes(entrant.module)
    assert entrant.tasks
    assert set(entrant.tasks) <= TASKS.keys(), "the page has no title for it"
    assert entrant.levels in (None, "penalty", "share", "size")


@pytest.mark.parametrize("entrant", ENTRANTS, ids=lambda e: f"{e.name}-{e.tasks[0]}")
def test_the_version_of_its_package_is_told(entrant):
    pinned = {pin.split("==")[0] for pin in GROUPS[entrant.group]}
    if entrant.group == "own":
        pinned = {"singleindex", "scikit-learn", "scipy", *OWN_PEERS}
    assert entrant.package in pinned


@pytest.mark.parametrize("task", TASKS)
def test_names_are_unique_and_ours_takes_part_in_each_task(task):
    found = entrants_for(task)
    names = [entrant.name for entrant in found]
    assert len(set(names)) == len(names)
    assert any(entrant.package == "singleindex" for entrant in found)
    assert any(entrant.package != "singleindex" for entrant in found)


def test_peers_know_nothing_of_this_project():
    for path in PEERS.glob("*.py"):
        known = imported_by(path.stem)
        assert "benchmarks" not in known
        assert ("singleindex" in known) == (path.stem == "ours")


def test_every_l1_search_has_fifty_levels_in_the_scale_of_the_data():
    text = (PEERS / "linear.py").read_text()
    assert int(text.split("N_LEVELS = ")[1].split()[0]) >= 50
    for module, solver in (("of_sklearn", "LogisticCv"), ("searches", "FoldSearch")):
        assert "penalty_levels" in used_in(classes(module)[solver])


@pytest.mark.parametrize("quick", [True, False])
def test_problems_have_names_of_their_own_and_entrants(quick):
    found = problems.problems(quick)
    assert len({p.name for p in found}) == len(found)
    for problem in found:
        assert entrants_for("path" if problem.kind == "linear" else problem.kind)
