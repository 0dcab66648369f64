"""A question as data.

What is measured, of which loans, in what order, on which day, after what.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, to_builtins
from msgspec import field as struct_field

Kind = Literal[
    "measure", "tests", "what_if", "room", "moves", "history", "fact", "notes", "data", "why", "deals", "overview"
]
Operator = Literal["=", "!=", "<", "<=", ">", ">=", "between", "in", "not in", "is", "is not", "blank", "known", "top"]
Period = Literal["now", "previous", "change"]


class Condition(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a loan must be: a field beside a value."""

    field: str = ""
    """A quantity, a group, or `flag`."""
    op: Operator = "is"
    low: float | None = None
    """Of a comparison: its value; of a period or a range its lower end, which counts. Days since 1970-01-01, ranks."""
    high: float | None = None
    """The upper end, which counts, too."""
    values: tuple[str, ...] = ()
    """Names, identifiers, a flag."""
    agency: str | None = None
    """Of a rating: a, b, c; None for any."""
    any_of: tuple[Condition, ...] = ()
    than: str = ""
    """Of a comparison with another field: that field, or of a rating the other agency."""
    also: str = ""
    """Of a name: the other field that has it."""
    words: str = struct_field(default="", name="said")
    """The words of the question."""


class Having(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a group, or a test, must be."""

    quantity: str
    op: Operator
    value: float
    high: float | None = None
    unit: str = ""


class Action(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Something supposed."""

    kind: Literal["sell", "buy", "downgrade", "upgrade", "default", "price", "repay"]
    where: tuple[Condition, ...] = ()
    """The loans that it is done to; none for all, where that can be meant. Of a buy: what is bought."""
    part: float | None = None
    """Of a sale: how much of it, from 0 to 1."""
    order: Literal["most", "least"] | None = None
    order_by: str = "par"
    limit: int | None = None
    place: int | None = None
    group: Literal["loan", "obligor", "industry"] = "loan"
    """What `order` ranks."""
    par: float | None = None
    price: float | None = None
    """Of a trade, or what prices become; percent of par."""
    points: float | None = None
    percent: float | None = None
    """By which prices move."""
    notches: int | None = None
    rank: int | None = None
    """What ratings become."""
    agency: str | None = None
    """Whose ratings change: a, b, c; None for all that rate."""
    spread: float | None = None
    coupon: float | None = None


class Query(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One question."""

    kind: Kind
    quantities: tuple[str, ...] = ()
    aggregate: Literal["average", "simple", "median", "total"] | None = None
    where: tuple[Condition, ...] = ()
    whole: tuple[Condition, ...] = ()
    """Of a share: the loans that it is a share of; none for the collateral principal amount."""
    each: tuple[Condition, ...] = ()
    """Sets that are set beside each other."""
    group: str | None = None
    order: Literal["most", "least"] | None = None
    order_by: str | None = None
    limit: int | None = None
    place: int | None = None
    """1 for the first; the one that is meant of a ranking."""
    having: tuple[Having, ...] = ()
    tests: tuple[str, ...] = ()
    category: str | None = None
    aspect: Literal["cushion", "limit", "status", "level", "difference", "first", "place"] | None = None
    status: Literal["pass", "fail", "warning", "skipped"] | None = None
    classes: tuple[str, ...] = ()
    period: Period = "now"
    move: str | None = None
    direction: Literal["up", "down", "better", "worse"] | None = None
    actions: tuple[Action, ...] = ()
    unit: str | None = None
    """In which a cushion is asked for: months."""
    fact: str | None = None
    runs: int | None = None
    over_groups: bool = False
    """Whether an average is over groups and not over loans."""
    is_yes_no: bool = False
    is_count: bool = False
    subjects: tuple[str, ...] = ()
    """The portfolios that the question names; none for all."""

    def as_data(self) -> dict[str, Any]:
        """As plain JSON."""
        data: dict[str, Any] = to_builtins(self)
        return data
