"""The command line: `singleindex fit DATA --target COL`, and what follows from it.

Nothing here imports scikit-learn before a command needs it.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; where its library is missing, say how to get it."""
    try:
        import click  # noqa: F401
    except ImportError:
        print('singleindex: the command line needs: pip install "singleindex[cli]"', file=sys.stderr)
        sys.exit(1)
    from .app import run

    sys.exit(run())
