"""Lipschitz isotonic regression as an estimator."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted

from ..link import MonotoneCurve
from ..link.base import FloatArray
from ..link.lpav import (
    check_bounds,
    check_direction,
    check_lipschitz,
    check_points,
    check_vector,
    fit_monotone,
)
from .callbacks import all_or_nothing

OUT_OF_BOUNDS = ("nan", "clip", "raise")


class LipschitzIsotonicRegression(RegressorMixin, TransformerMixin, BaseEstimator):
    """Isotonic regression of bounded slope, in place of scikit-learn's `IsotonicRegression`.

    Parameters
    ----------
    lipschitz : float, default=1.0
        Largest slope, from 0 (a constant) to infinity (plain isotonic regression).
    y_min, y_max : float, default=None
        Bounds on the fitted values, part of the problem.
    increasing : bool or "auto", default=True
        Whether the curve rises or falls; "auto" decides by Spearman's correlation.
    out_of_bounds : {"nan", "clip", "raise"}, default="nan"
        What `predict` gives for x outside of the training range.

    Attributes
    ----------
    X_min_, X_max_ : float
        The training range.
    X_thresholds_, y_thresholds_ : arrays of shape (n_thresholds,)
        The corners of the fitted curve, which is linear between them.
    increasing_ : bool
        Which way the curve goes.

    See Also
    --------
    lipschitz_isotonic_regression : The same as a function.

    Examples
    --------
    >>> from singleindex import LipschitzIsotonicRegression
    >>> model = LipschitzIsotonicRegression(out_of_bounds="clip").fit([0, 1, 2], [0, 5, 4])
    >>> model.predict([0.5, 9])
    array([2.5, 4. ])
    >>> model.X_thresholds_
    array([0., 2.])
    """

    def __init__(
        self,
        *,
        lipschitz: float = 1.0,
        y_min: float | None = None,
        y_max: float | None = None,
        increasing: bool | Literal["auto"] = True,
        out_of_bounds: str = "nan",
    ) -> None:
        self.lipschitz = lipschitz
        self.y_min = y_min
        self.y_max = y_max
        self.increasing = increasing
        self.out_of_bounds = out_of_bounds

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the curve.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, 1)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        if self.out_of_bounds not in OUT_OF_BOUNDS:
            raise ValueError(f"out_of_bounds must be one of {OUT_OF_BOUNDS}, got {self.out_of_bounds!r}.")
        X = self._check_X(X)
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=self)
        check_consistent_length(X, y, sample_weight)
        x, y, weight = check_points(X, y, sample_weight)
        low, high = check_bounds(self.y_min, self.y_max)
        self.increasing_ = check_direction(self.increasing, x, y)
        knots, values, _ = fit_monotone(
            x, y, weight, check_lipschitz(self.lipschitz), low, high, self.increasing_
        )
        corners = MonotoneCurve(knots, values).knots_
        self.X_thresholds_, self.y_thresholds_ = corners[:, 0].copy(), corners[:, 1].copy()
        self.X_min_, self.X_max_ = float(knots[0]), float(knots[-1])
        self.n_features_in_ = 1
        return self

    def predict(self, T: Any) -> FloatArray:
        """Return the curve at `T`, of shape (n_samples,) or (n_samples, 1)."""
        check_is_fitted(self)
        x = self._check_X(T)
        outside = (x < self.X_min_) | (x > self.X_max_)
        if self.out_of_bounds == "raise" and outside.any():
            raise ValueError(
                f"{int(outside.sum())} values lie outside of the training range "
                f"[{self.X_min_:g}, {self.X_max_:g}]; use out_of_bounds='clip' or 'nan'."
            )
        fitted = MonotoneCurve(self.X_thresholds_, self.y_thresholds_)(x)
        if self.out_of_bounds == "nan":
            fitted[outside] = np.nan
        return fitted

    def transform(self, T: Any) -> FloatArray:
        """Return the curve at `T`, as `predict` does."""
        return self.predict(T)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the one name of the output."""
        check_is_fitted(self)
        return np.asarray(["lipschitzisotonicregression0"], dtype=object)

    def _check_X(self, X: Any) -> FloatArray:
        X = check_array(X, ensure_2d=False, dtype=[np.float64, np.float32], estimator=self)
        if X.ndim != 1 and not (X.ndim == 2 and X.shape[1] == 1):
            raise ValueError(
                f"X must have one feature, got shape {X.shape}; pass one column, such as X[:, 0]."
            )
        return check_vector(X, "X")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "X_thresholds_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags
