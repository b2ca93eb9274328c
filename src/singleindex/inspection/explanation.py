"""What a fitted model makes of single rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from ..estimators.effects import is_switch, predict_at
from ..estimators.outputs import Facts, facts_of
from ..fitting.background import background_of
from ..structures import GroupSparse
from ..structures.groups import as_list_of_groups, number_labels
from ._layers import FloatArray, _position
from ._prepared import inside

# Values of a feature that are tried in search of one that passes a threshold, and halvings towards the
# nearest.
_GRID, _HALVINGS = 50, 25


class Step(NamedTuple):
    """One contribution on the way from the mean row to a row, and the prediction before and after it."""

    name: str
    value: float
    contribution: float
    before: float
    after: float


class Change(NamedTuple):
    """One feature of a row, its value, the nearest one that passes a threshold, and the prediction there."""

    name: str
    value: float
    to: float
    prediction: float


@dataclass(frozen=True, eq=False)
class Explanation:
    """What a model makes of some rows, as :func:`explain` returns it.

    Attributes
    ----------
    contributions : array of shape (n_samples, n_features), or (n_samples, n_features, n_outputs)
        What each feature adds to the index: its weight times its distance from the mean of the fit.
    base : float, or array of shape (n_outputs,)
        The index of the mean row. With the contributions it sums to the index.
    index : array of shape (n_samples,) or (n_samples, n_outputs)
    prediction : array of shape (n_samples,) or (n_samples, n_outputs)
        Numbers; or the probability of the second of two classes, of each of several, or of each label.
    outside : array of bool of shape (n_samples, n_features)
        Which values lie beyond all of those that the model was fitted to; of features with a weight.
    feature_names : list of str
    """

    contributions: FloatArray
    base: Any
    index: FloatArray
    prediction: FloatArray
    outside: NDArray[np.bool_]
    feature_names: list[str]
    facts: Facts = field(repr=False)
    values: FloatArray = field(repr=False)
    groups: Any = field(repr=False, default=None)

    def __len__(self) -> int:
        return len(self.index)

    def outside_names(self, row: int) -> list[str]:
        """Return the names of the features of a row whose values lie beyond those of the fit."""
        return [self.feature_names[j] for j in np.flatnonzero(self.outside[row])]

    def steps(self, row: int = 0, output: Any = None) -> list[Step]:
        """Return the contributions to a row, the largest first, each with the prediction before and after it.

        The first prediction is that of the mean row, the last that of the row itself. What a step changes
        depends on those before it where the link is curved; what it adds to the index does not.

        Parameters
        ----------
        row : int, default=0
        output : int or class label, default=None
            Which of several outputs or classes.
        """
        k, known = self.position(output), self._known
        added = self._added(row)
        order = [i for i in np.argsort(-np.abs(added[:, k]), kind="stable") if added[i].any()]
        path = np.vstack([np.zeros_like(added[:1]), np.cumsum(added[order], axis=0)])
        predicted = predict_at(self.facts, np.atleast_1d(self.base) + path)[:, k]
        return [
            Step(
                self.feature_names[known["feature"][i]], float(self.values[row, i]), float(added[i, k]),
                float(predicted[t]), float(predicted[t + 1]),
            )
            for t, i in enumerate(order)
        ]  # fmt: skip

    def to_pass(self, threshold: float, output: Any = None) -> list[Change | None]:
        """Return for every row the smallest change of one feature that takes the prediction past a threshold.

        Smallest in standard deviations of the feature, and within the values that the model was fitted to;
        a feature of 0 and 1 is switched. None where no feature alone will do. It tells how the model would
        answer, not what would happen: no feature is known to be a cause.

        Parameters
        ----------
        threshold : float
            Predictions above it are to come to lie at or below it, and the others above it.
        output : int or class label, default=None
            Which of several outputs or classes.

        Returns
        -------
        changes : list of Change or None
            Each with `name`, `value`, `to` and `prediction`.
        """
        k = self.position(output)
        return [self._nearest_change(row, k, threshold) for row in range(len(self))]

    def by_group(self, groups: Any = None) -> tuple[list[Any], FloatArray]:
        """Return the contributions summed over groups of features.

        Parameters
        ----------
        groups : list of collections, or array of shape (n_features,), default=None
            As in :class:`~singleindex.structures.GroupSparse`: positions or names of each group's features,
            or one label per feature. None takes those of the model's structure. A feature in several groups
            counts in each by an equal part.

        Returns
        -------
        labels : list
            The labels, or the numbers of the groups.
        contributions : array of shape (n_samples, n_groups), or (n_samples, n_groups, n_outputs)
        """
        groups = self.groups if groups is None else groups
        if groups is None:
            raise ValueError("the model's structure has no groups; pass groups=, one label per feature.")
        labels, member = _membership(groups, self.feature_names)
        share = member / np.maximum(member.sum(axis=0), 1)
        return labels, np.einsum("gj,nj...->ng...", share, self.contributions)

    # ------------------------------------------------------------ parts

    @property
    def _known(self) -> Any:
        return self.facts.background

    def position(self, output: Any = None) -> int:
        """Return the number of an output, by its label; None is the only one there is."""
        labels = [one.label for one in self.facts.outputs]
        if output is None and len(labels) > 1:
            raise ValueError(f"the model has several outputs; pass output=, one of {labels}.")
        return 0 if output is None else _position(labels, output)

    def _added(self, row: int) -> FloatArray:
        """Return the contributions of the features with a weight to one row, by outputs."""
        added: FloatArray = self.contributions[row].reshape(len(self.feature_names), -1)[
            self._known["feature"]
        ]
        return added

    def _nearest_change(self, row: int, k: int, threshold: float) -> Change | None:
        known, x = self._known, self.values[row]
        if not len(x):
            return None
        is_above = np.atleast_1d(self.prediction[row])[k] > threshold
        switch = np.array([is_switch(*known_row) for known_row in _rows_of(known)])
        grid = np.linspace(known["low"], known["high"], _GRID, axis=1)
        grid[switch] = np.round(grid[switch])
        passes = (self._with_values(row, grid)[..., k] > threshold) != is_above
        unit = np.where(known["spread"] > 0, known["spread"], np.inf)
        distance = np.where(passes, np.abs(grid - x[:, None]) / unit[:, None], np.inf)
        at = distance.argmin(axis=1)
        near, far = x.copy(), grid[np.arange(len(x)), at]
        for _ in range(_HALVINGS):
            middle = np.where(switch, far, 0.5 * near + 0.5 * far)
            done = (self._with_values(row, middle[:, None])[:, 0, k] > threshold) != is_above
            near, far = np.where(done, near, middle), np.where(done, middle, far)
        cost = np.where(np.isfinite(distance.min(axis=1)), np.abs(far - x) / unit, np.inf)
        i = int(cost.argmin())
        if not np.isfinite(cost[i]):
            return None
        there = self._with_values(row, far[:, None])[i, 0, k]
        return Change(self.feature_names[known["feature"][i]], float(x[i]), float(far[i]), float(there))

    def _with_values(self, row: int, grid: FloatArray) -> FloatArray:
        """Return the predictions of a row with other values of one feature: (n_used, n_values, n_outputs)."""
        w = self.facts.coef[self._known["feature"]]
        move = (grid - self.values[row][:, None])[..., None] * w[:, None, :]
        index = np.atleast_1d(self.index[row]) + move
        predicted = predict_at(self.facts, index.reshape(-1, index.shape[-1]))
        return predicted.reshape(index.shape)


def explain(
    model: Any, X: Any, *, background: Any = None, feature_names: Sequence[str] | None = None
) -> Explanation:
    r"""Tell what a fitted model makes of single rows.

    .. math:: w \cdot x = w \cdot \bar x + \sum_j w_j (x_j - \bar x_j)

    The index of a row is that of the mean row and one contribution of each feature; the link makes the
    prediction of it.

    Parameters
    ----------
    model : fitted estimator
        A single-index regressor or classifier, plain or with a search, a `TableClassifier` or
        `TableRegressor`, or a pipeline that ends in one; of these the prepared columns are told of.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The rows to explain.
    background : like X, default=None
        Rows whose means and ranges the others are compared with. None takes those of the fit, which models of
        data in blocks and of streams do not know.
    feature_names : sequence of str, default=None
        None takes `feature_names_in_`, and x0, x1, … where there are no names.

    Returns
    -------
    explanation : Explanation
        With `contributions`, `base`, `index`, `prediction` and `outside`; `steps(row)` gives the prediction
        before and after each contribution, `to_pass(threshold)` what would have to change,
        `by_group()` the contributions of groups of features.

    Notes
    -----
    The contributions are the SHAP values of the index in closed form: exactly those that set a feature's
    value without regard to the others (`shap.LinearExplainer`, interventional), and for independent features
    those by conditional expectations too; of correlated ones the latter divide the credit otherwise. The
    prediction has no such sum, since the link is curved. A contribution says what the model makes of a value,
    not what it does in the world.

    Examples
    --------
    >>> import numpy as np
    >>> from singleindex import SingleIndexClassifierCV
    >>> from singleindex.datasets import make_single_index
    >>> from singleindex.inspection import explain
    >>> X, y, w, g = make_single_index(300, 10, n_atoms=3, random_state=0)
    >>> model = SingleIndexClassifierCV(cv=5).fit(X, y)
    >>> explanation = explain(model, X[:5])
    >>> explanation.contributions.shape
    (5, 10)
    >>> bool(np.allclose(explanation.base + explanation.contributions.sum(axis=1), explanation.index))
    True
    >>> change = explanation.to_pass(0.5)[0]
    >>> bool((explanation.prediction[0] > 0.5) != (change.prediction > 0.5))
    True
    """
    model, X, _, background, *_ = inside(model, X, X_test=background)
    facts = facts_of(model)
    names, single = facts.names(feature_names), len(facts.outputs) == 1
    if background is not None or facts.background is None:
        facts = replace(facts, background=_background(facts, background))
    known: Any = facts.background
    structure = model.get_params(deep=False).get("structure")
    index = np.asarray(model.index(X), dtype=np.float64).reshape(X.shape[0], -1)
    used = known["feature"]
    values = _columns_of(X, used)
    added = (values - known["mean"])[:, :, None] * facts.coef[used]
    contributions = np.zeros((len(index), len(names), len(facts.outputs)))
    contributions[:, used] = added
    base = known["mean"] @ facts.coef[used]
    outside = np.zeros((len(index), len(names)), dtype=bool)
    outside[:, used] = (values < known["low"]) | (values > known["high"])
    return Explanation(
        contributions=contributions[:, :, 0] if single else contributions,
        base=float(base[0]) if single else base,
        index=index[:, 0] if single else index,
        prediction=predict_at(facts, index)[:, 0] if single else predict_at(facts, index),
        outside=outside,
        feature_names=names,
        facts=facts,
        values=values,
        groups=structure.groups if isinstance(structure, GroupSparse) else None,
    )


def _background(facts: Facts, rows: Any) -> dict[str, Any]:
    if rows is None:
        raise ValueError(
            "the model knows nothing of the rows it was fitted to; pass some of them as background=X_train."
        )
    every = np.arange(len(facts.coef))
    return background_of(facts.coef, _columns_of(rows, every), None)


def _columns_of(X: Any, which: NDArray[np.intp]) -> FloatArray:
    part = _safe_indexing(X, which, axis=1)
    return np.asarray(part.toarray() if hasattr(part, "toarray") else part, dtype=np.float64)


def _rows_of(known: Any) -> Any:
    return zip(*(known[name].tolist() for name in ("mean", "spread", "low", "high")), strict=True)


def _membership(groups: Any, names: list[str]) -> tuple[list[Any], NDArray[np.bool_]]:
    """Return the labels of groups, and which features are in each: (n_groups, n_features)."""
    listed = as_list_of_groups(groups)
    if listed is None:
        if len(groups) != len(names):
            raise ValueError(f"groups has {len(groups)} labels, one per feature is needed: {len(names)}.")
        labels = np.unique(np.asarray(groups)).tolist()
        return labels, np.arange(len(labels))[:, None] == number_labels(groups)
    member = np.zeros((len(listed), len(names)), dtype=bool)
    for number, group in enumerate(listed):
        member[number, [names.index(j) if isinstance(j, str) else int(j) for j in group]] = True
    return list(range(len(listed))), member
