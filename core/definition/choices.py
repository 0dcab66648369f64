"""The choices that an indenture makes and a file may leave open.

The closed list of their options.

One table for the search of readings, for draft definitions, for the explanations of a tie-out and for the guide. An
option is a market convention, never a free number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from core.definition.definition import Definition

Explanation = Literal[
    "masked_ratings", "rounding", "principal_cash", "classification", "defaulted_in_denominator", "recovery_agency",
    "haircuts", "as_of", "blank_inputs",
]  # fmt: skip
"""What may explain a difference between a trustee's figure and ours."""

Group = Literal["collateral", "ratings", "par_value", "industries", "obligors", "interest", "status"]
"""Choices that move the same figures, and are searched together."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A field of a definition and its value: section.key, or section.table.key."""

    key: str
    value: Any

    @property
    def path(self) -> tuple[str, ...]:
        """The names on the way to the field."""
        return tuple(self.key.split("."))

    @property
    def document(self) -> Any:
        """The value as a definition's document has it."""
        return list(self.value) if isinstance(self.value, tuple) else self.value


@dataclass(frozen=True, slots=True)
class Option:
    """One way to read a choice."""

    name: str
    words: str
    """After "read as: ", such as "defaulted loans stand in the denominator at their carrying value"."""
    sets: tuple[Setting, ...] = ()
    """What a definition says for it. Empty: the loans or the deal are read in another way, see `amount`."""


@dataclass(frozen=True, slots=True)
class NamedChoice:
    """A choice of the closed list."""

    name: str
    words: str
    group: Group
    options: tuple[Option, ...]
    """That of a definition which says nothing comes first."""
    inputs: tuple[str, ...]
    """What a figure reads that the choice moves, in the names of `core.portfolio.model.inputs.FIELDS`."""
    explains: Explanation | None = None
    """The explanation that a tie-out gives where the choice makes a figure the trustee's. None: it is not tried."""

    def option(self, name: str) -> Option:
        """Return the option of that name."""
        return next(option for option in self.options if option.name == name)


def _by_agency(key: str, words: str) -> tuple[Option, ...]:
    return tuple(Option(agency, words.format(whose), (Setting(key, agency),)) for agency, whose in WHOSE.items())


WHOSE: Final = {"a": "Moody's", "b": "S&P's", "c": "Fitch's"}


def _rating_columns(agency: str) -> NamedChoice:
    whose, key = WHOSE[agency], f"ratings.{agency}.columns"
    kinds = ("final", "issuer", "facility")
    return NamedChoice(
        f"rating_columns_{agency}",
        f"which column of {whose} ratings counts",
        "ratings",
        (
            Option("first", f"{whose} derived rating counts, else its first", (Setting(key, ("derived", "any")),)),
            Option("any", f"the first of {whose} ratings counts", (Setting(key, ("any",)),)),
            *(
                Option(kind, f"{whose} {kind} rating counts, else its first", (Setting(key, (kind, "any")),))
                for kind in kinds
            ),
        ),
        ("ratings",),
    )


def _masked(agency: str) -> NamedChoice:
    whose, key = WHOSE[agency], f"ratings.{agency}.masked"
    options = (
        ("other_agency", f"{whose} masked ratings count as another agency's"),
        ("left_out", f"{whose} masked ratings are left out"),
        ("bounds", f"{whose} masked ratings leave figures between two ends"),
        ("CCC+", f"{whose} masked ratings count as CCC"),
    )
    return NamedChoice(
        f"masked_{agency}",
        f"what {whose} masked ratings count as",
        "ratings",
        (
            *(Option(value, words, (Setting(key, value),)) for value, words in options),
            Option("rating_table", f"{whose} masked ratings count as the file's own rating table has them"),
        ),
        ("ratings",),
        "masked_ratings",
    )


CHOICES: Final[tuple[NamedChoice, ...]] = (
    NamedChoice(
        "principal_cash",
        "which balance is the principal cash",
        "collateral",
        (
            Option("all", "principal cash counts as the file has it", (Setting("conventions.principal_cash", "all"),)),
            Option(
                "positive",
                "principal cash counts where it is above zero",
                (Setting("conventions.principal_cash", "positive"),),
            ),
            Option("none", "no principal cash counts", (Setting("conventions.principal_cash", "none"),)),
            Option("account", "principal cash is another balance of the file"),
            Option("overdraft", "principal cash counts with the other sign"),
        ),
        ("cash",),
        "principal_cash",
    ),
    NamedChoice(
        "denominator",
        "what shares are divided by",
        "collateral",
        (
            Option(
                "none",
                "shares divide by par and principal cash, defaulted loans at zero",
                (Setting("conventions.defaulted_in_denominator", "none"),),
            ),
            Option(
                "carried",
                "defaulted loans stand in the denominator at their carrying value",
                (Setting("conventions.defaulted_in_denominator", "carried"),),
            ),
            Option(
                "par",
                "defaulted loans stand in the denominator at par",
                (Setting("conventions.defaulted_in_denominator", "par"),),
            ),
            Option(
                "without_cash",
                "shares divide by par without principal cash, defaulted loans at zero",
                (
                    Setting("conventions.defaulted_in_denominator", "none"),
                    Setting("conventions.cash_in_denominator", False),
                ),
            ),
        ),
        ("cash",),
        "defaulted_in_denominator",
    ),
    *map(_rating_columns, WHOSE),
    *map(_masked, WHOSE),
    NamedChoice(
        "recovery_agency",
        "whose recovery rates count",
        "par_value",
        (
            Option("market", "recovery rates count as the file has them", (Setting("ratings.recovery", ()),)),
            *(
                Option(agency, f"{whose} recovery rates count", (Setting("ratings.recovery", (agency,)),))
                for agency, whose in WHOSE.items()
            ),
            Option(
                "lowest",
                "a loan is carried at the lowest recovery rate of all agencies",
                (Setting("ratings.recovery", ("a", "b", "c")),),
            ),
        ),
        ("recovery",),
        "recovery_agency",
    ),
    NamedChoice(
        "defaulted_carried_at",
        "what a defaulted loan is carried at",
        "par_value",
        (
            Option(
                "lower",
                "defaulted loans are carried at the lower of market value and recovery",
                (Setting("par_value.defaulted", "lower"),),
            ),
            Option(
                "market_value",
                "defaulted loans are carried at market value",
                (Setting("par_value.defaulted", "market_value"),),
            ),
            Option(
                "recovery",
                "defaulted loans are carried at their recovery rate",
                (Setting("par_value.defaulted", "recovery"),),
            ),
            Option("none", "defaulted loans are carried at zero", (Setting("par_value.defaulted", "none"),)),
        ),
        ("haircuts",),
    ),
    NamedChoice(
        "ccc_agencies",
        "by which agencies' ratings the CCC excess goes",
        "par_value",
        (
            Option("market", "the CCC excess is that of the greatest bucket"),
            *(
                Option(
                    agency,
                    f"the CCC excess is that of {whose} bucket",
                    (Setting("par_value.ccc_agencies", (agency,)),),
                )
                for agency, whose in WHOSE.items()
            ),
        ),
        ("haircuts",),
    ),
    NamedChoice(
        "ccc_excess",
        "whether CCC above its limit is carried at market value",
        "par_value",
        (
            Option(
                "market_value",
                "CCC above its limit is carried at market value",
                (Setting("par_value.ccc_excess", True),),
            ),
            Option("par", "CCC above its limit counts at par", (Setting("par_value.ccc_excess", False),)),
        ),
        ("haircuts",),
        "haircuts",
    ),
    NamedChoice(
        "discount_obligations",
        "whether discount obligations are carried at their purchase price",
        "par_value",
        (
            Option(
                "purchase_price",
                "discount obligations are carried at their purchase price",
                (Setting("par_value.discount", True),),
            ),
            Option("par", "discount obligations count at par", (Setting("par_value.discount", False),)),
        ),
        ("haircuts",),
        "haircuts",
    ),
    NamedChoice(
        "purchased_accrued_interest",
        "whether purchased accrued interest is added to the OC numerator",
        "par_value",
        (
            Option(
                "left_out",
                "purchased accrued interest is not added",
                (Setting("par_value.purchased_accrued_interest", False),),
            ),
            Option(
                "added",
                "purchased accrued interest is added to the OC numerator",
                (Setting("par_value.purchased_accrued_interest", True),),
            ),
        ),
        ("accrued",),
    ),
    NamedChoice(
        "industry",
        "by whose industries the tests go",
        "industries",
        (
            Option("any", "tests go by the file's industries", (Setting("classifications.industry", "any"),)),
            *_by_agency("classifications.industry", "tests go by {} industries"),
        ),
        ("industry",),
        "classification",
    ),
    NamedChoice(
        "families",
        "which obligors count as one",
        "obligors",
        (
            Option("names", "each name is an obligor", (Setting("classifications.affiliates_by_name", False),)),
            Option("page", "obligors are the families of the page of the largest obligors"),
            Option(
                "affiliates",
                "an obligor whose name begins with another's whole name is that one",
                (Setting("classifications.affiliates_by_name", True),),
            ),
        ),
        ("obligor",),
    ),
    NamedChoice(
        "interest",
        "what the numerator of interest coverage adds up",
        "interest",
        (
            Option(
                "collected_and_receivable",
                "interest collected and still to be received counts",
                (Setting("interest_coverage.interest", "collected_and_receivable"),),
            ),
            Option(
                "collected_and_period",
                "interest collected and that of a whole period counts",
                (Setting("interest_coverage.interest", "collected_and_period"),),
            ),
            Option(
                "period",
                "the interest of a whole period counts",
                (Setting("interest_coverage.interest", "period"),),
            ),
        ),
        ("interest",),
    ),
    NamedChoice(
        "senior_fees",
        "whether senior fees are taken off the interest",
        "interest",
        (
            Option(
                "taken_off",
                "senior fees are taken off the interest",
                (Setting("interest_coverage.senior_fee_cap", None),),
            ),
            Option(
                "left_out",
                "senior fees are not taken off the interest",
                (Setting("interest_coverage.senior_fee_cap", 0.0),),
            ),
        ),
        ("fees",),
    ),
    NamedChoice(
        "rounding",
        "whether a figure is rounded before it is compared with its limit",
        "status",
        (
            Option("none", "figures are compared in full precision"),
            Option(
                "printed",
                "figures are rounded to the decimals that the file prints before they are compared",
            ),
        ),
        (),
    ),
    NamedChoice(
        "currency",
        "in which currency the deal is",
        "status",
        (
            Option("file", "amounts are in the currency that the file names"),
            Option("loans", "amounts are in the currency of most loans"),
        ),
        (),
    ),
)
"""Every choice that a reading may leave open, those that others rest on first."""

BY_NAME: Final = {choice.name: choice for choice in CHOICES}


def with_settings(definition: Definition, settings: Iterable[Setting]) -> Definition:
    """Return the definition with some of its fields set, which count as said by it.

    No calculation of the file's outranks them.
    """
    for setting in settings:
        definition = _set(definition, setting.path, setting.value)
        definition = replace(definition, stated=definition.stated | {setting.key})
    return definition


def _set(section: Any, path: tuple[str, ...], value: Any) -> Any:
    if len(path) > 1:
        value = _set(getattr(section, path[0]), path[1:], value)
    return replace(section, **{path[0]: value})


def setting_of(definition: Definition, choice: NamedChoice) -> str | None:
    """Return the definition's most specific option of the list, or None."""
    options = [
        option
        for option in choice.options
        if option.sets and all(_get(definition, setting.path) == setting.value for setting in option.sets)
    ]
    return max(options, key=lambda option: len(option.sets)).name if options else None


def _get(section: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        section = getattr(section, name)
    return section
