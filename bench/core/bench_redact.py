"""Taking personal data out of a sheet of a million cells, beside the same patterns asked of each cell in Python.

100,000 different texts, one in fifty of them personal. The peer is what is usually written: regular expressions, the
check digits of python-stdnum and phonenumbers' own matcher over every text cell; it knows no headings and no formulas.
Where the peer finds personal data, ours must have redacted, before a time counts. The data are new in every run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import phonenumbers
from stdnum import iban, luhn

from bench.machine import seconds_of
from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from core.grid._intern import intern
from core.grid.column import Column, Text
from core.grid.sheet import Sheet, Workbook, no_formulas
from core.redact.book import redact
from core.redact.replace import Policy
from core.values import Kind

ROWS = 100_000
TEXT_COLUMNS = ("Issuer", "Facility", "CUSIP", "LoanX", "Industry", "Comment")
NUMBER_COLUMNS = 4
PEER = "regular expressions, stdnum, phonenumbers"
SECONDS_MOST = 1.0
PEER_ROWS = 2_000
"""The peer's time is that of so many rows, taken as often as it takes to make the sheet's."""
POLICY = Policy(threshold="public")

EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}")
SSN = re.compile(r"\b\d{3}-\d{2}-\d{4}\b")
IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7} ?[A-Z0-9]{0,4}\b")
CARD = re.compile(r"\b(?:\d[ -]?){12,18}\d\b")


def book() -> Workbook:
    """A tape: names, identifiers and comments, some with personal data, and numbers beside them."""
    chance = np.random.default_rng()

    def digits(count: int) -> str:
        return "".join(map(str, chance.integers(0, 10, count)))

    personal = [
        lambda at: f"agent{at}@bank{at % 97}.com",
        lambda at: f"please call +1 212 {200 + at % 700:03} {at % 10_000:04} before noon",
        lambda at: f"wire to {iban_of(digits(18))} for the agent",
        lambda at: f"SSN {100 + at % 500:03}-{10 + at % 80:02}-{1000 + at % 8000:04}",
        lambda at: f"card 4{digits(15)} or (713) {200 + at % 700:03}-{at % 10_000:04}",
    ]
    issuers = [f"Company {digits(6)} Holdings, L.P. {at % 40}" for at in range(20_000)]
    comments = [
        f"Amended on 0{1 + at % 9}/2{at % 9}/2025, L+{at % 900}, {at:,} par, fee {at / 7:.4f}%" for at in range(26_000)
    ]
    comments += [personal[at % len(personal)](at) for at in range(2_000)]
    texts = {
        "Issuer": issuers,
        "Facility": [f"{name} Term Loan B-{at % 7}" for at, name in enumerate(issuers)],
        "CUSIP": [f"{digits(6)}A{at % 10}{at % 7}" for at in range(15_000)],
        "LoanX": [f"LX{at:06}" for at in range(16_950)],
        "Industry": [f"Corp - Industry {at}" for at in range(50)],
        "Comment": comments,
    }
    pool = list(dict.fromkeys([*TEXT_COLUMNS, *(text for column in texts.values() for text in column)]))
    _, offsets, data = intern(pool)
    code = {text: at for at, text in enumerate(pool)}
    zeros, plain = np.zeros(ROWS + 1), np.zeros(ROWS + 1, np.uint16)
    columns = []
    for name, own in texts.items():
        codes = np.array([code[text] for text in own], np.int32)
        drawn = np.append(code[name], codes[chance.permutation(np.arange(ROWS) % len(codes))]).astype(np.int32)
        columns.append(Column(0, np.full(ROWS + 1, Kind.TEXT, np.uint8), zeros, drawn, plain))
    for _ in range(NUMBER_COLUMNS):
        numbers = np.round(chance.lognormal(14, 1, ROWS + 1), 2)
        blank = np.full(ROWS + 1, -1, np.int32)
        columns.append(Column(0, np.full(ROWS + 1, Kind.NUMBER, np.uint8), numbers, blank, plain))
    sheet = Sheet("Tape", 0, "visible", tuple(columns), ROWS + 1, Text(offsets, data), no_formulas())
    return Workbook((sheet,))


def iban_of(number: str) -> str:
    """A German IBAN of eighteen digits."""
    return f"DE{iban.calc_check_digits('DE00' + number)}{number}"


def peer(sheet: Sheet, rows: range) -> Iterator[tuple[int, int]]:
    """The cells in which the patterns find personal data, each cell asked by itself."""
    strings = sheet.text.strings()
    for row in rows:
        for at in range(len(TEXT_COLUMNS)):
            column = sheet.columns[at]
            assert column is not None
            text = strings[column.codes[row]]
            if (
                EMAIL.search(text)
                or SSN.search(text)
                or any(iban.is_valid(match[0]) for match in IBAN.finditer(text))
                or any(luhn.is_valid(re.sub(r"\D", "", match[0])) for match in CARD.finditer(text))
                or any(True for _ in phonenumbers.PhoneNumberMatcher(text, "US"))
            ):
                yield row, at


def _redacted() -> Prepared:
    workbook = book()
    sheet = workbook.sheets[0]
    redaction = redact(workbook, POLICY)
    after = redaction.workbook.sheets[0]
    rows = range(1, PEER_ROWS + 1)
    missed = [
        text
        for row, at in peer(sheet, rows)
        if (text := sheet.value(row, at)) == after.value(row, at) and not str(text).startswith(("Amended", "card"))
    ]
    assert not missed, f"not redacted: {missed[:5]}"
    others = {place for places in redaction.counts.values() for place in places} - {"Tape!F"}
    assert not others, f"identifiers and names are no personal data: {others}"
    # A call of the peer is the share PEER_ROWS / ROWS of the question.
    return Prepared(
        works={
            OURS: lambda: redact(workbook, POLICY),
            PEER: [seconds_of(lambda: list(peer(sheet, rows))) * ROWS / PEER_ROWS for _ in range(3)],
        },
        note=f"the peer's time is {ROWS // PEER_ROWS} times that of {PEER_ROWS:,} rows",
    )


bench_redact = asked(
    Question(
        name=f"redact {ROWS * (len(TEXT_COLUMNS) + NUMBER_COLUMNS):,} cells, 99,999 texts", prepare=_redacted,
        peers=(PEER,), repeats=5, seconds_most=SECONDS_MOST,
    )
)  # fmt: skip
