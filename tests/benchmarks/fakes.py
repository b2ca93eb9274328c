"""Made-up solvers, run by the worker in a folder that has what they read beside them."""

import os
import subprocess
import sys
import time

import numpy as np
from linear import Solver


def read(name):
    return np.load(os.path.join(os.path.dirname(__file__), f"{name}.npy"))


# ---------------------------------------------------------------- for the session


class Quiet(Solver):
    formulation, tolerances = "none", (0.1, None)

    def fit(self, tolerance):
        pass

    def answer(self):
        return {name: np.asarray(self.task[name]) for name in ("x", "levels")} | {"left": None}


class Loud(Quiet):
    def fit(self, tolerance):
        print('{"seconds": -1}', flush=True)
        os.write(1, b"not an answer\n")
        subprocess.run(["echo", "nor this"], check=True)
        sys.stderr.write("x" * 300_000)


class Failing(Quiet):
    def fit(self, tolerance):
        raise ArithmeticError("singular\nand more of it")


class Leaving(Quiet):
    def fit(self, tolerance):
        os._exit(3)


class Slow(Quiet):
    def fit(self, tolerance):
        time.sleep(60)


class Large(Quiet):
    def fit(self, tolerance):
        self.kept = np.ones(25_000_000)


class Surroundings(Quiet):
    def answer(self):
        known = {name: value for name, value in os.environ.items() if name.endswith("_NUM_THREADS")}
        return known | {"path": os.environ.get("PYTHONPATH", "none")}


# ---------------------------------------------------------------- for the runner


class Near(Solver):
    """Keeps the exact solution, shortened by the tolerance."""

    formulation = "L1-logistic"
    tolerances = (0.5, 0.2, 0.05, 0.01, 0.0)
    diverges_above = np.inf

    def fit(self, tolerance):
        best = (1 - tolerance) * read("exact") * (np.nan if tolerance > self.diverges_above else 1)
        self.keep(best[1:], best[0])


class Far(Near):
    tolerances = (0.5, 0.3)


class Alone(Far):
    """The best of its kind, as there is no other."""

    formulation = "L1-logistic, no intercept"


class Diverging(Near):
    diverges_above = -1


class DivergingWhenLoose(Near):
    diverges_above = 0.1


class Late(Near):
    n_fits = 0

    def fit(self, tolerance):
        self.n_fits += 1
        if self.n_fits > 4:
            raise MemoryError("full")
        super().fit(tolerance)


class Unmeasured(Near):
    def __delattr__(self, name):
        raise OSError("keeps what it has")


class Curious(Solver):
    """Finds the truth, if it is anywhere to be found."""

    formulation = "curious"

    def fit(self, tolerance):
        found = [name for name in self.task if name not in ("X", "X_test", "X_validation", "levels", "y")]
        if found:
            raise PermissionError(f"I have {found}")
        self.keep(np.ones(self.task["X"].shape[1]))


class Choosy(Solver):
    """Ranks well at one level of the path, the fourth, and at no other."""

    formulation = "choosy"
    place = 3
    n_answers = None

    def fit(self, tolerance):
        truth, good = read("truth"), read("levels")[self.place]
        coefs = [truth if np.isclose(level, good) else -truth for level in self.task["levels"]]
        self.keep(coefs[: self.n_answers])


class Lasso(Choosy):
    formulation = "L1-logistic, no intercept"


class Short(Lasso):
    """Stops before the end of the path."""

    n_answers = 1


class Stochastic(Choosy):
    formulation = "L1-logistic by stochastic gradients"
    place = -1


class ShortStochastic(Stochastic):
    n_answers = 1
