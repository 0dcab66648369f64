"""What the confined child of a pool does."""

from __future__ import annotations

import pickle

from core.pool.isolate import PoolAnswer, PoolOrder
from core.pool.run import run_pool
from core.pool.source import limit_threads


def run(order: PoolOrder) -> PoolAnswer:
    """Return the results of a suite over a pool."""
    limit_threads(order.threads)
    options = pickle.loads(order.options)  # noqa: S301 - written by the process that started this one
    results = run_pool(order.path, order.suite, threads=order.threads, **options)
    return PoolAnswer(
        results=list(results),
        skipped=results.skipped,
        as_of=results.as_of,
        as_of_source=results.as_of_source,
        warnings=results.warnings,
        figures=results.figures,
    )
