"""A verdict is what was done to the file.

Every kind of change is one row, with the differences that it must give.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.files.limits import SHEETS_MAX
from core.files.read import read
from core.files.write import Formula
from core.provenance.canonical import data_hash
from core.provenance.manifest import sign
from core.provenance.prints import DIFFERENCES_MAX, fingerprints
from core.provenance.verify import Record, verify
from tests.core.provenance.exported import KEY, KEYS, edited, exported, manifest_of, with_parts

LOANS: list[list[Any]] = [["Id", "Par"], ["a", 1.0], ["b", 2.0], ["c", Formula("B2+B3", 3.0)]]
PRICES: list[list[Any]] = [["Price"], [99.5]]
SCRATCH: list[list[Any]] = [["=1+1 by hand"]]
BOOK = {"Loans": LOANS, "Prices": PRICES, "Workspace": SCRATCH}
FOUNDATION = ["Loans", "Prices"]


def loans(**changes: Any) -> list[list[Any]]:
    """The loans with other cells, by their A1 names in lower case."""
    rows = [list(row) for row in LOANS]
    for place, value in changes.items():
        rows[int(place[1:]) - 1][ord(place[0]) - ord("a")] = value
    return rows


CHANGES: dict[str, tuple[dict[str, Any], list[tuple[str, str | None, str]]]] = {
    "nothing": (BOOK, []),
    "the workspace": ({**BOOK, "Workspace": [["other"], [1]]}, []),
    "a further sheet": ({**BOOK, "Mine": [[1]]}, [("Mine", None, "added")]),
    "a copy of a foundation sheet": ({**BOOK, "Loans (2)": loans(b2=9.0)}, [("Loans (2)", None, "added")]),
    "a value": ({**BOOK, "Loans": loans(b2=1.5)}, [("Loans", "B2", "changed")]),
    "a value behind the 15th digit": ({**BOOK, "Loans": loans(b2=1.0000000000000002)}, []),
    "a value at the 15th digit": ({**BOOK, "Loans": loans(b2=1.00000000000001)}, [("Loans", "B2", "changed")]),
    "a number to a text": ({**BOOK, "Loans": loans(b2="1")}, [("Loans", "B2", "changed")]),
    "a letter of another alphabet": ({**BOOK, "Loans": loans(a2="а")}, [("Loans", "A2", "changed")]),
    "a formula": ({**BOOK, "Loans": loans(b4=Formula("B2*3", 3.0))}, [("Loans", "B4", "changed")]),
    "a formula to its value": ({**BOOK, "Loans": loans(b4=3.0)}, [("Loans", "B4", "changed")]),
    "a formula's value": ({**BOOK, "Loans": loans(b4=Formula("B2+B3", 4.0))}, [("Loans", "B4", "changed")]),
    "a formula's blanks and case": ({**BOOK, "Loans": loans(b4=Formula(" b2 + B3 ", 3.0))}, []),
    "an added cell": ({**BOOK, "Prices": [*PRICES, [100.0]]}, [("Prices", "A3", "added")]),
    "an empty text added": ({**BOOK, "Prices": [*PRICES, [""]]}, []),
    "a removed cell": ({**BOOK, "Prices": PRICES[:1]}, [("Prices", "A2", "removed")]),
    "a moved cell": (
        {**BOOK, "Prices": [["Price"], [None, 99.5]]}, [("Prices", "A2", "removed"), ("Prices", "B2", "added")]
    ),
    "an inserted row": (
        {**BOOK, "Prices": [[], *PRICES]},
        [("Prices", "A1", "removed"), ("Prices", "A2", "changed"), ("Prices", "A3", "added")],
    ),
    "a renamed sheet": ({"Loans": LOANS, "Quotes": PRICES, "Workspace": SCRATCH}, [("Prices", None, "renamed")]),
    "a homoglyph": ({"Lоans": LOANS, "Prices": PRICES, "Workspace": SCRATCH}, [("Loans", None, "renamed")]),
    "the case of a name": ({"LOANS": LOANS, "Prices": PRICES, "Workspace": SCRATCH}, [("Loans", None, "renamed")]),
    "a homoglyph with another value": (
        {"Lоans": loans(b2=5.0), "Prices": PRICES, "Workspace": SCRATCH},
        [("Loans", None, "removed"), ("Lоans", None, "added")],
    ),
    "a removed sheet": ({"Loans": LOANS, "Workspace": SCRATCH}, [("Prices", None, "removed")]),
    "another order": (
        {"Prices": PRICES, "Loans": LOANS, "Workspace": SCRATCH}, [("Prices", None, "moved")]
    ),
    "the workspace first": ({"Workspace": SCRATCH, "Loans": LOANS, "Prices": PRICES}, []),
}  # fmt: skip


def test_every_change_is_told_by_cell(tmp_path: Path) -> None:
    path = exported(tmp_path, BOOK, FOUNDATION)
    book = read(path)
    secret = b"kept by the server"
    record = Record(data_hash(book, FOUNDATION).hash, fingerprints(book, FOUNDATION, secret), secret)
    wrong = {}
    for what, (rows, expected) in CHANGES.items():
        verdict = verify(edited(path, tmp_path / "made.xlsx", rows), KEYS, record)
        result = [(diff.sheet, diff.cell, diff.status) for diff in verdict.diffs]
        status = "modified" if expected else "original"
        if (verdict.status, result, verdict.hmac_valid, verdict.diffs_truncated) != (status, expected, True, False):
            wrong[what] = (verdict.status, result)
    assert wrong == {}


def test_all_sheets_count_where_there_are_no_zones(tmp_path: Path) -> None:
    path = exported(tmp_path, BOOK)
    assert verify(path, KEYS).status == "original"
    more = verify(edited(path, tmp_path / "made.xlsx", {**BOOK, "Mine": [[1]]}), KEYS)
    assert (more.status, [diff.status for diff in more.diffs]) == ("modified", ["added"])


def test_as_many_sheets_as_a_workbook_may_have_are_verified_with_their_zones(tmp_path: Path) -> None:
    path = exported(tmp_path, {f"S{number}": [[number]] for number in range(SHEETS_MAX + 2)})
    assert verify(path, KEYS).status == "original"


def test_without_prints_the_sheet_is_told(tmp_path: Path) -> None:
    path = exported(tmp_path, BOOK)
    verdict = verify(edited(path, tmp_path / "made.xlsx", {**BOOK, "Loans": loans(b2=7.0)}), KEYS)
    assert [(diff.sheet, diff.cell, diff.status) for diff in verdict.diffs] == [("Loans", None, "changed")]
    assert verdict.diffs_truncated


@pytest.mark.parametrize(("count", "more"), [(DIFFERENCES_MAX, False), (DIFFERENCES_MAX + 1, True)])
def test_differences_are_listed_up_to_a_number(tmp_path: Path, count: int, more: bool) -> None:
    """With as many as that all are told."""
    path = exported(tmp_path, {"Loans": [[float(row)] for row in range(count)]})
    secret = b"kept by the server"
    record = Record(data_hash(read(path)).hash, fingerprints(read(path), None, secret), secret)
    verdict = verify(
        edited(path, tmp_path / "made.xlsx", {"Loans": [[row + 0.5] for row in range(count)]}), KEYS, record
    )
    assert (verdict.status, len(verdict.diffs), verdict.diffs_truncated) == ("modified", DIFFERENCES_MAX, more)


def test_a_forger_without_the_key_gains_nothing(tmp_path: Path) -> None:
    """The manifest of another file, a hash worked out anew, another key, a key that nobody knows, no manifest."""
    path = exported(tmp_path, BOOK)
    second = exported(
        tmp_path / "other" if (tmp_path / "other").mkdir() is None else tmp_path, {"Loans": loans(b2=8.0)}
    )
    pasted = verify(edited(path, tmp_path / "pasted.xlsx", {"Loans": loans(b2=8.0)}), KEYS)
    assert pasted.status == "modified"
    assert pasted.data_hash == verify(second, KEYS).data_hash != pasted.expected_hash

    forged = tmp_path / "forged.xlsx"
    manifest = manifest_of(second)
    with_parts(tmp_path / "other" / "plain.xlsx", forged, sign(manifest, b"0" * 32))
    verdict = verify(forged, KEYS)
    assert (verdict.status, verdict.hmac_valid) == ("invalid_provenance", False)
    assert verify(forged, None).hmac_valid is None
    assert "not known" in verify(path, {"k2": KEY}).reason
    assert verify(path, {"k2": b"1" * 32, "k1": KEY}).status == "original"
    assert verify(tmp_path / "plain.xlsx", KEYS).status == "unknown"
    with pytest.raises(ValueError, match="at least 16 bytes"):
        sign(manifest, b"short")


def test_a_record_is_believed_rather_than_the_manifest(tmp_path: Path) -> None:
    path = exported(tmp_path, BOOK)
    verdict = verify(path, KEYS, Record("f" * 64))
    assert (verdict.status, verdict.expected_hash) == ("modified", "f" * 64)
