"""What the regressor and the classifier share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..design import ExpandedDesign, MappedDesign, ScaledDesign, as_design, column_scale
from ..design.checks import as_sound
from ..link import FIXED_LINKS, FixedLink, Lpav, PerOutput, Points, SharedLink
from ..solvers import OnePass, fit_scale, solve_csi
from ..structures import EachOutput, Sparse
from .checks import (
    check_atoms_available,
    check_count,
    check_n_atoms,
    check_number,
    check_penalty,
    check_slope,
    check_structure,
)
from .cross_fit import held_out_index, warn_if_not_identified, with_cross_fitted_link
from .extremes import combined, in_range, spread_of_columns, weight_within_reach, wide_enough
from .one_pass import by_blocks, remove_checkpoints, solve_rows_in_one_pass, solver_for, ties_outputs
from .progress import CallbackSupportMixin, Progress
from .splits import make_splits
from .stream import StreamMixin
from .summary import summarise


@dataclass(frozen=True)
class Targets:
    """What is to be learned: y as given, one column per output as solved for, and the columns' units."""

    y: Any
    Y: np.ndarray
    unit: np.ndarray


class SingleIndexBase(StreamMixin, CallbackSupportMixin, BaseEstimator):
    """Stores the parameters, checks them, calls the solver for each output."""

    def __init__(
        self,
        n_atoms=None,
        *,
        structure=None,
        alpha=0.1,
        penalty=0.0,
        lipschitz=1.0,
        column_scale=0.5,
        link="learned",
        shared_link=False,
        link_cv=None,
        max_iter=100,
        tol=1e-2,
        solver="auto",
        verbose=0,
    ):
        self.n_atoms = n_atoms
        self.structure = structure
        self.alpha = alpha
        self.penalty = penalty
        self.lipschitz = lipschitz
        self.column_scale = column_scale
        self.link = link
        self.shared_link = shared_link
        self.link_cv = link_cv
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.verbose = verbose

    # ------------------------------------------------------------ fitting

    def _solve_outputs(self, X, targets, weight):
        """Return one solver result per output, and the design that tells the units of X."""
        if self.link_cv is not None and self.shared_link:
            raise ValueError("link_cv and shared_link=True do not go together; leave one of them out.")
        results, design = self._solve(X, targets.Y, weight, targets)
        if not self._link_fitter().is_learned or (self.shared_link and len(results) > 1):
            return results, design
        held_out = None if self.link_cv is None else self._held_out_index(X, targets, weight)
        return self._with_final_links(results, targets.Y, weight, held_out), design

    def _with_final_links(self, results, Y, weight, held_out):
        """Give w the length that its link needs, by the training rows or by rows that were held out."""
        fitter = self._link_fitter()
        if held_out is None:
            return [with_fitted_scale(r, Y[:, k], fitter, weight) for k, r in enumerate(results)]
        results = [
            with_cross_fitted_link(r, Y[:, k], fitter, self._final_link_fitter(), weight, held_out[:, k])
            for k, r in enumerate(results)
        ]
        for k, result in enumerate(results):
            warn_if_not_identified(result.link, Y[:, k])
        return results

    def _held_out_index(self, X, targets, weight):
        """Return the index of each row under a w learned without it, in units of its spread."""
        held_out = np.full(targets.Y.shape, np.nan)
        for train, test in make_splits(self, self.link_cv, X, targets.y, weight):
            fold_weight = None if weight is None else weight[train]
            results, design = self._solve(_safe_indexing(X, train), targets.Y[train], fold_weight)
            held_out[test] = held_out_index(results, design, _safe_indexing(X, test), fold_weight)
        return held_out

    def _solve(self, X, Y, weight, told=None):
        """Return one solver result per output, and the design; callbacks are told of these targets."""
        structure = self._check_settings(X.shape[1])["structure"]
        solver = solver_for(self, X, ties_outputs(self, structure, Y.shape[1]))
        if isinstance(solver, OnePass):
            return solve_rows_in_one_pass(self, X, Y, weight, solver, told)
        return self._solve_design(self._prepare(X, weight), Y, weight, X, told)

    def _solve_design(self, prepared, Y, weight, X, told):
        """Solve in two passes over a prepared design; X is what callbacks are told of."""
        settings = self._check_settings(prepared[0].shape[1])
        design, settings["structure"] = self._scaled(prepared, settings["structure"], self.column_scale)
        del prepared  # the variances are as long as w, and of no more use
        joint, settings = self._joint_settings(settings, Y.shape[1])
        solve = self._solve_jointly if joint else self._solve_each
        progress = None
        if told is not None:
            self._progress: Any = Progress(
                self, X, told.y, told.unit, 1 if joint else Y.shape[1],
                lambda records: self._attributes(records, design, X.dtype),
            )  # fmt: skip
            progress = self._progress
        return solve(design, Y, weight, settings, progress), design

    def _solve_each(self, design, Y, weight, settings, progress):
        results = []
        for k in range(Y.shape[1]):
            if progress is not None:
                progress.fit_number = k
            y = np.ascontiguousarray(Y[:, k])
            results.append(solve_csi(design, y, **settings, sample_weight=weight, on_iteration=progress))
        return results

    def _joint_settings(self, settings, n_outputs):
        """Return whether the outputs are one problem, and the settings for it if they are."""
        joint = n_outputs > 1 and (self.shared_link or getattr(settings["structure"], "joint", False))
        if not joint:
            return False, settings
        structure, fitter = settings["structure"], settings["link_fitter"]
        return True, settings | {
            "structure": structure if getattr(structure, "joint", False) else EachOutput(structure),
            "link_fitter": SharedLink(fitter) if self.shared_link else PerOutput(fitter),
        }

    def _solve_jointly(self, design, Y, weight, settings, progress):
        result = solve_csi(design, Y, **settings, sample_weight=weight, on_iteration=progress)
        return result.by_output()

    def _prepare(self, X, weight):
        """Return X as a design, and the spread of its columns."""
        design = as_design(X)
        share = np.full(X.shape[0], 1 / X.shape[0]) if weight is None else weight / weight.sum()
        with np.errstate(over="ignore", invalid="ignore"):
            _, variance = design.column_moments(share)
        spread = spread_of_columns(X, variance, share)
        self._check_variance(spread.variance)
        return design, spread

    def _check_variance(self, variance):
        if not variance.any():
            raise ValueError(
                "Every column of X is constant over the rows of positive weight, or nearly: there is nothing "
                "to learn w from. Check that the right columns were passed."
            )
        if not np.isfinite(variance).all():
            raise ValueError(
                f"Column {int(np.flatnonzero(~np.isfinite(variance))[0])} of X holds numbers whose squares "
                "are none; bring X to units in which no number is above 1e150."
            )

    def _scaled(self, prepared, structure, power):
        """Return the prepared design with scaled columns, and the structure that goes with it."""
        design, spread = prepared
        design = ScaledDesign(design, self._column_factors(spread, structure, power))
        if hasattr(structure, "coordinates"):
            return MappedDesign(design, structure), structure.coordinates()
        if not getattr(structure, "overlapping", False):
            return design, structure
        columns, structure = structure.latent(design.shape[1])
        return ExpandedDesign(design, columns), structure

    @staticmethod
    def _column_factors(spread, structure, power):
        """Return what to multiply each column by, 0 for constant ones."""
        if power is None:
            if spread.unit is not None:
                raise ValueError(
                    "column_scale=None leaves the columns of X as they are, and their squares are no "
                    "numbers; use column_scale=0, or bring X to other units."
                )
            return np.where(spread.variance > 0, 1.0, 0.0)
        check_number("column_scale", power)
        power = power if getattr(structure, "keeps_scaling", True) else 0.0
        scale = column_scale(spread.variance, power, spread.unit)
        if not np.isfinite(scale).all():
            raise ValueError(
                f"column_scale={power} makes columns too large for numbers; use a value from 0 to 1, or "
                "bring the columns of X to comparable units."
            )
        return scale

    def _attributes(self, iterates, design, dtype):
        """Return the attributes that prediction needs, from one iterate or result per output."""
        coef = in_range(iterates, [design.in_units_of_X(i.coef) for i in iterates], dtype)
        links = [i.link for i in iterates]
        single = len(links) == 1
        return {"coef_": coef[:, 0].copy() if single else coef, "link_": links[0] if single else links}

    def _set_fitted(self, results, design, dtype):
        for name, value in self._attributes(results, design, dtype).items():
            setattr(self, name, value)
        single = all(r.history is results[0].history for r in results)
        self.history_ = results[0].history if single else [r.history for r in results]
        self.status_ = results[0].status.name if single else [r.status.name for r in results]
        self.n_iter_ = max(r.n_iter for r in results)
        self.best_iter_ = results[0].best_iter if single else [r.best_iter for r in results]
        remove_checkpoints(self)
        progress = vars(self).get("_progress")
        if progress is not None:
            del self._progress
            progress.end()

    # ------------------------------------------------------------ checks

    def _check_X_y(self, X, y, **options):
        with np.errstate(over="ignore", invalid="ignore"):  # of sums by which it looks for NaN
            X, y = validate_data(
                self, X, y, accept_sparse=["csc", "csr"], dtype=[np.float64, np.float32],
                accept_large_sparse=True, **options,
            )  # fmt: skip
        return wide_enough(combined(as_sound(X))), y

    def _check_weight(self, sample_weight, X):
        """Return the weights of all rows, None where they count alike."""
        weight = self._check_some_weight(sample_weight, X)
        return None if weight is None else weight_within_reach(weight)

    def _check_some_weight(self, sample_weight, X):
        """Return the weights of some rows, in units that all rows share."""
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
        settings = self._settings_of_all_levels(n_features)
        structure = settings["structure"]
        return settings | {
            "n_atoms": check_n_atoms(self.n_atoms, structure.check((n_features,))),
            "alpha": check_number("alpha", self.alpha),
            "penalty": check_penalty(self.penalty, structure),
        }

    def _settings_of_all_levels(self, n_features):
        """Return the settings that do not change along a path."""
        structure = check_structure(Sparse() if self.structure is None else self.structure)
        if hasattr(structure, "resolve"):
            structure = structure.resolve(getattr(self, "feature_names_in_", None))
        check_atoms_available(structure, n_features)
        return {
            "structure": structure,
            "link_fitter": self._link_fitter(),
            "max_iter": check_count("max_iter", self.max_iter),
            "tol": check_number("tol", self.tol),
        }

    def _link_fitter(self):
        lipschitz = check_slope(self.lipschitz)
        if isinstance(self.link, str) and self.link == "learned":
            return Lpav(lipschitz)
        if self.shared_link:
            raise ValueError("shared_link=True needs link='learned': a known link is shared anyway.")
        if callable(self.link):
            return FixedLink(self.link, slope_bound=lipschitz)
        if not isinstance(self.link, str) or self.link not in FIXED_LINKS:
            raise ValueError(
                f"link must be 'learned', a function, or one of {sorted(FIXED_LINKS)}, got {self.link!r}."
            )
        return FixedLink(self.link)

    def _final_link_fitter(self):
        """Return what fits the link of a finished w to held-out rows."""
        return self._link_fitter()

    # ------------------------------------------------------------ prediction

    @by_blocks
    def index(self, X):
        """Return the index Xw, of shape (n_samples,) or (n_samples, n_outputs).

        It ranks without the ties that the flat pieces of the link make in predictions.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse=["csr", "csc"], dtype=[np.float64, np.float32])
        return safe_sparse_dot(as_sound(X), self.coef_, dense_output=True)

    def _fitted_values(self, index):
        """Apply the link, or each link to its column."""
        if index.ndim == 1:
            return self.link_(index)
        return np.column_stack([link(index[:, k]) for k, link in enumerate(self.link_)])

    def summary(self, top=20):
        """Return a text on the fitted model: its features, its link, its steps, and how it was chosen.

        Parameters
        ----------
        top : int, default=20
            How many features to list.
        """
        check_is_fitted(self)
        return summarise(self, top)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "coef_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def with_fitted_scale(result, y, fitter, weight):
    """Return the result with w at the length at which its link fits."""
    points = result.points or Points(result.index, np.ascontiguousarray(y), weight)
    n_coefficients = int(np.count_nonzero(result.coef))
    factor = fit_scale(points.index, points.y, fitter, points.weight, n_coefficients)
    if factor == 1:
        return result
    link, _ = fitter.fit(factor * points.index, points.y, points.weight)
    return replace(result, coef=factor * result.coef, index=factor * result.index, link=link)
