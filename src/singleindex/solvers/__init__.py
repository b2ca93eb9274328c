"""How w is found."""

from .checkpoint import Checkpoint, CheckpointError
from .csi import solve_csi
from .one_pass import solve_one_pass
from .result import Iterate, SolverResult, Status, in_units, squared
from .scale import fit_scale
from .settings import OnePass, Stochastic, TwoPass, check_solver
from .stochastic import StochasticCsi

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "Iterate",
    "OnePass",
    "SolverResult",
    "Status",
    "Stochastic",
    "StochasticCsi",
    "TwoPass",
    "check_solver",
    "fit_scale",
    "in_units",
    "solve_csi",
    "solve_one_pass",
    "squared",
]
