"""ARFF tables as plain arrays."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io.arff import loadarff

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Attribute:
    """A column; `categories` is None if it is numeric."""

    name: str
    categories: tuple[str, ...] | None


def read_arff(path: Path) -> tuple[list[Attribute], FloatArray]:
    """Read the attributes and the rows; nominal values become positions in `categories`."""
    with path.open(encoding="utf-8") as file:
        records, meta = loadarff(file)
    attributes, columns = [], []
    for name in meta.names():
        kind, categories = meta[name]
        # The atp names are quoted twice, and scipy leaves both pairs of quotes on.
        attribute = Attribute(name.strip("\"'"), categories if kind == "nominal" else None)
        attributes.append(attribute)
        columns.append(as_numbers(attribute, records[name]))
    return attributes, np.column_stack(columns)


def as_numbers(attribute: Attribute, values: NDArray[Any]) -> FloatArray:
    if attribute.categories is None:
        return values.astype(np.float64)
    position = {category: float(k) for k, category in enumerate(attribute.categories)}
    return np.array([position[value] for value in values.astype(str)])
