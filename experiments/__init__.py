"""The paper's tables and figure, rerun: `make paper`, or `python -m experiments --help` for parts."""
