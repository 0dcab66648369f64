"""Tell lists of other assets, such as leases and equities, from loans."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from core.grid.sheet import Sheet
from core.portfolio.cells.string_pool import key
from core.portfolio.sheets.columns import content
from core.portfolio.sheets.headings.match import HeaderMatch

WORDS_MIN: Final = 2
"""Columns with words of another class from which a list may be of it; one word that nothing else has does."""

KINDS_MIN: Final = 2
"""Kinds of evidence of corporate loans that such a list must have to be read as one of them."""

MOST: Final = 0.5
"""Share of a column's distinct texts that must look alike."""

FEW: Final = 0.3
"""Share of borrowers with a legal form from which they are companies."""

WORDS_TOLD: Final = 4
"""Columns that a message names."""

_CLASSES: Final[dict[str, tuple[str, str]]] = {
    "auto loans or leases": (
        r"\b(?:vin|odometer|mileage|msrp|vehicle|dealer(?:ship)?s? (?:id|name|code|state)|wholesale value"
        r"|model year)\b",
        r"\b(?:make|model|new used|used new|residual value|lease term|dealer|trim)\b",
    ),
    "mortgages": (
        r"\b(?:c?ltv at|dwelling|occupancy (?:type|status|code)|property (?:type|state|zip|city|county|value|address)"
        r"|appraised value|appraisal|number of units|loan purpose|mortgage|refinance purpose|flood|mers|noi|dscr"
        r"|square f(?:ee|oo)t|cap rate)\b",
        r"\b(?:c?o?ltv|combined loan to value|loan to value|fico|dti|first payment date|upb|zip(?: code)?|occupancy|msa"
        r"|escrow|judicial|foreclosure|units)\b",
    ),
    "consumer loans": (
        r"\b(?:fico|credit score|vantage ?score|apr|home ownership|employment length|annual income|cardholder|student"
        r"|school|credit limit|card (?:number|type)|charge ?off(?: date| amount)?|payday|emp length)\b",
        r"\b(?:dti|debt to income|monthly payment|installment|loan purpose|zip(?: code)?|co ?borrower|date of birth"
        r"|utilization|sub ?grade|days past due)\b",
    ),
    "equipment leases": (
        r"\b(?:lessee|lessor|equipment (?:type|cost|description|category|class)|original equipment cost"
        r"|lease (?:number|no|id|contract|schedule|maturity|start|end|commencement)|(?:monthly )?rentals?)\b",
        r"\b(?:residual|discounted balance|serial (?:number|no)|booked residual|equipment|lease term|asset cost)\b",
    ),
    "equities": (
        r"\b(?:(?:number of |no of |of )?shares(?: held| owned)?|dividend(?:s| yield)?|market cap(?:italisation"
        r"|italization)?|sedol|p e ratio|eps)\b",
        r"\b(?:ticker|weight|beta|sector|last price|closing price|bloomberg ticker|ric)\b",
    ),
}  # fmt: skip
"""Class -> (words that nothing else has, words that a list of corporate loans may have, too), as `key` gives them."""

_OF_DEBT: Final = frozenset(
    ("maturity_date", "spread", "base_rate", "all_in_rate", "floor", "coupon_type", "lien_type", "rating",
     "rating_agency_a", "rating_agency_b", "rating_agency_c")
)  # fmt: skip
"""Fields that no list of equities has."""

MEMORY_MAX: Final = 8_192
"""Headings whose classes are remembered."""

HEADER_LENGTH_MAX: Final = 160
"""Characters of a header that are looked at."""

_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_RULES: Final = {name: (re.compile(strong), re.compile(weak)) for name, (strong, weak) in _CLASSES.items()}
_AGENCY: Final = re.compile(r"\b(?:moodys?|moody s|mdy|s and p|sp|fitch|dbrs|kbra)\b")
_IDS: Final = ("cusip", "isin", "loanx")


def refusal(sheet: Sheet, header: HeaderMatch | None) -> str:
    """Say why a sheet is no list of corporate loans; "" where nothing says so.

    It is none where its columns have words of another class of assets, and less than two of these: an index or a
    spread, an agency's ratings, liens, identifiers of securities, and companies as borrowers. A list of equities has
    identifiers and companies, and no field of a debt.
    """
    named = None if header is None else _named_class(header.texts.values())
    if header is None or named is None:
        return ""
    name, headings = named
    if name == "equities":
        return "" if _OF_DEBT & header.columns.keys() else _reason(name, headings)
    kinds = set(_kinds(sheet, header))
    if len(kinds) >= KINDS_MIN and kinds - {"rate", "lien"}:
        return ""
    return _reason(name, headings)


def _reason(name: str, headings: list[str]) -> str:
    columns = ", ".join(repr(" ".join(text.split())) for text in headings[:WORDS_TOLD])
    return (
        f"it is a list of {name}, and no portfolio of a CLO, by its columns ({columns}): a mapping of source type "
        "custom, or standard_servicer, reads it"
    )


def _named_class(headers: Iterable[str]) -> tuple[str, list[str]] | None:
    """Return the class of most headers with words, and these; None for too few."""
    best: tuple[int, str, list[str]] | None = None
    classified = [(text, classes) for text in headers if (classes := _classes(text[:HEADER_LENGTH_MAX]))]
    for name in _RULES if classified else ():
        own = [text for text, classes in classified if classes.get(name)]
        more = [text for text, classes in classified if classes.get(name) is False]
        if own and len(own) + len(more) >= WORDS_MIN and (best is None or len(own) + len(more) > best[0]):
            best = len(own) + len(more), name, own + more
    return None if best is None else best[1:]


@lru_cache(MEMORY_MAX)
def _classes(text: str) -> dict[str, bool]:
    """Return the asset classes of a heading, with whether nothing else has them."""
    words = key(_CAMEL.sub(" ", text))
    return {
        name: is_strong
        for name, (strong, weak) in _RULES.items()
        if (is_strong := strong.search(words) is not None) or weak.search(words) is not None
    }


def _kinds(sheet: Sheet, header: HeaderMatch) -> Iterable[str]:
    """Yield the kinds of evidence of corporate loans that a sheet's columns are."""
    first = header.row + 1
    columns = header.columns
    if columns.keys() & {"spread", "base_rate", "base_rate_level"}:
        yield "rate"
    for target, mark, kind, least in (
        ("lien_type", "lien", "lien", MOST),
        ("borrower_name", "legal", "company", FEW),
        *((scheme, mark, "identifier", MOST) for scheme in ("cusip", "isin", "loanx_id") for mark in _IDS),
    ):
        for place in columns.get(target, [])[:1]:
            if content.features(sheet, sheet.columns[place], first, sheet.row_count).share(mark) >= least:
                yield kind
    for place, text in header.texts.items():
        if _AGENCY.search(key(text)):
            features = content.features(sheet, sheet.columns[place], first, sheet.row_count)
            if max(features.share("moodys"), features.share("letters")) >= MOST:
                yield "rating"
