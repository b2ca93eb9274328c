"""Predictions written to a file, chunk by chunk: never more of them in memory than of one chunk."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..design import ChunkedData
from ..design.dask import is_dask
from ..files.replace import replacing
from .by_blocks import without_names

# What can be written, and what the columns of each are called.
METHODS = {
    "predict": "prediction",
    "predict_proba": "probability",
    "decision_function": "decision",
    "index": "index",
}

Columns = dict[str, Any]


def write_predictions(estimator: Any, X: Any, path: Any, methods: str | Sequence[str]) -> int:
    """Write what some methods give for every row; return the number of rows."""
    names = [methods] if isinstance(methods, str) else list(methods)
    known = [name for name in METHODS if hasattr(estimator, name)]
    if not names or any(name not in known for name in names):
        raise ValueError(f"methods must name some of {known}, got {methods!r}.")
    suffix = Path(os.fsdecode(path)).suffix.lower()
    if suffix not in WRITERS:
        raise ValueError(f"the file must end in one of {sorted(WRITERS)}, got {os.fsdecode(path)!r}.")
    with replacing(path) as temporary:
        return WRITERS[suffix](temporary, _columns(estimator, X, names))


def _columns(estimator: Any, X: Any, names: Sequence[str]) -> Iterator[Columns]:
    """Yield the columns of every chunk, by name."""
    if is_dask(X):
        raise ValueError(
            "predictions of Dask collections are Dask arrays, which write themselves: "
            "model.predict(X).to_zarr(...), or dask.dataframe.from_dask_array(...).to_parquet(...)."
        )
    model, blocks = estimator, iter([X])
    if isinstance(X, ChunkedData):
        model, blocks = without_names(estimator, X.feature_names), (block.X for block in X)
    for rows in blocks:
        columns: Columns = {}
        for name in names:
            values = np.asarray(getattr(model, name)(rows))
            if values.ndim == 1:
                columns[METHODS[name]] = values
            else:
                labels = _labels(estimator, values.shape[1])
                columns |= {f"{METHODS[name]}_{label}": values[:, k] for k, label in enumerate(labels)}
        yield columns


def _labels(estimator: Any, n_columns: int) -> list[Any]:
    classes = vars(estimator).get("classes_")
    return list(range(n_columns)) if classes is None or len(classes) != n_columns else list(classes)


# ---------------------------------------------------------------- files


def _write_npy(path: str, chunks: Iterator[Columns]) -> int:
    """Write a column for each quantity; the number of rows is filled in at the end."""
    n_rows, shape = 0, tuple[int, ...]()
    head: dict[str, Any] = {}
    with open(path, "wb") as file:
        for columns in chunks:
            values = (
                np.column_stack(list(columns.values())) if len(columns) > 1 else next(iter(columns.values()))
            )
            if values.dtype == object:
                values = values.astype(str)
            if not head:
                shape = values.shape[1:]
                head = {"descr": values.dtype.str, "fortran_order": False, "shape": (0, *shape)}
                np.lib.format.write_array_header_1_0(file, head)
            file.write(np.ascontiguousarray(values, dtype=head["descr"]).tobytes())
            n_rows += len(values)
        if head:
            # The header has room for a longer number: it stays as long as it is.
            file.seek(0)
            np.lib.format.write_array_header_1_0(file, head | {"shape": (n_rows, *shape)})
    return n_rows


def _write_table(open_writer: Callable[[str, Any], Any]) -> Callable[[str, Iterator[Columns]], int]:
    def write(path: str, chunks: Iterator[Columns]) -> int:
        pa = _pyarrow()
        n_rows, writer = 0, None
        try:
            for columns in chunks:
                table = pa.table({str(name): pa.array(values) for name, values in columns.items()})
                writer = writer or open_writer(path, table.schema)
                writer.write_table(table)
                n_rows += table.num_rows
        finally:
            if writer is not None:
                writer.close()
        return n_rows

    return write


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            "Parquet and CSV need pyarrow: pip install 'singleindex[files]'; .npy files need nothing."
        ) from error
    return pyarrow


def _parquet(path: str, schema: Any) -> Any:
    from pyarrow.parquet import ParquetWriter

    return ParquetWriter(path, schema)


def _csv(path: str, schema: Any) -> Any:
    from pyarrow.csv import CSVWriter

    return CSVWriter(path, schema)


WRITERS: dict[str, Callable[[str, Iterator[Columns]], int]] = {
    ".npy": _write_npy,
    ".parquet": _write_table(_parquet),
    ".csv": _write_table(_csv),
}
