"""What the parts of a figure are, as a reader is given them."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

Kind = Literal["loan", "cash", "haircut", "account", "industry"]

PARTS_SHOWN: Final = 100
"""Parts of a page, where nobody says how many."""

COLUMNS: Final = (
    "borrower", "facility", "identifier", "rating", "industry", "price", "par", "weight", "value", "units",
)  # fmt: skip
"""Every column that parts may have beside their amount."""


class FigurePart(msgspec.Struct, frozen=True, kw_only=True):
    """One part of a numerator."""

    kind: Kind
    """loan: a loan's part; cash: principal cash; haircut: what is taken off; account: an amount of the deal; industry:
    an industry's part of a diversity score."""
    name: str
    """The borrower, or what the amount is of."""
    place: str | None
    """Cell of the loan's par, with the sheet's name. Null: it has no row of a sheet."""
    row: int | None
    """The loan's row in its sheet, counted from 1. Null: see `place`."""
    page: int | None = None
    """Page of the document on which the row stands, counted from 1. Null: the file has no pages."""
    line: int | None = None
    """The row's line on its page, counted from 1. Null: see `page`."""
    amount: float
    """What it adds to the numerator; negative where it takes off."""
    fields: dict[str, str | float | None]
    """What else is known of it, by the names in `columns`; the amount of an average's loan is weight x value."""


class Room(msgspec.Struct, frozen=True):
    """Par until a share's limit, the denominator unchanged; one of the two is 0."""

    buy: float
    """Par that can, or for a minimum must, be bought of what the test counts until its limit."""
    sell: float
    """Par that can, or for a maximum must, be sold of what the test counts until its limit."""


class FigureParts(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the parts of a figure, those that weigh most first."""

    test_id: str
    test_name: str
    unit: str
    """Unit of the value, as the suite names it."""
    decimals: int
    """Decimals to show the value with."""
    value: float | None
    """The figure. Null: the test has none in this run."""
    formula: str | None
    """How the figure is worked out, in words. Null: the test has no figure."""
    numerator: float | None
    """What the parts add up to, as the run has it. Null: the test has no figure."""
    denominator: float | None
    """What the numerator is divided by. Null: the test has no figure."""
    reason: str | None
    """Why there are no parts. Null: there are."""
    sum: float | None
    """All parts added up, those of other pages too. Null: there are no parts."""
    tolerance: float | None
    """By how much the sum may be off the numerator: a millionth, or what the rounding of so many sums can make."""
    adds_up: bool | None
    """Whether the sum is the numerator, within the tolerance. Null: there are no parts."""
    room: Room | None
    """Par to buy or to sell until the limit. Null: the figure is no share of par, or has to be met exactly."""
    cell_refs: list[str]
    """Ranges of the workbook that the figure was read from."""
    columns: list[str]
    """Names of what `fields` have, in order."""
    items: list[FigurePart]
    """The parts of this page, by what they weigh."""
    total: int
    """Number of all parts."""
    offset: int
    limit: int
