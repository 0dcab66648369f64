"""The report command: on a workbook, or on a trustee's tape beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from cyclopts import Parameter

from service.commands.compliance import read_day
from service.commands.draft import place
from service.commands.limits import limited
from service.commands.progress import busy
from service.commands.reading import (
    DayOption,
    DealOption,
    MappingOption,
    SuiteOption,
    chosen_suite,
    read_definition,
    read_interpreted,
    read_mapping,
    refuse_absent_definition,
    size_and_hash,
)
from service.commands.reconcile import Sides, compared
from service.commands.refusal import Refused

if TYPE_CHECKING:
    from core.definition.definition import Definition
    from core.portfolio import Portfolio
    from core.reconciliation import Reconciliation
    from core.report.content import ComplianceReport
    from core.report.reconciliation import IssueLine

FORMATS: Final[dict[str, Literal["pdf", "xlsx"]]] = {".pdf": "pdf", ".xlsx": "xlsx"}

# Heavy imports (NumPy, core) stand inside the functions, so that `cushion --help` answers at once.


def report(  # noqa: PLR0913 - a command's options
    file: Path,
    /,
    *,
    out: Path,
    format: Literal["pdf", "xlsx"] | None = None,  # noqa: A002 - the option's name
    suite: SuiteOption = None,
    deal: DealOption = None,
    mapping: MappingOption = None,
    as_of: DayOption = None,
    tape: Path | None = None,
    trustee: Literal["trustee_a", "trustee_b", "trustee_c"] | None = None,
    personal_data: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Write a report on a portfolio workbook: its compliance, to hand on.

    With --tape it is on where a trustee's tape differs from the workbook.

    Personal data in texts (e-mail addresses, telephone numbers, ...) is masked unless --personal-data is given. The
    exit code is 0 when the report is written, and 2 when it cannot be.

    Parameters
    ----------
    file:
        The workbook with the loans, as `cushion compliance` takes it.
    out:
        The file to be written, replaced if it is there.
    format:
        pdf or xlsx; what the name of --out ends in if not given.
    tape:
        A trustee's tape: the report is on the differences between it and the workbook.
    trustee:
        With --tape: prefer the columns of this trustee on it.
    personal_data:
        Leave personal data as it is.
    """
    form = format or FORMATS.get(out.suffix.lower())
    if form is None:
        raise Refused(f"{out}: say with --format whether it is to be a pdf or an xlsx")
    if tape is not None and (names := [name for name, value in (("--suite", suite), ("--deal", deal)) if value]):
        raise Refused(f"{' and '.join(names)} of a comparison: there are no tests in it")
    if trustee is not None and tape is None:
        raise Refused("--trustee is of a tape: name its file with --tape")
    refuse_absent_definition(deal)
    day, chosen = read_day(as_of), read_mapping(mapping)
    if tape is not None:
        if day is not None or mapping is not None:
            raise Refused("--as-of and --mapping are of a report on compliance")
        sides = compared(tape, file, None, {}, trustee)
        with busy("Setting the report"), _file(out, tape, file) as path:
            _write_comparison(path, form, tape, file, trustee, sides, personal_data=personal_data)
        return
    suite = chosen_suite(suite, deal)
    with busy(f"Reading {file.name}"):
        definition = read_definition(deal, chosen)
        portfolio = read_interpreted(file, mapping=chosen, day=day, definition=definition)
    with busy("Setting the report"), _file(out, file, *([] if deal is None else [Path(deal)])) as path, limited(file):
        from core.report.files import write_compliance

        content = _content(file, portfolio, definition, suite, chosen.name)
        write_compliance(path, content, format=form, **_how(personal_data=personal_data))


def _how(*, personal_data: bool) -> dict[str, Any]:
    from core.redact.replace import Policy
    from core.report.files import Cleaner
    from core.report.tables import Looks

    return {"cleaner": Cleaner(None if personal_data else Policy()), "looks": Looks()}


@contextmanager
def _file(out: Path, *sources: Path) -> Iterator[Path]:
    """A file that is given to its user in the end.

    Raises:
        Refused: see `place`.
    """
    with TemporaryDirectory(prefix="cushion-") as folder:
        path = Path(folder) / "report"
        yield path
        place(path, out, *sources)


def _content(
    file: Path, portfolio: Portfolio, definition: Definition | None, suite: str, mapping: str
) -> ComplianceReport:
    from core.compliance.run import run_suite
    from core.deals.tie_out import tie_out
    from core.report.compliance import compliance_content
    from core.report.content import Origin

    size, digest = size_and_hash(file)
    return compliance_content(
        run_suite(portfolio, suite, definition=definition),
        portfolio,
        origin=Origin(name=file.stem, file_name=file.name, file_sha256=digest, file_size_bytes=size, mapping=mapping),
        generated_at=_now(),
        suite=suite,
        definition=definition,
        tie_out=() if definition is None else tie_out(portfolio, definition),
    )


def _write_comparison(
    out: Path,
    form: Literal["pdf", "xlsx"],
    tape: Path,
    book: Path,
    trustee: str | None,
    sides: Sides,
    *,
    personal_data: bool,
) -> None:
    from core.reconciliation.rules import RULES, tolerances_of
    from core.report.content import LineageLine
    from core.report.files import write_reconciliation
    from core.report.reconciliation import LOANS, ComparedSides
    from core.values import day_of

    result = sides.result
    hashes = ((name, size_and_hash(path)[1]) for name, path in (("tape", tape), ("workbook's file", book)))
    comparison = ComparedSides(
        title=tape.name,
        trustee=trustee or "",
        book=book.name,
        tape_day=day_of(sides.tape.deal.as_of),
        book_day=day_of(sides.book.deal.as_of),
        generated_at=_now(),
        loans={name: getattr(result.summary, name) for name in LOANS},
        stages=result.stages,
        rules=list(RULES),
        tolerances=tolerances_of(None),
        not_compared=result.not_compared,
        warnings=list(result.warnings),
        facts=[LineageLine(f"SHA-256 of the {name}", digest) for name, digest in hashes if digest is not None],
    )
    write_reconciliation(out, comparison, lambda: _issues(result), format=form, **_how(personal_data=personal_data))


def _issues(result: Reconciliation) -> Iterator[IssueLine]:
    from core.reconciliation.issues import COLUMNS
    from core.report.reconciliation import IssueLine

    names = [name for name in IssueLine.__struct_fields__ if name in COLUMNS]
    return (IssueLine(**{name: getattr(issue, name) for name in names}) for issue in result.issues)


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)
