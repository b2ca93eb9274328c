"""Saving and loading models."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from ..files.limits import LimitError
from ..files.records import RecordError
from ..files.replace import replace_file
from ..tables.fronts import front_of_pipeline
from .archive import ModelFileError, in_short, pack, unpack
from .values import ModelReader, ModelWriter, known_classes

FileOrPath = str | bytes | os.PathLike[str] | IO[bytes]

_NO_NOTES: dict[str, Any] = {"type": "dict", "items": []}


def save(model: Any, path: FileOrPath, *, notes: Mapping[str, Any] | None = None) -> None:
    """Write an estimator, fitted or not, to a file that :func:`load` reads.

    Parameters
    ----------
    model : estimator
        One of the estimators of singleindex, or a fitted Pipeline that ends in one. A pipeline is kept as
        what its steps do to the columns: :func:`load` returns a `TableClassifier` or `TableRegressor` that
        predicts the same from the same columns.
    path : str, path or binary file object
        Where to write. An existing file is replaced whole or, where saving fails, left as it was; what is
        no regular file, such as a device or a pipe, is refused.
    notes : dict, default=None
        Text, numbers, lists, dicts and arrays to keep beside the model, for :func:`load_notes`.

    Raises
    ------
    TypeError
        Where `model` is not an estimator of singleindex.
    ValueError
        Where it holds what the format cannot: a link function or a structure of one's own, a step of a
        pipeline that is no description of single columns.

    Notes
    -----
    Equal models give equal bytes. Callbacks and metadata requests of scikit-learn are not saved:
    they belong to the session.

    Examples
    --------
    >>> import os, tempfile
    >>> from singleindex import LipschitzIsotonicRegression, load, save
    >>> model = LipschitzIsotonicRegression().fit([0, 1, 2], [0, 5, 4])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.sim")
    ...     save(model, path)
    ...     load(path).predict([0, 1, 2])
    array([2., 3., 4.])
    """
    if isinstance(model, Pipeline):
        model = front_of_pipeline(model)
    if not isinstance(model, BaseEstimator) or type(model) not in known_classes().values():
        raise TypeError(
            f"save takes an estimator of singleindex, got {type(model).__name__}; "
            "keep others, and subclasses of your own, with pickle."
        )
    writer = ModelWriter()
    parts = {"model": writer.write(model)}
    if notes is not None:
        writer.where = "notes"
        parts["notes"] = writer.write(dict(notes))
    data = pack(parts, writer.arrays)
    if isinstance(path, (str, bytes, os.PathLike)):
        replace_file(path, data)
    else:
        path.write(data)


def load(path: FileOrPath) -> Any:
    """Read an estimator from a file written by :func:`save`.

    Parameters
    ----------
    path : str, path or binary file object

    Returns
    -------
    model : estimator
        With the parameters and attributes of the one saved; it predicts the same, bit for bit.

    Raises
    ------
    ModelFileError
        A ValueError that names the file and says what is wrong: damaged, foreign, or too new.

    Notes
    -----
    Nothing in the file is run, imported or unpickled; known classes are made of numbers and text.
    The checksums show accidents, not intent: who can write the file can choose the coefficients. A file
    that would take more than 256 MiB of memory, and more than a hundred times its size, is refused; the
    environment variable SINGLEINDEX_MAX_BYTES sets another limit.

    Examples
    --------
    >>> import io
    >>> from singleindex import SingleIndexRegressor, load, save
    >>> file = io.BytesIO()
    >>> save(SingleIndexRegressor(n_atoms=5), file)
    >>> load(io.BytesIO(file.getvalue()))
    SingleIndexRegressor(n_atoms=5)
    """
    return _read_part(path, "model", BaseEstimator, "it holds no estimator")


def load_notes(path: FileOrPath) -> dict[str, Any]:
    """Read what was kept beside a model: the `notes` given to :func:`save`.

    Parameters
    ----------
    path : str, path or binary file object

    Returns
    -------
    notes : dict
        Empty where none were given.

    Examples
    --------
    >>> import io
    >>> from singleindex import SingleIndexRegressor
    >>> from singleindex.persistence import load_notes, save
    >>> file = io.BytesIO()
    >>> save(SingleIndexRegressor(), file, notes={"target": "yield", "rows": 60})
    >>> load_notes(io.BytesIO(file.getvalue()))
    {'target': 'yield', 'rows': 60}
    """
    notes: dict[str, Any] = _read_part(path, "notes", dict, "its notes are malformed")
    return notes


def _read_part(path: FileOrPath, part: str, kind: type[Any], otherwise: str) -> Any:
    name, data = named_bytes(path)
    try:
        manifest, arrays = unpack(data)
        value = ModelReader(arrays).read({"notes": _NO_NOTES, **manifest}[part])
        if not isinstance(value, kind):
            raise ModelFileError(otherwise)
        return value
    except (ModelFileError, RecordError, LimitError) as error:
        raise ModelFileError(f"Cannot load {name}: {error}.") from error.__cause__
    except Exception as error:  # whatever a parser makes of a forged file
        raise ModelFileError(
            f"Cannot load {name}: its contents are malformed ({in_short(error)})."
        ) from error


def named_bytes(path: FileOrPath) -> tuple[str, bytes]:
    """Return what to call the file in messages, and its bytes."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        name, data = getattr(path, "name", None), path.read()
        if not isinstance(data, bytes):
            raise TypeError("load takes a file opened in binary mode, as by open(path, 'rb').")
        return (name if isinstance(name, str) else "the file object"), data
    file = Path(os.fsdecode(path))
    if file.exists() and not file.is_file():
        what = "it is a directory" if file.is_dir() else "it is not a regular file"
        raise ModelFileError(f"Cannot load {file}: {what}.")
    return str(file), file.read_bytes()
