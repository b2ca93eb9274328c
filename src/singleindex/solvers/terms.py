"""What is added to a quadratic: penalties of coordinates within bounds, or of blocks, and a ridge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..structures.separable import Separable, amounts
from ._descent import block_gap, duality_gap, screen
from .result import FloatArray

Positions = NDArray[np.intp]

# The first working set of a cold start has at most this many columns; later ones get no more than are in use.
_FIRST = 100
# The share of the change of the penalty by which gradients are expected to grow. The strong rule has 1, and
# misses hardly a column; but most of those it adds stay unused, and one that is missed costs a look at all.
_STRONG = 0.25


@dataclass(frozen=True, eq=False)
class Pieces:
    """The part of it that belongs to some columns, and the squared lengths of these, as kernels take them."""

    norm: FloatArray
    amount: FloatArray
    lower: FloatArray | None
    upper: FloatArray | None
    alpha: float
    starts: Positions | None = None
    within: FloatArray | None = None
    bound: FloatArray | None = None

    def parts(self) -> tuple[Any, ...]:
        return (
            self.norm, self.amount, self.lower, self.upper, self.alpha, self.starts, self.within, self.bound,
        )  # fmt: skip

    def has_newton(self, u: FloatArray) -> bool:
        """Tell whether there are Newton steps: for one output."""
        return bool(u.shape[1] == 1)

    @cached_property
    def label(self) -> Positions:
        """The block of each column."""
        starts = np.arange(len(self.amount) + 1) if self.starts is None else self.starts
        return np.repeat(np.arange(len(self.amount)), np.diff(starts))

    def is_done(self, gap: float, target: float) -> bool:
        """Tell whether the gap is narrow enough; it says little of coefficients that nothing holds back."""
        return gap <= target and (self.alpha > 0 or bool(self.amount.all()))

    def in_play(self, u: FloatArray) -> Positions:
        """Return the coefficients that can go either way: not at a bound, nor at zero by their penalty."""
        own = u[:, 0]
        if self.starts is not None:
            used = np.bincount(self.label, own != 0) > 0
            return np.flatnonzero((used | (self.amount == 0))[self.label])
        in_play = (own != 0) | (self.amount == 0)
        if self.lower is not None:
            in_play &= own > self.lower
        if self.upper is not None:
            in_play &= own < self.upper
        return np.flatnonzero(in_play)


class Terms:
    """Of single coordinates, which may be bounded."""

    def __init__(self, shape: Separable, penalty: float, alpha: float, d: int) -> None:
        self.amount, self.alpha = amounts(shape.factor, penalty), alpha
        self.lower, self.upper = shape.lower, shape.upper
        if any(len(part) != d for part in (self.amount, self.lower, self.upper) if part is not None):
            raise ValueError(f"factors and bounds must have one number for each of the {d} coefficients.")

    def feasible(self, w: FloatArray) -> FloatArray:
        """Return a copy of w within the bounds."""
        inside = np.maximum(w, self.lower) if self.lower is not None else w.copy()
        if self.upper is not None:
            inside = np.minimum(inside, self.upper)
        inside[np.isinf(self.amount)] = 0.0
        return inside

    def value(self, w: FloatArray) -> float:
        """Return what is added to the quadratic."""
        used = w != 0
        own = w[used]
        return float(self.amount[used] @ np.abs(own) + 0.5 * self.alpha * (own @ own))

    def gap(self, moving: Any, gradient: FloatArray) -> float:
        """Return the duality gap."""
        at = moving.squared_residual, gradient, moving.w, moving.norm[0]
        gap: float = duality_gap(*at, self.amount, self.lower, self.upper, self.alpha)
        return gap

    def free(self) -> Positions:
        """Return the columns that nothing holds back."""
        is_held = self.alpha > 0 or self.amount.all()
        return np.empty(0, dtype=np.intp) if is_held else np.flatnonzero(self.amount == 0)

    def missing(self, moving: Any, gradient: FloatArray, least: FloatArray) -> tuple[Positions, bool]:
        """Return the next columns of a working set, and whether these are all that belong in it."""
        new = np.empty(len(gradient), dtype=np.intp)
        new = new[: screen(gradient, moving.w, least, self.lower, self.upper, moving.inside, new)]
        if len(new) <= _FIRST or least is not self.amount:
            return new, True
        used = moving.w != 0
        most = max(_FIRST, int(np.count_nonzero(used)))
        if len(new) <= most:
            return new, True
        urgent = by_urgency(np.abs(gradient[new]), self.amount[new], used[new])
        return np.sort(new[urgent[:most]]), False

    def pieces(self, which: Positions, norm: FloatArray, products_of: Any) -> Pieces:
        """Return what kernels need for some columns."""
        lower, upper = (None if side is None else side[which] for side in (self.lower, self.upper))
        return Pieces(norm, self.amount[which], lower, upper, self.alpha)


class BlockTerms:
    """Of blocks of coordinates: groups of columns, and the coefficients of a column for all outputs."""

    def __init__(self, shape: Separable, penalty: float, alpha: float, d: int) -> None:
        if shape.lower is not None or shape.upper is not None:
            raise ValueError("coefficients in blocks, or of several outputs, have no bounds; leave them out.")
        label = np.arange(d) if shape.block is None else np.asarray(shape.block)
        if len(label) != d or (d and not 0 <= label.min() <= label.max() < len(shape.factor)):
            raise ValueError(
                f"block must have the number of a block, which has a factor, for each of {d} rows of w."
            )
        sizes = np.bincount(label, minlength=len(shape.factor))
        # Blocks that have no columns are none.
        numbers = np.cumsum(sizes > 0) - 1
        self.label: Positions = numbers[label]
        self.amount, self.alpha = amounts(shape.factor, penalty)[sizes > 0], alpha
        self.order = np.argsort(self.label, kind="stable")
        self.starts = np.concatenate([[0], np.cumsum(sizes[sizes > 0])]).astype(np.intp)

    def feasible(self, w: FloatArray) -> FloatArray:
        inside = w.copy()
        inside[np.isinf(self.amount)[self.label]] = 0.0
        return inside

    def lengths(self, values: FloatArray) -> FloatArray:
        """Return the length of each block."""
        squares = np.square(values) if values.ndim == 1 else np.square(values).sum(axis=1)
        return np.sqrt(np.bincount(self.label, squares, minlength=len(self.amount)))

    def value(self, w: FloatArray) -> float:
        lengths = self.lengths(w)
        used = lengths > 0
        return float(self.amount[used] @ lengths[used] + 0.5 * self.alpha * (lengths @ lengths))

    def gap(self, moving: Any, gradient: FloatArray) -> float:
        d = len(self.order)
        at = (values.reshape(d, -1)[self.order] for values in (gradient, moving.w))
        bound = np.zeros(len(self.amount))
        if self.alpha == 0 and not self.amount.all():
            np.maximum.at(bound, self.label, moving.norm.max(axis=0))
        gap: float = block_gap(moving.squared_residual, *at, self.starts, bound, self.amount, self.alpha)
        return gap

    def free(self) -> Positions:
        return self.columns_of(
            np.flatnonzero(self.amount == 0) if self.alpha == 0 else np.empty(0, dtype=np.intp)
        )

    def columns_of(self, blocks: Positions) -> Positions:
        """Return the columns of some blocks, one block after the other."""
        parts = [self.order[self.starts[b] : self.starts[b + 1]] for b in blocks]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.intp)

    def missing(self, moving: Any, gradient: FloatArray, least: FloatArray) -> tuple[Positions, bool]:
        used, pull = self.lengths(moving.w) > 0, self.lengths(gradient)
        inside = np.zeros(len(self.amount), dtype=bool)
        inside[self.label[moving.which]] = True
        new = np.flatnonzero(((pull > least) | used | (least == 0)) & ~inside)
        sizes = np.diff(self.starts)
        most = max(_FIRST, int(sizes[used].sum()))
        if sizes[new].sum() <= most or least is not self.amount:
            return self.columns_of(new), True
        urgent = new[by_urgency(pull[new], self.amount[new], used[new])]
        n_new = max(1, int(np.searchsorted(np.cumsum(sizes[urgent]), most, side="right")))
        return self.columns_of(np.sort(urgent[:n_new])), n_new == len(new)

    def pieces(
        self, which: Positions, norm: FloatArray, products_of: Callable[[Positions], FloatArray]
    ) -> Pieces:
        label = self.label[which]
        starts = np.flatnonzero(np.concatenate([[True], label[1:] != label[:-1], [True]]))
        sizes, bound = np.diff(starts), norm.max(axis=0)[starts[:-1]]
        # The products of one block after the other, those of blocks of one size at a time.
        after = np.cumsum(np.where(sizes > 1, sizes**2, 0))
        within = np.empty((len(norm), after[-1]))
        for size in np.unique(sizes[sizes > 1]):
            blocks = np.flatnonzero(sizes == size)
            products = products_of(starts[blocks][:, None] + np.arange(size))
            bound[blocks] = np.linalg.eigvalsh(products)[..., -1].max(axis=0)
            within[:, after[blocks][:, None] + np.arange(-(size**2), 0)] = products.reshape(
                *products.shape[:2], -1
            )
        return Pieces(
            norm, self.amount[label[starts[:-1]]], None, None, self.alpha, starts,
            within, np.maximum(bound, 0.0),
        )  # fmt: skip


def by_urgency(pull: FloatArray, amount: FloatArray, used: NDArray[np.bool_]) -> Positions:
    """Return an order: what is in use first, then what is held back least; equal ones as given."""
    ratio = np.divide(amount, pull, out=np.full(len(pull), np.inf), where=pull > 0)
    ratio[used] = 0.0
    return np.argsort(ratio, kind="stable")


def strong_rule(amount: FloatArray, penalty: float, last_penalty: float | None) -> FloatArray:
    """Return the gradients beyond which coefficients are expected to come into use.

    From one penalty to the next, gradients change by a share of its change. Where the one before is not
    known, was no larger, or was far larger, those that are in balance stay out for now: `amount` itself.
    """
    if last_penalty is None or not penalty < last_penalty < 2 * penalty:
        return amount
    return amount * (1 - _STRONG * (last_penalty / penalty - 1))
