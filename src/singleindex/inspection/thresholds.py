"""What becomes of rows when a probability beyond a threshold is called a case."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Confusion:
    """How many rows were called rightly and wrongly."""

    true_negatives: int
    false_alarms: int
    missed: int
    found: int

    @property
    def n(self) -> int:
        return self.true_negatives + self.false_alarms + self.missed + self.found

    @property
    def n_cases(self) -> int:
        return self.found + self.missed

    @property
    def n_called(self) -> int:
        return self.found + self.false_alarms

    def cost(self, missed: float, false_alarm: float) -> float:
        return missed * self.missed + false_alarm * self.false_alarms

    def cost_without_model(self, missed: float, false_alarm: float) -> float:
        """Return the cost of the better of calling no row a case, and every one."""
        return min(missed * self.n_cases, false_alarm * (self.n - self.n_cases))


def confusion_at(threshold: float, probability: np.ndarray, happened: np.ndarray) -> Confusion:
    """Return what becomes of rows that are called cases where their probability exceeds a threshold."""
    called, case = probability > threshold, happened > 0.5
    return Confusion(
        true_negatives=int(np.sum(~called & ~case)),
        false_alarms=int(np.sum(called & ~case)),
        missed=int(np.sum(~called & case)),
        found=int(np.sum(called & case)),
    )


def threshold_for(missed: float, false_alarm: float) -> float:
    """Return the threshold of least expected cost, for probabilities that can be trusted."""
    return false_alarm / (missed + false_alarm)
