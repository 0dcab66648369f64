"""The batch command.

The same steps over many months of deals, from files, folders, archives and S3, into one table.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from service.commands.reading import NO_DEFINITION, words
from service.commands.refusal import Refused

if TYPE_CHECKING:
    from core.batch.table import Step

# Heavy imports (NumPy, core) stand inside the functions, so that `cushion --help` answers at once.

_SEVERAL = Parameter(consume_multiple=True, negative=(), show_default=False)


def batch(  # noqa: PLR0913 - a command's options
    *sources: str,
    out: str,
    deals: Path | None = None,
    steps: Annotated[tuple[str, ...], _SEVERAL] = (),
    suite: Literal["standard", "enhanced", "deal"] = "standard",
    deal: str | None = None,
    mapping: str | None = None,
    as_of: str | None = None,
    trustee: Literal["trustee_a", "trustee_b", "trustee_c"] | None = None,
    report_format: Literal["pdf", "xlsx"] = "pdf",
    export_format: Literal["xlsx", "csv", "json", "pdf"] = "xlsx",
    format: Literal["parquet", "csv", "jsonl"] = "parquet",  # noqa: A002 - the option's name
    jobs: int | None = None,
    engine: str | None = None,
    fail_on: Literal["fail", "warning", "doubtful"] | None = None,
    now: str | None = None,
) -> int:
    """Run compliance suites and other steps over many deals, and write one table.

    A folder that is named is opened: each file in it is a deal, and so is each zip and each folder below it. A file
    that cannot be read is a row with its reason, and all others are done. The same command again goes on where it
    ended. What is done already, by the bytes of the files and the terms, is read.

    The exit code is 0 when all is done. It is 2 when a file could not be read or a step not be done, whatever
    --fail-on says. With --fail-on it is 1 for a test that --fail-on names. Interrupted it is 130.

    Parameters
    ----------
    sources:
        Files, folders, globs ('deals/2026-*'), archives (.zip) and prefixes of a bucket (s3://bucket/prefix).
    out:
        The folder of the results, or s3://bucket/prefix: results, summary.html, batch.json, and files of steps in
        deals/.
    deals:
        A CSV with the columns pattern, deal, definition, mapping, as_of and tape. The first row counts whose pattern
        matches the path of a deal's file or folder.
    steps:
        What is done: suite, recalc, reconcile, report, export; suite if not given. Several are separated by commas or
        spaces.
    suite:
        standard (15 tests), enhanced (25 tests), or deal (those of each deal's definition).
    deal:
        The definition of deals whose row names none: a TOML file, or a ready-made one (us_bsl, euro).
    mapping:
        The mapping of deals whose row names none: a JSON file, or a built-in one; standard_clo if not given.
    as_of:
        The day of the figures, YYYY-MM-DD, where no row says it, in place of what the files say.
    trustee:
        For reconcile: prefer the columns of this trustee on tapes.
    report_format:
        Of the reports: pdf or xlsx.
    export_format:
        Of the exports: xlsx, csv, json or pdf.
    format:
        Of the table: parquet, csv or jsonl.
    jobs:
        How many deals are read at the same time here; as many as there are processors if not given.
    engine:
        A cluster that exists: dask://HOST:PORT or ray://HOST:PORT. Its workers see the sources and --out.
    fail_on:
        End with 1 when a test has failed. With warning, also when a test is in its warning band; with doubtful, also
        when a status may be wrong.
    now:
        The moment of TODAY and NOW and of dates in written files, in ISO format. The day on which the batch began, if
        not given.
    """
    if not sources:
        raise Refused("name files, folders or s3:// prefixes to be read")
    if suite == "deal" and deal is None and deals is None:
        raise Refused(NO_DEFINITION)
    from service.commands.batch.engines import JOBS_MAX
    from service.commands.batch.run import BatchArguments, run_batch

    if jobs is not None and not 1 <= jobs <= JOBS_MAX:
        raise Refused(f"--jobs must be between 1 and {JOBS_MAX}, not {jobs:,}")
    if jobs is not None and engine is not None:
        raise Refused("--jobs is of this machine, and --engine of another: name one of them")
    return run_batch(
        BatchArguments(
            sources=sources,
            out=out,
            deals=deals,
            steps=_steps(words(steps)),
            suite=suite,
            definition=deal,
            mapping=mapping,
            as_of=as_of,
            trustee=trustee,
            report_format=report_format,
            export_format=export_format,
            form=format,
            jobs=jobs,
            engine=engine,
            fail_on=fail_on,
            now=now,
        )
    )


def _steps(names: list[str]) -> tuple[Step, ...]:
    from core.batch.order import STEPS
    from core.words import suggestion

    for name in names:
        if name not in STEPS:
            raise Refused(f"--steps has no step {name!r}; {suggestion(name, STEPS)}")
    return tuple(step for step in STEPS if step in names) or ("suite",)
