"""CSI on a stream: steps on batches of rows, with the link refitted and w projected now and then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..design import Design, column_factors
from ..files.arrays import check_floats
from ..link import LinkFitter
from ..link.bins import Bins
from ..link.stored import check_link
from ..structures import LinearMap, Structure
from .result import FloatArray, Iterate, SolverResult, Status, as_history
from .settings import Stochastic
from .simplicity import squared_length

# The step size halves over the first so many steps, at a decay of one half twice as slowly.
_STEPS = 100.0
# The share of the largest curvature met so far that is kept when a smaller one is met.
_KEPT = 0.9
# Coefficients beyond which squares are no numbers.
_LONGEST = 1e150


class StochasticCsi:
    r"""Learns w and the link of one output from batches of rows, each seen once.

    A batch gives the step

    .. math:: w \leftarrow w - \eta_t\,\bigl(S^2 X_b^\top r / n_b + \alpha w\bigr), \quad r = g(X_b w) - y,

    with the residuals centred and S the column scales, from the variances so far; for a structure that is
    that of another one after a linear map, S is followed by this map. The first step size is the
    inverse of the curvature along the gradients of the batches; :math:`\eta_t` falls with t. Every
    `refit_every` steps w is projected and the link is fitted to bins of the index of recent rows.

    The model is the projection of the average of the iterates. Its link is fitted to the rows since it was
    last projected and, with less weight, to earlier ones: each row had its index before w learned from it, so
    that the link is that of rows not seen, and is not over-confident.

    The whole state is in `state`, a dict of numbers and arrays: a solver with the same settings and this
    state goes on as this one would, bit for bit.
    """

    def __init__(
        self,
        structure: Structure,
        link_fitter: LinkFitter,
        settings: Stochastic,
        *,
        n_atoms: int | None,
        alpha: float,
        penalty: float,
        power: float | None,
        coordinates: LinearMap | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> None:
        # w stays in the units of X; the structure is that of its coordinates, where it has any.
        self.structure, self.coordinates = structure.fresh(), coordinates
        self.fitter, self.settings, self.power = link_fitter, settings, power
        self.n_atoms, self.alpha, self.penalty = n_atoms, alpha, penalty
        self.state: dict[str, Any] = {} if state is None else _copied(state)

    def copy(self) -> StochasticCsi:
        """Return a solver that goes on from here by itself."""
        return StochasticCsi(
            self.structure, self.fitter, self.settings, n_atoms=self.n_atoms, alpha=self.alpha,
            penalty=self.penalty, power=self.power, coordinates=self.coordinates, state=self.state,
        )  # fmt: skip

    # ------------------------------------------------------------ learning

    def step(self, design: Design, y: FloatArray, weight: FloatArray | None, is_new: bool = True) -> None:
        """Learn from one batch; `is_new` says that its rows have not been seen before."""
        omega = np.ones(len(y)) if weight is None else weight
        total = float(omega.sum())
        if total == 0:
            return
        share = omega / total
        if is_new:
            self._note(design, y, share, total)
        if "w" not in self.state:
            self._start(design, y, share)
        state = self.state
        both = design.matvec(np.column_stack([state["w"], state["model"]]))
        index, shown = np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1])
        residual = self.state["step_link"](index) - y
        residual -= share @ residual
        gradient = design.rmatvec(share * residual)
        self._move(design, gradient, share)
        for name, values in (("step", index), ("model", shown)):
            self._put(name, self._bins(name).add(values, y, omega))
        state["squares"] += float(omega @ np.square(y - state["y_mean"]))
        if state["t"] % self.settings.refit_every == 0:
            self._refit()

    def _note(self, design: Design, y: FloatArray, share: FloatArray, total: float) -> None:
        """Merge means, variances and covariances with those of the batch."""
        mean, variance = design.column_moments(share)
        y_mean = float(share @ y)
        covariance = design.rmatvec(share * (y - y_mean))
        state = self.state
        if "total" not in state:
            state |= {"total": 0.0, "mean": mean, "variance": variance, "y_mean": y_mean, "squares": 0.0}
            state["covariance"] = covariance
        part = total / (state["total"] + total)
        gap, y_gap = mean - state["mean"], y_mean - state["y_mean"]
        between = part * (1 - part)
        state["variance"] = (1 - part) * state["variance"] + part * variance + between * gap**2
        state["covariance"] = (1 - part) * state["covariance"] + part * covariance + between * gap * y_gap
        state["mean"] = state["mean"] + part * gap
        state["y_mean"] += part * y_gap
        state["total"] += total

    def _start(self, design: Design, y: FloatArray, share: FloatArray) -> None:
        """Begin with the covariances of the first batch, at the length of the least-squares line."""
        state = self.state
        scale = self._scale()
        state |= {
            "t": 0,
            "periods": 0,
            "curvature": 0.0,
            "shrink": 0.0,
            "history": np.zeros((0, len(Iterate.RECORDED))),
        }
        w = self._out(self.structure.project(self._pulled(state["covariance"], scale), self.n_atoms), scale)
        index = design.matvec(w)
        centred = index - share @ index
        spread = float(share @ centred**2)
        slope = float(share @ (centred * y)) / spread if spread > 0 else 0.0
        state["w"] = w * (slope / self.fitter.slope)
        state["average"], state["model"] = state["w"].copy(), state["w"].copy()
        link, _ = self.fitter.fit(index * (slope / self.fitter.slope), y, share)
        for name in ("step", "model"):
            state[f"{name}_link"] = link
            self._put(name, Bins(self.settings.n_bins))

    def _move(self, design: Design, gradient: FloatArray, share: FloatArray) -> None:
        """Take one step, and add the iterate to the average."""
        state, scale = self.state, self._scale()
        step = self._step_size(design, scale, gradient, share)
        with np.errstate(over="ignore", invalid="ignore"):
            state["w"] = state["w"] - step * (self._along(gradient, scale) + self.alpha * state["w"])
        if not np.max(np.abs(state["w"])) < _LONGEST:
            raise ValueError("The steps on batches have left all bounds; use a smaller step_size, or None.")
        state["shrink"] += step
        state["step_size"] = step
        state["t"] += 1
        late = self.settings.average
        state["average"] = state["average"] + (1 + late) / (state["t"] + late) * (
            state["w"] - state["average"]
        )

    def _step_size(self, design: Design, scale: FloatArray, gradient: FloatArray, share: FloatArray) -> float:
        state, t = self.state, self.state["t"]
        fall = (1 + t / _STEPS) ** self.settings.decay
        if self.settings.step_size is not None:
            return float(self.settings.step_size / fall)
        # Often at first, then once per period: it costs one product more.
        if t < 8 or t % self.settings.refit_every == 0 or state["curvature"] == 0:
            length = squared_length(self._pulled(gradient, scale))
            if length > 0:
                along = design.matvec(self._along(gradient, scale))
                along -= share @ along
                new = self.fitter.slope * float(share @ along**2) / length
                state["curvature"] = max(new, _KEPT * state["curvature"])
        whole = state["curvature"] + self.alpha
        return float(1 / whole / fall) if whole > 0 else 0.0

    def _refit(self) -> None:
        """Project w, fit the links, and let the average become the model."""
        state, scale = self.state, self._scale()
        bins = self._bins("step")
        if bins.exponent is not None:
            self._fit_link("step", bins)
            self._put("step", bins.reweigh(0.5))
        state["w"] = self._projected(state["w"], scale, state["shrink"])
        state["shrink"] = 0.0
        self._record(scale)
        state["periods"] += 1
        # Later rows count more, by the same rule as later iterates.
        kept = state["periods"] / (state["periods"] + self.settings.average / 2)
        self._put("model", self._bins("model").reweigh(kept))
        state["squares"] *= kept
        state["model"] = self._projected(state["average"], scale, 0.0)

    def _projected(self, w: FloatArray, scale: FloatArray, steps: float) -> FloatArray:
        v = self._in(w, scale)
        if self.penalty > 0 and steps > 0:
            amount = self.penalty * self.structure.dual_norm(self._pulled(self.state["covariance"], scale))
            v = self.structure.shrink(v, steps * amount)
        return self._out(self.structure.project(v, self.n_atoms), scale)

    # Between w in the units of X and w in scaled columns, or in the structure's coordinates of these.

    def _in(self, w: FloatArray, scale: FloatArray) -> FloatArray:
        v: FloatArray = w * np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        return v if self.coordinates is None else self.coordinates.from_features(v)

    def _out(self, v: FloatArray, scale: FloatArray) -> FloatArray:
        w: FloatArray = scale * (v if self.coordinates is None else self.coordinates.to_features(v))
        return w

    def _pulled(self, gradient: FloatArray, scale: FloatArray) -> FloatArray:
        """Return the gradient in the inner coordinates of one in the units of X."""
        v: FloatArray = scale * gradient
        return v if self.coordinates is None else self.coordinates.pull_back(v)

    def _along(self, gradient: FloatArray, scale: FloatArray) -> FloatArray:
        """Return the direction of a step, in the units of X."""
        if self.coordinates is None:
            return scale * scale * gradient
        return self._out(self._pulled(gradient, scale), scale)

    def _record(self, scale: FloatArray) -> None:
        """Note how the model did on the rows since it was projected, before it learned from them."""
        state = self.state
        error, weight = self._error("model")
        new = self._projected(state["average"], scale, 0.0)
        sizes = float(np.sqrt(squared_length(new) * squared_length(state["model"])))
        turn = 1 - (float(new @ state["model"]) / sizes) ** 2 if sizes > 0 else 1.0
        mse = error / weight
        objective = 0.5 * (mse + self.alpha * self.fitter.slope * squared_length(state["model"]))
        count = self.structure.count_atoms(new if self.coordinates is None else self._in(new, scale))
        line = [objective, mse, count, state["step_size"], np.sqrt(max(turn, 0.0))]
        state["history"] = np.vstack([state["history"], line])

    def _error(self, name: str) -> tuple[float, float]:
        """Fit a link to its bins; return the squared error of the rows in them, and their weight."""
        points = self._bins(name).points(self.state["squares"], self.state["y_mean"])
        link, fitted = self.fitter.fit(points.index, points.y, points.weight)
        self.state[f"{name}_link"] = link
        assert points.weight is not None
        return float(points.weight @ np.square(fitted - points.y)) + points.within, float(points.weight.sum())

    # ------------------------------------------------------------ the model

    def result(self) -> SolverResult:
        """Return the model as it is now, its coefficients in the units of X. To be asked of a copy.

        The history has one entry per period, and one for the rows since the last.
        """
        state = self.state
        self._record(self._scale())
        coef = self._projected(state["average"], self._scale(), 0.0)
        points = self._bins("model").points(state["squares"], state["y_mean"])
        records = state["history"].tolist()
        numbers = dict(zip(Iterate.RECORDED, records[-1], strict=True))
        model = Iterate(len(records) - 1, coef, points.index, state["model_link"], **numbers, points=points)
        return SolverResult(model, Status.STREAMED, as_history(records, Iterate.RECORDED), state["t"])

    # ------------------------------------------------------------ parts of the state

    def _scale(self) -> FloatArray:
        if self.power is None:
            return np.where(self.state["variance"] > 0, 1.0, 0.0)
        return column_factors(self.state["variance"], self.power)

    def _bins(self, name: str) -> Bins:
        head, sums = self.state[f"{name}_bins"]
        return Bins(self.settings.n_bins, head[0], head[1], sums)

    def _put(self, name: str, bins: Bins) -> None:
        self.state[f"{name}_bins"] = [[bins.exponent, float(bins.first)], bins.sums]

    def _fit_link(self, name: str, bins: Bins) -> None:
        points = bins.points()
        self.state[f"{name}_link"], _ = self.fitter.fit(points.index, points.y, points.weight)


def check_state(state: Mapping[str, Any], n_features: int) -> None:
    """Raise where a state cannot be gone on from: for what comes from a file."""
    if not state:
        return
    for name in ("mean", "variance", "covariance", "w", "average", "model"):
        check_floats(f"{name} of a stream", state[name], n_features)
    for name in ("total", "y_mean", "squares", "curvature", "shrink", "step_size"):
        if not np.isfinite(float(state[name])):
            raise ValueError(f"{name} of a stream must be a finite number, got {state[name]!r}.")
    for name in ("t", "periods"):
        if type(state[name]) is not int or state[name] < 0:
            raise ValueError(f"{name} of a stream must be a count, got {state[name]!r}.")
    history = np.asarray(state["history"])
    if history.dtype != np.float64 or history.ndim != 2 or history.shape[1] != len(Iterate.RECORDED):
        raise ValueError("the history of a stream must have a column for each quantity.")
    for name in ("step", "model"):
        (exponent, first), sums = state[f"{name}_bins"]
        Bins(len(sums), exponent, first, sums).check()
        check_link(state[f"{name}_link"])


def _copied(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy that shares no list; arrays are never changed in place."""
    return {name: list(value) if isinstance(value, list) else value for name, value in state.items()}
