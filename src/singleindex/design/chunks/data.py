"""Chunked data: what users pass to `fit` in place of X and y."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..blocks import Block, ChunkError, SurveyTargetsTask, merge_all
from ..survey import TargetSurvey
from .arrays import ArrayReader
from .marks import FileMarks
from .npy import NpyReader
from .read_ahead import read_ahead
from .svmlight import SvmlightReader
from .tables import CsvReader, ParquetReader


class Reader(Protocol):
    """Reads chunks of rows, in the order of the rows, from the first to the last, as often as asked."""

    n_features: int
    feature_names: Sequence[str] | None
    dtype: Any
    n_rows: int | None
    has_target: bool

    def chunks(self) -> Generator[Block]: ...

    def targets(self) -> Generator[Block]:
        """Yield chunks without X, where y can be read alone."""
        ...

    def fingerprint(self) -> tuple[Any, ...]:
        """Return what tells these data from others, without reading them."""
        ...


class ChunkedData:
    """Rows that are read in chunks, anew for every visit, and never held together.

    Made by :func:`read_chunks` and :func:`chunk_arrays`; passed to `fit`, `predict` and the like of
    :class:`~singleindex.SingleIndexRegressor` and :class:`~singleindex.SingleIndexClassifier`. The next chunk
    is read, in a thread, while the present one is worked on: three are in memory at most. Files must stay as
    they are from :func:`read_chunks` on; one that changes is an error.

    Attributes
    ----------
    n_features : int
    feature_names : list of str or None
    n_rows : int or None
        None where only reading would tell, and nothing has been read to the end yet.
    """

    def __init__(self, reader: Reader, files: FileMarks | None = None) -> None:
        self.reader, self.files = reader, files or FileMarks([])
        self.n_features, self.feature_names = reader.n_features, reader.feature_names
        self.dtype, self.n_rows = reader.dtype, reader.n_rows
        self.on_rows: Callable[[int], None] | None = None

    @property
    def shape(self) -> tuple[int | None, int]:
        return self.n_rows, self.n_features

    def __iter__(self) -> Iterator[Block]:
        for block in self._read(self.reader.chunks):
            yield block
            if self.on_rows is not None:
                self.on_rows(len(block))
        if self.on_rows is not None:
            self.on_rows(0)  # the end

    def _read(self, chunks: Callable[[], Generator[Block]]) -> Iterator[Block]:
        """Yield chunks of files that are what they were, and as many rows as the last time."""
        self.files.check()
        n_rows = 0
        try:
            for block in read_ahead(chunks):
                self.files.check(block.files)
                yield replace(block, start=n_rows)
                n_rows += len(block)
        except Exception:
            self.files.check()  # the better reason, where it is one
            raise
        self.files.check()
        if self.n_rows not in (None, n_rows):
            raise ChunkError(
                f"{n_rows} rows were read where there were {self.n_rows} before; data must not change while "
                "they are read."
            )
        self.n_rows = n_rows

    def map(self, task: Callable[..., Any], arguments: Sequence[Any] | None = None) -> Iterator[Any]:
        """Yield the task's result for each chunk."""
        if arguments is None:
            yield from map(task, self)
        else:
            for block, argument in zip(self, arguments, strict=True):
                yield task(block, argument)

    def reduce(self, task: Callable[[Block], Any]) -> Any:
        """Return the merged results of the task for all chunks."""
        return merge_all(self.map(task))

    def survey_targets(self) -> TargetSurvey:
        if not self.reader.has_target:
            raise ValueError(
                "target is missing: name the column of y, or the file of it for .npy, in read_chunks(..., "
                "target=...). Without it these data can be predicted for, and not learned from."
            )
        survey: TargetSurvey = merge_all(map(SurveyTargetsTask(), self._read(self.reader.targets)))
        return survey

    def fingerprint(self) -> tuple[Any, ...]:
        return self.reader.fingerprint()

    def __repr__(self) -> str:
        rows = "?" if self.n_rows is None else f"{self.n_rows:,}"
        return f"ChunkedData({rows} rows, {self.n_features:,} features, {type(self.reader).__name__})"


_BY_SUFFIX: dict[str, Any] = {
    ".parquet": ParquetReader, ".pq": ParquetReader, ".csv": CsvReader, ".tsv": CsvReader,
    ".npy": NpyReader, ".svm": SvmlightReader, ".svmlight": SvmlightReader, ".libsvm": SvmlightReader,
}  # fmt: skip
_BY_NAME: dict[str, Any] = {
    "parquet": ParquetReader, "csv": CsvReader, "npy": NpyReader, "svmlight": SvmlightReader,
}  # fmt: skip


def read_chunks(
    files: Any,
    target: Any = None,
    *,
    sample_weight: Any = None,
    features: Sequence[str] | None = None,
    n_features: int | None = None,
    chunk_rows: int | None = None,
    file_format: str | None = None,
) -> ChunkedData:
    """Prepare files to be read in chunks of rows.

    Parameters
    ----------
    files : str, path, or list of them
        One file or several, whose rows follow each other; a pattern such as `part-*.parquet`; or a folder,
        for all files in it of one format, by name.
    target : str, list of str, or path, default=None
        For Parquet and CSV the column of y, or several for several outputs. For .npy the file of y, itself an
        array of as many rows. svmlight files hold their own y. None for data to predict for, which have none.
    sample_weight : str or path, default=None
        The column of the weights; for .npy a file.
    features : list of str, default=None
        For Parquet and CSV the columns of X; all others than those of y and the weights by default.
    n_features : int, default=None
        For svmlight: the number of columns, to save a reading of the files that would count them.
    chunk_rows : int, default=None
        Rows of a chunk; by default as many as 8 MiB hold, up to 64 MiB for Parquet and CSV with many columns.
    file_format : "parquet", "csv", "npy" or "svmlight", default=None
        None to go by the suffix.

    Returns
    -------
    data : ChunkedData

    Notes
    -----
    Parquet and CSV need pyarrow, the extra `files`.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from singleindex import SingleIndexRegressor
    >>> from singleindex.design import read_chunks
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((1000, 20))
    >>> y = np.clip(X[:, 0] - X[:, 3], -1, 1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(os.path.join(folder, "X.npy"), X)
    ...     np.save(os.path.join(folder, "y.npy"), y)
    ...     data = read_chunks(os.path.join(folder, "X.npy"), os.path.join(folder, "y.npy"), chunk_rows=100)
    ...     model = SingleIndexRegressor(n_atoms=2).fit(data)
    >>> model.coef_.nonzero()[0]
    array([0, 3])
    """
    paths = _find_files(files)
    kind = _reader_for(paths, file_format)
    options = {"target": target, "sample_weight": sample_weight, "chunk_rows": _check_rows(chunk_rows)}
    if kind in (ParquetReader, CsvReader):
        options["features"] = features
    elif features is not None:
        raise ValueError("features names columns of Parquet and CSV files; leave it out for others.")
    if kind is SvmlightReader:
        options["n_features"] = n_features
    elif n_features is not None:
        raise ValueError(
            "n_features is for svmlight files; others say themselves how many columns they have."
        )
    beside = [os.fspath(p) for p in (target, sample_weight) if isinstance(p, (str, os.PathLike))]
    files = FileMarks([*paths, *(beside if kind is NpyReader else [])])  # before the first look at them
    return ChunkedData(kind(paths, **options), files)


def chunk_arrays(X: Any, y: Any, sample_weight: Any = None, chunk_rows: int | None = None) -> ChunkedData:
    """Present arrays, memory maps or sparse matrices as chunked data, with the solvers that go with it."""
    return ChunkedData(ArrayReader(X, np.asarray(y), sample_weight, _check_rows(chunk_rows)))


def _find_files(files: Any) -> list[str]:
    given = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    found: list[str] = []
    for one in (os.fspath(path) for path in given):
        if os.path.isdir(one):
            found += sorted(str(p) for p in Path(one).iterdir() if p.suffix in _BY_SUFFIX)
        elif os.path.exists(one):
            found.append(one)
        else:
            matches = sorted(glob.glob(one))
            if not matches:
                raise FileNotFoundError(f"There is no file {one}; check the name or the pattern.")
            found += matches
    if not found:
        raise FileNotFoundError(
            f"There is no file of a known format in {files}; use file_format= to name it."
        )
    return found


def _reader_for(paths: list[str], file_format: str | None) -> Any:
    if file_format is not None:
        if file_format not in _BY_NAME:
            raise ValueError(f"file_format must be one of {sorted(_BY_NAME)}, got {file_format!r}.")
        return _BY_NAME[file_format]
    kinds = {Path(p).suffix.lower() for p in paths}
    readers = {_BY_SUFFIX.get(suffix) for suffix in kinds}
    if len(readers) != 1 or None in readers:
        raise ValueError(
            f"the format of files with the suffixes {sorted(kinds)} is not clear; use file_format=, one of "
            f"{sorted(_BY_NAME)}."
        )
    return readers.pop()


def _check_rows(chunk_rows: int | None) -> int | None:
    if chunk_rows is not None and (isinstance(chunk_rows, bool) or int(chunk_rows) < 1):
        raise ValueError(f"chunk_rows must be an integer of at least 1, got {chunk_rows!r}.")
    return chunk_rows
