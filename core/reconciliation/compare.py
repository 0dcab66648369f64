"""Paired loans to discrepancies, in the fields asked for and those always."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import category_cells, text_cells
from core.portfolio.model.ratings import DEFAULTED, RATING_FIELDS
from core.reconciliation import _compare, _match, _prints
from core.reconciliation.match import Keys, LoanPairs, Rows
from core.reconciliation.rules import (
    ALWAYS,
    FIELD_CODE,
    ISSUE_TYPES,
    ROUNDING_DECIMALS,
    RULES,
    SEVERITIES,
    IssueType,
    Rule,
    Severity,
)
from core.reconciliation.side import Side
from core.threads import Threads

Kind = Literal["number", "rating", "name", "text"]
Column = TypeVar("Column")

_KINDS: Final[dict[str, Kind]] = {
    "par_value": "number",
    "price": "number",
    "spread": "number",
    "maturity_date": "number",
    "all_in_rate": "number",
    **dict.fromkeys(RATING_FIELDS, "rating"),
    "base_rate": "name",
    "industry": "name",
    "borrower_name": "text",
    "cusip": "text",
    "loanx_id": "text",
    "isin": "text",
}

_SOUND: Final = {"cusip": _match.CUSIP, "loanx_id": _match.LOANX, "isin": _match.ISIN}
_RANK_FIRST, _RANK_LAST = 1, DEFAULTED
_CODE: Final[dict[Severity | None, int]] = {None: 0}
_CODE.update({severity: code for code, severity in enumerate(SEVERITIES, 1)})
_TYPE: Final = {issue_type: code for code, issue_type in enumerate(ISSUE_TYPES)}

Severities = NDArray[np.uint8]


@dataclass
class Discrepancies:
    """Discrepancies as columns.

    Rows of the tape and the portfolio (-1: none), field, severity and type as codes.
    """

    tape_rows: list[Rows] = field(default_factory=list)
    book_rows: list[Rows] = field(default_factory=list)
    fields: list[NDArray[np.uint8]] = field(default_factory=list)
    severities: list[Severities] = field(default_factory=list)
    types: list[NDArray[np.uint8]] = field(default_factory=list)

    def add(self, name: str, issue_type: IssueType, tape_rows: Rows, book_rows: Rows, severities: Severities) -> None:
        """Take down what has a severity."""
        at = np.flatnonzero(severities)
        if len(at):
            self.tape_rows.append(tape_rows[at])
            self.book_rows.append(book_rows[at])
            self.fields.append(np.full(len(at), FIELD_CODE[name], np.uint8))
            self.severities.append(severities[at])
            self.types.append(np.full(len(at), _TYPE[issue_type], np.uint8))


def compared_fields(tape: Side, book: Side, rules: frozenset[str]) -> tuple[dict[str, Rule], dict[str, str]]:
    """Return the fields that both sides have, with their rules, and why the others asked for are left out.

    The deal's own rating is compared where no agency's is: it is one of theirs, and a difference would come twice.
    Of names and identifiers only that the portfolio has none is reported: trustees' tapes often lack one of the three.
    """
    fields: dict[str, Rule] = {}
    missing: dict[str, str] = {}
    for rule in (*(RULES[name] for name in RULES if name in rules), ALWAYS["borrower_name"], ALWAYS["identifier"]):
        for name in rule.fields:
            lacking = [side.name for side in (tape, book) if name in _KINDS and not _has(side, name)]
            if name not in _KINDS or (name == "rating" and any(agency in fields for agency in RATING_FIELDS)):
                continue
            if not lacking:
                fields[name] = rule
            elif lacking == [book.name] or (rule.name in RULES and (len(lacking) == 1 or name not in RATING_FIELDS)):
                missing[name] = (
                    f"the {' and the '.join(lacking)} {'has' if len(lacking) == 1 else 'have'} no such column"
                )
    if "rating" in rules and not any(name in fields or name in missing for name in RATING_FIELDS):
        missing["rating"] = "the tape and the portfolio have no column of ratings"
    return fields, missing


def _has(side: Side, name: str) -> bool:
    portfolio, kind = side.portfolio, _KINDS[name]
    if kind == "number":
        return name in portfolio.numbers
    return name in portfolio.ranks if kind == "rating" else name in portfolio.names


def _both(theirs: Column | None, ours: Column | None) -> tuple[Column, Column]:
    """Return a column of both sides that has been seen to be there."""
    assert theirs is not None
    assert ours is not None
    return theirs, ours


def fingerprints(side: Side, fields: Mapping[str, Rule], seed: int) -> Keys:
    """Return a number for each loan that differs between loans that differ in any of the fields, or in par."""
    numbers, states, texts = [], [], []
    for name in dict.fromkeys((*fields, "par_value")):
        kind = _KINDS[name]
        if kind == "number":
            numbers.append(side.numbers(name))
        elif kind == "rating":
            states.append(side.states(name))
        else:
            column = side.column(name)
            texts.append(None if column is None else (column.codes, column.text.offsets, column.text.data))
    return _prints.fingerprints(side.row_count, _there(numbers), _there(texts), _there(states), seed)


def _there(columns: list[Column | None]) -> list[Column]:
    return [column for column in columns if column is not None]


def compare(
    tape: Side,
    book: Side,
    matched: LoanPairs,
    fields: Mapping[str, Rule],
    tolerances: Mapping[str, float],
    threads: Threads,
    *,
    missing_loans: bool,
) -> Discrepancies:
    """Every discrepancy of two matched sides, in no particular order.

    Args:
        matched: pairs whose fingerprints over these fields agree are not looked at.
        fields: what both sides have, as `compared_fields` says.
        missing_loans: tell loans without a partner.
    """
    discrepancies = Discrepancies()
    rows = matched.differing
    partners = matched.tape_pair[rows]

    def severities(name: str, rule: Rule) -> Severities:
        return _severities(tape, book, name, rule, rows, partners, tolerances.get(rule.name, 0.0))

    for name, of_field in zip(fields, threads.map(severities, fields.keys(), fields.values()), strict=True):
        discrepancies.add(name, "value_mismatch", rows, partners, of_field)
    _forget_embedded(tape, book, discrepancies)
    if missing_loans:
        _add_missing(tape, book, matched, discrepancies)
    _add_conflicting_lots(tape, book, matched, discrepancies)
    _add_shared_keys(matched, discrepancies)
    return discrepancies


def _severities(
    tape: Side, book: Side, name: str, rule: Rule, rows: Rows, partners: Rows, tolerance: float
) -> Severities:
    kind = _KINDS[name]
    severity, lesser = _CODE[rule.severity], _CODE[rule.lesser]
    if kind == "number":
        numbers = _both(tape.numbers(name), book.numbers(name))
        return _compare.number_severities(
            *numbers,
            rows,
            partners,
            round(tolerance / rule.scale, ROUNDING_DECIMALS),
            rule.unit == "days",
            severity,
            np.array([band.above for band in rule.bands], np.float64),
            np.array([band.inclusive for band in rule.bands], np.uint8),
            np.array([_CODE[band.severity] for band in rule.bands], np.uint8),
        )
    if kind == "rating":
        states = _both(tape.states(name), book.states(name))
        return _compare.state_severities(*states, rows, partners, _RANK_FIRST, _RANK_LAST, severity, lesser)
    if kind == "name":
        return _name_severities(tape, book, name, rows, partners, severity, lesser)
    return _text_severities(tape, book, name, rows, partners, severity, lesser)


@dataclass(frozen=True, slots=True)
class _Names:
    """What the strings of one text column mean beside the other side's, and at the end what blank does."""

    same: Rows
    """A number that equal names share."""
    alike: Rows
    """A number that names of one family share."""
    open: NDArray[np.uint8]
    """1 for a name that may stand for any of its family."""


def _name_severities(
    tape: Side, book: Side, name: str, rows: Rows, partners: Rows, severity: int, lesser: int
) -> Severities:
    theirs, ours = _both(tape.column(name), book.column(name))
    if not len(rows):
        return np.zeros(0, np.uint8)
    families = _rate_families if name == "base_rate" else _industry_families
    t, b = families(theirs.text.strings(), ours.text.strings())
    return _compare.name_severities(
        theirs.codes, ours.codes, rows, partners, t.same, b.same, t.alike, b.alike, t.open, b.open, severity, lesser
    )


def _industry_families(theirs: list[str], ours: list[str]) -> tuple[_Names, _Names]:
    """Industries are of one family when they differ in spelling only."""
    names = category_cells.industries([*theirs, *ours])
    return _name_tables(theirs, ours, names, [True] * len(names))


def _rate_families(theirs: list[str], ours: list[str]) -> tuple[_Names, _Names]:
    """Return reference rates are of one family whatever their tenor.

    Without one, a rate may be any of them.
    """
    parts = [_TENOR.fullmatch(rate) for rate in (*theirs, *ours)]
    families = [rate if part is None else part[1] for rate, part in zip((*theirs, *ours), parts, strict=True)]
    return _name_tables(theirs, ours, families, [part is None for part in parts])


_TENOR: Final = re.compile(r"(.+)-\d{1,2}M")


def _name_tables(theirs: list[str], ours: list[str], families: list[str], is_open: list[bool]) -> tuple[_Names, _Names]:
    cut = len(theirs)
    same, alike = _number([*theirs, *ours]), _number(families)
    return (
        _Names(_end(same[:cut], -1), _end(alike[:cut], -1), np.array([*is_open[:cut], False], np.uint8)),
        _Names(_end(same[cut:], -1), _end(alike[cut:], -1), np.array([*is_open[cut:], False], np.uint8)),
    )


def _end(numbers: list[int], last: int) -> Rows:
    return np.array([*numbers, last], np.int32)


def _number(texts: list[str]) -> list[int]:
    """Return a number for each text, equal for equal ones."""
    number: dict[str, int] = {}
    return [number.setdefault(text, len(number)) for text in texts]


def _text_severities(
    tape: Side, book: Side, name: str, rows: Rows, partners: Rows, severity: int, lesser: int
) -> Severities:
    """Names and identifiers that differ as written.

    An identifier that one side does not have is no difference.
    """
    theirs, ours = _both(tape.column(name), book.column(name))
    kind = _SOUND.get(name)
    differs = _compare.text_differs(
        theirs.codes,
        theirs.text.offsets,
        theirs.text.data,
        ours.codes,
        ours.text.offsets,
        ours.text.data,
        rows,
        partners,
        kind is None,
    )
    if kind is None:
        return differs * np.uint8(severity)
    at = np.flatnonzero(differs)
    if len(at):  # what differs in blanks, hyphens and other signs alone is the same identifier
        left, right = text_cells.bare(theirs.text), text_cells.bare(ours.text)
        differs[at] = _compare.text_differs(
            theirs.codes, left.offsets, left.data, ours.codes, right.offsets, right.data, rows[at], partners[at], False
        )
        at = np.flatnonzero(differs)
    sound = (_sound_keys(tape, name, kind, rows[at]) != 0) & (_sound_keys(book, name, kind, partners[at]) != 0)
    differs[at] = np.where(sound, severity, lesser)
    return differs


def _sound_keys(side: Side, name: str, kind: int, rows: Rows) -> Keys:
    """Return the keys of some rows' identifiers, 0 where one fails its check."""
    column = side.column(name)
    if column is None:
        return np.zeros(len(rows), np.uint64)
    return _match.identifier_keys(column.text.offsets, column.text.data, column.codes[rows], kind)


def _forget_embedded(tape: Side, book: Side, discrepancies: Discrepancies) -> None:
    """Drop ISINs that differ only as the CUSIPs in them do, which are reported already."""
    of_isin = FIELD_CODE["isin"]
    for at, fields in enumerate(discrepancies.fields):
        if fields[0] != of_isin:
            continue
        tape_rows, book_rows = discrepancies.tape_rows[at], discrepancies.book_rows[at]
        cusips = [
            _sound_keys(side, "cusip", _match.CUSIP, rows) for side, rows in ((tape, tape_rows), (book, book_rows))
        ]
        repeats = np.ones(len(tape_rows), np.bool_)
        for side, rows, own in ((tape, tape_rows, cusips[0]), (book, book_rows, cusips[1])):
            repeats &= (own != 0) & (_sound_keys(side, "isin", _match.EMBEDDED, rows) == own)
        keep = np.flatnonzero(~repeats)
        for column in (
            discrepancies.tape_rows,
            discrepancies.book_rows,
            discrepancies.fields,
            discrepancies.severities,
            discrepancies.types,
        ):
            column[at] = column[at][keep]  # type: ignore[assignment]


# ---- loans on one side, and loans that are several -----------------------------------------------------------------


def _add_missing(tape: Side, book: Side, matched: LoanPairs, discrepancies: Discrepancies) -> None:
    rows = np.flatnonzero(matched.tape_pair < 0).astype(np.int32)
    nobody = np.full(len(rows), -1, np.int32)
    discrepancies.add("missing_loan", "missing_in_internal", rows, nobody, _missing_severities(tape, rows))
    rows = np.flatnonzero(matched.book_pair < 0).astype(np.int32)
    nobody = np.full(len(rows), -1, np.int32)
    discrepancies.add("missing_loan", "missing_in_trustee", nobody, rows, _missing_severities(book, rows))


def _missing_severities(side: Side, rows: Rows) -> Severities:
    """By the size of the par, whatever its sign; a blank one is the least."""
    rule = RULES["missing_loan"]
    severities = np.full(len(rows), _CODE[rule.severity], np.uint8)
    par = side.numbers("par_value")
    if par is not None:
        size = np.round(np.abs(par[rows]), ROUNDING_DECIMALS)
        for band in reversed(rule.bands):
            severities[size >= band.above if band.inclusive else size > band.above] = _CODE[band.severity]
    return severities


def _add_conflicting_lots(tape: Side, book: Side, matched: LoanPairs, discrepancies: Discrepancies) -> None:
    """Positions whose lots disagree.

    Not where both sides have the same from as many lots: nothing hides there.
    """
    theirs, ours = tape.portfolio.conflicting, book.portfolio.conflicting
    if theirs is not None and theirs.any():
        rows = np.flatnonzero(theirs).astype(np.int32)
        partners = matched.tape_pair[rows]
        same = np.zeros(len(rows), np.bool_)
        paired = np.flatnonzero(partners >= 0)
        if ours is not None:
            at, partner_rows = rows[paired], partners[paired]
            equal = matched.prints[0][at] == matched.prints[1][partner_rows]
            same[paired] = ours[partner_rows] & equal & (_lots(tape, at) == _lots(book, partner_rows))
        _add_duplicates("lots", rows[~same], partners[~same], discrepancies)
    if ours is not None and ours.any():
        rows = np.flatnonzero(ours).astype(np.int32)
        partners = matched.book_pair[rows]
        is_doubtful = np.zeros(len(rows), np.bool_) if theirs is None else (partners >= 0) & theirs[partners]
        _add_duplicates("lots", partners[~is_doubtful], rows[~is_doubtful], discrepancies)


def _lots(side: Side, rows: Rows) -> NDArray[np.int32]:
    lots = side.portfolio.lots
    return np.ones(len(rows), np.int32) if lots is None else lots[rows]


def _add_shared_keys(matched: LoanPairs, discrepancies: Discrepancies) -> None:
    """Loans whose key several loans of a side share, each once."""
    tape_rows = np.unique(np.concatenate([rows for rows, *_ in matched.shared.tape] or [np.zeros(0, np.int32)]))
    _add_duplicates("duplicates", tape_rows, matched.tape_pair[tape_rows], discrepancies)
    book_rows = np.unique(np.concatenate([rows for rows, *_ in matched.shared.book] or [np.zeros(0, np.int32)]))
    partners = matched.book_pair[book_rows]
    rest = ~np.isin(partners, tape_rows)
    _add_duplicates("duplicates", partners[rest], book_rows[rest], discrepancies)


def _add_duplicates(name: str, tape_rows: Rows, book_rows: Rows, discrepancies: Discrepancies) -> None:
    severities = np.full(len(tape_rows), _CODE[ALWAYS["duplicate"].severity], np.uint8)
    discrepancies.add(name, "duplicate_position", tape_rows, book_rows, severities)
