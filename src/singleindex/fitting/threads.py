"""How many threads BLAS may have while small problems are solved."""

from __future__ import annotations

from contextlib import AbstractContextManager

from threadpoolctl import threadpool_limits

# Entries of X, zeros included, from which on products are long enough to be shared.
_MANY = 10**7


def few_threads(shape: tuple[int, ...]) -> AbstractContextManager[object]:
    """Return the context in which problems of this size are best solved.

    A search of few rows is thousands of small products. Threads that share one of these wait for each other
    without sleeping, and take several times as long as one thread alone. The limit is that of the process,
    as everywhere: of searches in several Python threads, the last to end restores what it found.
    """
    n, d = shape
    limits: AbstractContextManager[object] = threadpool_limits(1 if n * d < _MANY else None, user_api="blas")
    return limits
