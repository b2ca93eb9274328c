"""How rows are split, and the data of a split."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np


def shuffled(n: int, shares: tuple[float, ...], seed: int) -> list[np.ndarray]:
    """Return row numbers in random order, cut into these shares, of which the last takes the rest."""
    order = np.random.default_rng(seed).permutation(n)
    ends = np.floor(np.cumsum(shares[:-1]) * n + 1e-9).astype(int)
    return np.split(order, ends)


@dataclass(frozen=True, eq=False)
class Split:
    """Training, validation and test part; settings are chosen on the second, figures come from the third."""

    X: Any
    y: np.ndarray
    train: np.ndarray
    validate: np.ndarray
    test: np.ndarray

    @cached_property
    def both(self) -> np.ndarray:
        """Training and validation part, to which the chosen settings are fitted again."""
        return np.concatenate([self.train, self.validate])

    def part(self, rows: np.ndarray) -> tuple[Any, np.ndarray]:
        return self.X[rows], self.y[rows]
