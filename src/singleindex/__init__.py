"""High-dimensional single-index models with a learned monotone link."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .estimators import (
        LipschitzIsotonicRegression,
        SingleIndexClassifier,
        SingleIndexClassifierCV,
        SingleIndexCompleter,
        SingleIndexCompleterCV,
        SingleIndexRegressor,
        SingleIndexRegressorCV,
        Slisotron,
        single_index_path,
    )
    from .link import lipschitz_isotonic_regression
    from .persistence import load, save
    from .tables import TableClassifier, TableRegressor

    __version__: str

__all__ = [
    "LipschitzIsotonicRegression",
    "SingleIndexClassifier",
    "SingleIndexClassifierCV",
    "SingleIndexCompleter",
    "SingleIndexCompleterCV",
    "SingleIndexRegressor",
    "SingleIndexRegressorCV",
    "Slisotron",
    "TableClassifier",
    "TableRegressor",
    "lipschitz_isotonic_regression",
    "load",
    "save",
    "single_index_path",
]

_PACKAGES = (
    "datasets", "design", "estimators", "export", "inspection", "link", "persistence", "solvers",
    "structures", "tables",
)  # fmt: skip
# Where names come from that are not among the estimators.
_HOMES = {
    "lipschitz_isotonic_regression": "link", "load": "persistence", "save": "persistence",
    "TableClassifier": "tables", "TableRegressor": "tables",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: help and completion need not wait for scikit-learn."""
    if name in _PACKAGES:
        return import_module(f".{name}", __name__)
    if name in __all__:
        module = import_module(f".{_HOMES.get(name, 'estimators')}", __name__)
        value = globals()[name] = getattr(module, name)
        return value
    if name == "__version__":
        return import_module("importlib.metadata").version(__name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def html_view(model: Any) -> str:
    """Return what notebooks show of a fitted model below scikit-learn's diagram; nothing for others."""
    view: str = import_module(".inspection.notebook", __name__).html_view(model)
    return view


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES, "__version__"})
