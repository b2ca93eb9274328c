"""What earlier versions wrote otherwise; whole files of theirs are in test_saved_before."""

import inspect

import pytest
from saved_models import SAVED, forge, from_bytes, parts_of

from singleindex.persistence import ModelFileError
from singleindex.persistence.earlier import RENAMED
from singleindex.persistence.values import known_classes


def with_old_name(old, new):
    """Return a file as if a parameter had had another name on its day."""
    manifest, members = parts_of(SAVED)
    parameters = manifest["model"]["parameters"]
    parameters[old] = parameters.pop(new)
    return forge(manifest, members)


def test_a_parameter_under_its_old_name_is_read(monkeypatch):
    file = with_old_name("n_nonzero", "n_atoms")
    with pytest.raises(ModelFileError, match="no parameter 'n_nonzero'"):
        from_bytes(file)
    monkeypatch.setitem(RENAMED, "SingleIndexClassifier", {"n_nonzero": "n_atoms"})
    assert from_bytes(file).n_atoms == from_bytes(SAVED).n_atoms == 2


def test_a_name_is_old_in_its_own_class_only(monkeypatch):
    monkeypatch.setitem(RENAMED, "SingleIndexRegressor", {"n_nonzero": "n_atoms"})
    with pytest.raises(ModelFileError, match="no parameter 'n_nonzero'"):
        from_bytes(with_old_name("n_nonzero", "n_atoms"))


def test_the_table_leads_from_names_that_are_gone_to_names_that_are_there():
    for kind, names in RENAMED.items():
        there = set(inspect.signature(known_classes()[kind]).parameters)
        assert there.isdisjoint(names)
        assert there.issuperset(names.values())
