"""Give loans borrowers, liens and industries that stand in other columns."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Text
from core.portfolio.cells.category_cells import lien
from core.portfolio.cells.loans import Loans
from core.portfolio.cells.string_pool import decode, key, spread_out
from core.portfolio.cells.text.footnotes import without_marks
from core.portfolio.cells.text_cells import TextColumn, pool_of, subset
from core.portfolio.model.fields import Lien
from core.portfolio.model.notes import DataWarning
from core.portfolio.sheets.columns.vocabulary import heading
from core.portfolio.sheets.rows.vocabulary import has_instrument, only_instrument, without_figures
from core.words import agreed, counted

TEXTS_MAX: Final = 50_000
"""Distinct names that are split; more of them are no names of a pool's facilities."""

LENGTH_MAX: Final = 300
"""Characters of a name that is split."""

PARTS_MAX: Final = 12
"""Parts of a name between its separators."""

SPLIT_SHARE: Final = 0.6
"""Share of the loans whose name parts at a separator before the words of an instrument, from which all may."""

BEHIND_SHARE: Final = 0.8
"""Share of the loans whose name ends with the words of an instrument, where no separator parts them."""

BLANK_SHARE: Final = 0.5
"""Share of loans without a borrower from which no column names borrowers: a page of some obligors may name a few."""

SAMPLE_ROWS: Final = 500
"""Loans whose names tell whether it is worth while to look at all."""

ALIKE_SHARE: Final = 0.05
FEW_SHARE: Final = 0.5
"""Loans whose borrower is that in the facility's name, and borrowers for each of those, below which a column of
borrowers is another one: of sponsors, of ratings."""

SEPARATORS: Final = (" - ", " \u2013 ", " \u2014 ", " / ", " | ", ": ", "; ", ", ")
"""What stands between a borrower and its facility, the most usual first."""

_COUPON: Final = re.compile(
    r"\d{1,2}\.\d{1,5}\b|\d{1,2}(?:\.\d{1,5})?\s?%|\b\d{1,2}/\d{2,4}\b|\b\d{1,2}[A-Za-z]{3}\d{2,4}\b"
)
"""A bond's coupon, or the day on which it is due."""

_FIGURES: Final = re.compile(r"\(\d{1,2}\)$")
"""A mark that is no letter of a tranche."""

_LEGAL: Final = frozenset(("llc", "lp", "llp", "limited"))
"""Legal forms that stand in names of shares, too."""

Pair = tuple[str, str]
"""A borrower and its facility."""

NAMES: Final = ("borrower_name", "facility_name")
"""What one column may have both of."""


def split_names(loans: Loans) -> None:
    """Split names of both borrower and facility: "Acme Corp - Term Loan B".

    What parts them is consistent over the column: one separator, with the words of an instrument behind it; or, in a
    column of facilities, no separator and such words at the end. A name that does not part is the borrower's as it
    stands.
    """
    for target, counterpart in (NAMES[::-1], NAMES):
        column = loans.texts.get(target)
        if column is None or not loans.row_count or not (_says_little(loans, counterpart) or _may_have_both(column)):
            continue
        both = subset(column, np.arange(loans.row_count))
        if len(both.text) > TEXTS_MAX:
            continue
        strings = both.text.strings()
        weights = np.bincount(both.codes[both.codes >= 0], minlength=len(strings))
        pairs, separator = _pairs(strings, weights, by_words=target == "facility_name")
        if pairs and (
            _says_little(loans, counterpart) or counterpart == "facility_name" or _is_another(loans, both, pairs)
        ):
            _split(loans, target, both, pairs, separator)
            return


def _split(loans: Loans, target: str, both: TextColumn, pairs: dict[str, Pair], separator: str) -> None:
    """Give loans borrowers and facilities of a column that has both, and warn."""
    strings = both.text.strings()
    weights = np.bincount(both.codes[both.codes >= 0], minlength=len(strings)).tolist()
    had_other = not _says_little(loans, "borrower_name") and target == "facility_name"
    names = [without_marks(pairs.get(text, (text, ""))[0]) for text in strings]
    rest = _strip_marks([pairs[text][1] if text in pairs else None for text in strings])
    loans.texts["borrower_name"] = _rename(names, both.codes)
    if target == "facility_name" or _says_little(loans, "facility_name"):
        loans.texts["facility_name"] = _rename(rest, both.codes)
    whole = sum(count for text, count in zip(strings, weights, strict=True) if text not in pairs)
    _note(loans, target, sum(weights) - whole, whole, separator)
    if had_other:
        count = loans.row_count
        message = (
            f"The borrowers of {counted(count, 'loan')} are those in the names of facilities: a column said others."
        )
        loans.notes.warnings.append(DataWarning("names_not_split", message, count, ("borrower_name",)))


def _strip_marks(facilities: list[str | None]) -> list[str | None]:
    """Strip footnote marks of facilities' names whose bare name stands elsewhere.

    A (B) may be a tranche.
    """
    known = {*facilities}
    bare = [text if text is None else without_marks(text) for text in facilities]
    return [
        own if own in known or _FIGURES.search(text or "") else text for own, text in zip(bare, facilities, strict=True)
    ]


def _says_little(loans: Loans, target: str) -> bool:
    """Return whether most loans have no such name."""
    column = loans.texts.get(target)
    blank = loans.row_count if column is None else int(np.count_nonzero(column.codes < 0))
    return blank >= BLANK_SHARE * loans.row_count


def _may_have_both(column: TextColumn) -> bool:
    """Return whether one separator parts most of the first names."""
    codes = np.unique(column.codes[:SAMPLE_ROWS])
    texts = decode(column.text, codes[codes >= 0])
    return any(sum(separator in text for text in texts) >= SPLIT_SHARE * len(texts) > 0 for separator in SEPARATORS)


def _is_another(loans: Loans, both: TextColumn, pairs: dict[str, Pair]) -> bool:
    """Return whether the column of borrowers says something else, such as sponsors.

    It has few words for many borrowers, and none of theirs.
    """
    column = subset(loans.texts["borrower_name"], np.arange(loans.row_count))
    own = [key(text) for text in column.text.strings()]
    borrowers = [key(pairs[text][0]) if text in pairs else "" for text in both.text.strings()]
    alike = sum(
        bool(borrowers[both_code]) and own[code] == borrowers[both_code]
        for code, both_code in zip(column.codes.tolist(), both.codes.tolist(), strict=True)
        if code >= 0 and both_code >= 0
    )
    return alike <= ALIKE_SHARE * loans.row_count and len(set(own)) < FEW_SHARE * len({*borrowers} - {""})


def _rename(strings: list[str | None] | list[str], codes: NDArray[np.int32]) -> TextColumn:
    """Return a column of other strings under its codes."""
    own, pool = pool_of(strings)
    return TextColumn(spread_out(own, -1, codes), pool)


_WHAT: Final = {"facility_name": "facilities", "borrower_name": "borrowers"}


def _note(loans: Loans, target: str, count: int, whole: int, separator: str) -> None:
    """Warn of the split, and of names that did not split; a borrower is there now."""
    notes = loans.notes
    notes.missing_required = [name for name in notes.missing_required if name != "borrower_name"]
    for places in (notes.matched_columns, loans.source_cells):
        if target in places:
            own = {} if target == "facility_name" else {name: places[name] for name in NAMES[1:] if name in places}
            places |= dict.fromkeys(NAMES, places[target]) | own
    at = f"at {separator.strip()!r}" if separator else "before the words of an instrument"
    message = (
        f"{counted(count, 'name')} of {_WHAT[target]} {agreed(count, 'is/are')} split {at}: borrower and facility."
    )
    notes.warnings.append(DataWarning("names_split", message, count))
    if whole or not separator:
        doubtful = whole or count
        text = "does/do not part: the whole counts" if whole else "is/are parted by words alone: the first part counts"
        message = f"{counted(doubtful, 'name')} of {_WHAT[target]} {agreed(doubtful, text)} as the borrower."
        notes.warnings.append(DataWarning("names_not_split", message, doubtful, ("borrower_name",)))


def _pairs(strings: list[str], weights: NDArray[np.int64], *, by_words: bool) -> tuple[dict[str, Pair], str]:
    """Return borrower and facility by name, and the separator; nothing for too few."""
    total = int(weights.sum())
    for separator in SEPARATORS:
        pairs = {text: pair for text in strings if (pair := _split_name(text, separator)) is not None}
        if _share(pairs, strings, weights) >= SPLIT_SHARE * total:
            return _complete_pairs(pairs, strings, separator), separator
    if not by_words:
        return {}, ""
    pairs = {text: pair for text in strings if (pair := _by_words(text)) is not None}
    return (pairs, "") if _share(pairs, strings, weights) >= BEHIND_SHARE * total else ({}, "")


def _share(pairs: dict[str, Pair], strings: list[str], weights: NDArray[np.int64]) -> int:
    return sum(count for text, count in zip(strings, weights.tolist(), strict=True) if text in pairs)


def _split_name(text: str, separator: str) -> Pair | None:
    """Split a name from behind: parts that name an instrument are the facility's."""
    parts = text.split(separator)
    if not 1 < len(parts) <= PARTS_MAX or len(text) > LENGTH_MAX:
        return None
    at, is_known = len(parts), False
    while at > 1:
        part = parts[at - 1]
        names = _names_instrument(part)
        if not names and not _says_nothing_else(part):
            break
        is_known |= names
        at -= 1
    if not is_known or at == len(parts):
        return None
    return _pair(parts, at, separator)


def _pair(parts: list[str], at: int, separator: str) -> Pair | None:
    borrower = separator.join(parts[:at]).strip()
    if key(parts[0]) in {key(part) for part in parts[1:at]}:  # the bond's name begins with its issuer's again
        borrower = parts[0].strip()
    return (borrower, separator.join(parts[at:]).strip()) if key(borrower) else None


def _names_instrument(part: str) -> bool:
    return has_instrument(key(part)) or _COUPON.search(part) is not None


def _says_nothing_else(part: str) -> bool:
    """Return whether a part has only words beside an instrument: "EUR", "2023", "B3"."""
    return only_instrument(f"{key(part)} loan")


def _complete_pairs(pairs: dict[str, Pair], strings: list[str], separator: str) -> dict[str, Pair]:
    """Add names that part once at the separator, or begin with another's borrower."""
    known = {key(borrower) for borrower, _ in pairs.values()}
    for text in strings:
        parts = text.split(separator)
        if text not in pairs and len(text) <= LENGTH_MAX and (len(parts) == 2 or key(parts[0]) in known):
            pair = _pair([parts[0], separator.join(parts[1:])], 1, separator) if len(parts) > 1 else None
            if pair is not None:
                pairs[text] = pair
    return pairs


def _by_words(text: str) -> Pair | None:
    """Split a name before the words of an instrument: "Acme Corp Term Loan B"."""
    words = text.split()
    if len(text) > LENGTH_MAX:
        return None
    at = len(words)
    while at and key(words[at - 1]) not in _LEGAL and _says_nothing_else(words[at - 1]):
        at -= 1
    behind = " ".join(words[at:])
    if not 0 < at < len(words) or not has_instrument(key(behind)):
        return None
    return " ".join(words[:at]), behind


_CONTINUED: Final = re.compile(r"[\s\u2010-\u2015-]*[(\[]?(?:continued|cont['\u2019.]?d?\.?)[)\]]?$", re.IGNORECASE)
_CONTINUED_BYTES: Final = (b"ontinued", b"ONTINUED", b"ont'd", b"ont\xe2\x80\x99d", b"(cont", b"(Cont", b"(CONT")


def without_continued(loans: Loans) -> None:
    """Take "(continued)" off borrowers: a heading stands again on the next page."""
    borrower = loans.texts.get("borrower_name")
    if borrower is None:
        return
    data = borrower.text.data.tobytes()
    if all(data.find(sign) < 0 for sign in _CONTINUED_BYTES):
        return
    column = subset(borrower, np.arange(loans.row_count))
    strings = [_CONTINUED.sub("", text) or text if len(text) <= LENGTH_MAX else text for text in column.text.strings()]
    loans.texts["borrower_name"] = _rename(strings, column.codes)


def industries_of_headings(loans: Loans, codes: NDArray[np.int32], text: Text) -> None:
    """Give loans the industry that the heading of their group names, and tell of it.

    Args:
        codes: of the heading's text for each loan, -1 without.
        text: the pool of the sheet.
    """
    column = subset(TextColumn(codes, text), np.arange(len(codes)))
    loans.texts["industry"] = _rename([without_figures(string) for string in column.text.strings()], column.codes)
    names = Counter(loans.texts["industry"].codes[codes >= 0].tolist())
    blank = int(np.count_nonzero(codes < 0))
    message = f"No column names industries; {counted(len(names), 'heading')} of groups of loans do"
    message += f", and {counted(blank, 'loan', 'stands/stand')} under none." if blank else "."
    loans.notes.warnings.append(DataWarning("industry_of_headings", message, loans.row_count))


_LIEN_WORDS: Final = re.compile(
    r"\b(?:(?:first|1st|second|2nd|third|3rd) lien|[12] ?l|unitranche|senior secured|unsecured|subordinated"
    r"|mezzanine)\b"
)
"""Words of a facility's name that say its lien: "term loan" and "senior loan" do not."""

_EXPLICIT_LIEN: Final = re.compile(r"\b(?:(?:first|1st) lien|1 ?l|unitranche)\b")
"""Those that say it is the first one, in so many words."""

_JUNIOR_LIEN: Final = re.compile(r"\b(?:second|2nd|third|3rd) lien\b")
"""Words of a borrower's name that say the lien: "Mezzanine Floors" does not."""

_JUNIOR: Final = (Lien.SECOND_LIEN, Lien.UNSECURED)

LIEN_SHARE: Final = 0.9
"""Share of the loans whose facility's name says the lien, from which names stand in for a column of liens."""


def liens_of_names(loans: Loans) -> None:
    """Take liens from the names of facilities: "Second Lien Term Loan"; and warn.

    Junior ones where a column says no more than the kind of asset, all where there is no column.
    """
    column = loans.texts.get("facility_name")
    if column is None or not loans.row_count or (loans.lien is not None and not _says_kind(loans)):
        return
    liens = _liens_by_name(column, loans.row_count)
    if liens is None:
        return
    if loans.lien is None:
        if np.count_nonzero(liens != Lien.BLANK) < LIEN_SHARE * loans.row_count:
            return
        changed, loans.lien = liens != Lien.BLANK, liens
        loans.notes.lien_blank_rows = int(np.count_nonzero(liens == Lien.BLANK))
    else:
        changed = np.isin(liens, _JUNIOR) & (loans.lien == Lien.FIRST_LIEN)
        loans.lien = np.where(changed, liens, loans.lien)
    _tell_of_liens(loans, int(np.count_nonzero(changed)))


def prefer_liens_of_names(loans: Loans, of_group: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Take liens from the names of facilities before those of headings; and warn.

    "Senior secured" alone does not overrule a junior lien: such loans are secured, too.

    Args:
        of_group: which loans have the lien of a heading.

    Returns:
        Which of them keep it.
    """
    column = loans.texts.get("facility_name", loans.texts.get("borrower_name"))
    words = _LIEN_WORDS if "facility_name" in loans.texts else _JUNIOR_LIEN
    liens = None if column is None or not loans.row_count else _liens_by_name(column, loans.row_count, words)
    if column is None or liens is None or loans.lien is None:
        return of_group
    explicit = _liens_by_name(column, loans.row_count, _EXPLICIT_LIEN)
    is_vague = (loans.lien == Lien.SECOND_LIEN) & (liens == Lien.FIRST_LIEN) & (explicit == Lien.BLANK)
    changed = (liens != Lien.BLANK) & ~is_vague
    loans.lien = np.where(changed, liens, loans.lien)
    loans.notes.lien_blank_rows = int(np.count_nonzero(loans.lien == Lien.BLANK))
    loans.notes.lien_unrecognised_rows = int(np.count_nonzero(loans.lien == Lien.OTHER))
    _tell_of_liens(loans, int(np.count_nonzero(changed)))
    return np.asarray(of_group & ~changed, np.bool_)


def refine_liens(loans: Loans) -> None:
    """Take junior liens from names of facilities where a yes or no leaves them open."""
    column = loans.texts.get("facility_name", loans.texts.get("borrower_name"))
    words = _LIEN_WORDS if "facility_name" in loans.texts else _JUNIOR_LIEN
    liens = None if column is None or not loans.row_count else _liens_by_name(column, loans.row_count, words)
    if liens is None or loans.lien is None:
        return
    changed = np.isin(loans.lien, (Lien.OTHER, Lien.FIRST_LIEN)) & np.isin(liens, _JUNIOR)
    loans.lien = np.where(changed, liens, loans.lien)
    loans.notes.lien_unrecognised_rows = int(np.count_nonzero(loans.lien == Lien.OTHER))
    _tell_of_liens(loans, int(np.count_nonzero(changed)))


def _liens_by_name(
    column: TextColumn, row_count: int, words: re.Pattern[str] = _LIEN_WORDS
) -> NDArray[np.uint8] | None:
    """Return the lien that each name says; None where there are too many names."""
    names = subset(column, np.arange(row_count))
    if len(names.text) > TEXTS_MAX:
        return None
    by_code = [_lien_of_name(text, words) for text in names.text.strings()]
    return spread_out(np.array(by_code, np.uint8), Lien.BLANK, names.codes)


def _tell_of_liens(loans: Loans, count: int) -> None:
    if count:
        words = agreed(count, "name of its facility/names of their facilities")
        message = f"The lien of {counted(count, 'loan')} is by the {words}."
        loans.notes.warnings.append(DataWarning("lien_of_names", message, count))


def _says_kind(loans: Loans) -> bool:
    """Return whether the column of liens is one of kinds of assets by its heading."""
    weights = heading(loans.notes.matched_columns.get("lien_type", "")).weights
    return weights.get("asset_type", 0.0) > weights.get("lien_type", 0.0)


def _lien_of_name(text: str, words: re.Pattern[str]) -> Lien:
    return lien(text) if len(text) <= LENGTH_MAX and words.search(key(text)) else Lien.BLANK
