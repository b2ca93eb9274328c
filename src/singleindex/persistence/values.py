"""Estimators, structures, solver settings and links, to and from the values that a model file holds."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from .. import estimators, structures, tables
from ..estimators.namespaces import with_numpy
from ..files.records import Reader, RecordError, Writer
from ..link import FIXED_LINKS
from ..link.stored import STORED_LINKS
from ..solvers.settings import SOLVERS
from ..tables.preparation import Preparation
from ..tables.recipe import Column, Feature, Recipe
from ..tables.written import Written
from .earlier import renamed, renewed
from .loaded import check_loaded

# What scikit-learn keeps on an estimator beside parameters and fitted attributes.
_OUTPUT_CONFIG = "_sklearn_output_config"
_OF_THE_SESSION = {"_skl_callbacks", "_parent_callback_ctx", "_metadata_request"}


def known_classes() -> dict[str, type[Any]]:
    """Return the classes a file may name; nothing in it leads to any other."""
    public = {n: getattr(package, n) for package in (estimators, structures, tables) for n in package.__all__}
    known = {name: kind for name, kind in public.items() if _has_parameters(kind)}
    known |= {kind.__name__: kind for kind in (Preparation, Recipe, Column, Feature, Written)}
    return {**known, **{kind.__name__: kind for kind in SOLVERS.values()}, **STORED_LINKS}


def _has_parameters(kind: Any) -> bool:
    return isinstance(kind, type) and (issubclass(kind, BaseEstimator) or dataclasses.is_dataclass(kind))


class ModelWriter(Writer):
    """Writes the fitted attributes of estimators as well."""

    def __init__(self) -> None:
        super().__init__(known_classes())
        self.where = "The model"

    def write_instance(self, value: Any) -> dict[str, Any]:
        value = with_numpy(value)
        record, attributes = super().write_instance(value), {}
        for name in _fitted_attributes(value, record["parameters"]):
            self.where = f"The attribute {name} of {record['class']}"
            if not _is_fitted_name(name):
                raise RecordError(
                    f"{self.where} cannot be saved: it is no parameter, and the names of fitted "
                    f"attributes end in '_'; remove it with del model.{name}."
                )
            attributes[name] = self.write(vars(value)[name])
        return {**record, "attributes": attributes}

    def why_not(self, value: Any) -> str:
        kind = type(value).__name__
        if isinstance(value, structures.Structure):
            what = f"is a {kind}, and a model with a user-written structure cannot be saved"
            instead = "a structure of singleindex.structures"
        elif callable(value):
            what = f"is a {kind}, and a model with a user-written link function cannot be saved"
            instead = f"a link by name, 'learned' or one of {sorted(FIXED_LINKS)}"
        else:
            what = f"holds a {kind}, which cannot be saved"
            instead = "numbers, text, lists, dicts and arrays of them"
        return (
            f"{what} in this format; use {instead}, or keep the model with pickle, "
            "to be read only where you trust the file."
        )


def _fitted_attributes(value: Any, parameters: Mapping[str, Any]) -> list[str]:
    if not isinstance(value, BaseEstimator):
        return []
    return sorted(set(vars(value)) - set(parameters) - _OF_THE_SESSION)


def _is_fitted_name(name: str) -> bool:
    return name == _OUTPUT_CONFIG or (name.isidentifier() and name[0] != "_" and name[-1] == "_")


class ModelReader(Reader):
    """Reads what a :class:`ModelWriter` of this version or an earlier one wrote, and checks it."""

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        super().__init__(known_classes(), arrays)

    def read_instance(self, spec: dict[str, Any]) -> Any:
        value = super().read_instance(renamed(spec))
        for name, part in spec["attributes"].items():
            if not (_is_fitted_name(name) and isinstance(value, BaseEstimator)):
                raise RecordError(f"it sets {name!r}, which is not the name of a fitted attribute")
            setattr(value, name, renewed(name, self.read(part)))
        check_loaded(value)
        return value
