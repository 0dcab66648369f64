"""Names of agencies and trustees in what people read."""

from __future__ import annotations

import pytest

from core.labels import LABELS, label, labelled, spaced

OWN = {**LABELS, "rating_agency_a": "Agence", "trustee_b": "First Trust"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("rating_agency_a", "Moody's rating"),
        ("rating_agency_b", "S&P rating"),
        ("rating_agency_c", "Fitch rating"),
        ("rating_agency_b_facility", "S&P facility rating"),
        ("facility_rating_agency_a", "Moody's facility rating"),
        ("rating_agency_c_default_probability", "Fitch default probability rating"),
        ("trustee_a", "Trustee A"),
        ("trustee_c", "Trustee C"),
        ("par_value", "par_value"),
        ("rating_agency_d", "rating_agency_d"),
        ("trustee_name", "trustee_name"),
        ("my_trustee_a", "my_trustee_a"),
        ("trustee_a2", "trustee_a2"),
    ],
)
def test_the_words_of_a_name(name: str, words: str) -> None:
    assert label(name) == words
    assert labelled(f"({name}) is {name}.") == f"({words}) is {words}."


def test_a_tenants_own_words() -> None:
    assert label("rating_agency_a_issuer", OWN) == "Agence issuer rating"
    assert labelled("trustee_b's tape, rating_agency_c", OWN) == "First Trust's tape, Fitch rating"


def test_a_label_is_no_pattern() -> None:
    assert labelled("by trustee_a", {**LABELS, "trustee_a": r"\1 \g<0>"}) == r"by \1 \g<0>"


@pytest.mark.parametrize(
    "text",
    [
        "tapes/clo-trustee_b-tape.xlsx",
        "trustee_a.json",
        "out/trustee_a/book.xlsx",
        "--trustee=trustee_a",
        "buy 2000000 rating_agency_a=B2",
        "https://cushion.example/trustee_c/",
    ],
)
def test_files_and_what_is_typed_stay(text: str) -> None:
    assert labelled(text) == text


def test_a_name_waits_for_its_label() -> None:
    assert [spaced(name) for name in ("par_value", "rating_agency_a", "trustee_b")] == [
        "par value",
        "rating_agency_a",
        "trustee_b",
    ]
