"""Folds that are the same wherever the rows are: by their numbers, or by a column of groups.

scikit-learn takes them as `cv`, and so do searches in memory, on files and on a cluster.
"""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .base import Design

IntArray = NDArray[np.int32]


@dataclass(frozen=True)
class _Folds:
    """What the kinds of folds share: as many as `n_splits`, each held out once."""

    n_splits: int = 5

    def __post_init__(self) -> None:
        n: Any = self.n_splits
        if isinstance(n, bool) or not isinstance(n, numbers.Integral) or n < 2:
            raise ValueError(f"n_splits must be an integer of at least 2, got {n!r}.")

    def fold_of(self, X: Any, start: int, n_rows: int, n_total: int, groups: Any = None) -> IntArray:
        """Return the folds of `n_rows` of all `n_total` rows, the first of which has the number `start`."""
        raise NotImplementedError

    def groups_of(self, X: Any, groups: Any) -> Any:
        """Return what the folds go by beside the numbers of the rows, as `groups` for `fold_of`."""
        return groups

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return int(self.n_splits)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Any, Any]]:
        """Yield training and held-out rows, by number, as scikit-learn's splitters do."""
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        fold = self.fold_of(X, 0, n, n, groups)
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


@dataclass(frozen=True)
class HashKFold(_Folds):
    """Folds by a stable hash of the row number: as good as shuffled, and no row needs to know of another.

    Parameters
    ----------
    n_splits : int, default=5
    random_state : int, default=0
        Another number is another shuffle.

    Examples
    --------
    >>> import numpy as np
    >>> from singleindex.design import HashKFold
    >>> [test.tolist() for _, test in HashKFold(3).split(np.zeros((10, 1)))]
    [[0, 3, 8], [1, 2, 9], [4, 5, 6, 7]]
    """

    random_state: int = 0

    def fold_of(self, X: Any, start: int, n_rows: int, n_total: int, groups: Any = None) -> IntArray:
        return _as_folds(np.arange(start, start + n_rows, dtype=np.uint64), self.random_state, self.n_splits)


@dataclass(frozen=True)
class BlockKFold(_Folds):
    """Folds of consecutive rows, as even as can be: for rows in the order of time, or of their source."""

    def fold_of(self, X: Any, start: int, n_rows: int, n_total: int, groups: Any = None) -> IntArray:
        place = np.arange(start, start + n_rows, dtype=np.int64)
        return (place * self.n_splits // max(n_total, 1)).astype(np.int32)


@dataclass(frozen=True)
class GroupHashKFold(_Folds):
    """Folds by a stable hash of a group: rows of a group are held out together.

    Parameters
    ----------
    n_splits : int, default=5
    column : int or None, default=None
        The column of X that holds the groups, as numbers. None to have them given to `fit` as `groups`, in
        memory and with Dask.
    random_state : int, default=0
    """

    column: int | None = None
    random_state: int = 0

    def fold_of(self, X: Any, start: int, n_rows: int, n_total: int, groups: Any = None) -> IntArray:
        values = self.groups_of(X, groups)
        if values is None:
            raise ValueError(
                "GroupHashKFold needs groups: name the column of X that holds them, as column=0, or give "
                "groups to fit, in memory or with Dask."
            )
        if len(values) != n_rows:
            raise ValueError(f"groups has {len(values)} rows where X has {n_rows}; they must agree.")
        return _as_folds(_as_numbers(values), self.random_state, self.n_splits)

    def groups_of(self, X: Any, groups: Any) -> Any:
        if groups is not None:
            return np.asarray(groups)
        return None if self.column is None else _column_of(X, self.column)


FOLDS = (HashKFold, BlockKFold, GroupHashKFold)


def _column_of(X: Any, column: Any) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[:, column].to_numpy()
    if isinstance(X, Design):
        return X.columns(np.array([column])).ravel()
    values = X[:, [column]]
    return values.toarray().ravel() if sparse.issparse(values) else np.asarray(values).ravel()


def _as_numbers(values: Any) -> NDArray[np.uint64]:
    """Return a number for each value: equal ones of all types of numbers have the same."""
    if values.dtype.kind in "biuf":
        plain: NDArray[np.float64] = values.astype(np.float64) + 0.0  # so that there is one zero only
        return plain.view(np.uint64)
    distinct, place = np.unique(values.astype(str), return_inverse=True)
    digests = [hashlib.blake2b(text.encode(), digest_size=8).digest() for text in distinct.tolist()]
    return np.array([int.from_bytes(d, "little") for d in digests], dtype=np.uint64)[place]


def _as_folds(numbers_: NDArray[np.uint64], seed: int, n_splits: int) -> IntArray:
    """Return the fold of each number, by the mixing function of splitmix64."""
    golden = 0x9E3779B97F4A7C15
    with np.errstate(over="ignore"):
        z = numbers_ + np.uint64(golden * (int(seed) + 1) % 2**64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    # By the upper half: its remainders are as even as those of the whole, and fit into any platform's int.
    return ((z >> np.uint64(32)) % np.uint64(n_splits)).astype(np.int32)
