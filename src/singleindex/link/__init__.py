"""How an index becomes a prediction: learned and fixed links, and the optimality certificate."""

from .base import Link, LinkFitter
from .bins import Bins, Points
from .blend import fit_blend
from .cautious import CautiousLpav
from .curve import MonotoneCurve
from .fitters import FIXED_LINKS, FixedLink, Lpav, Pav, ShiftedLink
from .lpav import lipschitz_isotonic_regression, lpav_certificate
from .outputs import PerOutput, SharedLink
from .shape import Line, Shape, Sigmoid

__all__ = [
    "FIXED_LINKS",
    "Bins",
    "CautiousLpav",
    "FixedLink",
    "Line",
    "Link",
    "LinkFitter",
    "Lpav",
    "MonotoneCurve",
    "Pav",
    "PerOutput",
    "Points",
    "Shape",
    "SharedLink",
    "ShiftedLink",
    "Sigmoid",
    "fit_blend",
    "lipschitz_isotonic_regression",
    "lpav_certificate",
]
