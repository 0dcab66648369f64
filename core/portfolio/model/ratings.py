"""Rating symbols as ranks on one scale, rating factors, and recovery rates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, get_args

import numpy as np
from numpy.typing import NDArray

from core.portfolio.model.facts import Agency
from core.portfolio.model.fields import Lien
from core.remembered import remembered

RATING_FIELDS: Final = ("rating_agency_a", "rating_agency_b", "rating_agency_c", "rating")
"""Those of the agencies; the last one is the deal's own, which counts where no agency's rating is."""

SCALE_A: Final = (
    "Aaa", "Aa1", "Aa2", "Aa3", "A1", "A2", "A3", "Baa1", "Baa2", "Baa3", "Ba1", "Ba2", "Ba3", "B1", "B2", "B3",
    "Caa1", "Caa2", "Caa3", "Ca", "C",
)  # fmt: skip
"""Symbols of agency A by rank, 1 to 21; it has no symbol for default."""

SCALE_B: Final = (
    "AAA", "AA+", "AA", "AA-", "A+", "A", "A-", "BBB+", "BBB", "BBB-", "BB+", "BB", "BB-", "B+", "B", "B-",
    "CCC+", "CCC", "CCC-", "CC", "C", "D",
)  # fmt: skip
"""Symbols of agency B by rank, 1 to 22; SD counts as D."""

SCALE_C: Final = SCALE_B
"""Symbols of agency C by rank, 1 to 22; RD counts as D."""

DEFAULTED: Final = 22
"""The rank of D, SD and RD."""

MASKED: Final = 23
"""In the place of a rank: rated, and the rating is not shown."""

UNBUCKETED: Final = 24
"""In the place of a rank: rated by nobody, and in no CCC bucket all the same."""

CCC: Final = 17
"""The best rank of the Caa1 / CCC+ bucket."""

FACTORS: Final = (
    1, 10, 20, 40, 70, 120, 180, 260, 360, 610, 940, 1350, 1766, 2220, 2720, 3490, 4770, 6500, 8070, 10000, 10000,
    10000,
)  # fmt: skip
"""Rating factors by rank, 1 to 22 (the ten-year expected-loss factors of the CLO indentures)."""

UNRATED_FACTOR: Final = 8070
"""The factor of a loan without any rating: Caa3, the bottom rung of the derivation ladder."""

FACTOR: Final[NDArray[np.float64]] = np.array([UNRATED_FACTOR, *FACTORS], np.float64)
"""Factor by rank as an array of 23: `FACTOR[ranks]`; rank 0 (no rating) has the factor of Caa3."""
FACTOR.setflags(write=False)

RECOVERY: Final[NDArray[np.float64]] = np.array(
    [
        # senior secured loan, second lien or other loan, unsecured or bond
        [20, 5, 5],  # -3 notches or worse
        [30, 15, 15],
        [40, 25, 25],
        [45, 35, 30],  # 0
        [50, 45, 35],
        [60, 55, 45],  # +2 or better
    ],
    np.float64,
)
"""Recovery rate in percent by notch difference (row 3 is 0) and kind of claim."""
RECOVERY.setflags(write=False)

RECOVERY_DIP: Final = 50.0
"""Recovery rate of a loan to a debtor in possession, percent."""

_CLAIM: Final = np.zeros(max(Lien) + 1, np.intp)
_CLAIM[[Lien.SECOND_LIEN, Lien.OTHER]] = 1
_CLAIM[[Lien.UNSECURED, Lien.BOND]] = 2

_SYMBOLS: Final[dict[Agency, dict[str, int]]] = {
    "a": {symbol.upper(): rank for rank, symbol in enumerate(SCALE_A, 1)},
    "b": {symbol: rank for rank, symbol in enumerate(SCALE_B, 1)} | {"SD": DEFAULTED},
    "c": {symbol: rank for rank, symbol in enumerate(SCALE_C, 1)} | {"RD": DEFAULTED},
}

NOT_RATED: Final = frozenset(
    (
        "", "NR", "N/R", "WR", "W/R", "WD", "W/D", "N/A", "NA", "N.A.", "N.R.", "-", "--", "#N/A", "NONE",
        "NOT RATED", "UNRATED", "UNR", "N.R", "N / R", "NOT PUBLICLY RATED", "NO PUBLIC RATING", "UNRATED (PRIVATE)",
        "NOT RATED (PRIVATE)", "NIL",
        "WITHDRAWN", "NO RATING", "NOT AVAILABLE", "NOT APPLICABLE",
    )
)  # fmt: skip
"""What says that there is no rating, in upper case."""

_MASK: Final = re.compile(r"[*#\u2022]+|(?:N/?R|N\.R\.)\s*\*+")
MASK_WORDS: Final = frozenset(
    (
        "CONF", "CONF.", "CONFID", "CONFIDENTIAL", "PRIVATE", "PRIV", "PRIV.", "PVT", "PRIVATE RATING", "MASKED",
        "REDACTED", "HIDDEN", "SUPPRESSED", "WITHHELD", "UNDISCLOSED", "NOT DISCLOSED", "NON-PUBLIC", "NONPUBLIC",
        "NON PUBLIC", "NOT PUBLIC", "RESTRICTED", "CONFIDENTIAL RATING",
    )
)  # fmt: skip
"""What stands for a rating that its owner may not publish, in upper case; mostly that is one asterisk or several."""

MASK: Final = "***"
"""What a word of a column's own for a masked rating is read as."""

MASK_ROWS_MIN: Final = 2
"""Rows from which a word of a column of ratings that is no rating stands for a masked one."""

MASKS_MAX: Final = 3
"""Such words of a column; one of more of them is no column of ratings."""

MASK_LENGTH_MAX: Final = 20
"""Characters of such a word."""

KNOWN_SHARE: Final = 0.1
"""Share of a column's cells with something in them that are ratings, or say that there is none."""

_WATCH: Final = r"CREDITWATCH|WATCH|REVIEW|U/R|CWP|CWN|CW|RWN|RWP|RWE|RUR|UPG|DNG|UPGRADE|DOWNGRADE"
_OUTLOOK: Final = (
    rf"(?:{_WATCH}|OUTLOOK|UNDER|FOR|POSSIBLE|RATING|POSITIVE|NEGATIVE|STABLE|DEVELOPING|EVOLVING"
    r"|POS|NEG|STA|STBL|DEV|UNC|ON|UP|DOWN)"
)
_ON_WATCH: Final = re.compile(rf"\b(?:{_WATCH})\b")
_MARK: Final = re.compile(r"\*\s*([+-])")
_BETTER: Final = re.compile(r"\b(?:RWP|CWP|UPG|UPGRADE|POSITIVE|POS|UP)\b|\+[\s)]*$")
_WORSE: Final = re.compile(r"\b(?:RWN|CWN|DNG|DOWNGRADE|NEGATIVE|NEG|DOWN)\b|-[\s)]*$")
_KIND: Final = r"CFR|PDR|LTR|LT|IDR|ICR"
"""What of a borrower is rated, in short, before or behind a symbol."""
_SHAPE: Final = re.compile(
    rf"(?:\*\s*)?(?:(?:{_KIND})\b[\s:]*+)?"
    r"(?:\(P\)\s*)?"
    r"(?P<symbol>AAA|AA[123+-]?|A[123+-]?|BAA[123]|BA[123]|BBB[+-]?|BB[+-]?|B[123+-]?|CAA[123]|CA|CCC[+-]?|CC|C|SD|RD|D)"
    # Structured finance, default probability, public information, hybrid, credit estimate, expected, preliminary,
    # estimate, shadow, unsolicited.
    rf"(?:-PD|-CFR)?(?:\s*[(\[]?(?:{_KIND})\b[)\]]?)?"
    r"(?:\s*[(\[]?(?:SF|PI|HYB|CE|EXP|EST|PRELIM|SHADOW|ESTIMATE|[ESUP])[)\]]?){0,2}"
    r"\s*(?:/?\s*\*\s*[+-]?)?"
    rf"(?:[\s/,;()*+-]*+{_OUTLOOK}\b)*+[\s)/*+\u2020\u2021^-]*+"  # possessive: no text makes it backtrack
)
AGENCY_OF: Final[dict[str, Agency | None]] = {
    "rating": None,
    "rating_agency_a": "a",
    "rating_agency_b": "b",
    "rating_agency_c": "c",
    "facility_rating_agency_a": "a",
} | {
    f"rating_agency_{agency}_{kind}": agency
    for agency in get_args(Agency)
    for kind in ("derived", "final", "facility", "issuer")
}
"""On whose scale a field's symbols are read; None tries each."""

LENGTH_MAX: Final = 64
"""Characters of a rating's text; a longer one is not read."""


_NAMES: Final[tuple[tuple[Agency, re.Pattern[str]], ...]] = (
    ("a", re.compile(r"MOODY['\u2019]?S?(?: INVESTORS? SERVICE)?\b[\s:=-]*")),
    ("b", re.compile(r"(?:S ?& ?P|SNP|STANDARD (?:&|AND) POOR['\u2019]?S)(?: GLOBAL)?\b[\s:=-]*")),
    ("c", re.compile(r"FITCH(?: RATINGS)?\b[\s:=-]*")),
)
"""What names an agency in front of its symbol."""

_FOOTNOTES: Final = re.compile(r"(?:\s?(?:\(\d{1,2}\)|\[\d{1,2}\]|[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]))+$")
_PARTS: Final = re.compile(r"\s?[/|;]\s?")
PARTS_MAX: Final = 3
"""Agencies whose symbols one cell has: Moody's, S&P, Fitch."""


@remembered(4_096)
def rank(text: str, agency: Agency | None = None) -> int:
    """Return the rank of a symbol, 1 (best) to 22 (defaulted); 0 for no rating.

    Watch marks, outlooks, "(P)", "(sf)", "-PD", "(EXP)" and the marks of estimates, shadow ratings and unsolicited ones
    ("e", "s", "u", "pi"), footnote marks and the agency's name are dropped; a symbol that another agency's name stands
    before is none. `agency` None tries the scales of A, B and C in turn.
    """
    if len(text) > LENGTH_MAX:
        return 0
    cleaned = _FOOTNOTES.sub("", _clean(text))
    for named, pattern in _NAMES:
        if match := pattern.match(cleaned):
            if agency not in (None, named):
                return 0
            agency, cleaned = named, cleaned[match.end() :]
    known = _symbol_rank(cleaned, agency)
    return known or _rank_of_several(cleaned, agency)


def _symbol_rank(cleaned: str, agency: Agency | None) -> int:
    """Return the rank of one symbol with what stands about it."""
    match = _SHAPE.fullmatch(cleaned)
    if match is None:
        return 0
    symbol = match["symbol"]
    if agency is not None:
        return _SYMBOLS[agency].get(symbol, 0)
    return next((scale[symbol] for scale in _SYMBOLS.values() if symbol in scale), 0)


def _rank_of_several(cleaned: str, agency: Agency | None) -> int:
    """Return the rank of one of several agencies' symbols, Moody's first: "B2/B/B+"."""
    parts = _PARTS.split(cleaned, PARTS_MAX)
    agencies = get_args(Agency)[: len(parts)]
    if not 1 < len(parts) <= PARTS_MAX or parts[0] not in _SYMBOLS["a"]:
        return 0
    places = [place for place, part in enumerate(parts) if part in _SYMBOLS[agencies[place]]]
    is_whole = all(at in places or part in NOT_RATED for at, part in enumerate(parts))
    at = 0 if agency is None else agencies.index(agency) if agency in agencies else -1
    return _SYMBOLS[agencies[at]][parts[at]] if is_whole and at in places else 0


@remembered(1_024)
def is_not_rated(text: str) -> bool:
    """Return whether the text shows no rating: none, or a masked one.

    An unreadable text is neither.
    """
    return _FOOTNOTES.sub("", _clean(text)) in NOT_RATED or is_masked(text)


@remembered(1_024)
def is_masked(text: str) -> bool:
    """Return whether the text masks a known rating: `*`, `NR*`, "Confidential"."""
    cleaned = _clean(text).strip("()[]<>").strip()
    return cleaned in MASK_WORDS or _MASK.fullmatch(cleaned) is not None


def masks_of(texts: Sequence[str], counts: Sequence[int], ranks: Sequence[int]) -> list[int]:
    """Return places of texts that stand for masked ratings though no list has them.

    They are words that come again, in a column where others are ratings.

    Args:
        texts: the column's distinct texts.
        counts: rows of each.
        ranks: the rank of each, 0 where it is none.
    """
    known, unknown, total = 0, list[int](), 0
    for at, (text, count, rank_of) in enumerate(zip(texts, counts, ranks, strict=True)):
        total += count
        if rank_of or is_not_rated(text):
            known += count if rank_of or text.strip() else 0
        elif count:
            unknown.append(at)
    words = [at for at in unknown if counts[at] >= MASK_ROWS_MIN and _is_mask_word(texts[at])]
    is_of_ratings = any(ranks) and len(words) <= MASKS_MAX and known >= KNOWN_SHARE * total
    return words if is_of_ratings else []


def _is_mask_word(text: str) -> bool:
    """Return whether a text is short, without a figure, and no known rating word."""
    cleaned = _clean(text)
    if not 0 < len(cleaned) <= MASK_LENGTH_MAX or any(map(str.isdigit, cleaned)) or _SAYS.match(cleaned):
        return False
    first = _FIRST_WORD.match(cleaned)
    return first is None or not any(first[0] in scale for scale in _SYMBOLS.values())


_FIRST_WORD: Final = re.compile(r"[A-Z]+[+-]?")
_SAYS: Final = re.compile(
    r"(?:NOT|NO|NONE|NR|N\.?/?R|WR|WD|N/?A|UNRATED|WITHDRAWN|PENDING|TBD|TBA|EXPECTED|SEE|IN DEFAULT|DEFAULT|MATURED"
    r"|PAID|SOLD|TOTAL)"
)


def watch(text: str) -> int:
    """Return where a rating on watch may move: 1 up, -1 down, 0 unknown or not.

    An outlook is no watch: "B2 (Negative)" gives 0, "B2 *-" and "B2 Watch Neg" give -1.
    """
    if len(text) > LENGTH_MAX:
        return 0
    cleaned = _clean(text)
    if marked := _MARK.search(cleaned):
        return 1 if marked[1] == "+" else -1
    match = _ON_WATCH.search(cleaned)
    if match is None:
        return 0
    after = cleaned[match.start() :]
    better, worse = _BETTER.search(after) is not None, _WORSE.search(after) is not None
    return better - worse


def _clean(text: str) -> str:
    return " ".join(_JOINED.sub(r"\1 ", text[: LENGTH_MAX + 1].upper()).split())


_JOINED: Final = re.compile(r"\b(WATCH|OUTLOOK)(?=NEG|POS|STA|DEV|UNC)")
"""Two words as one: "WatchNeg"."""


def recovery(
    lien: NDArray[np.uint8],
    default_rank: NDArray[np.uint8] | None = None,
    facility_rank: NDArray[np.uint8] | None = None,
    is_dip: NDArray[np.uint8] | None = None,
) -> NDArray[np.float64]:
    """Return recovery rates in percent, one for each loan, from the tables above.

    The notch difference is rank(default probability rating) - rank(facility rating), positive where the facility is the
    better one; 0 where one of the two is missing. All arrays are equally long.
    """
    notches = np.zeros(len(lien), np.intp)
    if default_rank is not None and facility_rank is not None:
        both = (default_rank > 0) & (facility_rank > 0)
        notches[both] = default_rank[both].astype(np.intp) - facility_rank[both]
    rates = RECOVERY[np.clip(notches, -3, 2) + 3, _CLAIM[lien]]
    if is_dip is not None:
        rates[is_dip != 0] = RECOVERY_DIP
    return rates
