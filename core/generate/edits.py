"""The discrepancies and harmless differences that a tape is seeded with, and the issue that each must give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from core.generate.book import LoanBook
from core.generate.draft import Columns, Rows, TapeDraft
from core.generate.sheets import LoanTexts
from core.generate.tables import RANK_CA
from core.portfolio.model.fields import IDENTIFIERS
from core.portfolio.model.ratings import SCALE_A, SCALE_B

Severity = Literal["critical", "error", "warning", "info", "none"]


@dataclass(frozen=True, slots=True)
class ExpectedIssue:
    """One issue that a comparison of tape and book must give.

    Severity "none": an edit that must give none.
    """

    identifier: str
    """The loan's CUSIP, else LoanX id, else ISIN, else its borrower, from the tape or else from the book."""
    field: str
    severity: Severity
    edit: str
    """The name of the edit that is behind it."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One kind of edit."""

    name: str
    field: str
    """Of the issue that it gives, or would."""
    severity: Severity | None
    """None: what the loans differ in decides (`differences`)."""
    change: Callable[[TapeDraft, Rows], None]
    needs: tuple[str, ...] = ()
    """What a loan must be, of the names in `eligible`."""
    book_par: float | None = None
    """Par that the book is given first, in currency."""
    loans: int = 1
    """Loans that one edit takes."""


def eligible(book: LoanBook, texts: LoanTexts) -> dict[str, NDArray[np.bool_]]:
    """Which loans are fit for an edit, by what it needs of them."""
    forms = np.array([name.endswith(tuple(_LONG_FORMS)) for name in texts.companies], np.bool_)
    return {
        "identified": (texts.cusip != "") & (texts.loanx != ""),
        # Another loan of the borrower could be taken for one that only its name tells.
        "alone": (np.bincount(book.obligor) == 1)[book.obligor],
        "floating": ~book.is_fixed,
        "performing": book.rank_a < RANK_CA,
        "rated by three": book.rank_c > 0,
        "rated by two": book.rank_c == 0,
        "above 1,000,000": book.par > 1_000_000.0,
        "short form": forms[book.obligor],
    }


# ---- what an edit does ---------------------------------------------------------------------------------------------


def _scale(field: str, factor: float) -> Callable[[TapeDraft, Rows], None]:
    def change(draft: TapeDraft, rows: Rows) -> None:
        # To the cent, as par is.
        draft.numbers[field][rows] = np.round(draft.numbers[field][rows] * factor, 2)

    return change


def _move(field: str, step: float) -> Callable[[TapeDraft, Rows], None]:
    def change(draft: TapeDraft, rows: Rows) -> None:
        draft.numbers[field][rows] += step

    return change


def _write(field: str, text: str) -> Callable[[TapeDraft, Rows], None]:
    return _reword(field, lambda _: text)


def _reword(field: str, word: Callable[[str], str]) -> Callable[[TapeDraft, Rows], None]:
    def change(draft: TapeDraft, rows: Rows) -> None:
        words = draft.words[field]
        words.write(rows, [word(text) for text in words.at(rows)])

    return change


def _blank(*fields: str) -> Callable[[TapeDraft, Rows], None]:
    def change(draft: TapeDraft, rows: Rows) -> None:
        for field in fields:
            draft.identifiers[field][rows] = ""

    return change


def _on_lines(count: int) -> Callable[[TapeDraft, Rows], None]:
    def change(draft: TapeDraft, rows: Rows) -> None:
        draft.lines[rows] = count

    return change


def _cusips_swapped(draft: TapeDraft, rows: Rows) -> None:
    """Give the first half of the loans the CUSIPs of the second, and these theirs."""
    draft.identifiers["cusip"][rows] = draft.identifiers["cusip"][_partners(rows)]
    draft.shown[rows] = True


def _partners(rows: Rows) -> Rows:
    return np.roll(rows, len(rows) // 2)


def _notch_lower(scale: tuple[str, ...]) -> Callable[[str], str]:
    below = dict(pairwise(scale))
    return below.__getitem__


def _alias(industry: str) -> str:
    """Return the same industry in a trustee's spelling.

    Capitals, "and" for the sign, one comma more.
    """
    return industry.upper().replace(" &", ", AND")


def _other_industry(industry: str) -> str:
    return "Retail" if industry != "Retail" else "Wholesale"


_LONG_FORMS: Final = {"Inc.": "INCORPORATED", "Corp.": "CORPORATION", "Ltd.": "LIMITED"}


def _long_form(name: str) -> str:
    """Return the same company in capitals, with its legal form in full."""
    words, form = name.rsplit(" ", 1)
    return f"{words.upper()} {_LONG_FORMS[form]}"


def _other_name(name: str) -> str:
    """Return what a company could be called after a change of name."""
    return f"Newly {name}"


EDITS: Final = (
    Edit("par_up_8_percent", "par_value", "critical", _scale("par_value", 1.08)),
    Edit("par_up_3_percent", "par_value", "error", _scale("par_value", 1.03)),
    Edit("par_down_half_percent", "par_value", "info", _scale("par_value", 0.995)),
    Edit("par_up_half_a_cent", "par_value", "none", _move("par_value", 0.005)),
    Edit("left_out_large", "missing_loan", "critical", _on_lines(0), ("alone", "above 1,000,000")),
    Edit("left_out_medium", "missing_loan", "error", _on_lines(0), ("alone",), book_par=500_000.0),
    Edit("left_out_small", "missing_loan", "warning", _on_lines(0), ("alone",), book_par=50_000.0),
    Edit("rating_a_notch", "rating_agency_a", "warning",
         _reword("rating_agency_a", _notch_lower(SCALE_A)), ("performing",)),
    Edit("rating_b_notch", "rating_agency_b", "warning",
         _reword("rating_agency_b", _notch_lower(SCALE_B)), ("performing",)),
    Edit("rating_c_notch", "rating_agency_c", "warning",
         _reword("rating_agency_c", _notch_lower(SCALE_B)), ("performing", "rated by three")),
    Edit("rating_on_watch", "rating_agency_a", "none", _reword("rating_agency_a", lambda text: f"{text} *-")),
    Edit("rating_confidential", "rating_agency_a", "warning", _write("rating_agency_a", "***")),
    Edit("rating_said_none", "rating_agency_c", "none", _write("rating_agency_c", "NR"), ("rated by two",)),
    Edit("rating_withdrawn", "rating_agency_c", "info", _write("rating_agency_c", "WR"), ("rated by two",)),
    Edit("spread_up_25", "spread", "warning", _move("spread", 25.0), ("floating",)),
    Edit("spread_up_10", "spread", "none", _move("spread", 10.0), ("floating",)),
    Edit("price_up_half", "price", "warning", _move("price", 0.5)),
    Edit("price_up_eighth", "price", "none", _move("price", 0.125)),
    Edit("maturity_next_day", "maturity_date", "warning", _move("maturity_date", 1.0), ("identified",)),
    Edit("index_respelt", "base_rate", "none", _write("base_rate", "TSFR3M"), ("floating",)),
    Edit("index_other", "base_rate", "warning", _write("base_rate", "EURIBOR"), ("floating",)),
    Edit("index_other_tenor", "base_rate", "warning", _write("base_rate", "1M SOFR"), ("floating",)),
    Edit("index_without_tenor", "base_rate", "info", _write("base_rate", "SOFR"), ("floating",)),
    Edit("rate_up_6", "all_in_rate", "warning", _move("all_in_rate", 0.06)),
    Edit("rate_up_5", "all_in_rate", "none", _move("all_in_rate", 0.05)),
    Edit("industry_respelt", "industry", "none", _reword("industry", _alias)),
    Edit("industry_other", "industry", "warning", _reword("industry", _other_industry)),
    Edit("name_respelt", "borrower_name", "info",
         _reword("borrower_name", _long_form), ("identified", "short form")),
    Edit("name_other", "borrower_name", "info", _reword("borrower_name", _other_name), ("identified",)),
    Edit("cusip_left_out", "cusip", "none", _blank("cusip", "isin"), ("identified",)),
    Edit("identifiers_left_out", "cusip", "none", _blank(*IDENTIFIERS), ("identified", "alone")),
    Edit("split_in_lots", "par_value", "none", _on_lines(3), ("identified",)),
    Edit("cusips_swapped", "cusip", None, _cusips_swapped,
         ("identified", "alone", "floating", "performing"), loans=2),
)  # fmt: skip
"""Every kind of edit, in the order in which loans are chosen for them."""


# ---- what two loans differ in --------------------------------------------------------------------------------------


def differences(draft: TapeDraft, book: Columns, rows: Rows) -> Iterator[tuple[str, NDArray[np.str_]]]:
    """Yield the severities that loans with swapped CUSIPs give, field by field.

    "none" where they are alike.

    Row i of the tape then stands for the book's loan of its partner. Both loans float, are rated by agencies A and B,
    and have all identifiers. The tolerances and severities are those of the comparison's description.
    """
    partners = _partners(rows)

    def both(field: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return draft.numbers[field][rows], np.asarray(book[field], np.float64)[partners]

    yield "par_value", _par_severity(*both("par_value"))
    for field, tolerance in (("price", 0.125), ("spread", 10.0), ("all_in_rate", 0.05), ("maturity_date", 0.0)):
        trustee, internal = both(field)
        yield field, np.where(np.round(np.abs(trustee - internal), 6) > tolerance, "warning", "none")
    for field in ("rating_agency_a", "rating_agency_b", "rating_agency_c", "industry"):
        yield field, np.where(_texts(draft, rows, field) != _texts(draft, partners, field), "warning", "none")
    yield "borrower_name", np.full(len(rows), "info")
    for field in IDENTIFIERS:
        if field in draft.identifiers and field != "cusip":
            trustee_id, internal_id = draft.identifiers[field][rows], np.asarray(book[field])[partners]
            yield field, np.where((trustee_id != "") & (trustee_id != internal_id), "warning", "none")


def _texts(draft: TapeDraft, rows: Rows, field: str) -> NDArray[np.str_]:
    # Before the edit both sides had the same texts, so the tape's own rows stand for the book's.
    return np.array(draft.words[field].at(rows), np.str_)


def _par_severity(trustee: NDArray[np.float64], internal: NDArray[np.float64]) -> NDArray[np.str_]:
    """Above 5 % of the trustee's par critical, from 1 % an error, below it for information."""
    off = np.round(np.abs(trustee - internal), 6)
    percent = np.round(off / trustee * 100.0, 6)
    severity = np.where(percent > 5.0, "critical", np.where(percent >= 1.0, "error", "info"))
    return np.where(off > 0.01, severity, "none")
