"""Models of the command line, for data frames in Python."""

from __future__ import annotations

import io
from typing import Any

from ..tables import TableClassifier, TableRegressor
from ..tables.fronts import front_of
from ..tables.preparation import Preparation, from_record
from ..tables.written import Written
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
        Fitted. Predicts what `singleindex predict` writes, the threshold of the fit included. Text is read
        as the table of the fit was: words for gaps, those of `--na` among them, are missing values, and
        where its numbers had a decimal comma, "25,5" is a number.

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
            threshold = (record.get("threshold") or {"value": 0.5})["value"]
            front = front_of(model, preparation, record.get("classes"), threshold)
            missing = record.get("reading", {}).get("missing", ())
            front.written_ = Written([str(word) for word in missing], record.get("decimal"))
            front.notes_, targets = record.get("notes", []), record.get("target", [])
            front.target_name_ = targets[0] if len(targets) == 1 else None
            return front
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        why = "it was not saved by singleindex fit; use load" if not notes else f"malformed notes, {error}"
        raise ModelFileError(f"Cannot load {name} as a table's model: {why}.") from error
    raise ModelFileError(f"Cannot load {name} as a table's model: its file was a matrix; use load.")
