"""Distributions of the rows of X, with the moments that place and scale an index."""

from dataclasses import dataclass
from math import sqrt
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.signal import lfilter

from ._checks import check_choice, check_count, check_inside

FloatArray = NDArray[np.float64]


class RowDistribution(Protocol):
    """Independent, identically distributed rows."""

    @property
    def mean(self) -> FloatArray: ...

    def index_sd(self, coef: FloatArray) -> FloatArray:
        """Return the standard deviation of `x @ coef` in the population, one for each output."""
        ...

    def sample(self, n_samples: int, rng: np.random.Generator) -> Any: ...


@dataclass(frozen=True)
class AutoregressiveRows:
    """Standard normal features with correlation `rho ** |i - j|`."""

    n_features: int
    rho: float

    @property
    def mean(self) -> FloatArray:
        return np.zeros(self.n_features)

    def index_sd(self, coef: FloatArray) -> FloatArray:
        # x = A z with independent z, so sd(x @ coef) = |A' coef|; A' is the filter run backwards.
        weights = lfilter([1.0], [1.0, -self.rho], coef[::-1], axis=0)[::-1]
        weights[1:] *= sqrt(1 - self.rho**2)
        return cast(FloatArray, np.linalg.norm(weights, axis=0))

    def sample(self, n_samples: int, rng: np.random.Generator) -> FloatArray:
        z = rng.standard_normal((n_samples, self.n_features))
        if self.rho == 0.0:
            return z
        z[:, 1:] *= sqrt(1 - self.rho**2)
        return cast(FloatArray, lfilter([1.0], [1.0, -self.rho], z, axis=1))


@dataclass(frozen=True)
class BlockRows:
    """Standard normal features, correlation `rho` inside blocks and none between them."""

    n_features: int
    rho: float
    block_size: int

    @property
    def mean(self) -> FloatArray:
        return np.zeros(self.n_features)

    def index_sd(self, coef: FloatArray) -> FloatArray:
        starts = np.arange(0, self.n_features, self.block_size)
        shared = (np.add.reduceat(coef, starts, axis=0) ** 2).sum(axis=0)
        own = (coef**2).sum(axis=0)
        return cast(FloatArray, np.sqrt((1 - self.rho) * own + self.rho * shared))

    def sample(self, n_samples: int, rng: np.random.Generator) -> FloatArray:
        block = np.arange(self.n_features) // self.block_size
        shared = rng.standard_normal((n_samples, int(block[-1]) + 1))
        own = rng.standard_normal((n_samples, self.n_features))
        return sqrt(1 - self.rho) * own + sqrt(self.rho) * shared[:, block]


@dataclass(frozen=True)
class CountRows:
    """Independent Poisson counts with one rate for each feature, stored as CSR."""

    rates: FloatArray

    @property
    def mean(self) -> FloatArray:
        return self.rates

    def index_sd(self, coef: FloatArray) -> FloatArray:
        return np.sqrt(self.rates @ coef**2)

    def sample(self, n_samples: int, rng: np.random.Generator) -> Any:
        # A Poisson number of events per column, each in a uniform row, is the same law as
        # independent Poisson entries, and costs the non-zeros instead of n times d.
        events = rng.poisson(n_samples * self.rates)
        cols = np.repeat(np.arange(self.rates.size, dtype=np.int32), events)
        rows = rng.integers(n_samples, size=cols.size, dtype=np.int32)
        shape = (n_samples, self.rates.size)
        return sparse.csr_matrix((np.ones(cols.size), (rows, cols)), shape=shape)


@dataclass(frozen=True)
class BinaryRows:
    """Independent 0/1 entries, `x = 1` where a Poisson count would be positive, as CSR."""

    rates: FloatArray

    @property
    def mean(self) -> FloatArray:
        return cast(FloatArray, -np.expm1(-self.rates))

    def index_sd(self, coef: FloatArray) -> FloatArray:
        return np.sqrt((self.mean * (1 - self.mean)) @ coef**2)

    def sample(self, n_samples: int, rng: np.random.Generator) -> Any:
        X = CountRows(self.rates).sample(n_samples, rng)
        X.data[:] = 1.0
        return X


def draw_rates(n_features: int, density: float, rng: np.random.Generator) -> FloatArray:
    """Draw Poisson rates whose counts are non-zero with probability `density` on average.

    Rates are Gamma(2), so that columns differ in scale as words of a text do.
    """
    # E[exp(-rate)] = (1 + level / 2) ** -2 for rate = level * Gamma(2, 1/2).
    level = 2 * (1 / sqrt(1 - density) - 1)
    return level * rng.gamma(2.0, 0.5, size=n_features)


DESIGNS = ("gaussian", "counts", "binary")


def make_rows(
    design: str,
    n_features: int,
    correlation: float,
    block_size: int | None,
    density: float,
    rng: np.random.Generator,
) -> RowDistribution:
    check_choice("design", design, DESIGNS)
    if design == "gaussian":
        return _gaussian_rows(n_features, correlation, block_size)
    if correlation != 0.0 or block_size is not None:
        raise ValueError(
            f"design={design!r} has independent features; leave correlation=0 and "
            "block_size=None, or use design='gaussian'."
        )
    check_inside("density", density, 0.0, 1.0)
    rates = draw_rates(n_features, density, rng)
    return CountRows(rates) if design == "counts" else BinaryRows(rates)


def _gaussian_rows(
    n_features: int, correlation: float, block_size: int | None
) -> AutoregressiveRows | BlockRows:
    check_inside("correlation", correlation, -1.0, 1.0)
    if block_size is None:
        return AutoregressiveRows(n_features, float(correlation))
    check_count("block_size", block_size)
    if correlation < 0:
        raise ValueError(
            f"correlation={correlation} with blocks must not be negative; "
            "use block_size=None for alternating signs."
        )
    return BlockRows(n_features, float(correlation), int(block_size))
