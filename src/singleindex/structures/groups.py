"""Group-sparse w: the atoms are the unit balls of groups of coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .base import FloatArray, keep_largest
from .rows import shrink_factors


@dataclass(frozen=True, eq=False)
class GroupSparse:
    """At most `n_atoms` groups of coefficients are not zero.

    Parameters
    ----------
    groups : list of arrays, or array of shape (n_features,)
        Either one sequence of column positions (or column names, for data frames) per group, or one label
        per feature. Every feature belongs to a group.
    weights : None, "sqrt" or array of shape (n_groups,), default=None
        A group is ranked by its norm divided by its weight; "sqrt" takes the root of its size, so that
        large groups are not favoured. For labels, groups are in the order of the sorted labels. None
        ranks by the norm, which makes `project` the nearest point.
    n_inner : int, default=None
        Keep at most this many coefficients inside of each kept group, its largest.
    overlapping : bool, default=False
        Allow a feature to be in several groups. The coefficient of such a feature is then the sum of one
        part for each of its groups, as if its column were there once per group (the latent group
        construction). So the features in use are a union of the chosen groups: a feature is dropped
        only if all of its groups are.

    Examples
    --------
    >>> import numpy as np
    >>> from singleindex.structures import GroupSparse
    >>> w = np.array([1.0, 1.0, 0.1, 1.2])
    >>> GroupSparse(["a", "a", "b", "b"]).project(w, n_atoms=1)
    array([1., 1., 0., 0.])
    >>> GroupSparse([[0, 1], [2, 3]], n_inner=1).project(w, n_atoms=1)
    array([0. , 0. , 0. , 1.2])
    """

    groups: Any
    weights: Literal["sqrt"] | ArrayLike | None = None
    n_inner: int | None = None
    overlapping: bool = False

    def project(self, w: FloatArray, n_atoms: int | None) -> FloatArray:
        labels, weights = self._labels(len(w)), self._weights(len(w))
        if self.n_inner is not None:
            w = keep_inside(w, labels, self.n_inner)
        norms = group_norms(w, labels, len(weights))
        keep = np.zeros(len(weights), dtype=bool)
        keep[keep_largest(norms / weights, len(weights) if n_atoms is None else n_atoms)] = True
        return np.where(keep[labels], w, np.zeros_like(w))

    def count_atoms(self, w: FloatArray) -> int:
        labels = self._labels(len(w))
        return len(np.unique(labels[w != 0]))

    def check(self, shape: tuple[int, ...]) -> int:
        if self.n_inner is not None and self.n_inner < 1:
            raise ValueError(f"n_inner must be at least 1 or None, got {self.n_inner}.")
        if self.overlapping:
            return len(self.latent(shape[0])[1]._weights(None))
        self._labels(shape[0])
        return len(self._weights(shape[0]))

    def shrink(self, w: FloatArray, amount: float) -> FloatArray:
        labels, weights = self._labels(len(w)), self._weights(len(w))
        factors = shrink_factors(group_norms(w, labels, len(weights)), amount * weights)
        shrunk: FloatArray = w * factors[labels].astype(w.dtype, copy=False)
        return shrunk

    def norm(self, w: FloatArray) -> float:
        labels, weights = self._labels(len(w)), self._weights(len(w))
        return float(weights @ group_norms(w, labels, len(weights)))

    def dual_norm(self, gradient: FloatArray) -> float:
        labels, weights = self._labels(len(gradient)), self._weights(len(gradient))
        return float(np.max(group_norms(gradient, labels, len(weights)) / weights))

    def resolve(self, feature_names: Sequence[str] | None) -> GroupSparse:
        """Return the same structure with column positions in place of column names."""
        if not _is_list_of_groups(self.groups) or not any(
            isinstance(name, str) for group in self.groups for name in group
        ):
            return self
        if feature_names is None:
            raise ValueError(
                "groups are given by column names, but X has none; pass a data frame, or positions."
            )
        position = {name: j for j, name in enumerate(feature_names)}
        unknown = [name for group in self.groups for name in group if name not in position]
        if unknown:
            raise ValueError(f"groups name a column that X does not have: {unknown[0]!r}.")
        return replace(self, groups=[[position[name] for name in group] for group in self.groups])

    def latent(self, n_features: int) -> tuple[NDArray[np.intp], GroupSparse]:
        """Return the column of each latent coefficient, and the disjoint groups of these."""
        groups = self._positions(n_features)
        labels = np.repeat(np.arange(len(groups)), [len(g) for g in groups])
        return np.concatenate(groups), replace(self, groups=labels, overlapping=False)

    # ------------------------------------------------------------ labels

    def _labels(self, n_features: int) -> NDArray[np.intp]:
        """Return the group of each feature as a number from 0."""
        cached = self.__dict__.get("_cached_labels")
        if cached is None:
            if _is_list_of_groups(self.groups):
                groups = self._positions(n_features)
                cached = np.empty(n_features, dtype=np.intp)
                for k, group in enumerate(groups):
                    cached[group] = k
            else:
                cached = np.unique(np.asarray(self.groups), return_inverse=True)[1].astype(np.intp)
            object.__setattr__(self, "_cached_labels", cached)
        if len(cached) != n_features:
            raise ValueError(f"groups has {len(cached)} labels, one per feature is needed: {n_features}.")
        labels: NDArray[np.intp] = cached
        return labels

    def _weights(self, n_features: int | None) -> FloatArray:
        labels = self._labels(len(np.asarray(self.groups)) if n_features is None else n_features)
        sizes = np.bincount(labels)
        if self.weights is None:
            return np.ones(len(sizes))
        if isinstance(self.weights, str):
            if self.weights != "sqrt":
                raise ValueError(f"weights must be None, 'sqrt' or an array, got {self.weights!r}.")
            return np.sqrt(sizes)
        weights = np.asarray(self.weights, dtype=np.float64)
        if weights.shape != sizes.shape or not (weights > 0).all():
            raise ValueError(
                f"weights must be {len(sizes)} positive numbers, one per group, got shape {weights.shape}."
            )
        return weights

    def _positions(self, n_features: int) -> list[NDArray[np.intp]]:
        """Return checked arrays of column positions."""
        if not _is_list_of_groups(self.groups):
            labels = self._labels(n_features)
            return [np.flatnonzero(labels == k) for k in range(labels.max() + 1)]
        groups = [np.asarray(group) for group in self.groups]
        for k, group in enumerate(groups):
            if group.ndim != 1 or len(group) == 0:
                raise ValueError(f"group {k} is empty; leave it out of groups.")
            if group.dtype.kind not in "iu":
                raise ValueError(f"group {k} must hold integer column positions, got {group.dtype}.")
            if group.min() < 0 or group.max() >= n_features:
                raise ValueError(
                    f"group {k} names column {group.max() if group.max() >= n_features else group.min()}, "
                    f"but X has columns 0 to {n_features - 1}."
                )
            if len(np.unique(group)) < len(group):
                raise ValueError(f"group {k} names a column twice; name each column once.")
        self._check_cover(groups, n_features)
        return [group.astype(np.intp) for group in groups]

    def _check_cover(self, groups: list[NDArray[Any]], n_features: int) -> None:
        count = np.bincount(np.concatenate(groups), minlength=n_features)
        if (count == 0).any():
            missing = int(np.flatnonzero(count == 0)[0])
            raise ValueError(
                f"column {missing} is in no group ({int((count == 0).sum())} such columns); "
                "add a group for it, of one column if need be."
            )
        if (count > 1).any() and not self.overlapping:
            twice = int(np.flatnonzero(count > 1)[0])
            raise ValueError(
                f"column {twice} is in {count[twice]} groups; use overlapping=True to allow this."
            )


def _is_list_of_groups(groups: Any) -> bool:
    return (
        isinstance(groups, (list, tuple))
        and len(groups) > 0
        and all(isinstance(g, (list, tuple, range, np.ndarray)) for g in groups)
    )


def group_norms(w: FloatArray, labels: NDArray[np.intp], n_groups: int) -> FloatArray:
    return np.sqrt(np.bincount(labels, weights=np.square(w), minlength=n_groups))


def keep_inside(w: FloatArray, labels: NDArray[np.intp], n_inner: int) -> FloatArray:
    """Keep the `n_inner` largest coefficients of each group; equal ones keep the lowest position."""
    order = np.lexsort((-np.abs(w), labels))
    sizes = np.bincount(labels)
    rank = np.arange(len(w)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept = np.zeros_like(w)
    chosen = order[rank < n_inner]
    kept[chosen] = w[chosen]
    return kept
