"""What many fits tell of one model."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimators.base import Problem
from ..estimators.outputs import Facts
from ..fitting.band import Windows, band_at, make_windows
from ..fitting.cross_fit import spread_of
from ..fitting.halves import Atoms
from ..fitting.stability import ASSUMPTIONS, Rule, number_chosen, rule_for
from ._effects import EffectFinder, check_level
from ._intervals import Evidence, Intervals
from ._layers import _position
from ._report.folds import full_index

FloatArray = NDArray[np.float64]

# Features that are listed, and that a group is named by.
_SHOWN, _NAMED = 10, 3


class Resampled:
    """What many fits tell of one model; made by :func:`~singleindex.inspection.resample`.

    Attributes
    ----------
    selection : array of shape (n_features,) or (n_features, n_outputs)
        In which share of the halves each feature is chosen, where each half chooses `rule().n_chosen`.
    evidence : Evidence or None
        The score of y on held-out rows beside those of y in random order, with its `p_value`.
    feature_names : list of str
    n_resamples : int
        How many halves there were.

    Notes
    -----
    What is claimed: a bound on the expected number of false features among the stable ones; that the band of
    the link, point by point, and the intervals of stable features cover as often as they say on data like
    those of `benchmarks/uncertainty`. What is not: that a feature which is not stable has no effect; that an
    effect is one of cause; that intervals cover for features which were picked by their intervals.
    """

    def __init__(
        self, model: Any, facts: Facts, problem: Problem, X: Any, names: list[str], atoms: Atoms,
        orders: NDArray[np.intp], evidence: Evidence | None,
    ) -> None:  # fmt: skip
        self.model, self.facts, self.feature_names, self.evidence = model, facts, names, evidence
        self.n_resamples = len(orders)
        self._problem, self._atoms, self._orders, self._X = problem, atoms, orders, X

    # ------------------------------------------------------------ selection

    @property
    def selection(self) -> FloatArray:
        """In which share of the halves each feature is chosen."""
        shares = self.shares()
        return shares[:, 0] if len(self.facts.outputs) == 1 else shares

    def shares(self, max_false: float = 1.0, assumption: str = "unimodal") -> FloatArray:
        """Return the shares that :meth:`stable` looks at: (n_features, n_outputs).

        How many features a half chooses follows from what is asked for.
        """
        return self._shares(self.rule(max_false, assumption).n_chosen)

    def stable(self, max_false: float = 1.0, assumption: str = "unimodal") -> NDArray[np.intp]:
        """Return the numbers of the stable features: of these, few are false.

        Parameters
        ----------
        max_false : float, default=1.0
            How many false ones are expected at most. Of several outputs that are fitted one by one each has
            its part of it; a feature is listed where it is stable for any of them.
        assumption : {"unimodal", "none", "r-concave"}, default="unimodal"
            What is taken for granted of how often halves choose a feature that is no better than chance; the
            more, the more features are found.

        Notes
        -----
        False are features that a half chooses no more often than by chance. Features that have no weight but
        are correlated with some that have one may be chosen more often, and the bound does not count them.
        The bounds are those of Shah & Samworth (2013): "none" holds for every method and all data; "unimodal"
        where the number of pairs that choose such a feature twice has a distribution with one mode;
        "r-concave" where it is r-concave, r = -1/2, and the number of halves likewise with r = -1/4. Neither
        can be proved; both were so in all of their examples.
        Features that are never penalised are not tested, and not listed.
        """
        rule = self.rule(max_false, assumption)
        always = self._atoms.to_features(np.where(self._atoms.tested, 0.0, 1.0)) > 0
        return np.flatnonzero((self._shares(rule.n_chosen).max(axis=1) >= rule.share - 1e-9) & ~always)

    def rule(self, max_false: float = 1.0, assumption: str = "unimodal") -> Rule:
        """Return by what rule features are stable, with the bound on false ones that it gives."""
        if assumption not in ASSUMPTIONS:
            raise ValueError(f"assumption must be one of {ASSUMPTIONS}, got {assumption!r}.")
        if not max_false > 0:
            raise ValueError(f"max_false must be positive, got {max_false}; try 1.0, or 0.5.")
        n_problems, n_atoms = self._orders.shape[1], int(self._atoms.tested.sum())
        part = max_false / n_problems
        chosen = min(number_chosen(part, n_atoms, self._half, assumption), self._orders.shape[2])
        found = rule_for(part, chosen, n_atoms, self.n_resamples // 2, assumption)
        return Rule(found.n_chosen, found.share, found.bound * n_problems, assumption)

    @property
    def _half(self) -> int:
        """How many rows a half has."""
        weight = self._problem.weight
        return int(len(self._problem.targets.Y) if weight is None else np.count_nonzero(weight)) // 2

    def _shares(self, n_chosen: int) -> FloatArray:
        """Return in which share of the halves each feature is chosen, by outputs."""
        factor, found = self._atoms.shape.factor, []
        for k in range(self._orders.shape[1]):
            chosen = self._orders[:, k, :n_chosen]
            share = np.bincount(chosen[chosen >= 0], minlength=len(factor)) / self.n_resamples
            found.append(self._atoms.to_features(np.where(factor == 0, 1.0, share)))
        shares = np.column_stack(found)
        return np.broadcast_to(shares, (len(shares), len(self.facts.outputs))).copy()

    # ------------------------------------------------------------ the link

    def link_band(self, index: Any, level: float = 0.9, output: Any = None) -> tuple[FloatArray, FloatArray]:
        """Return limits for the mean of y at some values of the index, for the w that was found.

        Parameters
        ----------
        index : array-like
            As the link takes it: the `decision_function` of a classifier, the `index` of a regressor.
        level : float, default=0.9
            How often the limits at one point are made to cover.
        output : int or class label, default=None
            Which of several outputs.

        Returns
        -------
        low, high : arrays of the shape of `index`

        Notes
        -----
        The index of every row comes from models that have not seen it. The mean of y over rows that lie
        mostly to the left of a point gives the lower limit, over rows to the right the upper one: right for
        any rising curve, but for the third of the rows that lies on the other side. Where y is 0 or 1 the
        limits are Wilson's, which have a width where all rows agree. Beyond the rows there are, the band is
        level, and means nothing.
        """
        windows = self._windows[self._position(output)]
        return band_at(windows, np.asarray(index, dtype=np.float64), check_level(level))

    def link_rows(self, output: Any = None) -> tuple[FloatArray, FloatArray]:
        """Return what the band is made of: the index of rows under models that have not seen them, and y."""
        k = self._position(output)
        seen = np.isfinite(self._held_out[:, k])
        return self._held_out[seen, k], self._Y[seen, k]

    @property
    def _Y(self) -> FloatArray:
        """The targets in the units of y, one column per output."""
        return self._problem.targets.Y * self._problem.targets.unit

    @cached_property
    def _index(self) -> FloatArray:
        """The index of all rows under the model, as its links take it."""
        return full_index(self.model, self._X)

    @cached_property
    def _held_out(self) -> FloatArray:
        """The same under models that have not seen the row, in the model's units."""
        if self.facts.is_coupled:
            raise ValueError(
                "the classes were learned as one problem (coupled_): the probability of a class depends on "
                "the index of each, and has no curve over its own. Ask for effects()."
            )
        problem, held_out = self._problem, self._problem.held_out_index()
        for k, column in enumerate(held_out.T):
            mean, sd = spread_of(self._index[:, k], problem.weight)
            if problem.plan.fitter.is_learned:
                column *= sd
            else:  # the units of a known link are those of the model; its offset is not part of the index
                seen = np.isfinite(column)
                column *= problem.targets.unit[k]
                column -= spread_of(column[seen], None if problem.weight is None else problem.weight[seen])[0]
            column += mean
        return held_out

    @cached_property
    def _windows(self) -> list[Windows]:
        pairs = zip(self._held_out.T, self._Y.T, strict=True)
        return [make_windows(index, y, self._problem.weight) for index, y in pairs]

    def _position(self, wanted: Any) -> int:
        """Return the number of the wanted output."""
        known = [output.label for output in self.facts.outputs]
        if wanted is None and len(known) > 1:
            raise ValueError(f"the model has several outputs; give one of {known} as output.")
        return 0 if wanted is None else _position(known, wanted)

    def _positions(self, wanted: Any) -> list[int]:
        return list(range(len(self.facts.outputs))) if wanted is None else [self._position(wanted)]

    # ------------------------------------------------------------ effects

    def effects(
        self, level: float = 0.9, units: Mapping[Any, float] | None = None, output: Any = None
    ) -> Intervals:
        """Return how the prediction changes with each feature, on average over the rows.

        Parameters
        ----------
        level : float, default=0.9
            How often an interval is made to cover.
        units : dict, default=None
            By how much features are to be changed, by their names or numbers. Others are changed by a
            standard deviation; like the units given, half of it to either side of each row. Features of two
            values are changed from one to the other.
        output : int or class label, default=None
            Which of several outputs; None for all.

        Returns
        -------
        effects : Intervals
            The largest first.

        Notes
        -----
        Penalties and selection draw the coefficients of a model towards zero. So the estimate is not the
        model's own effect, which stands beside it as `in_model`. With three rows for each feature or more it
        is the coefficient of least squares on all features, which is the mean slope of the link along the
        feature where X is nearly elliptical. With fewer rows, or where a feature is nearly a sum of others,
        it is the model's own, corrected along what is left of the feature when a lasso of the others has
        explained what it can of it; with fewer rows there is one for the stable features only. Errors are
        robust. It is the slope of a line: of large changes of a feature, and of a link that is far from one,
        an average at best; those of a probability end at 1.
        """
        return self._finder.effects(self._positions(output), level, units or {})

    def group_effects(
        self, groups: Mapping[str, Any] | None = None, level: float = 0.9, output: Any = None
    ) -> Intervals:
        """Return how the prediction changes with groups of features that move together.

        Parameters
        ----------
        groups : dict, default=None
            Names of groups, and the features of each by name or number. None for the groups that the model
            chooses among.
        level : float, default=0.9
            How often an interval is made to cover.
        output : int or class label, default=None
            Which of several outputs; None for all.

        Returns
        -------
        effects : Intervals
            The largest first; `feature` is the number of the group. Groups without a weight are left out.

        Notes
        -----
        What changes is the part that a group has of the index, its features weighed as in the model, by one
        standard deviation; the features of other groups stay as they are. The estimate is the model's own,
        corrected along what the other features leave of that part: by least squares with three rows for each
        feature or more, else by a lasso.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from singleindex import SingleIndexRegressorCV
        >>> from singleindex.inspection import resample
        >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
        >>> found = resample(SingleIndexRegressorCV().fit(X, y), X, y, n_resamples=10, n_permutations=0)
        >>> serum = {"blood fats": ["s1", "s2", "s3", "s4", "s5"], "body": ["bmi", "bp"]}
        >>> effects = found.group_effects(serum)
        >>> effects.name, bool(effects.low.min() > 0)
        (['body', 'blood fats'], True)
        """
        named = self._own_groups() if groups is None else self._named_groups(groups)
        return self._finder.of_groups(named, self._positions(output), level)

    def _own_groups(self) -> dict[str, NDArray[np.intp]]:
        """Return the features of every atom that has several."""
        found = {}
        for atom in np.unique(self._atoms.number):
            columns = np.unique(self._atoms.feature[self._atoms.number == atom])
            if len(columns) > 1:
                names = ", ".join(self.feature_names[j] for j in columns[:_NAMED])
                found[f"{atom}: {names}" + (", …" if len(columns) > _NAMED else "")] = columns
        if not found:
            raise ValueError(
                "the model chooses single features, not groups; name some: groups={'blood': ['hb', 'crp']}."
            )
        return found

    def _named_groups(self, groups: Mapping[str, Any]) -> dict[str, NDArray[np.intp]]:
        number = self._finder.number_of
        found = {
            str(name): np.unique([number(one, "groups") for one in some]) for name, some in groups.items()
        }
        for name, columns in found.items():
            if not len(columns):
                raise ValueError(f"the group {name!r} has no feature.")
        return found

    def coefficients(self, level: float = 0.9, output: Any = None) -> Intervals:
        """Return intervals for the coefficients of w, columns at unit spread and w at unit length.

        Parameters
        ----------
        level : float, default=0.9
            How often an interval is made to cover.
        output : int or class label, default=None
            Which of several outputs; None for all.

        Returns
        -------
        coefficients : Intervals

        Raises
        ------
        ValueError
            With fewer than five rows for each feature: simulations do not bear it out there.

        Notes
        -----
        By least squares, whose direction is that of w where the columns are jointly normal, and nearly so
        where they are nearly elliptical (Eftekhari, Banerjee & Ritov, 2021). Where a few columns that are far
        from it have most of the weight, it is another one.
        """
        return self._finder.coefficients(self._positions(output), level)

    @cached_property
    def _finder(self) -> EffectFinder:
        return EffectFinder(
            self.facts, self._problem, self.feature_names, self._index, self._index_for_lines, self.stable()
        )

    def _index_for_lines(self) -> FloatArray:
        # Classes that are one problem have no index of their own that models of folds would agree on.
        return self._index if self.facts.is_coupled else self._held_out

    def __repr__(self) -> str:
        rule, stable = self.rule(), self.stable()
        names = ", ".join(self.feature_names[j] for j in stable[:_SHOWN])
        more = f" and {len(stable) - _SHOWN} more" if len(stable) > _SHOWN else ""
        lines = [
            f"{self.n_resamples} halves of {self._half} rows, {len(self.feature_names)} features",
            f"stable: {names + more or 'none'}",
            f"  ({rule})" if rule.share <= 1 else "  (no share of the halves bounds false ones by 1)",
        ]
        return "\n".join(lines + ([] if self.evidence is None else [repr(self.evidence)]))
