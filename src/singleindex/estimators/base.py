"""What the regressor and the classifier share."""

from __future__ import annotations

import numbers

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..design import ScaledDesign, as_design, column_scale
from ..link import FIXED_LINKS, FixedLink, Lpav
from ..link.lpav import check_lipschitz
from ..solvers import solve_csi
from ..structures import Sparse
from .progress import CallbackSupportMixin, Progress


class SingleIndexBase(CallbackSupportMixin, BaseEstimator):
    """Stores the parameters, checks them, calls the solver for each output."""

    def __init__(
        self,
        n_atoms=None,
        *,
        structure=None,
        alpha=0.1,
        lipschitz=1.0,
        column_scale=0.5,
        link="learned",
        max_iter=100,
        tol=1e-3,
        verbose=0,
    ):
        self.n_atoms = n_atoms
        self.structure = structure
        self.alpha = alpha
        self.lipschitz = lipschitz
        self.column_scale = column_scale
        self.link = link
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose

    # ------------------------------------------------------------ fitting

    def _solve_outputs(self, X, Y, weight):
        """Return one solver result per column of Y, and the design's column scale."""
        settings = self._check_settings(X.shape[1])
        design = self._scaled_design(X, weight)
        progress = Progress(
            self, X, Y, Y.shape[1], lambda iterate: self._attributes([iterate], design, X.dtype)
        )
        results = []
        for k in range(Y.shape[1]):
            progress.fit_number = k
            y = np.ascontiguousarray(Y[:, k])
            results.append(
                solve_csi(design, y, **settings, sample_weight=weight, on_iteration=progress)
            )
        progress.end()
        return results, design

    def _scaled_design(self, X, weight):
        design = as_design(X)
        share = np.full(X.shape[0], 1 / X.shape[0]) if weight is None else weight / weight.sum()
        _, variance = design.column_moments(share)
        if not variance.any():
            raise ValueError(
                "Every column of X is constant over the rows of positive weight: there is nothing to "
                "learn w from. Check that the right columns were passed."
            )
        if self.column_scale is None:
            return ScaledDesign(design, np.where(variance > 0, 1.0, 0.0))
        return ScaledDesign(design, column_scale(variance, self.column_scale))

    def _attributes(self, iterates, design, dtype):
        """Return the attributes that prediction needs, from one iterate or result per output."""
        coef = np.column_stack([design.unscale(i.coef) for i in iterates]).astype(dtype, copy=False)
        links = [i.link for i in iterates]
        single = len(links) == 1
        return {"coef_": coef[:, 0].copy() if single else coef, "link_": links[0] if single else links}

    def _set_fitted(self, results, design, dtype):
        for name, value in self._attributes(results, design, dtype).items():
            setattr(self, name, value)
        single = len(results) == 1
        self.history_ = results[0].history if single else [r.history for r in results]
        self.status_ = results[0].status.name if single else [r.status.name for r in results]
        self.n_iter_ = max(r.n_iter for r in results)
        self.best_iter_ = results[0].best_iter if single else [r.best_iter for r in results]

    # ------------------------------------------------------------ checks

    def _check_X_y(self, X, y, **options):
        return validate_data(
            self, X, y, accept_sparse=["csc", "csr"], dtype=[np.float64, np.float32],
            accept_large_sparse=True, **options,
        )  # fmt: skip

    def _check_weight(self, sample_weight, X):
        if sample_weight is None:
            return None
        weight = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True, copy=False
        )
        if not weight.any():
            raise ValueError("All sample weights are zero; at least one must be positive.")
        return weight

    def _check_settings(self, n_features):
        """Return the solver's settings, or raise with the fix in the message."""
        structure = Sparse() if self.structure is None else self.structure
        n_available = structure.check((n_features,))
        return {
            "structure": structure,
            "link_fitter": self._link_fitter(),
            "n_atoms": check_n_atoms(self.n_atoms, n_available),
            "alpha": check_number("alpha", self.alpha),
            "max_iter": check_count("max_iter", self.max_iter),
            "tol": check_number("tol", self.tol),
        }

    def _link_fitter(self):
        if self.column_scale is not None:
            check_number("column_scale", self.column_scale)
        lipschitz = check_lipschitz(self.lipschitz)
        if lipschitz == 0:
            raise ValueError(
                "lipschitz=0 leaves only a constant link; use a positive value, 1.0 by default."
            )
        if self.link == "learned":
            return Lpav(lipschitz)
        if callable(self.link):
            return FixedLink(self.link, slope_bound=lipschitz)
        if self.link not in FIXED_LINKS:
            raise ValueError(
                f"link must be 'learned', a function, or one of {sorted(FIXED_LINKS)}, got {self.link!r}."
            )
        return FixedLink(self.link)

    # ------------------------------------------------------------ prediction

    def index(self, X):
        """Return the index Xw, of shape (n_samples,) or (n_samples, n_outputs).

        It ranks without the ties that the flat pieces of the link make in predictions.
        """
        check_is_fitted(self)
        X = validate_data(
            self, X, reset=False, accept_sparse=["csr", "csc"], dtype=[np.float64, np.float32]
        )
        return safe_sparse_dot(X, self.coef_, dense_output=True)

    def _fitted_values(self, index):
        """Apply the link, or each link to its column."""
        if index.ndim == 1:
            return self.link_(index)
        return np.column_stack([link(index[:, k]) for k, link in enumerate(self.link_)])

    def __sklearn_is_fitted__(self):
        return hasattr(self, "coef_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def check_n_atoms(n_atoms, n_available):
    if n_atoms is None:
        return None
    if isinstance(n_atoms, bool) or not isinstance(n_atoms, numbers.Integral):
        raise ValueError(
            f"n_atoms must be an integer or None (no limit), got {n_atoms!r}; "
            "for a share of the features use n_atoms=int(share * n_features)."
        )
    if not 1 <= n_atoms <= n_available:
        raise ValueError(
            f"n_atoms must be from 1 to {n_available}, the number of atoms there are for this X, "
            f"got {n_atoms}; use n_atoms=None for no limit."
        )
    return int(n_atoms)


def check_number(name, value):
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 <= value < np.inf:
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}.")
    return float(value)


def check_count(name, value):
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}.")
    return int(value)
