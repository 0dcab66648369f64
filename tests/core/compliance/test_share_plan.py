"""Shares as a program of masks, beside the formulas run row by row, and beside sums by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.compliance import masks
from core.compliance.measuring import pools_of
from core.compliance.share_plan import SharePlan, Source, same_bounds
from core.compliance.shares import Fields, masked_sums, par_of
from core.definition import parse
from core.definition.formulas import Atom, Logic, share_of
from core.formula.evaluate import evaluate
from core.formula.language import FormulaError
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Deal, Names

NUMBERS = (
    math.nan,
    0.0,
    -0.0,
    80.0,
    79.99999999999999,
    80.00000000000001,
    80.0000000000001,
    400.0,
    -3.5,
    1e-300,
    1e300,
)
LINES = ("80", "-3.5", "0", "400", "79.9999999999999", "80.0000000000001", "1E+300", "1E-300")
COUNTRIES = ("US", "fr", "Côte d'Ivoire", "80")
LIENS = ("first_lien", "first_lien", "second_lien", "unsecured", "bond", "other")
FIELDS = ("price", "spread", "par_value", "custom", "maturity_date")
ATOMS = (
    *(f"{field}{sign}{line}" for field in FIELDS for sign in ("<", "<=", ">", ">=", "=", "<>") for line in LINES[:4]),
    *(f"{line}{sign}price" for sign in ("<", "<=", ">", ">=", "=", "<>") for line in LINES),
    *(f"price{joins}spread{sign}{line}" for joins in "+-*/" for sign in ("<", "=", "<>", ">=") for line in LINES),
    "price*price>100", "price/price=1", "ISBLANK(price)", "ISNUMBER(spread)", "ISBLANK(custom)", "ISBLANK(rank_a)",
    "years_to_maturity>0", "obligor_par>=50", "price*2>spread", "price>spread", "ROUND(price,0)=80", "price",
    "80=price", 'country="us"', 'country<>"FR"', 'OR(country={"US","FR"})', "ISTEXT(country)", "country>1",
    "NOT(ISBLANK(country))",
    'LEFT(country,1)="u"', "rank_a>=17", "rank_a>rank_b", "rank_a-rank_b>1", "rank_a=17", "is_dip", "is_dip=is_fixed",
    "IF(is_dip,rank_a,5)>4", 'lien="second_lien"', "LEN(lien)>5", 'lien=country', "marked", "marked=is_dip", 'word="x"',
    "TRUE", "1/0", "is_home", "custom*price<100", "custom+rank_a>10", 'IF(ISBLANK(price),rank_a>3,country="US")',
)  # fmt: skip


@st.composite
def formulas(draw: st.DrawFn) -> str:
    depth = draw(st.integers(0, 3))

    def tree(depth: int) -> str:
        if depth == 0 or draw(st.booleans()):
            return draw(st.sampled_from(ATOMS))
        word = draw(st.sampled_from(("AND", "OR", "NOT")))
        return f"{word}({','.join(tree(depth - 1) for _ in range(1 if word == 'NOT' else draw(st.integers(1, 3))))})"

    return "=" + tree(depth)


def book(seed: int, loans: int) -> Portfolio:
    chance = np.random.default_rng(seed)

    def numbers() -> NDArray[np.float64]:
        return chance.choice(NUMBERS, loans)

    def names(*values: str) -> Names:
        return Names(chance.integers(-1, len(values), loans).astype(np.int32), values)

    def some() -> NDArray[np.uint8]:
        return chance.integers(0, 2, loans).astype(np.uint8)

    par = chance.choice([math.nan, 1e6, 2.5e5, -3e5, 1 / 3, 0.1, 7e11], loans)
    custom = chance.choice([*NUMBERS, math.inf, -math.inf], loans)
    return Portfolio(
        loans,
        {"par_value": par, "price": numbers(), "spread": numbers(), "maturity_date": numbers(), "custom": custom},
        {"country": names(*COUNTRIES), "obligor": names("A", "B", "C"), "word": names("x", "Y")},
        {"is_dip": some(), "is_fixed": some(), "is_defaulted": some() & some(), "marked": some()},
        {"rating_agency_a": chance.choice([0, 1, 4, 5, 17, 21], loans).astype(np.uint8),
         "rating_agency_b": chance.choice([0, 2, 5, 16, 22], loans).astype(np.uint8)},
        chance.integers(0, 6, loans).astype(np.uint8),
        deal=Deal(as_of=100.0),
    )  # fmt: skip


RULES = parse({"tests": [{"id": "all_x", "name": "All", "share": "=TRUE", "max": 100}]})


def fields_of_book(seed: int, loans: int) -> Fields:
    return Fields(pools_of(book(seed, loans), RULES)[0])


def by_hand(weights: NDArray[np.float64], rows: list[bool]) -> float:
    """What is in a mask, in parts of 65,536 rows and 32 lanes."""
    total = 0.0
    for start in range(0, len(rows), masks.PART_ROWS):
        lanes = [0.0] * 32
        for row in range(start, min(len(rows), start + masks.PART_ROWS)):
            lanes[row % 32] += float(weights[row]) if rows[row] else 0.0
        part = 0.0
        for lane in lanes:
            part += lane
        total += part
    return total


def values_of(fields: Fields, row: int) -> dict[str, Any]:
    """What formulas call the fields of a loan; None for a blank."""
    pool = fields.pool
    book = pool.portfolio

    def number(value: float) -> float | None:
        return None if math.isnan(value) else value

    own = {name: number(float(column[row])) for name, column in book.numbers.items()}
    maturity = own["maturity_date"]
    names = {
        name: None if column.codes[row] < 0 else column.values[column.codes[row]] for name, column in book.names.items()
    }
    ranks = {f"rank_{each}": int(pool.view.ranks[f"rating_agency_{each}"][row]) for each in "ab"}
    assert book.lien is not None
    obligor = book.names["obligor"].codes
    par = math.fsum(pool.weights[obligor == obligor[row]])
    return {
        **own, **names, **{name: bool(column[row]) for name, column in book.flags.items()},
        **{name: float(rank) if 0 < rank <= 22 else None for name, rank in ranks.items()},
        "maturity_date": None if maturity is None else maturity + 25569,
        "years_to_maturity": None if maturity is None else (maturity - 100.0) / 365.25,
        "lien": LIENS[book.lien[row]], "is_home": names["country"] in (None, "US"),
        "obligor_par": None if obligor[row] < 0 else par,
    }  # fmt: skip


def answer(part: Atom | Logic, values: dict[str, Any]) -> bool | None:
    """TRUE, FALSE, or None where it cannot be told."""
    if isinstance(part, Logic):
        answers = [answer(each, values) for each in part.parts]
        if part.operator == "NOT":
            return None if answers[0] is None else not answers[0]
        decisive = part.operator == "OR"
        return decisive if decisive in answers else None if None in answers else not decisive
    read = {field: values[field] for field in part.fields}
    if any(read[field] is None for field in part.blank_matters) or math.inf in map(_size, read.values()):
        return None
    try:
        value = evaluate(f"={part.text}", read).value
    except FormulaError:
        return None
    return None if isinstance(value, str) or value is None else bool(value)


def _size(value: Any) -> float:
    return abs(value) if isinstance(value, float) else 0.0


@given(st.lists(formulas(), min_size=1, max_size=12), st.integers(0, 2**32), st.sampled_from([1, 7, 33, 64, 1_030]))
@settings(max_examples=60, deadline=None)
def test_one_program_gives_the_bits_of_each_formula_down_the_columns(texts: list[str], seed: int, loans: int) -> None:
    together, apart = fields_of_book(seed, loans), fields_of_book(seed, loans)
    together._add_up(SharePlan(tuple(dict.fromkeys(texts))))
    weights = apart.pool.weights
    for text in texts:
        true, unknown = apart.rows(share_of(text))
        expected = by_hand(weights, true.tolist()), 0.0 if unknown is None else by_hand(weights, unknown.tolist())
        assert together.share(text) == expected, text
        assert apart.share(text) == expected, text


@given(st.lists(formulas(), min_size=1, max_size=4), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_a_loan_counts_as_its_row_alone_says(texts: list[str], seed: int) -> None:
    fields = fields_of_book(seed, 20)
    rows = [values_of(fields, row) for row in range(20)]
    weights = fields.pool.weights
    for text in texts:
        part = share_of(text)
        answers = [answer(part, values) for values in rows]
        expected = tuple(by_hand(weights, [each is wanted for each in answers]) for wanted in (True, None))
        assert fields.share(text) == expected, (text, answers)


@given(st.lists(formulas(), min_size=2, max_size=12), st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_shares_of_many_columns_are_added_up_in_turns(texts: list[str], seed: int) -> None:
    together, in_turns = fields_of_book(seed, 33), fields_of_book(seed, 33)
    plan = SharePlan(tuple(dict.fromkeys(texts)))
    together._add_up(plan)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.compliance.shares.KEPT_ROWS_MAX", 1)
        in_turns._add_up(plan)
    assert in_turns._shares == together._shares


@given(st.lists(formulas(), min_size=1, max_size=8), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_an_infinite_number_of_a_column_counts_as_a_blank(texts: list[str], seed: int) -> None:
    blank, infinite = fields_of_book(seed, 40), fields_of_book(seed, 40)
    for name in ("par_value", "price", "spread", "maturity_date"):
        column = infinite.pool.portfolio.numbers[name]
        column[np.isnan(column)] = math.inf if seed % 2 else -math.inf
    seen = Fields(pools_of(infinite.pool.portfolio, RULES)[0])
    for text in (*texts, "=price/spread<0.3", "=spread/price>=0", "=price-spread>1", "=ISBLANK(price)"):
        assert seen.share(text) == blank.share(text), text
        assert [*map(_listed, seen.rows(share_of(text)))] == [*map(_listed, blank.rows(share_of(text)))], text


def _listed(rows: NDArray[np.bool_] | None) -> list[bool]:
    return [] if rows is None else rows.tolist()


@pytest.mark.parametrize("text", ["=price/custom<0.3", "=custom*price>0"])
def test_an_infinite_number_of_the_mapping_cannot_be_told(text: str) -> None:
    fields = fields_of_book(1, 20)
    fields.pool.portfolio.numbers["custom"][:] = math.inf
    true, unknown = fields.rows(share_of(text))
    assert unknown is not None
    assert fields.share(text) == (par_of(fields.pool.weights, true), par_of(fields.pool.weights, unknown))


def test_threads_and_rows_beyond_a_part_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(5)
    weights = chance.lognormal(size=3 * masks.PART_ROWS + 1_111)
    rows = chance.random(len(weights)) < 0.3
    assert par_of(weights, rows) == by_hand(weights, rows.tolist())
    monkeypatch.setattr("core.threads.threads_for", lambda most: 3)
    assert par_of(weights, rows) == by_hand(weights, rows.tolist())


@pytest.mark.parametrize("number", [80.0, -80.0, 0.1, 1.0, 1e15 / 3, 0.0, 5e-324, 1e308, 99999999999999.9])
def test_numbers_within_the_bounds_are_those_that_a_formula_takes_for_equal(number: float) -> None:
    low, high = same_bounds(number)
    assert low <= number <= high
    for inside, outside in ((low, math.nextafter(low, -math.inf)), (high, math.nextafter(high, math.inf))):
        assert evaluate("=a=b", {"a": inside, "b": number}).value is True
        if math.isfinite(outside):
            assert evaluate("=a=b", {"a": outside, "b": number}).value is False


@pytest.mark.parametrize(
    ("values", "is_kept"), [(("US", "FR"), True), (("x" * 65_537,), False), (("x",) * 1_025, False)]
)
def test_programs_of_long_texts_and_of_many_are_not_kept(values: tuple[str, ...], *, is_kept: bool) -> None:
    plan = SharePlan(('=country="US"',))
    sources = (Source("i", values=values),)
    assert (plan.bind(sources) is plan.bind(sources)) is is_kept


def test_a_program_refuses_what_it_cannot_run() -> None:
    bounds = (1.0, 255.0, 0.0, 1.0)
    total = (masks.OPERATIONS["sum"], 0, 0, 0, bounds, False, None)
    mask = (masks.OPERATIONS["bytes"], 0, 0, 0, bounds, False, None)
    with pytest.raises(ValueError, match="none has written"):
        masks.Program([total], "B")
    with pytest.raises(ValueError, match="of kind d"):
        masks.Program([mask, total], "d")
    table = (masks.OPERATIONS["code_table"], 0, 0, 0, bounds, False, b"\0\xff")
    program = masks.Program([table, total], "i")
    weights = np.ones(3)
    assert masked_sums(program, [np.array([0, -1, 0], np.int32)], weights) == [2.0]
    with pytest.raises(ValueError, match="not below the number of names"):
        masked_sums(program, [np.array([0, 1, 0], np.int32)], weights)
    with pytest.raises(ValueError, match="2 rows instead of 3"):
        masked_sums(program, [np.array([0, 1], np.int32)], weights)
