"""A model in a few lines of text, or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..estimators.headline import has_evidence, headline
from ..tables.numbers import as_written, signed
from .decisions import confusion_lines
from .messages import counted, printable_lines
from .model_file import ModelFile

if TYPE_CHECKING:
    from ..estimators.effects import Effect
    from ..estimators.outputs import Search

_MOST_FEATURES = 15
# Predictions that differ by less, as a share of the largest, are the same.
_SAME = 0.005


def summary_json(file: ModelFile) -> dict[str, Any]:
    """Return what a machine may want to know of a model: plain values only."""
    model, record = file.model, file.record
    found: dict[str, Any] = {
        "estimator": type(model).__name__,
        "task": record.get("task"),
        "target": list(file.targets),
        "n_rows": record.get("n_rows"),
        "n_features": int(model.n_features_in_),
        "features": feature_records(file),
        "left_out": file.preparation.dropped,
        "notes": record.get("notes", []),
        "command": record.get("command"),
        "version": record.get("version"),
    }
    if file.class_names:
        found["classes"] = file.class_names
    search = file.facts.search
    if search is not None:
        found["settings"] = plain(search.params)
        found["cross_validation"] = {
            "scoring": str(search.scoring), "score": search.score, "held_out": search.held_out,
            "p_value": search.p_value,
        }  # fmt: skip
    if record.get("test_scores"):
        found["held_out"] = {
            "n_rows": record["n_test"], "scores": record["test_scores"], "null": record["null_scores"],
            "errors": record.get("test_errors", {}),
        }  # fmt: skip
    if file.positive is not None:
        found |= {"positive": file.positive, "threshold": file.threshold.as_record()}
    if record.get("confusion"):
        found["held_out"]["confusion"] = record["confusion"]
    found["warnings"], found["stable"] = record.get("warnings", []), record.get("stable")
    return found


def plain(values: dict[str, Any]) -> dict[str, Any]:
    return {k: v.item() if isinstance(v, np.generic) else v for k, v in values.items()}


def feature_records(file: ModelFile) -> list[dict[str, Any]]:
    """Return the features with a weight, those that change the prediction most first."""
    from ..estimators.effects import effects_of, ranking

    facts = file.facts
    coef, stability = facts.coef, facts.stability
    names = file.preparation.names
    outputs = output_names(file)
    effects = {one.feature: one for one in effects_of(facts)}
    found = []
    for j in ranking(facts):
        record: dict[str, Any] = {"name": names[j]}
        if coef.shape[1] == 1:
            record["weight"] = float(coef[j, 0])
        else:
            record["weights"] = {name: float(w) for name, w in zip(outputs, coef[j], strict=True)}
        if stability is not None:
            record["stability"] = float(stability[j])
        if j in effects:
            record |= effect_record(effects[j], facts.kind, outputs)
        found.append(record)
    return found


def effect_record(effect: Effect, kind: str, outputs: list[str]) -> dict[str, Any]:
    """Return what a feature does to the prediction: for one output in words, for several by name."""
    if len(outputs) > 1:
        return {"effects": {name: float(size) for name, size in zip(outputs, effect.size, strict=True)}}
    told = {"step": effect.step, "before": float(effect.before[0]), "after": float(effect.after[0])}
    return {"effect": {"per_spread": float(effect.size[0]), **told, "words": effect.in_words(kind)}}


def output_names(file: ModelFile) -> list[str]:
    outputs = file.facts.outputs
    names = file.class_names or list(file.targets)
    return names[-len(outputs) :] if len(names) >= len(outputs) else [output.name for output in outputs]


def summary_text(file: ModelFile) -> str:
    record, facts = file.record, file.facts
    lines = [
        f"{'target':10s}{', '.join(file.targets) or 'y'} ({record.get('task', 'model saved from Python')})"
    ]
    if facts.kind in ("binary", "multiclass"):
        lines.append(f"{'classes':10s}{', '.join(file.class_names)}")
    if record:
        held = f", {record['n_test']} held out" if record["n_test"] else ""
        lines.append(
            f"{'data':10s}{record['data']}: {record['n_rows']} rows to learn from{held}, "
            f"{record['n_columns']} columns, {len(facts.coef)} features"
        )
    used = counted(len(facts.used), "feature")
    lines.append(f"{'model':10s}{used} with a weight")
    lines += score_lines(file)
    lines += ["", *finding_lines(file)]
    if has_evidence(file.facts.search.p_value if file.facts.search else None):
        lines += ["", *feature_lines(file)]
    return printable_lines([*lines, "", *link_lines(file)])


def finding_lines(file: ModelFile) -> list[str]:
    """Return what to take home: also what was warned of, which is easily lost among notes on the way."""
    search, stable = file.facts.search, file.record.get("stable") or {}
    p_value, names = None if search is None else search.p_value, stable.get("features")
    lines = [f"{headline(file.facts, ', '.join(file.targets), p_value, names)}."]
    if not has_evidence(p_value) and len(file.facts.used):
        used = ", ".join(record["name"] for record in feature_records(file)[:_MOST_FEATURES])
        lines.append(f"It uses what such a search finds in noise: {used}.")
    elif names:
        lines.append(
            "Halves of the rows find these again and again; one at most is expected to be there by chance."
        )
    return lines + [f"warning: {warning}" for warning in file.record.get("warnings", [])]


def settings_text(search: Search | None) -> str:
    if search is None:
        return ""
    shown = {
        name: as_written(value, 3) if isinstance(value, float) else str(value)
        for name, value in search.params.items()
        if value is not None and not (name == "penalty" and value == 0)
    }
    return ", ".join(f"{name} {value}" for name, value in shown.items())


def score_lines(file: ModelFile) -> list[str]:
    search, record = file.facts.search, file.record
    lines = []
    if search is not None:
        scoring = str(search.scoring or "score")
        value, name = search.score, scoring
        if scoring.startswith("neg_"):
            value, name = -value, scoring[4:]
        n_tried, n = len(search.results["mean_test_score"]), search.n_averaged
        how = f"an average of {n} of {n_tried} candidates" if n > 1 else f"the best of {n_tried} candidates"
        lines.append(f"{'chosen by':10s}{name.replace('_', ' ')} {as_written(value)} over the folds: {how}")
        lines += held_out_lines(search)
    if record.get("test_scores"):
        table = score_table(
            record["test_scores"], record["null_scores"], record.get("test_errors", {}),
            f"{record['n_test']} held-out rows",
        )  # fmt: skip
        lines += ["", *table]
    if record.get("confusion"):
        lines += ["", *confusion_lines(record["confusion"], file.class_names, file.threshold)]
    return lines


def held_out_lines(search: Search) -> list[str]:
    """Return what the folds say of the model as a whole, in the scores that people know."""
    found = []
    for name in ("AUC", "log-loss", "Brier score", "R²"):
        if name in search.held_out:
            one = search.held_out[name]
            beside = f", without features {one['other']:.3g}" if name != "AUC" and name != "R²" else ""
            found.append(f"{name} {one['score']:.3g} ± {one['error']:.1g}{beside}")
    return [f"{'by folds':10s}{'; '.join(found)}"] if found else []


def score_table(
    scores: dict[str, float], null: dict[str, float], errors: dict[str, dict[str, float]], rows: str
) -> list[str]:
    """Return the scores beside those of what only knows the mean; ± is one standard error."""
    lines = [f"{f'on {rows}':24s}{'model':>18s}{'no features':>13s}{'better by':>20s}"]
    for name, value in scores.items():
        beside = f"{as_written(null[name]):>13s}" if name in null else ""
        error = errors.get(name, {})
        own = as_written(value) + (f" ± {as_written(error['error'], 2)}" if error else "")
        gain = ""
        if "gain" in error:
            gain = f"{signed(error['gain'], 3)} ± {as_written(error['gain_error'], 2)}"
        lines.append(f"  {name:22s}{own:>18s}{beside}{gain:>20s}".rstrip())
    return lines


def feature_lines(file: ModelFile) -> list[str]:
    records = feature_records(file)
    if not records:
        return ["no feature has a weight: nothing in these columns predicts the target"]
    shown = records[:_MOST_FEATURES]
    width = min(max(len("feature"), *(len(r["name"]) for r in shown)), 50)
    outputs = output_names(file)
    stable = any("stability" in r for r in shown)
    known = any("effect" in r for r in shown)
    heads = ["weight"] if "weight" in shown[0] else [name[:10] for name in outputs[:6]]
    heads += (["in models"] if stable else []) + (["effect on the prediction"] if known else [])
    marked = set((file.record.get("stable") or {}).get("features", ()))
    rows = []
    for record in shown:
        several = record.get("effects", record.get("weights", {}))
        weights = [record["weight"]] if "weight" in record else list(several.values())[:6]
        cells = [signed(weight) for weight in weights]
        cells += [f"{record['stability']:.0%}"] if stable else []
        rows.append(
            [shortened(record["name"], width), *cells, *([record["effect"]["words"]] if known else [])]
        )
    lines = in_columns([["feature", *heads], *rows], width, n_words=int(known))
    for k, record in enumerate(shown, start=1):
        lines[k] += "   stable" if record["name"] in marked else ""
    if len(records) > len(shown):
        lines.append(f"and {len(records) - len(shown)} more")
    if "effects" in shown[0]:
        lines.append("numbers are the change of the prediction for one standard deviation of the feature")
    return lines


def shortened(name: str, width: int) -> str:
    return name if len(name) <= width else name[: width - 1] + "…"


def in_columns(rows: list[list[str]], first: int, n_words: int = 0) -> list[str]:
    """Return rows of cells below each other: names to the left, numbers to the right, words as they come."""
    n_numbers = len(rows[0]) - 1 - n_words
    widths = [max(12, *(len(row[k]) + 2 for row in rows)) for k in range(1, 1 + n_numbers)]
    lines = []
    for name, *cells in rows:
        numbers = "".join(f"{cell:>{width}s}" for cell, width in zip(cells, widths, strict=False))
        lines.append(f"{name:{first}s}{numbers}" + "".join(f"   {words}" for words in cells[n_numbers:]))
    return lines


def link_lines(file: ModelFile) -> list[str]:
    """Return what is predicted for the rows that were learned from, by outputs."""
    from ..estimators.effects import predict_at

    facts = file.facts
    if facts.background is None:
        return []
    lines = []
    for name, predicted in zip(
        output_names(file), predict_at(facts, facts.background["index"]).T, strict=True
    ):
        low, lower, upper, high = np.quantile(predicted, (0.0, 0.25, 0.75, 1.0))
        what = f"the probability of {name}" if file.class_names else f"the prediction of {name}"
        if high - low <= _SAME * max(abs(low), abs(high)):
            lines.append(f"{what} is {as_written(high, 3)} for every row")
            continue
        told = [as_written(value, 3) for value in (low, high, lower, upper)]
        lines.append(
            f"{what} goes from {told[0]} to {told[1]}, for half of the rows from {told[2]} to {told[3]}"
        )
    return lines
