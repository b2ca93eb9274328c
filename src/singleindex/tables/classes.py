"""Which of two classes a model is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .errors import TableError

# What happened, and what did not, as people write it; in small letters.
_HAPPENED = """
    yes y ja j oui o sí si sì sim tak ano kyllä igen evet да はい 是 true t wahr vrai vero verdadero 1 1.0 +
    positive positiv positif positivo pos event ereignis case fall cas
    died dead death deceased tot verstorben gestorben mort décédé décès muerto
    relapse relapsed relapsing rückfall rezidiv rechute recurrence recurred progression progressed
    sick ill krank malade disease diseased malignant bösartig malin responder responded
    failure failed fail defekt ausfall panne default defaulted churn churned cancelled gekündigt
    fraud betrug fraude spam abnormal infected infiziert readmitted bought gekauft converted clicked
"""
_DID_NOT = """
    no n nein non não nao nie ne nej ei nem hayır нет いいえ 否 false f falsch faux falso 0 0.0 -1 -1.0 -
    negative negativ négatif negativo neg none control kontrolle
    survived survivor alive lebt lebend vivant vivo censored zensiert
    healthy gesund sain benign gutartig bénin remission non-responder nonresponder
    ok passed intakt paid stayed retained legit genuine ham normal uninfected
"""
_YES, _NO = frozenset(_HAPPENED.split()), frozenset(_DID_NOT.split())


def modelled_class(classes: Sequence[Any], counts: Sequence[int]) -> tuple[Any, str]:
    """Return which of two classes to give the probability of, and why: by its word, or the rarer one."""
    words = [str(label).strip().lower() for label in classes]
    for this, other in ((0, 1), (1, 0)):
        says_yes, says_no = words[this] in _YES, words[other] in _NO
        # A single letter or digit means what it seems to mean only beside its opposite: m and f, 1 and 2.
        alone = says_yes and words[other] not in _YES and len(words[this]) > 1
        beside = says_no and words[this] not in _NO and len(words[other]) > 1
        if (says_yes and says_no) or alone or beside:
            return classes[this], "by its name"
    if counts[0] == counts[1]:
        return classes[1], "the second in the alphabet"
    return classes[0 if counts[0] < counts[1] else 1], "the rarer one"


def class_named(classes: Sequence[Any], positive: Any) -> Any:
    """Return the class that somebody asked for, by itself or as text."""
    for label in classes:
        if str(label) == str(positive) or label == positive:
            return label
    known = ", ".join(map(str, classes[:8]))
    raise TableError(f"there is no class {positive!r}; there are {known}")


def counted_classes(y: Any) -> tuple[Any, Any]:
    """Return one or two classes in order and how many rows each has; none where a target has more."""
    from sklearn.utils.multiclass import type_of_target
    from sklearn.utils.validation import column_or_1d

    with np.errstate(invalid="ignore"):  # NaN is refused as such
        kind = type_of_target(y, input_name="y")
    if kind != "binary":
        return np.empty(0), np.empty(0)
    return np.unique(column_or_1d(y, warn=True), return_counts=True)


def choose_class(classes: list[Any], counts: list[int], positive: Any) -> tuple[int, str]:
    """Return which of two classes is modelled, by its place, and what to tell of it in Python."""
    chosen, why = modelled_class(classes, counts)
    if positive is not None:
        chosen, why = class_named(classes, positive), "as asked"
    k = classes.index(chosen)
    return k, (
        f"modelled is the probability of {chosen}, {why} ({counts[k]:,} of {sum(counts):,} rows); "
        f"positive={classes[1 - k]!r} models the other class"
    )


def recoded_weights(estimator: Any, pair: list[Any]) -> dict[str, Any]:
    """Return the settings of an estimator that have a weight for each of two classes, for 0 and 1."""
    return {
        name: {pair.index(label): weight for label, weight in value.items() if label in pair}
        for name, value in estimator.get_params().items()
        if name.split("__")[-1] == "class_weight" and isinstance(value, dict)
    }
