"""Slisotron, the low-dimensional ancestor of CSI."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.utils.extmath import row_norms

from ..design import Design, Scaling, View, as_design
from ..fitting.background import with_background
from ..fitting.blocks import IN_MEMORY, is_in_blocks
from ..fitting.checks import check_count, check_number, check_slope, check_varies
from ..fitting.extremes import unit_of
from ..fitting.progress import Progress
from ..fitting.record import as_fitted
from ..link import Lpav
from ..solvers import Gradient, Simplicity, drive
from ..structures import Sparse
from .base import SingleIndexBase
from .by_blocks import by_blocks
from .callbacks import all_or_nothing, with_callbacks
from .namespaces import as_numpy, from_any_namespace


class Slisotron(RegressorMixin, SingleIndexBase):
    r"""Single-index regression without structure, by perceptron-like steps of fixed length.

    From w = 0 it repeats :math:`w \leftarrow w + \eta X^\top(y - g(Xw))/n` with g refitted by LPAV, and
    :math:`\eta = 1/\max_i\|x_i\|^2`, which is the step of the original for rows in the unit ball. It is
    here to compare with; :class:`SingleIndexRegressor` learns better where there are many features.

    Parameters
    ----------
    lipschitz : float, default=1.0
        Largest slope of the link.
    max_iter : int, default=100
        Largest number of iterations.
    tol : float, default=0.0
        The fit ends when the index turns by less than this angle; at 0 all iterations are run.
    verbose : int, default=0
        Above 0, one line per iteration on standard error.

    Attributes
    ----------
    coef_, n_features_, link_, n_iter_, best_iter_, status_, history_, n_features_in_, feature_names_in_
        As in :class:`SingleIndexRegressor`.

    References
    ----------
    Kakade, Kalai, Kanade & Shamir (2011), Efficient learning of generalized linear and single index
    models with isotonic regression, NIPS.

    Examples
    --------
    >>> from singleindex import Slisotron
    >>> from singleindex.datasets import make_single_index
    >>> X, y, w, g = make_single_index(500, 10, n_atoms=10, noise="gaussian", random_state=0)
    >>> model = Slisotron().fit(X, y)
    >>> model.score(X, y) > 0.8
    True
    """

    def __init__(
        self, *, lipschitz: float = 1.0, max_iter: int = 100, tol: float = 0.0, verbose: int = 0
    ) -> None:
        self.lipschitz = lipschitz
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose

    @all_or_nothing
    @with_callbacks
    @partial(from_any_namespace, bring=as_numpy)  # it looks at rows one by one
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn w and g.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        if is_in_blocks(X) or isinstance(X, Design):
            raise ValueError(IN_MEMORY.format(type(self).__name__))
        X, y = self._check_X_y(X, y, y_numeric=True, ensure_min_samples=2)
        weight = self._check_weight(sample_weight, X)
        y = np.asarray(y, dtype=np.float64)
        used = np.ones(len(y), bool) if weight is None else weight > 0
        check_varies(y[used, None])
        x_unit, unit = unit_of(X), np.array([1 / unit_of(y)])
        scaled = X if x_unit == 1 else X * x_unit
        longest = row_norms(sparse.csr_matrix(scaled) if sparse.issparse(X) else scaled, squared=True)
        view = View(as_design(X), Scaling(np.full(X.shape[1], x_unit)))
        fitter, max_iter = Lpav(check_slope(self.lipschitz)), check_count("max_iter", self.max_iter)
        progress = Progress(self._teller(X, y), unit)
        progress.begin(1, max_iter, view.to_features)
        method = Gradient(
            view, y / unit[0], Simplicity(Sparse(), fitter.slope), fitter, sample_weight=weight,
            start=np.zeros(X.shape[1]), step_size=1 / float(longest[used].max() or 1),
        )  # fmt: skip
        tol = check_number("tol", self.tol)
        with np.errstate(over="ignore", invalid="ignore"):  # the solver sees it where it matters
            result = drive(method, max_iter=max_iter, tol=tol, on_iteration=progress)
        fitted = as_fitted([result], view.to_features, unit)
        progress.end(fitted)
        self._copy(with_background(fitted, X, weight), X.dtype)
        return self

    @by_blocks
    def predict(self, X: Any) -> Any:
        """Return the link at the index: an estimate of E[y | x]."""
        return self._fitted_values(self.index(X))
