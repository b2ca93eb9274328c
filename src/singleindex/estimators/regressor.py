"""Regression with an unknown monotone link."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if

from ..design.blocks import Target
from ..design.survey import TargetSurvey
from ..fitting.checks import check_varies
from ..fitting.plan import make_fitter
from ..fitting.record import Targets
from ..fitting.targets import powers_of_two, units_of_outputs
from ..solvers.result import FloatArray
from .base import SingleIndexBase, learns_from_streams
from .by_blocks import by_blocks
from .callbacks import all_or_nothing


class SingleIndexRegressor(RegressorMixin, SingleIndexBase):
    r"""Single-index regression: :math:`E[y \mid x] = g(w \cdot x)`, g monotone and learned.

    Parameters
    ----------
    n_atoms : int or None, default=None
        How many atoms w may consist of; for the default structure, how many coefficients may differ
        from zero. None for no limit.
    structure : object, default=None
        What w may look like, see :mod:`singleindex.structures`. None means `Sparse()`.
    alpha : float, default=0.1
        Ridge penalty, the λ of the paper, on the coefficients of the scaled columns.
    penalty : float, default=0.0
        Soft thresholding in place of, or beside, the limit `n_atoms`: the weight of the structure's atomic
        norm (L1, group, nuclear), as a share of the least weight at which w is zero.
    lipschitz : float, default=1.0
        Largest slope of the link, which fixes the scale of w. Without a ridge another value gives the same
        model, w divided by it; with one, it acts as `alpha` divided by it. Infinity gives plain isotonic
        regression as the link.
    scale_power : float or None, default=0.5
        Column j is divided by the power `scale_power` of its standard deviation while w is learned: 0
        not at all (but for a common factor), 1 to unit variance. None takes X as it is. `coef_` is
        always in the units of X.
    link : "learned", "identity", "logistic", "tanh" or callable, default="learned"
        A known link instead of a learned one gives structured least squares, structured logistic
        regression and the like from the same solver. `lipschitz` is then the largest slope of a callable.
    shared_link : bool, default=False
        With several outputs, learn one link for all of them, each behind an offset of its own.
    link_cv : int, splitter or None, default=None
        Fit the final link to held-out rows: w is learned once more for each split, without its test rows, and
        the link from their index. In-sample the index of the training rows looks better than it is, and the
        link is too steep, when there are many features; this one is not. Costs one fit per split.
    max_iter : int, default=100
        Largest number of iterations.
    tol : float, default=1e-2
        The fit ends when the index turns by less than this angle in an iteration; with a known link, when it
        changes by less than this share. With a `penalty` it also ends when the objective changes by less
        than the share `tol` squared.
    solver : "auto", "exact", "two-pass", "one-pass", "stochastic" or settings, default="auto"
        How w is found: :class:`~singleindex.solvers.ExactSteps`, each of them a penalised regression, for
        which correlated columns are no harder than others; :class:`~singleindex.solvers.TwoPass`, plain CSI;
        :class:`~singleindex.solvers.OnePass`, which reads the data once per iteration and sums rows into bins
        for the link; or :class:`~singleindex.solvers.Stochastic`, which steps on batches of rows. By default
        one pass for files, Dask and data in memory of 50 000 rows or more (10 000 for dense data of at least
        20 rows for each column), two passes for others; with exact steps where the columns that say most
        about y are correlated. Of data in blocks these need at most 4096 columns.
    verbose : int, default=0
        Above 0, one line per iteration on standard error. scikit-learn's callbacks
        (`set_callbacks`, scikit-learn 1.9 and later) work too, a progress bar among them.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_features, n_outputs)
        w, in the units of X; float32 for float32 data.
    n_features_ : int
        Number of features with a weight, for any output.
    link_ : callable, or list of callables for several outputs
        The learned link, with its corners in `link_.knots_`.
    background_ : dict
        The rows of the fit in a few numbers, for effects and explanations: mean, spread and range of the
        features with a weight, and the index of at most 200 rows. Not there after data in blocks and streams.
    n_iter_ : int
        Iterations run (the most over outputs).
    best_iter_ : int
        Which iterate is kept: the one with the least penalised training error; with a known link the last.
    status_ : str
        Why the solver stopped, a name of :class:`singleindex.solvers.Status`.
    history_ : dict of arrays
        Per iteration: objective, mse, n_atoms, step_size, change, as the solver saw them: before w gets the
        length at which its link fits best. Outputs that are fitted together have one record, with the sum of
        their errors in units of their spread; for outputs that are fitted one by one `best_iter_`, `status_`
        and `history_` are lists.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    An iteration costs one product with the columns in use and one with all of X, plus sorting the index.
    CSI is not a descent method and its problem is not convex: no global optimum is promised. The scale
    of w and the slope of g are determined only together.

    References
    ----------
    Ganti, Rao, Balzano, Willett & Nowak (2017), On learning high dimensional structured single index
    models, AAAI.

    Examples
    --------
    >>> from singleindex import SingleIndexRegressor
    >>> from singleindex.datasets import make_single_index
    >>> X, y, w, g = make_single_index(
    ...     300, 1000, n_atoms=5, link="clipped", noise="gaussian", random_state=0)
    >>> model = SingleIndexRegressor(n_atoms=5).fit(X, y)
    >>> bool((model.coef_.nonzero()[0] == w.nonzero()[0]).all())
    True
    >>> model.score(X, y) > 0.9
    True
    """

    @available_if(learns_from_streams)
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows that follow those of the calls before, by the stochastic solver.

        How a stream is cut into calls does not change the result, nor does saving the estimator and loading
        it in between. After a `fit` with the stochastic solver the stream goes on from there; after any other
        `fit` it begins anew.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        X, y = self._check_X_y(X, y, multi_output=True, y_numeric=True, reset=not hasattr(self, "stream_"))
        weight = self._check_some_weight(sample_weight, X)
        return self._go_on(X, np.asarray(y, dtype=np.float64).reshape(len(y), -1), weight)

    def _check_data(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Targets, FloatArray | None]:
        X, y = self._check_X_y(X, y, multi_output=True, y_numeric=True, ensure_min_samples=2)
        weight = self._check_weight(sample_weight, X)
        Y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        check_varies(Y if weight is None else Y[weight > 0])
        unit = units_of_outputs(make_fitter(self.link, self.lipschitz), Y, weight)
        return X, Targets(y, Y / unit, unit), weight

    def _read_targets(self, facts: TargetSurvey) -> tuple[list[Target], FloatArray]:
        if len(facts.low) == 0:
            raise ValueError("y must hold numbers, in some row of positive weight.")
        check_varies(np.stack([facts.low, facts.high]), facts.n_rows)
        largest = np.maximum(np.abs(facts.low), np.abs(facts.high))
        unit = powers_of_two(make_fitter(self.link, self.lipschitz), largest)
        return [Target(column=k, unit=float(u)) for k, u in enumerate(unit)], unit

    @by_blocks
    def predict(self, X: Any) -> Any:
        """Return the link at the index: an estimate of E[y | x]."""
        return self._fitted_values(self.index(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
