"""Tables as people have them, and the command line in the same process."""

import numpy as np
import pandas as pd
import pytest
from patients import messy_patients

from singleindex.cli.app import run


@pytest.fixture
def cli(capfdbinary, monkeypatch, tmp_path):
    """Run a command in an empty folder; return its exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        code = run([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return code, out if out.startswith(b"PK") else out.decode(), err.decode()

    return call


@pytest.fixture(scope="session")
def messy():
    """A table with everything that goes wrong: quotes, gaps, a constant, unicode, an id, dates, codes."""
    rng = np.random.default_rng(0)
    n = 90
    age, dose = rng.integers(20, 80, n), rng.gamma(2, 2, n).round(3)
    city = rng.choice(["Zürich, CH", "Kraków", "São Paulo"], n)
    index = 0.05 * (age - 50) + 0.5 * (dose - 4) + (city == "Kraków")
    frame = pd.DataFrame({
        "Patient ID": rng.permutation(np.arange(1000, 1000 + 7 * n, 7)),
        "name, full": [f'Doe, J. "{i}"' for i in range(n)],
        "naïve âge": age,
        "dose": dose,
        "ville": city,
        "Datum": pd.date_range("2020-01-01", periods=n).strftime("%d.%m.%Y"),
        "constant": "x",
        "zip": [f"{v:05d}" for v in rng.integers(1, 5, n)],
        "Ergebnis €": (10 / (1 + np.exp(-1.5 * index)) + rng.normal(0, 0.5, n)).round(4),
        "class": np.where(index > 0, "yes", "no"),
    })  # fmt: skip
    frame.loc[[3, 10, 44], "dose"] = np.nan
    frame.loc[5, "ville"] = None
    return frame


@pytest.fixture(scope="session")
def patients():
    return messy_patients()


@pytest.fixture
def patients_csv(patients, tmp_path):
    path = tmp_path / "patienten.csv"
    patients.to_csv(path, index=False)
    return path


@pytest.fixture
def messy_csv(messy, tmp_path):
    path = tmp_path / "messy.csv"
    messy.to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def wide():
    """More columns than rows: 60 × 200, four of which matter."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 200))
    index = X[:, [3, 50, 77, 120]] @ [2.0, -1.5, 1.5, 1.0]
    frame = pd.DataFrame(X, columns=[f"gene_{j}" for j in range(200)])
    frame["relapse"] = (rng.random(60) < np.clip(0.5 + 0.3 * index, 0.02, 0.98)).astype(int)
    return frame


@pytest.fixture
def wide_csv(wide, tmp_path):
    path = tmp_path / "wide.csv"
    wide.to_csv(path, index=False)
    return path
