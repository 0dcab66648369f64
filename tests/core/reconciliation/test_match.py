"""Matching: check digits against python-stdnum, keys, joins and nearest par against plain twins, and each stage."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from stdnum import cusip as stdnum_cusip
from stdnum import isin as stdnum_isin

from core.generate import generate
from core.portfolio.cells import text_cells
from core.reconciliation import Reconciliation, _match, reconcile
from tests.core.reconciliation.oracle import day, is_cusip, is_isin, is_loanx, portfolio_of
from tests.rows import every

SIGNS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ*@#"


def keys_of(strings: list[str | None], kind: int) -> list[int]:
    codes, text = text_cells.pool_of(strings)  # type: ignore[arg-type]
    return _match.identifier_keys(text.offsets, text.data, codes, kind).tolist()


# ---- check digits --------------------------------------------------------------------------------------------------


@settings(max_examples=300)
@given(st.text(SIGNS, min_size=8, max_size=8), st.sampled_from("0123456789AX"))
def test_cusips_are_sound_as_the_witness_says(stem: str, last: str) -> None:
    fitting = stem + stdnum_cusip.calc_check_digit(stem)
    sound = [key != 0 for key in keys_of([fitting, stem + last], _match.CUSIP)]
    assert sound == [fitting.strip("0") != "", is_cusip(stem + last)]


@settings(max_examples=300)
@given(st.sampled_from(["US", "XS", "GB", "LU", "QQ"]), st.text(SIGNS[:36], min_size=9, max_size=9), st.integers(0, 9))
def test_isins_are_sound_as_the_witness_says(country: str, body: str, last: int) -> None:
    fitting = country + body + stdnum_isin.calc_check_digit(country + body)
    sound = [key != 0 for key in keys_of([fitting, f"{country}{body}{last}"], _match.ISIN)]
    assert sound == [True, is_isin(f"{country}{body}{last}")]


def test_the_identifiers_of_a_generated_book_are_sound() -> None:
    columns = generate(loans=500).portfolio_columns()
    for name, kind in (("cusip", _match.CUSIP), ("loanx_id", _match.LOANX), ("isin", _match.ISIN)):
        texts = [text for text in np.asarray(columns[name]).tolist() if text]
        assert 0 not in keys_of(texts, kind)


@pytest.mark.parametrize(
    "text", ["LX131555", "LX28443T7", "LX12345", "LX1234", "LX1234567", "LX131555T", "LX131555T77", "lx131555", "", "L"]
)
def test_the_shape_of_loanx_ids(text: str) -> None:
    assert [key != 0 for key in keys_of([text], _match.LOANX)] == [is_loanx(text)]


def test_a_us_isin_holds_a_cusip_and_others_do_not() -> None:
    cusip = "037833100"
    us, canada = (country + cusip + stdnum_isin.calc_check_digit(country + cusip) for country in ("US", "CA"))
    broken = "US037833101" + stdnum_isin.calc_check_digit("US037833101")  # of the ISIN, not of the CUSIP
    assert keys_of([us, canada, broken, None], _match.EMBEDDED) == [keys_of([cusip], _match.CUSIP)[0], 0, 0, 0]


@settings(max_examples=200)
@given(st.lists(st.text(SIGNS, min_size=1, max_size=12), unique=True, min_size=2))
def test_packed_keys_tell_texts_apart_and_keep_their_order(texts: list[str]) -> None:
    order = {sign: place for place, sign in enumerate(SIGNS)}
    keys = keys_of(sorted(texts, key=lambda text: [order[sign] for sign in text]), _match.ANY)
    assert 0 not in keys
    assert sorted(set(keys)) == keys


def test_what_does_not_pack_has_no_key() -> None:
    assert keys_of(["A" * 13, "A B", "a", "É", None], _match.ANY) == [0] * 5


def test_codes_outside_their_pool_are_refused() -> None:
    _, text = text_cells.pool_of(["A"])
    for codes, offsets in (([1], text.offsets), ([0], np.array([0, 9])), ([0], np.array([5, 1]))):
        with pytest.raises(ValueError, match="leave"):
            _match.identifier_keys(offsets, text.data, np.array(codes, np.int32), _match.ANY)
    with pytest.raises(ValueError, match="pool"):
        _match.shared_codes(
            text.offsets, text.data, np.array([2], np.int32), text.offsets, text.data, np.zeros(1, np.int32)
        )


@given(st.lists(st.one_of(st.none(), st.text(max_size=20))), st.lists(st.one_of(st.none(), st.text(max_size=20))))
def test_shared_codes_are_equal_where_the_text_is(left_name: list[str | None], right: list[str | None]) -> None:
    pools = [text_cells.pool_of(strings) for strings in (left_name, right)]  # type: ignore[arg-type]
    (a, text), (b, other_text) = pools
    codes = _match.shared_codes(text.offsets, text.data, a, other_text.offsets, other_text.data, b)
    answer = [text or None for text in (*left_name, *right)]
    numbers = np.concatenate(codes).tolist()
    for i, first in enumerate(answer):
        for j, second in enumerate(answer):
            assert (numbers[i] == numbers[j]) == (first == second)
    assert [number < 0 for number in numbers] == [text is None for text in answer]


@given(st.lists(st.text(max_size=12)))
def test_folded_text_is_upper_case_words(strings: list[str]) -> None:
    _, text = text_cells.pool_of(["x", *strings])
    offsets, data = _match.folded(text.offsets, text.data)
    for code in range(len(text)):
        plain = "".join(
            sign.upper() if sign.isascii() and sign.isalnum() else " " if sign.isascii() else sign
            for sign in text[code]
        )
        words = data[offsets[code] : offsets[code + 1]].tobytes().decode()
        assert words == " ".join(word for word in plain.split(" ") if word)


# ---- joins ---------------------------------------------------------------------------------------------------------


def joined(tape: list[int], book: list[int]) -> tuple[dict[int, int], set[int], set[int]]:
    """Pairs of keys (0 is none) that stand once on each side, and the rows of keys on both that do not."""
    places: tuple[defaultdict[int, list[int]], defaultdict[int, list[int]]] = defaultdict(list), defaultdict(list)
    for side, keys in zip(places, (tape, book), strict=True):
        for row, key in enumerate(keys):
            if key:
                side[key].append(row)
    both = [(places[0][key], places[1][key]) for key in places[0].keys() & places[1].keys()]
    pairs = {a[0]: b[0] for a, b in both if len(a) == len(b) == 1}
    shared = [(a, b) for a, b in both if len(a) > 1 or len(b) > 1]
    return pairs, {row for a, _ in shared for row in a}, {row for _, b in shared for row in b}


def parted(keys: NDArray[np.uint64], count: int) -> _match.Parts:
    return _match.Parts(keys, np.arange(len(keys), dtype=np.int32), len(keys), count, 7)


def check_join(tape: NDArray[np.uint64], book: NDArray[np.uint64], part_count: int) -> None:
    tape_pair, book_pair = np.full(len(tape), -1, np.int32), np.full(len(book), -1, np.int32)
    parts = parted(tape, part_count), parted(book, part_count)
    halves = [
        _match.join(*parts, first, last, tape_pair, book_pair)
        for first, last in ((part_count // 2, part_count), (0, part_count // 2))
    ]
    count = sum(half[0] for half in halves)
    tape_rows, tape_groups = (np.concatenate(arrays) for arrays in zip(*(half[1] for half in halves), strict=True))
    book_rows, book_groups = (np.concatenate(arrays) for arrays in zip(*(half[2] for half in halves), strict=True))
    pairs, tape_shared, book_shared = joined(tape.tolist(), book.tolist())
    assert count == len(pairs)
    assert {row: pair for row, pair in enumerate(tape_pair.tolist()) if pair >= 0} == pairs
    assert {pair: row for row, pair in enumerate(book_pair.tolist()) if pair >= 0} == pairs
    assert (set(tape_rows.tolist()), set(book_rows.tolist())) == (tape_shared, book_shared)
    key_of = dict(zip(tape_groups.tolist(), tape[tape_rows].tolist(), strict=True))
    assert [key_of[group] for group in book_groups.tolist()] == book[book_rows].tolist()


@settings(max_examples=200)
@given(st.lists(st.integers(0, 12)), st.lists(st.integers(0, 12)), st.sampled_from([1, 2, 8]))
def test_joins_of_few_keys(tape: list[int], book: list[int], part_count: int) -> None:
    check_join(np.array(tape, np.uint64), np.array(book, np.uint64), part_count)


@pytest.mark.parametrize("part_count", [1, 32, 1024])
def test_joins_of_many_keys(part_count: int) -> None:
    chance = np.random.default_rng(1)
    tape, book = (chance.integers(1, 60_000, count).astype(np.uint64) for count in (50_000, 40_000))
    check_join(tape, book, part_count)


def test_a_million_rows_of_one_key_are_no_trouble() -> None:
    """Each part has a table of its own size.

    One that is large enough for all would be cleared 512 times.
    """
    keys = np.full(1_000_000, 5, np.uint64)
    pairs = np.full(1_000_000, -1, np.int32), np.full(1_000_000, -1, np.int32)
    parts = parted(keys, _match.parts_of(len(keys)))
    count, (tape_rows, _), (book_rows, _) = _match.join(parts, parts, 0, parts.count, *pairs)
    assert (count, parts.count, len(tape_rows), len(book_rows)) == (0, 512, 1_000_000, 1_000_000)


def test_parts_hold_a_few_thousand_keys() -> None:
    assert [_match.parts_of(count) for count in (0, 2_048, 2_049, 1_000_000, 10_000_000)] == [1, 1, 2, 512, 1_024]


@pytest.mark.parametrize("rows", [[1], [-1], []])
def test_rows_that_do_not_fit_are_not_parted(rows: list[int]) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        _match.Parts(np.ones(1, np.uint64), np.array(rows, np.int32), 1, 1, 7)


@pytest.mark.parametrize("count", [-1, 0, 3, 2_048])
def test_parts_are_a_power_of_two(count: int) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        parted(np.ones(1, np.uint64), count)


def test_what_a_join_refuses() -> None:
    item, pair = parted(np.ones(1, np.uint64), 2), np.full(1, -1, np.int32)
    other_seed = _match.Parts(np.ones(1, np.uint64), np.zeros(1, np.int32), 1, 2, 8)
    for second in (parted(np.ones(1, np.uint64), 1), other_seed):
        with pytest.raises(ValueError, match="do not fit"):
            _match.join(item, second, 0, 1, pair, pair)
    for first, last in ((-1, 1), (1, 0), (0, 3)):
        with pytest.raises(ValueError, match="do not fit"):
            _match.join(item, item, first, last, pair, pair)
    for pairs in ((pair[:0], pair), (pair, pair[:0])):
        with pytest.raises(ValueError, match="do not fit"):
            _match.join(item, item, 0, 2, *pairs)


def test_rows_without_a_partner() -> None:
    pair = np.array([-1, 4, -1, -1, 0], np.int32)
    assert _match.unpaired(np.array([0, 1, 3, 4], np.int32), pair).tolist() == [0, 3]
    for row in (-1, 5):
        with pytest.raises(ValueError, match="outside"):
            _match.unpaired(np.array([row], np.int32), pair)


@pytest.mark.parametrize("pair", [[-1, 4, -1, -1, 0], [2, 1, 0], [-1, -1], [], [0, -1]])
def test_rows_with_a_partner(pair: list[int]) -> None:
    rows, partners = _match.paired(np.array(pair, np.int32))
    assert (rows.dtype, partners.dtype) == (np.int32, np.int32)
    assert list(zip(rows.tolist(), partners.tolist(), strict=True)) == [
        (row, partner) for row, partner in enumerate(pair) if partner >= 0
    ]


def test_rows_keep_the_keys_that_they_have() -> None:
    text = text_cells.pool_of(["US0378331005", "US5949181045", "", "XS0378331005"])[1]
    codes, keys = np.array([0, 1, -1, 2, 3, 0], np.int32), np.array([7, 0, 0, 0, 0, 0], np.uint64)
    alone = _match.identifier_keys(text.offsets, text.data, codes, _match.EMBEDDED)
    assert np.count_nonzero(alone) == 3
    both = _match.identifier_keys(text.offsets, text.data, codes, _match.EMBEDDED, keys)
    assert both is keys
    assert both.tolist() == [7, *alone[1:].tolist()]
    with pytest.raises(ValueError, match="differ in length"):
        _match.identifier_keys(text.offsets, text.data, codes, _match.EMBEDDED, keys[1:])


# ---- nearest par ---------------------------------------------------------------------------------------------------


@settings(max_examples=300)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 40), st.booleans())))
def test_the_nearest_are_paired_first(rows: list[tuple[int, int, bool]]) -> None:
    """Each pair is the closest of what is left at its turn.

    Where distances are equal, the first in the list.
    """
    rows = sorted(rows)
    groups, par, sides = (np.array(column) for column in zip(*rows, strict=True)) if rows else (np.zeros(0),) * 3
    partner = _match.pair_nearest(groups.astype(np.int64), par.astype(np.float64), sides.astype(np.uint8)).tolist()
    expected = [-1] * len(rows)
    while True:
        left = [at for at in range(len(rows)) if expected[at] < 0]
        near = [
            (rows[b][1] - rows[a][1], a, b)
            for a, b in pairwise(left)
            if rows[a][0] == rows[b][0] and rows[a][2] != rows[b][2]
        ]
        if not near:
            break
        distance, a, b = min(near)
        assert distance == min(
            abs(rows[i][1] - rows[j][1])
            for i in left for j in left if rows[i][0] == rows[j][0] and rows[i][2] < rows[j][2]
        )  # fmt: skip
        expected[a], expected[b] = b, a
    assert partner == expected


def test_a_hundred_thousand_loans_of_one_name_are_no_trouble() -> None:
    chance = np.random.default_rng(2)
    par = np.sort(chance.uniform(0, 1e9, 100_000))
    partner = _match.pair_nearest(np.zeros(100_000, np.int64), par, (chance.random(100_000) < 0.5).astype(np.uint8))
    assert np.count_nonzero(partner >= 0) > 98_000


# ---- stages --------------------------------------------------------------------------------------------------------

MATURITY = day("2030-06-30")
CUSIP, OTHER = "037833100", "594918104"
US = "US" + CUSIP + stdnum_isin.calc_check_digit("US" + CUSIP)
OTHER_US = "US" + OTHER + stdnum_isin.calc_check_digit("US" + OTHER)
XS = "XS0104440986"


def paired(tape: dict[str, Any], book: dict[str, Any]) -> Reconciliation:
    """One loan on each side."""
    return reconcile(*(portfolio_of(**{name: [value] for name, value in side.items()}) for side in (tape, book)))


@every(
    "tape, book, stage",
    [
        ({"cusip": CUSIP}, {"cusip": CUSIP}, "cusip"),
        ({"cusip": CUSIP}, {"isin": US}, "cusip"),
        ({"isin": US}, {"cusip": CUSIP}, "cusip"),
        ({"cusip": "03783310X", "isin": US}, {"cusip": CUSIP}, "cusip"),
        ({"cusip": OTHER, "isin": US}, {"cusip": CUSIP}, "cusip"),
        ({"cusip": CUSIP}, {"cusip": OTHER, "isin": US}, "cusip"),
        ({"cusip": CUSIP, "isin": OTHER_US}, {"cusip": OTHER, "isin": US}, "cusip"),
        ({"cusip": CUSIP, "isin": OTHER_US}, {"isin": OTHER_US}, "isin"),
        ({"cusip": CUSIP, "isin": XS, "borrower_name": "A"}, {"isin": OTHER_US, "borrower_name": "B"}, None),
        ({"cusip": CUSIP, "loanx_id": "LX131555"}, {"cusip": OTHER, "loanx_id": "LX131555"}, "loanx_id"),
        ({"cusip": None, "loanx_id": "LX131555"}, {"cusip": OTHER, "loanx_id": "LX131555"}, "loanx_id"),
        ({"cusip": CUSIP, "isin": XS}, {"cusip": OTHER, "isin": XS}, "isin"),
        ({"cusip": "PRIVATE01"}, {"cusip": "PRIVATE01"}, "cusip"),
        ({"loanx_id": "A LOAN OF OURS"}, {"loanx_id": "A LOAN OF OURS"}, "loanx_id"),
        ({"isin": "XS0104440987"}, {"isin": "XS0104440987"}, "isin"),
        (
            {"borrower_name": "Acme & Sons, Inc.", "maturity_date": MATURITY},
            {"borrower_name": "ACME AND SONS", "maturity_date": MATURITY, "par_value": 9e6},
            "borrower_maturity",
        ),
        (
            {"borrower_name": "Acme Inc", "maturity_date": MATURITY, "facility_name": "Term Loan B-1"},
            {"borrower_name": "ACME", "maturity_date": 1.0, "facility_name": "TERM LOAN (B 1)", "par_value": 9e6},
            "borrower_name",
        ),
        ({"borrower_name": "Acme Holdings LLC"}, {"borrower_name": "Acme Intermediate, Inc."}, "borrower_name"),
        ({"borrower_name": "Acme Holdco LLC"}, {"borrower_name": "Acme BidCo"}, "borrower_name"),
        ({"borrower_name": "Acme Holding"}, {"borrower_name": "Acme"}, "borrower_name"),
        ({"borrower_name": "Holdings LLC"}, {"borrower_name": "Intermediate LLC"}, None),
        ({"maturity_date": MATURITY}, {"maturity_date": MATURITY + 0.5, "par_value": 9e6}, "borrower_maturity"),
        ({"maturity_date": MATURITY}, {"maturity_date": MATURITY + 1, "par_value": 9e6}, None),
        ({"borrower_name": "Acme", "par_value": 1e6}, {"borrower_name": "ACME", "par_value": 950e3}, "borrower_name"),
        ({"borrower_name": "Acme", "par_value": 1e6}, {"borrower_name": "ACME", "par_value": 949_999.0}, None),
        ({"borrower_name": "Acme"}, {"borrower_name": "Acme Two"}, None),
        ({"cusip": CUSIP, "borrower_name": "A"}, {"cusip": OTHER, "borrower_name": "B"}, None),
        ({"cusip": "000000000", "borrower_name": "A"}, {"isin": "US0000000000", "borrower_name": "B"}, None),
        ({"isin": "CA0378331005"}, {"cusip": CUSIP, "borrower_name": "B"}, None),
    ],
)  # fmt: skip
def test_each_stage(tape: dict[str, Any], book: dict[str, Any], stage: str | None) -> None:
    result = paired(tape, book)
    assert {name: count for name, count in result.stages.items() if count} == ({} if stage is None else {stage: 1})
    assert sum(result.ambiguous.values()) == 0
    assert {issue.identifier_type for issue in result.issues if issue.issue_type == "value_mismatch"} <= {stage}


@every(
    "identifier, text, is_sound",
    [
        ("cusip", CUSIP, True), ("loanx_id", "LX131555", True), ("isin", XS, True),
        ("cusip", "PRIVATE01", False), ("loanx_id", "A LOAN OF OURS", False), ("isin", "XS0104440987", False),
    ],
)  # fmt: skip
def test_only_identifiers_that_are_not_sound_are_warned_of(identifier: str, text: str, is_sound: bool) -> None:
    codes = [warning.code for warning in paired({identifier: text}, {identifier: text}).warnings]
    assert codes == ([] if is_sound else ["matched_by_doubtful_identifier"])


def test_entities_of_one_group_are_told_apart_by_their_full_names_first() -> None:
    """By the looser name they would be two on either side."""
    tape = portfolio_of(borrower_name=["Acme Corp.", "Acme Holdings"], par_value=[1e6, 3e6])
    book = portfolio_of(borrower_name=["Acme Holdings Ltd", "ACME"], par_value=[3e6 + 1, 1e6 + 1])
    result = reconcile(tape, book)
    assert dict(zip(*(rows.tolist() for rows in result.pairs), strict=True)) == {0: 1, 1: 0}
    assert (result.stages["borrower_name"], sum(result.ambiguous.values())) == (2, 0)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_borrower_alone_within_exactly_five_percent(sign: int) -> None:
    """In cents, where a twentieth of the par is no binary number."""
    cents = [sign * (100_000_000 + 1_234_560 * number) for number in range(400)]
    names = [f"Borrower {number}" for number in range(400)]
    tape = portfolio_of(borrower_name=names, par_value=[par / 100 for par in cents])
    book = portfolio_of(borrower_name=names, par_value=[(par + par // 20) / 100 for par in cents])
    assert reconcile(tape, book).stages["borrower_name"] == 400
    book = portfolio_of(borrower_name=names, par_value=[(par + par // 20 + sign) / 100 for par in cents])
    assert reconcile(tape, book).stages["borrower_name"] == 0


def test_the_order_of_the_stages() -> None:
    assert list(paired({"cusip": CUSIP}, {"cusip": CUSIP}).stages) == [
        "cusip", "loanx_id", "isin", "borrower_maturity", "borrower_name"
    ]  # fmt: skip


def test_an_earlier_stage_takes_its_loans_from_the_later_ones() -> None:
    """By LoanX id alone the first of the tape would be the second of the portfolio."""
    tape = portfolio_of(cusip=[CUSIP, None], loanx_id=["LX131555", "LX131556"], borrower_name=["A", "B"])
    book = portfolio_of(cusip=[CUSIP, OTHER], loanx_id=["LX131556", "LX131555"], borrower_name=["C", "D"])
    result = reconcile(tape, book)
    assert [rows.tolist() for rows in result.pairs] == [[0], [0]]
    assert (result.stages["cusip"], result.summary.unmatched_trustee, result.summary.unmatched_internal) == (1, 1, 1)


def test_an_identifier_that_fails_its_check_is_told() -> None:
    [answer] = paired({"cusip": "PRIVATE01"}, {"cusip": "PRIVATE01"}).warnings
    assert (answer.code, answer.rows) == ("matched_by_doubtful_identifier", 1)
    assert paired({"cusip": CUSIP}, {"cusip": CUSIP}).warnings == ()


def test_loans_of_one_borrower_and_maturity_are_paired_by_nearest_par_and_told() -> None:
    tape = portfolio_of(borrower_name=["Acme"] * 3, maturity_date=[MATURITY] * 3, par_value=[1e6, 5e6, 9e6])
    book = portfolio_of(borrower_name=["ACME"] * 2, maturity_date=[MATURITY] * 2, par_value=[9.1e6, 1.01e6])
    result = reconcile(tape, book)
    assert dict(zip(*(rows.tolist() for rows in result.pairs), strict=True)) == {0: 1, 2: 0}
    assert result.ambiguous["borrower_maturity"] == 1
    doubts = [issue for issue in result.issues if issue.field_name == "duplicates"]
    assert [(doubt.trustee_value, doubt.internal_value, doubt.issue_type) for doubt in doubts] == [
        ("3", "2", "duplicate_position")
    ] * 3
    assert len({issue.loan_key for issue in doubts}) == 3
    assert sorted(doubt.identifier_type for doubt in doubts) == [
        "borrower_maturity",
        "borrower_maturity",
        "borrower_name",
    ]


def test_loans_that_hold_the_same_are_paired_with_each_other_and_not_told() -> None:
    columns = {"borrower_name": ["Acme"] * 3, "maturity_date": [MATURITY] * 3, "par_value": [1e6, 1e6, 1e6]}
    tape = portfolio_of(**columns, spread=[300.0, 400.0, 500.0])
    book = portfolio_of(**columns, spread=[500.0, 300.0, 400.0])
    result = reconcile(tape, book)
    assert result.pairs[1].tolist() == [1, 2, 0]
    assert (len(result.issues), sum(result.ambiguous.values())) == (0, 0)


@pytest.mark.parametrize("apart", [0.0, 0.005, -0.005])
@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [2, 1, 0]])
def test_where_par_is_equal_what_the_loans_hold_decides_and_not_their_rows(order: list[int], apart: float) -> None:
    """Least beside least: else differences within the tolerance would become breaks."""
    same = {"borrower_name": ["Acme"] * 3, "maturity_date": [MATURITY] * 3}
    tape = portfolio_of(**same, par_value=[1e6] * 3, spread=np.array([300.0, 400.0, 500.0])[order])
    for book_order in ([0, 1, 2], [1, 2, 0]):
        spread = np.array([305.0, 405.0, 505.0])[book_order]
        result = reconcile(tape, portfolio_of(**same, par_value=[1e6 + apart] * 3, spread=spread))
        assert {issue.rule for issue in result.issues} == {"duplicate"}
        assert [book_order[row] for row in result.pairs[1].tolist()] == order


def test_loans_that_only_their_ratings_tell_apart_are_paired_whatever_their_rows() -> None:
    same = {"borrower_name": ["Acme"] * 2, "maturity_date": [MATURITY] * 2}
    book = portfolio_of(**same, rating_agency_a=np.array([15, 17], np.uint8))
    for ranks in ([14, 16], [16, 14]):
        issues = reconcile(portfolio_of(**same, rating_agency_a=np.array(ranks, np.uint8)), book).issues
        answer = {(issue.trustee_value, issue.internal_value) for issue in issues if issue.rule == "rating"}
        assert answer == {("B1", "B2"), ("B3", "Caa1")}


@pytest.mark.parametrize("ids", [["LX131555", "LX131556"], ["LX131556", "LX131555"]])
def test_which_of_two_equal_loans_has_no_partner_does_not_hang_on_their_rows(ids: list[str]) -> None:
    """The ids are on the tape only, so that nothing compared tells the two apart."""
    tape = portfolio_of(borrower_name=["Acme"] * 2, maturity_date=[MATURITY] * 2, loanx_id=ids)
    book = portfolio_of(borrower_name=["Acme"], maturity_date=[MATURITY])
    issues = [issue for issue in reconcile(tape, book).issues if issue.rule == "missing_loan"]
    assert [issue.primary_identifier for issue in issues] == ["LX131556"]


def test_a_cusip_that_two_loans_have_by_their_isins_is_doubtful() -> None:
    """One by its own CUSIP, one by its ISIN alone.

    Lots are told by their own identifiers.
    """
    tape = portfolio_of(cusip=[CUSIP, None], isin=[None, US], par_value=[1e6, 3e6])
    book = portfolio_of(cusip=[CUSIP], par_value=[3.1e6])
    result = reconcile(tape, book)
    assert result.pairs[0].tolist() == [1]
    assert result.ambiguous["cusip"] == 1
    assert {issue.issue_type for issue in result.issues} == {
        "value_mismatch",
        "missing_in_internal",
        "duplicate_position",
    }


PRINTED: list[tuple[dict[str, Any], dict[str, Any], int]] = [
    ({"loanx_id": ["LX284437"]}, {"loanx_id": ["LX28443T7"]}, 1),
    # Two loans of a side share the five digits, also where one of them has a partner already.
    ({"loanx_id": ["LX284437", "LX284438"]}, {"loanx_id": ["LX28443T7", "LX28443T8"]}, 0),
    ({"loanx_id": ["LX284437", "LX284438"]}, {"loanx_id": ["LX28443T7", "LX284438"]}, 0),
    # Other digits behind: the borrower must say it.
    ({"loanx_id": ["LX284431"], "borrower_name": ["Acme"]}, {"loanx_id": ["LX28443T7"], "borrower_name": ["Zeta"]}, 0),
    (
        {"loanx_id": ["LX284431"], "borrower_name": ["Acme"]},
        {"loanx_id": ["LX28443T7"], "borrower_name": ["ACME INC"]},
        1,
    ),
    ({"isin": ["XS2250154"]}, {"isin": ["XS2250154494"]}, 1),
    ({"isin": ["XS2250154"]}, {"isin": ["XS2250154494", "XS2250154577"]}, 0),
]


@every("tape, book, printed", PRINTED)
def test_identifiers_in_two_prints_are_paired_and_told(
    tape: dict[str, Any], book: dict[str, Any], printed: int
) -> None:
    tape, book = dict(tape), dict(book)
    tape.setdefault("borrower_name", [f"Tape {row}" for row in range(len(next(iter(tape.values()))))])
    answer = reconcile(portfolio_of(**tape), portfolio_of(**book))
    exact = sum(1 for item in tape.get("loanx_id", ()) if item in book.get("loanx_id", ()))
    assert answer.summary.matched == printed + exact
    assert any(warning.code == "matched_by_print" for warning in answer.warnings) == bool(printed)


SAME_IDENTIFIERS = (
    ("cusip", "03783 31 0 0", "037833100"), ("cusip", "037833-10-0", "037833100"),
    ("cusip", "'037833100", "037833100"),
    ("cusip", '="037833100"', "037833100"), ("cusip", "12A456 7B x", "12a4567bx"),
    ("cusip", "12A.456/7BX", "12A4567BX"),
    ("cusip", "\uff10\uff13\uff17833100", "037833100"), ("cusip", "12A456\u00a07BX", "12A4567BX"),
    ("cusip", "12A456\u20117BX", "12\u200bA4567BX"), ("loanx_id", "lx 123456", "LX123456"),
    ("loanx_id", "LX-28443-T7", "lx28443t7"), ("loanx_id", "LIN/2024/001", "lin-2024-001"),
    ("isin", "us 0378331005", "US0378331005"), ("isin", "XS 2250154494", "XS2250154494"),
    ("isin", "bbg000.b9xry4", "BBG 000 B9XRY4"), ("isin", "Loan_17", "LOAN 17"),
)  # fmt: skip


@every("field, theirs, ours", SAME_IDENTIFIERS)
def test_identifiers_are_compared_by_letters_and_digits(field: str, theirs: str, ours: str) -> None:
    """In both directions, with no loan missing and nothing to say of the identifier."""
    for item, second in ((theirs, ours), (ours, theirs)):
        sides = [
            portfolio_of(**{field: [text, "594918104"]}, borrower_name=[name, f"{name} Two"], maturity_date=[at, at])
            for text, name, at in ((item, "Alder", 20_000.0), (second, "Birch", 20_100.0))
        ]
        result = reconcile(*sides)
        assert (result.summary.matched, result.summary.unmatched_trustee, result.summary.unmatched_internal) == (
            2,
            0,
            0,
        )
        assert [issue.field_name for issue in result.issues if issue.field_name == field] == []


@every(
    "tape, book, matched",
    [
        (["A-1 0", "A-10"], ["A-10"], [(1, 0)]),
        (["A-1 0", "A-10"], ["A10"], []),
        (["A-10"], ["A 10", "A1-0"], []),
        (["A-1 0", "A-10"], ["A-10", "A 10"], [(1, 0)]),
        (["A-1 0", "B-7"], ["A10", "B7"], [(0, 0), (1, 1)]),
        (["--", "A-1"], ["/", "A-2"], []),
    ],
)
def test_identifiers_that_signs_tell_apart_stay_apart(
    tape: list[str], book: list[str], matched: list[tuple[int, int]]
) -> None:
    theirs, ours = (
        portfolio_of(
            loanx_id=texts,
            borrower_name=[f"{name} {at}" for at in range(len(texts))],
            par_value=[1e6 + at for at in range(len(texts))],
        )
        for name, texts in (("Alder", tape), ("Birch", book))
    )
    assert (theirs.row_count, ours.row_count) == (len(tape), len(book)), "no lots are made of them"
    result = reconcile(theirs, ours)
    assert result.summary.matched == len(matched)
    answer = {
        (issue.trustee_value, issue.internal_value) for issue in result.issues if issue.field_name == "borrower_name"
    }
    assert answer == {(f"Alder {item}", f"Birch {second}") for item, second in matched}


def test_a_column_of_identifiers_in_groups_is_matched_fast() -> None:
    """A hundred thousand of each kind: standard form, and letters and digits."""
    count = 100_000
    own = [f"LN-{at:06d}" for at in range(count)]
    theirs = portfolio_of(loanx_id=own, borrower_name=[f"A{at}" for at in range(count)])
    names = [f"B{at}" for at in range(count)]
    ours = portfolio_of(loanx_id=[text.replace("-", "/") for text in own], borrower_name=names)
    assert reconcile(theirs, ours).summary.matched == count
