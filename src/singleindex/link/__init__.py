"""How an index becomes a prediction: learned and fixed links, and the optimality certificate."""

from .cautious import CautiousLpav
from .curve import MonotoneCurve
from .fitters import FIXED_LINKS, FixedLink, LinkFitter, Lpav, Pav, ShiftedLink
from .lpav import lipschitz_isotonic_regression, lpav_certificate
from .outputs import PerOutput, SharedLink

__all__ = [
    "FIXED_LINKS",
    "CautiousLpav",
    "FixedLink",
    "LinkFitter",
    "Lpav",
    "MonotoneCurve",
    "Pav",
    "PerOutput",
    "SharedLink",
    "ShiftedLink",
    "lipschitz_isotonic_regression",
    "lpav_certificate",
]
