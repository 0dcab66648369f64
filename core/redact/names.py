"""What of a workbook has a name: sheets, defined names, tables, formats.

None may tell what the cells no longer do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from core.grid._intern import intern
from core.grid.column import Text, frozen
from core.grid.sheet import Sheet, Workbook
from core.grid.sheet_name import free_name, in_quotes
from core.redact.find import Span
from core.redact.formulas import quoted
from core.redact.replace import Policy, redacted_text
from core.words import counted

_QUOTED_SHEET: Final = re.compile(r"'((?:[^']|'')+)'(?=!)")


def redact_names(
    workbook: Workbook,
    policy: Policy,
    look: Callable[[str], list[Span]],
    tell: Callable[[str, str, int], None],
    warn: Callable[[str], None],
) -> Workbook:
    """Return the workbook with its names redacted.

    Formulas follow the sheets that they name.

    A defined name, a table or a number format that holds personal data is taken out. `look` finds that data in a text,
    `tell` gets kind, place, number.
    """

    def redacted_name(text: str, place: str) -> str | None:
        """Return the redacted text, counted; None where it holds nothing."""
        spans = look(text)
        for kind, count in Counter(span.kind for span in spans).items():
            tell(kind, place, count)
        return redacted_text(text, spans, policy) if spans else None

    renamed: dict[str, str] = {}
    taken = {sheet.name.casefold() for sheet in workbook.sheets}
    for sheet in workbook.sheets:
        if (name := redacted_name(sheet.name, "(sheet names)")) is not None:
            renamed[sheet.name.casefold()] = free_name(name, taken)
    if renamed:
        workbook = _rename_sheets(workbook, renamed)
    defined = {
        name: formula
        for name, formula in workbook.defined_names.items()
        if redacted_name(f"{name}\n{quoted(formula)}", "(defined names)") is None
    }
    local = {
        key: formula
        for key, formula in workbook.local_names.items()
        if redacted_name(f"{key[1]}\n{quoted(formula)}", "(defined names)") is None
    }
    tables = tuple(
        table
        for table in workbook.tables
        if redacted_name("\n\n".join((table.name, *table.columns)), "(tables)") is None
    )
    formats = tuple(
        "General" if redacted_name(quoted(code), "(number formats)") is not None else code
        for code in workbook.number_formats
    )
    left_out = tuple(redacted_name(name, "(files left out)") or name for name in workbook.left_out)
    lost = len(workbook.defined_names) + len(workbook.local_names) - len(defined) - len(local)
    if lost:
        warn(
            f"{counted(lost, 'defined name')} held personal data and {'was' if lost == 1 else 'were'} taken out: "
            "formulas with such a name become #NAME?"
        )
    plain = len(workbook.tables) - len(tables)
    if plain:
        warn(f"{counted(plain, 'table')} had personal data in the headings: plain cells now")
    if workbook.pivots:
        warn(
            f"{counted(len(workbook.pivots), 'pivot table', 'is/are')} plain cells now: what is listed may be personal"
        )
    same = (
        not lost
        and not plain
        and formats == workbook.number_formats
        and left_out == workbook.left_out
        and not workbook.pivots
    )
    if same:
        return workbook
    return replace(
        workbook,
        defined_names=defined,
        local_names=local,
        tables=tables,
        number_formats=formats,
        left_out=left_out,
        pivots=None if workbook.pivots else workbook.pivots,
    )


def _rename_sheets(workbook: Workbook, renamed: Mapping[str, str]) -> Workbook:
    """Return the workbook with new names for some sheets (by their old ones without case), in formulas too."""

    def name_of(old: str) -> str:
        return renamed.get(old.casefold(), old)

    return replace(
        workbook,
        sheets=tuple(_renamed_sheet(sheet, name_of(sheet.name), renamed) for sheet in workbook.sheets),
        defined_names={name: _follow(formula, renamed) for name, formula in workbook.defined_names.items()},
        local_names={
            (name_of(sheet), name): _follow(formula, renamed) for (sheet, name), formula in workbook.local_names.items()
        },
        tables=tuple(replace(table, sheet=name_of(table.sheet)) for table in workbook.tables),
    )


def _renamed_sheet(sheet: Sheet, name: str, renamed: Mapping[str, str]) -> Sheet:
    formulas = sheet.formulas
    texts = formulas.text.strings()
    followed = [_follow(text, renamed) for text in texts]
    if followed != texts:
        codes, offsets, data = intern(followed)
        formulas = replace(
            formulas, texts=frozen(codes[formulas.texts].astype(np.int32)), text=Text(frozen(offsets), frozen(data))
        )
    return sheet if name == sheet.name and formulas is sheet.formulas else replace(sheet, name=name, formulas=formulas)


def _follow(formula: str, renamed: Mapping[str, str]) -> str:
    """Return a formula with the new names of the sheets that it names.

    Texts in it that only look so are kept.
    """

    def followed(match: re.Match[str]) -> str:
        new = renamed.get(match[1].replace("''", "'").casefold())
        return match[0] if new is None else in_quotes(new)

    return _QUOTED_SHEET.sub(followed, formula)
