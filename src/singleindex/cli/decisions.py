"""From probabilities to yes and no: the threshold, its costs, and what it makes of rows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ..tables.numbers import as_written
from .messages import CliError

if TYPE_CHECKING:
    from .data import Data
    from .model_file import ModelFile

# With a smaller share of the cases found at 0.5, the user must hear of thresholds.
_FEW_FOUND = 0.1


@dataclass(frozen=True)
class Threshold:
    """Beyond which probability a row is called a case; `costs` of a missed one and of a false alarm."""

    value: float = 0.5
    costs: tuple[float, float] | None = None

    def as_record(self) -> dict[str, Any]:
        return {"value": self.value, "costs": list(self.costs) if self.costs else None}

    @property
    def words(self) -> str:
        if self.costs is None:
            return f"probability {self.value:.3g}"
        return (
            f"probability {self.value:.3g}, as a missed one costs {self.costs[0] / self.costs[1]:.3g} alarms"
        )


def from_record(record: dict[str, Any] | None) -> Threshold:
    if record is None:
        return Threshold()
    return Threshold(record["value"], tuple(record["costs"]) if record["costs"] else None)


def parse_threshold(ctx: click.Context, param: click.Parameter, text: str | None) -> Threshold | None:
    """Read a probability, or what a missed case and a false alarm cost."""
    if text is None:
        return None
    try:
        if not text.startswith("cost="):
            found = Threshold(float(text))
        else:
            missed, false_alarm = (float(part) for part in text.removeprefix("cost=").split(":"))
            found = Threshold(false_alarm / (missed + false_alarm), (missed, false_alarm))
        fits = 0 < found.value < 1 and (found.costs is None or min(found.costs) > 0)
    except (ValueError, ZeroDivisionError):
        fits = False
    if not fits:
        raise click.BadParameter(
            "a probability such as 0.2, or cost=5:1 where a missed case costs 5 and a false alarm 1"
        )
    return found


THRESHOLD = click.option(
    "--threshold",
    metavar="P",
    callback=parse_threshold,
    help="Of two classes, call a row a case beyond this probability (0.5); or cost=5:1, where a missed case "
    "costs 5 and a false alarm 1.",
)


def parse_class_weight(given: tuple[str, ...], classes: tuple[Any, ...], is_coded: bool) -> Any:
    """Return the weights as an estimator takes them: None, "balanced", or one for each class named."""
    if not given:
        return None
    if not classes:
        raise CliError("--class-weight is for a single target with classes")
    if given == ("balanced",):
        return "balanced"
    known = [str(label) for label in classes]
    found = {}
    for text in given:
        name, _, number = text.rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            weight = 0.0
        if not (np.isfinite(weight) and weight > 0):
            raise CliError(f"--class-weight is balanced, or such as {known[-1]}=5; got {text!r}")
        if name not in known:
            raise CliError(f"--class-weight {text}: there is no class {name!r}; there are {', '.join(known)}")
        found[known.index(name) if is_coded else classes[known.index(name)]] = weight
    return found


def check_threshold(threshold: Threshold | None, is_binary: bool, has_class_weight: bool) -> None:
    if threshold is None:
        return
    if not is_binary:
        raise CliError("--threshold is for a target of two classes")
    if threshold.costs and has_class_weight:
        raise CliError(
            "--threshold cost=… counts on probabilities as they are, which --class-weight moves; "
            "use one of the two"
        )


def decide(file: ModelFile, X: Any, threshold: Threshold) -> Any:
    """Return the class of each row as the table calls it."""
    if file.facts.kind != "binary":
        return file.model.predict(X)
    called = file.model.predict_proba(X)[:, 1] > threshold.value
    return np.array(file.facts.classes)[called.astype(int)]


def confusion_of(model: Any, value: Any, y: Any, threshold: Threshold) -> dict[str, int] | None:
    """Return how rows of these predictions were called; None where there are not two classes."""
    from ..inspection.scores import outcomes
    from ..inspection.thresholds import confusion_at

    if len(getattr(model, "classes_", ())) != 2 or model.multilabel_:
        return None
    return asdict(confusion_at(threshold.value, value[:, 0], outcomes(model, y)[:, 0]))


def confusion_lines(counts: dict[str, int], classes: list[str], threshold: Threshold) -> list[str]:
    """Return the table of what was said and what was true, and what it costs."""
    from ..inspection.thresholds import Confusion

    table = Confusion(**counts)
    no, yes = classes
    width = max(12, *(len(f"said {name}") + 2 for name in classes))
    lines = [
        f"called {yes} beyond {threshold.words}",
        f"{'':20s}{f'said {no}':>{width}s}{f'said {yes}':>{width}s}",
        f"  {f'in truth {no}':18s}{table.true_negatives:{width},d}{table.false_alarms:{width},d}",
        f"  {f'in truth {yes}':18s}{table.missed:{width},d}{table.found:{width},d}",
        f"  found are {table.found:,} of {table.n_cases:,} {yes}; right are {table.found:,} of the "
        f"{table.n_called:,} called {yes}",
    ]
    if threshold.costs:
        cost, without = table.cost(*threshold.costs), table.cost_without_model(*threshold.costs)
        lines.append(
            f"  cost {as_written(cost)}; without a model, the same answer for all: {as_written(without)}"
        )
    return lines


def note_on_threshold(model: Any, data: Data, threshold: Threshold | None) -> str:
    """Return a word where nearly every row would get the same answer, or nothing."""
    if threshold is not None or len(data.target.classes) != 2:
        return ""
    case = data.seen.y == model.classes_[1]
    n_found = int(np.sum(model.predict_proba(data.seen.X)[case, 1] > 0.5))
    if n_found >= _FEW_FOUND * case.sum():
        return ""
    no, yes = data.target.classes
    return (
        f"{n_found} of {case.sum()} rows with {yes!r} have a probability above 0.5: nearly every row is "
        f"called {no!r}. Add --threshold cost=10:1 if a missed {yes!r} costs ten false alarms, or "
        f"--threshold {np.mean(case):.2g}, the share of {yes!r}"
    )
