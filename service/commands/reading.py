"""Files and words that the user of a command names, read or refused in one line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from cyclopts import Parameter

from service.commands.limits import limited
from service.commands.refusal import Refused

if TYPE_CHECKING:
    from core.definition.definition import Definition
    from core.grid.sheet import Workbook
    from core.portfolio import Portfolio
    from core.portfolio.model.fields import Mapping
    from core.portfolio.model.portfolio import GivenSource
    from core.scenario.trades import Trade

Suite = Literal["standard", "enhanced", "deal"]

SuiteOption = Annotated[
    Suite | None,
    Parameter(
        help="standard (15 tests), enhanced (25 tests), or deal (those of the deal's definition): deal with --deal, "
        "else enhanced."
    ),
]
DealOption = Annotated[
    str | None,
    Parameter(help="The deal's definition: a TOML file, or the name of a ready-made one (us_bsl, euro)."),
]
MappingOption = Annotated[
    str | None,
    Parameter(help="A JSON file with the mapping, or the name of a built-in one; standard_clo if not given."),
]
DayOption = Annotated[str | None, Parameter(help="The day of the figures, YYYY-MM-DD, in place of what the file says.")]
"""Options that several commands share."""

SECONDS_A_DAY: Final = 86_400

DOCUMENT_BYTES_MAX: Final = 1_000_000
"""Size of a mapping document, of a definition, of a table of trades, or of a file of keys."""

NO_DEFINITION: Final = "the suite deal needs a definition: name its file with --deal, or a ready-made one: us_bsl, euro"

NAMES_MAX: Final = 8
"""Rows, sheets or faults that one line names."""


def read_workbook(*files: Path, filled: bool = True) -> Workbook:
    """The workbook that files make, which are parsed in a confined child.

    Whatever it holds, this process goes on.

    Formulas that came without values are calculated, unless it is to be as it is (not `filled`).

    Raises:
        Refused: it cannot be opened, or is no spreadsheet within the limits.
    """
    from core.files.errors import FileRefused
    from core.files.isolate import read_isolated

    named = ", ".join(map(str, files))
    try:
        return read_isolated(*files, now=datetime.now() if filled else None)  # noqa: DTZ005 - a spreadsheet has no zone
    except FileRefused as refused:
        raise Refused(f"{named}: {refused.message}: {refused.hint}") from refused
    except OSError as error:
        raise Refused(f"{named}: {error.strerror or error}") from error


def read_loans(
    *files: Path, mapping: Mapping | None = None, day: float | None = None, stands_in: bool = True
) -> Portfolio:
    """The loans of files that make one workbook, within the commands' limits.

    Args:
        mapping: None is standard_clo.
        day: what the user says of their day, in days since 1970-01-01.
        stands_in: whether the day of a file's latest change stands in where nothing says theirs, as that of the upload
            does in the service.

    Raises:
        Refused: one cannot be read, or they hold no loans: with what was looked for and found.
    """
    from core.portfolio import Portfolio

    book = read_workbook(*files)
    source: GivenSource = "request"
    if day is None and stands_in:
        source, day = "modified", changed_day(files)
    with limited(files[0]):
        portfolio = Portfolio.from_workbook(book, mapping, as_of=day, as_of_source=source)
    if portfolio.row_count:
        return portfolio
    notes = portfolio.notes
    if not notes.holdings_found:
        sheets = some([repr(sheet.name) for sheet in book.sheets])
        raise Refused(f"{files[0]}: no loans: {notes.message}; its sheets are {sheets}")
    blank = notes.ignored_blank_par
    reason = f"; rows without par: {blank:,} (formulas count by the values that the file carries)" if blank else ""
    headers = some([repr(header) for header in notes.matched_columns.values()])
    raise Refused(f"{files[0]}: no loans on sheet {portfolio.sheet_name!r} below the columns {headers}{reason}")


def read_interpreted(
    *files: Path, mapping: Mapping | None = None, day: float | None = None, definition: Definition | None = None
) -> Portfolio:
    """The same, with the choices that the files leave open read as their own figures say.

    Args:
        definition: the deal's, which outranks them.

    Raises:
        Refused: as `read_loans`.
    """
    from core.interpretation.interpret import has_figures, interpreted

    portfolio = read_loans(*files, mapping=mapping, day=day)
    if not has_figures(portfolio):
        return portfolio
    with limited(files[0]):
        return interpreted(portfolio, definition)


def changed_day(files: Sequence[Path]) -> float:
    """The day of the latest change of a file, in days since 1970-01-01.

    It stands in where nothing says a file's day.

    Raises:
        Refused: there is no such file.
    """
    try:
        return max(file.stat().st_mtime for file in files) // SECONDS_A_DAY
    except OSError as error:
        raise Refused(f"{error.filename}: {error.strerror or error}") from error


def assignments(options: tuple[str, ...]) -> list[str]:
    """Each `name=value` once, in the order given.

    As `words`, but for commas within an amount (par=1,000,000).
    """
    return list(dict.fromkeys(word for option in options for word in re.split(r",(?=[^,=]*=)", option) if word))


def words(options: tuple[str, ...]) -> list[str]:
    """Each word once, in the order given.

    Options come separated by spaces, by commas, or repeated.
    """
    return list(dict.fromkeys(word for option in options for word in option.split(",") if word))


def read_mapping(source: str | None) -> Mapping:
    """The built-in mapping of that name, else that of a JSON document.

    Standard_clo for None. A name comes first, also where a file is called so.

    Raises:
        Refused: the document cannot be read, is no JSON object, or no mapping.
    """
    import msgspec

    from core.portfolio.mapping.profiles.configure import ConfigurationError, configure_mapping
    from core.portfolio.model.fields import PROFILES

    if source is None or source in PROFILES:
        return PROFILES[source or "standard_clo"]
    path = Path(source)
    _refuse_absent(path, "built-in mapping", PROFILES)
    data = _document(path, "mapping document")
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Refused(f"{path}: not JSON: {error}") from error
    if not isinstance(document, dict):
        raise Refused(f"{path}: a mapping document is a JSON object")
    name = document.get("name")
    try:
        return configure_mapping(document, id=path.stem, name=name if isinstance(name, str) and name else path.stem)
    except ConfigurationError as error:
        faults = [f"{'.'.join(place)} {what}" for place, what in error.faults]
        raise Refused(f"{path}: no mapping: {some(faults, '; ')}") from error


def read_definition(name: str | None, mapping: Mapping | None = None) -> Definition | None:
    """The ready-made definition of that name, else that of a TOML file, whose formulas may read the mapping's own
    fields, too; None for None. A name comes first, also where a file is called so.

    Raises:
        Refused: it cannot be read, is too large, or is no definition: with the place of each fault.
    """
    if name is None:
        return None
    refuse_absent_definition(name)
    from core.definition.document import DefinitionError, parse_toml, ready
    from core.definition.terms import READY_NAMES

    if name in READY_NAMES:
        return ready(name)
    try:
        return parse_toml(definition_text(name), own_fields=own_fields_of(mapping))
    except DefinitionError as error:
        raise Refused(
            f"{name}: no definition: {some([f'{place} {what}' for place, what in error.faults], '; ')}"
        ) from error


def read_rules(mapping: str | None, deal: str | None) -> tuple[Mapping, Definition | None]:
    """The mapping and the definition that options name.

    Raises:
        Refused: as `read_mapping` and `read_definition`; an absent definition first, before anything slow is loaded.
    """
    refuse_absent_definition(deal)
    chosen = read_mapping(mapping)
    return chosen, read_definition(deal, chosen)


def chosen_suite(suite: Suite | None, deal: str | None) -> Suite:
    """The suite of an option; without one that of a named deal, else enhanced.

    Raises:
        Refused: the suite deal without a definition.
    """
    if suite == "deal" and deal is None:
        raise Refused(NO_DEFINITION)
    return suite or ("enhanced" if deal is None else "deal")


def own_fields_of(mapping: Mapping | None) -> list[str]:
    """The fields of a mapping, which a definition's formulas may read beside the standard ones."""
    return [] if mapping is None else [field.target for field in mapping.fields]


def definition_text(name: str) -> str:
    """The text of the ready-made definition of that name, else of a definition's file.

    Raises:
        Refused: it cannot be read, is too large, or is no text.
    """
    refuse_absent_definition(name)
    from core.definition.document import ready_text
    from core.definition.terms import READY_NAMES

    return ready_text(name) if name in READY_NAMES else _text(Path(name), "definition")


def refuse_absent_definition(name: str | None) -> None:
    """Refuse what is neither a ready-made definition nor a file, before anything slow is loaded or read.

    Raises:
        Refused: there is no such file.
    """
    from core.definition.terms import READY_NAMES

    if name is not None and name not in READY_NAMES:
        _refuse_absent(Path(name), "ready-made definition", READY_NAMES)


def read_trades(path: Path) -> list[Trade]:
    """The trades of a CSV.

    Raises:
        Refused: it cannot be read, is too large, or a line is no trade.
    """
    from core.scenario.written import WrittenError, trades_of_table

    try:
        return trades_of_table(_text(path, "table of trades"))
    except WrittenError as error:
        raise Refused(f"{path}: {error}") from error


def read_keys(path: Path) -> dict[str, bytes]:
    """Keys by their names, as a file has them one a line.

    A name, a blank and hexadecimal digits. A key that stands alone on its line has no name.

    Raises:
        Refused: the file cannot be read, or a line is no key.
    """
    from core.provenance.manifest import KEY_BYTES_LEAST

    keys = {}
    for number, line in enumerate(_text(path, "key file").splitlines(), 1):
        name, _, digits = line.strip().rpartition(" ")
        if digits:
            try:
                keys[name.strip()] = bytes.fromhex(digits)
            except ValueError:
                raise Refused(f"{path}: line {number} is no key: a name, a blank and hexadecimal digits") from None
            if len(keys[name.strip()]) < KEY_BYTES_LEAST:
                raise Refused(f"{path}: line {number}: a key has at least {KEY_BYTES_LEAST} bytes in hexadecimal")
    if not keys:
        raise Refused(f"{path}: holds no key")
    return keys


def _refuse_absent(path: Path, what: str, names: Iterable[str]) -> None:
    """Refuse a path where nothing is, with the names that would do in its place and the one that may have been meant.

    Raises:
        Refused: there is no such file.
    """
    if path.exists():
        return
    from core.words import suggestion

    stem = path.stem if path.parent == Path() else path.name
    raise Refused(f"{path}: there is no such file, and no {what} of this name; {suggestion(stem, names)}")


def _text(path: Path, what: str) -> str:
    try:
        return _document(path, what).decode()
    except UnicodeDecodeError as error:
        raise Refused(f"{path}: no text in UTF-8") from error


def _document(path: Path, what: str) -> bytes:
    try:
        with path.open("rb") as opened:
            data = opened.read(DOCUMENT_BYTES_MAX + 1)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror or error}") from error
    if len(data) > DOCUMENT_BYTES_MAX:
        raise Refused(f"{path}: a {what} has at most {DOCUMENT_BYTES_MAX:,} bytes")
    return data


def some(texts: Sequence[str], between: str = ", ", most: int = NAMES_MAX) -> str:
    """The first few of some texts, and how many more there are, by `core.words`."""
    from core.words import first_of

    return first_of(texts, most, between=between)


def size_and_hash(file: Path) -> tuple[int | None, str | None]:
    """Size and SHA-256 of a file; of a folder neither."""
    if not file.is_file():
        return None, None
    from hashlib import file_digest

    with file.open("rb") as opened:
        return file.stat().st_size, file_digest(opened, "sha256").hexdigest()
