"""What a file prints about itself: figures with subject and place, as evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from core.frames.brief import brief
from core.labels import LABELS

Agency = Literal["a", "b", "c"]
"""Moody's, S&P and Fitch."""

AGENCIES: Final[tuple[Agency, ...]] = get_args(Agency)

AGENCY_NAMES: Final[dict[str, str]] = {letter: LABELS[f"rating_agency_{letter}"] for letter in "abc"}

Kind = Literal[
    "test",
    "figure",
    "component",
    "stratification",
    "list",
    "total",
    "empty_page",
    "account",
    "note",
]
"""test: a figure with a limit or a status. figure: one with neither, such as a printed WARF. component: a line of a
calculation. stratification: a line of a table by rating, industry or country. list: a line of a list of loans or
obligors. total: of a list or a table. empty_page: a page that says that it has none. account: a balance. note: a figure
of a class."""

Status = Literal["pass", "fail"]
Unit = Literal["percent", "years", "factor", "amount", "count"]
Direction = Literal["min", "max"]

DECIMALS_MOST: Final = 6
"""Decimals of a printed figure that are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactSubject:
    """What a figure is about, by the words of its label, its table and its page.

    Two figures are of one thing where their subjects are equal.
    """

    measure: str
    """Role of the words file, without its kind: "oc", "ic", "reinvestment", "eod", "warf", "obligor", "ccc", ... of a
    test; "par", "cash", "cpa", "coll", "tobe", "senior", ... of a line of a calculation."""
    classes: tuple[str, ...] = ()
    """Letters of a coverage test's classes, senior first: ("A", "B")."""
    agency: Agency | None = None
    """Whose ratings, recovery rates or industries the label names; None where it names none, or two."""
    rank: int | None = None
    """Which one by size: 1 is the largest. None where the label says none."""
    aggregate: int | None = None
    """How many of the largest together; 0 where it is several and the label says not how many. None: one, or all."""
    with_cash: bool = False
    """The share includes cash."""
    subset: str | None = None
    """The role of the loans among which it is measured ("largest obligor that is not senior secured")."""
    is_complement: bool = False
    """What is outside of the named place or kind is meant: "other than the United States"."""
    detail: str | None = None
    """What else tells it apart from another of the measure: "loan" or "bond" alone, "semi annual" or "annual", ..."""

    __repr__ = brief


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One figure that a file prints; money in its own units at its page's scale.

    Percentages are in percent points (143.33), whatever the cell's format is.
    """

    kind: Kind
    label: str
    """As printed."""
    subject: FactSubject | None
    """None where the words say no one thing: the fact is listed, and compared with nothing."""
    value: float | None
    """In `unit`; None where the page prints only a limit."""
    place: str
    """Where the value stands, with the sheet's name: 'Tests'!C7."""
    unit: Unit | None = None
    """None where nothing on the page says it."""
    decimals: int | None = None
    """Digits behind the point that the page shows, by the number's format or its text. None: not known."""
    numerator: float | None = None
    denominator: float | None = None
    trigger: float | None = None
    """The limit, in `unit`."""
    direction: Direction | None = None
    """Side of the limit that the page prints (">=", "Minimum"), else the one of the measure; None: neither says."""
    status: Status | None = None
    is_prior: bool = False
    """The figure is of the month before."""
    group: str = ""
    """Title of the table or the block in which it stands."""
    also: tuple[str, ...] = ()
    """Other places of the same figure."""
    conflict: str = ""
    """Where it is printed again with another figure; "" nowhere. Neither of the two is compared with ours."""
    by: Literal["words", "relation", "sum"] = "words"
    """What made its column or its line certain: words alone, numerator / denominator = value, or adding up."""
    is_guessed: bool = False
    """Two readings of its column fit, or none was certain."""

    __repr__ = brief

    @property
    def name(self) -> str:
        """Return the label."""
        return self.label

    @property
    def cell(self) -> str:
        """Return the place."""
        return self.place

    @property
    def tolerance(self) -> float:
        """Return half a unit of the last printed digit, in the value's unit."""
        return 0.0 if self.value is None else tolerance_of(self.value, self.decimals)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A sum of the file's own figures, such as par - defaulted + cash = the CPA."""

    name: Literal["collateral_principal_amount", "oc_numerator", "ic_numerator", "class_balances", "industries"]
    total: float
    parts: tuple[tuple[str, float], ...]
    """Role of each part, and what it adds, deductions below zero."""
    holds: bool
    """To the cent, or to half a unit of the printed digits of all parts."""
    is_proved: bool
    """Only one set of figures of the file makes the sum; else it may be chance."""
    places: tuple[str, ...] = ()
    """Where the total stands, then the parts."""

    __repr__ = brief


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything that a file prints about itself, and the sums that prove it."""

    all: tuple[Fact, ...] = ()
    identities: tuple[Identity, ...] = ()

    __repr__ = brief

    @property
    def tests(self) -> tuple[Fact, ...]:
        """Return the current tests: those with a limit or a status."""
        return tuple(fact for fact in self.all if fact.kind == "test" and not fact.is_prior)

    @property
    def figures(self) -> tuple[Fact, ...]:
        """Return current tests and figures without a limit, to be set beside ours."""
        return tuple(fact for fact in self.all if fact.kind in ("test", "figure") and not fact.is_prior)

    def of(self, kind: Kind, measure: str | None = None) -> tuple[Fact, ...]:
        """Return the current facts of a kind, and of a measure where one is named."""
        return tuple(
            fact
            for fact in self.all
            if fact.kind == kind
            and not fact.is_prior
            and (measure is None or (fact.subject is not None and fact.subject.measure == measure))
        )

    def identity(self, name: str) -> Identity | None:
        """Return the identity of that name, where it was tried."""
        return next((entry for entry in self.identities if entry.name == name), None)


def tolerance_of(printed: float, decimals: int | None = None) -> float:
    """Return half a unit of the last printed digit.

    Of a figure whose decimals nobody says, those that it has, at least two: trailing zeros are not known.
    """
    if decimals is None:
        decimals = max(2, len(f"{printed:.{DECIMALS_MOST}f}".rstrip("0").partition(".")[2]))
    return 0.5 * 10.0**-decimals + 1e-9
