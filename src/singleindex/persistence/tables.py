"""Models of the command line, for data frames in Python."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from ..tables import TableClassifier, TableRegressor
from ..tables.preparation import Preparation, from_record
from .archive import ModelFileError
from .public import FileOrPath, load, load_notes, named_bytes


def load_table(path: FileOrPath) -> Any:
    """Read a model that `singleindex fit` saved, for data frames with the columns of its table.

    Parameters
    ----------
    path : str, path or binary file object

    Returns
    -------
    model : TableClassifier or TableRegressor
        Fitted. Predicts what `singleindex predict` writes, the threshold of the fit included.

    Raises
    ------
    ModelFileError
        Where the file holds no table's model: one that was saved from Python, or of a matrix.

    Examples
    --------
    >>> from singleindex.persistence import load_table
    >>> model = load_table("model.sim")  # doctest: +SKIP
    >>> model.predict(pd.read_csv("new.csv"))  # doctest: +SKIP
    """
    name, data = named_bytes(path)
    model, notes = load(io.BytesIO(data)), load_notes(io.BytesIO(data))
    if isinstance(model, (TableClassifier, TableRegressor)):
        return model
    try:
        preparation, record = from_record(notes["preparation"]), notes["record"]
        preparation.check(int(model.n_features_in_))
        if isinstance(preparation, Preparation):
            return front_of(model, preparation, record)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        why = "it was not saved by singleindex fit; use load" if not notes else f"malformed notes, {error}"
        raise ModelFileError(f"Cannot load {name} as a table's model: {why}.") from error
    raise ModelFileError(f"Cannot load {name} as a table's model: its file was a matrix; use load.")


def front_of(model: Any, preparation: Preparation, record: dict[str, Any]) -> Any:
    """Return what takes data frames in front of a fitted model."""
    front = TableRegressor(model, impute=preparation.imputed)
    if "classes_" in vars(model):
        threshold = (record.get("threshold") or {"value": 0.5})["value"]
        front = TableClassifier(model, threshold=threshold, impute=preparation.imputed)
        front.labels_ = np.array(record.get("classes") or model.classes_)
        front.classes_ = np.sort(front.labels_)
    front.estimator_, front.preparation_ = model, preparation
    columns = [*preparation.columns, *preparation.dropped]
    front.feature_names_in_, front.n_features_in_ = np.array(columns, dtype=object), len(columns)
    return front
