"""Names of classes as deals write them, and what is none."""

from __future__ import annotations

from core.portfolio.model.classes import are_class_names, class_key, class_keys, covers, is_class_name
from tests.rows import every


@every(
    "text, key",
    [
        ("Class A Notes", "A"),
        ("Class B-1 Notes", "B1"),
        ("Class D -2 Notes", "D2"),
        ("A-1-R Notes", "A1"),
        ("CLASS A-1-R2", "A1"),
        ("CR", "C"),
        ("Tranche A", "A"),
        ("Class A Loans", "A"),
        ("Class A-1 Senior Secured Floating Rate Notes due 2036", "A1"),
        ("Class Subordinated Notes", ""),
        ("Class M-1 Subordinated Notes", "M1"),
        ("Preferred Shares", ""),
        ("Equity", ""),
    ],
)
def test_names_of_classes(text: str, key: str) -> None:
    assert is_class_name(text)
    assert class_key(text) == key


@every(
    "text",
    ["Acme Corp", "A Holdings", "Class A/B Par Value Test", "Total", "Loan", "Subaru Inc", "Equity One Inc", "BMC",
     "Dryden 45 Class E Notes", "Term Loan B", "E2open", "A" * 5_000],
)  # fmt: skip
def test_other_names(text: str) -> None:
    assert not is_class_name(text)


@every(
    "text, keys",
    [
        ("Class A/B Par Value Test", ("A", "B")),
        ("Class A-1/A-2/B Par Value Test", ("A1", "A2", "B")),
        ("Classes A and B Interest Coverage", ("A", "B")),
        ("Class A and Class B OC", ("A", "B")),
        ("Overcollateralization Ratio Test - Class A/B", ("A", "B")),
        ("Class A-R/B-R OC", ("A", "B")),
        ("A/B", ("A", "B")),
        ("Class C", ("C",)),
        ("Moody's Diversity Test", ()),
        ("Interest Diversion Test", ()),
        ("Class", ()),
        ("Classe A/B", ("A", "B")),
        ("Klasse C Test", ("C",)),
    ],
)
def test_the_classes_of_a_test(text: str, keys: tuple[str, ...]) -> None:
    assert class_keys(text) == keys


def test_a_letter_covers_its_numbers() -> None:
    covered = [("B", "B1"), ("A1", "A1A"), ("A", "A")]
    assert all(covers(key, note) for key, note in covered)
    assert not any(covers(key, note) for key, note in [("A1", "A11"), ("A", "B1"), ("", "A"), ("B1", "B")])


def test_a_column_of_classes_is_told_from_one_of_loans() -> None:
    assert are_class_names(["Class A Notes", "B-1", "B-2", "Subordinated Notes"])
    assert not are_class_names(["A", "B", "X"])  # borrowers without a name
    assert not are_class_names(["Class A Notes", "Acme Corp", "Bolt Inc"])
    assert not are_class_names([])
