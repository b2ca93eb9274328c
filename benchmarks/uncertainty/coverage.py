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

from benchmarks.exact_steps.compare import as_text, difference_text, mean_of, pair
from benchmarks.pages import as_table
from singleindex import SingleIndexClassifierCV
from singleindex.inspection import resample

from . import rivals
from .problems import CORRELATIONS, LINKS, SIZES, cell_name, make_problem

NAME = "coverage"
TITLE = "Coverage and selection"
LEVEL = 0.9
OURS, LASSO, KNOCKOFFS = "singleindex", "lasso", "knockoffs"
FAMILIES = (OURS, LASSO, KNOCKOFFS)
MINE = (OURS,)
N_HALVES = 100
CELLS = {
    cell_name(n, d, rho, link): (n, d, rho, link) for (n, d), rho, link in product(SIZES, CORRELATIONS, LINKS)
}


def cells() -> list[str]:
    return list(CELLS)


def make(cell: str, seed: int):
    return make_problem(*CELLS[cell], seed)


def measure(family, problem):
    measures = {OURS: measure_ours, LASSO: measure_lasso, KNOCKOFFS: measure_knockoffs}
    return {family: measures[family](problem)}


# ---------------------------------------------------------------- ours


def measure_ours(problem) -> dict[str, float]:
    model = SingleIndexClassifierCV().fit(problem.X, problem.y)
    resampled = resample(model, problem.X, problem.y, N_HALVES, random_state=problem.seed, n_permutations=0)
    rule = resampled.rule()
    return {
        **band_figures(problem, model, resampled),
        **effect_figures(problem, resampled),
        **coefficient_figures(problem, resampled),
        **selected(problem, resampled.stable()),
        **selected(problem, resampled.stable(assumption="r-concave"), " r-concave"),
        "n_chosen": rule.n_chosen,
        "share": rule.share,
        "bound": rule.bound,
    }


def band_figures(problem, model, resampled) -> dict[str, float]:
    at = model.decision_function(problem.X_new)
    truth = problem.mean_at(model.coef_, at - model.intercept_)
    found = covered(truth, *resampled.link_band(at, LEVEL))
    windows = resampled.link_rows()
    plain = covered(truth, *rivals.bootstrap_band(*windows, at, LEVEL, problem.seed))
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


def measure_lasso(problem) -> dict[str, float]:
    """Return what the lasso finds by the same rule: as many features per half, in the same share of them."""
    rule = rule_of(problem)
    shares = rivals.lasso_shares(
        problem.X, problem.y.astype(float), rule.n_chosen, N_HALVES // 2, problem.seed
    )
    return selected(problem, np.flatnonzero(shares >= rule.share - 1e-9))


def measure_knockoffs(problem) -> dict[str, float]:
    return selected(problem, rivals.knockoff_choice(problem.X, problem.y.astype(float), problem.seed))


def rule_of(problem):
    from singleindex.fitting.stability import number_chosen, rule_for

    n, d = problem.X.shape
    return rule_for(1.0, number_chosen(1.0, d, n // 2), d, N_HALVES // 2, "unimodal")


# ---------------------------------------------------------------- the section


SELECTION = """Stable features, true / false, of ten; the bound on false ones is that of the rule. "lasso" is
stability selection by the order in which scikit-learn's lasso takes features up, by the same rule.
"knockoffs" are hidimstat's, up to the first negative statistic: one false feature expected at most, too.
With "r-concave" halves choose more of them, and the share follows from the tighter bound.
"""


def section(figures) -> list[str]:
    known = [cell for cell in cells() if OURS in figures.get(cell, {})]
    lines = ["Link bands at 90 %: coverage / mean width.", ""]
    head = ["X and link", "draws", "band", "bootstrap", "band on plateaus", "bootstrap on plateaus"]
    lines += as_table(head, [band_row(cell, figures[cell][OURS]) for cell in known])
    lines += ["", "Effects of stable features and coefficients at 90 %: coverage / mean width.", ""]
    head = ["X and link", "stable features", "effects", "sign right", "coefficients", "of true features"]
    lines += as_table(head, [effect_row(cell, figures[cell][OURS]) for cell in known])
    lines += ["", SELECTION]
    head = ["X and link", "rule", "ours", "lasso", "difference", "ours, r-concave", "knockoffs (draws)"]
    lines += as_table(head, [selection_row(cell, figures[cell]) for cell in known])
    return [*lines, "", *verdicts(figures, known)]


def pair_text(draws, name: str) -> str:
    value = mean_of(draws, name)
    return "–" if np.isnan(value) else f"{value:.3f} / {mean_of(draws, name + ' width'):.3f}"


def band_row(cell: str, draws) -> list[str]:
    plateaus = [as_text(mean_of(draws, name)) for name in ("plateau", "plateau bootstrap")]
    return [cell, str(len(draws)), pair_text(draws, "band"), pair_text(draws, "bootstrap"), *plateaus]


def effects_coverage(draws) -> tuple[int, float, float, float]:
    sums = [
        sum(f[name] for f in draws.values())
        for name in ("effects", "effects right", "effects width", "effects sign")
    ]
    n = max(sums[0], 1)
    return sums[0], sums[1] / n, sums[2] / n, sums[3] / n


def effect_row(cell: str, draws) -> list[str]:
    n, right, width, sign = effects_coverage(draws)
    told = f"{right:.3f} / {width:.3f}" if n else "–"
    row = [cell, str(n), told, as_text(sign) if n else "–", pair_text(draws, "coefficients")]
    return [*row, as_text(mean_of(draws, "coefficients true"))]


def selection_row(cell: str, methods) -> list[str]:
    ours, lasso = methods[OURS], methods.get(LASSO, {})
    share, bound = (f"{mean_of(ours, name):.2f}" for name in ("share", "bound"))
    rule = f"{mean_of(ours, 'n_chosen'):.0f} per half, share {share}, bound {bound}"
    told = [f"{mean_of(m, 'true'):.2f} / {mean_of(m, 'false'):.2f}" if m else "–" for m in (ours, lasso)]
    concave = f"{mean_of(ours, 'true r-concave'):.2f} / {mean_of(ours, 'false r-concave'):.2f}"
    known = methods.get(KNOCKOFFS, {})
    others = f"{mean_of(known, 'true'):.2f} / {mean_of(known, 'false'):.2f} ({len(known)})" if known else "–"
    return [cell, rule, *told, difference_text(pair(ours, lasso, "true"), 2), concave, others]


def verdicts(figures, known) -> list[str]:
    """Name the cells in which something falls short."""
    short_of = {"band below .85": [], "effects below .85 (400 × 60)": [], "false above the bound": [],
                "fewer true ones than the lasso, by two errors": []}  # fmt: skip
    for cell in known:
        ours = figures[cell][OURS]
        found = pair(ours, figures[cell].get(LASSO, {}), "true")
        is_long = CELLS[cell][0] > CELLS[cell][1]
        tests = (
            mean_of(ours, "band") < 0.85,
            is_long and effects_coverage(ours)[1] < 0.85,
            mean_of(ours, "false") > mean_of(ours, "bound"),
            found is not None and found.is_below(2),
        )
        for names, failed in zip(short_of.values(), tests, strict=True):
            if failed:
                names.append(cell)
    return [f"- {what}: {'; '.join(names) if names else 'none'}." for what, names in short_of.items()]
