"""What the plots share: which outputs there are, the axes, and the layers drawn on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from ..estimators.outputs import Facts, Output

FloatArray = NDArray[np.float64]

# Okabe & Ito: told apart with every kind of colour vision, and in grey.
_PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_POSITIVE, _NEGATIVE = _PALETTE[:2]
_GREY = "0.45"

_MIN_PER_BIN = 5
_LEGEND_COLUMNS = 3
_STRIP = 0.13  # share of the height that the histogram of the index takes
_Z95 = 1.959963984540054


# ---------------------------------------------------------------- what is drawn


def _choose(outputs: list[Output], wanted: Any) -> list[Output]:
    if wanted is None:
        return outputs
    return [outputs[_position([output.label for output in outputs], wanted)]]


def _position(known: list[Any], wanted: Any) -> int:
    """Return the number of the wanted output among those there are."""
    if wanted not in known:
        raise ValueError(f"output must be one of {known}, or None for all, got {wanted!r}.")
    return known.index(wanted)


def _shown_name(name: str) -> str:
    """Return the name of an output as matplotlib is to write it."""
    return _shorten(name, 24).replace("$", r"\$")


def _one_column_per_class(classes: Any, y: Any) -> tuple[list[Any], FloatArray]:
    """Return the classes, of two the second, and 1 in the column of each row's class."""
    unknown = ~np.isin(y, classes)
    if unknown.any():
        raise ValueError(f"y holds the class {y[unknown][0]!r}, which the model was not fitted to.")
    labels: list[Any] = np.asarray(classes).tolist()[1 if len(classes) == 2 else 0 :]
    return labels, np.column_stack([y == label for label in labels]).astype(np.float64)


def _feature_names(facts: Facts, feature_names: Sequence[Any] | None) -> list[str]:
    return [_shorten(name, 48) for name in facts.names(feature_names)]


def _shorten(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


# ---------------------------------------------------------------- axes


def _new_axes(size: tuple[float, float]) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'Plots need matplotlib; install it with: pip install "singleindex[plot]"'
        ) from error
    return plt.subplots(figsize=size, layout="constrained")[1]


def _colours(n: int) -> list[Any]:
    if n <= len(_PALETTE):
        return list(_PALETTE[:n])
    from matplotlib import colormaps

    return list(colormaps["viridis"](np.linspace(0, 0.95, n)))


def _draw_legend(ax: Any, handles: Any = None, beside: bool = True) -> None:
    """Put the legend where no data can be: above the axes or, if it is long, beside them."""
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": _LEGEND_COLUMNS}
    if beside and len(handles) > _LEGEND_COLUMNS:
        place = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)}
    ax.legend(handles=handles, frameon=False, borderaxespad=0.2, columnspacing=1.5, **place)


def _set_note(ax: Any, text: str, pad: float = 6.0) -> None:
    ax.set_title(text, loc="left", fontsize="medium", pad=pad)


def _draw_legend_and_note(ax: Any, note: str, handles: Any = None) -> None:
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    _draw_legend(ax, handles)
    _set_note(ax, note, pad=26 if len(handles) <= _LEGEND_COLUMNS else 6)


def _set_log_axis(ax: Any, values: FloatArray) -> None:
    """Make the horizontal axis logarithmic, with zero on it where there is one, and plain numbers."""
    positive = values[values > 0]
    if len(positive) == 0:
        return
    low, high = positive.min(), positive.max()
    zero = [0.0] if len(positive) < len(values) else []
    if zero:
        ax.set_xscale("symlog", linthresh=low, linscale=0.5)
    else:
        ax.set_xscale("log")
    per_decade = (1, 2, 5) if high < 2000 * low else (1,)
    decades = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    ticks = np.multiply.outer(decades, per_decade).ravel()
    ticks = np.append(zero, ticks[(ticks >= 0.9 * low) & (ticks <= 1.1 * high)])
    limits = ax.get_xlim()
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.set_xlim(*limits)


# ---------------------------------------------------------------- layers


def _bin_means(index: FloatArray, target: FloatArray, bins: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean index and the mean target of every bin, and the intervals of the latter."""
    n_bins = min(bins, max(1, len(index) // _MIN_PER_BIN))
    inner = np.quantile(index, np.linspace(0, 1, n_bins + 1)[1:-1])
    number = np.searchsorted(inner, index, side="right")
    binary = _is_binary(target)
    found = [
        (
            index[number == b].mean(),
            target[number == b].mean(),
            _interval(target[number == b], binary),
        )
        for b in np.unique(number)
    ]
    places, means, intervals = zip(*found, strict=True)
    return np.array(places), np.array(means), np.array(intervals).T


def _draw_means(ax: Any, index: FloatArray, target: FloatArray, bins: int) -> None:
    places, means, (low, high) = _bin_means(index, target, bins)
    ax.errorbar(
        places, means, yerr=[means - low, high - means], fmt="o", color=_PALETTE[1], markersize=4,
        elinewidth=1, markeredgecolor="white", markeredgewidth=0.6, zorder=5,
        label="bin means, 95 % interval",
    )  # fmt: skip


def _interval(y: FloatArray, binary: bool) -> tuple[float, float]:
    """Return the 95 % interval of the mean."""
    n, mean = len(y), float(y.mean())
    if not binary:
        half = _Z95 * float(y.std(ddof=1)) / np.sqrt(n) if n > 1 else 0.0
        return mean - half, mean + half
    shrink = 1 + _Z95**2 / n
    centre = (mean + _Z95**2 / (2 * n)) / shrink
    half = _Z95 / shrink * np.sqrt(mean * (1 - mean) / n + (_Z95 / (2 * n)) ** 2)
    # Rounding must not put the mean outside.
    return min(centre - half, mean), max(centre + half, mean)


def _is_binary(y: FloatArray) -> bool:
    return bool(np.isin(y, (0.0, 1.0)).all())


def _draw_histogram(ax: Any, index: FloatArray) -> None:
    """Draw the distribution of the index as a strip along the bottom, below all other layers."""
    counts, edges = np.histogram(index, bins=min(40, max(5, int(np.sqrt(len(index))))))
    heights = _STRIP * 0.85 * counts / counts.max()
    ax.stairs(heights, edges, fill=True, color="0.8", transform=ax.get_xaxis_transform(), zorder=0.4)
    low, high = ax.get_ylim()
    ax.set_ylim(low - _STRIP / (1 - _STRIP) * (high - low), high)


def _label_lines(ax: Any, lines: list[Any]) -> None:
    """Write the labels at the ends of the lines, moved apart where they would overlap."""
    from matplotlib.font_manager import FontProperties

    size = FontProperties(size="small").get_size_in_points()
    gap = 1.2 * size * ax.figure.dpi / 72 / ax.bbox.height
    low, high = ax.get_ylim()
    lines = sorted(lines, key=lambda line: line.get_ydata()[-1])
    ends = np.array([line.get_xydata()[-1] for line in lines]).reshape(-1, 2)
    heights = _spread_apart((ends[:, 1] - low) / (high - low), gap)
    for line, end, height in zip(lines, ends, heights, strict=True):
        colour = line.get_color()
        ax.annotate(
            line.get_label(), end, xytext=(1.05, height), textcoords="axes fraction", fontsize=size,
            color=colour, va="center", parse_math=False, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 1},
        )  # fmt: skip


def _spread_apart(places: FloatArray, gap: float) -> FloatArray:
    """Return the places nearest to sorted ones that are a gap apart, from 0 to 1 where they have room."""
    if len(places) == 0:
        return places
    # Without the gaps that lie before them the new places only have to be in order.
    gaps = gap * np.arange(len(places))
    high = max(1.0 - gaps[-1], 0.0)
    spread: FloatArray = isotonic_regression(places - gaps, y_min=0.0, y_max=high) + gaps
    return spread
