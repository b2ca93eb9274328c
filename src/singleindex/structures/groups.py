"""Group-sparse w: the atoms are the unit balls of groups of coefficients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .base import FloatArray, LinearMap, Structure, is_count, keep_largest
from .by_column import check_factors, is_chosen
from .rows import shrink_factors
from .separable import Separable, amounts, dual_norm_of, norm_of, ranks_of


@dataclass(frozen=True, eq=False)
class GroupSparse(Structure):
    """At most `n_atoms` groups of coefficients are not zero.

    Parameters
    ----------
    groups : list of collections, or array of shape (n_features,)
        Either one list, array, set, range or index of column positions (or column names, for data frames)
        per group, or one label per feature. Every feature belongs to a group.
    weights : None, "sqrt" or array of shape (n_groups,), default=None
        A group is ranked by its norm divided by its weight; "sqrt" takes the root of its size, so that
        large groups are not favoured. For labels, groups are in the order of the sorted labels. None
        ranks by the norm, which makes `project` the nearest point. In penalties they are the factors of the
        groups. A group of weight 0 is never penalised: it is in every model, whole, and does not count among
        the `n_atoms`. One of infinite weight is left out.
    n_inner : int, default=None
        Keep at most this many coefficients inside of each kept group, its largest.
    overlapping : bool, default=False
        Allow a feature to be in several groups. The coefficient of such a feature is then the sum of one
        part for each of its groups, as if its column were there once per group (the latent group
        construction). So the features in use are a union of the chosen groups: a feature is dropped
        only if all of its groups are. Such a structure works through an estimator, which repeats the
        columns, or through `coordinates`; its other methods raise.

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", as_stored(self.groups))

    def project(self, w: FloatArray, n_atoms: int | None) -> FloatArray:
        labels, weights = self._disjoint_labels(len(w)), self._weights(len(w))
        keep = weights == 0
        if self.n_inner is not None:
            w = np.where(keep[labels], w, keep_inside(w, labels, self.n_inner))
        ranks = ranks_of(group_norms(w, labels, len(weights)), weights)
        keep[keep_largest(ranks, len(weights) if n_atoms is None else n_atoms)] = True
        keep &= np.isfinite(weights)
        return np.where(keep[labels], w, np.zeros_like(w))

    def count_atoms(self, w: FloatArray) -> int:
        labels, weights = self._disjoint_labels(len(w)), self._weights(len(w))
        return len(np.unique(labels[(w != 0) & (weights[labels] > 0)]))

    def check(self, shape: tuple[int, ...]) -> int:
        if self.n_inner is not None and not is_count(self.n_inner):
            raise ValueError(f"n_inner must be an integer of at least 1, or None; got {self.n_inner!r}.")
        if self.overlapping:
            return self.coordinates(shape[0])[1]._n_chosen(None)
        self._labels(shape[0])
        return self._n_chosen(shape[0])

    def shrink(self, w: FloatArray, amount: float) -> FloatArray:
        labels, weights = self._disjoint_labels(len(w)), self._weights(len(w))
        factors = shrink_factors(group_norms(w, labels, len(weights)), amounts(weights, amount))
        shrunk: FloatArray = w * factors[labels].astype(w.dtype, copy=False)
        return shrunk

    def norm(self, w: FloatArray) -> float:
        labels, weights = self._disjoint_labels(len(w)), self._weights(len(w))
        return norm_of(group_norms(w, labels, len(weights)), weights)

    def dual_norm(self, gradient: FloatArray) -> float:
        labels, weights = self._disjoint_labels(len(gradient)), self._weights(len(gradient))
        return dual_norm_of(group_norms(gradient, labels, len(weights)), weights)

    def separable(self, n_coordinates: int) -> Separable | None:
        if self.overlapping or self.n_inner is not None:
            return None
        return Separable(self._weights(n_coordinates), block=self._labels(n_coordinates))

    def resolve(self, feature_names: Sequence[str] | None) -> GroupSparse:
        """Return the same structure with column positions in place of column names."""
        groups = as_list_of_groups(self.groups)
        if groups is None or not any(isinstance(name, str) for group in groups for name in group):
            return self
        if feature_names is None:
            raise ValueError(
                "groups are given by column names, but X has none; pass a data frame, or positions."
            )
        position = {name: j for j, name in enumerate(feature_names)}
        for name in (name for group in groups for name in group):
            if not isinstance(name, str) or name not in position:
                raise ValueError(f"groups name a column that X does not have: {name!r}.")
        return replace(self, groups=[[position[name] for name in group] for group in groups])

    @property
    def streams(self) -> bool:
        return not self.overlapping

    def coordinates(self, n_features: int) -> tuple[LinearMap | None, GroupSparse]:
        """Return the column of each latent coefficient, and the disjoint groups of these."""
        if not self.overlapping:
            return None, self
        groups = self._positions(n_features)
        labels = np.repeat(np.arange(len(groups)), [len(g) for g in groups])
        return Repeated(np.concatenate(groups)), replace(self, groups=labels, overlapping=False)

    # ------------------------------------------------------------ labels

    def _disjoint_labels(self, n_features: int) -> NDArray[np.intp]:
        if self.overlapping:
            raise ValueError(
                "overlapping groups are projected on repeated columns: use the structure through an "
                "estimator, or `coordinates`."
            )
        return self._labels(n_features)

    def _labels(self, n_features: int) -> NDArray[np.intp]:
        """Return the group of each feature as a number from 0."""
        cached = self.__dict__.get("_cached_labels")
        if cached is None:
            if as_list_of_groups(self.groups) is None:
                cached = number_labels(self.groups)
            else:
                groups = self._positions(n_features)
                cached = np.empty(n_features, dtype=np.intp)
                for k, group in enumerate(groups):
                    cached[group] = k
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
        try:
            weights = np.asarray(self.weights, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"weights must be {len(sizes)} numbers of at least 0, one per group, got {self.weights!r}."
            ) from None
        if weights.shape != sizes.shape:
            raise ValueError(
                f"weights must be {len(sizes)} numbers of at least 0, one per group, "
                f"got shape {weights.shape}."
            )
        return check_factors(weights, "weights", "group")

    def _n_chosen(self, n_features: int | None) -> int:
        return int(np.count_nonzero(is_chosen(self._weights(n_features))))

    def _positions(self, n_features: int) -> list[NDArray[np.intp]]:
        """Return checked arrays of column positions."""
        given = as_list_of_groups(self.groups)
        if given is None:
            labels = self._labels(n_features)
            return [np.flatnonzero(labels == k) for k in range(labels.max() + 1)]
        groups = [np.asarray(group) for group in given]
        for k, group in enumerate(groups):
            if group.ndim != 1:
                raise ValueError(f"group {k} must be a flat list of columns, got {given[k]!r}.")
            if len(group) == 0:
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


# ---------------------------------------------------------------- how groups are given


def as_stored(groups: Any) -> Any:
    """Return lists in place of sets, iterators and indices of data frames.

    Those have no order, end after one pass, or have no place in a model file. What is no collection is
    returned as it is, for `check` to refuse.
    """
    outer = _listed(groups)
    if not isinstance(outer, (list, tuple)):
        return outer
    inner = [_listed(group) for group in outer]
    if all(new is old for new, old in zip(inner, outer, strict=True)):
        return outer
    return _sorted(inner) if isinstance(groups, (set, frozenset)) else inner


def _listed(items: Any) -> Any:
    if isinstance(items, (set, frozenset)):
        return _sorted(items)
    kept = isinstance(items, (list, tuple, range, np.ndarray)) or getattr(items, "ndim", 1) != 1
    return items if kept or not _is_collection(items) else list(items)


def _sorted(items: Iterable[Any]) -> list[Any]:
    # The order of a set of strings differs between processes.
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=repr)


def as_list_of_groups(groups: Any) -> list[Any] | None:
    """Return the groups where there is one collection for each, None where there is one label per feature."""
    if isinstance(groups, Mapping):
        raise ValueError(
            "groups must be a list of groups or one label per feature, not a dict; "
            "of a dict of groups pass list(groups.values())."
        )
    if not _is_collection(groups):
        raise ValueError(
            "groups must be one list of columns per group, such as [[0, 1], [2, 3]], or one label per "
            f"feature, such as ['a', 'a', 'b', 'b']; got {groups!r}."
        )
    if isinstance(groups, np.ndarray) and groups.ndim == 1 and groups.dtype != object:
        return None
    given = list(groups)
    single = [k for k, group in enumerate(given) if not _is_collection(group)]
    if len(single) == len(given):
        return None
    if single:
        raise ValueError(
            f"groups[{single[0]}] is {given[single[0]]!r}, but others are lists of columns; give every group "
            "as a list and leave out what is none."
        )
    return given


def number_labels(labels: Any) -> NDArray[np.intp]:
    """Return the position of each label among the sorted ones."""
    missing = np.flatnonzero(_is_missing(labels))
    if len(missing):
        raise ValueError(
            f"groups has no label for feature {missing[0]} ({len(missing)} such features); "
            "give every feature a label, one of its own if need be."
        )
    values = np.asarray(labels)
    if values.ndim != 1:
        raise ValueError(f"groups must hold one label per feature, got an array of shape {values.shape}.")
    try:
        return np.unique(values, return_inverse=True)[1].astype(np.intp)
    except TypeError:
        raise ValueError(
            "groups has labels that cannot be sorted together; use text for all of them, or integers."
        ) from None


def _is_missing(labels: Any) -> NDArray[np.bool_]:
    # By item, because an array of text would spell NaN out.
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "biuUS":
        return np.zeros(len(labels), dtype=bool)
    return np.array([label is None or _differs_from_itself(label) for label in labels], dtype=bool)


def _differs_from_itself(label: Any) -> bool:
    """Tell NaN and NaT, and NA of pandas, which has no truth value."""
    try:
        return bool(np.any(label != label))
    except (TypeError, ValueError):  # which of the two depends on the version of numpy
        return True


def _is_collection(value: Any) -> bool:
    if isinstance(value, (str, bytes, Mapping)) or getattr(value, "ndim", 1) == 0:
        return False
    return isinstance(value, Iterable)


@dataclass(frozen=True, eq=False)
class Repeated:
    """Coordinates that stand for columns of X, some for the same one; those of one column add up."""

    columns: NDArray[np.intp]

    def width(self, n_features: int) -> int:
        return len(self.columns)

    def to_features(self, z: FloatArray) -> FloatArray:
        folded = np.zeros((int(np.max(self.columns)) + 1, *z.shape[1:]))
        np.add.at(folded, self.columns, z)
        return folded

    def from_features(self, w: FloatArray) -> FloatArray:
        raise ValueError("overlapping groups have many coordinates for the same w.")

    def pull_back(self, gradient: FloatArray) -> FloatArray:
        repeated: FloatArray = gradient[self.columns]
        return repeated

    def columns_behind(self, which: NDArray[np.intp]) -> tuple[NDArray[np.intp], FloatArray]:
        """Return the column of X behind each of some coordinates, and its factor."""
        return self.columns[which], np.ones(len(which))


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
