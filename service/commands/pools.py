"""A suite over a pool of loans in Parquet that need not fit in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from service.commands.refusal import Refused

if TYPE_CHECKING:
    from core.compliance.result import Results, Threshold
    from core.definition.definition import Definition
    from core.portfolio.model.fields import Mapping as FieldMapping

T = TypeVar("T")
Suite = Literal["standard", "enhanced", "deal"]

NO_POOL: Final = "--engine adds up a pool of loans: a file that ends in .parquet, or a folder of such files"


def is_pool(file: Path) -> bool:
    """Return whether a path is a Parquet file, or a folder that has one."""
    from core.pool.source import is_pool as is_one

    return is_one(file)


def pool_results(
    file: Path,
    suite: Suite,
    *,
    mapping: FieldMapping | None,
    day: float | None,
    definition: Definition | None,
    thresholds: Mapping[str, Threshold],
    engine: str | None,
) -> Results:
    """Return a suite's results over a pool, added up here or by an engine.

    Raises:
        Refused: the pool cannot be read, it needs too much, or the engine does not answer.
    """
    import os

    from core.pool.isolate import run_pool_isolated
    from core.pool.source import PoolRefused

    deal = {} if day is None else {"as_of": day, "as_of_source": "request"}
    options: dict[str, Any] = {
        "mapping": mapping, "deal": deal, "definition": definition, "request_thresholds": dict(thresholds),
    }  # fmt: skip
    try:
        if engine is None:
            return run_pool_isolated(file, suite, threads=len(os.sched_getaffinity(0)), **options)
        from core.pool.run import partial_sums, run_pool
        from service.commands.batch.engines import open_engine

        cluster = open_engine(engine, 1)
        try:
            return run_pool(
                file.resolve(), suite, work=lambda tasks: in_order(cluster.results(partial_sums, tasks)), **options
            )
        finally:
            cluster.close()
    except PoolRefused as refused:
        raise Refused(str(refused)) from refused
    except OSError as error:
        raise Refused(f"{file}: {error.strerror or error}") from error


def in_order(results: Iterable[tuple[int, T]]) -> Iterator[T]:
    """Yield results by their places, which come in any order."""
    waiting: dict[int, T] = {}
    following = 0
    for place, result in results:
        waiting[place] = result
        while following in waiting:
            yield waiting.pop(following)
            following += 1
