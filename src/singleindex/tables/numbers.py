"""Numbers as people write them."""

from __future__ import annotations

import math

# Beyond these, digits before or behind the point are too many to be counted.
_LARGE, _SMALL = 1e15, 1e-7
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def as_written(value: float, figures: int = 4) -> str:
    """Return a number to so many figures, whole digits never rounded away, and never with an exponent of e.

    Examples
    --------
    >>> [as_written(x) for x in (181300.4, 0.123456, 2.5, -0.00002403, 1234567, 3e-9)]
    ['181,300', '0.1235', '2.5', '-0.00002403', '1,234,567', '3 × 10⁻⁹']
    """
    value = float(value)
    if not math.isfinite(value) or value == 0:
        return "0" if value == 0 else str(value)
    size = abs(value)
    if not _SMALL <= size < _LARGE:
        lead, exponent = f"{value:.{figures - 1}e}".split("e")
        return f"{without_zeros(lead)} × 10{str(int(exponent)).translate(_RAISED)}"
    # To so many figures first: 0.99999 is 1, and has another number of digits then.
    size = float(f"{size:.{figures - 1}e}")
    decimals = max(0, figures - 1 - math.floor(math.log10(size)))
    return without_zeros(f"{value:,.{decimals}f}")


def without_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def signed(value: float, figures: int = 4) -> str:
    """Return a number with its sign."""
    text = as_written(value, figures)
    return text if text.startswith("-") or value == 0 else f"+{text}"
