"""How w is found."""

from .csi import solve_csi
from .one_pass import solve_one_pass
from .result import Iterate, SolverResult, Status, in_units
from .scale import fit_scale

__all__ = ["Iterate", "SolverResult", "Status", "fit_scale", "in_units", "solve_csi", "solve_one_pass"]
