"""The messy table of the trials: what an analyst in a German hospital may be sent."""

import numpy as np
import pandas as pd


def messy_patients(n=400, seed=0, shift=0.0):
    """Return patients with quoted commas, umlauts, gaps, a constant, an id, dates, ja/nein, and a leak.

    "Rückfall" depends on Alter, Dosis, Stadt and the Laborwert; "Nachsorge" was written down afterwards.
    """
    rng = np.random.default_rng(seed)
    age = rng.integers(25, 85, n) + round(10 * shift)
    dose = rng.gamma(3.0, 2.0, n).round(2)
    lab = rng.normal(181_300 + 20_000 * shift, 20_000, n).round()
    city = rng.choice(["Köln, Süd", "München", "Gießen"], n, p=[0.5, 0.3, 0.2])
    index = 0.06 * (age - 55) - 0.5 * (dose - 6) + 0.8 * (city == "München") + (lab - 181_300) / 20_000 - 1.2
    relapse = rng.random(n) < np.clip(0.5 + 0.25 * index, 0.02, 0.95)
    days = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 360, n), unit="D")
    frame = pd.DataFrame({
        "Patienten-Nr": 40_000 + 3 * rng.permutation(n),
        "Name": [f'Müller, "Jürgen" {i}' for i in range(n)],
        "Alter": age,
        "Dosis": dose,
        "Laborwert": lab,
        "Stadt": city,
        "Aufnahme": days.strftime("%d.%m.%Y"),
        "Klinik": "Universitätsklinikum",
        "Größe": rng.normal(172, 9, n).round(1),
        "Nachsorge": np.where(relapse ^ (rng.random(n) < 0.005), "Wiederaufnahme", "Hausarzt"),
        "Rückfall": np.where(relapse, "ja", "nein"),
    })  # fmt: skip
    frame.loc[rng.choice(n, n // 20, replace=False), "Dosis"] = np.nan
    frame.loc[rng.choice(n, n // 40, replace=False), "Stadt"] = None
    return frame
