"""The paper's tables and figure, rerun: `make paper`, or `python -m experiments --help` for parts."""

import os

# Before numpy is loaded: one thread for each process. More would only get into each other's way.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
