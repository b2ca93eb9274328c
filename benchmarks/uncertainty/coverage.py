"""Bands, effects, coefficients and stable features, beside the truth.

Binary y, ten features with an effect, normal columns that are independent or all correlated by .7; models
are those of the default search. The band is one of E[y | ŵ·x] for the w that was found, held against it at
new rows; "bootstrap" are percentiles of isotonic links of the same held-out rows. "Plateaus" are new rows at
which that mean is below .03 or above .97. False are stable features without a weight; the bound is on those
that are chosen no more often than by chance, and on correlated columns there may be others.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from benchmarks.exact_steps.compare import difference_text, mean_of, means_text, pair
from benchmarks.pages import as_table, paragraphs
from singleindex import SingleIndexClassifierCV
from singleindex.fitting.stability import number_chosen, rule_for
from singleindex.inspection import resample

from . import rivals
from .problems import OURS, make_problem

NAME = "coverage"
TITLE = "Coverage and selection"
LEVEL = 0.9
LASSO, KNOCKOFFS = "lasso", "knockoffs"
MINE = (OURS,)
N_HALVES = 100
LINKS = ("clipped", "ramp", "steps", "logistic")
CELLS = {
    f"{n} × {d}, ρ {rho:g}, {link}": (n, d, rho, link)
    for (n, d), rho, link in product(((400, 60), (200, 500)), (0.0, 0.7), LINKS)
}


def n_draws(cell: str, family: str) -> int:
    """Knockoffs take a minute for each draw of 500 columns."""
    if family == KNOCKOFFS:
        return 20 if "× 60" in cell else 0
    return 100


def make(cell: str, seed: int):
    return make_problem(*CELLS[cell], seed)


# ---------------------------------------------------------------- ours


def measure_ours(problem) -> dict[str, dict[str, float]]:
    model = SingleIndexClassifierCV().fit(problem.X, problem.y)
    resampled = resample(model, problem.X, problem.y, N_HALVES, random_state=problem.seed, n_permutations=0)
    rule = resampled.rule()
    figures = {
        **band_figures(problem, model, resampled),
        **effect_figures(problem, resampled),
        **coefficient_figures(problem, resampled),
        **selected(problem, resampled.stable()),
        **selected(problem, resampled.stable(assumption="r-concave"), " r-concave"),
        "n_chosen": rule.n_chosen,
        "share": rule.share,
        "bound": rule.bound,
    }
    return {OURS: figures}


def band_figures(problem, model, resampled) -> dict[str, float]:
    at = model.decision_function(problem.X_new)
    truth = problem.mean_at(model.coef_, at - model.intercept_)
    found = covered(truth, *resampled.link_band(at, LEVEL))
    plain = covered(truth, *rivals.bootstrap_band(*resampled.link_rows(), at, LEVEL, problem.seed))
    level = (truth < 0.03) | (truth > 0.97)
    figures = {"band": found[0].mean(), "band width": found[1].mean()}
    figures |= {"bootstrap": plain[0].mean(), "bootstrap width": plain[1].mean()}
    if level.any():
        figures |= {"plateau": found[0][level].mean(), "plateau bootstrap": plain[0][level].mean()}
    return {name: float(value) for name, value in figures.items()}


def covered(truth, low, high):
    """Return where limits cover, but for rounding, and how wide they are."""
    return (low <= truth + 1e-9) & (truth <= high + 1e-9), high - low


def effect_figures(problem, resampled) -> dict[str, float]:
    """Return sums over the stable features, so that draws with more of them count more."""
    table = resampled.effects(LEVEL)
    table = table.take(table.stable)
    spread = problem.X.std(axis=0)
    truth = np.array([problem.effect(j, spread[j]) for j in table.feature])
    right, width = covered(truth, table.low, table.high)
    signs = np.sign(table.estimate) == np.sign(truth)
    return {
        "effects": len(table),
        "effects right": int(right.sum()),
        "effects width": float(width.sum()),
        "effects sign": int(signs.sum()),
    }


def coefficient_figures(problem, resampled) -> dict[str, float]:
    if len(problem.y) < len(problem.coef):
        return {}
    table = resampled.coefficients(LEVEL)
    truth = (problem.coef / np.linalg.norm(problem.coef))[table.feature]
    right, width = covered(truth, table.low, table.high)
    return {
        "coefficients": float(right.mean()),
        "coefficients width": float(width.mean()),
        "coefficients true": float(right[truth != 0].mean()),
    }


def selected(problem, stable, suffix: str = "") -> dict[str, int]:
    true = int(np.count_nonzero(problem.coef[stable]))
    return {f"true{suffix}": true, f"false{suffix}": len(stable) - true}


# ---------------------------------------------------------------- others


def measure_lasso(problem) -> dict[str, dict[str, int]]:
    """Return what the lasso finds by the same rule: as many features per half, in the same share of them."""
    (n, d), n_pairs, y = problem.X.shape, N_HALVES // 2, problem.y.astype(float)
    rule = rule_for(1.0, number_chosen(1.0, d, n // 2), d, n_pairs, "unimodal")
    shares = rivals.lasso_shares(problem.X, y, rule.n_chosen, n_pairs, problem.seed)
    return {LASSO: selected(problem, np.flatnonzero(shares >= rule.share - 1e-9))}


def measure_knockoffs(problem) -> dict[str, dict[str, int]]:
    chosen = rivals.knockoff_choice(problem.X, problem.y.astype(float), problem.seed)
    return {KNOCKOFFS: selected(problem, chosen)}


FAMILIES = {OURS: measure_ours, LASSO: measure_lasso, KNOCKOFFS: measure_knockoffs}


# ---------------------------------------------------------------- the section


SELECTION = """Stable features, true / false, of ten; the bound on false ones is that of the rule. "lasso" is
stability selection by the order in which scikit-learn's lasso takes features up, by the same rule.
"knockoffs" are hidimstat's, up to the first negative statistic: one false feature expected at most, too.
With "r-concave" halves choose more of them, and the share follows from the tighter bound."""


def section(figures) -> list[str]:
    known = {cell: figures[cell] for cell in CELLS if OURS in figures.get(cell, {})}
    bands = ["band", "bootstrap", "band on plateaus", "bootstrap on plateaus"]
    effects = ["stable features", "effects", "sign right", "coefficients", "of true features"]
    selection = ["rule", "ours", "lasso", "difference", "ours, r-concave", "knockoffs (draws)"]
    return paragraphs(
        "Link bands at 90 %: coverage / mean width.",
        as_table(["X and link", "draws", *bands], (band_row(c, known[c][OURS]) for c in known)),
        "Effects of stable features and coefficients at 90 %: coverage / mean width.",
        as_table(["X and link", *effects], (effect_row(c, known[c][OURS]) for c in known)),
        SELECTION,
        as_table(["X and link", *selection], (selection_row(c, known[c]) for c in known)),
        verdicts(known),
    )


def band_row(cell: str, draws) -> list[object]:
    both = [means_text(draws, name, f"{name} width") for name in ("band", "bootstrap")]
    plateaus = [means_text(draws, name) for name in ("plateau", "plateau bootstrap")]
    return [cell, len(draws), *both, *plateaus]


def effects_coverage(draws) -> tuple[int, float, float, float]:
    """Return how many effects there are, and of them coverage, mean width and right signs."""
    names = ("effects", "effects right", "effects width", "effects sign")
    n, *sums = (sum(f[name] for f in draws.values()) for name in names)
    return n, *(value / max(n, 1) for value in sums)


def effect_row(cell: str, draws) -> list[object]:
    n, right, width, sign = effects_coverage(draws)
    told = [f"{right:.3f} / {width:.3f}", f"{sign:.3f}"] if n else ["–", "–"]
    is_known = not np.isnan(mean_of(draws, "coefficients"))
    coefficients = means_text(draws, "coefficients", "coefficients width") if is_known else "–"
    return [cell, n, *told, coefficients, means_text(draws, "coefficients true")]


def selection_row(cell: str, methods) -> list[str]:
    ours, lasso, known = methods[OURS], methods.get(LASSO), methods.get(KNOCKOFFS)
    share, bound = (means_text(ours, name, digits=2) for name in ("share", "bound"))
    rule = f"{mean_of(ours, 'n_chosen'):.0f} per half, share {share}, bound {bound}"
    concave = means_text(ours, "true r-concave", "false r-concave", digits=2)
    others = f"{found_text(known)} ({len(known)})" if known else "–"
    difference = difference_text(pair(ours, lasso, "true"), 2)
    return [cell, rule, found_text(ours), found_text(lasso), difference, concave, others]


def found_text(draws) -> str:
    return means_text(draws, "true", "false", digits=2) if draws else "–"


def verdicts(known) -> list[str]:
    """Name the cells in which something falls short."""
    lines = []
    for what, falls_short in SHORTFALLS.items():
        names = [cell for cell, methods in known.items() if falls_short(cell, methods)]
        lines.append(f"- {what}: {'; '.join(names) if names else 'none'}.")
    return lines


def has_low_effects(cell: str, methods) -> bool:
    n, d, *_ = CELLS[cell]
    return n > d and effects_coverage(methods[OURS])[1] < 0.85


def is_behind_lasso(cell: str, methods) -> bool:
    found = pair(methods[OURS], methods.get(LASSO), "true")
    return found is not None and found.is_below(2)


SHORTFALLS = {
    "band below .85": lambda cell, m: mean_of(m[OURS], "band") < 0.85,
    "effects below .85 (400 × 60)": has_low_effects,
    "false above the bound": lambda cell, m: mean_of(m[OURS], "false") > mean_of(m[OURS], "bound"),
    "fewer true ones than the lasso, by two errors": is_behind_lasso,
}
