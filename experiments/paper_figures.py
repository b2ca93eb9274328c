"""The figures that the paper prints, to set beside ours.

Ganti, Rao, Balzano, Willett & Nowak, On Learning High Dimensional Structured Single Index Models, AAAI 2017.
"""

from __future__ import annotations

COLUMNS = ("SLR", "SQH", "SLS", "CSI", "Slisotron", "SLNN")

# Table 1: AUC on the test part.
AUC = {
    "link": (0.976, 0.946, 0.908, 0.981, 0.959, 0.975),
    "page": (0.987, 0.912, 0.941, 0.997, 0.937, 0.999),
    "ath-rel": (0.857, 0.726, 0.733, 0.879, 0.826, 0.875),
    "aut-mot": (0.916, 0.837, 0.796, 0.941, 0.914, 0.923),
    "cryp-ele": (0.960, 0.912, 0.834, 0.990, 0.910, 0.994),
    "mac-win": (0.636, 0.615, 0.639, 0.646, 0.616, 0.649),
}

# Table 2: MSE of atp7d, lower is better; F1 of flags, higher is better.
GROUPS = {
    "atp7d": {"Logistic": 1.1257, "Linear": 0.8198, "CSI (5 groups)": 0.0611},
    "flags": {"Logistic": 0.6458, "Linear": 0.5747, "CSI (5 groups)": 0.6539},
}

# Table 3: MSE on labels −1 and 1; the number of test ratings and of links among the users.
COMPLETION = {
    "Epinions": {"n_test": 3234, "n_links": 61610, "LS": 1.0012, "CSI": 0.9488},
    "Flixster": {"n_test": 64095, "n_links": 4016, "LS": 1.0065, "CSI": 0.9823},
}


def auc(dataset: str, column: str) -> float | None:
    """Return what Table 1 has in this place; every column of CSI is the paper's CSI."""
    name = "CSI" if column.startswith("CSI") else column
    if dataset not in AUC or name not in COLUMNS:
        return None
    return AUC[dataset][COLUMNS.index(name)]
