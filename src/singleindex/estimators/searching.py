"""What the estimators that choose their own settings have in common."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from sklearn.metrics import check_scoring

from ..fitting.background import with_background
from ..fitting.block_search import search_blocks
from ..fitting.blocks import as_source, is_in_blocks
from ..fitting.in_place import search_in_place
from ..fitting.plan import Plan
from ..fitting.record import Fitted, Targets
from ..fitting.scoring import Scoring
from ..fitting.search import SearchSettings, search
from ..solvers.result import FloatArray
from .base import PLANNED, SingleIndexBase
from .callbacks import all_or_nothing, with_callbacks
from .namespaces import from_any_namespace
from .outputs import kind_of

# What a search chooses, or does in its own way.
_SEARCHED = ("n_atoms", "alpha", "penalty", "scale_power", "shared_link", "link_cv", "solver")


class SearchMixin(SingleIndexBase):
    """Searches in place of solving once; everything else is the plain estimator."""

    @all_or_nothing
    @with_callbacks
    @from_any_namespace
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None, checkpoint: Any = None
    ) -> Self:
        """Choose the settings on held-out rows, then learn w and g from all.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Data on a GPU are read there from 50,000 rows on, as data in blocks are, for what searches over
            blocks can do; else they are copied to the memory of the machine.
            Or data in blocks: a Dask array or data frame, or what :func:`singleindex.design.read_chunks`
            returns, which brings its own y and weights.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
            Used in fitting, and in the scores where scikit-learn's scorer takes weights.
        groups : array-like of shape (n_samples,), default=None
            For splitters that keep groups together.
        checkpoint : str or path, default=None
            Of data in blocks: a file to keep the readings of the search in. Where it exists the search goes
            on from it, to the same model as without a break; at the end it is deleted.

        Returns
        -------
        self
        """
        if is_in_blocks(X):
            settings = self._settings()
            if settings.dense is True:
                raise ValueError("dense=True is for data in memory; there are none over blocks.")
            source = as_source(X, y, sample_weight, groups)
            self._note_features(source)
            fitted = search_blocks(
                self._own_plan(), settings, self.scoring, source, self._read_targets,
                self._teller(source, None), checkpoint,
            )  # fmt: skip
            self._copy(fitted, source.dtype)
            return self
        if checkpoint is not None:
            raise ValueError("checkpoint is for data in blocks; leave it out for data in memory.")
        X, targets, weight = self._check_data(X, y, sample_weight)
        asked = self._own_plan(), self._settings(), self.scoring
        found = search_in_place(*asked, X, targets, weight, groups, self._teller(X, targets.y))
        if found is None:
            found = self._search(X, targets, weight, groups)
        self._copy(with_background(found, X, weight), X.dtype)
        return self

    def _search(self, X: Any, targets: Targets, weight: FloatArray | None, groups: Any) -> Fitted:
        settings, teller = self._settings(), self._teller(X, targets.y)
        return search(self._own_plan(), settings, self._scoring(), X, targets, weight, groups, teller)

    def _settings(self) -> SearchSettings:
        settings = SearchSettings(
            self.n_atoms, self.alpha, self.penalty, self.scale_power, self.cv, self.rule, self.refit,
            self.held_out_link, self.dense, self.n_jobs,
        )  # fmt: skip
        settings.check()
        return settings

    def _own_plan(self) -> Plan:
        return self._plan(tuple(name for name in PLANNED if name not in _SEARCHED))

    def _held_out(self, X: Any, targets: Targets, weight: FloatArray | None, groups: Any) -> FloatArray:
        held_out = self._search(X, targets, weight, groups).held_out
        assert held_out is not None  # a search holds rows out
        return held_out

    def _scoring(self) -> Scoring:
        scorer = check_scoring(self, scoring=self.scoring)
        return Scoring(self.scoring, scorer, self._at_index, kind_of(vars(self)))

    def _at_index(self, index: FloatArray, links: list[Any]) -> Any:
        """Return an estimator whose index is known already, for scorers that ask it to predict."""
        known = index[:, 0] if index.shape[1] == 1 else index
        frozen = copy.copy(self)
        frozen.__dict__.update(self._attributes(np.zeros((self.n_features_in_, len(links))), links))
        frozen.__dict__["index"] = lambda X: known
        return frozen
