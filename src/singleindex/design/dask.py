"""Dask arrays and data frames as blocks of rows: the work goes to where the blocks are.

Per visit a block sends back its part of the gradient and its bins; on the way the parts of eight blocks at a
time are added, in an order that does not depend on the workers. dask is imported only when its data are
given.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from .blocks import Block, ChunkError, SurveyTargetsTask
from .survey import TargetSurvey

# Parts that are added in one task.
_ARITY = 8


class ClusterError(RuntimeError):
    """The cluster was lost in mid-fit."""


def is_dask(data: Any) -> bool:
    """Return whether this is a collection of dask, without importing it."""
    dask = sys.modules.get("dask")
    return dask is not None and bool(dask.is_dask_collection(data))


class DaskSource:
    """Blocks of a Dask array, or partitions of a Dask data frame, with their y and weights.

    They are used as they are: what is not persisted is made anew, or read anew, at every visit.
    """

    def __init__(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> None:
        if y is None:
            raise ValueError("y is missing: give a Dask array or series with as many rows as X.")
        if X.ndim != 2:
            raise ValueError(
                f"X must have two dimensions, got {X.ndim}; use X.reshape(-1, 1) for one feature."
            )
        self.is_frame = hasattr(X, "npartitions") and hasattr(X, "columns")
        self.feature_names: Sequence[str] | None = list(X.columns) if self.is_frame else None
        if not self.is_frame:
            X = X.rechunk({1: X.shape[1]})
        self.n_features = len(X.columns) if self.is_frame else X.shape[1]
        self.dtype: Any = np.dtype(np.float64)
        if not self.is_frame and X.dtype == np.float32:
            self.dtype = np.dtype(np.float32)
        self.n_rows: int | None = None
        if not self.is_frame and not np.isnan(X.shape[0]):
            self.n_rows = int(X.shape[0])
        parts = [_in_blocks(X), _beside(X, y, "y")]
        for values, what in ((sample_weight, "sample_weight"), (groups, "groups")):
            parts.append([None] * len(parts[0]) if values is None else _beside(X, values, what))
        self.parts = list(zip(*parts, strict=True))
        self.lengths = None if self.n_rows is None else [int(n) for n in X.chunks[0]]
        self.on_rows: Any = None

    def map(self, task: Callable[..., Any], arguments: Sequence[Any] | None = None) -> Iterator[Any]:
        """Yield the task's result for each block; all travel here."""
        yield from _compute(self._tasks(task, arguments))

    def reduce(self, task: Callable[[Block], Any]) -> Any:
        """Return the merged results of the task for all blocks; only sums of them travel here."""
        from dask import delayed

        level = self._tasks(task, None)
        while len(level) > 1:
            level = [delayed(_merge, pure=False)(level[k : k + _ARITY]) for k in range(0, len(level), _ARITY)]
        return _compute(level)[0]

    def survey_targets(self) -> TargetSurvey:
        survey: TargetSurvey = self.reduce(SurveyTargetsTask())
        return survey

    def __iter__(self) -> Iterator[Block]:
        """Yield the blocks themselves, one after the other, for solvers that look at all rows here."""
        for number in range(len(self.parts)):
            yield _compute(self._tasks(_itself, None)[number : number + 1])[0]

    def fingerprint(self) -> tuple[Any, ...]:
        return ("dask", len(self.parts), self.n_features)

    def _tasks(self, task: Callable[..., Any], arguments: Sequence[Any] | None) -> list[Any]:
        from dask import delayed

        if self.lengths is None:
            count = delayed(len, pure=False)
            self.lengths = _compute([count(part[1]) for part in self.parts])
        starts = np.cumsum([0, *self.lengths]).tolist()
        # One node of the graph, which a worker gets once, and again if it is lost.
        shared = delayed(task, pure=False, traverse=False)
        run = delayed(_run, pure=False)
        tasks = []
        for number, part in enumerate(self.parts):
            extra = () if arguments is None else (arguments[number],)
            at = number, starts[number]
            tasks.append(run(shared, at, self.feature_names, self.dtype, extra, *part))
        return tasks


def _itself(block: Block) -> Block:
    return block


def _run(
    task: Any, at: Any, names: Any, dtype: Any, extra: Any, X: Any, y: Any, weight: Any, groups: Any
) -> Any:
    """Run a task on one block; this happens on the workers. `at`: its number, and that of its first row."""
    number, start = at
    name = f"block {number} of the Dask data"
    block = Block(
        _as_rows(X, names, dtype, name),
        _aligned(np.asarray(y)),
        None if weight is None else _aligned(np.asarray(weight, dtype=np.float64)),
        name,
        start=start,
        groups=None if groups is None else np.asarray(groups),
    )
    if not len(block.y) == block.X.shape[0] == len(block.y if block.weight is None else block.weight):
        raise ChunkError(f"{name}: X, y and sample_weight have different numbers of rows; make them agree.")
    return task(block, *extra)


def _merge(parts: Sequence[Any]) -> Any:
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    return merged


def _as_rows(X: Any, names: Any, dtype: Any, name: str) -> Any:
    if names is not None:
        if list(X.columns) != list(names):
            odd = sorted(map(str, set(X.columns) ^ set(names)))
            which = f" ({', '.join(odd[:5])})" if odd else ", or in another order"
            raise ChunkError(f"{name}: its columns are not those of the first block{which}; make them agree.")
        return _aligned(X.to_numpy(dtype=dtype))
    if hasattr(X, "tocsr"):  # of scipy, or of pydata/sparse
        X = X.tocsr().astype(dtype, copy=False)
        X.data, X.indices, X.indptr = map(_aligned, (X.data, X.indices, X.indptr))
        return X
    return _aligned(np.asarray(X, dtype=dtype))


def _aligned(values: Any) -> Any:
    """Return an array as numpy would have made it.

    What comes from another process may lie at any address, and sums of it are then taken in another order.
    """
    return np.require(values, requirements=["ALIGNED", "C"]) if values.dtype != object else values


# ---------------------------------------------------------------- collections


def _in_blocks(collection: Any) -> list[Any]:
    return list(np.ravel(np.asarray(collection.to_delayed(), dtype=object)))


def _beside(X: Any, values: Any, what: str) -> list[Any]:
    """Return the blocks of y or of the weights that lie beside those of X."""
    import dask.array as da

    is_frame = hasattr(X, "columns")
    if not is_dask(values):
        if is_frame or np.isnan(X.shape[0]):
            raise ValueError(
                f"{what} must be a Dask collection too where X has blocks of unknown length; make it one, or "
                "use X.compute_chunk_sizes() or X.to_dask_array(lengths=True)."
            )
        values = da.from_array(np.asarray(values), chunks=-1)
    if not is_frame and not hasattr(values, "columns") and hasattr(values, "rechunk"):
        known = not (np.isnan(X.shape[0]) or np.isnan(values.shape[0]))
        if known and values.shape[0] != X.shape[0]:
            raise ValueError(f"{what} has {values.shape[0]} rows where X has {X.shape[0]}; they must agree.")
        if known:
            values = values.rechunk((X.chunks[0], *([-1] * (values.ndim - 1))))
    blocks = _in_blocks(values)
    n_blocks = X.npartitions if is_frame else X.numblocks[0]
    if len(blocks) != n_blocks:
        raise ValueError(
            f"{what} has {len(blocks)} blocks where X has {n_blocks}; repartition one of them as the other."
        )
    return blocks


def _compute(tasks: list[Any]) -> list[Any]:
    """Run tasks on the active cluster, or in threads where there is none."""
    import dask

    try:
        return list(dask.compute(*tasks))
    except ChunkError:
        raise
    except Exception as error:
        address = _lost_scheduler(error)
        if address is None:
            raise
        raise ClusterError(
            f"The Dask scheduler at {address} was lost in mid-fit. Start a cluster and fit again; with "
            "solver=OnePass(checkpoint=...) the fit goes on from where it was kept last."
        ) from error


def _lost_scheduler(error: Exception) -> str | None:
    """Return the address of the scheduler if it is the reason of an error."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    from concurrent.futures import CancelledError

    lost = (
        distributed.CancelledError,
        CancelledError,
        distributed.comm.CommClosedError,
        TimeoutError,
        OSError,
    )
    if not isinstance(error, lost):
        return None
    try:
        client = distributed.Client.current()
    except ValueError:
        return "an address that is gone"
    if client.status == "running" and not isinstance(error, distributed.comm.CommClosedError):
        alive = client.scheduler is not None and client.scheduler_comm is not None
        if alive and not client.scheduler_comm.comm.closed():
            return None
    return str(client.scheduler.addr if client.scheduler is not None else "an address that is gone")


# ---------------------------------------------------------------- prediction


def predict_lazily(estimator: Any, method: str, X: Any, n_columns: int | None, dtype: Any) -> Any:
    """Return what a method gives for each block, as a Dask array that is not computed."""
    import dask.array as da
    from dask import delayed

    is_frame = hasattr(X, "columns")
    blocks = _in_blocks(X if is_frame else X.rechunk({1: X.shape[1]}))
    lengths = [np.nan] * len(blocks) if is_frame else list(X.chunks[0])
    model = delayed(estimator, pure=False, traverse=False)
    call = delayed(_call, pure=False)
    parts = [
        da.from_delayed(
            call(model, method, n_columns, dtype, block), _with_columns(n, n_columns), dtype=dtype
        )
        for block, n in zip(blocks, lengths, strict=True)
    ]
    return da.concatenate(parts, axis=0, allow_unknown_chunksizes=True)


def _with_columns(n_rows: Any, n_columns: int | None) -> tuple[Any, ...]:
    return (n_rows,) if n_columns is None else (n_rows, n_columns)


def _call(estimator: Any, method: str, n_columns: int | None, dtype: Any, X: Any) -> Any:
    if X.shape[0] == 0:  # what a filter leaves of some blocks, and no estimator takes
        return np.empty(_with_columns(0, n_columns), dtype=dtype)
    if hasattr(X, "tocsr") and not sparse.issparse(X):
        X = X.tocsr()
    return getattr(estimator, method)(X)
