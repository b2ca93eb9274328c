"""Checks of arguments, with the fix in the message."""

from collections.abc import Iterable
from numbers import Integral, Real


def check_choice(name: str, value: object, known: Iterable[str]) -> None:
    choices = list(known)
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name}={value!r} is not known; use one of {listed}.")


def check_count(name: str, value: object, *, minimum: int = 1) -> None:
    if not isinstance(value, Integral) or value < minimum:
        raise ValueError(f"{name} must be an integer of at least {minimum}, got {value!r}.")


def check_inside(name: str, value: object, low: float, high: float) -> None:
    """Require `low < value < high`."""
    if not isinstance(value, Real) or not low < float(value) < high:
        raise ValueError(f"{name} must lie strictly between {low} and {high}, got {value!r}.")
