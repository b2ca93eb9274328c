"""Tables as people have them: what each column is, and how columns become the numbers a model takes."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import LeakWarning, TableError
    from .models import TableClassifier, TableRegressor

__all__ = ["LeakWarning", "TableClassifier", "TableError", "TableRegressor"]

_HOMES = {
    "LeakWarning": "errors", "TableClassifier": "models", "TableError": "errors", "TableRegressor": "models",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: the command line's help needs no estimators."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
