"""The compliance command: a suite on a workbook, without a server."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from cyclopts import Parameter

from service.commands.limits import limited
from service.commands.output import Output, emit
from service.commands.pools import NO_POOL, is_pool, pool_results
from service.commands.progress import busy
from service.commands.reading import (
    DayOption,
    MappingOption,
    Suite,
    assignments,
    chosen_suite,
    read_interpreted,
    read_rules,
)
from service.commands.refusal import Refused

if TYPE_CHECKING:
    from core.compliance.result import Threshold
    from core.definition.definition import Definition

EXIT_FAILED: Final = 1

_FAILS: Final = {"fail": ("fail",), "warning": ("fail", "warning"), "doubtful": ("fail",)}
"""What --fail-on names -> the statuses with which the command ends in 1, whether doubtful or not."""

# Heavy imports (NumPy, core) stand inside the command, so that `cushion --help` answers at once.


def compliance(  # noqa: PLR0913 - the options of the command
    file: Path,
    /,
    *,
    suite: Suite = "standard",
    deal: str | None = None,
    mapping: MappingOption = None,
    as_of: DayOption = None,
    threshold: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative=(), show_default=False)] = (),
    fail_on: Literal["fail", "warning", "doubtful"] | None = None,
    engine: str | None = None,
    output: Output | None = None,
) -> int:
    """Run a compliance suite on a workbook or a pool and print the results.

    What makes them doubtful comes first.

    The exit code is 0 when the run completed, also with failing tests, and 2 when the file cannot be read or has no
    loans. With --fail-on it is 1 for a test that --fail-on names.

    The test with the thinnest cushion stands first; the bar is the cushion as a part of the threshold. Where the file
    publishes figures of its own, these stand beside ours with the difference. A question mark stands behind a status
    that may be wrong; below the table are all doubts by kind. Above it stands which readings of the file tie with its
    own figures, where these decided any. The JSON has file, suite, as_of, as_of_source, warnings, interpretation,
    summary, results and skipped.

    Parameters
    ----------
    file:
        The workbook (.xlsx, .xlsm, .xls, .xlsb, .ods, .pdf, .csv, a .zip of these, or a folder). It has the loans and,
        for the coverage tests, the notes. Or a pool of loans that need not fit in memory: a .parquet file, or a folder
        of them.
    suite:
        standard (15 tests), enhanced (25 tests), or deal (those of the deal's definition).
    deal:
        The deal's definition: a TOML file, or the name of a ready-made one (us_bsl, euro). Its conventions and limits
        hold for every suite, its tests are those of the suite deal.
    threshold:
        The limit of a test, as id=number (wal=5.5), in place of what the file says. Several are separated by commas or
        spaces.
    fail_on:
        End with 1 when a test has failed. With warning, also when a test is in its warning band; with doubtful, also
        when a status may be wrong. A failing test counts whether it is doubtful or not.
    engine:
        Where the parts of a pool are added up: dask://HOST:PORT or ray://HOST:PORT; this machine if not given.
    """
    day = read_day(as_of)
    suite = chosen_suite(suite, deal)
    chosen, definition = read_rules(mapping, deal)
    with busy(f"Reading {file.name}"):
        limits = _thresholds(assignments(threshold), definition)
        if is_pool(file):
            results = pool_results(
                file, suite, mapping=chosen, day=day, definition=definition, thresholds=limits, engine=engine
            )
        elif engine is not None:
            raise Refused(NO_POOL)
        else:
            from core.compliance.run import run_suite

            portfolio = read_interpreted(file, mapping=chosen, day=day, definition=definition)
            with limited(file):
                results = run_suite(portfolio, suite, request_thresholds=limits, definition=definition)
    from service.commands.table import results_page

    title = f"{file.name}, {suite} suite"
    if results.as_of is not None:
        title += f", as of {results.as_of}"
    page = results_page(results, title=title, head={"file": str(file), "suite": suite})
    emit(page, output or Output())
    statuses = _FAILS.get(fail_on or "", ())
    is_doubtful = fail_on == "doubtful" and results.summary.doubtful > 0
    return EXIT_FAILED if is_doubtful or any(result.status in statuses for result in results) else 0


def read_day(text: str | None) -> float | None:
    """Days since 1970-01-01.

    Raises:
        Refused: the text is no day.
    """
    if text is None:
        return None
    try:
        return float((date.fromisoformat(text) - date(1970, 1, 1)).days)
    except ValueError:
        raise Refused(f"--as-of must be a day as YYYY-MM-DD, not {text!r}") from None


def _thresholds(words: list[str], definition: Definition | None) -> dict[str, Threshold]:
    """Test -> its limit.

    Raises:
        Refused: not id=number, an unknown test, or no limit that a run could use.
    """
    if not words:
        return {}
    from core.amounts import read_amount
    from core.compliance.limits import InvalidThreshold, UnknownTest, check_threshold
    from core.compliance.result import Threshold

    limits = {}
    for word in words:
        test_id, equals, figure = word.partition("=")
        try:
            value = read_amount(figure)
        except ValueError:
            equals = ""
        if not equals:
            raise Refused(f"--threshold must be id=number, such as wal=5.5, not {word!r}")
        try:
            check_threshold(test_id, value, definition=definition)
        except (UnknownTest, InvalidThreshold) as refused:
            raise Refused(f"--threshold {word}: {refused}") from refused
        limits[test_id] = Threshold(test_id=test_id, threshold_value=value)
    return limits
