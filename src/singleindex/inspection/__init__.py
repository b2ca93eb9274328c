"""Looking at a fitted model: plots of the link, the coefficients and the convergence."""

from ._plots import plot_coefficients, plot_convergence, plot_link

__all__ = ["plot_coefficients", "plot_convergence", "plot_link"]
