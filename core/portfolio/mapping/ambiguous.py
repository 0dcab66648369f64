"""Warn of columns whose field or whose words are in doubt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.sheet import Sheet
from core.portfolio.cells.loans import Loans
from core.portfolio.cells.string_pool import key
from core.portfolio.mapping.funded import OF_AMOUNTS, opens
from core.portfolio.mapping.pipeline import TYPE, FieldColumn
from core.portfolio.model.notes import DataWarning, row_texts, with_rows
from core.portfolio.sheets.columns import vocabulary
from core.portfolio.sheets.columns.aliases import DENIED
from core.portfolio.sheets.columns.content import features
from core.portfolio.sheets.columns.evidence import AMBIGUOUS_MARGIN, RoleEvidence
from core.portfolio.sheets.columns.roles import SAYS_LITTLE
from core.portfolio.sheets.columns.vocabulary import tokens_of
from core.portfolio.sheets.headings.feeds import LISTED_WORDS
from core.portfolio.sheets.headings.match import HeaderMatch
from core.words import agreed, counted

_TOLD_BY_CELLS: Final = frozenset(
    ("cusip", "isin", "loanx_id", "currency", "country", "maturity_date", "coupon_type", "base_rate")
)
"""Roles that cells tell without a heading: identifiers by their check digits, codes of a list, days to come."""


def ambiguous_columns(sheet: Sheet, header: HeaderMatch, columns: Mapping[str, int]) -> Iterator[DataWarning]:
    """Yield warnings about columns that feed fields, one for each column.

    Args:
        columns: field -> the column that feeds it.
    """
    fed: dict[int, list[str]] = {}
    for target, column in columns.items():
        fed.setdefault(column, []).append(target)
    for column, targets in sorted(fed.items()):
        evidence = header.evidence.get(column)
        if evidence is None:
            continue
        why = (
            _why(evidence, header.texts.get(column, ""))
            or _rival(sheet, header, targets, column)
            or _qualifier(evidence, header.texts.get(column, ""))
            or _of_closing(evidence, column, header.texts)
            or _without_unsettled(evidence, targets, header.texts)
            or _equivalent(evidence, header.texts.get(column, ""))
        )
        if why:
            heading = " ".join(header.texts.get(column, "").split())
            named = f"Column {heading!r}" if heading else f"Column {column + 1} without a heading"
            message = f"{named} is taken for {', '.join(targets)}: {why}."
            yield DataWarning("ambiguous_column", message, fields=tuple(targets))
    yield from _unnamed_flags(sheet, header)


FLAGS: Final = ("is_defaulted", "is_deferring", "is_current_pay", "is_dip", "cov_lite", "participation")
"""Fields of yes or no on which figures depend: a column without a heading may have any of them."""

FLAGS_MIN: Final = 5
"""Cells with yes or no that tell such a column."""


def _unnamed_flags(sheet: Sheet, header: HeaderMatch) -> Iterator[DataWarning]:
    """Warn of a column of yes and no without a heading that could be several flags."""
    open_flags = tuple(flag for flag in FLAGS if flag not in header.columns)
    fed = {place for places in header.columns.values() for place in places}
    for column, stored in enumerate(sheet.columns[:COLUMNS_MAX]):
        if column in fed or column in header.beside or stored is None or header.texts.get(column, "").strip():
            continue
        column_features = features(sheet, stored, header.row + 1, sheet.row_count)
        if (
            column_features.filled >= FLAGS_MIN
            and (column_features.share("flag") >= ALL_FLAGS or column_features.boolean >= ALL_FLAGS)
            and open_flags
        ):
            message = (
                f"Column {column + 1} without a heading says yes or no: it could be any of {', '.join(open_flags)}, "
                "and is not read."
            )
            yield DataWarning("ambiguous_column", message, fields=open_flags)


def unrecognised_flags(
    target: str, heading: str, outcome: FieldColumn, par: NDArray[np.float64] | None, loans: Loans
) -> Iterator[DataWarning]:
    """Yield a warning about words of a flag that say neither yes nor no."""
    for finding in outcome.findings:
        if finding.rule != TYPE or not finding.is_warning:
            continue
        values = dict.fromkeys(finding.values(finding.rows[:ROWS_SHOWN]))
        texts = ("blank" if value is None else repr(str(value)[:TEXT_LENGTH_MAX]) for value in values)
        shown = ", ".join(islice(texts, TEXTS_SHOWN))
        whole = 0.0 if par is None else float(np.nansum(par))
        share = "" if par is None or whole <= 0 else f" ({100 * np.nansum(par[finding.rows]) / whole:.2f} % of par)"
        count = len(finding.rows)
        message = (
            f"{counted(count, 'loan')}{share} {agreed(count, 'has/have')} neither yes nor no in column "
            f"{' '.join(heading.split())!r}, and {agreed(count, 'counts/count')} as no: {shown}."
        )
        if loans.sheet_rows is not None:
            rows = row_texts(loans.sheet_rows[finding.rows], loans.page_lines)
            message = with_rows(message, loans.sheet_name, rows, count)
        yield DataWarning("flag_unrecognised", message, count, (target,))


ROWS_SHOWN: Final = 1_000
"""Rows among which such words are looked for to show."""
TEXTS_SHOWN: Final = 5
TEXT_LENGTH_MAX: Final = 40

ALL_FLAGS: Final = 0.99
COLUMNS_MAX: Final = 400
"""Columns that are looked at."""


def _why(evidence: RoleEvidence, heading: str) -> str:
    """Return why a role is doubtful; "" where nothing comes near it."""
    if evidence.is_ambiguous and evidence.runner_up:
        return f"it could as well be {evidence.runner_up} ({'; '.join(evidence.reasons)})"
    if evidence.role in DENIED and evidence.words < FULL_DENIAL and evidence.score < DENIAL_MIN:
        return "a yes in it counts as a no, and its heading says little"
    weight = vocabulary.heading(heading).weights.get(evidence.role, 0.0)
    is_silent = weight <= 0 or (evidence.role == "par_value" and weight < SAYS_LITTLE)
    is_unnamed = evidence.words <= 0 and is_silent and evidence.role not in _TOLD_BY_CELLS
    if is_unnamed or evidence.is_ambiguous:
        return f"its cells alone tell it ({'; '.join(evidence.reasons)})"
    return ""


FULL_DENIAL: Final = 1.0
DENIAL_MIN: Final = 3.0
"""Weights of words and of all from which a heading surely denies a flag: "Has Covenants?", but not "Cov"."""

QUALIFIERS: Final = frozenset(
    (
        "original",
        "extended",
        "modified",
        "springing",
        "expected",
        "closing",
        "entry",
        "target",
        "high",
        "low",
        "min",
        "minimum",
        "max",
        "dm",
        "unfunded",
        "ask",
        "offer",
    )
)
"""Words of a heading that may make its column another day's, an end of a range, or a margin by the price."""

PARENTS: Final = frozenset(("group",))
"""The same for a borrower's: parents and families, as `tokens_of` gives them."""

QUALIFIED: Final = ("borrower_name", "maturity_date", "spread", "price", "rating", "country", "all_in_rate")
"""How roles begin for which they do."""


def _qualifier(evidence: RoleEvidence, heading: str) -> str:
    """Return the word of an unlisted heading that makes it doubtful, or ""."""
    if evidence.words >= LISTED_WORDS or not evidence.role.startswith(QUALIFIED):
        return ""
    words = PARENTS if evidence.role == "borrower_name" else QUALIFIERS
    word = min(words & tokens_of(heading), default="")
    return f"its heading says {word!r}, and no better one is there" if word else ""


def _of_closing(evidence: RoleEvidence, column: int, texts: Mapping[int, str]) -> str:
    """Return why a closing balance without an opening one is doubtful, or ""."""
    is_closing = evidence.role == "par_value" and "closing" in tokens_of(texts.get(column, ""))
    return "" if not is_closing or any(map(opens, texts.values())) else "it may be of the day the deal closed"


def _without_unsettled(evidence: RoleEvidence, targets: list[str], texts: Mapping[int, str]) -> str:
    """Return why settled par is doubtful beside what is unsettled, or ""."""
    is_settled = evidence.role == "par_settled" and "par_value" in targets
    has_rest = is_settled and any("unsettled" in tokens_of(text) for text in texts.values())
    return "it has what is settled, and another column what is not" if has_rest else ""


def _equivalent(evidence: RoleEvidence, heading: str) -> str:
    """Return why an equivalent of what no word says is doubtful, or ""."""
    words = tokens_of(heading)
    is_open = evidence.role == "par_value" and "equivalent" in words and OF_AMOUNTS.isdisjoint(words - {"amount"})
    return "its heading does not say whether it is par or a market value in that currency" if is_open else ""


def _rival(sheet: Sheet, header: HeaderMatch, targets: list[str], column: int) -> str:
    """Return why another column could feed the field as well; "" without one."""
    evidence = header.evidence[column]
    for target in targets:
        for place in header.columns.get(target, ()):
            rival = header.evidence.get(place)
            if place == column or rival is None or rival.role != evidence.role or place in header.demoted:
                continue
            if _says_less(rival, *(header.texts.get(at, "") for at in (place, column))):
                continue
            is_near = (
                max(evidence.score, rival.score) < LISTED_WORDS and abs(evidence.score - rival.score) < AMBIGUOUS_MARGIN
            )
            is_near = is_near or _is_another_part(evidence.role, *(header.texts.get(at, "") for at in (column, place)))
            is_near = is_near or _is_of_another_basis(header, column, place)
            is_near = is_near or (evidence.role == "par_value" and _are_alike(sheet, header.row + 1, column, place))
            is_near = is_near or {column, place} <= header.undated or _are_called_alike(header, column, place)
            if is_near and not _are_copies(sheet, header.row + 1, column, place):
                heading = " ".join(header.texts.get(place, "").split())
                return f"column {heading or place + 1!r} could as well be meant"
    return ""


LESSER: Final = frozenset(("minimum", "unfunded"))
"""Words of a spread's heading that leave a spread without them free of doubt."""


def _says_less(rival: RoleEvidence, heading: str, better: str) -> bool:
    """Return whether a heading says "minimum" or so, and a better one not."""
    return rival.role == "spread" and bool(LESSER & tokens_of(heading)) and LESSER.isdisjoint(tokens_of(better))


PARTS: Final = frozenset(("pik", "cash", "capitalize", "capitalised"))
"""Words of a heading that say which part of an amount or a rate its column has, or has not."""

OF_PARTS: Final = ("par_value", "spread", "all_in_rate")


def _is_another_part(role: str, heading: str, rival: str) -> bool:
    """Return whether two columns of a field are with and without interest in kind."""
    return role in OF_PARTS and not PARTS.isdisjoint(tokens_of(heading) | tokens_of(rival))


def _is_of_another_basis(header: HeaderMatch, column: int, place: int) -> bool:
    """Return whether two columns of purchase prices are traded and settled ones."""
    words = [tokens_of(header.texts.get(at, "")) for at in (column, place)]
    is_price = header.evidence[column].role == "purchase_price"
    return is_price and all(any(basis in own for own in words) for basis in ("traded", "settled"))


def _are_called_alike(header: HeaderMatch, column: int, place: int) -> bool:
    """Return whether two columns have one heading: their groups say what none knows."""
    first, second = (key(header.texts.get(at, "")) for at in (column, place))
    return bool(first) and first == second


def _are_alike(sheet: Sheet, first: int, first_place: int, second_place: int) -> bool:
    """Return whether two columns have the same amounts on some rows.

    One of them may be in another currency.
    """
    figures = [
        features(sheet, sheet.columns[place], first, sheet.row_count).numbers for place in (first_place, second_place)
    ]
    both = ~np.isnan(figures[0]) & ~np.isnan(figures[1])
    count = int(np.count_nonzero(both))
    return count > 0 and int(np.count_nonzero(both & (figures[0] == figures[1]))) >= ALIKE_SHARE * count


ALIKE_SHARE: Final = 0.5
"""Share of equal amounts from which two columns could both be par."""


def _are_copies(sheet: Sheet, first: int, first_place: int, second_place: int) -> bool:
    """Return whether two columns say the same in the first rows below the header."""
    columns = [sheet.columns[place] for place in (first_place, second_place)]
    last = min(sheet.row_count, first + COPY_ROWS)
    parts = [column.span(max(first, column.start), max(first, min(last, column.stop))) for column in columns if column]
    return len(parts) == 2 and all(
        np.array_equal(*(getattr(part, name) for part in parts)) for name in ("kinds", "numbers", "codes")
    )


COPY_ROWS: Final = 300
"""Rows that tell whether two columns say the same."""
