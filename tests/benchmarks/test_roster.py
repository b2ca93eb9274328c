"""Who takes part. Peers are not installed where tests run, so their files are read, not imported."""

import ast
from pathlib import Path

import pytest

from benchmarks.side_by_side import problems
from benchmarks.side_by_side.environments import GROUPS, OWN_PEERS
from benchmarks.side_by_side.page import TASKS
from benchmarks.side_by_side.roster import ENTRANTS, entrants_for

PEERS = Path(problems.__file__).with_name("peers")


def parts(module, kind):
    return [
        part for part in ast.walk(ast.parse((PEERS / f"{module}.py").read_text())) if isinstance(part, kind)
    ]


def classes(module):
    return {node.name: ast.unparse(node) for node in parts(module, ast.ClassDef)}


@pytest.mark.parametrize("entrant", ENTRANTS, ids=lambda e: f"{e.name}-{e.tasks[0]}")
def test_every_entrant_can_be_found_and_its_version_told(entrant):
    assert entrant.solver in classes(entrant.module)
    assert set(entrant.tasks) <= TASKS.keys(), "the page has no title for it"
    assert entrant.levels in (None, "penalty", "share", "size")
    pinned = {pin.split("==")[0] for pin in GROUPS[entrant.group]}
    own = {"singleindex", "scikit-learn", "scipy", *OWN_PEERS}
    assert entrant.package in (own if entrant.group == "own" else pinned)


@pytest.mark.parametrize("task", TASKS)
def test_names_are_unique_and_ours_takes_part_in_each_task(task):
    found = entrants_for(task)
    assert len({entrant.name for entrant in found}) == len(found)
    assert {entrant.package == "singleindex" for entrant in found} == {True, False}


def test_peers_know_nothing_of_this_project():
    for path in PEERS.glob("*.py"):
        names = {name.name for node in parts(path.stem, ast.Import) for name in node.names}
        names |= {node.module for node in parts(path.stem, ast.ImportFrom)}
        packages = {name.split(".")[0] for name in names}
        assert "benchmarks" not in packages
        assert ("singleindex" in packages) == (path.stem == "ours")


def test_every_l1_search_has_fifty_levels_in_the_scale_of_the_data():
    assert int((PEERS / "linear.py").read_text().split("N_LEVELS = ")[1].split()[0]) >= 50
    for module, solver in (("of_sklearn", "LogisticCv"), ("searches", "FoldSearch")):
        assert "penalty_levels(" in classes(module)[solver]


@pytest.mark.parametrize("quick", [True, False])
def test_problems_have_names_of_their_own_and_entrants(quick):
    found = problems.problems(quick)
    assert len({p.name for p in found}) == len(found)
    assert all(entrants_for("path" if p.kind == "linear" else p.kind) for p in found)
