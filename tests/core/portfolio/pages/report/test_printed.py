"""What five files print about themselves, line by line, against a transcript that was checked by hand.

The transcripts stand in `printed/`, one for each file: every test and figure with its subject, and cash, notes and the
sums that prove them. They were made from the pages, never from what the reader says.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from core.files.read import read
from core.portfolio import Portfolio
from core.portfolio.model.facts import Fact, FactSubject

DATA = Path(__file__).parents[5] / "../shared/data"
PRINTED = Path(__file__).parent / "printed"
NAMES = [
    path.stem
    for path in sorted(PRINTED.glob("*.json"))
    if (DATA / json.loads(path.read_text("utf-8"))["file"]).exists()
]
CENT = 0.005 + 1e-9

by_file = pytest.mark.parametrize("name", NAMES)


@cache
def transcript(name: str) -> dict[str, Any]:
    printed: dict[str, Any] = json.loads((PRINTED / f"{name}.json").read_text("utf-8"))
    return printed


@cache
def portfolio(name: str) -> Portfolio:
    return Portfolio.from_workbook(read(DATA / transcript(name)["file"]))


def places_of(fact: Fact) -> set[str]:
    return {fact.place, *fact.also}


def found_for(row: dict[str, Any], figures: tuple[Fact, ...]) -> Fact | None:
    """Return the fact at one of the row's places."""
    wanted = set(row["places"])
    return next((fact for fact in figures if fact.place in wanted), None) or next(
        (fact for fact in figures if places_of(fact) & wanted), None
    )


def is_equal(printed: float | None, own: float | None) -> bool:
    if printed is None or own is None:
        return printed is own
    return abs(printed - own) <= max(1e-6, 1e-12 * abs(printed))


def subject_faults(printed: dict[str, Any], own: FactSubject | None) -> list[str]:
    """Where a subject is another than the page's.

    `loose` names what the page leaves open.
    """
    if own is None:
        return [f"subject is None, not {printed}"]
    loose = {*printed.get("loose", ()), *({"is_complement"} if own.measure != "country" else ())}
    wanted = {
        "measure": printed["measure"],
        "classes": tuple(printed.get("classes", ())),
        "agency": printed.get("agency"),
        "rank": printed.get("rank"),
        "aggregate": printed.get("aggregate"),
        "with_cash": printed.get("with_cash", False),
        "subset": printed.get("subset"),
        "is_complement": False,
    }
    faults = [
        f"{field} is {getattr(own, field)!r}, not {value!r}"
        for field, value in wanted.items()
        if field not in loose and getattr(own, field) != value
    ]
    if "detail" not in loose and (own.detail is None) != (printed.get("detail") is None):
        faults.append(f"detail is {own.detail!r}, not {printed.get('detail')!r}")
    return faults


def fact_faults(row: dict[str, Any], fact: Fact | None) -> list[str]:
    """Return each field of a fact that is not what the page prints."""
    if fact is None:
        return ["not read"]
    faults = [
        f"{field} is {getattr(fact, field)!r}, not {row[field]!r}"
        for field in ("value", "numerator", "denominator", "trigger")
        if not is_equal(row[field], getattr(fact, field))
    ]
    if row["trigger"] is not None and fact.direction != row["direction"]:
        faults.append(f"direction is {fact.direction!r}, not {row['direction']!r}")
    if fact.status != row["status"]:
        faults.append(f"status is {fact.status!r}, not {row['status']!r}")
    if row["unit"] is not None and fact.unit != row["unit"]:
        faults.append(f"unit is {fact.unit!r}, not {row['unit']!r}")
    if not any(abs(fact.tolerance - 0.5 * 10.0**-decimals) < 1e-7 for decimals in row["decimals"]):
        faults.append(f"decimals are {fact.decimals!r}, not {row['decimals']!r}, for a tolerance of {fact.tolerance:g}")
    if fact.conflict:
        faults.append(f"is in conflict: {fact.conflict}")
    is_test = row["trigger"] is not None or row["status"] is not None
    if is_test and fact.kind != "test":
        faults.append(f"kind is {fact.kind!r}")
    return faults + subject_faults(row["subject"], fact.subject)


def table(faults: dict[str, list[str]]) -> str:
    return "\n".join(f"{label[:60]:60} {'; '.join(fault)}" for label, fault in faults.items())


@by_file
def test_every_printed_row_is_read_as_printed(name: str) -> None:
    """Value, subject, numerator, denominator, limit, side, status and printed digits of every row."""
    figures = portfolio(name).facts.figures
    faults = {
        f"{at} {row['label']}": row_faults
        for at, row in enumerate(transcript(name)["rows"])
        if (row_faults := fact_faults(row, found_for(row, figures)))
    }
    assert not faults, f"{len(faults)} of {len(transcript(name)['rows'])} rows of {name}:\n{table(faults)}"


@by_file
def test_nothing_else_is_read_as_a_test(name: str) -> None:
    """What is no row of the transcript is no test.

    And no figure with a subject, unless the page prints it so.
    """
    printed = transcript(name)
    known = {place for row in printed["rows"] for place in row["places"]}
    others = {entry["place"]: entry["value"] for entry in printed["others"]}
    faults = {}
    for fact in portfolio(name).facts.figures:
        if places_of(fact) & known:
            continue
        if (value := others.get(fact.place)) is not None:
            if not is_equal(value, fact.value):
                faults[f"{fact.place} {fact.label}"] = [f"value is {fact.value!r}, not {value!r}"]
        elif fact.kind == "test" or fact.subject is not None:
            faults[f"{fact.place} {fact.label}"] = [f"is read as a {fact.kind} of {fact.subject}: {fact.value!r}"]
    assert not faults, f"{name}:\n{table(faults)}"


@by_file
def test_two_things_never_have_one_subject(name: str) -> None:
    """Rows about different things are told apart.

    Else one would be set beside the figure of the other.
    """
    figures = portfolio(name).facts.figures
    seen: dict[FactSubject, tuple[str, str]] = {}
    faults = {}
    for row in transcript(name)["rows"]:
        fact = found_for(row, figures)
        if fact is None or fact.subject is None:
            continue
        printed = json.dumps(row["subject"], sort_keys=True)
        earlier, label = seen.setdefault(fact.subject, (printed, row["label"]))
        if earlier != printed:
            faults[row["label"]] = [f"has the subject of {label}: {fact.subject}"]
    assert not faults, f"{name}:\n{table(faults)}"


@by_file
def test_cash_is_proved_by_the_collateral_principal_amount(name: str) -> None:
    printed, read_portfolio = transcript(name), portfolio(name)
    assert printed["currency"] in (None, read_portfolio.deal.currency)
    assert read_portfolio.deal.principal_cash == pytest.approx(printed["cash"], abs=CENT)
    identity = read_portfolio.facts.identity("collateral_principal_amount")
    assert identity is not None
    assert (identity.holds, identity.is_proved) == (True, True), identity
    assert identity.total == pytest.approx(printed["identity"]["total"], abs=CENT)
    parts = [amount for _, amount in identity.parts]
    assert any(amount == pytest.approx(printed["cash"], abs=CENT) for amount in parts), identity.parts
    assert sum(parts) == pytest.approx(identity.total, abs=CENT)
    others = [alike for alike in read_portfolio.facts.identities if alike.name == identity.name]
    assert all(alike.holds for alike in others), others


@by_file
def test_the_parts_of_interest_coverage(name: str) -> None:
    """Collected, still to be received, and the senior items, which are subtracted once whatever their printed sign."""
    printed, read_portfolio = transcript(name), portfolio(name)
    deal = read_portfolio.deal
    own = {"collected": deal.interest_collected, "receivable": deal.interest_receivable, "senior": deal.senior_fees}
    for part, amount in printed["interest"].items():
        if amount is None:
            assert own[part] is None, part
        else:
            assert own[part] is not None, part
            assert abs(own[part] or 0.0) == pytest.approx(amount, abs=CENT), part


@by_file
def test_what_each_class_is(name: str) -> None:
    """Balances, spreads, coupons, interest due and deferred interest of the notes.

    NaN where the page has none.
    """
    tranches = portfolio(name).tranches
    assert tranches is not None
    notes = transcript(name)["notes"]
    assert len(tranches.classes) == len(notes), tranches.classes
    columns = {
        "balance": (tranches.current_balance, 1.0, CENT),
        "original": (tranches.original_balance, 1.0, CENT),
        "coupon": (tranches.coupon, 1.0, 1e-6),
        "spread": (tranches.spread, 0.01, 1e-6),
        "due": (tranches.interest_due, 1.0, CENT),
        "deferred": (tranches.deferred_interest, 1.0, CENT),
    }
    faults = {
        f"{note['name']} {field}": [f"is {values[at] * scale}, not {note[field]}"]
        for at, note in enumerate(notes)
        for field, (values, scale, within) in columns.items()
        if note[field] is not None and not abs(values[at] * scale - note[field]) <= within
    }
    assert not faults, f"{name}:\n{table(faults)}"


@by_file
def test_an_empty_page_is_none(name: str) -> None:
    """A page that says that it has no data is a fact, by which its share is zero."""
    pages = {fact.place.partition("!")[0].strip("'") for fact in portfolio(name).facts.of("empty_page")}
    assert set(transcript(name)["empty_pages"]) <= pages
