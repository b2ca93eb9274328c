"""How an index becomes a prediction: learned and fixed links, and the optimality certificate."""

from .base import Link, LinkFitter
from .bins import Bins, Points
from .cautious import CautiousLpav
from .curve import MonotoneCurve
from .fitters import FIXED_LINKS, FixedLink, Lpav, Pav, ShiftedLink
from .lpav import lipschitz_isotonic_regression, lpav_certificate
from .outputs import PerOutput, SharedLink

__all__ = [
    "FIXED_LINKS",
    "Bins",
    "CautiousLpav",
    "FixedLink",
    "Link",
    "LinkFitter",
    "Lpav",
    "MonotoneCurve",
    "Pav",
    "PerOutput",
    "Points",
    "SharedLink",
    "ShiftedLink",
    "lipschitz_isotonic_regression",
    "lpav_certificate",
]
