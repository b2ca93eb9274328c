"""A link of one's own: convex and rising, and one whose ends approach their limits exponentially.

`link="learned"` asks only that the response rises with the index. Where more is known, a fitter of one's own
says so: dose and damage are often convex, and a response that saturates goes on approaching its limit beyond
the last row, where a learned curve is flat. A fitter inherits from `LinkFitter` and has `fit`, which returns
a link and its values at the index, with residuals that sum to zero. A link is a `MonotoneCurve`, or any
`Link` with `__call__`; all estimators take it, the ones that search included.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import nnls

from singleindex import SingleIndexRegressor, SingleIndexRegressorCV
from singleindex.link import Link, LinkFitter, Lpav, MonotoneCurve


@dataclass(frozen=True)
class ConvexFitter(LinkFitter):
    """Least squares over convex rising curves with corners at quantiles of the index."""

    n_corners: int = 20

    def fit(self, index, y, sample_weight=None):
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        mean = np.average(y, weights=weight)
        corners = np.unique(np.quantile(index[weight > 0], np.linspace(0, 1, self.n_corners)))
        if len(corners) < 2:  # an index that is the same for all
            return MonotoneCurve(corners, [mean]), np.full(len(y), mean)
        # Convex and rising: a sum of ramps, none of which falls. Centred, so that the constant is free.
        ramps = np.maximum(index[:, None] - corners[:-1], 0)
        means, root = np.average(ramps, axis=0, weights=weight), np.sqrt(weight)
        slopes, _ = nnls((ramps - means) * root[:, None], (y - mean) * root)
        constant = mean - means @ slopes
        values = constant + np.maximum(corners[:, None] - corners[:-1], 0) @ slopes
        return MonotoneCurve(corners, values), constant + ramps @ slopes


@dataclass(frozen=True)
class TailLink(Link):
    """A curve up to two cuts; beyond them it goes on at its slope there, and levels off within `reach`."""

    curve: MonotoneCurve
    cuts: tuple[float, float]
    slopes: tuple[float, float]
    reach: float
    lift: float = 0.0

    def __call__(self, index):
        index = np.asarray(index, dtype=np.float64)
        inside = np.clip(index, *self.cuts)
        beyond = np.abs(index - inside) / self.reach
        slope = np.where(index < self.cuts[0], -self.slopes[0], self.slopes[1])
        return self.curve(inside) + self.lift + slope * self.reach * -np.expm1(-beyond)


@dataclass(frozen=True)
class TailFitter(LinkFitter):
    """Lipschitz isotonic regression, with exponential tails where the outer `share` of the rows lies."""

    lipschitz: float = 1.0
    share: float = 0.1

    is_bounded = True  # so that w is given the length at which the curve is steep enough

    @property
    def slope(self):
        return self.lipschitz

    def at_slope(self, slope):
        return replace(self, lipschitz=slope)

    def fit(self, index, y, sample_weight=None):
        curve, _ = Lpav(self.lipschitz).fit(index, y, sample_weight)
        low, high = np.quantile(index, [self.share, 1 - self.share])
        reach = max((high - low) / 4, 1e-12)
        step = reach / 4  # over which the slope at a cut is taken
        slopes = tuple(float(curve(a + step) - curve(a)) / step for a in (low, high - step))
        link = TailLink(curve, (low, high), slopes, reach)
        lift = float(np.average(y - link(index), weights=sample_weight))
        link = TailLink(curve, (low, high), slopes, reach, lift)
        return link, link(index)


def distance(fitter, shape, seed):
    """Return how far from the truth a model is on new rows, learned from sixty."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((1000, 10))
    truth = shape(X[:, :4] @ np.array([1.0, -1.0, 0.5, 0.5]) / np.sqrt(2.5))
    y = truth + 0.3 * rng.standard_normal(len(truth))
    model = SingleIndexRegressor(n_atoms=4, link=fitter).fit(X[:60], y[:60])
    return np.sqrt(np.mean((model.predict(X[60:]) - truth[60:]) ** 2))


def main():
    shapes = {
        "convex": (lambda t: np.logaddexp(0, 3 * t), ConvexFitter()),
        "saturating": (lambda t: -np.expm1(-np.abs(t)) * np.sign(t), TailFitter()),
    }
    for name, (shape, fitter) in shapes.items():
        for link in ("learned", fitter):
            said = link if isinstance(link, str) else type(link).__name__
            mean = np.mean([distance(link, shape, seed) for seed in range(20)])
            print(f"{name:12s} link {said:14s} mean distance from the truth on new rows {mean:.3f}")
    X = np.random.default_rng(0).standard_normal((200, 30))
    y = np.logaddexp(0, 3 * X[:, 0] - 3 * X[:, 1])
    searched = SingleIndexRegressorCV(link=ConvexFitter(), cv=3).fit(X, y)
    print(f"the search with a convex link finds n_atoms={searched.best_params_['n_atoms']}")


if __name__ == "__main__":
    main()
