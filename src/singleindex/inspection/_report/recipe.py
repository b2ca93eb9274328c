"""Lines of Python that make a model again."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ... import structures


def python_lines(model: Any, weighted: bool) -> str:
    """Return lines that fit a model of the same settings, for rows that are called X and y."""
    made = made_by(model)
    weight = ", sample_weight" if weighted else ""
    return "\n".join([*imports_of(model, made), "", f"model = {made}", f"model.fit(X, y{weight})"])


def made_by(model: Any) -> str:
    """Return the call that makes an estimator with these parameters, none of them abridged."""
    blank = type(model)().get_params(deep=False)
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        given = {name: repr(value) for name, value in model.get_params(deep=False).items()}
        settings = [f"{name}={text}" for name, text in given.items() if text != repr(blank[name])]
    return f"{type(model).__name__}({', '.join(settings)})"


def imports_of(model: Any, made: str) -> list[str]:
    lines = ["from numpy import array"] if "array(" in made else []
    lines.append(f"from singleindex import {type(model).__name__}")
    used = [name for name in structures.__all__ if f"{name}(" in made.partition("(")[2]]
    return lines + ([f"from singleindex.structures import {', '.join(used)}"] if used else [])
