"""Lipschitz isotonic regression: cost by size and kind of data, beside argsort, scipy and QP solvers."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import isotonic_regression
from singleindex.link._lpav import solve_lpav

from singleindex import lipschitz_isotonic_regression
from singleindex.link import lpav_certificate

from .timing import median_times


def families(n, seed=0):
    """Return kinds of data: x in random order, but for the alternating labels, on an even grid."""
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    alternating = np.where(np.arange(n) % 2, 1.0, -1.0)
    return {
        "noisy binary": (x, (rng.random(n) < x).astype(float)),
        "noisy smooth": (x, np.tanh(4 * x - 2) + 0.3 * rng.standard_normal(n)),
        "heavy-tailed": (x, x + rng.standard_t(2, n)),
        "normal x, binary": (z := rng.standard_normal(n), (rng.random(n) < 1 / (1 + np.exp(-3 * z))) * 1.0),
        "decreasing": (x, -x),
        "alternating ±1": (np.arange(n) / n, alternating),
    }


def run(quick=False):
    """Return the lines of a report."""
    sizes = (10**4, 10**5) if quick else (10**5, 10**6)
    lines = [
        "| data | n | whole call / argsort | kernel / scipy isotonic | certificate |",
        "|---|---|---|---|---|",
    ]
    totals = {}
    for n in sizes:
        for name, (x, y) in families(n).items():
            order = np.argsort(x)
            xs, ys, ones, z = x[order], y[order], np.ones(n), np.empty(n)
            shuffled = np.random.default_rng(1).random(n)
            times = median_times(
                {
                    "argsort": lambda shuffled=shuffled: np.argsort(shuffled),
                    "whole": lambda x=x, y=y: lipschitz_isotonic_regression(x, y),
                    "kernel": lambda a=xs, b=ys, w=ones, z=z: solve_lpav(a, b, w, 1.0, -np.inf, np.inf, z),
                    "isotonic": lambda b=ys: isotonic_regression(b),
                }
            )
            totals[name, n] = times["whole"]
            violation = lpav_certificate(x, y, lipschitz_isotonic_regression(x, y))
            lines.append(
                f"| {name} | {n:.0e} | {times['whole'] / times['argsort']:.2f} "
                f"| {times['kernel'] / times['isotonic']:.1f} | {violation:.0e} |"
            )
    small, large = sizes
    growth = {name: totals[name, large] / totals[name, small] for name, _ in totals}
    lines += ["", f"Growth of the whole call from n = {small:.0e} to {large:.0e}: "]
    lines[-1] += ", ".join(f"{name} {g:.1f}×" for name, g in growth.items()) + "."
    lines += ["", memory_line(sizes[-1]), "", qp_line(10**4 if quick else 10**5)]
    return lines


def memory_line(n):
    """Rise of the resident peak during a call, in doubles per point; meaningful for large n."""
    worst = 0.0
    for x, y in families(n).values():
        resident_peak()
        before = resident_peak()
        lipschitz_isotonic_regression(x, y)
        worst = max(worst, (resident_peak() - before) / 8 / n)
    return f"Memory at n = {n:.0e}: at most {worst:.1f} doubles per point over all kinds of data."


def resident_peak():
    """Reset and read the high-water mark of the process (Linux)."""
    with open("/proc/self/status") as status:
        fields = dict(line.split(":", 1) for line in status)
    peak = int(fields["VmHWM"].split()[0]) * 1024
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")
    return peak


def qp_line(n):
    import piqp

    x, y = families(n)["noisy binary"]
    x, y = np.sort(x), y[np.argsort(x)]
    difference = sparse.diags([-np.ones(n - 1), np.ones(n - 1)], [0, 1], shape=(n - 1, n)).tocsc()

    def solve_by_qp():
        solver = piqp.SparseSolver()
        empty = sparse.csc_matrix((0, n))
        solver.setup(
            sparse.identity(n, format="csc"), -y, empty, np.zeros(0), difference,
            np.zeros(n - 1), np.diff(x),
        )  # fmt: skip
        solver.solve()

    times = median_times({"qp": solve_by_qp, "ours": lambda: lipschitz_isotonic_regression(x, y)}, repeats=3)
    return (
        f"Against the fastest QP solver tried (piqp) at n = {n:.0e}: {times['qp'] / times['ours']:.0f} times "
        "as fast."
    )
