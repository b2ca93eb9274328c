"""Looking at a fitted model: its link, its coefficients, its convergence, its search, its probabilities."""

from ._plots import plot_coefficients, plot_convergence, plot_link
from ._search_plots import plot_coefficient_path, plot_cv_curve, plot_reliability

__all__ = [
    "plot_coefficient_path",
    "plot_coefficients",
    "plot_convergence",
    "plot_cv_curve",
    "plot_link",
    "plot_reliability",
]
