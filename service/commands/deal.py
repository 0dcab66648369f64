"""The commands on a deal's definition and files, with no server.

Check, draft, run, tie-out, movements.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cyclopts import App

from service.commands.choices import choice_blocks
from service.commands.limits import limited
from service.commands.output import (
    Grid,
    Line,
    Output,
    OutputColumn,
    OutputPage,
    counted,
    emit,
    json_of,
    plain,
    stream_of,
)
from service.commands.progress import busy
from service.commands.reading import (
    MappingOption,
    definition_text,
    own_fields_of,
    read_interpreted,
    read_loans,
    read_mapping,
    read_rules,
    refuse_absent_definition,
)
from service.commands.refusal import Refused, one_line

if TYPE_CHECKING:
    from core.deals.movements import Movement
    from core.deals.tie_out import TieOut
    from core.definition.definition import Definition
    from core.portfolio import Portfolio
    from core.portfolio.model.fields import Mapping

EXIT_DIFFERENT: Final = 1
EXIT_NOTHING: Final = 2
SHOWN_LEAST: Final = 0.005
"""A smaller part shows as nothing in two decimals."""

deal = App(
    name="deal",
    help_format="markdown",
    help="A deal's definition drafted, checked and run; its figures beside the trustee's, and through time.",
)

# Heavy imports (NumPy, core) stand inside the commands, so that `cushion --help` answers at once.


@deal.command
def check(file: str, /, *, mapping: str | None = None, output: Output | None = None) -> int:
    """Check a definition (deal.toml) and tell every fault with its place.

    The exit code is 0 for a definition, 1 for one with faults, and 2 when the file cannot be read. The JSON has file,
    name, tests and faults.

    Parameters
    ----------
    file:
        The definition: a TOML file, or the name of a ready-made one (us_bsl, euro).
    mapping:
        A JSON file with the mapping, whose own fields formulas may read, or the name of a built-in one.
    """
    refuse_absent_definition(file)
    from core.definition import DefinitionError, parse_toml

    name, tests, faults = None, 0, []
    text, own_fields = definition_text(file), own_fields_of(None if mapping is None else read_mapping(mapping))
    try:
        definition = parse_toml(text, own_fields=own_fields)
        name, tests = definition.name, len(definition.tests)
    except DefinitionError as error:
        faults = [{"place": place, "message": message} for place, message in error.faults]
    lines = [Line(f"{fault['place'] or 'the document'}: {fault['message']}") for fault in faults]
    last = Line(counted(len(faults), "fault") if faults else f"a definition with {counted(tests, 'test')}")
    columns = [OutputColumn(key, value=itemgetter(key)) for key in ("place", "message")]
    page = OutputPage(
        blocks=[*lines, last],
        rows=Grid(columns=columns, items=faults),
        document=json_of({"file": file, "name": name, "tests": tests, "faults": faults}),
        notes=[last],
    )
    emit(page, output or Output())
    return EXIT_DIFFERENT if faults else 0


@deal.command(name="draft")
def draft_definition(
    *files: Path, name: str | None = None, mapping: MappingOption = None, output: Output | None = None
) -> None:
    """Draft a definition out of the trustee's files.

    `cushion deal draft FILE... --out deal.toml`.

    It has the classes with their triggers, the tests with limits and names as printed, and the conventions by which the
    file's own figures tie. Each line says where it comes from and how sure it is; what must still be decided stands at
    the top. The exit code is 0 for a draft, and 2 when a file cannot be read. The text is TOML; the JSON has files,
    warnings, toml, definition, decide, ties and interpretation; CSV has what must be decided.

    Parameters
    ----------
    files:
        The files of one month, or a folder or .zip of them.
    name:
        The deal's name; the first file's if not given.
    """
    chosen = read_mapping(mapping)
    portfolio = _loans(files, chosen)
    from core.deals.draft import DraftError, draft

    with limited(files[0]), busy("Drafting the definition"):
        try:
            result = draft(portfolio, name=name or files[0].stem)
        except DraftError as error:
            raise Refused(f"{files[0]}: {error}") from error
    output = output or Output()
    decide = Grid(columns=_DECIDE, items=result.decide)
    tests = counted(len(result.definition.get("tests", ())), "test")
    tied = f"{result.ties.tied:,} of {counted(result.ties.figures, 'printed figure')} tie by it"
    last = Line(f"a definition with {tests}: {tied}, {counted(len(result.decide), 'point')} to decide")
    if output.chosen() == "table":
        with stream_of(output) as stream:
            stream.write(result.toml)
        if output.out not in (None, Path("-")):
            print(one_line(f"{output.out}: {last.words}"), file=sys.stderr)
        return
    document = {"files": [str(file) for file in files], "warnings": portfolio.notes.warnings}
    page = OutputPage(
        warnings=portfolio.notes.warnings,
        blocks=[decide, last],
        rows=decide,
        notes=[last],
        document=json_of(document | {name: getattr(result, name) for name in result.__struct_fields__}),
    )
    emit(page, output)


_DECIDE: Final = [
    OutputColumn("subject", "To decide", folds=True),
    OutputColumn("why", "Why", folds=True),
    OutputColumn("limit", "Limit", right=True),
    OutputColumn("place", "Place"),
]


@deal.command(name="run")
def run_tests(*files: Path, deal: str, mapping: MappingOption = None, output: Output | None = None) -> None:
    """Run a definition's tests on the files of one month.

    The exit code is 0 when the run completed, also with failing tests, and 2 when a file cannot be read. The test with
    the thinnest cushion stands first. The JSON has files, as_of, as_of_source, warnings, interpretation, summary,
    results and skipped.

    Parameters
    ----------
    files:
        The files, or a folder or .zip of them.
    deal:
        The definition: a TOML file, or the name of a ready-made one (us_bsl, euro).
    """
    chosen, definition = read_rules(mapping, deal)
    portfolio = _portfolio(files, chosen, definition)
    from core.compliance.run import run_suite
    from core.compliance.suites import DEAL_SUITE

    with limited(files[0]):
        results = run_suite(portfolio, DEAL_SUITE, definition=definition)
    from service.commands.table import results_page

    title, head = f"{files[0].name}, as of {results.as_of}", {"files": [str(file) for file in files]}
    emit(results_page(results, title=title, head=head), output or Output())


@deal.command(name="tie-out")
def tie_out(*files: Path, deal: str | None = None, mapping: MappingOption = None, output: Output | None = None) -> int:
    """Set the tests that the trustee's files publish beside ours.

    The exit code is 0 when every figure that both have agrees, and 1 when a figure differs. It is 2 when a file cannot
    be read or no test results are published. A figure that is no test of ours is listed with the nearest one, and why
    it was not taken. Below stands how each choice that the file leaves open was read: which printed figures tie by that
    reading alone, and the runner-up. It also says how many figures come out right when each is left out of the search
    once. The JSON has files, warnings, items, not_printed and interpretation; it and CSV have numerators and
    denominators.

    Parameters
    ----------
    files:
        The files, or a folder or .zip of them.
    deal:
        The definition: a TOML file, or the name of a ready-made one (us_bsl, euro); the suites' defaults if not given.
    """
    chosen, definition = read_rules(mapping, deal)
    portfolio = _loans(files, chosen)
    from core.deals.tie_out import tie_out as tied
    from core.interpretation.interpret import has_figures, interpret
    from core.interpretation.reading import read_by

    with limited(files[0]):
        interpretation = interpret(portfolio, definition, hold_out=True) if has_figures(portfolio) else None
        if interpretation is not None:
            portfolio = read_by(portfolio, interpretation, definition)
        items = tied(portfolio, definition)
    grid = Grid(columns=_tie_out_columns(items), items=items)
    nothing = [] if items else [Line("The file publishes no test results.")]
    alone = [Line(f"The file prints nothing of: {', '.join(items.not_printed)}.")] if items.not_printed else []
    page = OutputPage(
        warnings=portfolio.notes.warnings,
        blocks=nothing or [grid, *alone, *choice_blocks(interpretation)],
        rows=grid,
        notes=nothing,
        in_json=bool(items),
        document=json_of(
            {
                "files": [str(file) for file in files],
                "warnings": portfolio.notes.warnings,
                "items": items,
                "not_printed": items.not_printed,
                "interpretation": interpretation,
            }
        ),
    )
    emit(page, output or Output())
    if nothing:
        return EXIT_NOTHING
    return EXIT_DIFFERENT if any(item.agrees is False for item in items) else 0


@deal.command
def movements(
    before: Path, after: Path, /, *, deal: str | None = None, mapping: str | None = None, output: Output | None = None
) -> None:
    """Explain why each test moved between two months, by parts that add up to the change.

    `cushion compare` tells which loans came, went and changed. The JSON has from, to, warnings and items.

    Parameters
    ----------
    before:
        The earlier file, or a folder or .zip of files.
    after:
        The later one.
    deal:
        The definition whose tests are explained: a TOML file, or the name of a ready-made one (us_bsl, euro); the
        enhanced suite if not given.
    mapping:
        A JSON file with the mapping of both, or the name of a built-in one; standard_clo if not given.
    """
    chosen, definition = read_rules(mapping, deal)
    earlier, later = _portfolio([before], chosen, definition), _portfolio([after], chosen, definition)
    from core.compliance.run import run_suite
    from core.compliance.suites import DEAL_SUITE
    from core.deals.movements import movements as moved
    from core.portfolio.model.notes import limit_warnings, of_side

    suite = DEAL_SUITE if definition is not None else "enhanced"
    with limited(after), busy("Running each step"):
        items = moved(
            earlier,
            later,
            lambda portfolio: run_suite(portfolio, suite, definition=definition, details=False),
            definition=definition,
        )
    warnings = limit_warnings([*of_side("from", earlier.notes.warnings), *of_side("to", later.notes.warnings)])
    grid = Grid(columns=_movement_columns(), items=items)
    page = OutputPage(
        warnings=warnings,
        blocks=[grid],
        rows=grid,
        document=json_of({"from": str(before), "to": str(after), "warnings": warnings, "items": items}),
    )
    emit(page, output or Output())


def _loans(files: Sequence[Path], mapping: Mapping) -> Portfolio:
    """The loans of files that make one workbook, with the choices that these leave open as the market has them.

    Raises:
        Refused: none is named, they cannot be read, or hold no loans.
    """
    if not files:
        raise Refused("name at least one file")
    with busy(f"Reading {files[0].name}"):
        return read_loans(*files, mapping=mapping)


def _portfolio(files: Sequence[Path], mapping: Mapping, definition: Definition | None) -> Portfolio:
    """The same, read as the files' own figures say; `Refused` as `_loans`."""
    if not files:
        raise Refused("name at least one file")
    with busy(f"Reading {files[0].name}"):
        return read_interpreted(*files, mapping=mapping, definition=definition)


# What is told ---------------------------------------------------------------------------------------------------------


def _why(row: TieOut) -> str:
    """What explains a difference, or why there is no figure of ours, with our test that comes nearest."""
    if row.why_not is not None:
        return f"not {row.nearest}: {row.why_not}" if row.nearest else f"not matched: {row.why_not}"
    return ", ".join(str(each) for each in row.explained_by) or row.reason or _parts_apart(row)


def _parts_apart(row: TieOut) -> str:
    """The two numerators or denominators that differ, where nothing explains it."""
    pairs = {"numerator": (row.trustee_numerator, row.our_numerator),
             "denominator": (row.trustee_denominator, row.our_denominator)}  # fmt: skip
    theirs, ours = pairs.get(row.differs or "", (None, None))
    return "" if theirs is None or ours is None else f"{row.differs} {theirs:,.2f}, ours {ours:,.2f}"


_TIE_OUT: Final = [
    OutputColumn("trustee_name", "Trustee's test", folds=True),
    OutputColumn("test_id"),
    OutputColumn("trustee_value", "Trustee", right=True),
    OutputColumn("our_value", "Ours", right=True),
    OutputColumn("difference", "Difference", right=True,
           shown=lambda row: "-" if row.agrees else plain(row.difference)),
    OutputColumn("agrees"),
    OutputColumn("trustee_numerator"),
    OutputColumn("our_numerator"),
    OutputColumn("trustee_denominator"),
    OutputColumn("our_denominator"),
    OutputColumn("differs", "Differs in", shown=lambda row: row.differs or "-"),
    OutputColumn("explained_by", "Explained by, or why not matched", value=_why, shown=_why, folds=True),
    OutputColumn("nearest"),
    OutputColumn("cell"),
]  # fmt: skip


def _tie_out_columns(items: Sequence[TieOut]) -> list[OutputColumn]:
    """The columns of a tie-out, with each figure's page where the file has pages."""
    from core.grid.places import pages_part

    if not any(pages_part(item.cell) for item in items):
        return _TIE_OUT
    page = OutputColumn(heading="Stands on", shown=lambda item: pages_part(item.cell) or "-")
    return [_TIE_OUT[0], page, *_TIE_OUT[1:]]


def _of_which(movement: Movement) -> str:
    moved = (part for part in movement.parts if abs(part.change) >= SHOWN_LEAST)
    parts = [f"{part.part.replace('_', ' ')} {part.change:+,.2f}" for part in moved]
    if (why := movement.after_open or movement.before_open) is not None:
        parts.append(why.reason)
    return ", ".join(parts)


def _part(name: str) -> Callable[[Movement], float | None]:
    return lambda movement: next((part.change for part in movement.parts if part.part == name), None)


def _movement_columns() -> list[OutputColumn]:
    from core.deals.movements import PARTS

    return [
        OutputColumn("test_id"),
        OutputColumn("test_name", "Test", folds=True),
        OutputColumn("before", "From", right=True),
        OutputColumn("after", "To", right=True),
        OutputColumn("change", "Change", right=True),
        OutputColumn(heading="Of which", shown=_of_which, folds=True),
        *(OutputColumn(name, value=_part(name)) for name in PARTS),
        OutputColumn(
            "reason", value=lambda movement: (why := movement.after_open or movement.before_open) and why.reason
        ),
    ]
