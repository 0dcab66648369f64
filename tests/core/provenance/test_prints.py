"""Prints of cells: their differences are those of a cell-by-cell comparison, and their size is the stated one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.files.write import Formula
from core.grid.address import cell_name, parse_cell
from core.provenance import prints
from core.provenance.prints import DamagedPrints, Difference, differences, fingerprints
from tests.core import naive_provenance as naive
from tests.core.provenance.exported import book_of

KEY = b"kept by the server"
CELLS = st.dictionaries(
    st.builds(cell_name, st.integers(0, 40), st.integers(0, 3)),
    st.sampled_from([1.0, 2.0, "a", "b", True, "", Formula("B1", 1.0), Formula("C1", 1.0)]),
    max_size=12,
)


def compared(old: Any, new: Any) -> list[tuple[str, str]]:
    """(cell, status) cell by cell, by the plain twin's records, in the order of rows."""
    result = []
    for row in range(41):
        for column in range(4):
            item, second = (naive.record(book, book.sheets[0], row, column) for book in (old, new))
            if item != second:
                result.append((cell_name(row, column), "added" if not item else "changed" if second else "removed"))
    return result


@settings(max_examples=40, deadline=None)
@given(CELLS, CELLS)
def test_differences_are_those_of_the_cells(first: dict[str, Any], second: dict[str, Any]) -> None:
    old, new = book_of({"S": first}), book_of({"S": second})
    result, more = differences(fingerprints(old, None, KEY), KEY, new, {"S": "S"})
    assert [(item.cell, item.status) for item in result] == compared(old, new)
    assert not more


def test_the_first_thousand_are_told() -> None:
    old, new = (book_of({"S": {f"{c}{r}": v for r in range(1, 601) for c in "AB"}}) for v in (1.0, 2.0))
    result, more = differences(fingerprints(old, None, KEY), KEY, new, {"S": "S"})
    assert (len(result), result[0], result[-1], more) == (
        1_000, Difference("S", "A1", "changed"), Difference("S", "B500", "changed"), True
    )  # fmt: skip
    exactly, more = differences(fingerprints(old, None, KEY), KEY, new, {"S": "S"}, limit=1_200)
    assert (len(exactly), more) == (1_200, False)


def test_their_size_is_the_stated_one() -> None:
    dense = book_of({"S": {f"{c}{r}": 1.0 for r in range(1, 2_001) for c in "ABC"}})
    assert 4 * 6_000 <= len(fingerprints(dense, None, KEY)) <= 4 * 6_000 + 400
    loose = book_of({"S": {f"A{r}": 1.0 for r in range(1, 2_001, 2)}})
    assert 12 * 1_000 <= len(fingerprints(loose, None, KEY)) <= 12 * 1_000 + 400


def test_beyond_the_limit_it_is_said_that_there_may_be_more(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = {f"{column}{row}": 1.0 for row in range(1, 6) for column in "AB"}
    book = book_of({"S": cells, "T": {"A1": 1.0}})
    monkeypatch.setattr(prints, "CELLS_MAX", 7)
    kept = fingerprints(book, None, KEY)
    assert differences(kept, KEY, book, {"S": "S", "T": "T"}) == ([], True)
    changed = book_of({"S": cells | {"B2": 2.0, "B3": 2.0, "C1": 1.0}, "T": {"A1": 2.0}})
    result, more = differences(kept, KEY, changed, {"S": "S", "T": "T"})
    assert ([item.cell for item in result], more) == (["B2"], True)


def test_another_key_gives_other_prints() -> None:
    book = book_of({"S": {"A1": 1.0}})
    result, _ = differences(fingerprints(book, None, KEY), b"another", book, {"S": "S"})
    assert [item.status for item in result] == ["changed"]


SIPHASH = "a129ca6149be45e5"
"""Of the bytes 0 to 14 under the key of the bytes 0 to 15, from the appendix of the paper that defines SipHash."""


def test_a_print_is_siphash(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plain function against the paper's value, the compiled one against the plain."""
    assert f"{siphash(bytes(range(15)), bytes(range(16))):016x}" == SIPHASH
    for text in ("", "a", "1234567", "12345678", "x" * 100):
        book = book_of({"S": {"B7": text, "B9": 1.5}})
        kept = msgspec.msgpack.decode(fingerprints(book, None, KEY))
        key = derived(KEY)
        records = [naive.record(book, book.sheets[0], *parse_cell(cell)) for cell in ("B7", "B9")]
        expected = b"".join(siphash(data, key).to_bytes(8, "little")[:4] for data in records if data)
        assert kept[2][0][1][0][3] == expected


def derived(key: bytes) -> bytes:
    import hashlib

    return hashlib.blake2b(key, digest_size=16, person=b"svc_hash_v1").digest()


def siphash(data: bytes, key: bytes) -> int:
    """SipHash-2-4 as its paper has it."""
    mask = 2**64 - 1
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def turn(value: int, by: int) -> int:
        return (value << by | value >> (64 - by)) & mask

    def mix() -> None:
        v[0] = (v[0] + v[1]) & mask
        v[1] = turn(v[1], 13) ^ v[0]
        v[0] = turn(v[0], 32)
        v[2] = (v[2] + v[3]) & mask
        v[3] = turn(v[3], 16) ^ v[2]
        v[0] = (v[0] + v[3]) & mask
        v[3] = turn(v[3], 21) ^ v[0]
        v[2] = (v[2] + v[1]) & mask
        v[1] = turn(v[1], 17) ^ v[2]
        v[2] = turn(v[2], 32)

    padded = data + bytes(-(len(data) + 1) % 8) + bytes([len(data) % 256])
    for at in range(0, len(padded), 8):
        word = int.from_bytes(padded[at : at + 8], "little")
        v[3] ^= word
        mix()
        mix()
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(4):
        mix()
    return v[0] ^ v[1] ^ v[2] ^ v[3]


DAMAGED: list[Callable[[list[Any]], Any]] = [
    lambda kept: [],
    lambda kept: ["svc_hash_v0", *kept[1:]],
    lambda kept: [kept[0], True, [["S", [[0, b"123", b"1234", b"1234"]]]]],
    lambda kept: [kept[0], True, [["S", [[0, b"\0\0\0\0", b"\xff\xff\xff\x7f", b"1234"]]]]],
    lambda kept: [kept[0], True, [["S", [[0, b"\0\0\0\0", b"\xff\xff\xff\xff", b""]]]]],
]


def test_damaged_prints_are_told() -> None:
    book = book_of({"S": {"A1": 1.0}})
    whole = msgspec.msgpack.decode(fingerprints(book, None, KEY))
    for damage in DAMAGED:
        with pytest.raises(DamagedPrints):
            differences(msgspec.msgpack.encode(damage(whole)), KEY, book, {"S": "S"})
    with pytest.raises(DamagedPrints):
        differences(b"\xc1", KEY, book, {"S": "S"})
