"""What held-out rows say of candidates, through one curve per candidate and output fitted to all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from ..design import take_rows
from ..link import Line, Shape, Sigmoid
from ..link.softmax import Softmax
from ..solvers.result import FloatArray
from .bank import Scores
from .cross_fit import Weight
from .extremes import unit_of
from .plan import CERTAIN, Plan
from .record import Targets
from .scoring import Scoring, auc


class Judge:
    """Scores the held-out indices of candidates."""

    def __init__(
        self, plan: Plan, scoring: Scoring, X: Any, targets: Targets, weight: Weight, splits: Sequence[Any]
    ) -> None:
        self.plan, self.scoring, self.splits, self.Y, self.unit = (
            plan,
            scoring,
            splits,
            targets.Y,
            targets.unit,
        )
        self.weight = np.ones(len(self.Y)) if weight is None else weight
        self.shape: Shape = Sigmoid() if plan.is_classifier else Line()
        self.parts: list[Any] = []
        if not (scoring.is_by_rows or scoring.is_auc):
            self.parts = [(take_rows(X, test), _safe_indexing(targets.y, test)) for _, test in splits]
        self.takes_weights = weight is not None and getattr(scoring.scorer, "_accept_sample_weight", bool)()

    def scores(self, held_out: FloatArray) -> list[Scores]:
        """Return the scores of candidates, of shape (n_candidates, n_rows, n_outputs), by outputs.

        Where the outputs cannot be told apart by the score, or are fitted as one, the same for each.
        """
        seen = np.flatnonzero(np.isfinite(held_out[0, :, 0]) & (self.weight > 0))
        n_outputs = held_out.shape[2]
        if not self.scoring.is_by_rows:
            return [self._by_folds(held_out, seen)] * n_outputs
        if self.plan.is_together:
            return self._together(held_out, seen)
        fitted = self.fitted(held_out, seen)
        losses = [self.scoring.loss(fitted[:, :, k], self.Y[seen, k]) for k in range(n_outputs)]
        weight = self.weight[seen]
        if n_outputs > 1 and self.plan.is_joint(n_outputs):
            losses = [np.mean(losses, axis=0)] * n_outputs
        splits = self._split_means(self._reported(fitted, seen, losses), seen)
        return [Scores(one, weight, splits, seen) for one in losses]

    def fitted(self, held_out: FloatArray, seen: Any) -> FloatArray:
        """Return the predictions of every candidate for rows that were held out."""
        weight, fitted = self.weight[seen], np.empty((len(held_out), len(seen), held_out.shape[2]))
        for k in range(held_out.shape[2]):
            y, index = np.ascontiguousarray(self.Y[seen, k]), held_out[:, seen, k]
            if self.plan.fitter.is_learned:
                fitted[:, :, k] = self.shape.values(self.shape.fit(index, y, weight), index)
            else:
                for c, one in enumerate(index):
                    fitted[c, :, k] = self.plan.fitter.fit(np.ascontiguousarray(one), y, weight)[1]
        return fitted

    def _together(self, held_out: FloatArray, seen: Any) -> list[Scores]:
        """Return the scores of classes whose probabilities are one problem: the same for each of them."""
        index, Y, weight, shape = held_out[:, seen], self.Y[seen], self.weight[seen], Softmax()
        p = shape.values(shape.fit(index, Y, weight), index)
        losses = shape.loss(p, Y) if self.scoring.is_log_loss else self.scoring.loss_of_classes(p, Y)
        return [Scores(losses, weight, self._split_means(losses, seen), seen)] * held_out.shape[2]

    def _reported(self, fitted: FloatArray, seen: Any, losses: list[FloatArray]) -> FloatArray:
        """Return the losses that the user is told: in the units of y, of classes all together."""
        if not self.scoring.is_apart:
            p = np.clip(fitted, CERTAIN, 1)
            return self.scoring.loss_of_classes(p / p.sum(axis=2, keepdims=True), self.Y[seen])
        if self.plan.is_classifier:
            mean: FloatArray = np.mean(losses, axis=0)
            return mean
        unit = np.square(self.unit * unit_of(self.unit))
        scaled: FloatArray = np.mean([u * one for u, one in zip(unit, losses, strict=True)], axis=0)
        return scaled

    def _split_means(self, losses: FloatArray, seen: Any) -> FloatArray:
        place = np.full(len(self.Y), -1)
        place[seen] = np.arange(len(seen))
        means = []
        for _, test in self.splits:
            at = place[test]
            at = at[at >= 0]
            total = self.weight[seen][at].sum()
            means.append(
                losses[:, at] @ self.weight[seen][at] / total if total > 0 else np.full(len(losses), np.nan)
            )
        return -np.column_stack(means)

    def _by_folds(self, held_out: FloatArray, seen: Any) -> Scores:
        """Return the scores of a scorer that has none for single rows."""
        splits = np.array([self._split_scores(index, seen) for index in held_out])
        told = np.isfinite(splits).any(axis=0)
        if not told.any():
            raise ValueError("every candidate scored NaN; check `scoring` and the number of rows per fold.")
        losses = np.where(np.isfinite(splits[:, told]), -splits[:, told], np.inf)
        return Scores(losses, np.ones(int(told.sum())), splits)

    def _split_scores(self, index: FloatArray, seen: Any) -> list[float]:
        """Return the score of one candidate on every split."""
        if self.scoring.is_auc:
            return [self._auc(index[test], test) for _, test in self.splits]
        links = [self._link(np.ascontiguousarray(index[seen, k]), k, seen) for k in range(index.shape[1])]
        scores = []
        for (X_test, y_test), (_, test) in zip(self.parts, self.splits, strict=True):
            if not np.isfinite(index[test]).all():  # of a fold on which the candidate is not there yet
                scores.append(np.nan)
                continue
            model = self.scoring.as_model(index[test] * self.unit, links)
            weight = {"sample_weight": self.weight[test]} if self.takes_weights else {}
            scores.append(float(self.scoring.scorer(model, X_test, y_test, **weight)))
        return scores

    def _auc(self, index: FloatArray, test: Any) -> float:
        if not np.isfinite(index).all():
            return np.nan
        weight, outputs = self.weight[test], range(index.shape[1])
        return float(np.mean([auc(index[:, k], self.Y[test, k], weight) for k in outputs]))

    def _link(self, index: FloatArray, k: int, seen: Any) -> Any:
        """Return the curve of one candidate and output, in the units of y."""
        y, weight = np.ascontiguousarray(self.Y[seen, k]), self.weight[seen]
        if self.plan.fitter.is_learned:
            link: Any = self.shape.tabulate(self.shape.fit(index, y, weight), index)
        else:
            link = self.plan.fitter.fit(index, y, weight)[0]
        return link if self.unit[k] == 1 else link.rescale(self.unit[k])
