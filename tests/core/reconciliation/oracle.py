"""Two portfolios compared in plain Python, from the rules of the market.

Slow, and with no kernel in it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import date
from decimal import Decimal
from math import isnan, nan
from typing import Any

from stdnum import cusip as stdnum_cusip
from stdnum import isin as stdnum_isin

from core.portfolio import Portfolio

Loan = dict[str, Any]

NUMBERS = {"par_value": 0.01, "price": 0.125, "spread": 10.0, "maturity_date": 0.0, "all_in_rate": 0.05}
AGENCIES = ("rating_agency_a", "rating_agency_b", "rating_agency_c")
IDENTIFIERS = ("cusip", "loanx_id", "isin")
LEGAL = {"INC", "LLC", "LTD", "LIMITED", "LP", "CORP", "CORPORATION", "CO", "COMPANY", "PLC"}
LOOSE = {"HOLDINGS", "HOLDCO", "BIDCO", "INTERMEDIATE"}


def portfolio_of(**columns: Any) -> Portfolio:
    """A portfolio with what the tests leave out.

    A borrower for each loan, a par of two million.
    """
    height = len(next(iter(columns.values())))
    columns.setdefault("borrower_name", [f"Borrower {row}" for row in range(height)])
    columns.setdefault("par_value", [2_000_000.0] * height)
    return Portfolio.from_columns(columns)


def loans_of(portfolio: Portfolio) -> list[Loan]:
    """The rows of a portfolio as dictionaries; None is blank."""
    loans = []
    for row in range(portfolio.row_count):
        loan: Loan = {name: float(values[row]) for name, values in portfolio.numbers.items()}
        loan = {name: None if isnan(value) else value for name, value in loan.items()}
        for name, names in portfolio.names.items():
            code = int(names.codes[row])
            loan[name] = None if code < 0 else names.values[code]
        for name, ranks in portfolio.ranks.items():
            loan[name + "_rank"] = int(ranks[row])
        loans.append(loan)
    return loans


def cusip_of(loan: Loan) -> str | None:
    own, isin = loan.get("cusip"), loan.get("isin")
    if is_cusip(own):
        return own
    if is_isin(isin) and isin.startswith("US") and is_cusip(isin[2:11]):
        return str(isin[2:11])
    return None


def is_cusip(text: str | None) -> bool:
    return text is not None and text.strip("0") != "" and bool(stdnum_cusip.is_valid(text))


def is_isin(text: str | None) -> bool:
    if text is None or re.fullmatch(r"[A-Z]{2}[0-9A-Z]{9}[0-9]", text) is None:
        return False
    digits = "".join(str(int(sign, 36)) for sign in text)
    total = sum(int(d) if at % 2 == 0 else sum(divmod(2 * int(d), 10)) for at, d in enumerate(reversed(digits)))
    # The witness knows which countries there are; what it accepts must be accepted here.
    assert total % 10 == 0 or not stdnum_isin.is_valid(text)
    return total % 10 == 0


def is_loanx(text: str | None) -> bool:
    return text is not None and re.fullmatch(r"LX\d{5,6}(T\d)?", text) is not None


def name_of(loan: Loan) -> str | None:
    if loan.get("borrower_name") is None:
        return None
    words = re.sub(r"[^A-Z0-9]+", " ", loan["borrower_name"].upper().replace("&", " AND ")).split()
    while len(words) > 1 and words[-1] in LEGAL:
        words.pop()
    return " ".join(words)


def loose_name_of(loan: Loan) -> str | None:
    name = name_of(loan)
    if name is None:
        return None
    first, *rest = name.split()
    words = [first, *(word for word in rest if word not in LOOSE)]
    while len(words) > 1 and words[-1] in LEGAL:
        words.pop()
    return " ".join(words)


def both(*parts: Any) -> tuple[Any, ...] | None:
    return None if any(part is None for part in parts) else parts


def own_cusip_of(loan: Loan) -> str | None:
    """The loan's own CUSIP, whatever its ISIN."""
    return cusip_of({"cusip": loan.get("cusip")})


def held_cusip_of(loan: Loan) -> str | None:
    """The CUSIP in the loan's US ISIN, whatever its own."""
    return cusip_of({"isin": loan.get("isin")})


STAGES: list[tuple[str, Callable[[Loan], Any]] | tuple[str, Callable[[Loan], Any], Callable[[Loan], Any]]] = [
    ("cusip", cusip_of),
    ("cusip", held_cusip_of, own_cusip_of),
    ("cusip", own_cusip_of, held_cusip_of),
    ("loanx_id", lambda loan: loan.get("loanx_id") if is_loanx(loan.get("loanx_id")) else None),
    ("isin", lambda loan: loan.get("isin") if is_isin(loan.get("isin")) else None),
    *((name, lambda loan, name=name: loan.get(name)) for name in IDENTIFIERS),
    ("borrower_maturity", lambda loan: both(name_of(loan), loan.get("maturity_date"))),
    ("borrower_name", lambda loan: both(name_of(loan), loan.get("facility_name") and loan["facility_name"].upper())),
]  # fmt: skip


def content(loan: Loan) -> tuple[Any, ...]:
    """What is compared of a loan."""
    fields = (*NUMBERS, *IDENTIFIERS, "borrower_name", "base_rate", "industry", *(name + "_rank" for name in AGENCIES))
    return tuple(loan.get(name) for name in fields)


def match(tape: list[Loan], book: list[Loan]) -> tuple[dict[int, tuple[int, str]], set[int], set[int]]:
    """Row of the tape -> row of the book and stage.

    Rows of either side that were paired in doubt.
    """
    pairs: dict[int, tuple[int, str]] = {}
    taken: set[int] = set()
    doubt: tuple[set[int], set[int]] = set(), set()
    for stage, *keys in STAGES:
        groups: dict[Any, tuple[list[int], list[int]]] = {}
        for side, key, loans, done in ((0, keys[0], tape, pairs), (1, keys[-1], book, taken)):
            for row, loan in enumerate(loans):
                if row not in done and key(loan) is not None:
                    groups.setdefault(key(loan), ([], []))[side].append(row)
        for tape_rows, book_rows in groups.values():
            if tape_rows and book_rows:
                pair_group(tape, book, tape_rows, book_rows, stage, pairs, taken, doubt)
    for b, loan in enumerate(book):  # loans of one borrower that hold the same, whatever the rest
        same = [a for a in range(len(tape)) if a not in pairs and content(tape[a]) == content(loan)]
        if b not in taken and same and loan.get("borrower_name") is not None:
            pairs[same[0]] = b, "borrower_name"
            taken.add(b)
    pair_single(tape, book, name_of, pairs, taken)
    pair_single(tape, book, loose_name_of, pairs, taken)
    return pairs, *doubt


def pair_single(
    tape: list[Loan], book: list[Loan], name: Callable[[Loan], str | None],
    pairs: dict[int, tuple[int, str]], taken: set[int],
) -> None:  # fmt: skip
    """Loans that alone on their side are left with a name, of nearly one par."""
    singles: dict[str | None, tuple[list[int], list[int]]] = {}
    for side, loans, done in ((0, tape, pairs), (1, book, taken)):
        for row, loan in enumerate(loans):
            if row not in done:
                singles.setdefault(name(loan), ([], []))[side].append(row)
    singles.pop(None, None)
    for tape_rows, book_rows in singles.values():
        if len(tape_rows) == len(book_rows) == 1:
            theirs, ours = (
                Decimal(str(loans[rows[0]]["par_value"])) for loans, rows in ((tape, tape_rows), (book, book_rows))
            )
            if abs(theirs - ours) * 20 <= abs(theirs):
                pairs[tape_rows[0]] = book_rows[0], "borrower_name"
                taken.add(book_rows[0])


def pair_group(
    tape: list[Loan], book: list[Loan], tape_rows: list[int], book_rows: list[int], stage: str,
    pairs: dict[int, tuple[int, str]], taken: set[int], doubt: tuple[set[int], set[int]],
) -> None:  # fmt: skip
    certain = len(tape_rows) == len(book_rows) == 1 or (
        Counter(content(tape[row]) for row in tape_rows) == Counter(content(book[row]) for row in book_rows)
    )
    if not certain:
        doubt[0].update(tape_rows)
        doubt[1].update(book_rows)
    near = sorted(
        (content(tape[a]) != content(book[b]), abs(tape[a]["par_value"] - book[b]["par_value"]), a, b)
        for a in tape_rows
        for b in book_rows
    )
    for _, _, a, b in near:
        if a not in pairs and b not in taken:
            pairs[a] = b, stage
            taken.add(b)


def compare(tape: list[Loan], book: list[Loan]) -> Counter[tuple[str, ...]]:
    """Every issue as (name of the loan, type, severity, field, both values), counted."""
    pairs, tape_doubt, book_doubt = match(tape, book)
    partners = {b: a for a, (b, _) in pairs.items()}
    issues: list[tuple[str, ...]] = []
    has = [set().union(*(loan for loan in side)) if side else set() for side in (tape, book)]
    fields = has[0] & has[1]
    for a, (b, stage) in pairs.items():
        issues += [
            (*named(tape[a], book[b]), stage, *difference) for difference in differences(tape[a], book[b], fields)
        ]
    for a, loan in enumerate(tape):
        if a not in pairs:
            issues.append((*named(loan, {}), own_type(loan), "missing_in_internal", missing(loan), "missing_loan"))
    for b, loan in enumerate(book):
        if b not in partners:
            issues.append((*named({}, loan), own_type(loan), "missing_in_trustee", missing(loan), "missing_loan"))
    doubtful = {(a, pairs[a][0] if a in pairs else None) for a in tape_doubt}
    doubtful |= {(partners.get(b), b) for b in book_doubt}
    for item, second in doubtful:
        theirs = tape[item] if item is not None else {}
        ours = book[second] if second is not None else {}
        stage = pairs[item][1] if item in pairs else own_type(theirs or ours)
        issues.append((*named(theirs, ours), stage, "duplicate_position", "warning", "duplicates"))
    return Counter(issues)


def named(theirs: Loan, ours: Loan) -> tuple[str, str]:
    """Primary identifier and CUSIP."""
    first = {name: theirs.get(name) or ours.get(name) or "" for name in (*IDENTIFIERS, "borrower_name")}
    return next((text for text in first.values() if text), ""), first["cusip"]


def own_type(loan: Loan) -> str:
    return next((name for name in IDENTIFIERS if loan.get(name)), "borrower_name")


def missing(loan: Loan) -> str:
    par = round(abs(loan["par_value"]), 6)
    return "critical" if par > 1_000_000 else "error" if par >= 100_000 else "warning"


def differences(theirs: Loan, ours: Loan, fields: Iterable[str]) -> list[tuple[str, str, str]]:
    result: list[tuple[str, str | None]] = []
    for name in fields:
        a, b = theirs.get(name), ours.get(name)
        if name in NUMBERS:
            result.append((name, number_severity(name, a, b)))
        elif name.removesuffix("_rank") in AGENCIES and name.endswith("_rank"):
            result.append((name.removesuffix("_rank"), "warning" if a != b else None))
        elif name in ("industry", "borrower_name") and a != b:
            result.append((name, "warning" if name == "industry" else "info"))
        elif name == "base_rate" and a != b:
            form = a is not None and b is not None and a.split("-")[0] == b.split("-")[0] and ("-" in a) != ("-" in b)
            result.append((name, "info" if form else "warning"))
    for name, sound in (("cusip", is_cusip), ("loanx_id", is_loanx), ("isin", is_isin)):
        a, b = theirs.get(name), ours.get(name)
        if name in fields and a and b and a != b and not (name == "isin" and repeats(theirs, ours)):
            result.append((name, "warning" if sound(a) and sound(b) else "info"))
    return [("value_mismatch", severity, name) for name, severity in result if severity is not None]


def repeats(theirs: Loan, ours: Loan) -> bool:
    """Whether both ISINs hold their loans' CUSIPs, and these differ."""
    current = [
        is_cusip(loan.get("cusip")) and is_isin(loan["isin"]) and loan["isin"][:2] == "US"
        and loan["isin"][2:11] == loan["cusip"]
        for loan in (theirs, ours)
    ]  # fmt: skip
    return all(current) and theirs["cusip"] != ours["cusip"]


def number_severity(name: str, theirs: float | None, ours: float | None) -> str | None:
    if theirs is None and ours is None:
        return None
    apart = nan if theirs is None or ours is None else round(abs(theirs - ours), 6)
    if apart <= NUMBERS[name]:
        return None
    if name != "par_value":
        return "warning"
    if not theirs or isnan(apart):
        return "critical"
    # Exactly, on what the figures say in decimals: not one bit decides.
    percent = Decimal(str(apart)) * 100 / abs(Decimal(str(theirs)))
    return "critical" if percent > 5 else "error" if percent >= 1 else "info"


def day(text: str) -> float:
    return float(date.fromisoformat(text).toordinal() - date(1970, 1, 1).toordinal())
