"""The sums of the GPU's kernels in numpy, in the same order and precision: what they give, bit for bit."""

import numpy as np

from singleindex.design.gpu.shape import PATCH
from singleindex.link import MonotoneCurve

REAL = {"float32": np.float32, "float64": np.float64, "float16": np.float32, "bfloat16": np.float32}


def emulate_sweep(X, w, link, centre, y, weight, shape, n_blocks):
    """Return index, gradient and the sum of residuals, as `sweep.cu` has them in this shape."""
    real = REAL[shape.storage]
    wide = np.float64 if shape.wide else real
    X = X.astype(real)
    index = emulate_index(X.astype(wide), w.astype(wide), shape)
    residual = emulate_residual(link, centre, index, y, weight)
    workers = shape.workers(n_blocks)
    gradient = emulate_gradient(X, residual.astype(real), shape, workers)
    return index, gradient, emulate_sum_of_residuals(residual, shape, workers)


def add_product(a, b, total):
    """Return total + a × b; in single precision in one rounding, by way of double, which holds a × b."""
    if total.dtype == np.float64:
        return total + a * b
    return (total + a.astype(np.float64) * b).astype(np.float32)


def emulate_index(X, w, shape):
    d, width = X.shape[1], shape.width(X.shape[1])
    index = np.zeros(len(X))
    for begin in range(0, width * shape.cluster, width):
        own = slice(min(begin, d), min(begin + width, d))
        for warp in sums_of_warps(X[:, own], w[own], shape).T:
            index = index + warp
    return index


def sums_of_warps(X, w, shape):
    """Return one sum per row and warp of the team: lanes add up their columns, then meet by halves."""
    lanes = 32 * shape.team
    padded = np.zeros((len(X), shape.cpt * lanes * shape.vec), dtype=X.dtype)
    padded[:, : X.shape[1]] = X
    factors = np.zeros(padded.shape[1], dtype=X.dtype)
    factors[: len(w)] = w
    padded = padded.reshape(len(X), shape.cpt, lanes, shape.vec)
    factors = factors.reshape(shape.cpt, lanes, shape.vec)
    sums = np.zeros((len(X), lanes), dtype=X.dtype)
    for c in range(shape.cpt):
        for v in range(shape.vec):
            sums = add_product(padded[:, c, :, v], factors[c, :, v], sums)
    sums = sums.reshape(len(X), shape.team, 32)
    for step in (16, 8, 4, 2, 1):
        sums = sums + sums[:, :, np.arange(32) ^ step]
    return sums[:, :, 0].astype(np.float64)


def emulate_residual(link, centre, index, y, weight):
    if link is None:
        residual = index - centre
    else:
        assert isinstance(link, MonotoneCurve)
        knots, values = link.knots_.T
        k = np.clip(np.searchsorted(knots, index, side="right") - 1, 0, len(knots) - 1)
        slopes = np.append(np.diff(values) / np.diff(knots), 0.0)
        inside = (index > knots[k]) & (k < len(knots) - 1)
        residual = np.where(inside, values[k] + slopes[k] * (index - knots[k]), values[k]) - y
    return residual if weight is None else weight * residual


def emulate_gradient(X, residual, shape, workers):
    """Return the gradient: tiles go round the workers, short sums go into long ones, then workers meet."""
    n, d = X.shape
    rounds = -(-n // (shape.rows * workers))
    active = min(workers, -(-n // shape.rows))
    short, long = np.zeros((workers, d), dtype=X.dtype), np.zeros((workers, d))
    for k in range(rounds):
        for r in range(shape.rows):
            rows = (np.arange(workers) + k * workers) * shape.rows + r
            there = rows < n
            short[there] = add_product(X[rows[there]], residual[rows[there], None], short[there])
        if (k + 1) % (PATCH // shape.rows) == 0 or k + 1 == rounds:
            long = long + short
            short[:] = 0
    return emulate_add_parts(long[:active])


def emulate_add_parts(parts):
    total = np.zeros(parts.shape[1])
    for warp in range(32):
        own = np.zeros(parts.shape[1])
        for part in parts[warp::32]:
            own = own + part
        total = total + own
    return total


def emulate_sum_of_residuals(residual, shape, workers):
    """Return the sum: of each row of the tile over the tiles of a worker, then as `finish` does."""
    n = len(residual)
    found = np.zeros((workers, shape.rows))
    for worker in range(workers):
        for tile in range(worker, -(-n // shape.rows), workers):
            rows = residual[tile * shape.rows : (tile + 1) * shape.rows]
            found[worker, : len(rows)] = found[worker, : len(rows)] + rows
    by_row = np.zeros(shape.rows)
    for warp in range(32):
        own = np.zeros(shape.rows)
        for worker in range(warp, workers, 32):
            own = own + found[worker]
        by_row = by_row + own
    total = 0.0
    for value in by_row:
        total += value
    return total


def emulate_bins(index, y, weight, exponent, first, n_bins, weight_scale, y_scale):
    """Return the whole numbers of `fill_bins` in rows.cu, of shape (3, n_bins)."""
    place = index * np.ldexp(1.0, -exponent)
    number = np.floor(place)
    k = np.clip(number - first, 0, n_bins - 1).astype(int)
    omega = np.ones(len(index)) if weight is None else weight
    whole = np.zeros((3, n_bins), dtype=np.int64)
    for row, values in enumerate((omega, omega * (place - number), omega * y)):
        scale = y_scale if row == 2 else weight_scale
        np.add.at(whole[row], k, np.rint(values * scale).astype(np.int64))
    return whole


def emulate_visit_models(index, offset, Y, weight, fold, held, output, table):
    """Return residuals in double, bins and sums of residuals of rows, as `visit_models` in many.cu has them.

    `index` has a row for each model, `Y` one for each output.
    """
    n_bins, n = table.shape[1] - 1, index.shape[1]
    omega = np.ones(n) if weight is None else weight
    residual, sums = np.empty(index.shape), np.empty(len(index))
    bins = np.zeros((len(index), 2, n_bins, 3))
    for k, y in enumerate(Y[output]):
        u = index[k].astype(np.float64) + offset[k]
        half, last = 0.5 * n_bins, n_bins - 0.5
        place = half + half * u / (4.0 + np.abs(u))
        place = np.where(place < last, place, last)
        place = np.where(place > 0, place, 0.0)
        b, side = place.astype(int), (fold == held[k]).astype(int)
        for p, values in enumerate((omega, omega * u, omega * y)):
            scale = scale_for_sum(n, np.max(np.abs(values)))
            whole = np.zeros((2, n_bins), dtype=np.int64)
            np.add.at(whole, (side, b), np.rint(values * scale).astype(np.int64))
            bins[k, ..., p] = whole * (1 / scale)
        fitted = table[k, b] + (place - b) * (table[k, b + 1] - table[k, b])
        residual[k] = (1 - side) * omega * (fitted - y)
        sums[k] = sum_of_block(residual[k])
    return residual, bins, sums


def scale_for_sum(n, largest):
    _, exponent = np.frexp(n * largest)
    return np.ldexp(1.0, min(62 - int(exponent), 1000))


def sum_of_block(values, threads=512):
    """Return the sum: each thread its own rows, then by halves within warps, then over warps in order."""
    own = np.zeros(threads)
    for begin in range(0, len(values), threads):
        part = values[begin : begin + threads]
        own[: len(part)] = own[: len(part)] + part
    by_warp = own.reshape(-1, 32)
    for step in (16, 8, 4, 2, 1):
        by_warp = by_warp + by_warp[:, np.arange(32) ^ step]
    total = 0.0
    for value in by_warp[:, 0]:
        total += value
    return total
